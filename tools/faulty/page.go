package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a target with what it showed; nil when it was never run.
type row struct {
	*target
	*result
}

const head = `# Random executions with faults

This page shows how real, unmodified programs go through random executions with faults.
` + "`make faulty`" + ` writes it from runs of the programs in ` + "`examples/faulty.yaml`" + `.

Each system goes through random executions
(` + "`ariadne check SPEC --strategy random --first 1 --keep-going --faults FAULTS`" + `). Orders, timers and
delays of messages are random. So are [faults](../guides/faults.md), at most as many of each kind in
one execution as *budgets* says. Clients reach every node. A node that went down comes back after 1
or 15 s, with the files that it left. A partition lasts 15 s. Some executions have no faults.

- *executions*: how many came to an end, of those wanted.
- *faults*: how many there were in them.
- *violations*: executions that ended in one. The others ended with the clients, unless the text
  below says otherwise.
- *again*: how many replays of single executions that had faults gave the trace's digest at every
  step.
- *audited*: how many transitions of a search by random walks with the same budgets were executed
  twice, of how many, and how many of those differed.
- *measured*: when, and with which version.

Violations are explained below, by hand. Each was replayed, and came again unless the text says
otherwise.
`

// good says whether a target is as it should be.
func (r *result) good(t *target) bool {
	return t.Triage.All(r.Violations) && r.Executions == r.Wanted && len(r.Doubts) == 0 &&
		r.EqualReplays == r.Replays && r.Audit.Different == 0 && r.Audit.Transitions >= r.Audit.Wanted
}

// writePage returns the whole page. Targets of which nothing is kept here stay as the earlier page
// has them.
func writePage(rows []row, earlier harness.Page) []byte {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("\n| system | spec | budgets | executions | faults | violations | again | audited | steps | time | measured |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	machines := map[string]bool{}
	for _, r := range rows {
		switch old := earlier.Rows("`"+r.Spec+"`", r.target.Faults); {
		case r.result != nil:
			fmt.Fprintf(&b, "| %s | `%s` | %s | %d of %d | %s | %d | %d of %d | %s | %d | %s | %s, %s |\n", r.What, r.Spec, r.result.Faults, r.result.Executions, r.Wanted,
				harness.Taken(r.Tried), r.Ends[harness.EndViolation], r.EqualReplays, r.Replays, r.Audit, r.Steps,
				r.RealTime.Round(time.Second), r.Origin.When.Format(time.DateOnly), r.Origin.Ariadne)
			machines[fmt.Sprintf("- %s\n", r.Origin.Machine)] = true
		case len(old) > 0:
			b.WriteString(old[0])
		default:
			fmt.Fprintf(&b, "| %s | `%s` | %s | not run yet | | | | | | | |\n", r.What, r.Spec, r.target.Faults)
		}
	}
	for _, r := range rows {
		if r.result == nil {
			if s := earlier.Section(r.heading()); s != "" {
				b.WriteString("\n" + r.Triage.Explain(s))
			}
		} else if lines := r.lines(r.target); len(lines) > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n- %s\n", r.heading(), strings.Join(lines, "\n- "))
		}
	}
	for line := range strings.Lines(earlier.Section(measuredOn)) {
		if strings.HasPrefix(line, "- ") {
			machines[line] = true
		}
	}
	if len(machines) > 0 {
		fmt.Fprintf(&b, "\n## %s\n\n", measuredOn)
	}
	for _, line := range slices.Sorted(maps.Keys(machines)) {
		b.WriteString(line)
	}
	return []byte(b.String())
}

const measuredOn = "Measured on"

// heading is that of the target's section.
func (r row) heading() string {
	if r.target.Faults == usualFaults {
		return r.What
	}
	return r.What + ": " + r.target.Faults
}

// kinds are numbers of faults by kind, in words.
func kinds(of map[string]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[kind], kind))
	}
	return strings.Join(parts, ", ")
}

func (a audit) String() string {
	if a.Transitions == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d, %d different", a.Audited, a.Transitions, a.Different)
}

// lines say what there is to say beyond the numbers.
func (r *result) lines(t *target) (lines []string) {
	if t.Notes != "" {
		lines = append(lines, harness.OneLine(t.Notes))
	}
	if len(r.Replayed) > 0 {
		lines = append(lines, fmt.Sprintf("The executions that were replayed had faults: %s.", kinds(r.Replayed)))
	}
	if len(r.Audit.Faults) > 0 {
		lines = append(lines, fmt.Sprintf("The search that was audited had: %s.", kinds(r.Audit.Faults)))
	}
	for _, end := range slices.Sorted(maps.Keys(r.Ends)) {
		if end != harness.EndClients && end != harness.EndViolation {
			lines = append(lines, fmt.Sprintf("%s ended otherwise: %s.", executions(r.Ends[end]), end))
		}
	}
	for _, v := range r.Violations {
		lines = append(lines, t.Triage.Line(executions(v.Count), v))
	}
	for _, d := range r.Doubts {
		lines = append(lines, harness.OneLine(d))
	}
	if r.Difference != "" {
		lines = append(lines, "A replay differs: "+harness.OneLine(r.Difference))
	}
	return lines
}

func executions(n int) string {
	if n == 1 {
		return "1 execution"
	}
	return fmt.Sprintf("%d executions", n)
}

// String is the result in one line, for the terminal.
func (r *result) String() string {
	return fmt.Sprintf("%d of %d executions, %s, %d violations, %d of %d replays equal, audited %v, %v", r.Executions, r.Wanted, harness.Taken(r.Tried),
		r.Ends[harness.EndViolation], r.EqualReplays, r.Replays, r.Audit, r.RealTime.Round(time.Second))
}
