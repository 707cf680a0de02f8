package record

import (
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Numbers records how the numbers of a spec go in an execution.
type Numbers struct{ Series []property.Series }

// NewNumbers returns a record of the numbers of a spec.
func NewNumbers(s *spec.Spec) *Numbers {
	n := &Numbers{}
	for _, q := range s.Properties.Predicates {
		if q.Number != nil {
			n.Series = append(n.Series, property.Series{Name: q.Name, Number: *q.Number})
		}
	}
	return n
}

// Look enters what they are at the end of a path, which is looked at behind each of its steps.
func (n *Numbers) Look(p *space.Path) {
	if n.Series == nil {
		return
	}
	f := p.Last()
	for i := range n.Series {
		n.Series[i].End = f.State.Now
	}
	if p.Steps() > 0 && !f.Exposes {
		return
	}
	for i, v := range p.Space().Properties.Numbers(p.Snapshot()) {
		n.Series[i].Add(p.Steps(), f.State.Now, v)
	}
}
