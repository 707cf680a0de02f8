package space

import (
	"math/bits"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Sample bounds what it costs to try messages at other times. A search executes a share of all
// transitions for that. At its beginning it may execute more, until a few have found nothing: what
// is small is explored with few transitions. Behind that it tries the first message of a kind, and
// then the second, the fourth, the eighth and so on.
//
// Once it was decided whether a message is tried in a state, that holds for the whole search: what
// may happen next is a function of the state.
type Sample struct {
	// Made is how many transitions were executed so far, those at other times included.
	Made func() int

	mu  sync.RWMutex
	met map[hash.Hash]int // messages by their kind
	// executed are all transitions that were executed for this, and vain those that found nothing.
	executed, vain int
	decided        map[hash.Hash]decision // by keyOf
	turning        []Turning
}

// Turning is how much later than at its time a message of a kind comes when its node does something
// else with it, or just before that.
type Turning struct {
	Kind hash.Hash
	Late ariadne.Time
}

// sampleTurning bounds how many are kept.
const sampleTurning = 1024

// Turning returns those that were found, but for the first n.
func (s *Sample) Turning(n int) []Turning {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.turning[n:]
}

const (
	// sampleFirst is how many may be executed in vain before anything else was executed, and
	// sampleMost how many in all.
	sampleFirst = 200
	sampleMost  = 400
	// sampleShare: one transition in so many may be one at another time. For each a node goes back,
	// so it takes as long as several others.
	sampleShare = 64
	// sampleShareNew is the share as long as there are messages of a kind that was not tried yet.
	sampleShareNew = 16
	// sampleDecisions bounds the memory that decisions take: behind these nothing more is tried.
	sampleDecisions = 1 << 19
)

// decision is what was decided of a message in a state of its node.
type decision struct {
	try     bool
	spreads bool           // also at times in between
	again   bool           // and where nothing differs, it comes once more
	turns   []ariadne.Time // that were found; nil: they were not looked for yet
}

// decide decides whether the message of a delivery is tried, or returns what was decided before.
func (s *Sample) decide(key hash.Hash, e *world.Event) (d decision) {
	s.mu.RLock()
	d, ok := s.decided[key]
	ok = ok || len(s.decided) >= sampleDecisions
	s.mu.RUnlock()
	if ok {
		return d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d, ok = s.decided[key]; ok { // another worker was faster
		return d
	}
	beginning := s.vain < sampleFirst && s.executed < sampleMost
	share := sampleShare
	if s.met[kindOf(e)] == 0 {
		share = sampleShareNew
	}
	if beginning || s.executed < s.Made()/share {
		n := s.count(e)
		d.try, d.spreads, d.again = beginning || bits.OnesCount(uint(n)) == 1, beginning || n == 1, n == 1
		if e.Packet != nil && len(e.Packet.Data) == 0 {
			d.spreads = false
		}
	}
	if s.decided == nil {
		s.decided = map[hash.Hash]decision{}
	}
	s.decided[key] = d
	return d
}

// count counts a message, and returns the how many-th of its kind it is.
func (s *Sample) count(e *world.Event) int {
	if s.met == nil {
		s.met = map[hash.Hash]int{}
	}
	kind := kindOf(e)
	s.met[kind]++
	return s.met[kind]
}

// enter enters the turns that were found for an event, and how many transitions were executed for
// that.
func (s *Sample) enter(key hash.Hash, e *world.Event, turns []ariadne.Time, executed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range turns {
		if e.Packet != nil && at > e.At && len(s.turning) < sampleTurning {
			s.turning = append(s.turning, Turning{KindOf(e.Packet), at - e.At})
		}
	}
	s.executed += executed
	if len(turns) == 0 {
		s.vain += executed
		turns = []ariadne.Time{}
	}
	s.decided[key] = decision{try: true, turns: turns}
}

// Probed reports whether a transition was tried at other times.
func Probed(t *memo.Transition) bool { return t.Turns.Load() != nil }

// keyOf stands for the local state of an event's node, and for the message or the timer.
func keyOf(s *State, e *world.Event) hash.Hash {
	kind := ariadne.Deliver
	if e.Packet == nil {
		kind = ariadne.Fire
	}
	return s.Locals[e.Node].Key().Plus(world.Input{Kind: kind, Packet: e.Packet, At: e.At}.Key())
}

// kindOf is which kind of message a delivery is of. All timers of a node are of one kind.
func kindOf(e *world.Event) hash.Hash {
	if e.Packet == nil {
		return hash.Of(uint64(e.Node), uint64(e.Kind), 0)
	}
	return KindOf(e.Packet)
}

// KindOf is which kind a message is of: those to a node that read the same, with numbers left out.
// Binary data reads like others of about its length.
func KindOf(p *world.Packet) hash.Hash {
	data := p.Data[:min(len(p.Data), kindBytes)]
	h := hash.Of(uint64(p.To), uint64(bits.Len(uint(len(p.Data)))),
		uint64(p.Flags)).Plus(hash.OfText(p.Flow.Proto.String()))
	for _, b := range data {
		if b >= 0x7f || b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != 0 {
			return h
		}
	}
	return h.Plus(hash.OfText(Masked(string(data))))
}

// kindBytes is how many bytes of a message tell kinds apart.
const kindBytes = 64
