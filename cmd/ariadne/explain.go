package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/leaf/payload"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/explain"

	"github.com/spf13/cobra"
)

// defaultExplain is how long executions are tried for an explanation.
const defaultExplain = 30 * time.Second

func (a *app) explainCommand() *cobra.Command {
	var path string
	var asJSON bool
	o := explain.Options{System: a.system()}
	cmd := &cobra.Command{
		Use:   "explain TRACE",
		Short: "Say what led to a violation, and what it needs",
		Long: `Replays a trace that ends in a violation, and says what led to it:

  - the violation in a sentence;
  - the story: at most 15 steps of the causal past of the violation. A step is in the causal past
    when it could have had an influence: by the order of steps of a node, by a message, or by a
    fault;
  - which faults, choices within steps and late messages the violation needs. Each is undone alone:
    an execution follows the rest of the trace, and the result says what happened;
  - the nearest execution that ends well, beside this one from the step where they differ.

A step with a + is needed: without its deviation the violation does not come. Nothing is guessed:
a deviation that --time leaves no time for is reported as not tried. The exit status is 0 when the
trace was explained, and 3 when programs now do something else than in the trace.`,
		Example: `  ariadne explain ariadne-runs/raftkv-1/violation-1/shrunk/trace.txt
  ariadne explain ariadne-runs/raftkv-1/violation-1/trace.txt --time 5m --json`,
		Args: exactly("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.tracedSpec(args[0], path)
			if err != nil {
				return err
			}
			if err := enoughTasks(); err != nil {
				return err
			}
			clear := func() {}
			if line, last := style(a.err), time.Now(); isTerminal(a.err) {
				o.Progress = func(p explain.Progress) { fmt.Fprint(a.err, "\r\x1b[K"+line.Line(p.String())) }
				clear = func() { fmt.Fprint(a.err, "\r\x1b[K") }
			} else {
				o.Progress = func(p explain.Progress) {
					if time.Since(last) >= lineEvery {
						last = time.Now()
						fmt.Fprintln(a.err, p)
					}
				}
			}
			x, err := explain.Explain(cmd.Context(), s, args[0], o)
			clear()
			if err != nil {
				return err
			}
			if asJSON {
				return newEncoder(a.out).Encode(x)
			}
			printExplanation(a.out, style(a.out), x)
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Decoder, "decode", "", "ask the function decode(message) of this `script` in Starlark what messages carry")
	f.StringVar(&path, "spec", "", "read the spec from this `file` instead of the one that the trace names")
	f.DurationVar(&o.Time, "time", defaultExplain, "try executions for this `duration` of real time; 0: try none")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&o.Force, "force", false, "explain even if spec or programs have changed")
	return cmd
}

// printExplanation prints an explanation for people.
func printExplanation(w io.Writer, sty report.Style, x *explain.Explanation) {
	printf := func(format string, args ...any) { fmt.Fprintf(w, format, args...) }
	printf("%s\n", sty.Wrap(sty.Warn(x.Sentence)))
	printf("\n%s\n", sty.Head(fmt.Sprintf("The story: %d of the %d steps that could have led to it (%d in all)", len(x.Story), x.Past, x.Steps)))
	printf("%s\n", sty.Head(fmt.Sprintf("%12s %5s   %-*s  %s", "time", "step", placeWidth(x), "node", "what")))
	for i := range x.Story {
		m := &x.Story[i]
		printf("%s\n",
			sty.Line(fmt.Sprintf("%12s %5d %s %-*s  %s", m.At, m.Step, marks(m), placeWidth(x), m.Place(),
				textOf(&m.Event))))
		for _, line := range append(codeOf(&m.Event), boundaryOf(m)...) {
			printf("%s\n", sty.Line(fmt.Sprintf("%*s%s", 23+placeWidth(x), "", line)))
		}
	}
	printUnordered(w, sty, x.Unordered)
	printNeeds(w, sty, x)
	printLosses(w, sty, x)
	if g := x.Goal; g != nil {
		printf("\n%s\n", sty.Head("When it became impossible"))
		printf("  %s\n", sty.Wrap(g.Verdict))
		if g.Critical > 0 {
			printf("  critical   step %d (%s, at %v)\n", g.Critical, g.CriticalName, g.CriticalAt)
		}
	}
	printParting(w, sty, x)
	printf("\n%s tried in %.1f s.\n", plural(x.Tried, "execution"), x.Took.Seconds())
}

// marks of a step: + needed, ! the violation, * the critical transition.
func marks(m *explain.Moment) string {
	switch {
	case m.Violated:
		return "!"
	case m.Critical:
		return "*"
	case m.Needed:
		return "+"
	}
	return " "
}

func placeWidth(x *explain.Explanation) int {
	width := len("network")
	for i := range x.Story {
		width = max(width, len([]rune(x.Story[i].Place())))
	}
	return width
}

// mostOutcomes is how many outcomes of a step a line has.
const mostOutcomes = 3

// textOf is what happened in a step and what came of it, as a line.
func textOf(e *causal.Event) string {
	text := e.Text
	if e.Late > 0 && e.Kind == causal.Delivered {
		text += fmt.Sprintf(" (%v late)", e.Late.Round(time.Microsecond))
	}
	if wide := map[bool]int{true: 30, false: 60}[e.Protocol == payload.Bytes]; len(e.Outcomes) > 0 {
		text = abridge(text, wide)
	}
	for _, o := range chosen(e.Outcomes) {
		text += "  | " + stamp.ReplaceAllString(o.Text, "")
	}
	if n := len(e.Outcomes) - mostOutcomes; n > 0 {
		text += fmt.Sprintf("  | %d more", n)
	}
	return abridge(text, 180)
}

// codeOf says which code sent a step's message, wrote the lines that are shown, and ended commands.
func codeOf(e *causal.Event) (lines []string) {
	if e.Code != "" {
		lines = append(lines, "sent by "+e.Code)
	}
	for _, o := range chosen(e.Outcomes) {
		text := "written by " + o.Code
		if o.Kind == causal.Exited {
			text = "ended by " + o.Code
		}
		if o.Code != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// boundaryOf says at what time the node of a step decides otherwise, and where.
func boundaryOf(m *explain.Moment) (lines []string) {
	b := m.Boundary
	if b == nil {
		return nil
	}
	lines = append(lines, fmt.Sprintf("up to %v the node does something else", b.Before))
	if b.Branch != nil {
		lines = append(lines, "decided by "+b.Branch.Where())
		if compares := b.Branch.Compares(); compares != "" {
			lines = append(lines, "which compares "+compares)
		}
	}
	return lines
}

// stamp is a time at the beginning of a line, which the step's time says better.
var stamp = regexp.MustCompile(`^\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S*\s+`)

// alarming are lines by which programs say that something is wrong.
var alarming = regexp.MustCompile(`(?i)panic|fatal|error|fail|assert|exception|warn`)

// chosen are the outcomes that a line has: those that matter most, in order. Of lines those that
// say that something is wrong count most, then the last.
func chosen(all []causal.Outcome) []causal.Outcome {
	if len(all) <= mostOutcomes {
		return all
	}
	take := map[int]bool{}
	choose := func(kind causal.OutcomeKind, wanted func(text string) bool) {
		for i := len(all) - 1; i >= 0 && len(take) < mostOutcomes; i-- {
			if all[i].Kind == kind && wanted(all[i].Text) {
				take[i] = true
			}
		}
	}
	any := func(string) bool { return true }
	for _, kind := range []causal.OutcomeKind{causal.Chosen, causal.Stuck, causal.Exited, causal.Lost, causal.Exposed} {
		choose(kind, any)
	}
	choose(causal.Line, alarming.MatchString)
	choose(causal.Line, any)
	var some []causal.Outcome
	for i := range all {
		if take[i] {
			some = append(some, all[i])
		}
	}
	return some
}

// mostOperations is how many operations of a history are drawn, the last ones.
const mostOperations = 20

// printUnordered draws the operations that no order explains: when each began and ended, by the
// order of these events.
func printUnordered(w io.Writer, sty report.Style, all []history.Operation) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", sty.Head("The operations that no order explains"))
	if n := len(all) - mostOperations; n > 0 {
		fmt.Fprintf(w, "  %s before these\n", plural(n, "operation"))
		all = all[n:]
	}
	var events []int
	client, text := 0, 0
	for _, o := range all {
		events = append(events, o.From)
		if o.To > 0 {
			events = append(events, o.To)
		}
		client, text = max(client, len([]rune(o.Client))), max(text, min(len([]rune(o.Text)), 40))
	}
	slices.Sort(events)
	events = slices.Compact(events)
	column := func(event int) int {
		i, _ := slices.BinarySearch(events, event)
		return 2 * i
	}
	for _, o := range all {
		to, end := 2*len(events), "…"
		if o.To > 0 {
			to, end = column(o.To), "┤"
		}
		bar := strings.Repeat(" ", column(o.From)) + "├" + strings.Repeat("─", max(0, to-column(o.From)-1)) + end
		fmt.Fprintf(w, "  %-*s  %-*s  %s\n", client, o.Client, text, abridge(o.Text, 40), bar)
	}
}

// printNeeds says what comes without each deviation.
func printNeeds(w io.Writer, sty report.Style, x *explain.Explanation) {
	if len(x.Deviations) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", sty.Head("What it needs: each of these is undone alone"))
	others := map[record.Came][]int{}
	for i := range x.Deviations {
		d := &x.Deviations[i]
		if d.Kind == "late" && !d.Needed() && len(x.Deviations) > mostDeviations {
			others[d.Came] = append(others[d.Came], d.Step)
			continue
		}
		fmt.Fprintf(w, "%s\n",
			sty.Line(fmt.Sprintf("  without step %d, %s: %s", d.Step, abridge(d.Text, 70), d.Result)))
	}
	for _, came := range []record.Came{record.CameSame, record.CameUnknown, "not tried"} {
		if steps := others[came]; len(steps) > 0 {
			fmt.Fprintf(w, "  without one of %s that came late (%s): %s\n", plural(len(steps), "other step"),
				listed(steps),
				map[record.Came]string{record.CameSame: "same violation",
					record.CameUnknown: "could not be tried"}[came]+map[bool]string{true: "not tried: the time was up"}[came == "not tried"])
		}
	}
}

// mostDeviations is how many are listed one by one, also those that are not needed.
const mostDeviations = 8

// abridge cuts a text to so many characters.
func abridge(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// listed lists some of some numbers.
func listed(all []int) string {
	const most = 8
	var words []string
	for i, n := range all {
		if i == most {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}

// printLosses says what losses of power have taken, by file.
func printLosses(w io.Writer, sty report.Style, x *explain.Explanation) {
	if len(x.Losses) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", sty.Head("What the loss of power took"))
	for _, l := range x.Losses {
		fmt.Fprintf(w, "%s\n",
			sty.Line(fmt.Sprintf("  %s, step %d, %s: %s", l.Node, l.Step, l.File,
				abridge(strings.Join(l.Operations, ", "), 300))))
		told := ""
		for _, code := range l.Code {
			if code != "" && code != told {
				fmt.Fprintf(w, "%s\n", sty.Line("    called by "+code))
			}
			told = code
		}
	}
}

// printParting shows where the execution leaves the nearest one that ends well, side by side.
func printParting(w io.Writer, sty report.Style, x *explain.Explanation) {
	p := x.Parting
	if p == nil {
		if x.Nearest != "" {
			fmt.Fprintf(w, "\n%s\n  %s\n", sty.Head("The nearest execution that ends well"), x.Nearest)
		}
		return
	}
	set := "the smallest set that was found"
	if p.Smallest {
		set = "no part of it is enough"
	}
	if len(p.Undone) == 1 {
		set = "one deviation"
	}
	fmt.Fprintf(w, "\n%s\n", sty.Head("The nearest execution that ends well: without the deviation of step "+listed(p.Undone)+" ("+set+")"))
	fmt.Fprintf(w, "  the first %s are the same; then\n", plural(p.Common, "step"))
	const column = 56
	row := func(left, right string) {
		left, right = abridge(left, column), abridge(right, column)
		fmt.Fprintf(w, "%s\n",
			sty.Line(strings.TrimRight("  "+left+strings.Repeat(" ", column-len([]rune(left)))+" | "+right, " ")))
	}
	row("here", "there")
	for i := range max(len(p.Here), len(p.There)) {
		row(besideCell(p.Here, i), besideCell(p.There, i))
	}
	row("… the violation", "… "+p.End)
}

// besideCell is a step beside another one.
func besideCell(events []causal.Event, i int) string {
	if i >= len(events) {
		return ""
	}
	e := &events[i]
	text := fmt.Sprintf("%5d %s  %s", e.Step, e.Place(), e.Text)
	if len(e.Outcomes) > 0 {
		text += " | " + chosen(e.Outcomes)[0].Text
	}
	return text
}
