package strategy

import (
	"math"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: "novelty", Parts: guided, Seeks: true, Doc: "paths that branch off where earlier paths showed new behaviour",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, worker int) Explorer {
				return &Portfolio{Members: []*Member{{Explorer: b.novelty(seed, worker)}}, News: b.News(worker),
					Recall: b.recall(worker)}
			})
		}})
}

// Novelty goes on from paths that have shown something new: a sight, or a combination of exposed
// values. Most of its paths begin like one that did, up to about where it did. They go on almost
// naturally, half of them with messages that are slow from there. In a third of them a fault
// follows closely, in another third one comes at any step. It begins where most is to be hoped for:
// where few paths have shown the same, few have begun, and many of those led to something new
// (Ecoffet et al., First return, then explore, 2021).
//
// In a portfolio it learns from the paths of the other members, too.
type Novelty struct {
	Seed    uint64
	Weights Weights
	// New reports whether the last state of a path shows a combination that was not seen
	// before. nil: there is none.
	New func(p *space.Path) bool
	// Bytes is about how much memory the beginnings may take; 0: no bound. When there are
	// more, those are forgotten that have led on often.
	Bytes    int64
	Index    int       // of the next path
	Features *Features // not nil
	Sought   *Sought   // or nil: nothing in particular

	pool    []*beginning
	bytes   int64 // of the pool
	sights  sights
	shown   progress // with Sought
	draw    draw
	slow    bool // messages are slow on the path, behind its beginning
	holds   Slow
	temper  temper
	from    *beginning // of the path; nil: it has none, or it is another explorer's
	brought bool       // the path has brought a beginning
	now     follow
}

// beginning is the first part of a path, up to where it has shown something new.
type beginning struct {
	events        []int32
	node          ariadne.NodeID // which has done it
	sight         uint64         // 0: it is a combination
	score         int            // how near it is to what is sought
	faults, left  int            // that it has, and that budgets leave
	struck        bool
	hit           ariadne.NodeID // by the first of them, when struck
	used, brought int            // paths from here, and how many of them have brought another one
}

// bytes is about what it takes.
func (b *beginning) bytes() int64 { return int64(4*len(b.events)) + 3*32 }

// Orders of magnitude, of 2: how many steps before its end a path leaves a beginning, and how many
// steps behind it messages become slow.
const (
	leaveOrders = 5
	holdOrders  = 6
)

// Begin implements Explorer.
func (w *Novelty) Begin(p *space.Path) (keep int, ok bool) {
	w.draw = newDraw(w.Seed, w.Index)
	w.now.prefix, w.from = nil, nil
	if len(w.pool) > 0 && w.draw.below(8) > 0 {
		w.from = w.best()
		w.from.used++
		end := len(w.from.events)
		if w.draw.below(2) == 0 {
			end = max(end-w.draw.below(1<<w.draw.below(leaveOrders)), 0)
		}
		w.now.prefix = w.from.events[:end]
		keep = w.now.begin(p)
	}
	w.goOn(p)
	w.Index++
	return keep, true
}

// goOn draws how the path goes on behind its beginning.
func (w *Novelty) goOn(p *space.Path) {
	from := len(w.now.prefix)
	w.temper.begin(p, origin{seed: w.Seed, index: w.Index, weights: &w.Weights, features: w.Features, from: from})
	w.temper.calm = w.draw.below(calms)
	w.slow = w.draw.below(2) == 0
	if w.slow {
		w.temper.calm = calms
		w.holds.beginBehind(w.Seed, w.Index, from)
	}
	if w.from == nil {
		return
	}
	strike := &w.temper.chance.strike
	if w.from.struck {
		strike.struck, strike.hit = true, w.from.hit
	}
	switch w.draw.below(3) {
	case 0:
		strike.close(w.from.node)
	case 1:
		strike.anywhere(&w.temper.chance.moments, p.Len())
	}
}

// expectedGain says how much a beginning promises. Most of what takes several faults needs
// them close together, and what has one already is half way there.
func (w *Novelty) expectedGain(b *beginning) float64 {
	shown := 1
	if b.sight != 0 {
		shown = w.Features.sights[b.sight]
	}
	worth := float64(1+2*b.brought) / (float64(1+b.used) * float64(1+shown))
	if w.Sought != nil {
		// With each change what is sought is a good deal nearer. Scores may be hundreds, so they
		// count from the best one.
		worth = math.Ldexp(worth, b.score-w.Sought.best())
	}
	switch {
	case b.left > 0 && b.faults == 0: // others begin faults there, too
		return worth / 8
	case b.left > 0:
		return worth * float64(1+b.faults)
	case b.faults > 0:
		return worth / 4
	}
	return worth
}

// best is the beginning of the pool that is worth most, and the first of these.
func (w *Novelty) best() *beginning {
	w.Features.mu.Lock()
	defer w.Features.mu.Unlock()
	first, most := w.pool[0], -1.0
	for _, b := range w.pool {
		if worth := w.expectedGain(b); worth > most {
			first, most = b, worth
		}
	}
	return first
}

// poor is one of a few of the pool, which is worth the least of them.
func (w *Novelty) poor() *beginning {
	w.Features.mu.Lock()
	defer w.Features.mu.Unlock()
	last := w.pool[w.draw.below(len(w.pool))]
	for range 7 {
		if b := w.pool[w.draw.below(len(w.pool))]; w.expectedGain(b) < w.expectedGain(last) {
			last = b
		}
	}
	return last
}

// begins implements learner.
func (w *Novelty) begins(own bool, keep int) {
	if w.now.marks == nil {
		w.now.marks = newMarks()
	}
	if w.brought = false; !own {
		w.from = nil
	}
	w.sights.cut(keep)
	w.shown.cut(keep)
}

// learn implements learner.
func (w *Novelty) learn(p *space.Path) (news bool) {
	if p.Len() == 0 {
		return false
	}
	sight, ok := w.sights.read(p, w.Features)
	score, before := 0, 0
	if w.Sought != nil {
		score, before = w.shown.read(p, w.Sought)
	}
	if nearer := score > before && w.Sought.keep(&w.shown, score); !nearer && !ok && (w.New == nil || !w.New(p)) {
		return false
	}
	if w.from != nil && !w.brought {
		w.from.brought++
	}
	w.brought = true
	b := &beginning{events: w.now.taken(p, p.Len()), node: p.Event(p.Len()).Node, sight: sight,
		score: score}
	if b.faults, b.left = faultsOf(p); b.faults > 0 {
		b.hit, b.struck = firstHit(p)
	}
	w.pool, w.bytes = append(w.pool, b), w.bytes+b.bytes()
	for w.Bytes > 0 && w.bytes > w.Bytes {
		w.forget(w.poor())
	}
	return true
}

// faultsOf is how many faults a path has, and how many its budgets leave.
func faultsOf(p *space.Path) (taken, left int) {
	budgets := p.System().Rules().Faults
	for k, n := range p.Last().State.Faults {
		taken, left = taken+int(budgets[k]-n), left+int(n)
	}
	return taken, left
}

// firstHit is the node that the first fault on a path hit, or parted from the others. Not ok: none
// did.
func firstHit(p *space.Path) (id ariadne.NodeID, ok bool) {
	for i := range p.Len() {
		e := p.Event(i + 1)
		switch k := world.KindOf(e.Kind); {
		case k.Fault != "" && e.PartsOff() != nil:
			return e.PartsOff()[0], true
		case k.Fault != "" && !k.World && !k.Messages, e.Disturbed():
			return e.Node, true
		}
	}
	return 0, false
}

// forget takes a beginning out of the pool.
func (w *Novelty) forget(b *beginning) {
	last := len(w.pool) - 1
	for i := range w.pool {
		if w.pool[i] == b {
			w.pool[i], w.pool[last] = w.pool[last], nil
			break
		}
	}
	w.pool, w.bytes = w.pool[:last], w.bytes-b.bytes()
}

// Next implements Explorer.
func (w *Novelty) Next(p *space.Path) (event int, ok bool) {
	if event, ok = w.now.next(p); ok {
		return event, true
	}
	if w.slow {
		event, _ = w.holds.first(p)
		return w.temper.chance.vary(p, event, true), true
	}
	return w.temper.pick(&w.Weights, p), true
}

// End implements Explorer.
func (*Novelty) End(*space.Path, End) error { return nil }
