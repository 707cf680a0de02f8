// Package futex is the queues in which threads wait for words of their memory (futex(2)), with the
// priority-inheriting and robust kinds. A word's content is the program's: this package reads and
// changes it only where Linux does. All threads have the same priority, so queues are in order of
// arrival.
//
// Read next: pi.go.
package futex

import (
	"encoding/binary"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Any is the bitset of a wait or wake without one.
const Any = ^uint32(0)

// Bits of a priority-inheriting or robust futex word (futex(2)).
const (
	Waiters   = 0x80000000
	OwnerDied = 0x40000000
	TIDMask   = 0x3fffffff
)

// key says which futex a word is: by address space and address when
// private, by backing object and offset when shared memory lies behind it.
type key struct {
	mm     int
	object [2]uint64
	offset uint64
	shared bool
}

// Backer is a Machine that knows what lies behind shared memory: the object
// (device and inode, say) and the offset in it. Not ok: private memory.
type Backer interface {
	Backing(addr uint64) (object [2]uint64, offset uint64, ok bool)
}

// waiter is one waiting thread.
type waiter struct {
	t    *kernel.Thread
	key  key
	addr uint64 // of the word, in t's memory
	mask uint32
	// pi: it waits to own the futex. toPI: it waits to be moved to one, which
	// it knows by the address piAddr.
	pi, toPI bool
	piAddr   uint64
}

var _ = kernel.DeclareKind[*waiter]()

// Table are the node's futex queues. A queue is in order of arrival, which is
// the order of wake-ups: all threads have the same priority here.
type Table struct {
	queues map[key][]*waiter
	owners map[key]*kernel.Thread // of priority-inheriting futexes with waiters
	// waiters in memory that others may have at another place (Backer)
	backed int
}

// WaitsShared reports whether a thread waits in memory that is known by what it is mapped from.
func (f *Table) WaitsShared() bool { return f.backed > 0 }

// owned are the priority-inheriting futexes that a thread holds while others wait.
type owned struct{ keys []key }

var (
	tables  = kernel.NewSlot[*kernel.Node, Table]()
	piOwned = kernel.NewSlot[*kernel.Thread, owned]()
)

func init() { kernel.Register("futex", kernel.Hooks{ThreadExits: leaveMemory, Execs: release}) }

// Of returns the node's futexes.
func Of(n *kernel.Node) *Table {
	f := tables.Of(n)
	if f.queues == nil {
		f.queues, f.owners = map[key][]*waiter{}, map[key]*kernel.Thread{}
	}
	return f
}

// leaveMemory does what a thread's end means for memory it shares: robust
// futexes, and the word that pthread_join waits on.
func leaveMemory(t *kernel.Thread) {
	release(t)
	if t.ClearTID != 0 {
		if t.M.WriteMem(t.ClearTID, make([]byte, 4)) == 0 {
			Of(t.Node()).Wake(t, t.ClearTID, false, 1, Any)
		}
		t.ClearTID = 0
	}
}

// waiting is t's place in a futex's queue, or nil.
func waiting(t *kernel.Thread) *waiter {
	w, _ := t.Wait.Entry.(*waiter)
	return w
}

// Leave implements WaitEntry.
func (w *waiter) Leave(t *kernel.Thread) { Of(t.Node()).leave(w) }

// key returns the identity of the futex at addr in t's memory.
func (f *Table) key(t *kernel.Thread, addr uint64, private bool) key {
	if b, ok := t.M.(Backer); ok && !private {
		if object, off, ok := b.Backing(addr); ok {
			return key{object: object, offset: off, shared: true}
		}
	}
	return key{mm: t.Proc.MM, offset: addr, shared: !private}
}

// wakeKey is key for those who have only somebody to wake: what lies behind the memory is not asked
// where nobody waits in such memory. Each thread that ends wakes somebody.
func (f *Table) wakeKey(t *kernel.Thread, addr uint64, private bool) key {
	if f.backed == 0 {
		return key{mm: t.Proc.MM, offset: addr, shared: !private}
	}
	return f.key(t, addr, private)
}

// isBacked reports whether an object lies behind the futex's memory.
func (k key) isBacked() bool { return k.object != [2]uint64{} }

func (f *Table) add(w *waiter) {
	f.queues[w.key] = append(f.queues[w.key], w)
	if w.key.isBacked() {
		f.backed++
	}
	w.t.Wait.Entry = w
}

func (f *Table) remove(w *waiter) {
	q := f.queues[w.key]
	for i, x := range q {
		if x == w {
			q = append(q[:i:i], q[i+1:]...)
			if w.key.isBacked() {
				f.backed--
			}
			break
		}
	}
	if len(q) == 0 {
		delete(f.queues, w.key)
	} else {
		f.queues[w.key] = q
	}
	w.t.Wait.Entry = nil
}

// wake ends w's wait.
func (f *Table) wake(w *waiter) {
	f.remove(w)
	w.t.Wait.Woken = true
	w.t.Unpark()
}

// Waits reports whether t stands in a futex's queue; WaitsToOwn, whether
// in that of a priority-inheriting one.
func Waits(t *kernel.Thread) bool      { return waiting(t) != nil }
func WaitsToOwn(t *kernel.Thread) bool { w := waiting(t); return w != nil && w.pi }

// Enqueue lets t wait on the futex at addr for a wake-up of one of mask's bits.
// With piAddr != 0 it is to be moved to that futex (FUTEX_WAIT_REQUEUE_PI).
func (f *Table) Enqueue(t *kernel.Thread, addr uint64, private bool, mask uint32, piAddr uint64) {
	f.add(&waiter{t: t, key: f.key(t, addr, private), addr: addr, mask: mask, toPI: piAddr != 0, piAddr: piAddr})
}

// leave takes a waiter out of its queue: it timed out or was interrupted.
func (f *Table) leave(w *waiter) {
	f.remove(w)
	if w.pi && len(f.queues[w.key]) == 0 {
		f.disown(w.key)
	}
}

// Wake wakes up to count waiters (at least one) whose mask meets mask. EINVAL
// when a waiter expects more than a wake-up.
func (f *Table) Wake(t *kernel.Thread, addr uint64, private bool, count int, mask uint32) (int, kernel.Errno) {
	return f.wakeAt(f.wakeKey(t, addr, private), count, mask)
}

func (f *Table) wakeAt(k key, count int, mask uint32) (int, kernel.Errno) {
	woken := 0
	for _, w := range append([]*waiter(nil), f.queues[k]...) {
		if w.pi || w.toPI {
			return woken, einval
		}
		if w.mask&mask == 0 {
			continue
		}
		f.wake(w)
		if woken++; woken >= count {
			break
		}
	}
	return woken, 0
}

// Requeue wakes up to wake waiters and moves up to move of the others to the
// futex at addr2. It returns how many were woken or moved.
func (f *Table) Requeue(t *kernel.Thread, addr, addr2 uint64, private bool, wake, move int) (int, kernel.Errno) {
	from, to := f.key(t, addr, private), f.key(t, addr2, private)
	done := 0
	for _, w := range append([]*waiter(nil), f.queues[from]...) {
		if done-wake >= move {
			break
		}
		if w.pi || w.toPI {
			return done, einval
		}
		if done++; done <= wake {
			f.wake(w)
		} else if from != to {
			f.move(w, to, addr2)
		}
	}
	return done, 0
}

func (f *Table) move(w *waiter, to key, addr uint64) {
	f.remove(w)
	w.key, w.addr = to, addr
	f.add(w)
}

// WakeOp is FUTEX_WAKE_OP's second half: the word at addr2 has been changed, and
// both says whether its waiters are woken too.
func (f *Table) WakeOp(t *kernel.Thread, addr, addr2 uint64, private bool, count, count2 int, both bool) (int,
	kernel.Errno) {
	n, e := f.Wake(t, addr, private, count, Any)
	if e != 0 || !both {
		return n, e
	}
	m, e := f.Wake(t, addr2, private, count2, Any)
	return n + m, e
}

// word reads the futex word at addr.
func word(t *kernel.Thread, addr uint64) (uint32, kernel.Errno) {
	var b [4]byte
	e := t.M.ReadMem(addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), e
}

func setWord(t *kernel.Thread, addr uint64, v uint32) kernel.Errno {
	return t.M.WriteMem(addr, binary.LittleEndian.AppendUint32(nil, v))
}
