package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// chance says where a random path has a step varied. Steps differ by orders of magnitude in how
// many alternatives they have, and paths in their length, which nobody knows beforehand. So how
// many alternatives go by before one is taken is drawn evenly over the orders of magnitude: early
// ones are as likely as late ones. Or few go by behind a moment (moments), or those alone count
// that are at calls by which a program makes lasting what it has done. A weight makes it sooner.
// Where the paths before say how many alternatives there are in all, one in two is drawn evenly
// among these: most of them are late. Each kind has its own count, or one of which there are many
// places would leave nothing to the others; and one path in quietOf has none of it.
type chance struct {
	kinds   []likely
	strike  strike // of faults that are events
	moments moments
	length  int // of the path before; 0: it is not known, or must not matter
	// asked is what was drawn for the last step, where nodes live.
	asked *ariadne.Draw
	// free draws what costs nothing, wherever it occurs. Not chooses: what is natural happens.
	free    draw
	chooses bool
	// every: places in steps that repeat what the node has often done count, too.
	every bool
	// hit: the last step had a fault that others may follow.
	hit bool
	// Alternatives of a kind that were counted on the path so far, and the most that were on a path
	// before.
	counted, most [world.MaxKinds]int
}

// likely is a kind of which there is some in the path.
type likely struct {
	world.Countdown
	draw   draw
	weight int // how much sooner than else
	wait   wait
}

// Orders of magnitude are of 2.
const (
	quietOf    = 4
	evenlyOf   = 4  // one path in so many waits for no moments (moments.evenly)
	orders     = 15 // of alternatives
	keepOrders = 8  // of those at calls that make something lasting
)

// origin is what the chances of a path depend on besides the path.
type origin struct {
	seed     uint64
	index    int // of the path
	length   int // of paths of its like; 0: nobody knows
	weights  *Weights
	features *Features // or nil
	// steps of the path that are not of its chances: what it says in them is not said
	from int
}

// begin begins a path, in which there may be faults of these kinds within steps.
func (c *chance) begin(kinds []ariadne.ActionKind, o origin) {
	seed, index, w := o.seed, o.index, o.weights
	c.hit = false
	c.free, c.chooses, c.asked, c.length = newDraw(seed^0x6368_6f6f_7365, index), true, nil, o.length
	c.moments.begin(o.features, o.length > 0, o.from)
	c.strike.begin(seed, index, w, c.moments.without())
	c.moments.evenly = o.features != nil && c.strike.draw.below(evenlyOf) == 0
	c.every = c.strike.draw.below(4) == 0 || c.strike.without.Moments
	for k, n := range c.counted {
		c.most[k], c.counted[k] = max(c.most[k], n), 0
	}
	if o.length == 0 {
		clear(c.most[:])
	}
	c.kinds = c.kinds[:0]
	for _, k := range kinds {
		l := likely{Countdown: world.Countdown{Kind: k}, draw: newDraw(^seed+uint64(k-world.Fail)<<32, index),
			weight: max(w[k], 1)}
		if l.draw.below(quietOf) > 0 {
			c.kinds = append(c.kinds, l)
		}
	}
	c.aim()
}

// onFiles are all calls on files.
var onFiles = []string{ariadne.OnFiles}

// aim draws whether the first fault within a step, of one kind, is aimed at a site: then it strikes
// at any of the places there.
func (c *chance) aim() {
	search := c.moments.search
	if search == nil || search.without.Sites || c.length == 0 || len(c.kinds) == 0 {
		return
	}
	l := &c.kinds[c.strike.draw.below(len(c.kinds))]
	name, most, ok := search.sites.aim(world.KindOf(l.Kind).Name, &l.draw)
	if !ok {
		return
	}
	l.Only, l.After, l.wait = []string{name}, []int{1 + l.draw.below(most)}, wait{}
	c.every, c.strike.spares = true, l.Kind
}

// withoutPath is a chance that knows what earlier paths have shown, and that has no path of its
// own.
func (c *chance) withoutPath() chance {
	return chance{moments: c.moments, counted: c.counted, most: c.most}
}

// ready draws what is to be counted down in a state, as much as there is of each budget. Not ok:
// nothing is.
func (c *chance) ready(s *space.State, keeps []string) (ok bool) {
	for i := range c.kinds {
		l := &c.kinds[i]
		if l.After = l.After[:min(len(l.After), int(s.Faults[l.Kind]))]; len(l.After) == 0 && s.Faults[l.Kind] > 0 {
			c.again(l, int(s.Faults[l.Kind]), keeps)
		}
		ok = l.wait.over(&c.moments) && len(l.After) > 0 || ok
	}
	return ok
}

// again draws when there are the next of a kind, of which so many are left: one behind a moment,
// else all.
func (c *chance) again(l *likely, left int, keeps []string) {
	n := orders
	if c.strike.spares == l.Kind { // it cannot come any more
		c.strike.spares = 0
	}
	l.wait, l.Only = c.moments.draw(&l.draw, c.length), nil
	// A process that ends before a call on a file leaves other files than before the one before. At
	// the many places between, what is left is the same.
	if c.moments.most.files > 0 && (l.Kind == world.Crash || l.Kind == world.Kill) && l.draw.below(2) == 0 {
		n, l.Only = keepOrders, onFiles
	}
	if l.wait.moments > 0 {
		n, left = closeOrders, 1
	} else if keeps != nil && l.draw.below(3) == 0 {
		n, l.Only = keepOrders, keeps
	}
	for len(l.After) < left {
		among := 1 << l.draw.below(n)
		rest := c.most[l.Kind] - c.counted[l.Kind]
		if n == orders && rest > 0 && !c.moments.evenly && !c.moments.without().Moments && l.draw.below(2) == 0 {
			among = rest
		}
		l.After = append(l.After, 1+l.draw.below(among)/l.weight)
	}
}

// countdowns are those of all kinds that are counted at a node now.
func (c *chance) countdowns(at ariadne.NodeID) (all []world.Countdown) {
	for i := range c.kinds {
		if l := &c.kinds[i]; l.wait.moments == 0 && l.wait.hits(at) && !c.strike.excludes(at) {
			all = append(all, l.Countdown)
		}
	}
	return all
}

// hits tells that a fault of a kind within a step has hit a node.
func (c *chance) hits(id ariadne.NodeID, kind ariadne.ActionKind) {
	c.strike.hits(id)
	c.hit = true
	if c.strike.spares == kind { // it has come
		c.strike.spares = 0
	}
}

// followOf: behind one fault in so many another one follows closely.
const followOf = 3

// follow draws whether another fault follows the last one closely, and of which kind. Only one
// does: if each kind had its own chance, some fault would follow nearly each of them, and hardly
// any would come when the program has recovered. The state is the one that the last fault has left.
func (c *chance) follow(s *space.State) {
	if !c.hit || c.moments.without().Together {
		return
	}
	c.hit = false
	lasts := s.Lasts(c.strike.hit)
	some := len(c.kinds)
	if c.strike.some {
		some++
	}
	kind := c.strike.draw.below(followOf * max(some, 1))
	if kind == len(c.kinds) {
		c.strike.follow(&c.moments, lasts, c.length)
	} else if kind < len(c.kinds) {
		l := &c.kinds[kind]
		if l.Kind == c.strike.spares {
			return
		}
		l.Only, l.wait = nil, wait{alone: l.draw.below(2) == 0, node: c.strike.hit}
		l.After = append(l.After[:0], 1+l.draw.below(1<<l.draw.below(closeOrders)))
		if lasts {
			c.moments.drawEnd(&l.draw, &l.wait, c.length)
		}
	}
}

// passes counts an alternative, and reports whether it is taken.
func (l *likely) passes() bool {
	if len(l.After) == 0 || l.wait.moments > 0 {
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
			if len(rest) < len(c.kinds[i].After) {
				c.hits(p.Event(p.Len()).Node, k)
			}
			c.kinds[i].After = rest
		}
		c.asked = nil
	}
	f := p.Last()
	if (len(c.kinds) > 0 || c.strike.some) && p.System().Faulty() {
		c.moments.read(p)
		c.follow(&f.State)
		if j, ok := c.strike.next(f, &c.moments, c.length); ok {
			c.hit = true
			j = c.strike.lasting(p, j)
			if p.Space().Restart != nil && c.chooses {
				return p.AppendDrawn(j, nil, c.free.next())
			}
			c.choose(p) // what a loss of power leaves
			return j
		}
	}
	faults := len(c.kinds) > 0 && f.State.Varies() && c.ready(&f.State, p.System().Rules().Keeps)
	if p.Space().Restart != nil && c.chooses {
		drawn := p.AppendDrawn(i, c.countdowns(f.Enabled[i].Node), c.free.next())
		if faults {
			c.asked = f.Enabled[drawn].Varied.Draw()
		}
		return drawn
	}
	c.choose(p)
	if !faults {
		return i
	}
	event, taken := i, -1
	for event != taken && (several || taken < 0) {
		taken, event = event, c.among(p, event)
	}
	return event
}

// among counts the alternatives that event i of the path's last frame has, which
// are those with one choice more, and returns the one that is taken, or i.
func (c *chance) among(p *space.Path, i int) int {
	e := &p.Last().Enabled[i]
	by := p.Outcome(i)
	if by == nil || len(by.Output.Places) == 0 || !c.every && !e.Disturbed() && c.moments.repeats(e.Node, by) {
		return i
	}
	for at := by.Output.Settled(); at < len(by.Output.Places); at++ {
		place := &by.Output.Places[at]
		for _, a := range place.Alternatives {
			k := slices.IndexFunc(c.kinds, func(l likely) bool {
				return world.KindOf(l.Kind).Name == ariadne.KindOf(a)
			})
			if k < 0 || !p.System().Rules().MayFollowWithin(&p.Last().State.State, c.kinds[k].Kind, e.Node) ||
				!c.counts(k, e.Node, place.Name) {
				continue
			}
			if c.counted[c.kinds[k].Kind]++; !c.kinds[k].passes() {
				continue
			}
			choice := ariadne.Choice{Alternative: a, Place: place.Name}
			if c.tired(by, choice) {
				c.kinds[k].After = slices.Insert(c.kinds[k].After, 0, 1) // the next place will do
				continue
			}
			if j, ok := further(p, i, choice); ok {
				c.hits(e.Node, c.kinds[k].Kind)
				return c.strike.lasting(p, j)
			}
		}
	}
	return i
}

// tired reports whether a choice in a step is to be left for the next one, since the search has
// often made it: a place that was drawn n times before is drawn one time in n+1. Without that, the
// first places of a short execution are drawn again and again. It counts the choice when it is not
// left.
func (c *chance) tired(by *memo.Transition, choice ariadne.Choice) bool {
	search := c.moments.search
	if search == nil || search.without.Moments {
		return false
	}
	key := exact(feature(by.From.Node, 'c'), string(by.From.Name[:]))
	key = exact(exact(exact(key, string(by.Output.Digest[:])), choice.Alternative), choice.Place)
	return search.tired(key, c.free.below)
}

// further is where event i of the path's last frame, varied by one more choice, is among what is
// enabled. Not ok: budgets or bounds do not leave it.
func further(p *space.Path, i int, choice ariadne.Choice) (event int, ok bool) {
	from, to := p.EventVariations(i)
	enabled := p.Last().Enabled
	want := enabled[i].Varied.Variation().And(choice)
	j := slices.IndexFunc(enabled[from:to], func(e world.Event) bool { return e.Varied.Variation() == want })
	return from + j, j >= 0
}

// counts reports whether an alternative at a place of a node is one of those that are counted.
func (c *chance) counts(k int, at ariadne.NodeID, place string) bool {
	l := &c.kinds[k]
	return l.wait.hits(at) && !c.strike.excludes(at) && (l.Only == nil || ariadne.IsAmong(l.Only, place))
}

// choose has the step that is taken next told at random what it asks for.
func (c *chance) choose(p *space.Path) {
	if c.chooses {
		p.DrawNext(c)
	}
}
