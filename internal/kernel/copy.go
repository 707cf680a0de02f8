package kernel

import (
	"net/netip"
	"reflect"

	"ariadne/internal/deepcopy"
)

// Copy returns a copy of the node's whole state. Its threads have no Machine:
// whoever copied their processes gives them theirs.
func (n *Node) Copy() *Node {
	return deepcopy.Of(n,
		[]reflect.Type{reflect.TypeFor[Machine]()},
		[]reflect.Type{reflect.TypeFor[netip.Addr]()}) // holds an interned pointer
}

// AllThreads returns the live threads in order of process and creation.
func (n *Node) AllThreads() []*Thread {
	var s []*Thread
	for _, pid := range n.PIDs() {
		s = append(s, n.Procs[pid].Threads...)
	}
	return s
}
