// Package inotify is watches of files and directories (inotify(7)). Only the node's own calls
// change its files, and each of these stops, so whoever handles one says here what it has done to
// which file; nothing is watched in Linux.
package inotify

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Limits of inotify(7): those that Linux begins with.
var (
	maxInstances = kernel.NewSetting("fs/inotify/max_user_instances", 0, math.MaxInt32, 128)
	maxQueued    = kernel.NewSetting("fs/inotify/max_queued_events", 0, math.MaxInt32, 16384)
	maxWatches   = kernel.NewSetting("fs/inotify/max_user_watches", 0, math.MaxInt32, 65536)
)

// state is the node's inotify instances. Only the node's own calls change its files, and
// each of these stops, so whoever handles one says here what it has done to which file. As
// in Linux, a file is watched by its inode, and as an entry of its directory.
type state struct {
	instances []*Instance
	watches   int
	// directories are watched for F_NOTIFY.
	directories []*directory
	cookie      uint32
	// unlinked are files without a name that were still in use when they lost it, by which name.
	unlinked []unlinked
}

var states = kernel.NewSlot[*kernel.Node, state]()

func init() {
	kernel.Register("inotify", kernel.Hooks{FileClosed: func(n *kernel.Node, of *kernel.OpenFile) {
		if h, ok := of.File.(*kernel.HostFile); ok {
			closed(n, h, of.Flags)
		}
	}})
}

// Instance is one instance.
type Instance struct {
	node     *kernel.Node
	watches  []*watch // in order of wd
	lastWD   int
	events   []event
	overflow bool // a Q_OVERFLOW is queued
	changed  kernel.Queue
}

var _ = kernel.DeclareKind[*Instance]()

type watch struct {
	wd   int
	key  inode.Key
	mask uint32 // events and IN_EXCL_UNLINK, IN_ONESHOT
}

// unlinked is a file that lost its last name while something still used it by that: an open file,
// or one in it that is itself in use, of a directory.
type unlinked struct {
	key inode.Key
	at  kernel.Entry
}

type event struct {
	wd           int
	mask, cookie uint32
	name         string
}

// Shown is a watch as /proc shows it.
type Shown struct {
	WD   int
	Key  inode.Key
	Mask uint32
}

// Watches are those of f, the last one first.
func (f *Instance) Watches() (list []Shown) {
	for _, w := range slices.Backward(f.watches) {
		list = append(list, Shown{w.wd, w.key, w.mask})
	}
	return list
}

// Watched reports whether anything is watched at all.
func Watched(n *kernel.Node) bool { return states.Of(n).watches > 0 }

// New makes an instance.
func New(n *kernel.Node) (*Instance, kernel.Errno) {
	if len(states.Of(n).instances) >= int(maxInstances.Of(n)) {
		return nil, unix.EMFILE
	}
	f := &Instance{node: n}
	states.Of(n).instances = append(states.Of(n).instances, f)
	return f, 0
}

// Ready implements File.
func (f *Instance) Ready() kernel.Events {
	if len(f.events) > 0 {
		return kernel.In | kernel.RdNorm
	}
	return 0
}

// Changed implements File.
func (f *Instance) Changed() *kernel.Queue { return &f.changed }

// Release implements File.
func (f *Instance) Release(n *kernel.Node) {
	states.Of(n).watches -= len(f.watches)
	states.Of(n).instances = slices.DeleteFunc(states.Of(n).instances, func(x *Instance) bool { return x == f })
}

// SignalsIO implements IOSignaler.
func (f *Instance) SignalsIO() {}

// Describe implements Describer.
func (f *Instance) Describe() string { return "anon_inode:inotify" }

// size is what the event takes in a reader's buffer: names are padded.
func (e *event) size() int {
	const header = unix.SizeofInotifyEvent
	if e.name == "" {
		return header
	}
	return header + (len(e.name)+header)/header*header
}

// Read implements Reader: whole events.
func (f *Instance) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
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
func (f *Instance) buffered() int {
	n := 0
	for i := range f.events {
		n += f.events[i].size()
	}
	return n
}

// Ioctl implements Ioctler.
func (f *Instance) Ioctl(t *kernel.Thread, cmd, arg uint64) (int64, kernel.Errno) {
	const fionread = 0x541b
	if cmd != fionread {
		return 0, unix.ENOTTY
	}
	return 0, t.M.WriteMem(arg, binary.LittleEndian.AppendUint32(nil, uint32(f.buffered())))
}

// Add watches a file, or changes how it is watched (inotify_add_watch(2)).
func (f *Instance) Add(key inode.Key, mask uint32) (wd int, e kernel.Errno) {
	const kept = unix.IN_ALL_EVENTS | unix.IN_EXCL_UNLINK | unix.IN_ONESHOT
	key = f.node.Files.First(key)
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
	if states.Of(f.node).watches >= int(maxWatches.Of(f.node)) {
		return 0, unix.ENOSPC
	}
	f.lastWD++
	f.watches = append(f.watches, &watch{f.lastWD, key, mask & kept})
	states.Of(f.node).watches++
	return f.lastWD, 0
}

// Remove ends a watch (inotify_rm_watch(2)).
func (f *Instance) Remove(wd int) kernel.Errno {
	for _, w := range f.watches {
		if w.wd == wd {
			f.drop(w)
			return 0
		}
	}
	return unix.EINVAL
}

func (f *Instance) drop(w *watch) {
	f.watches = slices.DeleteFunc(f.watches, func(x *watch) bool { return x == w })
	states.Of(f.node).watches--
	f.queue(event{wd: w.wd, mask: unix.IN_IGNORED})
}

// queue appends an event, unless it says the same as the last one.
func (f *Instance) queue(e event) {
	if len(f.events) >= int(maxQueued.Of(f.node)) {
		if f.overflow {
			return
		}
		f.overflow = true
		e = event{wd: -1, mask: unix.IN_Q_OVERFLOW}
	} else if n := len(f.events); n > 0 {
		if last := f.events[n-1]; last.wd == e.wd && last.mask == e.mask && last.name == e.name {
			return
		}
	}
	f.events = append(f.events, e)
	f.changed.Notify(kernel.In)
}

// addEventOf adds an event at a watched inode to the instance. name is that of an entry of the
// inode. gone: the event is about an open file that its directory no longer has.
func (f *Instance) addEventOf(key inode.Key, mask, cookie uint32, name string, gone bool) {
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
		f.queue(event{w.wd, mask, cookie, name})
		if w.mask&unix.IN_ONESHOT != 0 {
			f.drop(w)
		}
		return
	}
}

// TellInode tells who watches the inode itself.
func TellInode(n *kernel.Node, key inode.Key, mask uint32) {
	key = n.Files.First(key)
	for _, f := range states.Of(n).instances {
		f.addEventOf(key, mask, 0, "", false)
	}
	signalEvent(n, key, mask)
}

// TellName tells who watches a directory of something that happened to a name in it.
func TellName(n *kernel.Node, dir inode.Key, name string, mask, cookie uint32) {
	dir = n.Files.First(dir)
	for _, f := range states.Of(n).instances {
		f.addEventOf(dir, mask, cookie, name, false)
	}
	signalEvent(n, dir, mask)
}

// TellEntry tells who watches the directory of a file, then who watches the file. open:
// it was done to an open file.
func TellEntry(n *kernel.Node, e kernel.Entry, key inode.Key, mask uint32, open bool) {
	dir, key := n.Files.First(e.Dir), n.Files.First(key)
	for _, f := range states.Of(n).instances {
		if e.Dir != (inode.Key{}) {
			f.addEventOf(dir, mask, 0, e.Name, open && e.Removed)
		}
		f.addEventOf(key, mask, 0, "", open && e.Removed)
	}
	if e.Dir != (inode.Key{}) {
		signalEvent(n, dir, mask)
	}
	signalEvent(n, key, mask)
}

// TellOpen is TellEntry for an open file.
func TellOpen(n *kernel.Node, h *kernel.HostFile, mask uint32) {
	if h.Entry == nil {
		if wantedAnywhere(n, mask) {
			n.Refuse(nil, "inotify of a file whose directory is not known", h.Path, false)
		}
		return
	}
	TellEntry(n, *h.Entry, h.Key(), mask|isDir(h), true)
}

func isDir(h *kernel.HostFile) uint32 {
	if h.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.IN_ISDIR
	}
	return 0
}

// WantsOpen reports whether an event of an open file would be told to anybody.
func WantsOpen(n *kernel.Node, h *kernel.HostFile, mask uint32) bool {
	if states.Of(n).watches == 0 {
		return false
	}
	if h.Entry == nil {
		return wantedAnywhere(n, mask)
	}
	return Wants(n, *h.Entry, h.Key(), mask)
}

// Wants reports whether an event of a file would be told to anybody.
func Wants(n *kernel.Node, e kernel.Entry, key inode.Key, mask uint32) bool {
	dir, key := n.Files.First(e.Dir), n.Files.First(key)
	return anyWatch(n, func(w *watch) bool {
		return w.mask&mask != 0 && (w.key == key || e.Dir != (inode.Key{}) && w.key == dir)
	})
}

func wantedAnywhere(n *kernel.Node, mask uint32) bool {
	return anyWatch(n, func(w *watch) bool { return w.mask&mask != 0 })
}

func anyWatch(n *kernel.Node, f func(*watch) bool) bool {
	for _, x := range states.Of(n).instances {
		if slices.ContainsFunc(x.watches, f) {
			return true
		}
	}
	return slices.ContainsFunc(states.Of(n).directories, func(d *directory) bool { return f(&d.watch) })
}

// WatchesInode reports whether the inode itself is watched.
func WatchesInode(n *kernel.Node, key inode.Key) bool {
	key = n.Files.First(key)
	return anyWatch(n, func(w *watch) bool { return w.key == key })
}

// Cookie returns a number for the two events of a rename.
func Cookie(n *kernel.Node) uint32 { states.Of(n).cookie++; return states.Of(n).cookie }

// Unlinked is called when a file has lost its last name. Its inode goes when nothing uses that name
// any more (dentry_unlink_inode): not with the last descriptor, where others were opened by names
// that were lost before.
func Unlinked(n *kernel.Node, at kernel.Entry, key inode.Key) {
	s := states.Of(n)
	if s.watches == 0 {
		return // nobody is told of it
	}
	u := unlinked{n.Files.First(key), at}
	if u.inUse(n) {
		s.unlinked = append(s.unlinked, u)
		return
	}
	inodeGone(n, key)
}

// inUse reports whether something uses the name that the file had last.
func (u unlinked) inUse(n *kernel.Node) (found bool) {
	n.OpenHostFiles(func(_ *kernel.Process, _ int, h *kernel.HostFile) {
		same := n.Files.First(h.Key()) == u.key
		if h.Entry != nil {
			dir := n.Files.First(h.Entry.Dir)
			same = dir == u.key || same && dir == n.Files.First(u.at.Dir) && h.Entry.Name == u.at.Name
		}
		found = found || same
	})
	return found ||
		slices.ContainsFunc(states.Of(n).unlinked, func(in unlinked) bool { return n.Files.First(in.at.Dir) == u.key })
}

// Relinked is called when a file has got a name again (linkat(2) of a descriptor).
func Relinked(n *kernel.Node, key inode.Key) {
	key = n.Files.First(key)
	s := states.Of(n)
	s.unlinked = slices.DeleteFunc(s.unlinked, func(u unlinked) bool { return u.key == key })
}

// endUnlinked tells of files that nothing uses any more, then of the directories in which they
// were.
func endUnlinked(n *kernel.Node) {
	s := states.Of(n)
	for {
		i := slices.IndexFunc(s.unlinked, func(u unlinked) bool { return !u.inUse(n) })
		if i < 0 {
			return
		}
		key := s.unlinked[i].key
		s.unlinked = slices.Delete(s.unlinked, i, i+1)
		inodeGone(n, key)
	}
}

func inodeGone(n *kernel.Node, key inode.Key) {
	TellInode(n, key, unix.IN_DELETE_SELF)
	key = n.Files.First(key)
	for _, f := range states.Of(n).instances {
		for _, w := range slices.Clone(f.watches) {
			if w.key == key {
				f.drop(w)
			}
		}
	}
}

// closed is called when the last descriptor of an open file description is gone.
func closed(n *kernel.Node, h *kernel.HostFile, flags int) {
	s := states.Of(n)
	if s.watches == 0 {
		s.unlinked = nil // nobody is told of them
		return
	}
	mask := uint32(unix.IN_CLOSE_NOWRITE)
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		mask = unix.IN_CLOSE_WRITE
	}
	key := n.Files.First(h.Key())
	lost := slices.ContainsFunc(s.unlinked, func(u unlinked) bool { return u.key == key })
	switch {
	case h.Mapped && flags&unix.O_PATH == 0 && (WantsOpen(n, h, mask) || lost):
		// Linux closes it with the last mapping, and munmap is not seen.
		n.Refuse(nil, "inotify of a file that was mapped", h.Path, false)
		return
	case flags&unix.O_PATH == 0:
		TellOpen(n, h, mask)
	}
	endUnlinked(n)
}

// Moved is called when a name of a file has moved: it is still that of who opened
// the file by it. to is nil when the name is gone.
func Moved(n *kernel.Node, key inode.Key, from kernel.Entry, to *kernel.Entry) {
	n.OpenHostFiles(func(_ *kernel.Process, _ int, h *kernel.HostFile) {
		if h.Entry == nil || h.Key() != key || h.Entry.Name != from.Name || h.Entry.Dir != from.Dir || h.Entry.Removed {
			return
		}
		if to == nil {
			h.Entry = &kernel.Entry{Dir: from.Dir, Name: from.Name, Removed: true}
		} else {
			h.Entry = to
		}
	})
}
