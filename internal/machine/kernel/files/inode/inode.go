// Package inode is what a node's files look like to it: their numbers, times and owners, which
// Linux's differ from run to run, and how much room they take.
//
// Read next: disk.go.
package inode

import (
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"

	"golang.org/x/sys/unix"
)

// Epoch is the time of files that the node has not changed, in ns since the
// epoch: 1 January 2020.
const Epoch = int64(1577836800) * 1e9

// Devices that files are shown to lie on, as makedev(3) has them.
const (
	DevHost = 8 << 8    // what the node sees of the host
	DevNode = 8<<8 | 16 // the node's own files
	DevProc = 20        // /proc
	DevMem  = 1         // memory files
	DevSock = 8         // sockets
	DevPts  = 21        // /dev/pts
	DevPipe = 13        // pipes
	DevAnon = 14        // epoll sets and the like
)

// Key finds a file of the node's file tree: real device and inode.
type Key struct{ Dev, Ino uint64 }

// Table is what a node's files look like. Their real inode numbers, devices and
// times differ from run to run and are never shown: numbers are given in order
// of first sight, times are the node's.
type Table struct {
	// Private is the real device of the node's own files, or 0 when not yet known.
	Private uint64
	// User and Group are who owns the files that really belong to Ariadne's user, when that is
	// not root.
	User, Group int

	// Hidden are the files with a second name that the node does not see, made
	// for checkpoints: their link count is one too high.
	Hidden map[Key]bool
	// Recreated are directories that were made anew when an earlier state was brought
	// back: the inode number of the first one, under which all is known, by the new.
	Recreated map[uint64]uint64
	// Dirty are the files changed since the last checkpoint of the tree.
	Dirty map[Key]bool
	// Mapped are the files that were mapped shared and writable: Linux does not
	// tell when they change.
	Mapped map[Key]bool
	// Writable are those of Mapped into which a process could store at some time. Only calls change
	// the others.
	Writable map[Key]bool

	// Copies are copies of files of the host that programs have open in their place
	// (kernel.Instead).
	Copies map[Key]Original

	// Tree is the supervisor's descriptor of the root of the node's own files, or 0; Disk
	// is how full they are.
	Tree int `encode:"-"`
	Disk Disk

	// SetID are the set-id bits of files that have some, as far as the node has seen:
	// Linux takes them away when the node's root, who is not the machine's, writes.
	SetID map[Key]uint32

	// Logs: what changes the files on the machine's disks is entered in Log. Whole: also what is
	// durable stays in it.
	Logs, Whole bool
	Log         *disk.Log
	// Stored are files that are mapped shared and writable, as they were when somebody last looked,
	// while Logs.
	Stored map[Key]Mapped
	// begun is how many syncs have begun that take time; under way are the times of files that they
	// write.
	begun    int
	underWay map[int]map[Key]Times
	// stale are the times of files that were set since they were last written to the disk, as they
	// were before. before are those that were set since the log began, likewise.
	stale, before map[Key]staleTimes

	inodes map[Key]uint64
	last   uint64
	times  map[Key]Times
	owners map[Key][2]int
	xattrs map[Key][]Xattr
}

// Times are a file's times in ns since the epoch.
type Times struct{ Access, Modify, Change, Birth int64 }

// Original is the file of which there is a copy.
type Original struct {
	Path string // as the node sees it
	Key  Key
}

// Mapped is a file that is mapped.
type Mapped struct {
	Path    string
	Content *filetree.Content // what it held
}

// staleTimes are times, and whether the node had ever changed the file.
type staleTimes struct {
	Times
	written bool
}

// firstInode is ext4's first number of an ordinary file.
const firstInode = 11

// Init makes an empty table.
func (f *Table) Init() {
	f.inodes, f.last = map[Key]uint64{}, firstInode-1
	f.times = map[Key]Times{}
	f.owners = map[Key][2]int{}
	f.xattrs = map[Key][]Xattr{}
	f.SetID = map[Key]uint32{}
	f.Hidden, f.Dirty = map[Key]bool{}, map[Key]bool{}
	f.Mapped, f.Writable = map[Key]bool{}, map[Key]bool{}
}

// Inode returns the number under which the node knows a file.
func (f *Table) Inode(key Key) uint64 {
	key = f.First(key)
	if f.inodes[key] == 0 {
		f.last++
		f.inodes[key] = f.last
	}
	return f.inodes[key]
}

// Enter appends an operation to the log. When nothing in it can be lost any more it begins again.
func (f *Table) Enter(op disk.Op) {
	f.Log = f.Log.Append(op)
	switch op.Kind {
	case disk.Fsync, disk.Fdatasync, disk.Sync:
		if !f.Whole && f.Log.Durable() {
			f.Log, f.before = nil, nil
		}
		if op.Begun > 0 {
			f.writeTimes(op.Begun)
			return
		}
		maps.DeleteFunc(f.stale, func(key Key, _ staleTimes) bool { return f.writesTimes(op.Kind, &op, key) })
	}
}

// writesTimes reports whether a sync of a kind writes the times of a file.
func (f *Table) writesTimes(kind disk.Kind, op *disk.Op, key Key) bool {
	return kind == disk.Sync || kind == disk.Fsync && op.Flags&disk.Ranged == 0 && f.inodes[key] == op.Ino
}

// Submit enters that a sync begins which takes time, and returns what is to be entered when it
// ends.
func (f *Table) Submit(op disk.Op) (end disk.Op) {
	f.begun++
	op.Begun = f.begun
	begin := op
	begin.Kind, begin.Sync = disk.Submit, op.Kind
	f.Log = f.Log.Append(begin)
	for key := range f.stale {
		if f.writesTimes(op.Kind, &op, key) {
			if f.underWay == nil {
				f.underWay = map[int]map[Key]Times{}
			}
			if f.underWay[f.begun] == nil {
				f.underWay[f.begun] = map[Key]Times{}
			}
			f.underWay[f.begun][key] = f.times[key]
		}
	}
	return op
}

// writeTimes puts those times onto the disk that files had when a sync began. Others have been set
// since.
func (f *Table) writeTimes(number int) {
	for key, then := range f.underWay[number] {
		if old, ok := f.stale[key]; !ok {
			continue
		} else if then == f.times[key] {
			delete(f.stale, key)
		} else {
			old.Times, old.written = then, true
			f.stale[key] = old
		}
	}
	delete(f.underWay, number)
}

// Lose leaves of the files' times those that are on the disk, and returns what was entered. Times
// of modification stay, for they belong to what is entered: Retime takes back those of what is
// lost.
func (f *Table) Lose() *disk.Log {
	for key, old := range f.stale {
		now := f.times[key]
		t := old.Times
		if t.Modify = now.Modify; t.Modify <= now.Change { // else somebody has set it
			t.Change = max(t.Change, t.Modify)
		}
		if f.times[key] = t; t == old.Times && !old.written {
			delete(f.times, key)
		}
	}
	return f.Log
}

// Retime gives a file, after Lose, the time of modification that it has by an operation, or with
// nil that of before the log.
func (f *Table) Retime(key Key, by *disk.Op) {
	key = f.First(key)
	t := f.Times(key)
	old, stale := f.stale[key]
	if stale {
		old.Access = t.Access
		t = old.Times
	}
	began, known := f.before[key]
	switch {
	case by != nil:
		if t.Modify = by.Time; by.Kind != disk.SetAttr {
			t.Change = max(t.Change, t.Modify)
		}
	case known && !began.written:
		delete(f.times, key)
		return
	case known:
		t.Modify = began.Modify
	}
	f.times[key] = t
}

// Begin says that all that is on the disk is durable.
func (f *Table) Begin() { f.Log, f.stale, f.before, f.Stored, f.underWay = nil, nil, nil, nil, nil }

// Number is the number under which the node knows a file, or 0: it knows none.
func (f *Table) Number(key Key) uint64 { return f.inodes[f.First(key)] }

// Revive makes a file the one that was known under a number, and is there no more.
func (f *Table) Revive(number uint64, key Key) {
	for old, n := range f.inodes {
		if n != number {
			continue
		}
		rename(f.inodes, old, key)
		rename(f.times, old, key)
		rename(f.stale, old, key)
		rename(f.before, old, key)
		rename(f.owners, old, key)
		rename(f.xattrs, old, key)
		rename(f.SetID, old, key)
		rename(f.Disk.file, old, key)
		return
	}
	f.inodes[key] = number
	f.last = max(f.last, number)
}

func rename[T any](m map[Key]T, old, key Key) {
	if v, ok := m[old]; ok {
		delete(m, old)
		m[key] = v
	}
}

// First is the key under which a file is known.
func (f *Table) First(key Key) Key {
	if ino, ok := f.Recreated[key.Ino]; ok && key.Dev == f.Private {
		key.Ino = ino
	}
	return key
}

// Restart leaves in the table what outlives the machine's memory: what is known of the files that
// are on its disks. Of others the numbers are free again, as on ext4, but new ones begin at a
// multiple of freshInodes: the numbers of files to come do not tell which of the last ones were
// lost.
func (f *Table) Restart(onDisk map[Key]bool) {
	gone := func(key Key) bool { return !onDisk[key] }
	maps.DeleteFunc(f.inodes, func(key Key, _ uint64) bool { return gone(key) })
	maps.DeleteFunc(f.times, func(key Key, _ Times) bool { return gone(key) })
	maps.DeleteFunc(f.owners, func(key Key, _ [2]int) bool { return gone(key) })
	maps.DeleteFunc(f.xattrs, func(key Key, _ []Xattr) bool { return gone(key) })
	maps.DeleteFunc(f.SetID, func(key Key, _ uint32) bool { return gone(key) })
	f.last = firstInode - 1
	for _, n := range f.inodes {
		f.last = max(f.last, n)
	}
	f.last = (f.last/freshInodes + 1) * freshInodes
}

const freshInodes = 256

// Last is the number before that of the next new file.
func (f *Table) Last() uint64 { return f.last }

// Pair calls f with how this table and another one know each file that both have seen under the
// same number. It returns false if one of them has seen others.
func (f *Table) Pair(g *Table, enter func(f, g Key)) bool {
	by := make(map[uint64]Key, len(g.inodes))
	for key, number := range g.inodes {
		by[number] = key
	}
	for key, number := range f.inodes {
		other, ok := by[number]
		if !ok {
			return false
		}
		enter(key, other)
	}
	return f.last == g.last && len(f.inodes) == len(g.inodes)
}

// Append appends all that the table has of a file: equal bytes for files that look the same to
// the node, as far as the table knows.
func (f *Table) Append(b []byte, key Key) []byte {
	key = f.First(key)
	t, written := f.times[key]
	use := f.Disk.file[key]
	for _, v := range []int64{int64(f.inodes[key]), t.Access, t.Modify, t.Change, t.Birth, int64(f.SetID[key]),
		use.written, use.kept, int64(len(f.xattrs[key]))} {
		b = binary.AppendVarint(b, v)
	}
	for _, x := range f.xattrs[key] {
		b = fmt.Appendf(b, "%q %q", x.Name, x.Value)
	}
	return fmt.Append(b, written)
}

// Written reports whether the node has ever created or changed the file.
func (f *Table) Written(key Key) bool { _, ok := f.times[f.First(key)]; return ok }

// Links returns a file's link count as the node sees it, of the real one.
func (f *Table) Links(key Key, real uint64) uint64 {
	if f.Hidden[key] {
		return real - 1
	}
	return real
}

// Times returns a file's times.
func (f *Table) Times(key Key) Times {
	if t, ok := f.times[f.First(key)]; ok {
		return t
	}
	return Times{Epoch, Epoch, Epoch, Epoch}
}

// SetTimes changes a file's times.
func (f *Table) SetTimes(key Key, t Times) {
	key = f.First(key)
	if f.Logs {
		old := staleTimes{f.Times(key), f.Written(key)}
		if !old.written && t.Birth != old.Birth { // it is new
			old = staleTimes{t, true}
		}
		keepFirst(&f.stale, key, old)
		keepFirst(&f.before, key, old)
	}
	f.times[key] = t
}

func keepFirst(times *map[Key]staleTimes, key Key, t staleTimes) {
	if *times == nil {
		*times = map[Key]staleTimes{}
	}
	if _, known := (*times)[key]; !known {
		(*times)[key] = t
	}
}

// Owner returns who the node made the file's owner, when it did.
func (f *Table) Owner(key Key) (uid, gid int, ok bool) {
	o, ok := f.owners[f.First(key)]
	return o[0], o[1], ok
}

// SetOwner makes the file belong to uid and gid.
func (f *Table) SetOwner(key Key, uid, gid int) { f.owners[f.First(key)] = [2]int{uid, gid} }

// Owned reports whether any file has an owner of the node's making.
func (f *Table) Owned() bool { return len(f.owners) > 0 }

// NoteMode notes the set-id bits of a regular file's mode.
func (f *Table) NoteMode(key Key, mode uint32) {
	key = f.First(key)
	if bits := mode & (unix.S_ISUID | unix.S_ISGID); bits != 0 && mode&unix.S_IFMT == unix.S_IFREG {
		f.SetID[key] = bits
	} else {
		delete(f.SetID, key)
	}
}

// SetIDBits returns what NoteMode noted.
func (f *Table) SetIDBits(key Key) uint32 { return f.SetID[f.First(key)] }
