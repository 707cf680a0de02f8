package space

import (
	"math/bits"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Sample bounds what it costs to try steps at other times: a search executes as many transitions
// for that as a share of all, and a few more at its beginning. Behind these it tries the first step
// of a kind, and then the second, the fourth, the eighth and so on. Steps are of one kind when
// nodes do the same with messages that read the same, with numbers left out.
//
// Once it was decided whether a step is tried, that holds for the whole search: what may happen
// next is a function of the state.
type Sample struct {
	// Made is how many transitions were executed so far, those at other times included. Forgot
	// reports whether some of them are remembered no more.
	Made   func() int
	Forgot func() bool

	mu    sync.Mutex
	met   map[hash.Hash]int
	tries int
	// turns are the times that were found, by state and input: a transition may be forgotten.
	turns map[hash.Hash]*[]ariadne.Time
}

const (
	// sampleFirst is how many times may be tried before anything else was executed.
	sampleFirst = 120
	// sampleShare: behind these, one transition in so many may be one at another time.
	sampleShare = 12
	// sampleKinds bounds the memory that kinds take.
	sampleKinds = 1 << 18
)

// untried is what a transition has for its turns that is not tried at other times.
var untried = []ariadne.Time{}

// Probed reports whether a transition was tried at other times.
func Probed(t *memo.Transition) bool { return t.Turns.Load() != nil && t.Turns.Load() != &untried }

// wants reports whether a step is to be tried, and whether at times in between too, as the first of
// its kind is.
func (s *Sample) wants(t *memo.Transition) (wants, spreads bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tries >= sampleFirst+s.Made()/sampleShare || s.Forgot() {
		return false, false
	}
	kind := kindOf(t)
	n := s.met[kind] + 1
	if s.met == nil {
		s.met = map[hash.Hash]int{}
	}
	if n > 1 || len(s.met) < sampleKinds {
		s.met[kind] = n
	}
	spreads = n == 1 || s.tries < sampleFirst*3/4
	return spreads || bits.OnesCount(uint(n)) == 1, spreads
}

// spend counts a transition that was executed for a time.
func (s *Sample) spend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries++
}

// keep keeps what was found, and found is that.
func (s *Sample) keep(t *memo.Transition, turns *[]ariadne.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == nil {
		s.turns = map[hash.Hash]*[]ariadne.Time{}
	}
	s.turns[placeOf(t)] = turns
}

func (s *Sample) found(t *memo.Transition) *[]ariadne.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.turns[placeOf(t)]
}

// placeOf is the state and the input of a transition.
func placeOf(t *memo.Transition) hash.Hash {
	return hash.OfText(string(t.From.Name[:])).Plus(t.Input.Key())
}

// kindOf is which kind of step a transition is.
func kindOf(t *memo.Transition) hash.Hash {
	h := hash.Of(uint64(t.From.Node), uint64(t.Input.Kind), 0)
	if p := t.Input.Packet; p != nil {
		h = h.Plus(hash.OfText(maskedBeginning(p)))
	}
	for i, part := range visibleParts(&t.Output) {
		h = h.Plus(hash.OfText(part.masked).Plus(hash.Of(uint64(i), 0, 1)))
	}
	return h
}

// kindBytes is how many bytes of a message tell kinds apart.
const kindBytes = 64

func maskedBeginning(p *world.Packet) string {
	return p.Flow.Proto.String() + " " + Masked(string(p.Data[:min(len(p.Data), kindBytes)]))
}
