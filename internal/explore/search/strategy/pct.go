package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

func init() {
	register(Row{Name: "priorities", Parts: guided, Doc: "random paths by random priorities",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer {
				return &Priorities{Seed: seed, Features: b.shared(), Index: b.From}
			})
		}})
}

// Priorities are random walks in which the choice is not made step by step: every
// connection's direction, every node's datagrams and every node's timer gets a random
// priority, the event of the highest one is taken, and at a few random steps the one
// that was taken last falls below all others (PCT by Burckhardt et al., 2010, and
// for messages Ozkan et al., 2018). A bug that needs the order of d events is found
// with a probability that depends on d and on the length, not on the number of
// orders; a message can be kept waiting for long, which step by step is unlikely.
//
// The first path is natural, and says how long they are. One that is twice as long goes on
// naturally: with a timer that fires again and again, what waits would wait up to the limit
// of time, and not much would be seen in a thousand steps.
type Priorities struct {
	Seed     uint64
	Changes  int       // steps at which a priority changes; 0: 2
	Index    int       // of the next walk
	Features *Features // or nil

	draw   draw
	chance chance
	late   patience
	salt   uint64            // of the priorities of the walk
	length int               // of the natural path; 0: it is the first
	at     []int             // steps of the changes
	low    map[uint64]uint64 // by chain: what its priority fell to
}

// Begin implements Explorer.
func (w *Priorities) Begin(p *space.Path) (keep int, ok bool) {
	w.draw = newDraw(w.Seed, w.Index)
	w.chance.begin(p.System().Within(),
		origin{seed: w.Seed, index: w.Index, length: w.length, weights: &unweighted, features: w.Features})
	w.late.begin(w.Seed, w.Index)
	w.Index++
	changes := w.Changes
	if changes == 0 {
		changes = 2
	}
	w.at, w.low = w.at[:0], map[uint64]uint64{}
	for range changes {
		w.at = append(w.at, w.draw.below(max(w.length, 1)))
	}
	w.salt = w.draw.next()
	return 0, true
}

// Next implements Explorer.
func (w *Priorities) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	if p.Len() >= 2*w.length {
		if w.length > 0 {
			w.chance.choose(p)
		}
		return 0, true
	}
	if slices.Contains(w.at, p.Len()) {
		// Those that fell later lie lower.
		w.low[chain(&f.Enabled[w.highest(f)])] = uint64(len(w.at)+1) - uint64(len(w.low))
	}
	return w.chance.vary(p, w.late.limit(f, w.highest(f)), true), true
}

func (w *Priorities) highest(f *space.Frame) int {
	best, most := 0, uint64(0)
	for i := range f.Plain {
		if v := w.priority(chain(&f.Enabled[i])); v > most {
			best, most = i, v
		}
	}
	return best
}

// priority of a chain: random, and far above what it may fall to.
func (w *Priorities) priority(chain uint64) uint64 {
	if v, ok := w.low[chain]; ok {
		return v
	}
	return hash.Of(w.salt, chain, 0).Lo | 1<<63
}

// chain names what an event is ordered with anyway.
func chain(e *world.Event) uint64 {
	switch {
	case world.KindOf(e.Kind).Fault != "": // each one is a choice of its own
		h := hash.Of(uint64(e.Node), uint64(e.Kind), uint64(e.At))
		if e.Packet != nil {
			h = h.Plus(hash.Of(e.Packet.Chain(), uint64(e.Packet.Seq), 0))
		}
		return h.Lo
	case e.Packet != nil && e.Packet.Flow.Proto == ariadne.TCP:
		return e.Packet.Chain()
	case e.Packet != nil: // datagrams and events of programs come in any order
		return hash.Of(e.Packet.Chain(), uint64(e.Packet.Seq), 0).Lo
	}
	return uint64(e.Node)*world.MaxKinds + uint64(e.Kind)
}

// End implements Explorer.
func (w *Priorities) End(p *space.Path, _ End) error {
	if w.length == 0 {
		w.length = max(p.Len(), 10)
	}
	return nil
}
