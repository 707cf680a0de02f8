// Package aio is the contexts of legacy asynchronous I/O (io_setup(2)). Operations are done when
// they are submitted, but for those that wait for a slow disk; a context holds their events until
// these are fetched.
package aio

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// maxOperations is how many operations the contexts of a node may hold (aio-max-nr).
var maxOperations = kernel.NewSetting("fs/aio-max-nr", 0, math.MaxInt64, 65536)

// contexts are the contexts of legacy asynchronous I/O (io_setup(2)).
type contexts struct{ contexts map[key]*Context }

// key names a context: an id is valid in one address space.
type key struct {
	mm int
	id uint64
}

// Context holds the events of finished operations until they are fetched.
type Context struct {
	Max      int
	underWay int // operations that have not ended
	events   []Event
	changed  kernel.Queue
}

// Event is a struct io_event.
type Event struct {
	Data, Obj uint64
	Res, Res2 int64
}

var contextsOf = kernel.NewSlot[*kernel.Node, contexts]()

// New makes a context for max operations under the given id; EAGAIN when
// the node has too many.
func New(n *kernel.Node, p *kernel.Process, id uint64, max int) kernel.Errno {
	contexts := contextsOf.Of(n).contexts
	dropDead(n, contexts)
	total := max
	for _, c := range contexts {
		total += c.Max
	}
	if total > int(maxOperations.Of(n)) {
		return unix.EAGAIN
	}
	if contexts == nil {
		contexts = map[key]*Context{}
		contextsOf.Of(n).contexts = contexts
	}
	contexts[key{p.MM, id}] = &Context{Max: max}
	return 0
}

// dropDead forgets the contexts of address spaces that are gone.
func dropDead(n *kernel.Node, contexts map[key]*Context) {
	alive := map[int]bool{}
	for _, p := range n.Procs {
		if !p.Dead {
			alive[p.MM] = true
		}
	}
	for k := range contexts {
		if !alive[k.mm] {
			delete(contexts, k)
		}
	}
}

// Find finds a context of the process, or nil.
func Find(p *kernel.Process, id uint64) *Context {
	return contextsOf.Of(p.Node).contexts[key{p.MM, id}]
}

// Destroy ends a context; threads that wait for its events go on.
func Destroy(p *kernel.Process, id uint64) bool {
	c := Find(p, id)
	if c == nil {
		return false
	}
	delete(contextsOf.Of(p.Node).contexts, key{p.MM, id})
	c.changed.Notify(0)
	return true
}

// Room returns how many more operations the context takes.
func (c *Context) Room() int { return c.Max - len(c.events) - c.underWay }

// Begin enters an operation that ends later, and End that it has ended.
func (c *Context) Begin() { c.underWay++ }
func (c *Context) End()   { c.underWay-- }

// Busy reports whether an operation is under way.
func (c *Context) Busy() bool { return c.underWay > 0 }

// Complete adds the event of a finished operation.
func (c *Context) Complete(e Event) {
	c.events = append(c.events, e)
	c.changed.Notify(0)
}

// Take returns at most max events, oldest first.
func (c *Context) Take(max int) []Event {
	k := min(max, len(c.events))
	got := c.events[:k]
	c.events = c.events[k:]
	return got
}

// Changed is notified of new events and of the end of the context.
func (c *Context) Changed() *kernel.Queue { return &c.changed }
