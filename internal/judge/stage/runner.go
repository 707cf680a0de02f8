package stage

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Calls calls the functions of the stages of a graph, by their places in it.
type Calls interface {
	// Execute makes a stage's tuples of those that it reads, a list for each of Stage.Of.
	Execute(stage int, of [][]*Tuple) ([]*Tuple, error)
	// Change makes them of what it has made of other tuples, and of what there is now and was not
	// then, and the other way round.
	Change(stage int, before []*Tuple, added, removed [][]*Tuple) ([]*Tuple, error)
	// Wrong is an error that says where what is bad stands.
	Wrong(*Bad) error
}

// Runner runs the stages of a graph, for one goroutine.
type Runner struct {
	graph *Graph
	nodes []string // names
	calls Calls
	// share is of what is computed by what has changed: so much of it, from 0 to 1, is computed
	// without as well, and compared.
	share  float64
	parts  map[held]map[string]*list
	inside int      // tuples in parts
	stages []memory // by place
	// Executed and Changed count the calls, those for comparison not among them; Compared these.
	Executed, Changed, Compared int
}

// held is what a node exposes.
type held struct {
	node int
	set  *expose.Set
}

// memory is what is remembered of a stage.
type memory struct {
	all   map[hash.Hash]*list    // by all tuples that it reads
	keys  map[hash.Hash][]*Tuple // what it has made, by a key and its tuples
	last  map[string]*made       // by key: what was asked for last
	held  int                    // tuples in all and keys, about
	first int                    // comparisons, up to firstCompared
}

// room makes room for so many tuples more.
func (m *memory) room(tuples int) {
	if m.held += tuples + 1; m.held > maxHeld {
		clear(m.all)
		clear(m.keys)
		clear(m.last)
		m.held = tuples + 1
	}
}

// made is what a stage has made for a key.
type made struct {
	of  [][]*Tuple
	out []*Tuple
}

// The most results that are remembered: sets of exposed tuples, and tuples that a stage has made.
// The last one is how many results of changes are compared at first.
const (
	maxParts      = 1 << 14
	maxHeld       = 1 << 18
	firstCompared = 64
)

// Share is of what is computed by what has changed, if nobody asks for more: so much is computed
// without as well.
const Share = 1. / 16

// NewRunner returns what runs a graph for nodes with names.
func (g *Graph) NewRunner(nodes []string, calls Calls, share float64) *Runner {
	r := &Runner{graph: g, nodes: nodes, calls: calls, share: share, parts: map[held]map[string]*list{},
		stages: make([]memory, len(g.Stages))}
	for i := range r.stages {
		r.stages[i] = memory{all: map[hash.Hash]*list{}, keys: map[hash.Hash][]*Tuple{}, last: map[string]*made{}}
	}
	return r
}

// Has reports whether a stage has a name.
func (r *Runner) Has(name string) bool { return r != nil && r.graph.Has(name) }

// Names are those of the stages.
func (r *Runner) Names() (all []string) {
	if r == nil {
		return nil
	}
	for i := range r.graph.Stages {
		all = append(all, r.graph.Stages[i].Name)
	}
	return all
}

// Tuples are those of a stage, where the nodes expose sets; not to be changed.
func (r *Runner) Tuples(name string, sets []*expose.Set) ([]*Tuple, error) {
	l, err := r.stage(r.graph.index[name], sets)
	if err != nil {
		return nil, err
	}
	return l.tuples, nil
}

// Hash stands for the tuples of a stage; zero: there are none.
func (r *Runner) Hash(name string, sets []*expose.Set) (hash.Hash, error) {
	l, err := r.stage(r.graph.index[name], sets)
	if err != nil || len(l.tuples) == 0 {
		return hash.Hash{}, err
	}
	return l.hash, nil
}

func (r *Runner) stage(i int, sets []*expose.Set) (*list, error) {
	s, m := &r.graph.Stages[i], &r.stages[i]
	of := make([]*list, len(s.Of)) // nil: what nodes expose, which is put together only if need be
	h := hash.Of(uint64(i), 0, 42)
	for k, name := range s.Of {
		if place, ok := r.graph.index[name]; ok {
			var err error
			if of[k], err = r.stage(place, sets); err != nil {
				return nil, err
			}
			h = h.Plus(of[k].hash)
			continue
		}
		for node, set := range sets {
			h = h.Plus(r.part(node, set, name).hash)
		}
	}
	if l := m.all[h]; l != nil {
		return l, nil
	}
	read := make([][]*Tuple, len(s.Of))
	for k, name := range s.Of {
		if of[k] != nil {
			read[k] = of[k].tuples
			continue
		}
		for node, set := range sets {
			read[k] = append(read[k], r.part(node, set, name).tuples...)
		}
	}
	l, err := r.make(i, read)
	if err != nil {
		return nil, err
	}
	m.room(len(l.tuples))
	m.all[h] = l
	return l, nil
}

// part are the tuples of a name that a node exposes.
func (r *Runner) part(node int, set *expose.Set, name string) *list {
	by := r.parts[held{node, set}]
	if by == nil {
		if r.inside > maxHeld || len(r.parts) > maxParts {
			clear(r.parts)
			r.inside = 0
		}
		by = map[string]*list{}
		r.parts[held{node, set}] = by
	}
	l := by[name]
	if l == nil {
		var tuples []*Tuple
		for _, t := range set.Named(name) {
			u := &Tuple{Node: r.nodes[node], Tuple: t}
			u.named()
			tuples = append(tuples, u)
		}
		l = listOf(tuples)
		by[name] = l
		r.inside += len(tuples)
	}
	return l
}

// make makes the tuples of a stage of those that it reads, in order of its keys.
func (r *Runner) make(i int, read [][]*Tuple) (*list, error) {
	s := &r.graph.Stages[i]
	if s.Key == nil {
		out, err := r.key(i, "", read)
		if err != nil {
			return nil, err
		}
		return listOf(out), nil
	}
	by := map[string][][]*Tuple{}
	texts := make([]string, len(s.Key))
	for k, tuples := range read {
		for _, t := range tuples {
			for n, name := range s.Key {
				text, ok := t.Field(name)
				if !ok {
					return nil, r.calls.Wrong(&Bad{s, fmt.Sprintf("%s has no field %s for its key", t, name)})
				}
				texts[n] = text
			}
			key := expose.Key(texts)
			if by[key] == nil {
				by[key] = make([][]*Tuple, len(read))
			}
			by[key][k] = append(by[key][k], t)
		}
	}
	var all []*Tuple
	for _, key := range slices.Sorted(maps.Keys(by)) {
		out, err := r.key(i, key, by[key])
		if err != nil {
			return nil, err
		}
		all = append(all, out...)
	}
	return listOf(all), nil
}

// key makes the tuples of a stage of those of a key that it reads.
func (r *Runner) key(i int, key string, of [][]*Tuple) ([]*Tuple, error) {
	m := &r.stages[i]
	h, size := hash.OfText(key), 0
	for _, tuples := range of {
		h = h.Plus(listOf(tuples).hash)
		size += len(tuples)
	}
	out, known := m.keys[h]
	if !known {
		var err error
		if out, err = r.compute(i, key, m.last[key], of, size, h); err != nil {
			return nil, err
		}
		m.room(len(out))
		m.keys[h] = out
	}
	if r.graph.Stages[i].Change != "" {
		m.last[key] = &made{of, out}
	}
	return out, nil
}

// compute calls the stage's functions. last is what was made of other tuples, or nil; h stands for
// these.
func (r *Runner) compute(i int, key string, last *made, of [][]*Tuple, size int, h hash.Hash) ([]*Tuple, error) {
	s := &r.graph.Stages[i]
	execute := func() ([]*Tuple, error) {
		out, err := r.calls.Execute(i, of)
		return s.made(key, out), err
	}
	if s.Change == "" || last == nil {
		r.Executed++
		return execute()
	}
	added, removed, differ := make([][]*Tuple, len(of)), make([][]*Tuple, len(of)), 0
	for k := range of {
		added[k], removed[k] = diff(last.of[k], of[k])
		differ += len(added[k]) + len(removed[k])
	}
	if differ >= size { // it is not the shorter way
		r.Executed++
		return execute()
	}
	r.Changed++
	out, err := r.calls.Change(i, last.out, added, removed)
	if out = s.made(key, out); err != nil || !r.compares(i, h) {
		return out, err
	}
	r.Compared++
	want, err := execute()
	if err == nil && listOf(out).hash != listOf(want).hash {
		err = r.calls.Wrong(&Bad{s, s.differ(key, last.out, added, removed, want, out)})
	}
	return want, err
}

// compares decides whether to compute without what has changed as well.
func (r *Runner) compares(i int, h hash.Hash) bool {
	if m := &r.stages[i]; m.first < firstCompared {
		m.first++
		return true
	}
	return float64(h.Hi>>11)/(1<<53) < r.share
}

// made are tuples as the stage shows them, in order.
func (s *Stage) made(key string, tuples []*Tuple) []*Tuple {
	tuples = slices.Clone(tuples)
	for i := range tuples {
		// what it was given may be somebody else's
		t := &Tuple{Node: tuples[i].Node, Tuple: tuples[i].Tuple}
		tuples[i] = t
		if t.Name, t.Stays = s.Name, false; t.Key == "" {
			t.Key = key
		}
		t.named()
	}
	slices.SortStableFunc(tuples, compare)
	return tuples
}

// differ says how what a stage makes by what has changed is another than what it makes without.
func (s *Stage) differ(key string, before []*Tuple, added, removed [][]*Tuple, want, got []*Tuple) string {
	more, less := diff(want, got)
	of := ""
	if s.Key != nil {
		of = fmt.Sprintf(" of the key %q", key)
	}
	return fmt.Sprintf("%s and %s make different tuples%s: only the first makes %s, only the second %s. Before: %s; added: %s; removed: %s",
		s.Change, s.Execute, of, some(more), some(less), some(before), some(slices.Concat(added...)),
		some(slices.Concat(removed...)))
}

// mostSaid is how many tuples of a list are said.
const mostSaid = 3

func some(tuples []*Tuple) string {
	var texts []string
	for i := range tuples[:min(len(tuples), mostSaid)] {
		texts = append(texts, tuples[i].String())
	}
	if n := len(tuples) - mostSaid; n > 0 {
		texts = append(texts, fmt.Sprintf("%d more", n))
	}
	if texts == nil {
		return "nothing"
	}
	return strings.Join(texts, ", ")
}
