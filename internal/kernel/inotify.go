package kernel

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// Limits of inotify(7): those that Linux begins with.
const (
	inotifyMaxInstances = 128
	inotifyMaxQueued    = 16384
	inotifyMaxWatches   = 65536
)

// Notify is the node's inotify instances. Only the node's own calls change its files, and
// each of these stops, so whoever handles one says here what it has done to which file. As
// in Linux, a file is watched by its inode, and as an entry of its directory.
type Notify struct {
	instances []*Inotify
	watches   int
	cookie    uint32
	// unlinked are watched files without a name that were still open when they lost it.
	unlinked []FileKey
}

var notify = NewSlot[*Node, Notify]()

func init() {
	Register(Hooks{FileClosed: func(n *Node, of *OpenFile) {
		if h, ok := of.File.(*HostFile); ok {
			n.notifyClosed(h, of.Flags)
		}
	}})
}

// Inotify is one instance.
type Inotify struct {
	node     *Node
	watches  []*watch // in order of wd
	lastWD   int
	events   []notifyEvent
	overflow bool // a Q_OVERFLOW is queued
	changed  Queue
}

type watch struct {
	wd   int
	key  FileKey
	mask uint32 // events and IN_EXCL_UNLINK, IN_ONESHOT
}

type notifyEvent struct {
	wd           int
	mask, cookie uint32
	name         string
}

// Watched reports whether anything is watched at all.
func (n *Node) Watched() bool { return notify.Of(n).watches > 0 }

// NewInotify makes an instance.
func (n *Node) NewInotify() (*Inotify, Errno) {
	if len(notify.Of(n).instances) == inotifyMaxInstances {
		return nil, unix.EMFILE
	}
	f := &Inotify{node: n}
	notify.Of(n).instances = append(notify.Of(n).instances, f)
	return f, 0
}

// Ready implements File.
func (f *Inotify) Ready() Events {
	if len(f.events) > 0 {
		return In | RdNorm
	}
	return 0
}

// Changed implements File.
func (f *Inotify) Changed() *Queue { return &f.changed }

// Release implements File.
func (f *Inotify) Release(n *Node) {
	notify.Of(n).watches -= len(f.watches)
	notify.Of(n).instances = slices.DeleteFunc(notify.Of(n).instances, func(x *Inotify) bool { return x == f })
}

// Describe implements Describer.
func (f *Inotify) Describe() string { return "anon_inode:inotify" }

// size is what the event takes in a reader's buffer: names are padded.
func (e *notifyEvent) size() int {
	const header = unix.SizeofInotifyEvent
	if e.name == "" {
		return header
	}
	return header + (len(e.name)+header)/header*header
}

// Read implements Reader: whole events.
func (f *Inotify) Read(_ *Thread, b []byte) (int, Errno) {
	le, n := binary.LittleEndian, 0
	for len(f.events) > 0 {
		e := &f.events[0]
		size := e.size()
		if size > len(b)-n {
			if n == 0 {
				return 0, unix.EINVAL
			}
			break
		}
		at := b[n : n+size]
		clear(at)
		le.PutUint32(at, uint32(e.wd))
		le.PutUint32(at[4:], e.mask)
		le.PutUint32(at[8:], e.cookie)
		le.PutUint32(at[12:], uint32(size-unix.SizeofInotifyEvent))
		copy(at[unix.SizeofInotifyEvent:], e.name)
		f.overflow = f.overflow && e.mask != unix.IN_Q_OVERFLOW
		f.events = f.events[1:]
		n += size
	}
	if n == 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// buffered is FIONREAD's answer: what all events take. It does not implement Sized, since
// a buffer that is too small for one event is an error.
func (f *Inotify) buffered() int {
	n := 0
	for i := range f.events {
		n += f.events[i].size()
	}
	return n
}

// Ioctl implements Ioctler.
func (f *Inotify) Ioctl(t *Thread, cmd, arg uint64) (int64, Errno) {
	const fionread = 0x541b
	if cmd != fionread {
		return 0, unix.ENOTTY
	}
	return 0, t.M.WriteMem(arg, binary.LittleEndian.AppendUint32(nil, uint32(f.buffered())))
}

// Add watches a file, or changes how it is watched (inotify_add_watch(2)).
func (f *Inotify) Add(key FileKey, mask uint32) (wd int, e Errno) {
	const kept = unix.IN_ALL_EVENTS | unix.IN_EXCL_UNLINK | unix.IN_ONESHOT
	key = f.node.Files.first(key)
	for _, w := range f.watches {
		if w.key != key {
			continue
		}
		switch {
		case mask&unix.IN_MASK_CREATE != 0:
			return 0, unix.EEXIST
		case mask&unix.IN_MASK_ADD == 0:
			w.mask = 0
		}
		w.mask |= mask & kept
		return w.wd, 0
	}
	if notify.Of(f.node).watches == inotifyMaxWatches {
		return 0, unix.ENOSPC
	}
	f.lastWD++
	f.watches = append(f.watches, &watch{f.lastWD, key, mask & kept})
	notify.Of(f.node).watches++
	return f.lastWD, 0
}

// Remove ends a watch (inotify_rm_watch(2)).
func (f *Inotify) Remove(wd int) Errno {
	for _, w := range f.watches {
		if w.wd == wd {
			f.drop(w)
			return 0
		}
	}
	return unix.EINVAL
}

func (f *Inotify) drop(w *watch) {
	f.watches = slices.DeleteFunc(f.watches, func(x *watch) bool { return x == w })
	notify.Of(f.node).watches--
	f.queue(notifyEvent{wd: w.wd, mask: unix.IN_IGNORED})
}

// queue appends an event, unless it says the same as the last one.
func (f *Inotify) queue(e notifyEvent) {
	if len(f.events) >= inotifyMaxQueued {
		if f.overflow {
			return
		}
		f.overflow = true
		e = notifyEvent{wd: -1, mask: unix.IN_Q_OVERFLOW}
	} else if n := len(f.events); n > 0 {
		if last := f.events[n-1]; last.wd == e.wd && last.mask == e.mask && last.name == e.name {
			return
		}
	}
	f.events = append(f.events, e)
	f.changed.Notify(In)
}

// tell tells the instance of an event at a watched inode; name is that of an entry of it.
// gone: the event is about an open file that its directory no longer has.
func (f *Inotify) tell(key FileKey, mask, cookie uint32, name string, gone bool) {
	for _, w := range f.watches {
		if w.key != key {
			continue
		}
		if w.mask&mask&unix.IN_ALL_EVENTS == 0 || gone && w.mask&unix.IN_EXCL_UNLINK != 0 {
			return
		}
		if mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0 {
			mask &^= unix.IN_ISDIR
		}
		f.queue(notifyEvent{w.wd, mask, cookie, name})
		if w.mask&unix.IN_ONESHOT != 0 {
			f.drop(w)
		}
		return
	}
}

// NotifyInode tells who watches the inode itself.
func (n *Node) NotifyInode(key FileKey, mask uint32) {
	key = n.Files.first(key)
	for _, f := range notify.Of(n).instances {
		f.tell(key, mask, 0, "", false)
	}
}

// NotifyName tells who watches a directory of something that happened to a name in it.
func (n *Node) NotifyName(dir FileKey, name string, mask, cookie uint32) {
	dir = n.Files.first(dir)
	for _, f := range notify.Of(n).instances {
		f.tell(dir, mask, cookie, name, false)
	}
}

// NotifyEntry tells who watches the directory of a file, then who watches the file. open:
// it was done to an open file.
func (n *Node) NotifyEntry(e Entry, key FileKey, mask uint32, open bool) {
	dir, key := n.Files.first(e.Dir), n.Files.first(key)
	for _, f := range notify.Of(n).instances {
		if e.Dir != (FileKey{}) {
			f.tell(dir, mask, 0, e.Name, open && e.Removed)
		}
		f.tell(key, mask, 0, "", open && e.Removed)
	}
}

// NotifyOpen is NotifyEntry for an open file.
func (n *Node) NotifyOpen(h *HostFile, mask uint32) {
	if h.Entry == nil {
		if n.wantedAnywhere(mask) {
			n.Refuse(nil, "inotify of a file whose directory is not known", h.Path, false)
		}
		return
	}
	n.NotifyEntry(*h.Entry, h.Key(), mask|h.isDir(), true)
}

func (h *HostFile) isDir() uint32 {
	if h.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.IN_ISDIR
	}
	return 0
}

// WantsOpen reports whether an event of an open file would be told to anybody.
func (n *Node) WantsOpen(h *HostFile, mask uint32) bool {
	if notify.Of(n).watches == 0 {
		return false
	}
	if h.Entry == nil {
		return n.wantedAnywhere(mask)
	}
	return n.Wants(*h.Entry, h.Key(), mask)
}

// Wants reports whether an event of a file would be told to anybody.
func (n *Node) Wants(e Entry, key FileKey, mask uint32) bool {
	dir, key := n.Files.first(e.Dir), n.Files.first(key)
	return n.anyWatch(func(w *watch) bool {
		return w.mask&mask != 0 && (w.key == key || e.Dir != (FileKey{}) && w.key == dir)
	})
}

func (n *Node) wantedAnywhere(mask uint32) bool {
	return n.anyWatch(func(w *watch) bool { return w.mask&mask != 0 })
}

func (n *Node) anyWatch(f func(*watch) bool) bool {
	for _, x := range notify.Of(n).instances {
		if slices.ContainsFunc(x.watches, f) {
			return true
		}
	}
	return false
}

// WatchesInode reports whether the inode itself is watched.
func (n *Node) WatchesInode(key FileKey) bool {
	key = n.Files.first(key)
	return n.anyWatch(func(w *watch) bool { return w.key == key })
}

// NotifyCookie returns a number for the two events of a rename.
func (n *Node) NotifyCookie() uint32 { notify.Of(n).cookie++; return notify.Of(n).cookie }

// NotifyUnlinked is called when a file has lost its last name. Its inode goes with the
// last descriptor for it.
func (n *Node) NotifyUnlinked(key FileKey) {
	if !n.WatchesInode(key) {
		return
	}
	if n.isOpen(key) {
		notify.Of(n).unlinked = append(notify.Of(n).unlinked, n.Files.first(key))
		return
	}
	n.inodeGone(key)
}

// NotifyRelinked is called when a file has got a name again (linkat(2) of a descriptor).
func (n *Node) NotifyRelinked(key FileKey) {
	key = n.Files.first(key)
	notify.Of(n).unlinked = slices.DeleteFunc(notify.Of(n).unlinked, func(x FileKey) bool { return x == key })
}

func (n *Node) inodeGone(key FileKey) {
	n.NotifyInode(key, unix.IN_DELETE_SELF)
	key = n.Files.first(key)
	for _, f := range notify.Of(n).instances {
		for _, w := range slices.Clone(f.watches) {
			if w.key == key {
				f.drop(w)
			}
		}
	}
}

// notifyClosed is called when the last descriptor of an open file description is gone.
func (n *Node) notifyClosed(h *HostFile, flags int) {
	if notify.Of(n).watches == 0 || flags&unix.O_PATH != 0 {
		return
	}
	mask := uint32(unix.IN_CLOSE_NOWRITE)
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		mask = unix.IN_CLOSE_WRITE
	}
	switch key := n.Files.first(h.Key()); {
	case h.Mapped && (n.WantsOpen(h, mask) || slices.Contains(notify.Of(n).unlinked, key)):
		// Linux closes it with the last mapping, and munmap is not seen.
		n.Refuse(nil, "inotify of a file that was mapped", h.Path, false)
	default:
		n.NotifyOpen(h, mask)
		if slices.Contains(notify.Of(n).unlinked, key) && !n.isOpen(key) {
			n.NotifyRelinked(key)
			n.inodeGone(key)
		}
	}
}

func (n *Node) isOpen(key FileKey) bool {
	key, found := n.Files.first(key), false
	n.OpenHostFiles(func(_ *Process, _ int, h *HostFile) { found = found || n.Files.first(h.Key()) == key })
	return found
}

// NotifyMoved is called when a name of a file has moved: it is still that of who opened
// the file by it. to is nil when the name is gone.
func (n *Node) NotifyMoved(key FileKey, from Entry, to *Entry) {
	n.OpenHostFiles(func(_ *Process, _ int, h *HostFile) {
		if h.Entry == nil || h.Key() != key || h.Entry.Name != from.Name || h.Entry.Dir != from.Dir || h.Entry.Removed {
			return
		}
		if to == nil {
			h.Entry = &Entry{from.Dir, from.Name, true}
		} else {
			h.Entry = to
		}
	})
}
