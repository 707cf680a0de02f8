package space

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Set is a set of hashes, for any number of goroutines. That of a state needs no
// depth beside it: local states are named by all that led to them, so the number of
// steps is part of the state.
type Set struct {
	// Bytes is about how much memory it may take; 0: no bound. It is not to be
	// changed once something was added. A set of 1 byte keeps nothing.
	Bytes int64

	rests   sync.Map // by hash
	full    atomic.Bool
	stripes [stripes]stripe
}

// AddRest enters a path that has come to rest, and reports whether it is the first time. Such are
// few, and no states.
func (s *Set) AddRest(path hash.Hash) (first bool) {
	_, known := s.rests.LoadOrStore(path, true)
	return !known
}

// stripes is how many parts have locks of their own.
const stripes = 64

type stripe struct {
	// slots are at most three quarters full; those that are zero are free. Nothing is ever
	// taken out, and of a hash Lo is entered first: who reads one has found it for good, and needs
	// no lock. shared is the same for who has none.
	slots  []hash.Hash
	shared atomic.Pointer[[]hash.Hash]

	mu    sync.Mutex // of who enters
	noted []uint64   // a bit for each slot: New has yet to tell of it; nil without Note
	n     int
	sum   hash.Hash
	_     [64]byte // nobody else's cache line
}

// hashBytes is what a hash takes, and leastBytes a set below which none fits.
const (
	hashBytes  = 16
	leastBytes = stripes * leastSlots * hashBytes
	leastSlots = 8 // of a stripe
)

// Len is the number of different hashes.
func (s *Set) Len() int {
	n := 0
	for i := range s.stripes {
		p := &s.stripes[i]
		p.mu.Lock()
		n += p.n
		p.mu.Unlock()
	}
	return n
}

// Digest stands for what is in the set, in whatever order it was entered.
func (s *Set) Digest() hash.Hash {
	var sum hash.Hash
	for i := range s.stripes {
		p := &s.stripes[i]
		p.mu.Lock()
		sum.Hi, sum.Lo = sum.Hi+p.sum.Hi, sum.Lo+p.sum.Lo
		p.mu.Unlock()
	}
	return sum
}

// KeepsNothing: it has no room for any hash.
func (s *Set) KeepsNothing() bool { return s.Bytes > 0 && s.Bytes < leastBytes }

// noteFull notes that a hash could not be entered. Where nothing fits each step comes here.
func (s *Set) noteFull() {
	if !s.full.Load() {
		s.full.Store(true)
	}
}

// Full reports whether a hash could not be entered for lack of memory.
func (s *Set) Full() bool { return s.full.Load() }

// Add enters a hash; fresh when it was not there. The hash that is zero, which is as
// likely as any other, is never there; nor is one for which there was no room.
func (s *Set) Add(h hash.Hash) (fresh bool) {
	if s.KeepsNothing() {
		s.noteFull()
		return true
	}
	p := &s.stripes[h.Hi>>(64-6)]
	if p.has(h) { // as nearly always where much is remembered
		return false
	}
	p.mu.Lock() // each step comes here: a deferred call would show
	fresh = p.add(s, h)
	p.mu.Unlock()
	return fresh
}

// has reports whether a hash is there, without a lock: it may miss one that was just entered.
func (p *stripe) has(h hash.Hash) bool {
	shared := p.shared.Load()
	if shared == nil {
		return false
	}
	slots := *shared
	for i := homeSlot(h, slots); ; i++ {
		if i == len(slots) {
			i = 0
		}
		switch hi := atomic.LoadUint64(&slots[i].Hi); {
		case hi == 0:
			return false
		case hi == h.Hi && atomic.LoadUint64(&slots[i].Lo) == h.Lo:
			return true
		}
	}
}

// add is Add, with p.mu held.
func (p *stripe) add(s *Set, h hash.Hash) (fresh bool) {
	if p.n*4 >= len(p.slots)*3 && !p.grow(s.Bytes) {
		s.noteFull()
		return len(p.slots) == 0 || p.slots[p.find(h)] != h
	}
	i := p.find(h)
	if p.slots[i] == h {
		return h == hash.Hash{}
	}
	atomic.StoreUint64(&p.slots[i].Lo, h.Lo)
	atomic.StoreUint64(&p.slots[i].Hi, h.Hi)
	if p.noted != nil {
		p.noted[i/64] |= 1 << (i % 64)
	}
	p.n++
	p.sum.Hi, p.sum.Lo = p.sum.Hi+h.Hi, p.sum.Lo+h.Lo
	return true
}

// Has reports whether a hash is there.
func (s *Set) Has(h hash.Hash) bool {
	p := &s.stripes[h.Hi>>(64-6)]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.n > 0 && h != hash.Hash{} && p.slots[p.find(h)] == h
}

// find returns the index of h, or of the free slot where it belongs.
func (p *stripe) find(h hash.Hash) int {
	for i := homeSlot(h, p.slots); ; i++ {
		if i == len(p.slots) {
			i = 0
		}
		if e := &p.slots[i]; *e == h || *e == (hash.Hash{}) {
			return i
		}
	}
}

// homeSlot is where a hash belongs, if nothing else is there.
func homeSlot(h hash.Hash, slots []hash.Hash) int {
	at, _ := bits.Mul64(h.Lo, uint64(len(slots)))
	return int(at)
}

// grow makes room, if the set may take so much memory (0: no bound). While it moves,
// the old slots are there too, which is allowed for.
func (p *stripe) grow(bytes int64) bool {
	n := max(leastSlots, 2*len(p.slots))
	if most := int(bytes / stripes / hashBytes); bytes > 0 && n+len(p.slots) > most {
		if n = most - len(p.slots); n < len(p.slots)+len(p.slots)/4 || n < leastSlots {
			return false
		}
	}
	old, noted := p.slots, p.noted
	p.slots = make([]hash.Hash, n)
	if noted != nil {
		p.noted = make([]uint64, (n+63)/64)
	}
	for i, h := range old {
		if h == (hash.Hash{}) {
			continue
		}
		at := p.find(h)
		p.slots[at] = h
		if noted != nil {
			p.noted[at/64] |= noted[i/64] >> (i % 64) & 1 << (at % 64)
		}
	}
	slots := p.slots
	p.shared.Store(&slots)
	return true
}

// TrackNew lets New tell of what is entered from now on. It is called before the set is
// shared.
func (s *Set) TrackNew() {
	for i := range s.stripes {
		p := &s.stripes[i]
		p.noted = make([]uint64, (len(p.slots)+63)/64)
	}
}

// newAtOnce is how many hashes New tells of at once, at most.
const newAtOnce = 4096

// TakeNew tells f of all that was entered after Note, before New, and that no earlier
// call has told of; and of some that is entered meanwhile. Others can use the set
// while f runs. Calls may not overlap. After an error of f's, which ends it, nothing is
// certain about what was told.
//
// The hashes come from all over the table. A caller that enters them into another set in the order
// of their slots fills that set from one end. It then looks through all entries there for each
// hash.
func (s *Set) TakeNew(f func([]hash.Hash) error) error {
	all := make([]hash.Hash, 0, newAtOnce)
	tell := func() error {
		if len(all) == 0 {
			return nil
		}
		err := f(all)
		all = all[:0]
		return err
	}
	for i := range s.stripes {
		p := &s.stripes[i]
		for size, words, stride := 0, 0, 0; ; {
			p.mu.Lock()
			if len(p.slots) != size { // all of it lies elsewhere now
				size, words, stride = len(p.slots), 0, strideOf(len(p.noted))
			}
			for ; words < len(p.noted) && len(all) <= newAtOnce-64; words++ {
				at := words * stride % len(p.noted)
				for w := p.noted[at]; w != 0; w &= w - 1 {
					all = append(all, p.slots[at*64+bits.TrailingZeros64(w)])
				}
				p.noted[at] = 0
			}
			done := words == len(p.noted)
			p.mu.Unlock()
			if done {
				break
			}
			if err := tell(); err != nil {
				return err
			}
		}
	}
	return tell()
}

// strideOf is a step by which one comes to each of n places, and soon everywhere.
func strideOf(n int) int {
	gcd := func(a, b int) int {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	stride := n*5/8 + 1
	for gcd(stride, n) > 1 {
		stride++
	}
	return stride
}

// All calls f for each hash, in no order that means anything but always the same
// for the same hashes entered in the same order.
func (s *Set) All(f func(hash.Hash)) {
	for i := range s.stripes {
		p := &s.stripes[i]
		p.mu.Lock()
		for _, h := range p.slots {
			if h != (hash.Hash{}) {
				f(h)
			}
		}
		p.mu.Unlock()
	}
}
