package live

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// groups has what nodes expose in groups of tuples, of which a property can be judged one by one
// (judge.Division). An event changes few of the groups. As long as the property holds, only these
// are judged: it holds of the others still. So an event costs as much as its groups are large, and
// not as much as there are tuples. From the first moment at which it does not hold, snapshots are
// judged as a whole, until it holds again.
type groups struct {
	division *judge.Division
	names    []string // of nodes
	tables   []map[shown]expose.Tuple
	members  map[string]map[member]bool // of each group that has some
	// changed are groups that have changed since the last moment that was judged, and their tuples
	// then. It has nothing while snapshots are judged as a whole, and no group that was empty then
	// and is so again: keys may come and go for ever.
	changed map[string][]owned
	// cut: there is no such moment, or there was one after it that was not judged
	cut bool
	// whole: the next snapshot is judged as a whole. Then Sets of the verifier's snapshot are up to
	// date.
	whole bool
}

// member is a tuple of a group.
type member struct {
	node ariadne.NodeID
	shown
}

// owned is a tuple of a node.
type owned struct {
	node ariadne.NodeID
	expose.Tuple
}

func newGroups(p *judge.Properties) *groups {
	d := p.Division()
	if d == nil {
		return nil
	}
	g := &groups{division: d, names: p.Nodes, tables: make([]map[shown]expose.Tuple, len(p.Nodes)),
		members: map[string]map[member]bool{}, changed: map[string][]owned{}, cut: true}
	for i := range g.tables {
		g.tables[i] = map[shown]expose.Tuple{}
	}
	return g
}

// fill begins with a snapshot, of which nothing is known yet.
func (g *groups) fill(sets []*expose.Set) {
	for i, set := range sets {
		for _, t := range set.Tuples() {
			g.put(ariadne.NodeID(i), t)
		}
	}
	g.judged()
	g.whole = true
}

// apply makes changes of a node.
func (g *groups) apply(node ariadne.NodeID, changes []expose.Change) {
	for i := range changes {
		c := &changes[i]
		switch {
		case c.Ends && c.All:
			g.remove(node, func(t *expose.Tuple) bool { return t.Name == c.Name })
		case c.Ends:
			g.drop(node, shown{c.Name, c.Key})
		default:
			g.put(node, c.Tuple)
		}
	}
}

// replace has a node expose the tuples of a set, and nothing else.
func (g *groups) replace(node ariadne.NodeID, set *expose.Set) {
	g.remove(node, func(*expose.Tuple) bool { return true })
	for _, t := range set.Tuples() {
		g.put(node, t)
	}
}

// remove removes some tuples of a node.
func (g *groups) remove(node ariadne.NodeID, which func(*expose.Tuple) bool) {
	for at, t := range g.tables[node] {
		if which(&t) {
			g.drop(node, at)
		}
	}
}

func (g *groups) drop(node ariadne.NodeID, at shown) {
	t, ok := g.tables[node][at]
	if !ok {
		return
	}
	group := g.touch(node, &t)
	delete(g.tables[node], at)
	if delete(g.members[group], member{node, at}); len(g.members[group]) > 0 {
		return
	}
	if delete(g.members, group); g.cut || len(g.changed[group]) == 0 {
		delete(g.changed, group)
	}
}

func (g *groups) put(node ariadne.NodeID, t expose.Tuple) {
	at := shown{t.Name, t.Key}
	g.drop(node, at) // it may have been of another group
	group := g.touch(node, &t)
	g.tables[node][at] = t
	if g.members[group] == nil {
		g.members[group] = map[member]bool{}
	}
	g.members[group][member{node, at}] = true
}

// touch keeps what the group of a tuple is before it changes, and returns the group.
func (g *groups) touch(node ariadne.NodeID, t *expose.Tuple) string {
	group := g.division.Group(g.names[node], t)
	if _, ok := g.changed[group]; !ok && !g.whole {
		g.changed[group] = g.of(group)
	}
	return group
}

// of are the tuples of a group, in order.
func (g *groups) of(group string) (all []owned) {
	for m := range g.members[group] {
		all = append(all, owned{m.node, g.tables[m.node][m.shown]})
	}
	slices.SortFunc(all, func(a, b owned) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// differing are the groups of changed that are not as they were, in order. They are all, if nothing
// says how they were.
func (g *groups) differing() (all []string) {
	for _, group := range slices.Sorted(maps.Keys(g.changed)) {
		if g.cut || !slices.EqualFunc(g.changed[group], g.of(group), sameOwned) {
			all = append(all, group)
		}
	}
	return all
}

func sameOwned(a, b owned) bool {
	return a.node == b.node && a.Name == b.Name && a.Key == b.Key && slices.Equal(a.Values, b.Values)
}

// judged tells that the present moment was judged.
func (g *groups) judged() {
	clear(g.changed)
	g.cut = false
}

// setsOf are some groups, as they are or as they were at the last moment that was judged.
func (g *groups) setsOf(some []string, before bool) []*expose.Set {
	changes := make([][]expose.Change, len(g.tables))
	for _, group := range some {
		all := g.changed[group]
		if !before {
			all = g.of(group)
		}
		for _, t := range all {
			changes[t.node] = append(changes[t.node], expose.Change{Tuple: t.Tuple})
		}
	}
	sets := make([]*expose.Set, len(changes))
	for i := range sets {
		sets[i] = (*expose.Set)(nil).After(changes[i])
	}
	return sets
}

// set is what a node exposes.
func (g *groups) set(node int) *expose.Set {
	changes := make([]expose.Change, 0, len(g.tables[node]))
	for _, t := range g.tables[node] {
		changes = append(changes, expose.Change{Tuple: t})
	}
	// in order, each is put behind those before
	slices.SortFunc(changes, func(a, b expose.Change) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return (*expose.Set)(nil).After(changes)
}

// setBefore is what a node exposed at the last moment that was judged; set is what it exposes now.
func (g *groups) setBefore(node int, set *expose.Set) *expose.Set {
	var ends, puts []expose.Change
	for _, group := range slices.Sorted(maps.Keys(g.changed)) {
		for _, t := range g.of(group) {
			if int(t.node) == node {
				ends = append(ends, expose.Change{Tuple: t.Tuple, Ends: true})
			}
		}
		for _, t := range g.changed[group] {
			if int(t.node) == node {
				puts = append(puts, expose.Change{Tuple: t.Tuple})
			}
		}
	}
	return set.After(slices.Concat(ends, puts))
}
