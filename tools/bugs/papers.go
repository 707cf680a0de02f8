package main

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

const papersHead = `# Bugs of papers, found

This page lists bugs that papers describe, and how soon a check finds them in small programs.
` + "`make papers`" + ` writes it from ` + "`examples/papers.yaml`" + `, the specs and the results of its searches.

The papers whose ideas Ariadne implements are MODIST (NSDI 2009), D3S (NSDI 2008) and MaceMC (NSDI
2007). They describe bugs in systems of which most cannot be obtained. So the programs here are
small ones of ours that carry these bugs behind a switch. They are real processes over TCP and UDP
that keep durable state in files, and they are correct without the switch. One sentence says what
must hold, and it is only about what nodes write. ` + "`eventually`" + ` is about executions without end:
random walks that never reach a state in which it is true find it.

Each search is one ` + "`ariadne check SPEC --seed N`" + ` with the default strategy for %s at most, and ends
at the first violation.

- *found*: how many of the seeds reached it.
- *time*, *executions*: medians of these seeds.
- *faults*: the faults of the execution that the median seed found. Orders and delays of messages
  and timers come in addition.
- *shrunk*: one more search shrinks what it finds. The column has the number of faults, of other
  deviations from the natural schedule and of steps, before and after. The smaller execution was
  replayed. Where there is no arrow, none smaller was found.
- *without it*: the same program without the switch, under the same faults and sentence. It was
  searched for as long as all seeds took together, but at least %s and no longer than one search may
  take.
- *all explored*: every state within the bounds of the spec, with each event at the time at which
  it happened.
`

// writePapers returns the page of papers' bugs.
func (o *options) writePapers(all []result, earlier harness.Page) ([]byte, error) {
	var b strings.Builder
	budget, least := o.budgets(all)
	fmt.Fprintf(&b, papersHead, short(budget), short(least))
	without := "without it"
	writeHeads(&b, []string{"bug", "paper"}, without)
	for _, r := range all {
		writeRow(&b, []string{"`" + r.bug.Name + "`", r.bug.Reference}, r.searched(earlier, without, ""))
	}
	b.WriteString("\n")
	for _, r := range all {
		said, err := sentence(o.path(r.bug.Spec))
		if err != nil {
			return nil, err
		}
		if said == "" {
			said = "none: a node that dies is a violation"
		} else {
			said = "`" + said + "`"
		}
		fmt.Fprintf(&b, "## %s\n\n%s: %s. %s. Sentence: %s.\n\n    ariadne check %s\n    ariadne check %s\n\n", r.bug.Name, r.bug.Program, r.bug.Bug,
			r.bug.Reference, said, path.Join("examples", r.bug.Spec), path.Join("examples", r.bug.Sibling))
		const critical = "Critical transition of the smaller execution: "
		if r.shrunk == nil {
			r.keepLines(&b, earlier, critical)
		} else if r.shrunk.Critical != "" {
			fmt.Fprintf(&b, critical+"`%s`.\n\n", r.shrunk.Critical)
		}
		r.writeWrong(&b, earlier)
	}
	writeOrigins(&b, all, earlier)
	return []byte(strings.TrimRight(b.String(), "\n") + "\n"), nil
}

// sentence is the property of a spec as it stands there, or "" when there is none.
func sentence(spec string) (string, error) {
	data, err := os.ReadFile(spec)
	if err != nil {
		return "", err
	}
	_, after, _ := strings.Cut(string(data), "\nproperties:\n")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line), nil
}
