package strategy

import (
	"ariadne/internal/space"
	"ariadne/internal/world"
)

func init() {
	register(Row{Name: "slow", Doc: "natural paths on which something is slow for a while",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer { return &Slow{Seed: seed, Index: b.From} })
		}})
}

// Slow are paths that follow the natural schedule, except that a few times some messages are
// slow for a while: those of one direction of a connection, one message alone, all between two
// nodes, or all to a node. What is natural goes on meanwhile. That is what most often goes
// wrong in a network, and step by step it takes a deviation for each event that goes first
// (compare Emmi et al., Delay-bounded scheduling, 2011). The first path is natural, and says
// how long they are.
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
	by          func(p *world.Packet) uint64
	what        uint64 // what by says of it; 0: nothing
}

// holders name what a message belongs to. A direction of a connection is twice as likely.
var holders = []func(p *world.Packet) uint64{
	(*world.Packet).Chain,
	(*world.Packet).Chain,
	func(p *world.Packet) uint64 { return world.HashOf(p.Chain(), uint64(p.Seq), 0).Lo },
	func(p *world.Packet) uint64 { return uint64(min(p.From, p.To))<<32 | uint64(max(p.From, p.To)) + 1 },
	func(p *world.Packet) uint64 { return uint64(p.To) + 1 },
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
		h := hold{from: s.draw.below(s.length), steps: 1 << s.draw.below(7), by: holders[s.draw.below(len(holders))]}
		h.steps += s.draw.below(h.steps)
		s.holds = append(s.holds, h)
	}
	return 0, true
}

// Next implements Explorer.
func (s *Slow) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	for i := range s.holds {
		if h := &s.holds[i]; h.from == p.Len() {
			if e := s.message(f); e != nil {
				h.what = h.by(e.Packet)
			}
		}
	}
	for i := range f.Plain {
		if !s.held(p.Len(), &f.Enabled[i]) {
			return i, true
		}
	}
	return 0, true
}

// message draws one of the messages that may arrive next, or nil.
func (s *Slow) message(f *space.Frame) *world.Event {
	var drawn *world.Event
	n := 0
	for i := range f.Plain {
		if e := &f.Enabled[i]; e.Packet != nil {
			if n++; s.draw.below(n) == 0 {
				drawn = e
			}
		}
	}
	return drawn
}

func (s *Slow) held(step int, e *world.Event) bool {
	if e.Packet == nil {
		return false
	}
	for i := range s.holds {
		if h := &s.holds[i]; h.what != 0 && h.from <= step && step < h.from+h.steps && h.by(e.Packet) == h.what {
			return true
		}
	}
	return false
}

// End implements Explorer.
func (s *Slow) End(p *space.Path, _ End) error {
	if s.length == 0 {
		s.length = max(p.Len(), 10)
	}
	return nil
}
