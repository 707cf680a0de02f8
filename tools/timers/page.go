package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/use/timers"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// place is where a timer decides, as the patterns of the list have it, and the page.
func place(t *timers.Timer) string {
	switch {
	case t.Silent:
		return "not looked for: shows when the same datagram comes again"
	case t.Branch == nil:
		return "not found, reads the clock in " + t.Read[0].Function
	}
	for _, f := range t.Branch.Stack {
		if f.Function != "" {
			return f.String()
		}
	}
	return "code that the program has made"
}

// judge is what the list says of a timer, or "".
func (t *target) judge(x *timers.Timer) string {
	for _, j := range t.Judged {
		if j.Place.MatchString(place(x)) {
			return j.Text
		}
	}
	return ""
}

func allJudged(t *target, r *result) bool {
	for i := range r.Timers {
		if t.judge(&r.Timers[i]) == "" {
			return false
		}
	}
	return true
}

const head = `# Implicit timers of real programs

This page lists places in real programs that read the clock and decide by it. No system call shows
such a timer. %s writes the page: it runs %s
([guide](../guides/explore.md#programs-that-read-the-clock)) on the specs of %s.
MODIST (NSDI 2009, section 3.4) finds such timers by an analysis of the source, and counts 13 in
Berkeley DB 4.7.

Each place was looked up by hand in the program's source:

- *true*: the program decides there by the time.
- *runtime*: the program's runtime decides there whether a timer of the program is due.
- *not one*: the program decides by something else.

A short run finds only places that its workload reaches. At these, the node must show something else
in the same step. So the page is no list of all timers of a program.

- *later*: how much later than it is due the step must come, in the first case found.
- *seen*: in how many steps.
- *values*: what the instruction compares, before and after.
- *unexplained*: differences for which no read of the clock was found by which the node decides.

`

// page is docs/results/timers.md. Targets of which nothing is kept here stay as the earlier page
// has them.
func page(targets []target, all []*result, planted []*sought, earlier harness.Page) []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p(head, "`make timers`", "`ariadne timers`", "`examples/timers.yaml`")
	p("| system | places | true | runtime | not one | unexplained | pending steps tried | at other times | time |\n")
	p("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range targets {
		t, r := &targets[i], all[i]
		if r == nil {
			p("%s", strings.Join(earlier.Rows(t.What), ""))
			continue
		}
		count := map[string]int{}
		for j := range r.Timers {
			word, _, _ := strings.Cut(t.judge(&r.Timers[j]), ":")
			count[word]++
		}
		p("| %s | %d | %d | %d | %d | %d | %d | %d | %.0f s |\n", t.What, len(r.Timers), count["true"],
			count["runtime"], count["not one"], len(r.Unexplained), r.Probing.Messages, r.Probing.Tries,
			r.Took.Seconds())
	}
	for i := range targets {
		t, r := &targets[i], all[i]
		if r == nil {
			if s := earlier.Section(t.What); s != "" {
				p("\n%s", s)
			}
			continue
		}
		p("\n## %s\n\n%s %s, %d steps", t.What, r.Origin, path.Base(t.Spec), r.Steps)
		if r.Stopped == "time" {
			p(" until the time was up, %d schedules complete", r.Schedules)
		}
		p(".\n")
		if len(r.Timers) == 0 {
			p("\nNo place was found.\n")
		}
		for j := range r.Timers {
			if j == 0 {
				p("\n| place | kind | later | seen | values | judged |\n| --- | --- | --- | --- | --- | --- |\n")
			}
			x := &r.Timers[j]
			p("| `%s` | %s | %v | %d | %s | %s |\n", cell(place(x)), strings.Join(x.Events, ", "),
				time.Duration(x.After-x.Arrives).Round(time.Millisecond), x.Seen, cell(values(x)),
				cmp.Or(t.judge(x), "not looked at"))
		}
	}
	b.WriteString(knownSection(targets))
	if s := plantedSection(planted, earlier); s != "" {
		p("\n%s", s)
	}
	return []byte(b.String())
}

// knownSection has the timers that sources are known to have.
func knownSection(targets []target) string {
	var b strings.Builder
	for i := range targets {
		t := &targets[i]
		if len(t.Known) == 0 {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(`
## Known timers

These timers were looked up in the sources by hand, whether or not a run finds them:

- *found*: a run above has the place.
- *missed*: the program comes to the place, and the run does not find it.
- *not reached*: the workload or the configuration does not come to the place.
- *call*: the program sets a timer by a call, or asks its runtime for one. So the search has an
  event at that time anyway.

The reasons follow from the sources and from the rules of the command. They were not tried one by
one.
`)
		}
		fmt.Fprintf(&b, "\n%s:\n\n| timer | in the runs |\n| --- | --- |\n", t.What)
		for _, k := range t.Known {
			fmt.Fprintf(&b, "| %s | %s |\n", k.Timer, k.Text)
		}
	}
	return b.String()
}

// values are what is compared.
func values(t *timers.Timer) string {
	if t.Branch == nil {
		return ""
	}
	text, _, _ := strings.Cut(t.Branch.Compares(), " (")
	if !t.Branch.Confirmed {
		text += " (not confirmed)"
	}
	return text
}

func cell(s string) string {
	const most = 160
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.NewReplacer("|", "\\|", "`", "'", "\n", " ").Replace(s)
}
