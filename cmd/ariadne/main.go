// Command ariadne runs, checks and replays distributed systems made of
// unmodified Linux programs. Each subcommand is a file: flags, one call, one
// print. The output of --json is for programs and stays stable. All other output is for people.
//
// Read next: run.go (the subcommand), process.go, then internal/system, internal/use/run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system"
	_ "github.com/ariadne-mc/ariadne/internal/system/early" // before go-fuse
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
	"github.com/ariadne-mc/ariadne/internal/use/session"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	if stack.IsWorker() {
		stack.Work()
	}
	if native.IsStarter() {
		os.Exit(native.RunStarter())
	}
	enoughMemory()
	tuneCollector()
	stop, err := startProfile()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ariadne:", err)
		os.Exit(statusUsage)
	}
	a := &app{out: os.Stdout, err: toTerminal(os.Stderr)}
	status := a.main(os.Args[1:])
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "ariadne:", err)
	}
	os.Exit(status)
}

// app is one invocation of the command line.
type app struct {
	out, err io.Writer
	nodes    system.Factory // nil for real processes
	status   int            // with which it ends
}

// system says how systems are opened.
func (a *app) system() system.Options { return system.Options{Nodes: a.nodes, Version: version} }

// statusUsage is the exit status of a bad command line; a record.Outcome has the others.
const statusUsage = 2

func (a *app) main(args []string) int {
	ctx, stop := gracefully()
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{Writer: a.out, failed: cancel}
	a.out = out
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if out.err != nil {
		fmt.Fprintf(a.err, "ariadne: standard output: %v\n", reason(out.err))
		if (err == nil || errors.Is(err, out.err)) && a.status == 0 {
			return statusUsage
		}
	}
	if err == nil || out.err != nil && errors.Is(err, out.err) {
		return a.status
	}
	var bad spec.Errors
	if errors.As(err, &bad) { // each line says already where it belongs
		fmt.Fprintln(a.err, bad)
		return statusUsage
	}
	var limit *ariadne.LimitError
	// Where replay has a verdict of its own, explain and the debuggers cannot go on.
	var left *session.Mismatch
	if err = system.AsLimit(err); errors.As(err, &limit) || errors.As(err, &left) {
		fmt.Fprintf(a.err, "inconclusive: %v\n", err)
		return record.Inconclusive.ExitStatus()
	}
	fmt.Fprintf(a.err, "ariadne: %v\n", err)
	var u usageError
	if errors.As(err, &u) || cmd == root {
		fmt.Fprintf(a.err, "See %s --help\n", cmd.CommandPath())
	}
	return statusUsage
}

// reason is the last part of an error of writing: what without where.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// usageError is a command line that cannot be understood.
type usageError struct{ error }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "ariadne",
		Short: "Check distributed systems made of unmodified Linux programs",
		Long: `Ariadne runs the programs of a distributed system under an emulated kernel, so that
the same choices always give the same execution. It explores the orders in which
messages arrive and timers fire, and replays what it found.

Exit status: 0 nothing found, 1 violation, 2 bad spec or usage, 3 inconclusive,
4 bug in Ariadne, 5 suspected violation of what must happen (eventually, leads_to),
or steps that compute too long at the same place.`,
		Example: `  ariadne init spec.yaml            # write a short spec
  ariadne run spec.yaml             # run it once, and see what happens when
  ariadne check spec.yaml --time 5m # explore
  ariadne replay TRACE              # see a violation again`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	// Texts of flags fit the width of reports.
	wrapped := fmt.Sprintf(".FlagUsagesWrapped %d", report.DefaultWidth)
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", wrapped))
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(
		a.runCommand(), a.checkCommand(), a.crashCommand(), a.diskCommand(), a.replayCommand(),
		a.explainCommand(), a.timersCommand(), a.graphCommand(),
		a.debugCommand(), a.coreCommand(), a.gdbCommand(), a.dlvCommand(), a.traceCommand(), a.initCommand(),
		a.watchCommand(), a.agentCommand(), a.doctorCommand(), a.syscallsCommand(), a.versionCommand(), a.docsCommand(),
	)
	return root
}

// exactly wants as many arguments as names has.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageError{fmt.Errorf("%s: %s is missing", cmd.Name(), names[len(args)])}
		case len(args) > len(names):
			return usageError{fmt.Errorf("%s: unexpected argument %q", cmd.Name(), args[len(names)])}
		}
		return nil
	}
}

// isTerminal reports whether w is one.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// fileOf returns the file that w writes to, if it does.
func fileOf(w io.Writer) (*os.File, bool) {
	for inner, ok := w.(interface{ Unwrap() io.Writer }); ok; inner, ok = w.(interface{ Unwrap() io.Writer }) {
		w = inner.Unwrap()
	}
	f, ok := w.(*os.File)
	return f, ok
}

// style says how to print to w: wide and coloured as the terminal is, if it is one.
func style(w io.Writer) report.Style {
	if !isTerminal(w) {
		return report.Style{}
	}
	f, _ := fileOf(w)
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0 // the default
	}
	return report.Style{Width: width, Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}
