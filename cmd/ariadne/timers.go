package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
	"github.com/ariadne-mc/ariadne/internal/use/timers"

	"github.com/spf13/cobra"
)

func (a *app) timersCommand() *cobra.Command {
	var asJSON, quiet bool
	o := timers.Options{System: a.system()}
	cmd := &cobra.Command{
		Use:   "timers SPEC",
		Short: "List the places at which programs decide by the clock (experimental)",
		Long: `Lists implicit timers: places in programs that read the clock and decide by it, such as leases that
are over and entries that expire. The command executes the natural schedule and some random ones,
without faults. Where a node reads the clock when a message arrives, when a timer fires or when the
node starts, the step is tried at later times. Where the node then does something else, the list
has the nodes, the time to 1 ms, what differs before and after, the function that reads the clock,
and the branch that decides, with the values that it compares.

A later time is at most 2 ms before the node's next timer. Lines need debug information. The exit
status is 0 also if there are no such places.`,
		Example: `  ariadne timers spec.yaml
  ariadne timers spec.yaml --time 5m --schedules 100 --json`,
		Args: exactly("SPEC"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Time <= 0 || o.Window <= 0 || o.Schedules <= 0 {
				return usageError{fmt.Errorf("--time, --window and --schedules must be more than 0")}
			}
			s, err := spec.Read(args[0])
			if err != nil {
				return err
			}
			if err := enoughTasks(); err != nil {
				return err
			}
			clear := func() {}
			switch line := style(a.err); {
			case quiet || asJSON:
			case isTerminal(a.err):
				o.Progress = func(l *timers.List) { fmt.Fprint(a.err, "\r\x1b[K"+line.Line(timersSoFar(l))) }
				clear = func() { fmt.Fprint(a.err, "\r\x1b[K") }
			default:
				o.Progress, o.Pause = func(l *timers.List) { fmt.Fprintln(a.err, timersSoFar(l)) }, pauseOfLines
			}
			l, err := timers.Find(cmd.Context(), s, o)
			clear()
			if err != nil {
				return err
			}
			if asJSON {
				return newEncoder(a.out).Encode(l)
			}
			printTimers(a.out, style(a.out), l)
			return nil
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.Time, "time", time.Minute, "execute schedules for this `duration` of real time at most")
	f.IntVar(&o.Schedules, "schedules", 10, "execute this `number` of schedules at most, the natural one first")
	f.DurationVar(&o.Window, "window", time.Hour, "try a step at most this `duration` later")
	f.BoolVar(&o.NoStarts, "no-starts", false, "do not try starts of nodes: that of a JVM takes seconds each time")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&quiet, "quiet", false, "print no progress")
	return cmd
}

// printTimers prints a list for people.
func printTimers(w io.Writer, sty report.Style, l *timers.List) {
	for i := range l.Timers {
		t := &l.Timers[i]
		fmt.Fprintf(w, "%s\n",
			sty.Head(fmt.Sprintf("%s, %s: %v after a step is due, seen %s", strings.Join(t.Nodes, ", "),
				strings.Join(t.Events, " and "), time.Duration(t.After-t.Arrives).Round(time.Microsecond),
				times(t.Seen))))
		fmt.Fprintf(w, "%s\n", sty.Line(fmt.Sprintf("  step     %s, due at %v", t.Name, t.Arrives)))
		if t.Silent {
			fmt.Fprintf(w, "%s\n\n", sty.Line("  differs  only when the same datagram comes once more"))
			continue
		}
		printDifference(w, sty, "before", t.Was)
		printDifference(w, sty, "after", t.Is)
		fmt.Fprintf(w, "%s\n",
			sty.Line(fmt.Sprintf("  clock    %s (read %d of %d)", codeLines(t.Read), t.Number, t.Reads)))
		printBranch(w, sty, t.Branch)
		fmt.Fprintln(w)
	}
	said := fmt.Sprintf("Found %s that decide by the clock, in %s of %s. Tried %s at %s, in %.1f s.",
		plural(len(l.Timers), "place"), plural(l.Schedules, "schedule"), plural(l.Steps, "step"),
		plural(l.Probing.Messages, "pending step"), plural(l.Probing.Tries, "other time"), l.Took.Seconds())
	if n := len(l.Unexplained); n > 0 {
		said += fmt.Sprintf(" For %s at other times Ariadne found no read of the clock (--json has them).", plural(n, "difference"))
	}
	if l.Stopped == "time" {
		said += " The time was up: --time gives more."
	}
	fmt.Fprintln(w, sty.Wrap(said))
}

// timersSoFar says how far a list is.
func timersSoFar(l *timers.List) string {
	return fmt.Sprintf("%s, %s, %s, %s tried at %s, %.0f s", plural(len(l.Timers), "place"),
		plural(l.Schedules, "schedule"), plural(l.Steps, "step"), plural(l.Probing.Messages, "pending step"),
		plural(l.Probing.Tries, "other time"), l.Took.Seconds())
}

// times says how often something was seen.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// printBranch prints where a node decides.
func printBranch(w io.Writer, sty report.Style, b *session.Branch) {
	if b == nil {
		fmt.Fprintf(w, "%s\n", sty.Line("  branch   not found"))
		return
	}
	fmt.Fprintf(w, "%s\n", sty.Line("  branch   "+b.Where()))
	if compares := b.Compares(); compares != "" {
		fmt.Fprintf(w, "%s\n", sty.Line("  compares "+compares))
	}
}

// mostParts is how many parts of a step are listed on each side.
const mostParts = 3

func printDifference(w io.Writer, sty report.Style, side string, parts []string) {
	if len(parts) == 0 {
		parts = []string{"nothing that differs"}
	}
	for i, part := range parts {
		if i == mostParts {
			fmt.Fprintf(w, "           %d more\n", len(parts)-i)
			break
		}
		fmt.Fprintf(w, "%s\n", sty.Line(fmt.Sprintf("  %-7s  %s", side, abridge(part, 100))))
		side = ""
	}
}

// codeLines are functions with their lines, the innermost first.
func codeLines(all []ariadne.CodeLine) string {
	var texts []string
	if len(all) == 0 {
		return "an unknown function"
	}
	for _, l := range all {
		text := l.Function
		if text == "" {
			text = "a function of " + l.Program
		}
		if l.Line > 0 {
			text += fmt.Sprintf(" (%s:%d)", filepath.Base(l.File), l.Line)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " < ")
}
