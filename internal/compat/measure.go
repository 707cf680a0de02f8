package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"ariadne"
	"ariadne/internal/run"
	"ariadne/internal/trace"
)

// traceFile is the name of a trace in its run directory.
const traceFile = "trace.txt"

// options are how targets are measured.
type options struct {
	list, ariadne, work string
	runs, walks         int
	patience            time.Duration
	fetch               bool
}

// result is what one target showed.
type result struct {
	Version string
	Fetched bool
	Natural natural
	// Runs and replays whose steps were all equal to the first's, and the first
	// difference among them.
	Runs, EqualRuns       int
	RunDifference         string
	Replays, EqualReplays int
	ReplayDifference      string
	Walks                 walks
	Refusals              []ariadne.Refusal
}

// natural is the natural schedule, once.
type natural struct {
	Ready       bool
	Status      int // exit status of ariadne run
	End         string
	Doubts      []string
	Steps       int
	Calls       int
	VirtualTime ariadne.Time
	RealTime    time.Duration
}

// walks are the executions of one check.
type walks struct {
	Status     int
	Executions int
	Steps      int
	RealTime   time.Duration
	Ends       map[string]int
	// Stopped says why there were fewer walks than wanted, or "".
	Stopped    string
	Violations []violation
}

type violation struct {
	Kind, Node, Message, Suspect string
	Count                        int
}

// measure runs everything that the page says of a target. An error is one of the
// machine; what goes wrong with the target is in the result.
func (o *options) measure(t *target) (*result, error) {
	spec := filepath.Join(filepath.Dir(o.list), t.Spec)
	dir := filepath.Join(o.work, filepath.FromSlash(t.name()))
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	r := &result{}
	if o.fetch {
		if err := o.runFetch(filepath.Join(filepath.Dir(spec), "fetch"), filepath.Join(dir, "fetch.log")); err != nil {
			return r, nil
		}
	}
	r.Fetched, r.Version = true, t.version()

	first := filepath.Join(dir, "run-1")
	report, status, err := o.command(first, o.work, "run", spec)
	if err != nil {
		return nil, err
	}
	r.Natural = natural{
		Ready: logged(report, t), Status: status, End: report.End, Doubts: append(report.Doubts, report.Bugs...),
		Steps: report.Steps, Calls: report.Calls, VirtualTime: report.VirtualTime, RealTime: report.RealTime,
	}
	r.Refusals = refusals(report)
	if !r.Natural.Ready {
		return r, nil
	}
	if err := o.repeat(r, spec, dir, filepath.Join(first, traceFile)); err != nil {
		return nil, err
	}
	if err := o.replay(r, spec, dir); err != nil {
		return nil, err
	}
	return r, o.walk(r, spec, dir)
}

// repeat runs the natural schedule again and compares. Every second run has a busy
// neighbour and another working directory.
func (o *options) repeat(r *result, spec, dir, first string) error {
	r.Runs, r.EqualRuns = 1, 1
	for i := 2; i <= o.runs; i++ {
		out := filepath.Join(dir, "run-"+strconv.Itoa(i))
		cwd := o.work
		calm := func() {}
		if i%2 == 0 {
			cwd, calm = os.TempDir(), busy()
		}
		_, _, err := o.command(out, cwd, "run", spec)
		calm()
		if err != nil {
			return err
		}
		r.Runs++
		switch difference, err := compare(first, filepath.Join(out, traceFile)); {
		case err != nil:
			return err
		case difference == "":
			r.EqualRuns++
			if err := os.RemoveAll(out); err != nil {
				return err
			}
		case r.RunDifference == "":
			r.RunDifference = difference
		}
	}
	return nil
}

// replay takes one random walk and replays it; each replay verifies every step.
func (o *options) replay(r *result, spec, dir string) error {
	walk := filepath.Join(dir, "walk")
	if _, _, err := o.command(walk, o.work, "check", spec, "--strategy", "random", "--first", "1", "--executions", "1", "--keep-going"); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(walk, "*", traceFile))
	if err != nil || len(found) == 0 {
		return errors.Join(err, fmt.Errorf("no trace below %s", walk))
	}
	for i := 1; i <= o.runs; i++ {
		cwd := o.work
		calm := func() {}
		if i%2 == 0 {
			cwd, calm = os.TempDir(), busy()
		}
		report, _, err := o.command(filepath.Join(dir, "replay"), cwd, "replay", found[0])
		calm()
		if err != nil {
			return err
		}
		r.Replays++
		switch {
		case report.Mismatch == nil && len(report.Bugs) == 0:
			r.EqualReplays++
		case r.ReplayDifference == "" && report.Mismatch != nil:
			r.ReplayDifference = report.Mismatch.Message
		}
	}
	return nil
}

func (o *options) walk(r *result, spec, dir string) error {
	if o.walks == 0 {
		return nil
	}
	report, status, err := o.command(filepath.Join(dir, "walks"), o.work,
		"check", spec, "--strategy", "random", "--first", "1", "--executions", strconv.Itoa(o.walks), "--keep-going")
	if err != nil {
		return err
	}
	r.Walks = walks{Status: status, Executions: report.Executions, Steps: report.Steps, RealTime: report.RealTime, Ends: report.Ends}
	if report.Executions < o.walks {
		r.Walks.Stopped = report.Stopped
	}
	for _, v := range report.Violations {
		r.Walks.Violations = append(r.Walks.Violations, violation{string(v.Kind), v.NodeName, v.Message, v.Suspect, v.Count})
	}
	r.Refusals = merge(r.Refusals, refusals(report))
	return nil
}

// command runs ariadne in cwd and returns the report that it left in out.
func (o *options) command(out, cwd, verb string, args ...string) (*run.Report, int, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.patience)
	defer cancel()
	args = append([]string{verb}, append(args, "--quiet", "--out", out)...)
	cmd := exec.CommandContext(ctx, o.ariadne, args...)
	cmd.Dir = cwd
	// Interrupted, it ends with what it has found so far.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, 0, err
	}
	b, err := os.ReadFile(filepath.Join(out, "report.json"))
	if err != nil {
		return nil, 0, fmt.Errorf("ariadne %v left no report: %s", args, said)
	}
	var report run.Report
	if err := json.Unmarshal(b, &report); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", filepath.Join(out, "report.json"), err)
	}
	return &report, cmd.ProcessState.ExitCode(), nil
}

func (o *options) runFetch(script, log string) error {
	f, err := os.Create(log)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(script)
	cmd.Stdout, cmd.Stderr = f, f
	return cmd.Run()
}

// compare says where two traces differ first, or "".
func compare(a, b string) (string, error) {
	left, err := run.LoadTrace(a)
	if err != nil {
		return "", err
	}
	right, err := run.LoadTrace(b)
	if err != nil {
		return "", err
	}
	for i := range min(len(left.Steps), len(right.Steps)) {
		if l, r := left.Steps[i], right.Steps[i]; l != r {
			return fmt.Sprintf("step %d: %s, then %s", l.Index, show(l), show(r)), nil
		}
	}
	if len(left.Steps) != len(right.Steps) {
		return fmt.Sprintf("%d steps, then %d", len(left.Steps), len(right.Steps)), nil
	}
	return "", nil
}

func show(s trace.Step) string {
	return fmt.Sprintf("%s at %s with digest %016x, %d calls", s.Action, s.At, s.Digest, s.Calls)
}

// busy keeps a processor busy until its result is called.
func busy() (calm func()) {
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	return func() { close(stop) }
}

// logged says whether a node has written the line that means ready.
func logged(report *run.Report, t *target) bool {
	for _, n := range report.Nodes {
		if b, err := os.ReadFile(n.Log); err == nil && t.ready.Match(b) {
			return true
		}
	}
	return false
}

// refusals returns those of all nodes, each once.
func refusals(report *run.Report) []ariadne.Refusal {
	var out []ariadne.Refusal
	for _, n := range report.Nodes {
		out = merge(out, n.Refusals)
	}
	return out
}

// merge adds more to all, summing the counts of the same.
func merge(all, more []ariadne.Refusal) []ariadne.Refusal {
next:
	for _, m := range more {
		for i := range all {
			if all[i].Name == m.Name && all[i].Program == m.Program {
				all[i].Count += m.Count
				all[i].Harmless = all[i].Harmless && m.Harmless
				continue next
			}
		}
		all = append(all, m)
	}
	return all
}

func (o *options) resultPath(t *target) string {
	return filepath.Join(o.work, filepath.FromSlash(t.name()), "result.json")
}

func (r *result) save(path string) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// loadResult returns nil when the target has never been measured.
func loadResult(path string) (*result, error) {
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r result
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}
