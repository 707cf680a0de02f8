package kernel

import (
	"cmp"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
)

// Image is a copy of a node's whole state at rest. Its threads have no Machine:
// whoever copied their processes gives them theirs.
type Image = deepcopy.Image[Node]

var images = NewCopier[Node]()

// NewCopier returns a copier of values in which there is a Node. Those of the types in shared do
// not change, and are copied by assignment.
func NewCopier[T any](shared ...reflect.Type) *deepcopy.Copier[T] {
	return deepcopy.New[T](
		[]reflect.Type{reflect.TypeFor[Tracee]()},
		append([]reflect.Type{
			reflect.TypeFor[netip.Addr](), // holds an interned pointer
			reflect.TypeFor[*disk.Log](),  // this and the next do not change
			reflect.TypeFor[*filetree.Content](),
		}, shared...))
}

// kinds are the types that may stand where an interface does in what is reachable from a Node.
var kinds = []reflect.Type{
	reflect.TypeFor[*Again](), reflect.TypeFor[*HostFile](), reflect.TypeFor[*PidFile](), reflect.TypeFor[*Queue](),
	reflect.TypeFor[*Thread](),
	reflect.TypeFor[*asyncFile](),
}

// DeclareKind says that a T may do so: a file, who waits, what a timer ends. Each package says it
// of its own, as a variable.
func DeclareKind[T any]() struct{} {
	kinds = append(kinds, reflect.TypeFor[T]())
	return struct{}{}
}

// Kinds are the types of which Kind was said, and those that slots hold, in an order that does not
// depend on where packages lie.
func Kinds() (all []reflect.Type) {
	all = slices.Clone(kinds)
	for _, of := range inSlots {
		all = append(all, of...)
	}
	slices.SortFunc(all, func(a, b reflect.Type) int {
		return cmp.Or(strings.Compare(a.Elem().PkgPath(), b.Elem().PkgPath()), strings.Compare(a.String(), b.String()))
	})
	return slices.Compact(all)
}

// NewCodec returns a codec of values in which there is a Node. Its bytes are for programs whose
// slots are in the same order.
func NewCodec[T any]() *deepcopy.Codec[T] {
	var version strings.Builder
	for _, of := range []reflect.Type{reflect.TypeFor[*Node](), reflect.TypeFor[*Process](),
		reflect.TypeFor[*Thread]()} {
		fmt.Fprintln(&version, of, inSlots[of])
	}
	return deepcopy.NewCodec[T](
		[]reflect.Type{reflect.TypeFor[Tracee]()}, []reflect.Type{reflect.TypeFor[netip.Addr]()}, Kinds(),
		version.String())
}

// Image takes an image of the node.
func (n *Node) Image() *Image { return images.Image(n) }

// openFile is about how much memory Linux takes for what stands in for an open file.
const openFile = 1024

// Weight is about how much memory the node's objects hold, in bytes, in Ariadne and for it.
// Mappings of processes and contents of files are not part of it.
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
