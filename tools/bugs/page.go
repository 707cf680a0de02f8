package main

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

const head = `# Documented bugs, found

This page lists documented bugs of real programs that a check finds. ` + "`make bugs`" + ` writes it from
` + "`examples/bugs/list.yaml`" + ` and from the results of its searches.

Each row is a bug of a real program, as it was released. Others found and documented it. Nothing of
the program is changed. Each search is one ` + "`ariadne check SPEC --seed N`" + ` with the default strategy,
on all processors, for %s at most. It ends at the documented violation (` + "`--until`" + `). Another one that
it meets before does not end it.

- *found*: how many of the seeds reached the documented violation.
- *time*, *executions*: medians of these seeds.
- *faults*: the faults of the execution that the median seed found. Orders and delays of messages
  and timers come in addition.
- *shrunk*: one more search shrinks what it finds. The column has the number of faults, of other
  deviations from the natural schedule and of steps, before and after. The smaller execution was
  replayed. Where there is no arrow, none smaller was found.
- *beside it*: the same system and client with a version or a setting that does not have the bug.
  One seed searched it for as long as all seeds of the bug took together. It took at least %s, and no
  longer than one search may take.
- *all explored*: every state within the bounds of the spec, with each event at the time at which
  it happened.
`

const folder = "examples/bugs" // what the list's specs are relative to

// good says whether all is as it should be: each seed finds the bug, and nothing is found beside
// it.
func (r *result) good() bool {
	missed := func(s outcome) bool { return !s.Found || s.Wrong != "" }
	return !slices.ContainsFunc(r.seeds, missed) && (r.shrunk == nil || r.shrunk.From == nil || r.shrunk.Replays) &&
		(r.sibling == nil || !r.sibling.Found && r.sibling.Wrong == "")
}

// writePage returns the whole page. Bugs of which nothing is kept here stay as the earlier page has
// them.
func (o *options) writePage(all []result, earlier harness.Page) ([]byte, error) {
	var b strings.Builder
	budget, least := o.budgets(all)
	fmt.Fprintf(&b, head, short(budget), short(least))
	beside := "beside it"
	writeHeads(&b, []string{"bug", "program", "needs"}, beside)
	for _, r := range all {
		writeRow(&b, []string{"`" + r.bug.Name + "`", r.bug.Program, cmp.Or(r.bug.Needs, "an order")},
			r.searched(earlier, beside, r.bug.Beside+": "))
	}
	b.WriteString("\n")
	for _, r := range all {
		fmt.Fprintf(&b, "## %s\n\n%s: %s. %s.\n\n    ariadne check %s\n    ariadne check %s\n\n",
			r.bug.Name, r.bug.Program, r.bug.Bug, r.bug.Reference, path.Join(folder, r.bug.Spec),
			path.Join(folder, r.bug.Sibling))
		r.writeWrong(&b, earlier)
	}
	writeOrigins(&b, all, earlier)
	return []byte(strings.TrimRight(b.String(), "\n") + "\n"), nil
}

// budgets are the real time of a search for a bug, at most, and of one beside it, at least.
func (o *options) budgets(all []result) (most, least time.Duration) {
	for _, r := range all {
		for _, s := range r.seeds {
			most = max(most, s.Budget)
		}
		if s := r.sibling; s != nil && (least == 0 || s.Budget < least) {
			least = s.Budget
		}
	}
	return cmp.Or(most, o.budget), cmp.Or(least, o.least)
}

// heads are those of the columns of what searches show, but for the last one, which is that of the
// search beside the bug.
var heads = []string{"found", "time", "executions", "faults", "shrunk: faults, deviations, steps"}

// writeHeads begins a table: with the heads of what the list says of a bug.
func writeHeads(b *strings.Builder, listed []string, beside string) {
	b.WriteString("\n")
	writeRow(b, listed, append(slices.Clone(heads), beside))
	b.WriteString(strings.Repeat("| --- ", len(listed)+len(heads)+1) + "|\n")
}

func writeRow(b *strings.Builder, listed, searched []string) {
	fmt.Fprintf(b, "| %s |\n", strings.Join(slices.Concat(listed, searched), " | "))
}

// searched are the cells of what searches have shown. Those of searches of which nothing is kept
// here stay as the earlier page has them. prefix is what the last one begins with.
func (r *result) searched(earlier harness.Page, beside, prefix string) []string {
	old := earlier.Cells("bug", "`"+r.bug.Name+"`")
	var cells []string
	for _, head := range heads {
		cells = append(cells, old[head])
	}
	cells[0] = cmp.Or(cells[0], "not looked for yet")
	if len(r.seeds) > 0 {
		copy(cells, r.found())
	}
	if r.shrunk != nil && r.shrunk.From != nil {
		cells[4] = r.shrunk.sizes()
	}
	if r.sibling != nil {
		return append(cells, prefix+r.sibling.beside())
	}
	return append(cells, cmp.Or(old[beside], prefix+"not searched yet"))
}

// sizes is how large an execution was before and after it was shrunk.
func (r *outcome) sizes() string {
	size := func(s *harness.Size) string { return fmt.Sprintf("%d, %d, %d", s.Faults, s.Deviations, s.Steps) }
	cell := size(r.From)
	if r.To != nil {
		cell += " → " + size(r.To)
	}
	if !r.Replays {
		cell += " **does not replay**"
	}
	return cell
}

const wrong = "Seed " // what a line begins with of another outcome than should be

// writeWrong says what seeds have come to instead of the bug.
func (r *result) writeWrong(b *strings.Builder, earlier harness.Page) {
	if len(r.seeds) == 0 {
		r.keepLines(b, earlier, wrong)
	}
	for _, s := range r.seeds {
		if s.Wrong != "" {
			fmt.Fprintf(b, wrong+"%d: %s.\n\n", s.Seed, s.Wrong)
		}
	}
}

// keepLines writes the lines of the bug's section on the earlier page that begin so, each a
// paragraph.
func (r *result) keepLines(b *strings.Builder, earlier harness.Page, prefix string) {
	for line := range strings.Lines(earlier.Section(r.bug.Name)) {
		if strings.HasPrefix(line, prefix) {
			b.WriteString(line + "\n")
		}
	}
}

// writeOrigins says what measured, and on which machines.
func writeOrigins(b *strings.Builder, all []result, earlier harness.Page) {
	loads := map[string]float64{} // of origins: the greatest
	for line := range strings.Lines(earlier.Section("Measured")) {
		if origin, load, ok := strings.Cut(line, " (load before a search: up to "); ok &&
			strings.HasPrefix(line, "- ") {
			loads[origin], _ = strconv.ParseFloat(strings.TrimSuffix(load, ")\n"), 64)
		}
	}
	for _, r := range all {
		for _, s := range r.outcomes() {
			if o := s.Origin; !o.When.IsZero() {
				line := fmt.Sprintf("- %s, Ariadne %s, on %s", o.When.Format(time.DateOnly), o.Ariadne, o.Machine)
				load, _ := strconv.ParseFloat(o.Load, 64)
				loads[line] = max(loads[line], load)
			}
		}
	}
	if len(loads) > 0 {
		b.WriteString("## Measured\n\n")
	}
	for _, line := range slices.Sorted(maps.Keys(loads)) {
		fmt.Fprintf(b, "%s (load before a search: up to %.1f)\n", line, loads[line])
	}
}

func (r *result) outcomes() []outcome {
	all := slices.Clone(r.seeds)
	for _, o := range []*outcome{r.sibling, r.shrunk} {
		if o != nil {
			all = append(all, *o)
		}
	}
	return all
}

// beside says what came of a search in which nothing was to be found.
func (r *outcome) beside() string {
	what := "nothing found"
	if r.Exhausted {
		what = "nothing, all explored"
	}
	if r.Found {
		what = "**found too**"
	}
	if r.Wrong != "" {
		what = "**" + r.Wrong + "**"
	}
	return fmt.Sprintf("%s (%s, %d executions)", what, seconds(r.RealTime), r.Executions)
}

// found is how many seeds found the bug, and of these the median time and executions, and the
// faults of the median execution.
func (r *result) found() []string {
	cells := make([]string, 4)
	found := slices.DeleteFunc(slices.Clone(r.seeds), func(s outcome) bool { return !s.Found })
	cells[0] = fmt.Sprintf("%d of %d", len(found), len(r.seeds))
	if len(found) < len(r.seeds) {
		cells[0] += fmt.Sprintf(" (%s each)", short(r.seeds[0].Budget))
	}
	if len(found) > 0 {
		slices.SortStableFunc(found, func(a, b outcome) int { return int(a.RealTime - b.RealTime) })
		middle := found[(len(found)-1)/2]
		cells[1] = seconds(middle.RealTime)
		cells[3] = strings.Join(middle.Faults, ", ")
		slices.SortStableFunc(found, func(a, b outcome) int { return a.Executions - b.Executions })
		cells[2] = fmt.Sprint(found[(len(found)-1)/2].Executions)
	}
	return cells
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// short is a duration without zeros at its end.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}
