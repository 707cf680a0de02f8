package strategy

import (
	"ariadne"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// chance says when a random path has a step varied. Steps differ by orders of magnitude in how
// many alternatives they have, and paths in their length, which nobody knows beforehand. So
// how many alternatives go by before one is taken is drawn evenly over the orders of
// magnitude: early ones are as likely as late ones. A weight makes it sooner. One path in quietOf has none.
type chance struct {
	draw draw
	left int // alternatives until one is taken; 0: none is
	// weight is how much sooner than else.
	weight int
	strike strike // of faults that are events
	// asked is what was drawn for the last step, where nodes live.
	asked *ariadne.Draw
	// free draws what costs nothing, wherever it occurs; nil: what is natural happens.
	free   *draw
	choice func(n int) int // free.below: made once, and not at each step
}

const (
	quietOf = 4
	orders  = 15 // of magnitude, of 2
)

// newChance is that of a path of a seed.
func newChance(seed uint64, index int, w *Weights) chance {
	free := newDraw(seed^0x6368_6f6f_7365, index)
	c := chance{draw: newDraw(^seed, index), weight: 1, free: &free, choice: free.below, strike: newStrike(seed, index, w)}
	for k := range w {
		if kind := world.KindOf(ariadne.ActionKind(k)); w[k] > c.weight && kind.Within && kind.Fault != "" {
			c.weight = w[k]
		}
	}
	if c.draw.below(quietOf) > 0 {
		c.again()
	}
	return c
}

func (c *chance) again() { c.left = 1 + c.draw.below(1<<c.draw.below(orders))/c.weight }

// vary returns the event to take for an undisturbed one of the path's last frame: itself, or
// what it is varied to.
func (c *chance) vary(p *space.Path, i int) int {
	if c.asked != nil {
		out := &p.Last().By.Output
		if c.left -= c.asked.Passed(out); out.Variation() != "" {
			c.again()
		}
		c.asked = nil
	}
	f := p.Last()
	if j, ok := c.strike.next(f); ok {
		return j
	}
	faults := c.left > 0 && f.State.Varies()
	if p.Space().Restart != nil && c.free != nil {
		if !faults {
			return p.Draw(i, 0, c.free.next())
		}
		drawn := p.Draw(i, c.left, c.free.next())
		c.asked = f.Enabled[drawn].Varied.Draw()
		return drawn
	}
	c.choose(p)
	if !faults {
		return i
	}
	for j := f.Plain; j < f.Open; j++ {
		if e := &f.Enabled[j]; e.Choices() == 1 && e.SameInput(&f.Enabled[i]) {
			if c.left--; c.left == 0 {
				c.again()
				return j
			}
		}
	}
	return i
}

// choose has the step that is taken next told at random what it asks for.
func (c *chance) choose(p *space.Path) {
	if c.free != nil {
		p.Choose(c.choice)
	}
}
