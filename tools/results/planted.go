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

// planted are bugs in small systems that were written for it, in examples/planted: NAME.yaml,
// and NAME-bug.yaml with the bug. The default strategy was tuned on every other one.
type planted struct {
	name, what string
	training   bool
}

var plantedBugs = []planted{
	{"lease", "a lease ends while a write is on its way, and the store is not fenced (Python, TCP)", true},
	{"redis-lock", "workers ask Redis whether the lock is theirs, and write then (Redis, Python)", false},
	{"cache", "what was read before a change fills the cache after it was cleared (Perl, TCP)", true},
	{"session", "a replica that is behind by one answers (Python, TCP)", false},
	{"retry", "a request that was repeated comes late, and is done again (Perl, UDP)", true},
	{"causal", "an answer is shown before its question (Go, TCP)", false},
	{"counter", "a quorum of one misses the last writing (Go, TCP)", true},
	{"failover", "a lease is counted from when the grant came (Go, TCP)", false},
	{"commit", "a participant forgets that it refused (C, UDP)", true},
	{"queue", "a late acknowledgement frees a slot that was used again (Go, TCP)", false},
	{"token", "a ring makes a second token (C, UDP)", true},
	{"election", "a write is acknowledged before the backup has it; seven heartbeats are late (C, UDP)", false},
}

var halves = map[bool]string{true: "tuning", false: "testing"} // by planted.training

// plantedName asks for these searches, beside the names of bugs.
const plantedName = "planted"

// plantedStrategies are tried with one worker, and the default one with two as well.
var plantedStrategies = []string{"default", "slow", "priorities", "walks", "rounds"}

func (p *planted) spec() string  { return "planted/" + p.name + "-bug.yaml" }
func (p *planted) fixed() string { return "planted/" + p.name + ".yaml" }

// plant looks for the planted bugs. Searches with one worker go on one per processor.
func (o *options) plant(only []string) error {
	if err := o.bring(plantedBugs[0].spec()); err != nil {
		return err
	}
	type try struct {
		kind, spec, strategy string
		seed                 int
	}
	var alone, paired []try
	for _, s := range plantedStrategies {
		if !slices.Contains(only, s) {
			continue
		}
		for i := range plantedBugs {
			for seed := range o.plantedSeeds {
				alone = append(alone, try{plantedName, plantedBugs[i].spec(), s, seed})
				if s == "default" {
					paired = append(paired, try{plantedName, plantedBugs[i].spec(), s, seed})
				}
			}
		}
	}
	for i := range plantedBugs {
		paired = append(paired, try{"fixed", plantedBugs[i].fixed(), "default", 0})
	}
	var (
		mu   sync.Mutex
		all  sync.WaitGroup
		err  error
		next int
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
				mu.Unlock()
				if _, e := o.search(t.kind, t.spec, t.strategy, t.seed, 1, o.plantedBudget); e != nil {
					mu.Lock()
					err = e
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	for _, t := range paired {
		if err != nil {
			return err
		}
		budget := o.plantedBudget
		if t.kind == "fixed" {
			budget /= 2
		}
		_, err = o.search(t.kind, t.spec, t.strategy, t.seed, 2, budget)
	}
	return err
}

// writePlanted writes which strategy finds which planted bug, and how soon.
func writePlanted(b *strings.Builder, all map[string]set) {
	tries := all[plantedName]
	if len(tries) == 0 {
		return
	}
	budget := tries[0].Budget
	fmt.Fprintf(b, `
## Planted bugs

Twelve small systems of two to five nodes, written for this (`+"`examples/planted`"+`). None of the bugs shows on the natural schedule. Each try has
%s; a try with one worker has one processor. Cells say how many tries, each with another seed, found the bug, and the median of their times, where a
miss counts as %s. The default strategy was tuned on one half of the bugs; the other half, for testing, shows what that is worth.

`, short(budget), short(budget))
	columns := plantedColumns(tries)
	b.WriteString("| bug | half |")
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(columns)) + "\n")
	scores := map[bool][]float64{true: make([]float64, len(columns)), false: make([]float64, len(columns))}
	for i := range plantedBugs {
		p := &plantedBugs[i]
		fmt.Fprintf(b, "| `%s`: %s | %s |", p.name, p.what, halves[p.training])
		for k, c := range columns {
			rs := slices.DeleteFunc(tries.of(p.spec()), func(r outcome) bool { return columnOf(&r) != c })
			if len(rs) == 0 {
				b.WriteString(" |")
				continue
			}
			found, sum := 0, 0.0
			for _, r := range rs {
				if r.Found {
					found++
				}
				sum += score(&r).Seconds()
			}
			scores[p.training][k] += sum / float64(len(rs))
			median := rs.median(func(r outcome) int { return int(score(&r).Milliseconds()) })
			fmt.Fprintf(b, " %d of %d, %.1f s |", found, len(rs), float64(median)/1000)
		}
		b.WriteString("\n")
	}
	for _, half := range []bool{true, false} {
		fmt.Fprintf(b, "| **sum of the mean times** | %s |", halves[half])
		for _, s := range scores[half] {
			fmt.Fprintf(b, " %.1f s |", s)
		}
		b.WriteString("\n")
	}
	if fixed := all["fixed"]; len(fixed) > 0 {
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

// plantedColumns are those of the tries that there are: strategies in their order, with
// several workers after one.
func plantedColumns(tries set) []string {
	var columns []string
	for _, s := range plantedStrategies {
		for _, workers := range []int{1, 2} {
			c := columnOf(&outcome{Strategy: s, Workers: workers})
			if slices.ContainsFunc(tries, func(r outcome) bool { return columnOf(&r) == c }) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}
