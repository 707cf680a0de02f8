package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a target with what it showed; nil when it was never searched.
type row struct {
	*target
	*result
}

const head = `# What was found

This page lists violations of ready-made properties that searches of real programs found. ` + "`make findings`" + ` writes it from searches of the unmodified programs of ` + "`examples/findings.yaml`" + `.

The searches use [ready-made properties](../guides/properties.md#ready-made). Two clients write and
read one register, which must be linearizable and keep acknowledged writes. A term has one leader.
Nodes that come back serve again. Clients are answered in the end. Programs do not die. Berkeley DB's
example has no clients: there, each generation has at most one master, and in the end there is one. With
libtorrent, a complete download has the content of the torrent. Each search is one ` + "`ariadne check SPEC --keep-going`" + ` with the default strategy and the spec's faults.

- *time*: how long the search took, and with how many workers.
- *found*: how many kinds of violations it found. They are explained below, by hand.
- *real*: a defect of the program of which we know no report.
- *known*: a defect that is documented at the given place.
- *by design*: the program does not promise the property.
- *patience*: a client gives up before the system has recovered.
- *ours*: a defect of the spec or of Ariadne.
- *all explored*: every state within the bounds of the spec, with each event at the time at which
  it happened.

Each violation was replayed, and came again unless the text says otherwise. So was the smaller
execution to which it was shrunk. Of violations with the same explanation, one trace is in ` + "`" + traces + "`" + `; where the script ` + "`fetch`" + ` beside the spec has brought the same programs it can be followed step by step:

    examples/findings/fetch
    ariadne replay ` + traces + `/consul-1.txt

With other versions of a program ` + "`--loose`" + ` follows it as far as it goes.
`

const (
	folder = "examples" // what the list's specs are relative to
	traces = "examples/findings/traces"
)

// writePage returns the whole page. Targets of which nothing is kept here stay as the earlier page
// has them. copied are the names of the traces that there are.
func writePage(rows []row, copied []string, earlier harness.Page) []byte {
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("\n| system | spec | time | executions | transitions | faults | found | measured |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		switch old := earlier.Rows(r.What, "`"+r.Spec+"`"); {
		case r.result != nil:
			fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %d | %s | %d | %s, %s, %s |\n", r.What, r.Spec, r.took(),
				r.Executions, r.Transitions, harness.Taken(r.Tried), len(r.Findings),
				r.Origin.When.Format(time.DateOnly), r.Origin.Ariadne, "load "+r.Origin.Load)
		case len(old) > 0:
			b.WriteString(old[0])
		default:
			fmt.Fprintf(&b, "| %s | `%s` | not searched yet | | | | | |\n", r.What, r.Spec)
		}
	}
	for _, r := range rows {
		if r.result == nil {
			if s := earlier.Section(r.What); s != "" {
				s, _, _ = strings.Cut(s, "\n"+tracesAre)
				b.WriteString("\n" + r.Triage.Explain(s))
				r.writeTraces(&b, copied)
			}
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n    ariadne check %s --keep-going\n", r.What, path.Join(folder, r.Spec))
		if lines := r.lines(r.target); len(lines) > 0 {
			fmt.Fprintf(&b, "\n- %s\n", strings.Join(lines, "\n- "))
		}
		r.writeTraces(&b, copied)
	}
	return []byte(b.String())
}

const tracesAre = "Traces: " // how the line begins that names them

// writeTraces names the traces of what was found in a target.
func (t *target) writeTraces(b *strings.Builder, copied []string) {
	var links []string
	for i := range t.Triage {
		if name := t.traceName(i); slices.Contains(copied, name) {
			links = append(links, fmt.Sprintf("[%s](../../%s)", name, path.Join(traces, name)))
		}
	}
	if len(links) > 0 {
		fmt.Fprintf(b, "\n%s%s.\n", tracesAre, strings.Join(links, ", "))
	}
}

// took is how long the search was, and whether it has had all its time.
func (r *result) took() string {
	s := r.RealTime.Round(time.Second).String() + ", 1 worker"
	if r.Jobs > 1 {
		s = fmt.Sprintf("%v, %d workers", r.RealTime.Round(time.Second), r.Jobs)
	}
	switch {
	case r.Exhausted:
		return s + ", all explored"
	case !r.had(r.Wanted):
		return s + ", interrupted"
	}
	return s
}

// explained lists what was found, together what has the same explanation and came again.
func (r *result) explained(t *target) (groups [][]*finding) {
	group := map[int]int{} // of an explanation
	for i := range r.Findings {
		f := &r.Findings[i]
		why := t.Triage.Index(f.Message)
		at, known := group[why]
		switch {
		case why < 0 || !f.Again || f.Suspect != "":
			groups = append(groups, []*finding{f})
		case known:
			groups[at] = append(groups[at], f)
		default:
			group[why] = len(groups)
			groups = append(groups, []*finding{f})
		}
	}
	return groups
}

// lines say what there is to say beyond the numbers.
func (r *result) lines(t *target) (lines []string) {
	if t.Notes != "" {
		lines = append(lines, harness.OneLine(t.Notes))
	}
	for _, same := range r.explained(t) {
		shortest := slices.MinFunc(same, func(a, b *finding) int {
			return cmp.Or(len(a.Message)-len(b.Message), a.length()-b.length())
		})
		howOften := fmt.Sprintf("Seen %d times, first after %d steps", shortest.Count, shortest.Steps)
		if shortest.Shrunk > 0 {
			howOften += fmt.Sprintf(", shrunk to %d", shortest.Shrunk)
		}
		line := t.Triage.Line(howOften, shortest.Seen)
		if others := len(same) - 1; others > 0 {
			times := -shortest.Count
			for _, f := range same {
				times += f.Count
			}
			line += fmt.Sprintf(" The same explains other messages (%d, seen %d times).", others, times)
		}
		lines = append(lines, line)
	}
	for _, d := range r.Doubts {
		lines = append(lines, "No verdict: "+harness.OneLine(d))
	}
	return lines
}
