package strategy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// Row is a strategy as users know it, with what it can do. A file of a strategy registers
// its row in its init function; nothing else lists strategies.
type Row struct {
	Name string
	Doc  string // what it does, for the help: a phrase
	// States: it goes on from states, not from paths, and so need not go on from one that
	// is like another.
	States bool
	// Matches: it may match states by what they show (space.Equality), for it goes on from
	// every state that it has come to, wherever on a path that was.
	Matches bool
	// Orders: it takes one path of those that differ in the order of independent events.
	Orders bool
	// Again: a check that is resumed walks all of it again from the beginning, at the speed
	// of memory, and counts again. Others go on with new random numbers. AgainAtFirst: only
	// until it has been interrupted once.
	Again, AgainAtFirst bool
	// Lives: each path is a whole execution with fresh nodes; nothing is frozen or
	// remembered.
	Lives bool
	// Once: it has one path.
	Once bool
	// Asks: it needs a script with explore().
	Asks bool
	// Seeks: it prefers paths that show what is sought (Builder.Sought).
	Seeks bool
	// Parts are what the strategy can do without, by their names.
	Parts []string
	// Without are those of them that its name takes away (Named).
	Without Without
	// Make returns an explorer for each worker, or for fewer.
	Make func(b *Builder) []Explorer
}

// Builder is what explorers are made of.
type Builder struct {
	Seed    uint64
	Workers int // at least 1
	From    int // paths that were taken before the check was interrupted
	Bytes   int64
	Weights Weights
	// Backtracks and Branch are the user's, for DPOR.
	Backtracks, Branch space.Bound
	// Full reports that no more states can be known.
	Full func() bool
	// News returns Portfolio.News of a worker.
	News func(worker int) func() News
	// Combined returns a worker's Novelty.New.
	Combined func(worker int) func(*space.Path) bool
	// Next draws the index of the next execution, for all workers; not ok: there is none.
	Next func() (index int, ok bool)

	// Recall returns what a worker takes of earlier checks; nil: nothing.
	Recall func(worker int) *Recall

	Without Without // of the row
	// Sought is what nodes are to show, for strategies that have novelty; nil: nothing in
	// particular.
	Sought *Sought
	// Faultless: there is no budget of faults.
	Faultless bool
	// Probes: messages are tried at other times.
	Probes bool

	// Features are what all workers of the check have met; nil: there is no check, and they begin
	// here.
	Features *Features
}

var rows []Row

func register(r Row) { rows = append(rows, r) }

// Rows are all strategies, the default one first and then by name.
func Rows() []Row {
	all := slices.Clone(rows) // which others may be reading
	slices.SortFunc(all, func(a, b Row) int {
		switch DefaultName {
		case a.Name:
			return -1
		case b.Name:
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return all
}

// DefaultName is the strategy of who names none.
const DefaultName = "default"

// Named is the strategy of a name, which may take parts away, as in "default:-moments,-novelty".
func Named(name string) (r Row, ok bool) {
	name, parts, some := strings.Cut(name, ":")
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		return r, false
	}
	r = rows[i]
	if !some {
		return r, true
	}
	for part := range strings.SplitSeq(parts, ",") {
		part, minus := strings.CutPrefix(part, "-")
		if !minus || !slices.Contains(r.Parts, part) {
			return Row{}, false
		}
		r.Without.take(part)
	}
	return r, true
}

// Unknown says why there is no strategy of a name.
func Unknown(name string) error {
	if of, parts, some := strings.Cut(name, ":"); some {
		if r, ok := Named(of); ok && len(r.Parts) > 0 {
			return fmt.Errorf("strategy %s: the parts to leave out are -%s, not %q", of, strings.Join(r.Parts, ",-"),
				parts)
		} else if ok {
			return fmt.Errorf("strategy %s has no parts to leave out: write it without %q", of, parts)
		}
	}
	var names []string
	for _, r := range Rows() {
		names = append(names, r.Name)
	}
	return fmt.Errorf("unknown strategy %q: %s", name, strings.Join(names, ", "))
}

// Knower is an explorer that may rely on the set of known states.
type Knower interface {
	Explorer
	// Knows reports whether it does now; once it does not, it never will again.
	Knows() bool
}

// Knows reports whether an explorer relies on the set of known states.
func Knows(e Explorer) bool {
	k, ok := e.(Knower)
	return ok && k.Knows()
}

// each makes an explorer for each worker, with a seed of its own.
func (b *Builder) each(f func(seed uint64, worker int) Explorer) []Explorer {
	var all []Explorer
	for i := range b.Workers {
		all = append(all, f(SeedOf(b.Seed, i), i))
	}
	return all
}

// states divides a search that goes on from states. When there is no memory for more
// of them, it goes on with rounds around random paths.
func (b *Builder) states(d Divisible) []Explorer {
	all := d.Divide(b.Workers)
	for i, e := range all {
		all[i] = &Series{Full: b.Full, Parts: []Part{{Explorer: e}, {Explorer: b.rounds(SeedOf(b.Seed, i))}}}
	}
	return all
}

func (b *Builder) novelty(seed uint64, worker int) *Novelty {
	return &Novelty{Seed: seed, Weights: b.Weights, Features: b.shared(), Index: b.From,
		Bytes: b.Bytes / int64(b.Workers), New: b.Combined(worker),
		Sought: b.Sought}
}

func (b *Builder) recall(worker int) *Recall {
	if b.Recall == nil {
		return nil
	}
	return b.Recall(worker)
}

func (b *Builder) rounds(seed uint64) *Rounds {
	return &Rounds{Seed: seed, Weights: b.Weights, Features: b.shared(), Backtracks: b.Backtracks, Branch: b.Branch,
		Index: b.From}
}
