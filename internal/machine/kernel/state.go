package kernel

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
)

// What an object is, its package knows; a node, a process or a thread has a place for what the
// package keeps of it. So the core imports no object, and copying a node copies all of them.

// Slot is such a place, for a value of T in each O. A package makes it once, as a variable.
type Slot[O owner, T any] struct{ index int }

// owner is who has slots: a node, a process or a thread.
type owner interface {
	*Node | *Process | *Thread
	slots() *slots
}

// slots are the values of an owner by index of the slot: pointers, nil until somebody asks.
type slots []any

func (n *Node) slots() *slots    { return &n.state }
func (p *Process) slots() *slots { return &p.state }
func (t *Thread) slots() *slots  { return &t.state }

// inSlots is what the slots of an owner hold, by its type.
var inSlots = map[reflect.Type][]reflect.Type{}

// NewSlot makes a slot.
func NewSlot[O owner, T any]() Slot[O, T] {
	t := reflect.TypeFor[O]()
	inSlots[t] = append(inSlots[t], reflect.TypeFor[*T]())
	return Slot[O, T]{len(inSlots[t]) - 1}
}

// Of returns the value of an owner. It is zero when it was never asked for.
func (s Slot[O, T]) Of(o O) *T {
	if v := s.Peek(o); v != nil {
		return v
	}
	all := o.slots()
	if missing := s.index + 1 - len(*all); missing > 0 {
		*all = append(*all, make(slots, missing)...)
	}
	v := new(T)
	(*all)[s.index] = v
	return v
}

// Peek returns the value of an owner, or nil when it was never asked for.
func (s Slot[O, T]) Peek(o O) *T {
	all := *o.slots()
	if s.index >= len(all) || all[s.index] == nil {
		return nil
	}
	return all[s.index].(*T)
}

// Hooks are what a package does when the core does something that concerns its objects. Nil
// ones are nothing.
type Hooks struct {
	// DescriptorClosed: a descriptor for a file has left a table.
	DescriptorClosed func(n *Node, table *FDTable, of *OpenFile)
	// FileClosed: the last reference to an open file is gone; it is not yet released.
	FileClosed func(n *Node, of *OpenFile)
	// ThreadExits: a thread ends. Its memory is still there.
	ThreadExits func(t *Thread)
	// Forks: a process was made by clone with these flags.
	Forks func(parent, child *Process, flags uint64)
	// Execs: a process runs another program; of its threads t alone is left.
	Execs func(t *Thread)
	// ProcessExits: a process has ended. It has no threads and no descriptors any more.
	ProcessExits func(p *Process)
	// SessionEnds: p has ended, which led its session.
	SessionEnds func(p *Process)
	// RealSet: CLOCK_REALTIME was set forward by so much. A time of that clock comes so much
	// sooner.
	RealSet func(n *Node, by ariadne.Time)
	// SignalTaken: a signal was taken off p's queues. The hook may complete what is told of it.
	SignalTaken func(p *Process, info *signal.Info)
	// SignalStale: a signal that was taken off p's queues means nothing any more, and is dropped.
	SignalStale func(p *Process, info *signal.Info) bool
	// SignalUnignored: p has a disposition for a signal that is not to ignore it.
	SignalUnignored func(p *Process, signo int)
}

// hooks are in the order of their packages' names, and those of one package as it registers them.
// The core's own come first.
var hooks []namedHooks

type namedHooks struct {
	of string // the package
	Hooks
}

// Register adds the hooks of a package, which calls it from its init. Names order them, since the
// order in which Go initializes packages follows from the folders that they lie in.
func Register(of string, h Hooks) {
	hooks = append(hooks, namedHooks{of, h})
	slices.SortStableFunc(hooks, func(a, b namedHooks) int { return strings.Compare(a.of, b.of) })
}

// WaitEntry is a thread's place among those who wait for an object, where that keeps more of
// them than a Queue does. It leaves when the thread's call ends.
type WaitEntry interface{ Leave(t *Thread) }
