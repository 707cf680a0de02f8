package strategy

import (
	"ariadne"
	"ariadne/internal/memo"
)

// Meet counts what a node does in a step, and returns how much of it nobody has done before.
func (c *Features) Meet(node ariadne.NodeID, by *memo.Transition) (fresh int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scratch = c.of(c.scratch[:0], node, by)
	for _, f := range c.scratch {
		if c.count(f) == 1 {
			fresh++
		}
	}
	return fresh
}

// Full reports whether there was more than is counted.
func (c *Features) Full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.met) >= maxFeatures
}
