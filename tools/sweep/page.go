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

const head = `# Each call fails once

This page shows what real programs do when one system call fails. %s writes it from runs of
%s, in the manner of MODIST's table 2.

Each place in a program at which a system call can fail fails once, alone, in the natural schedule.
It fails with the first usual error of its call (%s, [faults.md](../guides/faults.md)). Then
the execution continues naturally. A place is a call, its file (N for numbers), and its position in
the program, as far as the stack shows it. A place fails only the first time that the program passes
it. The sweep knows only places that the example reaches, and leaves out the calls of the loader.

- *steps*: steps of the execution without a failure.
- *places passed*: calls of that execution at which a failure is possible. *sites*: the different
  places.
- *unchanged*: clients saw the same as without the failure. *told*: a client saw something else, or
  failed.
- *exits*: the program ended with a message and a status other than 0. *stops*: it ended with status
  0. *exits, mute*: it ended without a message.
- *aborts*: SIGABRT. *crashes*: another signal. *hangs*: a program waits or computes for ever.

`

// writePage is docs/results/sweep.md. Targets of which nothing is kept here stay as the earlier
// page has them.
func writePage(rows []row, earlier harness.Page) []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p(head, "`make sweep`", "`tools/sweep`", "`faults`, `fail`")
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
