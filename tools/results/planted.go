package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// family are bugs in small systems that were written for it: DIR/NAME-bug.yaml below examples/,
// and DIR/NAME.yaml without the bug.
type family struct {
	name   string // of the directory, and asks for these searches, beside the names of bugs
	title  string
	intro  string // of the page, with the budget twice
	column string // what a planted bug's class says
	halves bool   // times are summed for each class
	pairs  bool   // the default strategy also searches with two workers
	bugs   []planted

	strategies []string // with one worker
	seeds      int
	misses     int // with so many a strategy is not asked for a bug again, if not 0
	budget     time.Duration
}

type planted struct{ name, what, class string }

var families = []*family{&plantedFamily, &twoFaults}

// plantedFamily has twelve small systems. The default strategy was tuned on every other one.
var plantedFamily = family{
	name: "planted", title: "Planted bugs", column: "half", halves: true, pairs: true,
	intro: `Twelve small systems of two to five nodes, written for this (` + "`examples/planted`" + `). None of the bugs shows on the natural schedule. Each try has
%s; a try with one worker has one processor. Cells say how many tries, each with another seed, found the bug, and the median of their times, where a
miss counts as %s. The default strategy was tuned on one half of the bugs (tuning). The other half (testing) shows whether it does as well on bugs that it was not tuned for.
`,
	strategies: []string{"default", "slow", "priorities", "walks", "rounds"},
	bugs: []planted{
		{"lease", "a lease ends while a write is on its way, and the store is not fenced (Python, TCP)", "tuning"},
		{"redis-lock", "workers ask Redis whether the lock is theirs, and write then (Redis, Python)", "testing"},
		{"cache", "what was read before a change fills the cache after it was cleared (Perl, TCP)", "tuning"},
		{"session", "a replica that is behind by one answers (Python, TCP)", "testing"},
		{"retry", "a request that was repeated comes late, and is done again (Perl, UDP)", "tuning"},
		{"causal", "an answer is shown before its question (Go, TCP)", "testing"},
		{"counter", "a quorum of one misses the last writing (Go, TCP)", "tuning"},
		{"failover", "a lease is counted from when the grant came (Go, TCP)", "testing"},
		{"commit", "a participant forgets that it refused (C, UDP)", "tuning"},
		{"queue", "a late acknowledgement frees a slot that was used again (Go, TCP)", "testing"},
		{"token", "a ring makes a second token (C, UDP)", "tuning"},
		{"election", "a write is acknowledged before the backup has it; seven heartbeats are late (C, UDP)", "testing"},
	},
}

// twoFaults has ten small systems. No strategy was tuned on them.
var twoFaults = family{
	name: "twofaults", title: "Bugs that take two faults", column: "faults", misses: 3,
	intro: `Ten small systems of two or three servers, written for this (` + "`examples/twofaults`" + `). No bug shows on the natural schedule, and none by one fault alone.
No message is late but by a fault. Each try has %s and one worker on one processor. Cells say how many tries, each with another seed, found the bug, and the
median of their times, where a miss counts as %s. A strategy that misses a bug with its first three seeds is not asked with the others.
No strategy was tuned on these bugs. ` + "`default:-X`" + ` is the default strategy without a part of its guidance
([explore.md](../guides/explore.md)); ` + "`before`" + ` is that of a binary from before it was guided.
`,
	strategies: []string{"default", before, "default:-moments", "default:-together", "default:-novelty",
		"default:-sites", "slow", "random"},
	bugs: []planted{
		{"catchup", "what came to a follower at once is not in its journal (Python)", "cut, crash"},
		{"versions", "a coordinator that was away numbers by what it has (Python)", "2 crashes"},
		{"highwater", "a broker cuts off what was acknowledged, and leads (Python)", "2 crashes"},
		{"mirror", "a mirror that missed writes goes on alone (Perl)", "2 crashes"},
		{"supervisor", "a supervisor waits for the end of a process that has ended (Perl)", "2 kills"},
		{"recovery", "a recovery that was killed is made twice (C)", "2 crashes"},
		{"relay", "what had gathered while the network was cut is not synced (C)", "cut, power loss"},
		{"archive", "a failing write leaves half a record, behind which a restart reads nothing (C)", "failing call, crash"},
		{"indoubt", "a participant forgets that it committed, and its peer aborts (Go)", "2 crashes"},
		{"figure8", "Raft commits an entry of an earlier term by counting (Go)", "3 crashes"},
	},
}

func (f *family) spec(p *planted) string  { return f.name + "/" + p.name + "-bug.yaml" }
func (f *family) fixed(p *planted) string { return f.name + "/" + p.name + ".yaml" }

// ofFamily are the outcomes for the specs of a family.
func (s set) ofFamily(f *family) set {
	return slices.DeleteFunc(slices.Clone(s), func(r outcome) bool { return filepath.Dir(r.Spec) != f.name })
}

// plant looks for the planted bugs of a family. Searches with one worker go on one per processor.
func (o *options) plant(f *family, only []string) error {
	if err := o.bring(f.spec(&f.bugs[0])); err != nil {
		return err
	}
	type try struct {
		kind, spec, strategy string
		seed                 int
	}
	var alone, paired []try
	var searched []string
	for _, s := range f.strategies {
		if base, _, _ := strings.Cut(s, ":"); !slices.Contains(only, base) && (s != before || o.before == "") {
			continue
		}
		searched = append(searched, s)
	}
	// A seed's searches come together, so that strategies meet the same load, and
	// an end before the last seed leaves as many of each.
	for seed := range f.seeds {
		for i := range f.bugs {
			for _, s := range searched {
				alone = append(alone, try{f.name, f.spec(&f.bugs[i]), s, seed})
				if f.pairs && s == "default" {
					paired = append(paired, try{f.name, f.spec(&f.bugs[i]), s, seed})
				}
			}
		}
	}
	for i := range f.bugs {
		paired = append(paired, try{"fixed", f.fixed(&f.bugs[i]), "default", 0})
	}
	type cell struct{ spec, strategy string }
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		err   error
		next  int
		found = map[cell]int{}
	)
	for range runtime.NumCPU() {
		all.Go(func() {
			for {
				mu.Lock()
				if err != nil || next == len(alone) {
					mu.Unlock()
					return
				}
				t := alone[next]
				next++
				in := cell{t.spec, t.strategy}
				lost := f.misses > 0 && t.seed >= f.misses && found[in] == 0
				mu.Unlock()
				if lost {
					continue
				}
				r, e := o.search(t.kind, t.spec, t.strategy, t.seed, 1, f.budget)
				mu.Lock()
				switch {
				case e != nil:
					err = e
				case r.Found:
					found[in]++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	for _, t := range paired {
		if err != nil {
			return err
		}
		budget := f.budget
		if t.kind == "fixed" {
			budget /= 2
		}
		_, err = o.search(t.kind, t.spec, t.strategy, t.seed, 2, budget)
	}
	return err
}

// writePlanted writes which strategy finds which planted bug of a family, and how soon.
func (f *family) writePlanted(b *strings.Builder, all map[string]set) {
	tries := all[f.name]
	if len(tries) == 0 {
		return
	}
	budget := short(tries[0].Budget)
	fmt.Fprintf(b, "\n## %s\n\n"+f.intro+"\n", f.title, budget, budget)
	columns := f.columns(tries)
	fmt.Fprintf(b, "| bug | %s |", f.column)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	var sums []string // the classes that have one
	scores := map[string][]float64{}
	for i := range f.bugs {
		p := &f.bugs[i]
		sum := ""
		if f.halves {
			sum = p.class
		}
		if scores[sum] == nil {
			sums = append(sums, sum)
			scores[sum] = make([]float64, len(columns))
		}
		fmt.Fprintf(b, "| `%s`: %s | %s |", p.name, p.what, p.class)
		for k, c := range columns {
			rs := slices.DeleteFunc(tries.of(f.spec(p)), func(r outcome) bool { return columnOf(&r) != c })
			if len(rs) == 0 {
				b.WriteString(" |")
				continue
			}
			found, total := 0, 0.0
			for _, r := range rs {
				if r.Found {
					found++
				}
				total += score(&r).Seconds()
			}
			scores[sum][k] += total / float64(len(rs))
			median := rs.median(func(r outcome) int { return int(score(&r).Milliseconds()) })
			fmt.Fprintf(b, " %d of %d, %.1f s |", found, len(rs), float64(median)/1000)
		}
		b.WriteString("\n")
	}
	for _, sum := range sums {
		fmt.Fprintf(b, "| **sum of the mean times** | %s |", sum)
		for _, s := range scores[sum] {
			fmt.Fprintf(b, " %.1f s |", s)
		}
		b.WriteString("\n")
	}
	if fixed := all["fixed"].ofFamily(f); len(fixed) > 0 {
		executions := 0
		for _, r := range fixed {
			if r.Found || r.Wrong != "" {
				fmt.Fprintf(b, "\nWithout its bug, `%s` is not silent: %s.\n", filepath.Base(r.Spec), r.String())
			}
			executions += r.Executions
		}
		if !slices.ContainsFunc(fixed, func(r outcome) bool { return r.Found || r.Wrong != "" }) {
			fmt.Fprintf(b, "\nWithout their bugs, `default` with two workers found nothing in any of %d in %s each (%d executions).\n",
				len(fixed), short(fixed[0].Budget), executions)
		}
	}
}

// score is the time of a try; a miss counts as all that it had.
func score(r *outcome) time.Duration {
	if !r.Found {
		return r.Budget
	}
	return min(r.RealTime, r.Budget)
}

func columnOf(r *outcome) string {
	if r.Workers > 1 {
		return fmt.Sprintf("`%s`, %d workers", r.Strategy, r.Workers)
	}
	return "`" + r.Strategy + "`"
}

// columns are those of the tries that there are: strategies in their order, with
// several workers after one.
func (f *family) columns(tries set) []string {
	var columns []string
	for _, s := range f.strategies {
		for _, workers := range []int{1, 2} {
			c := columnOf(&outcome{Strategy: s, Workers: workers})
			if slices.ContainsFunc(tries, func(r outcome) bool { return columnOf(&r) == c }) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}
