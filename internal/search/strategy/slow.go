package strategy

import (
	"ariadne"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// Slow are paths that follow the natural schedule, except that a few times something is
// slow for a while: one direction of a connection, one message, or all that comes to a
// node. What is natural goes on meanwhile. That is what most often goes wrong in a network, and
// step by step it takes a deviation for each event that goes first (compare Emmi et al.,
// Delay-bounded scheduling, 2011). The first path is natural, and says how long they are.
type Slow struct {
	Seed  uint64
	Index int // of the next path

	draw   draw
	holds  []hold
	length int // of the natural path; 0: it is the first
}

// hold is what is slow, and from which step on for how many.
type hold struct {
	from, steps int
	what        uint64 // what identify says of it
	by          func(e *world.Event) uint64
}

// Begin implements Explorer.
func (s *Slow) Begin(*space.Path) (keep int, ok bool) {
	s.draw = newDraw(s.Seed, s.Index)
	s.Index++
	s.holds = s.holds[:0]
	if s.length == 0 {
		return 0, true
	}
	for range 1 + s.draw.below(3) {
		h := hold{from: s.draw.below(s.length), steps: 1 << s.draw.below(7), by: chain}
		h.steps += s.draw.below(h.steps)
		switch s.draw.below(4) {
		case 0:
			h.by = single
		case 1:
			h.by = receiver
		}
		s.holds = append(s.holds, h)
	}
	return 0, true
}

// Next implements Explorer.
func (s *Slow) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	for i := range s.holds {
		if h := &s.holds[i]; h.from == p.Len() {
			h.what = h.by(&f.Enabled[s.draw.below(len(f.Enabled))])
		}
	}
	for i := range f.Enabled {
		if !s.held(p.Len(), &f.Enabled[i]) {
			return i, true
		}
	}
	return 0, true
}

func (s *Slow) held(step int, e *world.Event) bool {
	for i := range s.holds {
		if h := &s.holds[i]; h.from <= step && step < h.from+h.steps && h.by(e) == h.what {
			return true
		}
	}
	return false
}

// single names a message.
func single(e *world.Event) uint64 {
	if e.Kind == ariadne.ActDeliver {
		return world.HashOf(e.Packet.Chain(), uint64(e.Packet.Seq), 0).Lo
	}
	return chain(e)
}

// receiver names where an event happens.
func receiver(e *world.Event) uint64 { return uint64(e.Node) }

// End implements Explorer.
func (s *Slow) End(p *space.Path, _ End) error {
	if s.length == 0 {
		s.length = max(p.Len(), 10)
	}
	return nil
}
