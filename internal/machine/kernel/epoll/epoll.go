// Package epoll is sets of files that are watched for events (epoll(7)).
package epoll

import (
	"math"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Bits of epoll_event.events that are modes, not poll events.
const (
	edgeTriggered = 1 << 31
	oneShot       = 1 << 30
	wakeUp        = 1 << 29
	exclusive     = 1 << 28
	modes         = edgeTriggered | oneShot | wakeUp | exclusive
)

// maxLevels is the longest chain of epoll sets that watch one another.
const maxLevels = 5

// Event is a struct epoll_event.
type Event struct {
	Events uint32
	Data   uint64
}

// Set is an epoll set (epoll(7)), after Linux's fs/eventpoll.c: items whose
// file announced an event stand in a ready list, first come first reported;
// whether the event still holds is asked when it is reported. A level-triggered
// item goes back to the end of the list, so reporting is fair.
type Set struct {
	items   map[int][]*item // by descriptor number
	ready   []*item
	changed kernel.Queue
	user    int // who made it
	users   *users
}

var _ = kernel.DeclareKind[*Set]()

// users is how much the sets of each user watch. Linux counts so much memory for one watch.
type users struct{ watches map[int]int }

const watchSize = 184

var usersOf = kernel.NewSlot[*kernel.Node, users]()

// maxWatches is what the sets of one user may watch: as much as 4 % of the memory has room for
// (epoll(7)).
var maxWatches = kernel.NewMemorySetting("fs/epoll/max_user_watches", 0, math.MaxInt64,
	func(memory int64) []int64 { return []int64{memory / 25 / watchSize} })

// item is one watched (open file description, descriptor) pair.
type item struct {
	ep     *Set
	file   *kernel.OpenFile
	fd     int
	want   kernel.Events // with Err and Hup; 0 when a one-shot item has fired
	modes  uint32
	data   uint64
	queue  *kernel.Queue
	queued bool // in ep.ready
}

var _ = kernel.DeclareKind[*item]()

// New returns an empty set, which t makes.
func New(t *kernel.Thread) *Set {
	u := usersOf.Of(t.Node())
	if u.watches == nil {
		u.watches = map[int]int{}
	}
	return &Set{items: map[int][]*item{}, user: t.Cred.UID.Real, users: u}
}

// find returns the item for file under the number fd, or nil.
func (ep *Set) find(file *kernel.OpenFile, fd int) *item {
	for _, it := range ep.items[fd] {
		if it.file == file {
			return it
		}
	}
	return nil
}

// Pollable reports whether epoll may watch f: regular files and directories
// have nothing to wait for.
func Pollable(f kernel.File) bool {
	_, always := f.(kernel.AlwaysReady)
	return !always
}

// Add implements EPOLL_CTL_ADD.
func (ep *Set) Add(n *kernel.Node, file *kernel.OpenFile, fd int, ev Event) kernel.Errno {
	sub, nested := file.File.(*Set)
	if ev.Events&exclusive != 0 && (nested || !validExclusive(ev.Events)) {
		return unix.EINVAL
	}
	if nested && (sub.reaches(ep) || ep.levelsUp()+sub.levelsDown() > maxLevels) {
		return unix.ELOOP
	}
	if ep.find(file, fd) != nil {
		return unix.EEXIST
	}
	if int64(ep.users.watches[ep.user]) >= maxWatches.Of(n) {
		return unix.ENOSPC
	}
	ep.users.watches[ep.user]++
	it := &item{ep: ep, file: file, fd: fd, queue: file.File.Changed()}
	it.set(ev)
	ep.items[fd] = append(ep.items[fd], it)
	if it.queue != nil {
		it.queue.AddWatcher(it, ev.Events&exclusive != 0)
	}
	file.WatchClose(it)
	it.check()
	return 0
}

// validExclusive says which bits may stand beside EPOLLEXCLUSIVE.
func validExclusive(events uint32) bool {
	const ok = uint32(kernel.In|kernel.Out|kernel.Err|kernel.Hup) | wakeUp | edgeTriggered | exclusive
	return events&^ok == 0
}

// reaches reports whether ep is target or watches it, directly or not.
func (ep *Set) reaches(target *Set) bool {
	if ep == target {
		return true
	}
	for _, items := range ep.items {
		for _, it := range items {
			if sub, ok := it.file.File.(*Set); ok && sub.reaches(target) {
				return true
			}
		}
	}
	return false
}

// levelsDown is the longest chain of sets from ep to those it watches;
// levelsUp to those that watch it. Both count ep.
func (ep *Set) levelsDown() int {
	n := 0
	for _, items := range ep.items {
		for _, it := range items {
			if sub, ok := it.file.File.(*Set); ok {
				n = max(n, sub.levelsDown())
			}
		}
	}
	return n + 1
}

func (ep *Set) levelsUp() int {
	n := 0
	for _, w := range ep.changed.Waiters() {
		if it, ok := w.(*item); ok {
			n = max(n, it.ep.levelsUp())
		}
	}
	return n + 1
}

// Modify implements EPOLL_CTL_MOD.
func (ep *Set) Modify(file *kernel.OpenFile, fd int, ev Event) kernel.Errno {
	it := ep.find(file, fd)
	if ev.Events&exclusive != 0 {
		return unix.EINVAL
	}
	if it == nil {
		return unix.ENOENT
	}
	if it.modes&exclusive != 0 {
		return unix.EINVAL
	}
	it.set(ev)
	it.check()
	return 0
}

// Delete implements EPOLL_CTL_DEL.
func (ep *Set) Delete(file *kernel.OpenFile, fd int) kernel.Errno {
	it := ep.find(file, fd)
	if it == nil {
		return unix.ENOENT
	}
	it.remove()
	return 0
}

func (it *item) set(ev Event) {
	it.want = kernel.Events(ev.Events&^modes) | kernel.Err | kernel.Hup
	it.modes = ev.Events & modes
	it.data = ev.Data
}

// holds returns the wanted events that hold now.
func (it *item) holds() kernel.Events {
	return it.file.File.Ready() & it.want
}

// check queues the item if a wanted event holds.
func (it *item) check() {
	if it.holds() != 0 && !it.queued {
		it.enqueue()
		it.ep.changed.Notify(kernel.In | kernel.RdNorm)
	}
}

func (it *item) enqueue() {
	if !it.queued {
		it.queued = true
		it.ep.ready = append(it.ep.ready, it)
	}
}

// Notify implements Waiter: the file announces ev (0: anything). This, not a
// change of what holds, is the edge of EPOLLET.
func (it *item) Notify(ev kernel.Events) {
	if it.want == 0 || ev != 0 && ev&it.want == 0 {
		return
	}
	it.enqueue()
	it.ep.changed.Notify(kernel.In | kernel.RdNorm)
}

// FileClosed implements CloseWatcher: the last descriptor of the open file
// description is closed.
func (it *item) FileClosed(*kernel.OpenFile) { it.remove() }

// remove takes the item out of its set.
func (it *item) remove() {
	ep := it.ep
	if it.queue != nil {
		it.queue.Remove(it)
	}
	it.file.UnwatchClose(it)
	if ep.users.watches[ep.user]--; ep.users.watches[ep.user] == 0 {
		delete(ep.users.watches, ep.user)
	}
	ep.items[it.fd] = without(ep.items[it.fd], it)
	if len(ep.items[it.fd]) == 0 {
		delete(ep.items, it.fd)
	}
	if it.queued {
		ep.ready = without(ep.ready, it)
	}
}

// without returns s less x, in new memory.
func without(s []*item, x *item) []*item {
	for i, y := range s {
		if y == x {
			return append(s[:i:i], s[i+1:]...)
		}
	}
	return s
}

// Collect takes at most max events, least recently reported first.
func (ep *Set) Collect(max int) []Event {
	var out []Event
	var again []*item
	rest := ep.ready
	for len(rest) > 0 && len(out) < max {
		it := rest[0]
		rest = rest[1:]
		it.queued = false
		ev := it.holds()
		if ev == 0 {
			continue
		}
		out = append(out, Event{uint32(ev), it.data})
		switch {
		case it.modes&oneShot != 0:
			it.want = 0
		case it.modes&edgeTriggered == 0:
			it.queued = true
			again = append(again, it)
		}
	}
	ep.ready = append(append([]*item(nil), rest...), again...)
	return out
}

// Ready implements File: an epoll set is readable when an item has an event.
// Items on the list for which nothing holds any more leave it.
func (ep *Set) Ready() kernel.Events {
	for len(ep.ready) > 0 {
		if ep.ready[0].holds() != 0 {
			return kernel.In | kernel.RdNorm
		}
		ep.ready[0].queued = false
		ep.ready = ep.ready[1:]
	}
	return 0
}

// Changed implements File.
func (ep *Set) Changed() *kernel.Queue { return &ep.changed }

// Release implements File.
func (ep *Set) Release(*kernel.Node) {
	for _, items := range ep.items {
		for _, it := range items {
			it.remove()
		}
	}
}

// Describe implements Describer.
func (ep *Set) Describe() string { return "anon_inode:[eventpoll]" }
