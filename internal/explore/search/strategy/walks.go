package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: "walks", Parts: guided, Doc: "random walks, free or mostly natural",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer {
				return &Walks{Seed: seed, Weights: b.Weights, Features: b.shared(), Index: b.From}
			})
		}})
}

// Weights say how likely random choices take an event, by its kind. Zero is 1.
type Weights [world.MaxKinds]int

// unweighted has all kinds as likely as any other.
var unweighted Weights

// pick draws one of a frame's events, of the undisturbed ones when among is nil.
func (w *Weights) pick(d *draw, f *space.Frame, among []int) int {
	if w.even() {
		return pickEvenly(d, f, among)
	}
	n := len(among)
	if among == nil {
		n = f.Plain
	}
	at := func(i int) int {
		if among == nil {
			return i
		}
		return among[i]
	}
	sum := 0
	for i := range n {
		sum += w.of(f, at(i))
	}
	r := d.below(sum)
	for i := range n {
		if r -= w.of(f, at(i)); r < 0 {
			return at(i)
		}
	}
	panic("weights do not add up")
}

// even: all kinds weigh the same.
func (w *Weights) even() bool { return *w == Weights{} }

// pickEvenly is pick without weights.
func pickEvenly(d *draw, f *space.Frame, among []int) int {
	if among == nil {
		return d.below(f.Plain)
	}
	return among[d.below(len(among))]
}

func (w *Weights) of(f *space.Frame, i int) int { return max(w[f.Enabled[i].Kind], 1) }

// calms is the number of different tempers; walks take them in turn.
const calms = 6

// temper is how one of many random paths chooses. Some choose freely at each step;
// others mostly follow the natural schedule and deviate now and then, because in long
// executions many a bug needs a system that has got somewhere first.
type temper struct {
	draw   draw
	calm   int  // at one step of 2^calm it chooses freely
	even   bool // without weights
	chance chance
	late   patience
}

// begin begins path p, which has the place of the one before until it is cut.
func (t *temper) begin(p *space.Path, o origin) {
	t.draw, t.calm, t.even = newDraw(o.seed, o.index), o.index%calms, o.weights.even()
	o.length = p.Len()
	t.chance.begin(p.System().Within(), o)
	t.late.begin(o.seed, o.index)
}

// pick chooses one of the events of the path's last frame, or a variation of one.
func (t *temper) pick(w *Weights, p *space.Path) int {
	return t.chance.vary(p, t.plain(w, p.Last(), nil), true)
}

// pickAwake chooses among events of the path's last frame: awake is one of the given ones, and
// event is that or, if it is varied or a fault strikes, another one.
func (t *temper) pickAwake(w *Weights, p *space.Path, choices []int) (event, awake int) {
	n, _ := slices.BinarySearch(choices, p.Last().Plain)
	if n == 0 { // each undisturbed event was tried
		i := choices[t.draw.below(len(choices))]
		return i, i
	}
	awake = t.plain(w, p.Last(), choices[:n])
	return t.chance.vary(p, awake, false), awake
}

// plain chooses an undisturbed event.
func (t *temper) plain(w *Weights, f *space.Frame, among []int) int {
	if t.draw.next()>>(64-calms) < 1<<(calms-t.calm) {
		i := 0
		if t.even {
			i = pickEvenly(&t.draw, f, among)
		} else {
			i = w.pick(&t.draw, f, among)
		}
		if hasty := t.late.limit(f, i); among == nil || slices.Contains(among, hasty) {
			return hasty
		}
		return i
	}
	if among != nil {
		return among[0]
	}
	return 0
}

// Walks are random walks from the first state to the end, one after the other, of
// different tempers.
type Walks struct {
	Seed     uint64
	Weights  Weights
	Features *Features // or nil
	Index    int       // of the next walk

	temper temper
}

// Begin implements Explorer.
func (w *Walks) Begin(p *space.Path) (keep int, ok bool) {
	w.temper.begin(p, origin{seed: w.Seed, index: w.Index, weights: &w.Weights, features: w.Features})
	w.Index++
	return 0, true
}

// Next implements Explorer.
func (w *Walks) Next(p *space.Path) (event int, ok bool) {
	return w.temper.pick(&w.Weights, p), true
}

// End implements Explorer.
func (*Walks) End(*space.Path, End) error { return nil }

// newDraw is the source of random numbers of one path of a seed.
func newDraw(seed uint64, index int) draw {
	d := draw{seed}
	return draw{d.next() + uint64(index)*0xd1342543de82ef95}
}
