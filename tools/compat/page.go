package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a target with what it showed to each user; nothing when it was never measured.
type row struct {
	*target
	results []*result
}

const head = `# Compatibility

This page shows which real, unmodified programs run under Ariadne, and how reproducibly.
` + "`make compat`" + ` writes it from runs of the programs in ` + "`examples/targets.yaml`" + `.

- *user*: who ran Ariadne, root or an ordinary user.
- *ready*: the natural schedule reaches the end of the client, which has read back what it wrote.
- *runs*: how many natural runs had the same digest at every step. Half of them ran beside a busy
  core and in another working directory.
- *replays*: how many replays of one random walk gave the trace's digest at every step.
- *walks*: random walks that came to an end, of those wanted, and how many of them ended in a
  violation.
- *check*: what a check by the default strategy found in the time given, how many executions it saw
  and how many transitions it made.
- *steps*, *system calls* and the times are those of one natural run.
`

var columns = []string{"program", "spec", "user", "ready", "runs", "replays", "walks", "check", "steps", "system calls",
	"virtual time",
	"real time", "measured"}

// writePage returns the whole page. Targets of which nothing is kept here stay as the earlier page
// has them.
func writePage(rows []row, earlier harness.Page) []byte {
	var b strings.Builder
	b.WriteString(head)
	fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, r := range rows {
		b.WriteString(strings.Join(r.lines(earlier), ""))
	}
	for _, r := range rows {
		if s := earlier.Section(r.heading()); len(r.results) == 0 && s != "" {
			b.WriteString("\n" + s)
		} else {
			r.section(&b)
		}
	}
	return []byte(b.String())
}

// lines are the target's lines of the table.
func (r row) lines(earlier harness.Page) (lines []string) {
	for _, result := range r.results {
		lines = append(lines,
			fmt.Sprintf("| %s |\n", strings.Join(append(result.cells(r.target), result.measured()), " | ")))
	}
	if len(lines) == 0 {
		lines = earlier.Rows("`" + r.Spec + "`")
	}
	if len(lines) == 0 {
		lines = []string{fmt.Sprintf("| %s | `%s` | | not run |%s\n", r.Program, r.Spec,
			strings.Repeat(" |", len(columns)-4))}
	}
	return lines
}

// heading is that of the target's section.
func (r row) heading() string { return fmt.Sprintf("%s (`%s`)", r.Program, r.Spec) }

// measured says when, and with which version.
func (r *result) measured() string {
	return r.When.UTC().Format(time.DateOnly) + ", " + r.Ariadne
}

func (r *result) cells(t *target) []string {
	program := t.Program
	if r.Version != "" {
		program += " " + r.Version
	}
	n := r.Natural
	return []string{
		program, "`" + t.Spec + "`", r.User, r.readiness(),
		ratio(r.EqualRuns, r.Runs), ratio(r.EqualReplays, r.Replays), r.walked(), r.checked(),
		fmt.Sprint(n.Steps), fmt.Sprint(n.Calls),
		fmt.Sprintf("%.1f s", float64(n.VirtualTime)/1e9), fmt.Sprintf("%.1f s", n.RealTime.Seconds()),
	}
}

func (r *result) readiness() string {
	switch {
	case !r.Fetched:
		return "not fetched"
	case r.Natural.Ready && r.Natural.Status == 0:
		return "yes"
	case r.Natural.Ready:
		return fmt.Sprintf("yes, exit status %d", r.Natural.Status)
	}
	return "no"
}

func ratio(equal, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", equal, all)
}

func (r *result) walked() string {
	w := r.Walks
	if w.Wanted == 0 {
		return "-"
	}
	text := fmt.Sprintf("%d of %d, %d violations", w.Executions, w.Wanted, count(w.Violations))
	switch w.Stopped {
	case "":
	case harness.StopTime:
		text += ", time's up"
	default:
		text += ", " + w.Stopped
	}
	return text
}

func (r *result) checked() string {
	c := r.Check
	if c.Wanted == 0 {
		return "-"
	}
	text := fmt.Sprintf("%s in %.0f s: %d executions, %d transitions", c.Outcome, c.RealTime.Seconds(), c.Executions,
		c.Transitions)
	if c.Stopped != harness.StopTime {
		text += ", " + c.Stopped
	}
	return text
}

func count(all []harness.Seen) int {
	n := 0
	for _, v := range all {
		n += v.Count
	}
	return n
}

// cut counts the walks that ended neither with the clients nor in a violation, by
// why they ended.
func (w *walks) cut() string {
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(w.Ends)) {
		if why != harness.EndClients && why != harness.EndViolation {
			parts = append(parts, fmt.Sprintf("%d: %s", w.Ends[why], why))
		}
	}
	return strings.Join(parts, ", ")
}

// section says what there is to say beyond the numbers. A result that is the same for several users
// is there once.
func (r row) section(b *strings.Builder) {
	var lines []string
	if r.Notes != "" {
		lines = append(lines, strings.TrimSpace(r.Notes), "")
	}
	if r.Root != "" {
		lines = append(lines, "- As root alone: "+r.Root+".")
	}
	for i, result := range r.results {
		for _, line := range result.lines(r.target) {
			switch {
			case slices.Contains(lines, "- "+line):
			case i == 0:
				lines = append(lines, "- "+line)
			default:
				lines = append(lines, fmt.Sprintf("- As %s: %s", result.User, line))
			}
		}
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n%s\n", r.heading(), strings.Join(lines, "\n"))
	}
}

func (r *result) lines(t *target) []string {
	var lines []string
	if !r.Natural.Ready && r.Fetched {
		lines = append(lines, fmt.Sprintf("Not ready: %s (exit status %d).", r.Natural.End, r.Natural.Status))
	}
	for _, d := range slices.Concat(r.Natural.Doubts, r.Walks.Doubts, r.Check.Doubts) {
		if d = harness.OneLine(d); !slices.Contains(lines, d) {
			lines = append(lines, d)
		}
	}
	if r.RunDifference != "" {
		lines = append(lines, "Runs differ: "+harness.OneLine(r.RunDifference))
	}
	if r.ReplayDifference != "" {
		lines = append(lines, "A replay differs: "+harness.OneLine(r.ReplayDifference))
	}
	lines = append(lines, r.refused()...)
	if cut := r.Walks.cut(); cut != "" {
		lines = append(lines, "Walks that did not come to the client's end: "+cut+".")
	}
	for _, v := range r.Walks.Violations {
		lines = append(lines, fmt.Sprintf("%d walks: %s", v.Count, t.Triage.Says(v)))
	}
	for _, v := range r.Check.Violations {
		lines = append(lines, fmt.Sprintf("%d executions of the check: %s", v.Count, t.Triage.Says(v)))
	}
	return lines
}

// refused lists the calls that Ariadne did not model, those that matter first.
func (r *result) refused() []string {
	var serious, harmless []string
	for _, f := range r.Refusals {
		if f.Harmless {
			harmless = append(harmless, fmt.Sprintf("`%s` (%s)", f.Name, f.Program))
		} else {
			serious = append(serious, fmt.Sprintf("`%s` (%s, %d times): %s", f.Name, f.Program, f.Count, f.Detail))
		}
	}
	var lines []string
	for _, s := range serious {
		lines = append(lines, "Refused: "+s)
	}
	if len(harmless) > 0 {
		lines = append(lines, "Answered as a kernel may that lacks it: "+strings.Join(harmless, ", ")+".")
	}
	return lines
}

// good says whether the target is as it should be: all that was wanted was done, and
// nothing was found that has no explanation.
func (r *result) good(t *target) bool {
	for _, v := range slices.Concat(r.Walks.Violations, r.Check.Violations) {
		if t.Triage.Of(v.Message) == "" {
			return false
		}
	}
	return r.Natural.Ready && r.Natural.Status == 0 && r.EqualRuns == r.Runs && r.EqualReplays == r.Replays &&
		r.Walks.Executions == r.Walks.Wanted && len(r.Walks.Doubts) == 0 && len(r.Check.Doubts) == 0
}

// verdict is the result in one line, for the terminal.
func (r *result) verdict(t *target) string {
	return fmt.Sprintf("ready %s, runs %s, replays %s, walks %s, check %s, %s", r.readiness(),
		ratio(r.EqualRuns, r.Runs),
		ratio(r.EqualReplays, r.Replays), r.walked(), r.checked(), r.Natural.RealTime.Round(time.Millisecond))
}
