//go:build linux

package node

import (
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
)

func init() {
	strikesBy(ariadne.Jumped, func(n *Node, j ariadne.Jump) { n.jump(j.By) })
}

// jump sets the real-time clock forward or back, and expires what waited for a time that it has
// passed. It stays as it is where Linux would not set it so far back.
func (n *Node) jump(by time.Duration) {
	if at := n.k.RealNow() + int64(by); sys.MayBeSet(n.k, at) {
		n.k.SetReal(at)
	}
	n.fireDue(n.k.Now)
}
