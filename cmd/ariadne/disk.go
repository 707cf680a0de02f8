package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/crash"
	"github.com/ariadne-mc/ariadne/internal/use/disk"

	"github.com/spf13/cobra"
)

// diskFlags are those of the command disk.
type diskFlags struct {
	jobs       int
	executions int
	time       time.Duration
	images     int
	seed       uint64
	keep       string // directory
	html       string // file
	replay     string // file
	recovery   bool
	json       bool
	quiet      bool
}

func (a *app) diskCommand() *cobra.Command {
	var d diskFlags
	cmd := &cobra.Command{
		Use:   "disk SPEC | disk --replay FILE",
		Short: "Check what a loss of power leaves of file systems, and of programs on top of them",
		Long: `Makes the stack of a spec over block devices whose content Ariadne holds: file systems of the
running kernel, and components of your own. It runs a workload on the stack and logs each request
to the devices. At each flush, Ariadne forms the contents that a loss of power may leave:
everything that was flushed before, and any subset of the requests since, up to --images at each
point. The stack recovers on each different content, and a checker examines what comes back.

The checker of a spec is the commands mutate and check, or files: a ready-made checker of file
systems, with workloads of its own. docs/guides/disk.md has examples and all fields.

A rejected image is tried once more, and made as small as it can be. Images with the same symptom
are one group, and the smallest image is its example. With --keep, each example is written to a
directory: the devices, a list of what is lost, and a trace from which --replay forms exactly the
same image.

Root, /dev/fuse and /dev/loop-control are needed. The stack is in a mount namespace of its own,
and ends with Ariadne, also when Ariadne is killed.

Exit status: 1 an image is rejected. 2 the stack cannot be made, the workload fails, or the checker
rejects what is left without a loss. 3 no image is rejected, and one is undecided, or the check was
interrupted.`,
		Example: `  ariadne disk examples/disk/ext4.yaml
  ariadne disk --keep failing examples/disk/notes.yaml
  ariadne disk --replay failing/1-note1-is-lost/trace`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case d.replay != "" && len(args) > 0:
				return usageError{errors.New("disk: --replay has a spec of its own: leave out " + args[0])}
			case d.replay == "" && len(args) == 0:
				return usageError{errors.New("disk: SPEC is missing")}
			case len(args) > 1:
				return usageError{fmt.Errorf("disk: unexpected argument %q", args[1])}
			case d.time < 0:
				return usageError{fmt.Errorf("disk: --time: %v is not a duration above 0", d.time)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.disk(cmd, &d, args) },
	}
	f := cmd.Flags()
	f.Var(count{&d.jobs, 1, maxJobs, nil}, "jobs", "recover on `n` images at the same time (default: four for each processor)")
	f.Var(count{&d.executions, 1, spec.MaxInt, nil}, "executions", "execute up to `n` workloads")
	f.DurationVar(&d.time, "time", 0, "begin no further workload after this `duration`")
	f.Var(count{&d.images, 1, spec.MaxInt, nil}, "images", "up to `n` images at each point, instead of the spec's")
	f.Uint64Var(&d.seed, "seed", 0, "this `seed` instead of the spec's")
	f.BoolVar(&d.recovery, "recovery", false, "lose the power once more, at each point of each recovery")
	f.StringVar(&d.keep, "keep", "", "write the smallest failing image of each group to this `directory`")
	f.StringVar(&d.html, "html", "", "write a page to this `file`, with the failing images and the requests before each loss")
	f.StringVar(&d.replay, "replay", "", "examine the image of this `trace` again")
	f.BoolVar(&d.json, "json", false, "print one JSON object")
	f.BoolVar(&d.quiet, "quiet", false, "print no progress")
	return cmd
}

// diskSpec is the spec of a command line, or of the trace that it replays.
func (d *diskFlags) diskSpec(cmd *cobra.Command, args []string) (s *disk.Spec, t *disk.Trace, err error) {
	if d.replay == "" {
		s, err = disk.Read(args[0])
	} else if t, err = disk.ReadTrace(d.replay); err == nil {
		s, err = disk.Parse(t.SpecPath, t.SpecText)
	}
	if err != nil {
		return nil, nil, err
	}
	if d.images > 0 {
		s.Images = d.images
	}
	if cmd.Flags().Changed("seed") {
		s.Seed = d.seed
	}
	s.Recovery = s.Recovery || d.recovery
	return s, t, nil
}

func (a *app) disk(cmd *cobra.Command, d *diskFlags, args []string) error {
	s, t, err := d.diskSpec(cmd, args)
	if err != nil {
		return err
	}
	if err := vacant(d.keep); err != nil {
		return usageError{fmt.Errorf("disk: --keep: %w", err)}
	}
	if err := creatable(d.html); err != nil {
		return err
	}
	if err := disk.Able(); err != nil {
		return err
	}
	if d.jobs == 0 {
		d.jobs = 4 * runtime.NumCPU()
	}
	temp, remove, err := crash.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	o := disk.Options{Spec: s, Workers: d.jobs, Temp: temp, Executions: d.executions, Time: d.time, Replay: t}
	clear := func() {}
	switch line := style(a.err); {
	case d.quiet || d.json:
	case isTerminal(a.err):
		o.Progress = func(r *disk.Report) { fmt.Fprint(a.err, "\r\x1b[K"+line.Line(r.Progress())) }
		clear = func() { fmt.Fprint(a.err, "\r\x1b[K") }
	default:
		o.Progress, o.Pause = func(r *disk.Report) { fmt.Fprintln(a.err, r.Progress()) }, pauseOfLines
	}
	r, err := disk.Check(cmd.Context(), o)
	clear()
	interrupted := err != nil && cmd.Context().Err() != nil
	if interrupted {
		err, r.Stopped = nil, "by an interrupt: there may be more failures"
	}
	if err != nil {
		return err
	}
	if d.keep != "" {
		if dir, e := filepath.Abs(d.keep); e == nil {
			d.keep = dir
		}
		err = r.Keep(s, d.keep)
	}
	if d.html != "" {
		err = errors.Join(err, writeTo(d.html, func(w io.Writer) error { return disk.Page(w, r) }))
	}
	if d.json {
		json.NewEncoder(a.out).Encode(r) // the output tells itself of errors
	} else {
		disk.Print(a.out, r, style(a.out))
	}
	switch {
	case r.Failed > 0:
		a.status = record.Violated.ExitStatus()
	case r.Undecided > 0 || interrupted:
		a.status = record.Inconclusive.ExitStatus()
	}
	return err
}
