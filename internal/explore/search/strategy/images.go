package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/memo"

// Below implements space.Drawer.
func (c *chance) Below(n int) int { return c.free.Below(n) }

// Image implements space.ImageDrawer. A quarter of the losses lose all, an eighth nothing; the
// others are drawn evenly from all that may be left, of which the first have one thing lost or
// kept. On every other one what the search has drawn for the same loss before is drawn last: losses
// are the same when they lose the same and leave the same disk where all is lost.
func (c *chance) Image(lost *memo.Transition, n int) (which int) {
	search := c.moments.search
	fresh := c.free.below(2) == 0 && search != nil && !search.without.Moments
	for range 8 {
		if which = c.image(n); !fresh || !search.drawn(lost, n, which) {
			break
		}
	}
	if search == nil {
		return which
	}
	if fresh && search.drawn(lost, n, which) {
		for i := range n { // some may be left all the same
			if at := (which + i) % n; !search.drawn(lost, n, at) {
				which = at
				break
			}
		}
	}
	search.draws(lost, n, which)
	return which
}

// image draws one of n images.
func (c *chance) image(n int) int {
	switch c.free.below(8) {
	case 0, 1:
		return 0
	case 2:
		return min(1, n-1)
	}
	if n > 2 {
		return 2 + c.free.below(n-2)
	}
	return c.free.below(n)
}

// maxImageWords is how many words of bits tell which images were drawn. Of further losses nobody
// knows.
const maxImageWords = 1 << 20

// loss names a loss of power of which there are n images.
func loss(lost *memo.Transition, n int) uint64 {
	h := exact(mixed(feature(lost.From.Node, 'i'), uint64(n)), string(lost.Output.Content[:]))
	for _, l := range lost.Output.Lost {
		h = exact(mixed(h, uint64(len(l))), l)
	}
	return mixed(h, uint64(lost.Output.LeftOut))
}

// drawn reports whether an image of a loss was drawn before.
func (c *Features) drawn(lost *memo.Transition, n, which int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	words := c.images[loss(lost, n)]
	return words != nil && words[which/64]&(1<<(which%64)) != 0
}

// draws enters that an image of a loss is drawn.
func (c *Features) draws(lost *memo.Transition, n, which int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := loss(lost, n)
	words := c.images[key]
	if words == nil {
		size := (n + 63) / 64
		if c.words += size; c.words > maxImageWords {
			return
		}
		if c.images == nil {
			c.images = map[uint64][]uint64{}
		}
		words = make([]uint64, size)
		c.images[key] = words
	}
	words[which/64] |= 1 << (which % 64)
}

// maxTaken is how many choices are counted. Further ones are as new.
const maxTaken = 1 << 18

// tired reports whether something that was taken before is not taken now, by a draw, and counts it
// if it is.
func (c *Features) tired(key uint64, below func(int) int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.taken[key]
	if n > 0 && below(n+1) > 0 {
		return true
	}
	if c.taken == nil {
		c.taken = map[uint64]int{}
	}
	if n > 0 || len(c.taken) < maxTaken {
		c.taken[key] = n + 1
	}
	return false
}
