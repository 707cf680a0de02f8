package system

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
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

// Nodes list places where there is a budget for what may happen there, so its kind is in the name of
// their first state. How large it is they are not told.
func TestFirstStateNamesTheFaults(t *testing.T) {
	y := &System{Spec: &spec.Spec{Nodes: make([]spec.Node, 1)}}
	none := y.initial(0)
	y.Spec.Faults[world.Fail] = 1
	one := y.initial(0)
	if y.Spec.Faults[world.Fail]++; none == one || one != y.initial(0) {
		t.Errorf("%v without faults, %v with one, %v with two", none, one, y.initial(0))
	}
}
