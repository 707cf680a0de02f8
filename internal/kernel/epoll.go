package kernel

import "golang.org/x/sys/unix"

// Bits of epoll_event.events that are modes, not poll events.
const (
	epollET        = 1 << 31
	epollOneShot   = 1 << 30
	epollWakeUp    = 1 << 29
	epollExclusive = 1 << 28
	epollModes     = epollET | epollOneShot | epollWakeUp | epollExclusive
)

// maxEpollLevels is the longest chain of epoll sets that watch one another.
const maxEpollLevels = 5

// EpollEvent is a struct epoll_event.
type EpollEvent struct {
	Events uint32
	Data   uint64
}

// Epoll is an epoll set (epoll(7)), after Linux's fs/eventpoll.c: items whose
// file announced an event stand in a ready list, first come first reported;
// whether the event still holds is asked when it is reported. A level-triggered
// item goes back to the end of the list, so reporting is fair.
type Epoll struct {
	items   map[int][]*epollItem // by descriptor number
	ready   []*epollItem
	changed Queue
}

// epollItem is one watched (open file description, descriptor) pair.
type epollItem struct {
	ep     *Epoll
	file   *OpenFile
	fd     int
	want   Events // with Err and Hup; 0 when a one-shot item has fired
	modes  uint32
	data   uint64
	queue  *Queue
	queued bool // in ep.ready
}

// NewEpoll returns an empty set.
func NewEpoll() *Epoll { return &Epoll{items: map[int][]*epollItem{}} }

// find returns the item for file under the number fd, or nil.
func (ep *Epoll) find(file *OpenFile, fd int) *epollItem {
	for _, it := range ep.items[fd] {
		if it.file == file {
			return it
		}
	}
	return nil
}

// Pollable reports whether epoll may watch f: regular files and directories
// have nothing to wait for.
func Pollable(f File) bool {
	_, always := f.(AlwaysReady)
	return !always
}

// Add implements EPOLL_CTL_ADD.
func (ep *Epoll) Add(file *OpenFile, fd int, ev EpollEvent) Errno {
	sub, nested := file.File.(*Epoll)
	if ev.Events&epollExclusive != 0 && (nested || !validExclusive(ev.Events)) {
		return unix.EINVAL
	}
	if nested && (sub.reaches(ep) || ep.levelsUp()+sub.levelsDown() > maxEpollLevels) {
		return unix.ELOOP
	}
	if ep.find(file, fd) != nil {
		return unix.EEXIST
	}
	it := &epollItem{ep: ep, file: file, fd: fd, queue: file.File.Changed()}
	it.set(ev)
	ep.items[fd] = append(ep.items[fd], it)
	if it.queue != nil {
		it.queue.AddWatcher(it, ev.Events&epollExclusive != 0)
	}
	file.WatchClose(it)
	it.check()
	return 0
}

// validExclusive says which bits may stand beside EPOLLEXCLUSIVE.
func validExclusive(events uint32) bool {
	const ok = uint32(In|Out|Err|Hup) | epollWakeUp | epollET | epollExclusive
	return events&^ok == 0
}

// reaches reports whether ep is target or watches it, directly or not.
func (ep *Epoll) reaches(target *Epoll) bool {
	if ep == target {
		return true
	}
	for _, items := range ep.items {
		for _, it := range items {
			if sub, ok := it.file.File.(*Epoll); ok && sub.reaches(target) {
				return true
			}
		}
	}
	return false
}

// levelsDown is the longest chain of sets from ep to those it watches;
// levelsUp to those that watch it. Both count ep.
func (ep *Epoll) levelsDown() int {
	n := 0
	for _, items := range ep.items {
		for _, it := range items {
			if sub, ok := it.file.File.(*Epoll); ok {
				n = max(n, sub.levelsDown())
			}
		}
	}
	return n + 1
}

func (ep *Epoll) levelsUp() int {
	n := 0
	for _, w := range ep.changed.Waiters() {
		if it, ok := w.(*epollItem); ok {
			n = max(n, it.ep.levelsUp())
		}
	}
	return n + 1
}

// Modify implements EPOLL_CTL_MOD.
func (ep *Epoll) Modify(file *OpenFile, fd int, ev EpollEvent) Errno {
	it := ep.find(file, fd)
	if ev.Events&epollExclusive != 0 {
		return unix.EINVAL
	}
	if it == nil {
		return unix.ENOENT
	}
	if it.modes&epollExclusive != 0 {
		return unix.EINVAL
	}
	it.set(ev)
	it.check()
	return 0
}

// Delete implements EPOLL_CTL_DEL.
func (ep *Epoll) Delete(file *OpenFile, fd int) Errno {
	it := ep.find(file, fd)
	if it == nil {
		return unix.ENOENT
	}
	it.remove()
	return 0
}

func (it *epollItem) set(ev EpollEvent) {
	it.want = Events(ev.Events&^epollModes) | Err | Hup
	it.modes = ev.Events & epollModes
	it.data = ev.Data
}

// holds returns the wanted events that hold now.
func (it *epollItem) holds() Events {
	return it.file.File.Ready() & it.want
}

// check queues the item if a wanted event holds.
func (it *epollItem) check() {
	if it.holds() != 0 && !it.queued {
		it.enqueue()
		it.ep.changed.Notify(In | RdNorm)
	}
}

func (it *epollItem) enqueue() {
	if !it.queued {
		it.queued = true
		it.ep.ready = append(it.ep.ready, it)
	}
}

// Notify implements Waiter: the file announces ev (0: anything). This, not a
// change of what holds, is the edge of EPOLLET.
func (it *epollItem) Notify(ev Events) {
	if it.want == 0 || ev != 0 && ev&it.want == 0 {
		return
	}
	it.enqueue()
	it.ep.changed.Notify(In | RdNorm)
}

// FileClosed implements CloseWatcher: the last descriptor of the open file
// description is closed.
func (it *epollItem) FileClosed(*OpenFile) { it.remove() }

// remove takes the item out of its set.
func (it *epollItem) remove() {
	ep := it.ep
	if it.queue != nil {
		it.queue.Remove(it)
	}
	it.file.UnwatchClose(it)
	ep.items[it.fd] = without(ep.items[it.fd], it)
	if len(ep.items[it.fd]) == 0 {
		delete(ep.items, it.fd)
	}
	if it.queued {
		ep.ready = without(ep.ready, it)
	}
}

// without returns s less x, in new memory.
func without(s []*epollItem, x *epollItem) []*epollItem {
	for i, y := range s {
		if y == x {
			return append(s[:i:i], s[i+1:]...)
		}
	}
	return s
}

// Collect takes at most max events, least recently reported first.
func (ep *Epoll) Collect(max int) []EpollEvent {
	var out []EpollEvent
	var again []*epollItem
	rest := ep.ready
	for len(rest) > 0 && len(out) < max {
		it := rest[0]
		rest = rest[1:]
		it.queued = false
		ev := it.holds()
		if ev == 0 {
			continue
		}
		out = append(out, EpollEvent{uint32(ev), it.data})
		switch {
		case it.modes&epollOneShot != 0:
			it.want = 0
		case it.modes&epollET == 0:
			it.queued = true
			again = append(again, it)
		}
	}
	ep.ready = append(append([]*epollItem(nil), rest...), again...)
	return out
}

// Ready implements File: an epoll set is readable when an item has an event.
// Items on the list for which nothing holds any more leave it.
func (ep *Epoll) Ready() Events {
	for len(ep.ready) > 0 {
		if ep.ready[0].holds() != 0 {
			return In | RdNorm
		}
		ep.ready[0].queued = false
		ep.ready = ep.ready[1:]
	}
	return 0
}

// Changed implements File.
func (ep *Epoll) Changed() *Queue { return &ep.changed }

// Release implements File.
func (ep *Epoll) Release(*Node) {
	for _, items := range ep.items {
		for _, it := range items {
			it.remove()
		}
	}
}

// Describe implements Describer.
func (ep *Epoll) Describe() string { return "anon_inode:[eventpoll]" }
