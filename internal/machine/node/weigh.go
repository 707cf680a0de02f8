//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
)

// tooHeavy says what the node's kernel holds when that is too much; "" when it is not, or nothing
// has grown by much.
func (n *Node) tooHeavy() string {
	if !n.watch.Grown() {
		return ""
	}
	files, texts := sys.FileBlocks(n.k)
	most := kernel.MemoryForObjects(n.k.MemTotal())
	weight, log := n.k.Weight()+texts, n.k.Files.Log.Held()
	n.watch.Weighed(most - max(weight, log))
	if weight > most {
		return fmt.Sprintf("sockets, pipes and other objects of the kernel hold more than %d MiB, half of the memory that the node has: raise memory: in the spec", most>>20)
	}
	if log > most {
		return fmt.Sprintf("what was done to files, as a loss of power may take it back, takes more than %d MiB, half of the memory that the node has: raise memory: in the spec; it counts until everything is synced, also the names of new files (fsync of their directory)", most>>20)
	}
	if d := &n.k.Files.Disk; d.Limit > 0 && !d.Full && files > d.Limit {
		return fmt.Sprintf("more than %d MiB of files, with what was stored through mappings: raise disk: in the spec", d.Limit>>20)
	}
	return ""
}
