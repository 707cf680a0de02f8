package strategy

import (
	"math/bits"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
)

// Features are what all workers of a search have met. The zero value has met nothing.
type Features struct {
	mu sync.Mutex
	features
	shown  map[uint64]int // how many transitions have each feature (Show)
	sights map[uint64]int // how many paths have shown each
	// of losses of power, those that were drawn, a bit for each (chance.Image)
	images  map[uint64][]uint64
	words   int            // in images
	taken   map[uint64]int // how often each choice in a step was taken (chance.tired)
	sites   sites
	without Without
}

// features count what nodes do in steps, in kinds that are few enough to be met again: the lines
// that they write, the messages that they send, the calls by which they change files or could go
// otherwise, how their processes end, and which values they expose. Numbers are left out, but for
// those of exposed values as long as there are few.
type features struct {
	met map[uint64]int // how often
	// of messages, by where they go and how long they are, and of exposed values, by their names
	kinds map[uint64]map[uint64]bool
}

const (
	// maxFeatures is how many are counted. Of further ones each time is the second.
	maxFeatures = 1 << 16
	// maxSights is how many sights are counted. Further ones are not new.
	maxSights = 1 << 18
	// maxKinds is how many beginnings of messages to one place are told apart. Of further ones only
	// the length is: they have numbers or keys in them that no text shows.
	maxKinds = 64
	// maxValues is how many values of an exposed name are told apart. Of further ones only the name
	// is.
	maxValues = 16
	// kindBytes is how much of a message's beginning tells its kind.
	kindBytes = 4
)

// count counts a feature and returns how often it was met.
func (c *features) count(f uint64) int {
	if c.met == nil {
		c.met = map[uint64]int{}
	}
	n := c.met[f]
	if n == 0 && len(c.met) >= maxFeatures {
		return 2
	}
	c.met[f] = n + 1
	return n + 1
}

// any counts features and reports whether any of them is new.
func (c *Features) any(all []uint64) (news bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range all {
		news = c.count(f) == 1 || news
	}
	return news
}

// sight counts a sight and reports whether it is new. The caller holds mu.
func (c *Features) sight(s uint64) (news bool) {
	if c.sights == nil {
		c.sights = map[uint64]int{}
	}
	n := c.sights[s]
	if n == 0 && len(c.sights) >= maxSights {
		return false
	}
	c.sights[s] = n + 1
	return n == 0
}

// forget begins anew.
func (c *features) forget() {
	clear(c.met)
	clear(c.kinds)
}

// kind is finer, which tells a kind from others of a class, or class where there are more than most
// of these.
func (c *features) kind(class, finer uint64, most int) uint64 {
	all := c.kinds[class]
	switch {
	case all[finer]:
		return finer
	case len(all) >= most || all == nil && len(c.kinds) >= maxFeatures:
		return class
	case all == nil:
		if c.kinds == nil {
			c.kinds = map[uint64]map[uint64]bool{}
		}
		all = map[uint64]bool{}
		c.kinds[class] = all
	}
	all[finer] = true
	return finer
}

// of appends the features of a step of a node.
func (c *features) of(to []uint64, node ariadne.NodeID, by *memo.Transition) []uint64 {
	begin, out := len(to), &by.Output
	// notices, too: how far a program came is seen by what it has mapped
	for l := range out.Record() {
		to = append(to, masked(feature(node, 'l'), l.Text))
	}
	for _, p := range by.Effect.Packets {
		to = append(to, c.message(node, &p.Message))
	}
	for i := range out.Places {
		to = append(to, masked(feature(node, 'p'), out.Places[i].Name))
	}
	for _, e := range out.Exits {
		to = append(to, mixed(mixed(feature(node, 'e'), uint64(e.Status)), uint64(e.Signal)))
	}
	if out.Down != ariadne.Up {
		to = append(to, mixed(feature(node, 'd'), uint64(out.Down)))
	}
	if found := by.Found.Load(); found != nil {
		for i := range found.Changes {
			x := &found.Changes[i]
			to = append(to, c.exposed(node, x.Name, x.Key, x.Values, x.Ends))
		}
		for i := range found.Told {
			x := &found.Told[i]
			to = append(to, c.exposed(node, x.Name, x.Key, x.Values, x.Ends))
		}
	}
	return unique(to, begin)
}

// exposed is the kind of a value that a node exposes from here on, or does not any more.
func (c *features) exposed(node ariadne.NodeID, name, key string, values []string, ends bool) uint64 {
	begin := byte('x')
	if ends {
		begin = 'y'
	}
	class := masked(mixed(masked(feature(node, begin), name), 0), key)
	finer := class
	for _, v := range values {
		finer = exact(mixed(finer, 0), v)
	}
	return c.kind(class, finer, maxValues)
}

// ofStep are the features of a step of a node, which are looked for once. They are not to be
// changed.
func (c *Features) ofStep(node ariadne.NodeID, by *memo.Transition) []uint64 {
	if known := by.Features.Load(); known != nil {
		return *known
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.of(nil, node, by)
	by.Features.Store(&all)
	return all
}

// message is the kind of a message: between whom, by which port, about how long, and how it begins.
func (c *features) message(node ariadne.NodeID, m *ariadne.Message) uint64 {
	h := mixed(mixed(feature(node, 'm'), uint64(m.To)), uint64(m.Flow.Proto))
	// the other one is mostly any free port
	h = mixed(h, uint64(min(m.Flow.Src.Port(), m.Flow.Dst.Port())))
	h = mixed(mixed(h, uint64(m.Flags)), uint64(bits.Len(uint(len(m.Data)))))
	return c.kind(h, masked(h, string(m.Data[:min(len(m.Data), kindBytes)])), maxKinds)
}

// unique takes out of features, from one on, those that are there twice.
func unique(all []uint64, from int) []uint64 {
	kept := all[:from]
next:
	for _, f := range all[from:] {
		for _, g := range kept[from:] {
			if f == g {
				continue next
			}
		}
		kept = append(kept, f)
	}
	return kept
}

const fnv = 0x100000001b3

// feature begins a hash (FNV-1a) of a feature of a kind.
func feature(node ariadne.NodeID, kind byte) uint64 {
	return mixed((0xcbf29ce484222325^uint64(kind))*fnv, uint64(node))
}

func mixed(h, n uint64) uint64 {
	for range 8 {
		h = (h ^ n&0xff) * fnv
		n >>= 8
	}
	return h
}

// exact goes on with a text.
func exact(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnv
	}
	return h
}

// masked goes on with a text without its numbers.
func masked(h uint64, text string) uint64 {
	number := false
	for i := range len(text) {
		c := text[i]
		digit := '0' <= c && c <= '9'
		if digit && number {
			continue
		}
		if number = digit; digit {
			c = '0'
		}
		h = (h ^ uint64(c)) * fnv
	}
	return h
}
