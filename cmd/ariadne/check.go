package main

import (
	"fmt"
	"time"

	"ariadne/internal/run"
	"ariadne/internal/spec"

	"github.com/spf13/cobra"
)

// defaultCheck is how long a check lasts that is given neither a time nor a
// number of executions.
const defaultCheck = time.Minute

func (a *app) checkCommand() *cobra.Command {
	var o outputFlags
	var seed seedFlag
	var opts run.Options
	var strategy string
	cmd := &cobra.Command{
		Use:   "check SPEC",
		Short: "Explore the system's executions and look for violations",
		Long: `Explores: the natural schedule first, then executions in which each choice among the
messages that can arrive and the timers that can fire is drawn at random. A violation
is the unexpected death of a node, a step that does not end, or a deadlock: nothing can
happen and the clients are not done. Each is confirmed by a replay before it is reported.

It stops at the first violation, unless --keep-going, and when --time or --executions is
used up (one minute when neither is given). An interrupt ends it with what it found.`,
		Example: `  ariadne check spec.yaml
  ariadne check spec.yaml --time 10m --keep-going
  ariadne check spec.yaml --executions 100 --seed 3 --json`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := chooseStrategy(strategy, &opts); err != nil {
				return err
			}
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			seed.apply(s)
			if opts.Time == 0 && opts.Executions == 0 {
				opts.Time = defaultCheck
			}
			p := a.printer(o, s)
			p.limits(opts)
			opts.Out, opts.Nodes, opts.Version = o.out, a.nodes, version
			opts.OnProgress, opts.OnViolation = p.progress, p.violation
			r, err := run.Check(cmd.Context(), s, opts)
			return a.finish(p, r, err)
		},
	}
	o.add(cmd)
	seed.add(cmd)
	f := cmd.Flags()
	f.DurationVar(&opts.Time, "time", 0, "stop after this `duration` of real time")
	f.IntVar(&opts.Executions, "executions", 0, "stop after `n` executions")
	f.IntVar(&opts.Depth, "depth", 0, "end each execution after `n` steps (default: the spec's limit)")
	f.BoolVar(&opts.KeepGoing, "keep-going", false, "go on after the first violation")
	f.IntVar(&opts.Workers, "jobs", 0, "`n` executions at the same time (default: one per processor)")
	f.IntVar(&opts.First, "first", 0, "begin with the execution of index `n`")
	f.BoolVar(&opts.Resume, "resume", false, "go on with the check that was interrupted in --out")
	f.StringVar(&strategy, "strategy", "random", "`how` to choose among what can happen: natural or random")
	return cmd
}

// chooseStrategy turns the name of a strategy into options.
func chooseStrategy(name string, o *run.Options) error {
	switch name {
	case "random": // the natural schedule comes first anyway
	case "natural":
		o.First, o.Executions = 0, 1
	default:
		return usageError{fmt.Errorf("unknown strategy %q: natural or random", name)}
	}
	return nil
}
