package strategy

import (
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// strike says when a fault that has no time of its own strikes a random path: a crash, a cut.
// As with chance, it waits for a moment, or how many steps go by before one does is drawn evenly over the orders of
// magnitude, anew after each. Which one it is is drawn by kind first: there may be many ways
// to cut a network, and few to crash. One path in quietOf has none.
type strike struct {
	draw    draw
	weights *Weights
	some    bool // one does
	wait    wait
	left    int // steps until one strikes, behind the wait
}

// Orders of magnitude of steps, of 2, from the least.
const (
	leastSteps = 3
	stepOrders = 9
)

// begin begins a path of a seed.
func (s *strike) begin(seed uint64, index int, w *Weights) {
	*s = strike{draw: newDraw(seed^0x5c5c5c5c5c5c5c5c, index), weights: w}
	s.some = s.draw.below(quietOf) > 0
}

// again draws when the next one strikes.
func (s *strike) again(m *moments, length int) {
	if s.wait = m.draw(&s.draw, length); s.wait.moments > 0 {
		s.left = 1 + s.draw.below(1<<s.draw.below(closeOrders))
	} else {
		s.left = 1 + s.draw.below(1<<(leastSteps+s.draw.below(stepOrders)))
	}
}

// next returns the fault that is to happen now in a frame, if one is.
func (s *strike) next(f *space.Frame, m *moments, length int) (event int, ok bool) {
	if !s.some {
		return 0, false
	}
	if s.left == 0 {
		s.again(m, length)
	}
	from, to := f.Aside()
	if !s.wait.over(m) || from == to {
		return 0, false
	}
	if s.left--; s.left > 0 {
		return 0, false
	}
	if event, ok = s.among(f, from, to); !ok {
		s.wait.alone = false // there is none at that node
		event, ok = s.among(f, from, to)
	}
	return event, ok
}

// among draws one of a frame's faults from one on to before another, if it is of those that are meant.
func (s *strike) among(f *space.Frame, from, to int) (event int, ok bool) {
	var of [world.MaxKinds][]int // events of a kind
	sum := 0
	for i := from; i < to; i++ {
		e := &f.Enabled[i]
		if !world.KindOf(e.Kind).World && !s.wait.hits(e.Node) {
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
			return all[s.draw.below(len(all))], true
		}
	}
	panic("weights do not add up")
}
