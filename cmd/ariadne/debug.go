package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/debug"
	"github.com/ariadne-mc/ariadne/internal/use/debug/screen"

	"github.com/spf13/cobra"
)

func (a *app) debugCommand() *cobra.Command {
	var path, script string
	var lines []string
	var plain bool
	o := debug.Options{System: a.system()}
	cmd := &cobra.Command{
		Use:   "debug TRACE|SPEC",
		Short: "Go back and forth in an execution, and look at its nodes",
		Long: `Replays a trace, or begins a new execution of a spec, and lets you go to any of its steps,
back and forth. At each step you see what nodes look like: exposed values, lines, threads with the
call in which each waits, sockets with what is queued, timers, files. You can let something else
happen than in the trace, and keep both ways.

On a terminal you see the steps beside a node. The key ? shows what other keys do.

Commands are lines. They come from -x, then from --commands, else from standard input. The command
help lists all. A command that fails ends a script, with exit status 2.`,
		Example: `  ariadne debug ariadne-runs/raftkv-1/violation-1/shrunk/trace.txt
  ariadne debug ariadne-runs/raftkv-1/violation-1/trace.txt -x 'goto 41' -x 'node n2'
  ariadne debug spec.yaml --commands steps.txt`,
		Args: exactly("TRACE|SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if script != "" {
				more, err := commandsIn(script)
				if err != nil {
					return err
				}
				lines = append(lines, more...)
			}
			if err := enoughTasks(); err != nil {
				return err
			}
			d, err := a.openDebugger(cmd.Context(), args[0], path, o)
			if err != nil {
				return err
			}
			switch {
			case len(lines) > 0:
				err = executeAll(a.out, d, lines)
			case plain || !isTerminal(os.Stdin) || !isTerminal(a.out) || os.Getenv("TERM") == "dumb":
				err = prompt(cmd.Context(), os.Stdin, a.out, d)
			default:
				err = screen.New(d, nil).Run(cmd.Context())
			}
			return errors.Join(err, d.Close())
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&lines, "execute", "x", nil, "execute this `command` and end; may be given several times")
	f.StringVar(&script, "commands", "", "execute the commands in this `file`, one a line, and end")
	f.StringVar(&o.Decoder, "decode", "", "ask the function decode(message) of this `script` in Starlark what messages carry")
	f.StringVar(&path, "spec", "", "read the spec of a trace from this `file` instead of the one that the trace names")
	f.Var((*memory)(&o.Memory), "memory", "use at most about this `size` for Ariadne and its nodes, as in 500M or 4G (default: half of the memory of the machine)")
	f.BoolVar(&plain, "plain", false, "ask for commands line by line, also on a terminal")
	f.BoolVar(&o.Force, "force", false, "debug a trace even if spec or programs have changed")
	return cmd
}

// openDebugger debugs what is at path: a trace or a spec.
func (a *app) openDebugger(ctx context.Context, path, specPath string, o debug.Options) (*debug.Debugger, error) {
	first := make([]byte, len(trace.Magic))
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	n, _ := io.ReadFull(f, first)
	f.Close()
	if trace.Begins(first[:n]) {
		s, err := a.tracedSpec(path, specPath)
		if err != nil {
			return nil, err
		}
		return a.openTrace(ctx, s, path, o)
	}
	if specPath != "" {
		return nil, usageError{fmt.Errorf("--spec is for a trace, and %s is none", path)}
	}
	s, err := spec.Read(path)
	if err != nil {
		return nil, err
	}
	return debug.Open(ctx, s, o)
}

// openTrace opens a trace, which is executed once, and says so when that takes long.
func (a *app) openTrace(ctx context.Context, s *spec.Spec, path string, o debug.Options) (*debug.Debugger, error) {
	said := time.AfterFunc(2*time.Second, func() { fmt.Fprintf(a.err, "replaying %s\n", path) })
	defer said.Stop()
	return debug.OpenTrace(ctx, s, path, o)
}

// commandsIn are the lines of a script.
func commandsIn(path string) ([]string, error) {
	b, err := readfile.AtMost(path, readfile.Spec)
	if err != nil {
		return nil, err
	}
	return strings.Split(string(b), "\n"), nil
}

// executeAll executes lines, and shows each before its answer.
func executeAll(w io.Writer, d *debug.Debugger, lines []string) error {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		fmt.Fprintf(w, "> %s\n", line)
		text, err := d.Execute(line)
		if errors.Is(err, debug.ErrQuit) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
		io.WriteString(w, text)
	}
	return nil
}
