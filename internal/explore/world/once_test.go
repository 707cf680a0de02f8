package world_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestOnce: the summary of a check can say that an execution had a fault, for each kind of fault.
func TestOnce(t *testing.T) {
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); (kind.Fault != "") != (kind.Once != "") {
			t.Errorf("%s: Fault is %q, and Once is %q", kind.Name, kind.Fault, kind.Once)
		}
	}
}
