package spec

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Preempt says which threads may be late, within the budget of such faults.
type Preempt struct {
	Nodes []ariadne.NodeID // whose; nil: all
}

// ThreadsLate reports whether threads of a node may be late.
func (s *Spec) ThreadsLate(id ariadne.NodeID) bool {
	return s.Faults[world.Preempt] > 0 && (s.Preempt.Nodes == nil || slices.Contains(s.Preempt.Nodes, id))
}

var preemptFields = []field[budgetText]{
	timesField[budgetText](),
	nodesField[budgetText]("Names of the nodes whose threads are late; default all."),
	afterField[budgetText](),
}

func init() {
	faultRow(world.Preempt, fault{
		fields: func() schema { return object(preemptFields) },
		set:    setPreempt,
		nodes:  func(s *Spec) *[]ariadne.NodeID { return &s.Preempt.Nodes },
	})
}

// setPreempt reads whose threads may be late.
func setPreempt(r *reader, s *specText, v *yaml.Node) {
	readBudget(r, s, world.Preempt, preemptFields, &budgetText{}, v)
}
