package strategy

import (
	"slices"

	"ariadne"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// chance says where a random path has a step varied. Steps differ by orders of magnitude in how
// many alternatives they have, and paths in their length, which nobody knows beforehand. So
// how many alternatives go by before one is taken is drawn evenly over the orders of
// magnitude: early ones are as likely as late ones. A weight makes it sooner. Each kind has its
// own count, or one of which there are many places would leave nothing to the others; and
// one path in quietOf has none of it.
type chance struct {
	kinds  []likely
	strike strike // of faults that are events
	// asked is what was drawn for the last step, where nodes live.
	asked *ariadne.Draw
	// free draws what costs nothing, wherever it occurs. Not chooses: what is natural happens.
	free    draw
	chooses bool
}

// likely is a kind of which there is some in the path.
type likely struct {
	world.Countdown
	draw   draw
	weight int // how much sooner than else
}

const (
	quietOf = 4
	orders  = 15 // of magnitude, of 2
)

// begin begins a path of a seed, in which there may be faults of these kinds within steps.
func (c *chance) begin(kinds []ariadne.ActionKind, seed uint64, index int, w *Weights) {
	c.free, c.chooses, c.asked = newDraw(seed^0x6368_6f6f_7365, index), true, nil
	c.strike.begin(seed, index, w)
	c.kinds = c.kinds[:0]
	for _, k := range kinds {
		l := likely{Countdown: world.Countdown{Kind: k}, draw: newDraw(^seed+uint64(k-world.Fail)<<32, index), weight: max(w[k], 1)}
		if l.draw.below(quietOf) > 0 {
			c.kinds = append(c.kinds, l)
		}
	}
}

// ready draws what is to be counted down in a state, as much as there is of each budget. Not ok: nothing is.
func (c *chance) ready(s *space.State) (ok bool) {
	for i := range c.kinds {
		l := &c.kinds[i]
		for len(l.After) < int(s.Faults[l.Kind]) {
			l.After = append(l.After, 1+l.draw.below(1<<l.draw.below(orders))/l.weight)
		}
		l.After = l.After[:s.Faults[l.Kind]]
		ok = ok || len(l.After) > 0
	}
	return ok
}

// countdowns are those of all kinds.
func (c *chance) countdowns() (all []world.Countdown) {
	for i := range c.kinds {
		all = append(all, c.kinds[i].Countdown)
	}
	return all
}

// passes counts an alternative, and reports whether it is taken.
func (l *likely) passes() bool {
	if len(l.After) == 0 {
		return false
	}
	if l.After[0]--; l.After[0] > 0 {
		return false
	}
	l.After = l.After[1:]
	return true
}

// vary returns the event to take for an undisturbed one of the path's last frame: itself, or
// what it is varied to, by one choice or, if several, by as many as are drawn.
func (c *chance) vary(p *space.Path, i int, several bool) int {
	if c.asked != nil {
		for j, rest := range c.asked.Rest(&p.Last().By.Output) {
			k, _ := world.KindNamed(c.asked.Kinds[j])
			i := slices.IndexFunc(c.kinds, func(l likely) bool { return l.Kind == k })
			c.kinds[i].After = rest
		}
		c.asked = nil
	}
	f := p.Last()
	if c.strike.left > 0 && f.Plain < len(f.Enabled) {
		if j, ok := c.strike.next(f); ok {
			return j
		}
	}
	faults := len(c.kinds) > 0 && f.State.Varies() && c.ready(&f.State)
	if p.Space().Restart != nil && c.chooses {
		drawn := p.Draw(i, c.countdowns(), c.free.next())
		if faults {
			c.asked = f.Enabled[drawn].Varied.Draw()
		}
		return drawn
	}
	c.choose(p)
	if !faults {
		return i
	}
	event := c.among(f, i, f.Plain, f.Open)
	for taken := i; several && event != taken; {
		from, to := p.Further(event)
		taken, event = event, c.among(f, event, from, to)
	}
	return event
}

// among counts the alternatives that event i of a frame has from one event on to before another, which
// are those with one choice more, and returns the one that is taken, or i.
func (c *chance) among(f *space.Frame, i, from, to int) int {
	e := &f.Enabled[i]
	costs := e.Costs()
	for j := from; j < to; j++ {
		v := &f.Enabled[j]
		if v.Choices() != e.Choices()+1 || !v.SameInput(e) {
			continue
		}
		more := v.Costs()
		k := slices.IndexFunc(c.kinds, func(l likely) bool { return more[l.Kind] > costs[l.Kind] })
		if k >= 0 && c.kinds[k].passes() {
			return j
		}
	}
	return i
}

// choose has the step that is taken next told at random what it asks for.
func (c *chance) choose(p *space.Path) {
	if c.chooses {
		p.Choose(&c.free)
	}
}
