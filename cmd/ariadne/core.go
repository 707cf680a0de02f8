package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/gdb"
	"github.com/ariadne-mc/ariadne/internal/use/debug"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nodeAt says which node of a trace another debugger is shown, and behind which step.
type nodeAt struct {
	spec, node string
	step       int
	debug.Options
}

// lastStep stands for the number of the last step.
const lastStep = math.MinInt

func (n *nodeAt) register(f *pflag.FlagSet) {
	f.StringVar(&n.node, "node", "", "look at the node of this `name`; may be left out if there is only one node")
	f.IntVar(&n.step, "step", lastStep, "show the node after the step of this `number` (default: the last step)")
	f.Lookup("step").DefValue = "0" // not printed: the text says it
	f.StringVar(&n.spec, "spec", "", "read the spec from this `file` instead of the one that the trace names")
	f.BoolVar(&n.Force, "force", false, "follow the trace even if spec or programs have changed")
}

// visit replays a trace, and calls f where it shall be looked at.
func (n *nodeAt) visit(ctx context.Context, a *app, trace string, f func(d *debug.Debugger, node string) error) error {
	s, err := a.tracedSpec(trace, n.spec)
	if err != nil {
		return err
	}
	if err := enoughTasks(); err != nil {
		return err
	}
	d, err := a.openTrace(ctx, s, trace, n.Options)
	if err != nil {
		return err
	}
	return errors.Join(n.in(d, f), d.Close())
}

func (n *nodeAt) in(d *debug.Debugger, f func(d *debug.Debugger, node string) error) error {
	node := n.node
	if node == "" {
		if len(d.Names()) > 1 {
			return usageError{fmt.Errorf("--node is missing: one of %s", strings.Join(d.Names(), ", "))}
		}
		node = d.Names()[0]
	}
	if n.step != lastStep {
		if err := d.Goto(n.step); err != nil {
			return err
		}
	}
	return f(d, node)
}

func (a *app) coreCommand() *cobra.Command {
	var out string
	at := nodeAt{Options: debug.Options{System: a.system()}}
	cmd := &cobra.Command{
		Use:   "core TRACE",
		Short: "Write core files of a node at a step, for gdb",
		Long: `Replays a trace up to a step, and writes a core file of each process of a node: all threads
with their registers, and all memory. gdb opens it as the core of a program that has crashed. So it
shows where each thread is, and the values of variables.

With several processes each file has the number of the process at its end.`,
		Example: `  ariadne core ariadne-runs/raftkv-1/violation-1/trace.txt --node n2 --step 41
  gdb PROGRAM core -ex 'thread apply all backtrace'`,
		Args: exactly("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return at.visit(cmd.Context(), a, args[0], func(d *debug.Debugger, node string) error {
				all, err := d.WriteCores(node, out)
				for i := range all {
					io.WriteString(a.out, all[i].String())
				}
				return err
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().StringVarP(&out, "out", "o", "core", "write to this `file`")
	return cmd
}

func (a *app) gdbCommand() *cobra.Command {
	pid := 0
	at := nodeAt{Options: debug.Options{System: a.system()}}
	cmd := &cobra.Command{
		Use:   "gdb TRACE",
		Short: "Let gdb follow a node from a step on",
		Long: `Replays a trace up to a step, and speaks gdb's remote protocol on standard input and output.
gdb starts it by "target remote |", and shows threads, variables and memory of the node's process.

From there the process goes on along the trace, and back: with breakpoints, watchpoints, step, next,
finish, and their reverse forms. gdb can change nothing.`,
		Example: `  gdb PROGRAM -ex 'target remote | ariadne gdb trace.txt --node n2 --step 41'`,
		Args:    exactly("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ready := gdb.Wait(a.out)
			defer ready()
			return at.visit(cmd.Context(), a, args[0], func(d *debug.Debugger, node string) error {
				ready()
				return d.ServeGDB(os.Stdin, a.out, debug.GDB, node, pid)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().IntVar(&pid, "pid", 0, "show the process of this `number`, as the node sees it; may be left out if there is only one")
	return cmd
}
