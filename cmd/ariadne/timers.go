package main

import (
	"cmp"
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
	var asJSON bool
	o := timers.Options{System: a.system()}
	cmd := &cobra.Command{
		Use:   "timers SPEC",
		Short: "List the times at which the clock changes what programs do (experimental)",
		Long: `Executes the natural schedule and some random ones, without faults. Where a node reads the clock
when a message arrives, the message is tried at later times. Where the node then does something
else, the list has the node, the time to 1 ms, what differs before and after, the function that
reads the clock, and the branch that decides, with the values that it compares. Such a time is an
implicit timer: a lease that is over, an entry that expires.

Starts of nodes and their own timers are tried at no other times. A later time is at most 2 ms
before the node's next timer. The place in the code is found from the words on the stack; lines
need debug information. The exit status is 0 also if there are no such times.`,
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
			l, err := timers.Find(cmd.Context(), s, o)
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
	f.DurationVar(&o.Window, "window", time.Hour, "try a message at most this `duration` later")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printTimers prints a list for people.
func printTimers(w io.Writer, sty report.Style, l *timers.List) {
	for i := range l.Boundaries {
		b := &l.Boundaries[i]
		fmt.Fprintf(w, "%s\n",
			sty.Head(fmt.Sprintf("%s at %v, %v after the message arrives", b.Node, b.After,
				time.Duration(b.After-b.Arrives).Round(time.Microsecond))))
		fmt.Fprintf(w, "%s\n", sty.Line("  message  "+b.Message))
		if b.Silent {
			fmt.Fprintf(w, "%s\n\n", sty.Line("  differs  only when the same datagram comes once more"))
			continue
		}
		printDifference(w, sty, "before", b.Was)
		printDifference(w, sty, "after", b.Is)
		where := "the read was not found"
		if len(b.Read) > 0 {
			where = fmt.Sprintf("%s (read %d of %d)", codeLines(b.Read), b.Number, b.Reads)
		}
		fmt.Fprintf(w, "%s\n", sty.Line("  clock    "+where))
		printBranch(w, sty, b.Branch)
		fmt.Fprintln(w)
	}
	said := fmt.Sprintf("Found %s at which a node decides otherwise: %s, %s, %s tried at %s, in %.1f s.", plural(len(l.Boundaries), "time"),
		plural(l.Schedules, "schedule"), plural(l.Steps, "step"), plural(l.Probing.Messages, "message"),
		plural(l.Probing.Tries, "other time"), l.Took.Seconds())
	if len(l.ReadClock) > 0 {
		said += " Nodes that read the clock, in starts and timers that were tried at no other times: " + strings.Join(l.ReadClock, ", ") + "."
	}
	if l.Stopped == "time" {
		said += " The time was up: --time gives more."
	}
	fmt.Fprintln(w, sty.Wrap(said))
}

// printBranch prints where a node decides.
func printBranch(w io.Writer, sty report.Style, b *session.Branch) {
	if b == nil {
		fmt.Fprintf(w, "%s\n", sty.Line("  branch   not found"))
		return
	}
	var texts []string
	for i := range b.Stack {
		texts = append(texts, b.Stack[i].String())
	}
	where := strings.Join(texts, " < ")
	if !b.Confirmed {
		where += " (the first that differs, not the cause alone)"
	}
	fmt.Fprintf(w, "%s\n", sty.Line("  branch   "+where))
	if b.Comparison == "" {
		return
	}
	before, after := "", ""
	for i, o := range b.Operands {
		if i > 0 {
			before, after = before+" and ", after+" and "
		}
		before, after = before+cmp.Or(o.Before, "?"), after+cmp.Or(o.After, "?")
	}
	fmt.Fprintf(w, "%s\n", sty.Line(fmt.Sprintf("  compares %s before, %s after (%s)", before, after, b.Comparison)))
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
