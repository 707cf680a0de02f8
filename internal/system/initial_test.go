package system

import (
	"slices"
	"testing"

	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// What programs see of the machine is in the name of a node's first state, each fact of
// it.
func TestFirstStateNamesTheMachine(t *testing.T) {
	y := &System{Spec: &spec.Spec{Nodes: make([]spec.Node, 2)}}
	here := MachineFacts()
	defer func(f func() []trace.Fact) { MachineFacts = f }(MachineFacts)
	before := y.initial(0)
	if before != y.initial(0) || before == y.initial(1) {
		t.Error("it does not name the node")
	}
	for i, f := range here {
		if f.Value == "" {
			t.Errorf("nothing is known of %s", f.Name)
		}
		other := slices.Clone(here)
		other[i].Value += "!"
		MachineFacts = func() []trace.Fact { return other }
		if y.initial(0) == before {
			t.Errorf("it does not name %s", f.Name)
		}
	}
}
