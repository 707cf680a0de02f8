package inet

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// TestFlowsFromBefore: a machine that was switched on again answers on connections from before,
// also when it has begun another one meanwhile, by numbers that it has not used on any of them.
func TestFlowsFromBefore(t *testing.T) {
	n := kernel.NewNode(0, "n", 1)
	n.Boots = 2
	var k FlowKey
	const before = 5
	first := FlowFor(n, k, before, false)
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

// TestFlowsOfOthersEpochs: epochs are counted by each node, so one may be from before a node was
// switched off although its number is as high as those that the node counts now. Only the first
// message of an epoch shows that it is new.
func TestFlowsOfOthersEpochs(t *testing.T) {
	n := kernel.NewNode(0, "n", 1)
	n.Boots = 1
	k, other := FlowKey{Proto: ariadne.TCP}, FlowKey{Proto: ariadne.UDP}
	epoch := FirstEpoch(n) // of a peer that was switched off once, too
	if f := FlowFor(n, k, epoch, false); f.seq < n.Boots<<24 {
		t.Errorf("an answer on a connection of which nothing is known has a number after %d", f.seq)
	} else if f.seq++; FlowFor(n, k, epoch, false) != f {
		t.Error("the next answer is of another record")
	} else if next := FlowFor(n, k, epoch+1, false); next.seq != f.seq {
		t.Errorf("on one more it has a number after %d, not %d", next.seq, f.seq)
	}
	if f := FlowFor(n, other, epoch, true); f.seq != 0 {
		t.Errorf("the first answer on a new connection has a number after %d", f.seq)
	}
	n.Boots = 0
	if f := FlowFor(n, other, epoch+1, false); f.seq != 0 {
		t.Errorf("a node that was never switched off begins after %d", f.seq)
	}
}
