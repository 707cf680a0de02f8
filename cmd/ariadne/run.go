package main

import (
	"ariadne/internal/run"
	"ariadne/internal/spec"

	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var o outputFlags
	var seed seedFlag
	cmd := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run the system once, every message and timer on time",
		Long: `Runs the natural schedule once: every message arrives after its latency, every timer
fires on time. The lines that nodes write are shown as they come, then a timeline.
Trace, timeline and each node's log are written to the run directory.`,
		Example: `  ariadne run spec.yaml
  ariadne run spec.yaml --seed 7 --out /tmp/seven`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			seed.apply(s)
			p := a.printer(o, s)
			opts := run.Options{Out: o.out, System: a.system(), OnStep: p.step}
			if err := enoughTasks(); err != nil {
				return err
			}
			r, err := run.Run(cmd.Context(), s, opts)
			return a.finish(p, r, err)
		},
	}
	o.add(cmd)
	seed.add(cmd)
	return cmd
}
