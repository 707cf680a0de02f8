//go:build linux

package node

import (
	"slices"

	"ariadne"
	"ariadne/internal/world"
)

// may reports whether the node has written what must come before a kind of fault. Whether another node
// has that must, is known to the world alone.
func (n *Node) may(k ariadne.ActionKind) bool {
	if n.cfg.Spec.After[k] == nil || n.others(k) {
		return true
	}
	n.listen()
	return n.k.Said&(1<<k) != 0
}

// others reports whether the line before a kind of fault must be another node's.
func (n *Node) others(k ariadne.ActionKind) bool {
	of, ok := n.cfg.Spec.AfterOf[k]
	return ok && of != n.def.ID
}

// listen looks at the lines that the node has written in the step since it was asked last.
func (n *Node) listen() {
	for ; n.step.looked < len(n.k.Logs); n.step.looked++ {
		for k, after := range n.cfg.Spec.After {
			if after != nil && !n.others(ariadne.ActionKind(k)) && n.k.Said&(1<<k) == 0 && after.MatchString(n.k.Logs[n.step.looked].Text) {
				n.k.Said |= 1 << k
			}
		}
	}
}

// possibleNow are those of some alternatives before which nothing must come that the node has not
// written.
func (n *Node) possibleNow(alternatives []string) []string {
	not := func(a string) bool {
		k, _ := world.KindNamed(ariadne.KindOf(a))
		return !n.may(k)
	}
	if !slices.ContainsFunc(alternatives, not) {
		return alternatives
	}
	return slices.DeleteFunc(slices.Clone(alternatives), not)
}
