package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a target with what it showed; nil when nothing is kept here.
type row struct {
	target
	*result
}

// unexplained are the sites of which a bad outcome has no triage.
func unexplained(t target, r result) (all []site) {
	for _, s := range r.Sites {
		if s.Outcome.bad() && explain(t, s) == "" {
			all = append(all, s)
		}
	}
	return all
}

func explain(t target, s site) string {
	for _, x := range t.Triage {
		if x.Outcome == s.Outcome && x.Place.MatchString(s.Place) {
			return x.Text
		}
	}
	return ""
}

// writePage is docs/results/sweep.md. Targets of which nothing is kept here stay as the earlier
// page has them.
func writePage(rows []row, earlier harness.Page) []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p(`# Each call fails once

Written by %s from runs of %s, in the manner of MODIST's table 2. Every place in a program's code at which
a system call could fail is failed once, alone, in the natural schedule, with the first usual error of its call (`+"`faults`, `fail`, [faults.md](../guides/faults.md)"+`); then the execution
goes on naturally. A place is a call, the file that it is on (N for numbers), and where in the program it was made, as far as the stack tells. Only the first
time that a place is passed is tried, and only what the example makes the program do; what the loader does for a program is left out.

*Unchanged*: clients saw what they see without it. *Told*: a client saw something else, or failed. *Exits*: the program ended with a status other than 0 and a message; *stops*: with 0; *mute*: without a
message. *Aborts*: SIGABRT; *crashes*: another signal; *hangs*: somebody waits, or computes, for ever.

`, "`make sweep`", "`tools/sweep`")
	p("| system | steps | places passed | sites |")
	for _, o := range outcomes {
		p(" %s |", o)
	}
	p(" not tried |\n| --- | --- | --- | --- |%s --- |\n", strings.Repeat(" --- |", len(outcomes)))
	for _, r := range rows {
		if r.result == nil {
			p("%s", strings.Join(earlier.Rows(r.What), ""))
			continue
		}
		count := map[outcome]int{}
		for _, s := range r.Sites {
			count[s.Outcome]++
		}
		p("| %s | %d | %d | %d |", r.What, r.Steps, r.Places-r.Beyond, len(r.Sites)+r.Left)
		for _, o := range outcomes {
			p(" %d |", count[o])
		}
		p(" %d |\n", r.Left)
	}
	for _, r := range rows {
		if r.result == nil {
			if s := earlier.Section(r.What); s != "" {
				p("\n%s", s)
			}
			continue
		}
		p("\n## %s\n\n%s %s, %.0f s.\n", r.What, r.Origin, path.Base(r.Spec), r.Seconds)
		kinds := map[string]int{}
		var order []string
		for _, s := range r.Sites {
			if s.Outcome == unchanged || s.Outcome.bad() || s.Outcome == inconclusive {
				continue
			}
			call, _, _ := strings.Cut(s.Place, " ")
			key := fmt.Sprintf("%s: %s: %s", s.Outcome, call, shorten(s.Words))
			if kinds[key] == 0 {
				order = append(order, key)
			}
			kinds[key]++
		}
		for i, k := range order {
			if i == 0 {
				p("\n")
			}
			p("- %s%s\n", k, times(kinds[k]))
		}
		head := false
		for _, s := range r.Sites {
			if !s.Outcome.bad() && s.Outcome != inconclusive {
				continue
			}
			if !head {
				p("\n| outcome | what failed | how it ended | triage |\n| --- | --- | --- | --- |\n")
				head = true
			}
			why := explain(r.target, s)
			if why == "" && s.Outcome.bad() {
				why = "not looked at"
			}
			p("| %s | %s: `%s` | %s | %s |\n", s.Outcome, errorOf(s.Vary), s.Place, cell(s.Words), why)
		}
	}
	return []byte(b.String())
}

func errorOf(vary string) string {
	alternative, _, _ := strings.Cut(vary, "@")
	_, e, _ := strings.Cut(alternative, ":")
	return e
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d sites)", n)
}

func cell(s string) string { return strings.ReplaceAll(shorten(s), "|", "\\|") }

func shorten(s string) string {
	const most = 160
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ReplaceAll(s, "`", "'")
}
