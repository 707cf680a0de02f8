package kernel

import (
	"net/netip"
	"reflect"

	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
)

// Image is a copy of a node's whole state at rest. Its threads have no Machine:
// whoever copied their processes gives them theirs.
type Image = deepcopy.Image[Node]

var images = Copier[Node]()

// Copier returns a copier of values in which there is a Node. Those of the types in shared do not
// change, and are copied by assignment.
func Copier[T any](shared ...reflect.Type) *deepcopy.Copier[T] {
	return deepcopy.New[T](
		[]reflect.Type{reflect.TypeFor[Tracee]()},
		append([]reflect.Type{
			reflect.TypeFor[netip.Addr](), // holds an interned pointer
			reflect.TypeFor[*disk.Log](),  // this and the next do not change
			reflect.TypeFor[*filetree.Content](),
		}, shared...))
}

// Image takes an image of the node.
func (n *Node) Image() *Image { return images.Image(n) }

// openFile is about how much memory Linux takes for what stands in for an open file.
const openFile = 1024

// Weight is about how much memory the node's objects hold, in bytes, in Ariadne and for it. What
// processes have mapped and what files hold is not part of it.
func (n *Node) Weight() int64 {
	open := map[*OpenFile]bool{}
	for _, p := range n.Procs {
		if p.FDs == nil {
			continue
		}
		for _, e := range p.FDs.fds {
			open[e.file] = true
		}
	}
	return images.Bytes(n) + int64(len(open))*openFile
}

// AllThreads returns the live threads in order of process and creation.
func (n *Node) AllThreads() []*Thread {
	var s []*Thread
	for _, pid := range n.PIDs() {
		s = append(s, n.Procs[pid].Threads...)
	}
	return s
}
