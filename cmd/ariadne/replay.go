package main

import (
	"context"
	"errors"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"

	"github.com/spf13/cobra"
)

func (a *app) replayCommand() *cobra.Command {
	var o outputFlags
	var path string
	var force, loose, critical bool
	var hunt session.Hunt
	cmd := &cobra.Command{
		Use:   "replay TRACE",
		Short: "Follow a trace and verify each step",
		Long: `Runs the system along a trace, and compares each step with the trace. At the first
difference the replay stops, and names the node, the system call and the expected result.
The exit status is that of the execution: 1 when the trace ends in a violation.

With --loose the replay compares nothing, and spec and programs may have changed. Print
more, or try a fix, and see whether the violation still comes. At each step the replay
takes the possible event that comes first in the rest of the trace. Events that the trace
does not have happen when they are due. A message is late only when it is late in the
trace. Connections are the same when a node opens them to the same port in the same order.
The replay goes on until the execution ends. It says whether a violation came (exit status 1)
and where the execution left the trace.

With --critical, for a trace of eventually or leads_to, the replay then looks for the
critical transition. That is the step after which no walk reaches a live state.`,
		Example: `  ariadne replay ariadne-runs/raftkv-1/violation-1/trace.txt
  ariadne replay --loose ariadne-runs/raftkv-1/violation-1/trace.txt   # after a change
  ariadne replay --critical --walks 200 ariadne-runs/tree-1/violation-1/trace.txt`,
		Args: exactly("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tracedSpec(args[0], path)
			if err != nil {
				return err
			}
			p := a.printer(o, s)
			opts := run.Options{Out: o.out, System: a.system(), Force: force, Loose: loose, OnStep: p.step}
			if err := enoughTasks(); err != nil {
				return err
			}
			r, err := run.Replay(cmd.Context(), s, args[0], opts)
			if err == nil && critical {
				err = a.critical(cmd.Context(), s, args[0], force, hunt, r)
			}
			return a.finish(p, r, err)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&path, "spec", "", "read the spec from this `file` instead of the one that the trace names")
	cmd.Flags().BoolVar(&force, "force", false, "replay even if spec or programs have changed")
	cmd.Flags().BoolVar(&loose, "loose", false, "follow the choices of the trace as long as they exist, and compare nothing")
	cmd.MarkFlagsMutuallyExclusive("force", "loose")
	cmd.Flags().BoolVar(&critical, "critical", false, "look for the critical transition: the step after which no walk reaches a live state")
	cmd.Flags().IntVar(&hunt.Walks, "walks", search.DefaultWalks, "with --critical: a state counts as dead when so many `walks` from it have found no live state")
	cmd.Flags().Uint64Var(&hunt.Seed, "walk-seed", 0, "with --critical: each `number` draws other walks")
	cmd.Flags().DurationVar(&hunt.Time, "time", 0, "with --critical: stop looking after this `duration` of real time; 0: no limit")
	cmd.MarkFlagsMutuallyExclusive("critical", "loose")
	return cmd
}

// critical enters into the report of a replay the critical transition, if it came to a violation
// that has one.
func (a *app) critical(ctx context.Context, s *spec.Spec, path string, force bool, o session.Hunt,
	r *record.Report) error {
	if len(r.Violations) == 0 {
		return nil
	}
	e, err := session.OpenTrace(ctx, s, path, session.Options{System: a.system(), Force: force})
	if err != nil {
		return err
	}
	goal, err := e.Critical(ctx, o)
	if err = errors.Join(err, e.Close()); err == nil {
		r.Violations[0].Goal = goal
	}
	return err
}

// tracedSpec reads the spec of a trace: the one at path or, without path, where
// the trace says it is.
func (a *app) tracedSpec(tracePath, path string) (*spec.Spec, error) {
	if path == "" {
		t, err := system.LoadTrace(tracePath)
		if err != nil {
			return nil, err
		}
		path = system.SpecOf(tracePath, t)
	}
	return spec.Read(path)
}
