package futex

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

const (
	einval = kernel.Errno(unix.EINVAL)
	esrch  = kernel.Errno(unix.ESRCH)
	eagain = kernel.Errno(unix.EAGAIN)
)

// Priority-inheriting futexes: the kernel hands the lock on, and keeps the
// owner's id in the word. Priorities themselves are not modelled; the order is
// that of arrival.

// LockPI takes the futex at addr for t, or with wait enters t into its queue
// (waiting is true). Errors: EDEADLK, ESRCH for a dead owner, EAGAIN without wait.
func (f *Table) LockPI(t *kernel.Thread, addr uint64, private, wait bool) (waiting bool, e kernel.Errno) {
	k := f.key(t, addr, private)
	took, e := f.tryPI(t, k, addr)
	if took || e != 0 {
		return false, e
	}
	e = 0
	if !wait {
		e = eagain
	} else if f.deadlocks(t, k) {
		e = unix.EDEADLK
	}
	if e != 0 {
		if len(f.queues[k]) == 0 {
			f.disown(k)
		}
		return false, e
	}
	f.add(&waiter{t: t, key: k, addr: addr, pi: true})
	return true, 0
}

// tryPI takes the futex if it is free; otherwise it marks the word as waited for.
func (f *Table) tryPI(t *kernel.Thread, k key, addr uint64) (took bool, e kernel.Errno) {
	v, e := word(t, addr)
	if e != 0 {
		return false, e
	}
	owner := v & TIDMask
	switch {
	case owner == uint32(t.TID):
		return false, unix.EDEADLK
	case len(f.queues[k]) > 0 && !f.queues[k][0].pi:
		return false, einval // it is waited for as an ordinary one
	case owner == 0 && len(f.queues[k]) == 0:
		return true, setWord(t, addr, v&OwnerDied|uint32(t.TID))
	}
	o := t.Node().Thread(int(owner))
	if o == nil {
		setWord(t, addr, v|Waiters) // Linux marks it before it looks for the owner
		return false, esrch
	}
	if old := f.owners[k]; old != nil && old != o {
		return false, einval // the word does not say what the kernel knows
	}
	f.own(k, o)
	return false, setWord(t, addr, v|Waiters)
}

// deadlocks reports whether the owner of k waits, over others, for t.
func (f *Table) deadlocks(t *kernel.Thread, k key) bool {
	for range len(f.owners) + 1 {
		o := f.owners[k]
		if o == t {
			return true
		}
		if o == nil || !WaitsToOwn(o) {
			return false
		}
		k = waiting(o).key
	}
	return true
}

// own records the owner of a futex with waiters.
func (f *Table) own(k key, t *kernel.Thread) {
	if f.owners[k] == t {
		return
	}
	f.disown(k)
	f.owners[k] = t
	own := piOwned.Of(t)
	own.keys = append(own.keys, k)
}

func (f *Table) disown(k key) {
	t := f.owners[k]
	if t == nil {
		return
	}
	delete(f.owners, k)
	own := piOwned.Of(t)
	if i := slices.Index(own.keys, k); i >= 0 {
		own.keys = slices.Delete(own.keys, i, i+1)
	}
}

// UnlockPI gives the futex at addr up for t: to the first waiter, or to nobody.
// EPERM when t is not its owner.
func (f *Table) UnlockPI(t *kernel.Thread, addr uint64, private bool) kernel.Errno {
	v, e := word(t, addr)
	if e != 0 {
		return e
	}
	if v&TIDMask != uint32(t.TID) {
		return unix.EPERM
	}
	k := f.key(t, addr, private)
	f.disown(k)
	q := f.queues[k]
	if len(q) == 0 {
		return setWord(t, addr, 0)
	}
	if !q[0].pi {
		return einval
	}
	f.handOver(k, 0)
	return 0
}

// handOver gives the futex to its first waiter and wakes that one.
func (f *Table) handOver(k key, flags uint32) {
	w := f.queues[k][0]
	setWord(w.t, w.addr, uint32(w.t.TID)|Waiters|flags)
	f.wake(w)
	if len(f.queues[k]) > 0 {
		f.own(k, w.t)
	}
}

// RequeuePI gives the first waiter of the futex at addr the priority-inheriting
// one at addr2 if that is free, and moves up to move others to wait for it. It
// returns how many were woken or moved.
func (f *Table) RequeuePI(t *kernel.Thread, addr, addr2 uint64, private bool, move int) (int, kernel.Errno) {
	from, to := f.key(t, addr, private), f.key(t, addr2, private)
	done := 0
	for _, w := range append([]*waiter(nil), f.queues[from]...) {
		if done > move {
			break
		}
		if !w.toPI || f.key(w.t, w.piAddr, private) != to {
			return done, einval
		}
		took, e := f.tryPI(w.t, to, w.piAddr)
		if e != 0 {
			return done, e
		}
		if took {
			f.wake(w)
		} else {
			w.toPI, w.pi = false, true
			f.move(w, to, w.piAddr)
		}
		done++
	}
	return done, 0
}

// release is what the end of t means for futexes: it leaves the queue it
// waits in, and what it holds goes to others, marked as of a dead owner.
func release(t *kernel.Thread) {
	f := Of(t.Node())
	if w := waiting(t); w != nil {
		f.leave(w)
	}
	walkRobustList(t)
	own := piOwned.Peek(t)
	for own != nil && len(own.keys) > 0 {
		k := own.keys[0]
		f.disown(k)
		f.handOver(k, OwnerDied)
	}
}

// robustLimit is how many locks of a dead thread are looked at (the list may
// be a circle).
const robustLimit = 2048

// walkRobustList marks the robust futexes that t holds (set_robust_list(2) and
// Linux's exit_robust_list). Broken lists end the walk.
func walkRobustList(t *kernel.Thread) {
	head := t.RobustList
	t.RobustList = 0
	if head == 0 {
		return
	}
	entry, e1 := pointer(t, head)
	offset, e2 := pointer(t, head+8)
	pending, e3 := pointer(t, head+16)
	if e1 != 0 || e2 != 0 || e3 != 0 {
		return
	}
	for range robustLimit {
		if entry&^1 == head {
			break
		}
		next, e := pointer(t, entry&^1)
		if entry&^1 != pending&^1 && !ownerDied(t, entry&^1+offset, entry&1 != 0, false) {
			return
		}
		if e != 0 {
			return
		}
		entry = next
	}
	if pending&^1 != 0 {
		ownerDied(t, pending&^1+offset, pending&1 != 0, true)
	}
}

// ownerDied marks one robust futex of the dying t and wakes a waiter. pending: t
// died between taking or giving up the lock and noting that in its list.
func ownerDied(t *kernel.Thread, addr uint64, pi, pending bool) bool {
	v, e := word(t, addr)
	if e != 0 || addr%4 != 0 {
		return false
	}
	f := Of(t.Node())
	owner := v & TIDMask
	if pending && !pi && owner == 0 {
		f.Wake(t, addr, false, 1, Any)
		return true
	}
	if owner != uint32(t.TID) {
		return true
	}
	if setWord(t, addr, v&Waiters|OwnerDied) != 0 {
		return false
	}
	if !pi && v&Waiters != 0 {
		f.Wake(t, addr, false, 1, Any)
	}
	return true
}

func pointer(t *kernel.Thread, addr uint64) (uint64, kernel.Errno) {
	lo, e := word(t, addr)
	if e != 0 {
		return 0, e
	}
	hi, e := word(t, addr+4)
	return uint64(hi)<<32 | uint64(lo), e
}
