package strategy

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// TestLateKindsAreBounded: of more kinds of messages than count, none is kept, whatever nodes do
// with them.
func TestLateKindsAreBounded(t *testing.T) {
	var k lateKinds
	d := newDraw(1, 0)
	for range 2 {
		for i := range 2 * mostKinds {
			k.of(hash.Of(uint64(i), 0, 0)).turns(ariadne.Time(i), &d)
		}
	}
	if len(k.all) != mostKinds || len(k.listed) != mostKinds || len(k.turning) != mostKinds {
		t.Errorf("%d kinds are known, %d are drawn from, and %d with times", len(k.all), len(k.listed), len(k.turning))
	}
}
