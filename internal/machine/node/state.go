//go:build linux

package node

import (
	"reflect"

	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// state is what a node is in between two steps, but for what its processes hold themselves. It is
// values only, and is copied as a whole: a field that is added is in all copies. A value that must
// not be copied, because it stands for a process or a descriptor, is a field of Node.
type state struct {
	k *kernel.Node
	versions
	commands
	exposing
	quiet

	polled polling // the steps just before in which it did nothing else
	lost   bool    // one of its processes has been killed
	// disk is what the machine's disks held when it was last switched on, until somebody may have
	// looked at all of it; nil: that is not known.
	disk *diskView
}

// states copies the states of nodes. It does not copy values that never change.
var states = kernel.NewCopier[state](
	reflect.TypeFor[*filetree.State](),
	reflect.TypeFor[sharedMemory](),
	reflect.TypeFor[privateMemory](),
	reflect.TypeFor[*diskView](),
)

// stateImage is the state of a node at rest.
type stateImage = deepcopy.Image[state]
