package main

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system"

	"github.com/spf13/cobra"
)

func (a *app) traceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "trace",
		Short: "Look at traces",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.traceShowCommand())
	return cmd
}

func (a *app) traceShowCommand() *cobra.Command {
	var asJSON, steps bool
	cmd := &cobra.Command{
		Use:   "show TRACE",
		Short: "Print the settings of a trace, and its timeline",
		Long: `Prints the head of a trace, the timeline beside it, and how the execution ended. With
--steps, or where there is no timeline, prints the steps of the trace.`,
		Example: `  ariadne trace show ariadne-runs/raftkv-1/trace.txt
  ariadne trace show ariadne-runs/raftkv-1/trace.txt --json`,
		Args: exactly("TRACE"),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := system.LoadTrace(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printTraceJSON(a.out, t)
			}
			return showTrace(a.out, args[0], t, steps)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the trace as one JSON object")
	cmd.Flags().BoolVar(&steps, "steps", false, "print the trace's own steps, with digests")
	return cmd
}

// traceObject is a trace for programs. Times are nanoseconds where
// the name says so, else seconds; digests are hexadecimal.
type traceObject struct {
	Name       string             `json:"name"`
	Version    string             `json:"version"`
	Spec       string             `json:"spec"` // relative to the trace's directory
	SpecDigest string             `json:"spec_digest"`
	Seed       uint64             `json:"seed"`
	Execution  int                `json:"execution"`
	Date       string             `json:"date"`
	Delays     int                `json:"delays"`
	Programs   []trace.Program    `json:"programs"`
	Steps      []report.TraceStep `json:"steps"`
	End        string             `json:"end"`
	Violation  *trace.Violation   `json:"violation,omitempty"`

	Latency    time.Duration `json:"latency_ns"`
	ClockError time.Duration `json:"clock_error_ns"`
}

func printTraceJSON(w io.Writer, t *trace.Trace) error {
	h := &t.Header
	o := traceObject{
		Name: h.Name, Version: h.Version, Spec: h.Spec, SpecDigest: fmt.Sprintf("%x", h.SpecDigest[:]),
		Seed: h.Seed, Execution: h.Execution, Date: h.Date.Format(time.RFC3339), Latency: h.Latency,
		ClockError: h.ClockError,
		Delays:     h.Delays, End: t.End, Programs: append([]trace.Program{}, h.Programs...),
		Steps:     []report.TraceStep{},
		Violation: t.Violation,
	}
	for _, s := range t.Steps {
		o.Steps = append(o.Steps, report.NewTraceStep(s))
	}
	return newEncoder(w).Encode(o)
}

func showTrace(w io.Writer, path string, t *trace.Trace, steps bool) error {
	sty := style(w)
	h := t.Header
	fmt.Fprintf(w, "%s, execution %d, seed %d\n", sty.Head(h.Name), h.Execution, h.Seed)
	fmt.Fprintf(w, "spec     %s\n", system.SpecOf(path, t))
	for _, p := range h.Programs {
		fmt.Fprintf(w, "program  %s: %s (%x)\n", p.Node, p.Path, p.Digest[:4])
	}
	fmt.Fprintf(w, "date     %s\n", h.Date.Format(time.RFC3339))
	fmt.Fprintf(w, "network  latency %v, clock error %v, up to %d delays\n\n", h.Latency, h.ClockError, h.Delays)

	timeline, err := readfile.AtMost(filepath.Join(filepath.Dir(path), report.TimelineFile), readfile.Record)
	if err != nil || steps {
		writeSteps(w, t, sty)
	} else if _, err := w.Write(timeline); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d steps, %s\n", len(t.Steps), traceEnd(t, sty))
	return nil
}

func writeSteps(w io.Writer, t *trace.Trace, sty report.Style) {
	fmt.Fprintln(w,
		sty.Head(fmt.Sprintf("%12s %5s %8s %8s %5s  %s", "time", "step", "digest", "calls", "sent", "action")))
	for _, s := range t.Steps {
		fmt.Fprintf(w, "%12s %5d %08x %8d %5d  %s\n", s.At, s.Index, s.Digest>>32, s.Calls, s.Messages, s.Action)
	}
}

// traceEnd says how the execution ended.
func traceEnd(t *trace.Trace, sty report.Style) string {
	switch v := t.Violation; {
	case v == nil:
		return "end: " + t.End
	case v.Node == "":
		return sty.Warn(fmt.Sprintf("violation: %s: %s", v.Kind, v.Message))
	default:
		return sty.Warn(fmt.Sprintf("violation: %s: node %s: %s", v.Kind, v.Node, v.Message))
	}
}
