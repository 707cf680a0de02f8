package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

func init() {
	register(Row{Name: "slow", Parts: guided, Doc: "natural paths on which some messages are slow for a while, with faults on some paths",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer {
				return &Slow{Seed: seed, Features: b.shared(), Index: b.From}
			})
		}})
}

// Slow are paths that follow the natural schedule, except that a few times some messages are slow
// for a while: those of one direction of a connection, one message alone, all between two nodes, or
// all to a node. On half of the paths these are directions of connections from their first message
// on, rather early ones, which get through at the same time: as when a link comes up late, and what
// others have tried meanwhile arrives at once. On half of these clients come late, too, and half
// end when a node has just sent something of its own accord, which answers that were late then
// meet. Natural events continue meanwhile. That is what most often goes wrong in a network, and
// step by step it takes a deviation for each event that goes first (compare Emmi et al.,
// Delay-bounded scheduling, 2011). Faults for which there is a budget come besides, in some of the
// paths. The first path is natural, and says how long they are.
type Slow struct {
	Seed     uint64
	Index    int       // of the next path
	Features *Features // or nil

	draw   draw
	holds  []hold
	faults []fault
	chance chance
	late   patience
	length int             // of the natural path; 0: it is the first
	chains map[uint64]bool // directions of connections and the like that the path has had
	most   int             // as many as a path had
	until  int             // step up to which those are held that begin so
	// Or up to the step behind the waking-th in which a node sends something of its own accord,
	// since its timer has expired (0: not so). woke is how many there were on the path, natural how
	// many on the natural one.
	waking, woke, natural int
}

// hastyTogether: of the paths on which connections come up late together, one in so many has no
// message late by a second.
const hastyTogether = 8

// forever is more steps than a path has.
const forever = 1 << 40

// maxFaults is how many of a kind happen in a path, at most.
const maxFaults = 3

// hold is what is slow, and from which step on for how many.
type hold struct {
	from, steps int
	by          func(p *world.Packet) uint64
	what        uint64 // what by says of it; 0: nothing
	nth         int    // it begins with the n-th direction of a connection, from 1; 0: at step from
	together    bool   // it ends when others do (Slow.until)
}

// fault is a fault that is yet to happen: the first of its kind that can from a step on.
type fault struct {
	kind ariadne.ActionKind
	from int
}

// holders name what a message belongs to. A direction of a connection is twice as likely.
var holders = []func(p *world.Packet) uint64{
	(*world.Packet).Chain,
	(*world.Packet).Chain,
	func(p *world.Packet) uint64 { return hash.Of(p.Chain(), uint64(p.Seq), 0).Lo },
	func(p *world.Packet) uint64 { return uint64(min(p.From, p.To))<<32 | uint64(max(p.From, p.To)) + 1 },
	func(p *world.Packet) uint64 { return uint64(p.To) + 1 },
}

// Begin implements Explorer.
func (s *Slow) Begin(p *space.Path) (keep int, ok bool) {
	s.draw, s.chance, s.chains = newDraw(s.Seed, s.Index), s.chance.withoutPath(), map[uint64]bool{}
	index := s.Index
	s.late.begin(s.Seed, index)
	s.Index++
	s.holds, s.faults = s.holds[:0], s.faults[:0]
	if s.length == 0 {
		return 0, true
	}
	s.until, s.waking, s.woke = s.draw.below(2*s.length), 0, 0
	together := s.most > 0 && s.draw.below(2) == 0
	if together { // what waits for elections waits for longer than one of them takes
		s.late.beginOneIn(hastyTogether, s.Seed, index)
		if s.natural > 0 && s.draw.below(2) == 0 {
			s.until, s.waking = forever, 1+s.draw.below(2*s.natural)
		}
	}
	n := 1 + s.draw.below(3)
	if together {
		n = 2 + s.draw.below(2)
	}
	for range n {
		if together {
			s.holds = append(s.holds,
				hold{nth: 1 + s.draw.below(1+s.draw.below(s.most)), by: (*world.Packet).Chain, together: true})
		} else {
			s.holds = append(s.holds, s.hold())
		}
	}
	if together && s.draw.below(2) == 0 {
		s.holds = append(s.holds, hold{steps: s.until, by: fromClients(p.System()), what: 1, together: true})
	}
	s.chance.begin(p.System().Within(),
		origin{seed: s.Seed, index: s.Index, length: s.length, weights: &unweighted, features: s.Features})
	budgets := p.System().Rules().Faults
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); kind.Fault == "" || kind.Enabled == nil || kind.Untimed || budgets[k] == 0 {
			continue
		}
		for range s.draw.below(1 + min(int(budgets[k]), maxFaults)) {
			s.faults = append(s.faults, fault{kind: k, from: s.draw.below(s.length)})
		}
	}
	return 0, true
}

// hold draws one.
func (s *Slow) hold() hold {
	h := hold{from: s.draw.below(s.length), steps: 1 << s.draw.below(7), by: holders[s.draw.below(len(holders))]}
	h.steps += s.draw.below(h.steps)
	return h
}

// wakes counts the last step if a node has sent something in it because its timer has expired, and
// ends what is held up to such a step.
func (s *Slow) wakes(p *space.Path) {
	at := p.Len()
	if at == 0 || p.Event(at).Kind != ariadne.ActFire {
		return
	}
	// as when TCP sends something once more
	if by := p.Last().By; len(by.Effect.Packets) == 0 || by.Output.Calls == 0 {
		return
	}
	if s.woke++; s.woke == s.waking {
		s.until = p.Len()
		for i := range s.holds {
			if h := &s.holds[i]; h.together {
				h.steps = max(p.Len()-h.from, 0)
			}
		}
	}
}

// fromClients is 1 of a message that a client sends.
func fromClients(y *world.System) func(p *world.Packet) uint64 {
	nodes := y.Nodes()
	return func(p *world.Packet) uint64 {
		if nodes[p.From].Client {
			return 1
		}
		return 0
	}
}

// begins has holds begin with the directions of connections that a frame is the first to have.
func (s *Slow) begins(step int, f *space.Frame) {
	for i := range f.Plain {
		p := f.Enabled[i].Packet
		if p == nil || s.chains[p.Chain()] {
			continue
		}
		s.chains[p.Chain()] = true
		s.most = max(s.most, len(s.chains))
		for j := range s.holds {
			if h := &s.holds[j]; h.nth == len(s.chains) {
				h.from, h.steps, h.what = step, max(s.until-step, 0), p.Chain()
			}
		}
	}
}

// Next implements Explorer.
func (s *Slow) Next(p *space.Path) (event int, ok bool) {
	event, fault := s.first(p)
	if fault {
		return event, true
	}
	return s.chance.vary(p, event, true), true
}

// first is the first event that nothing holds back, or one of its faults.
func (s *Slow) first(p *space.Path) (event int, fault bool) {
	f := p.Last()
	s.wakes(p)
	s.begins(p.Len(), f)
	for i := range s.holds {
		if h := &s.holds[i]; h.nth == 0 && !h.together && h.from == p.Len() {
			if e := s.message(f); e != nil {
				h.what = h.by(e.Packet)
			}
		}
	}
	if i, ok := s.fault(p); ok {
		return i, true
	}
	for i := range f.Plain {
		if !s.held(p.Len(), &f.Enabled[i]) {
			return s.late.limit(f, i), false
		}
	}
	return 0, false
}

// beginBehind begins the holds of another explorer's path, behind so many of its steps.
func (s *Slow) beginBehind(seed uint64, index, from int) {
	s.draw, s.chains = newDraw(seed^0x736c_6f77, index), map[uint64]bool{}
	s.late.begin(seed, index)
	s.holds, s.faults = s.holds[:0], s.faults[:0]
	for range 1 + s.draw.below(2) {
		h := hold{from: from + s.draw.below(1<<s.draw.below(holdOrders)), steps: 1 << s.draw.below(7),
			by: holders[s.draw.below(len(holders))]}
		h.steps += s.draw.below(h.steps)
		s.holds = append(s.holds, h)
	}
}

// fault draws one of the faults that can happen now, if there is to be one.
func (s *Slow) fault(p *space.Path) (event int, ok bool) {
	f := p.Last()
	for j, d := range s.faults {
		if d.from > p.Len() {
			continue
		}
		n := 0
		for i := range f.Plain {
			if f.Enabled[i].Kind == d.kind {
				if n++; s.draw.below(n) == 0 {
					event, ok = i, true
				}
			}
		}
		if ok {
			s.faults = slices.Delete(s.faults, j, j+1)
			return event, true
		}
	}
	return 0, false
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
		s.length, s.natural = max(p.Len(), 10), s.woke
	}
	return nil
}
