//go:build linux

package node

import (
	"hash/maphash"
	"weak"
)

// contents finds pages by what they hold. Nine of ten pages that a step writes hold what some page
// has held before: programs that go back do the same again. So checkpoints of a node and its copies
// share them, and only new ones take memory.
type contents struct {
	seed  maphash.Seed
	known map[uint64]weak.Pointer[page] // by hash
	// with more entries, those of pages that are gone are removed
	most int
	room []page // of space
}

// leastKnown is how many entries there are before any is looked at again.
const leastKnown = 1024

// space returns room to read pages into, until it is called again.
func (c *contents) space(n int) []*[pageSize]byte {
	if n > len(c.room) {
		c.room = make([]page, max(n, 2*len(c.room)))
	}
	to := make([]*[pageSize]byte, n)
	for i := range to {
		to[i] = (*[pageSize]byte)(&c.room[i])
	}
	return to
}

// share returns a page with the content of p that does not change, and whether nobody has had one.
func (c *contents) share(p *page) (shared *page, fresh bool) {
	if c.known == nil {
		c.seed, c.known, c.most = maphash.MakeSeed(), map[uint64]weak.Pointer[page]{}, leastKnown
	}
	h := maphash.Bytes(c.seed, p[:])
	if shared = c.known[h].Value(); shared != nil && *shared == *p {
		return shared, false
	}
	shared = new(page)
	*shared = *p
	c.known[h] = weak.Make(shared)
	if len(c.known) > c.most {
		for h, w := range c.known {
			if w.Value() == nil {
				delete(c.known, h)
			}
		}
		c.most = max(leastKnown, 2*len(c.known))
	}
	return shared, true
}
