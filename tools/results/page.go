package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

const head = `# Results

This page shows which strategy finds which known bug, and how soon. ` + "`make results`" + ` writes it. Each
search is one ` + "`ariadne check SPEC --strategy X --seed N --time %s`" + ` on all processors of the machine.

- *found*: how many searches found the bug, of those made. A strategy that misses it with one seed
  is not asked with the next.
- *time*, *executions* and the rest: medians of the searches that found it, or of all when none did.
- *executions*: paths that came to an end of the system.
- *executed*: transitions made by living processes. *remembered*: those looked up. ` + "`random`" + ` runs
  whole executions and remembers nothing: all its steps are executed.
- *all explored*: every state within the bounds of the spec, with each event at the time at which
  it happened.
`

// writePage returns the whole page.
func writePage(all map[string]set) []byte {
	var b strings.Builder
	budget := time.Duration(0)
	for _, r := range all["bug"] {
		budget = max(budget, r.Budget)
	}
	fmt.Fprintf(&b, head, short(budget))
	b.WriteString(origins(all))
	for _, bug := range bugs {
		found := all["bug"].of(bug.spec)
		if len(found) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\nThe bug: %s. `examples/%s`.\n\n", bug.name, bug.what, bug.spec)
		b.WriteString("| strategy | found | time | executions | executed | remembered |\n| --- | --- | --- | --- | --- | --- |\n")
		for _, s := range strategies {
			if rs := found.by(s); len(rs) > 0 {
				b.WriteString(rs.row(s))
			}
		}
		b.WriteString(all["mended"].of(bug.mended).mended(bug.mended))
	}
	for _, f := range families {
		f.writePlanted(&b, all)
	}
	writeCoverage(&b, all["coverage"])
	return []byte(b.String())
}

// origins says where and when the searches were made, as far as it was kept: each machine and day
// once.
func origins(all map[string]set) string {
	var lines []string
	for _, s := range all {
		for _, r := range s {
			if o := r.Origin; !o.When.IsZero() {
				lines = append(lines,
					fmt.Sprintf("- %s, Ariadne %s, on %s", o.When.Format(time.DateOnly), o.Ariadne, o.Machine))
			}
		}
	}
	slices.Sort(lines)
	if lines = slices.Compact(lines); len(lines) == 0 {
		return ""
	}
	return "\nMeasured:\n\n" + strings.Join(lines, "\n") + "\n"
}

// possible refuses what cannot be: that the same search gets through less in more time.
func possible(s set) error {
	for _, a := range s {
		for _, b := range s {
			if a.Spec == b.Spec && a.Strategy == b.Strategy && a.Seed == b.Seed && a.Budget < b.Budget &&
				a.Executions > b.Executions {
				return fmt.Errorf("%s, %s: %d executions in %v and %d in %v cannot be; measure again", a.Spec, a.Strategy, a.Executions, a.Budget, b.Executions, b.Budget)
			}
		}
	}
	return nil
}

// of are the outcomes for one spec.
func (s set) of(spec string) set {
	return slices.DeleteFunc(slices.Clone(s), func(r outcome) bool { return r.Spec != spec })
}

// by are the outcomes of one strategy.
func (s set) by(strategy string) set {
	return slices.DeleteFunc(slices.Clone(s), func(r outcome) bool { return r.Strategy != strategy })
}

// row is the line of one strategy that looked for one bug.
func (s set) row(strategy string) string {
	found := slices.DeleteFunc(slices.Clone(s), func(r outcome) bool { return !r.Found })
	told := fmt.Sprintf("%d of %d", len(found), len(s))
	from := found
	if len(found) == 0 {
		from = s
		if s[0].Exhausted {
			told += ", all explored within the bounds"
		}
		if s[0].Wrong != "" {
			told += " (" + s[0].Wrong + ")"
		}
	}
	executed, remembered := "", ""
	if from[0].Memory {
		executed = fmt.Sprint(from.median(func(r outcome) int { return r.Executed }))
		remembered = fmt.Sprint(from.median(func(r outcome) int { return r.Remembered }))
	} else {
		executed = fmt.Sprint(from.median(func(r outcome) int { return r.Steps }))
	}
	ms := from.median(func(r outcome) int { return int(r.RealTime.Milliseconds()) })
	return fmt.Sprintf("| `%s` | %s | %.1f s | %d | %s | %s |\n", strategy, told, float64(ms)/1000,
		from.median(func(r outcome) int { return r.Executions }), executed, remembered)
}

// mended says what was found where nothing is wrong.
func (s set) mended(spec string) string {
	if len(s) == 0 {
		return ""
	}
	var by []string
	for _, r := range s {
		if r.Found {
			return fmt.Sprintf("\nWithout the bug (`examples/%s`) `%s` found something: a false alarm, or another bug.\n", spec, r.Strategy)
		}
		text := fmt.Sprintf("`%s` (%d executions)", r.Strategy, r.Executions)
		if r.Wrong != "" {
			text += " " + r.Wrong
		}
		by = append(by, text)
	}
	return fmt.Sprintf("\nWithout the bug (`examples/%s`) nothing was found in %s each by %s.\n", spec, short(s[0].Budget), strings.Join(by, ", "))
}

func writeCoverage(b *strings.Builder, all set) {
	if len(all) == 0 {
		return
	}
	b.WriteString(`
## What is seen in a given time

No bug is known here. Whole executions are distinct at most as often as there are executions; of searches in memory it is known.

| system | time | strategy | executions | traces | states | executed | remembered |
| --- | --- | --- | --- | --- | --- | --- | --- |
`)
	for _, spec := range systems {
		rows := all.of(spec)
		slices.SortStableFunc(rows, func(x, y outcome) int {
			if x.Budget != y.Budget {
				return int(x.Budget/time.Second - y.Budget/time.Second)
			}
			return slices.Index(strategies, x.Strategy) - slices.Index(strategies, y.Strategy)
		})
		for _, r := range rows {
			if !r.Memory {
				fmt.Fprintf(b, "| `%s` | %s | `%s` | %d | | | %d | |\n", spec, short(r.Budget), r.Strategy,
					r.Executions, r.Steps)
				continue
			}
			fmt.Fprintf(b, "| `%s` | %s | `%s` | %d | %d | %d | %d | %d |\n", spec, short(r.Budget), r.Strategy,
				r.Executions, r.Traces,
				r.States, r.Executed, r.Remembered)
		}
	}
}

func (s set) median(of func(outcome) int) int {
	var v []int
	for _, r := range s {
		v = append(v, of(r))
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

// short is a duration without zeros at its end.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}

// good says whether all is as it should be: the default strategy misses no bug,
// nothing is found where nothing is wrong, and Ariadne never contradicts itself. That
// a strategy comes to no end of the system in its time is no wonder.
func good(all map[string]set) bool {
	for _, r := range all["bug"] {
		if strings.HasPrefix(r.Wrong, harness.ToolBug.String()) || r.Strategy == "default" && !r.Found {
			return false
		}
	}
	for _, kind := range []string{"mended", "fixed", "coverage"} {
		if slices.ContainsFunc(all[kind], func(r outcome) bool { return r.Found || r.Wrong != "" }) {
			return false
		}
	}
	return true
}
