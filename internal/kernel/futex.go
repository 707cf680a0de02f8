package kernel

import "encoding/binary"

// FutexAny is the bitset of a wait or wake without one.
const FutexAny = ^uint32(0)

// Bits of a priority-inheriting or robust futex word (futex(2)).
const (
	FutexWaiters   = 0x80000000
	FutexOwnerDied = 0x40000000
	FutexTIDMask   = 0x3fffffff
)

// futexKey says which futex a word is: by address space and address when
// private, by backing object and offset when shared memory lies behind it.
type futexKey struct {
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

// futexWaiter is one waiting thread.
type futexWaiter struct {
	t    *Thread
	key  futexKey
	addr uint64 // of the word, in t's memory
	mask uint32
	// pi: it waits to own the futex. toPI: it waits to be moved to one, which
	// it knows by the address piAddr.
	pi, toPI bool
	piAddr   uint64
}

// Futexes are the node's futex queues. A queue is in order of arrival, which is
// the order of wake-ups: all threads have the same priority here.
type Futexes struct {
	queues map[futexKey][]*futexWaiter
	owners map[futexKey]*Thread // of priority-inheriting futexes with waiters
}

// owned are the priority-inheriting futexes that a thread holds while others wait.
type owned struct{ keys []futexKey }

var (
	futexes = NewSlot[*Node, Futexes]()
	piOwned = NewSlot[*Thread, owned]()
)

func init() { Register(Hooks{ThreadExits: leaveMemory, Execs: releaseFutexes}) }

// FutexesOf returns the node's futexes.
func FutexesOf(n *Node) *Futexes {
	f := futexes.Of(n)
	if f.queues == nil {
		f.queues, f.owners = map[futexKey][]*futexWaiter{}, map[futexKey]*Thread{}
	}
	return f
}

// leaveMemory does what a thread's end means for memory it shares: robust
// futexes, and the word that pthread_join waits on.
func leaveMemory(t *Thread) {
	releaseFutexes(t)
	if t.ClearTID != 0 {
		if t.M.WriteMem(t.ClearTID, make([]byte, 4)) == 0 {
			FutexesOf(t.Node()).Wake(t, t.ClearTID, false, 1, FutexAny)
		}
		t.ClearTID = 0
	}
}

// waiting is t's place in a futex's queue, or nil.
func waiting(t *Thread) *futexWaiter {
	w, _ := t.Wait.Entry.(*futexWaiter)
	return w
}

// Leave implements WaitEntry.
func (w *futexWaiter) Leave(t *Thread) { FutexesOf(t.Node()).leave(w) }

// key returns the identity of the futex at addr in t's memory.
func (f *Futexes) key(t *Thread, addr uint64, private bool) futexKey {
	if b, ok := t.M.(Backer); ok && !private {
		if object, off, ok := b.Backing(addr); ok {
			return futexKey{object: object, offset: off, shared: true}
		}
	}
	return futexKey{mm: t.Proc.MM, offset: addr, shared: !private}
}

func (f *Futexes) add(w *futexWaiter) {
	f.queues[w.key] = append(f.queues[w.key], w)
	w.t.Wait.Entry = w
}

func (f *Futexes) remove(w *futexWaiter) {
	q := f.queues[w.key]
	for i, x := range q {
		if x == w {
			q = append(q[:i:i], q[i+1:]...)
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
func (f *Futexes) wake(w *futexWaiter) {
	f.remove(w)
	w.t.Wait.Woken = true
	w.t.Unpark()
}

// WaitsOnFutex reports whether t stands in a futex's queue; WaitsToOwn, whether
// in that of a priority-inheriting one.
func WaitsOnFutex(t *Thread) bool { return waiting(t) != nil }
func WaitsToOwn(t *Thread) bool   { w := waiting(t); return w != nil && w.pi }

// Enqueue lets t wait on the futex at addr for a wake-up of one of mask's bits.
// With piAddr != 0 it is to be moved to that futex (FUTEX_WAIT_REQUEUE_PI).
func (f *Futexes) Enqueue(t *Thread, addr uint64, private bool, mask uint32, piAddr uint64) {
	f.add(&futexWaiter{t: t, key: f.key(t, addr, private), addr: addr, mask: mask, toPI: piAddr != 0, piAddr: piAddr})
}

// leave takes a waiter out of its queue: it timed out or was interrupted.
func (f *Futexes) leave(w *futexWaiter) {
	f.remove(w)
	if w.pi && len(f.queues[w.key]) == 0 {
		f.disown(w.key)
	}
}

// Wake wakes up to count waiters (at least one) whose mask meets mask. EINVAL
// when a waiter expects more than a wake-up.
func (f *Futexes) Wake(t *Thread, addr uint64, private bool, count int, mask uint32) (int, Errno) {
	return f.wakeKey(f.key(t, addr, private), count, mask)
}

func (f *Futexes) wakeKey(k futexKey, count int, mask uint32) (int, Errno) {
	woken := 0
	for _, w := range append([]*futexWaiter(nil), f.queues[k]...) {
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
func (f *Futexes) Requeue(t *Thread, addr, addr2 uint64, private bool, wake, move int) (int, Errno) {
	from, to := f.key(t, addr, private), f.key(t, addr2, private)
	done := 0
	for _, w := range append([]*futexWaiter(nil), f.queues[from]...) {
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

func (f *Futexes) move(w *futexWaiter, to futexKey, addr uint64) {
	f.remove(w)
	w.key, w.addr = to, addr
	f.add(w)
}

// WakeOp is FUTEX_WAKE_OP's second half: the word at addr2 has been changed, and
// both says whether its waiters are woken too.
func (f *Futexes) WakeOp(t *Thread, addr, addr2 uint64, private bool, count, count2 int, both bool) (int, Errno) {
	n, e := f.Wake(t, addr, private, count, FutexAny)
	if e != 0 || !both {
		return n, e
	}
	m, e := f.Wake(t, addr2, private, count2, FutexAny)
	return n + m, e
}

// word reads the futex word at addr.
func word(t *Thread, addr uint64) (uint32, Errno) {
	var b [4]byte
	e := t.M.ReadMem(addr, b[:])
	return binary.LittleEndian.Uint32(b[:]), e
}

func setWord(t *Thread, addr uint64, v uint32) Errno {
	return t.M.WriteMem(addr, binary.LittleEndian.AppendUint32(nil, v))
}
