package strategy

import (
	"cmp"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// strike says when a fault that has no time of its own strikes a random path: a crash, a cut. As
// with chance, it waits for a moment, or how many steps go by before one does is drawn evenly over
// the orders of magnitude, anew after each. Steps that repeat what the node has often done mostly
// do not count: an idle system leaves the same after each poll. One fault in three follows the one
// before closely, also one within a step. Half of these hit the same node. Where the one before
// lasts, half of them wait for its end: the node has restarted, the partition or the slow sync is
// over. A kind of fault is drawn first: there may be many ways to cut a network, and few to crash.
// Half of those on nodes hit a leader: one that exposes what few others do, or the busiest one. A
// third of the waits are for a loss of power, where there may be one: until somebody relies on what
// a node has not synced. One path in quietOf has none.
type strike struct {
	draw    draw
	weights *Weights
	some    bool // one does
	wait    wait
	left    int  // steps until one strikes, behind the wait
	every   bool // steps that repeat others count, too
	struck  bool // one did
	hit     ariadne.NodeID
	follows bool // further ones are to hit the node of the first one, or part it from the others
	// spares is the kind of a fault that is aimed within a step and is still to come.
	spares  ariadne.ActionKind
	without Without
}

// Orders of magnitude of steps, of 2, from the least.
const (
	leastSteps = 3
	stepOrders = 9
)

// begin begins a path of a seed.
func (s *strike) begin(seed uint64, index int, w *Weights, without Without) {
	*s = strike{draw: newDraw(seed^0x5c5c5c5c5c5c5c5c, index), weights: w, without: without}
	s.some = s.draw.below(quietOf) > 0
	s.follows = s.draw.below(2) == 0 && !without.Together
}

// close has one strike soon, on half of the paths the node, if it strikes a node.
func (s *strike) close(node ariadne.NodeID) {
	s.some, s.every = true, s.draw.below(2) == 0
	s.wait = wait{alone: s.draw.below(2) == 0, node: node}
	s.left = 1 + s.draw.below(1<<s.draw.below(closeOrders))
}

// anywhere has one strike at any step of a path that is still to come, if there are so many in all.
func (s *strike) anywhere(m *moments, length int) {
	s.some, s.every, s.wait = true, true, wait{}
	s.left = 1 + s.draw.below(max(length-m.steps, 1<<stepOrders))
}

// again draws when the next one strikes.
func (s *strike) again(f *space.Frame, m *moments, length int) {
	s.every = s.draw.below(4) == 0 || s.without.Moments
	rest := length - m.steps
	if s.wait = m.draw(&s.draw, length); f.State.Faults[world.Power] > 0 && !s.without.Moments && s.draw.below(3) == 0 {
		s.wait = m.drawLoss(&s.draw, length)
	}
	switch {
	case s.wait.moments > 0:
		rest = 1 << s.draw.below(closeOrders)
	case s.every:
		rest = within(1<<(leastSteps+s.draw.below(stepOrders)), rest)
	case m.most.others > 0 && !m.evenly:
		rest = within(max(m.left(), 1<<s.draw.below(stepOrders)), rest)
	default:
		rest = 1 << s.draw.below(stepOrders)
	}
	s.left = 1 + s.draw.below(rest)
}

// within is n, or what is left of the path where that is less and known: 1 or more.
func within(n, rest int) int {
	if rest > 0 {
		return min(n, rest)
	}
	return n
}

// next returns the fault that is to happen now in a frame, if one is.
func (s *strike) next(f *space.Frame, m *moments, length int) (event int, ok bool) {
	if !s.some {
		return 0, false
	}
	if s.left == 0 {
		s.again(f, m, length)
	}
	from, to := f.UntimedFaults()
	if !s.wait.over(m) || from == to || m.now.repeat && !s.every {
		return 0, false
	}
	if s.left--; s.left > 0 {
		return 0, false
	}
	if s.wait.relied && !m.reliesOn(s.wait.node) { // it has synced meanwhile
		s.wait.moments, s.left = 1, 1+s.draw.below(1<<s.draw.below(closeOrders))
		return 0, false
	}
	if event, ok = s.among(f, m, from, to); !ok {
		s.wait.alone, s.wait.relied, s.follows = false, false, false // there is none at that node
		event, ok = s.among(f, m, from, to)
	}
	if ok {
		e := &f.Enabled[event]
		if apart := e.PartsOff(); len(apart) > 0 {
			s.hits(apart[s.draw.below(len(apart))])
		} else {
			s.hits(e.Node)
		}
	}
	return event, ok
}

// follow has the next one follow the last fault closely. It may wait for the end of a fault that
// lasts.
func (s *strike) follow(m *moments, lasts bool, length int) {
	if !s.some {
		return
	}
	s.close(s.hit)
	s.every = s.draw.below(4) == 0 || s.without.Moments
	if lasts {
		m.drawEnd(&s.draw, &s.wait, length)
	}
}

// hits tells that a fault has hit a node.
func (s *strike) hits(id ariadne.NodeID) {
	if !s.struck || !s.follows {
		s.struck, s.hit = true, id
	}
}

// excludes reports whether no fault is to hit a node.
func (s *strike) excludes(id ariadne.NodeID) bool { return s.follows && s.struck && s.hit != id }

// means reports whether an event is one of the faults that are meant.
func (s *strike) means(e *world.Event) bool {
	if s.wait.relied && e.Kind != world.Power || s.spares != 0 && s.spares == e.Kind {
		return false
	}
	if world.KindOf(e.Kind).World {
		return !s.follows || !s.struck || slices.Contains(e.PartsOff(), s.hit)
	}
	return s.wait.hits(e.Node) && !s.excludes(e.Node)
}

// among draws one of a frame's faults from one on to before another, if it is of those that are
// meant.
func (s *strike) among(f *space.Frame, m *moments, from, to int) (event int, ok bool) {
	var of [world.MaxKinds][]int // events of a kind
	sum := 0
	for i := from; i < to; i++ {
		e := &f.Enabled[i]
		if !s.means(e) {
			continue
		}
		if of[e.Kind] = append(of[e.Kind], i); len(of[e.Kind]) == 1 {
			sum += s.weights.of(f, i)
		}
	}
	if sum == 0 {
		return 0, false
	}
	r := s.draw.below(sum)
	for _, all := range of {
		if len(all) == 0 {
			continue
		}
		if r -= s.weights.of(f, all[0]); r < 0 {
			return s.one(f, m, all), true
		}
	}
	panic("weights do not add up")
}

// one draws one of a frame's faults of one kind.
func (s *strike) one(f *space.Frame, m *moments, all []int) int {
	switch kind := f.Enabled[all[0]].Kind; {
	case world.KindOf(kind).World:
	case kind == world.Power && !s.without.Moments && s.draw.below(4) > 0:
		if relied := m.relied(f, all); relied != nil {
			all = relied
		}
	case s.draw.below(2) == 0 && !s.without.Together:
		if all = leading(f, all); len(all) > 1 {
			busiest := f.Enabled[slices.MaxFunc(all, func(i, j int) int {
				return cmp.Compare(m.sentBy(f.Enabled[i].Node), m.sentBy(f.Enabled[j].Node))
			})].Node
			all = slices.DeleteFunc(all, func(i int) bool { return f.Enabled[i].Node != busiest })
		}
	}
	return all[s.draw.below(len(all))]
}

// leading are those of some events that hit the nodes which expose what the fewest others expose,
// as a leader does; all of them, if none does.
func leading(f *space.Frame, all []int) (of []int) {
	counts := map[uint64]int{}
	nodes := map[ariadne.NodeID][]uint64{}
	for _, i := range all {
		id := f.Enabled[i].Node
		if _, ok := nodes[id]; ok {
			continue
		}
		nodes[id] = exposedBy(f, id)
		for _, x := range nodes[id] {
			counts[x]++
		}
	}
	rarity := func(i int) int {
		least := len(nodes)
		for _, x := range nodes[f.Enabled[i].Node] {
			least = min(least, counts[x])
		}
		return least
	}
	least := len(nodes)
	for _, i := range all {
		least = min(least, rarity(i))
	}
	if 2*least > len(nodes) {
		return all
	}
	for _, i := range all {
		if rarity(i) == least {
			of = append(of, i)
		}
	}
	return of
}

// exposedBy are the kinds of what a node exposes, its numbers left out, each once.
func exposedBy(f *space.Frame, id ariadne.NodeID) (kinds []uint64) {
	for _, sets := range [][]*expose.Set{f.Exposed, f.Told} {
		if int(id) >= len(sets) {
			continue
		}
		for _, x := range sets[id].Tuples() {
			h := masked(mixed(feature(0, 'x'), uint64(len(x.Name))), x.Name)
			for _, v := range x.Values {
				h = masked(mixed(h, 0), v)
			}
			kinds = append(kinds, h)
		}
	}
	return unique(kinds, 0)
}

// lasting is a fault of the path's last frame, or one time in three that for one of the lengths
// that are seldom tried.
func (s *strike) lasting(p *space.Path, event int) int {
	others := p.System().Lengthened(&p.Last().Enabled[event])
	if len(others) == 0 || s.draw.below(3) > 0 || s.without.Together {
		return event
	}
	return p.FindAnyLength(&others[s.draw.below(len(others))])
}
