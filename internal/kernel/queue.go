package kernel

import "golang.org/x/sys/unix"

// Events is a set of poll(2) events: POLLIN, POLLOUT, POLLHUP, ...
type Events uint32

const (
	In     = Events(unix.POLLIN)
	Out    = Events(unix.POLLOUT)
	Pri    = Events(unix.POLLPRI)
	Err    = Events(unix.POLLERR)
	Hup    = Events(unix.POLLHUP)
	RdHup  = Events(unix.POLLRDHUP)
	NVal   = Events(unix.POLLNVAL)
	RdNorm = Events(0x40)
	WrNorm = Events(0x100)
)

// Waiter is told that what it waits for may have changed.
type Waiter interface{ Notify(Events) }

// Queue is the waiters on one object, in the order in which they came.
// The zero value is an empty queue.
type Queue struct{ waiters []Waiter }

func (q *Queue) add(w Waiter) { q.waiters = append(q.waiters, w) }

// Add enters a waiter that stays until Remove (an epoll item).
func (q *Queue) Add(w Waiter) { q.add(w) }

// Remove takes w out.
func (q *Queue) Remove(w Waiter) { q.remove(w) }

func (q *Queue) remove(w Waiter) {
	for i, x := range q.waiters {
		if x == w {
			q.waiters = append(q.waiters[:i:i], q.waiters[i+1:]...)
			return
		}
	}
}

// Notify tells all waiters, oldest first, that ev holds now or that something
// else changed. A woken thread leaves the queue; its handler may enter again.
func (q *Queue) Notify(ev Events) {
	for _, w := range append([]Waiter(nil), q.waiters...) {
		w.Notify(ev)
	}
}

// Empty reports whether nothing waits.
func (q *Queue) Empty() bool { return len(q.waiters) == 0 }
