package inet

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// TestFlowsFromBefore: a machine that was switched on again answers on connections from before,
// also when it has begun another one meanwhile, by numbers that it has not used on any of them.
func TestFlowsFromBefore(t *testing.T) {
	n := kernel.NewNode(0, "n", 1)
	n.Boots = 2
	var k FlowKey
	const before = 5
	first := FlowFor(n, k, before)
	if first.seq < n.Boots<<24 {
		t.Errorf("the first answer has a number after %d, which was used before", first.seq)
	}
	first.seq++
	fresh := NextFlow(n, k)
	if fresh.Epoch != FirstEpoch(n) || fresh.seq != 0 {
		t.Errorf("a new connection begins with epoch %d, number %d", fresh.Epoch, fresh.seq)
	}
	if again := fresh.Before(n); again.seq < first.seq || again == fresh {
		t.Errorf("the next answer on a connection from before has a number after %d, not %d", again.seq, first.seq)
	}
	fresh.Before(n).seq++
	if next := NextFlow(n, k); next.Before(n).seq != first.seq || next.seq != 0 {
		t.Errorf("after one more connection it is after %d, not %d", next.Before(n).seq, first.seq)
	}
}
