package strategy

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
)

// Show counts what a node does in a step that nobody has made before. It returns how much of it
// nobody has done before, and one of these features.
func (c *Features) Show(node ariadne.NodeID, by *memo.Transition) (fresh int, first uint64) {
	all := c.ofStep(node, by)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shown == nil {
		c.shown = map[uint64]int{}
	}
	for _, f := range all {
		n := c.shown[f]
		if n == 0 && len(c.shown) >= maxFeatures {
			continue
		}
		if c.shown[f] = n + 1; n == 0 {
			fresh, first = fresh+1, f
		}
	}
	return fresh, first
}

// Shown is how many steps have shown a feature.
func (c *Features) Shown(feature uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown[feature]
}

// Full reports whether there was more than is counted.
func (c *Features) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.shown) >= maxFeatures
}
