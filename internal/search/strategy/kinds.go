package strategy

import (
	"ariadne"
	"ariadne/internal/memo"
)

// Meet counts what a node does in a step, and returns how much of it nobody has done before, and one of these kinds.
func (c *Features) Meet(node ariadne.NodeID, by *memo.Transition) (fresh int, kind uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scratch = c.of(c.scratch[:0], node, by)
	for _, f := range c.scratch {
		if c.count(f) == 1 {
			fresh, kind = fresh+1, f
		}
	}
	return fresh, kind
}

// Met is how often something of a kind was done.
func (c *Features) Met(kind uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.met[kind]
}

// Full reports whether there was more than is counted.
func (c *Features) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.met) >= maxFeatures
}
