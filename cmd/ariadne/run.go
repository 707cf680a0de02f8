package main

import (
	"errors"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"

	"github.com/spf13/cobra"
)

func (a *app) runCommand() *cobra.Command {
	var o outputFlags
	var seed seedFlag
	var exposes bool
	cmd := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run the system once, every message and timer on time",
		Long: `Runs the natural schedule once: every message arrives after its latency, and every timer
fires on time. Prints the lines of the nodes when they write them, and then a timeline.
The run directory has the trace, the timeline, and the log of each node.`,
		Example: `  ariadne run spec.yaml
  ariadne run spec.yaml --seed 7 --out /tmp/seven
  ariadne run spec.yaml --expose`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			seed.apply(s)
			p := a.printer(o, s)
			if t, ok := p.(*textPrinter); exposes && ok {
				t.exposed = &expose.Watch{Sources: s.Properties.Sources}
			} else if exposes {
				return usageError{errors.New("--expose and --json exclude each other")}
			}
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
	cmd.Flags().BoolVar(&exposes, "expose", false, "print the changes of what nodes expose, instead of their lines and the timeline")
	return cmd
}
