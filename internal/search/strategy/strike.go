package strategy

import (
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// strike says when a fault that has no time of its own strikes a random path: a crash, a cut.
// As with chance, how many steps go by before one does is drawn evenly over the orders of
// magnitude, anew after each. Which one it is is drawn by kind first: there may be many ways
// to cut a network, and few to crash. One path in quietOf has none.
type strike struct {
	draw    draw
	weights *Weights
	left    int // steps until one strikes; 0: none does
}

// Orders of magnitude of steps, of 2, from the least.
const (
	leastSteps = 3
	stepOrders = 9
)

// begin begins a path of a seed.
func (s *strike) begin(seed uint64, index int, w *Weights) {
	*s = strike{draw: newDraw(seed^0x5c5c5c5c5c5c5c5c, index), weights: w}
	if s.draw.below(quietOf) > 0 {
		s.again()
	}
}

func (s *strike) again() { s.left = 1 + s.draw.below(1<<(leastSteps+s.draw.below(stepOrders))) }

// next returns the fault that is to happen now in a frame, if one is.
func (s *strike) next(f *space.Frame) (event int, ok bool) {
	from, to := f.Aside()
	if from == to || s.left == 0 {
		return 0, false
	}
	if s.left--; s.left > 0 {
		return 0, false
	}
	s.again()
	sum := 0
	var of [world.MaxKinds]int // events of a kind
	for i := from; i < to; i++ {
		k := f.Enabled[i].Kind
		if of[k]++; of[k] == 1 {
			sum += s.weights.of(f, i)
		}
	}
	r := s.draw.below(sum)
	for i := from; i < to; i++ {
		k := f.Enabled[i].Kind
		if of[k] == 0 {
			continue
		}
		if r -= s.weights.of(f, i); r < 0 {
			return i + s.draw.below(of[k]), true // those of a kind stand together
		}
		of[k] = 0
	}
	panic("weights do not add up")
}
