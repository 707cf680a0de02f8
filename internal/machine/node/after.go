//go:build linux

package node

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
)

// isPrecededFor reports whether the node has written what must come before a kind of fault. Whether
// another node has that must, is known to the world alone.
func (n *Node) isPrecededFor(kind string) bool {
	all := n.cfg.Faults.After
	k := slices.IndexFunc(all, func(a config.After) bool { return a.Kind == kind })
	if k < 0 || all[k].Line == nil {
		return true
	}
	n.hearLines()
	return n.k.Said&(1<<k) != 0
}

// hearLines looks at the lines that the node has written in the step since it was asked last, and
// at what it has exposed.
func (n *Node) hearLines() {
	for line := range n.step.listened.since(&n.k.Told).Lines() {
		for k, after := range n.cfg.Faults.After {
			if after.Line != nil && n.k.Said&(1<<k) == 0 && after.Line.MatchString(line.Text) {
				n.k.Said |= 1 << k
			}
		}
	}
}

// heard is how much of what the node has told in a step was looked at.
type heard struct{ logs, exposures int }

// since is what it has told since then, from where on the rest is looked at.
func (h *heard) since(t *kernel.Told) *ariadne.Output {
	out := &ariadne.Output{Logs: t.Logs[h.logs:], Exposures: t.Exposures[h.exposures:]}
	*h = heard{len(t.Logs), len(t.Exposures)}
	return out
}

// possibleNow are those of some alternatives before which nothing must come that the node has not
// written.
func (n *Node) possibleNow(alternatives []string) []string {
	not := func(a string) bool { return !n.isPrecededFor(ariadne.KindOf(a)) }
	if !slices.ContainsFunc(alternatives, not) {
		return alternatives
	}
	return slices.DeleteFunc(slices.Clone(alternatives), not)
}
