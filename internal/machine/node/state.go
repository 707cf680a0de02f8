//go:build linux

package node

import (
	"reflect"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// state is what a node is in between two steps, but for what its processes hold themselves. It is
// values only, and is copied as a whole: a field that is added is in all copies. What is not to be
// copied, since a process or a descriptor of this one stands behind it, is a field of Node.
type state struct {
	k *kernel.Node
	// files is the file tree as it was last captured; nil: it never was.
	files    *filetree.State
	offsets  []offset     // of open host files, likewise
	shared   sharedMemory // likewise
	started  bool
	running  int  // commands that it was started with; -1: none of them yet
	again    bool // it has been switched on before
	checking int  // which of the commands of AfterCrash runs, from 1, or 0

	polled polling      // the steps just before in which it did nothing else
	calm   ariadne.Time // Output.Calm of the last step
	house  ariadne.Time // how long after its beginning that is
	lost   bool         // one of its processes has been killed

	grows  []growth // what each of its processes has had so far, as of the last step
	given  int64    // bytes that it was sent since it was switched on
	serves []string // ports at which it takes connections, as of the last step
	looked []string // lines for files and variables that it exposes, as of the last step

	// orphans are System V segments whose processes were killed, by what they hold.
	orphans sharedMemory
	// disk is what the machine's disks held when it was last switched on, until somebody may have looked at all of it; nil: that is not known.
	disk *diskView
}

// states copies the states of nodes. What it takes as it is does not change once made.
var states = kernel.Copier[state](
	reflect.TypeFor[*filetree.State](),
	reflect.TypeFor[sharedMemory](),
	reflect.TypeFor[*diskView](),
)

// stateImage is the state of a node at rest.
type stateImage = deepcopy.Image[state]
