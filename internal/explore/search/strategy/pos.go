package strategy

import (
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

func init() {
	register(Row{Name: "pos", Parts: guided, Doc: "random paths by partial order sampling: each event has a random priority, drawn again when it loses a race",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer {
				return &Sampling{Seed: seed, Features: b.shared(), Index: b.From}
			})
		}})
}

// Sampling are random walks in which each event has a random priority, not each connection
// as in Priorities. The event of the highest one is taken; those that it raced with, which
// happen at the same node, draw again, so that the order of two events does not decide on
// the next (partial order sampling by Yuan, Yang and Gu, 2018). Orders that differ in
// independent events only are thus not what most paths are spent on.
//
// As with Priorities, the first path is natural, and one that is twice as long goes on
// naturally.
type Sampling struct {
	Seed     uint64
	Index    int       // of the next walk
	Features *Features // or nil

	salt   uint64 // of the priorities of the walk
	length int    // of the natural path; 0: it is the first
	lost   map[hash.Hash]uint64
	chance chance
	late   patience
}

// Begin implements Explorer.
func (w *Sampling) Begin(p *space.Path) (keep int, ok bool) {
	d := newDraw(w.Seed, w.Index)
	w.chance.begin(p.System().Within(),
		origin{seed: w.Seed, index: w.Index, length: w.length, weights: &unweighted, features: w.Features})
	w.late.begin(w.Seed, w.Index)
	w.Index++
	w.salt, w.lost = d.next(), map[hash.Hash]uint64{}
	return 0, true
}

// Next implements Explorer.
func (w *Sampling) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	if p.Len() >= 2*w.length {
		if w.length > 0 {
			w.chance.choose(p)
		}
		return 0, true
	}
	most := uint64(0)
	for i := range f.Plain {
		if v := w.priority(&f.Enabled[i]); v > most {
			event, most = i, v
		}
	}
	event = w.late.limit(f, event)
	taken := &f.Enabled[event]
	for i := range f.Plain {
		if e := &f.Enabled[i]; i != event && e.Node == taken.Node {
			w.lost[identity(e)]++
		}
	}
	return w.chance.vary(p, event, true), true
}

// priority of an event, never 0.
func (w *Sampling) priority(e *world.Event) uint64 {
	id := identity(e)
	return hash.Of(w.salt, w.lost[id], 0).Plus(id).Lo | 1
}

// identity names an event of a path as long as it is possible.
func identity(e *world.Event) hash.Hash {
	h := hash.Of(uint64(e.Node), uint64(e.Kind), 0)
	if e.Packet != nil {
		return h.Plus(hash.Of(e.Packet.Chain(), uint64(e.Packet.Seq), 0))
	}
	return h.Plus(hash.Of(0, 0, uint64(e.At)))
}

// End implements Explorer.
func (w *Sampling) End(p *space.Path, _ End) error {
	if w.length == 0 {
		w.length = max(p.Len(), 10)
	}
	return nil
}
