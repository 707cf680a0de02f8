package world

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// inTransit is about how much memory a message takes while it is on its way, besides its bytes.
const inTransit = 512

// Overfull says that the messages of a node that are on their way take more memory than they may
// (Node.Transit), or "". The sender's kernel does not see when they arrive, so it is held here.
func (y *System) Overfull(s *State, id ariadne.NodeID) string {
	most := y.nodes[id].Transit
	if most == 0 {
		return ""
	}
	sum := int64(0)
	for i := range s.Flight {
		if f := &s.Flight[i]; f.From == id {
			sum += f.size
		}
	}
	if sum <= most {
		return ""
	}
	return fmt.Sprintf("messages of the node that have not arrived take more than %d MiB, half of the memory that it has: raise memory: in the spec", most>>20)
}
