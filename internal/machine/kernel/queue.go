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
	WrBand = Events(0x200)
)

// Waiter is told that what it waits for may have changed.
type Waiter interface{ Notify(Events) }

// Queue is the waiters on one object: threads in the order in which they came,
// before them those that watch.
// The zero value is an empty queue.
type Queue struct{ waiters []Waiter }

func (q *Queue) add(w Waiter) { q.waiters = append(q.waiters, w) }

// AddWatcher enters a waiter that stays until Remove (an epoll item). It is told
// before the others, as in Linux; last puts it at the end.
func (q *Queue) AddWatcher(w Waiter, last bool) {
	if last {
		q.add(w)
		return
	}
	q.waiters = append([]Waiter{w}, q.waiters...)
}

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

// Notify tells all waiters, in order, that ev holds now or that something
// else changed. A woken thread leaves the queue; its handler may enter again.
func (q *Queue) Notify(ev Events) {
	for _, w := range append([]Waiter(nil), q.waiters...) {
		w.Notify(ev)
	}
}

// Waiters are the waiting threads, in order.
func (q *Queue) Waiters() []Waiter { return q.waiters }

// Empty reports whether nothing waits.
func (q *Queue) Empty() bool { return len(q.waiters) == 0 }
