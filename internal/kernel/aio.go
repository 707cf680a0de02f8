package kernel

import "golang.org/x/sys/unix"

// maxAIO is how many operations the contexts of a node may hold (aio-max-nr).
const maxAIO = 65536

// AIO are the contexts of legacy asynchronous I/O (io_setup(2)).
type AIO struct{ contexts map[aioKey]*AIOContext }

// aioKey names a context: an id is valid in one address space.
type aioKey struct {
	mm int
	id uint64
}

// AIOContext holds the events of finished operations until they are fetched.
type AIOContext struct {
	Max     int
	events  []AIOEvent
	changed Queue
}

// AIOEvent is a struct io_event.
type AIOEvent struct {
	Data, Obj uint64
	Res, Res2 int64
}

var aio = NewSlot[*Node, AIO]()

// NewAIO makes a context for max operations under the given id; EAGAIN when
// the node has too many.
func (n *Node) NewAIO(p *Process, id uint64, max int) Errno {
	contexts := aio.Of(n).contexts
	dropDeadAIO(n, contexts)
	total := max
	for _, c := range contexts {
		total += c.Max
	}
	if total > maxAIO {
		return unix.EAGAIN
	}
	if contexts == nil {
		contexts = map[aioKey]*AIOContext{}
		aio.Of(n).contexts = contexts
	}
	contexts[aioKey{p.MM, id}] = &AIOContext{Max: max}
	return 0
}

// dropDeadAIO forgets the contexts of address spaces that are gone.
func dropDeadAIO(n *Node, contexts map[aioKey]*AIOContext) {
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

// AIOContext finds a context of the process, or nil.
func (p *Process) AIOContext(id uint64) *AIOContext {
	return aio.Of(p.Node).contexts[aioKey{p.MM, id}]
}

// DestroyAIO ends a context; those who wait for its events go on.
func (p *Process) DestroyAIO(id uint64) bool {
	c := p.AIOContext(id)
	if c == nil {
		return false
	}
	delete(aio.Of(p.Node).contexts, aioKey{p.MM, id})
	c.changed.Notify(0)
	return true
}

// Room returns how many more operations the context takes.
func (c *AIOContext) Room() int { return c.Max - len(c.events) }

// Complete adds the event of a finished operation.
func (c *AIOContext) Complete(e AIOEvent) {
	c.events = append(c.events, e)
	c.changed.Notify(0)
}

// Take returns at most max events, oldest first.
func (c *AIOContext) Take(max int) []AIOEvent {
	k := min(max, len(c.events))
	got := c.events[:k]
	c.events = c.events[k:]
	return got
}

// Changed is notified of new events and of the end of the context.
func (c *AIOContext) Changed() *Queue { return &c.changed }
