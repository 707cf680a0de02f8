// Package filelock is the locks on files: flock(2), fcntl(2)'s record locks of both kinds, and
// leases.
//
// Read next: lease.go.
package filelock

import (
	"cmp"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// EndOfFile is the end of a record lock without an end.
const EndOfFile = int64(1<<63 - 1)

// maxChain is how far deadlock detection follows who waits for whom.
const maxChain = 10

// Table are the node's file locks: flock(2), and fcntl(2)'s record locks, owned
// by a descriptor table (POSIX locks) or by an open file description (OFD
// locks); and leases.
type Table struct {
	files   map[inode.Key]*fileLocks
	blocked []blocked
}

var tables = kernel.NewSlot[*kernel.Node, Table]()

// Of returns the node's locks.
func Of(n *kernel.Node) *Table { return tables.Of(n) }

func init() {
	kernel.Register("filelock", kernel.Hooks{
		DescriptorClosed: func(n *kernel.Node, table *kernel.FDTable, of *kernel.OpenFile) {
			tables.Of(n).descriptorClosed(table, of)
		},
		FileClosed: func(n *kernel.Node, of *kernel.OpenFile) { tables.Of(n).fileClosed(of) },
	})
}

// fileLocks are the locks on one file.
type fileLocks struct {
	records []Record
	flocks  []flockLock
	leases  []lease
	changed kernel.Queue // a lock went away
}

type flockLock struct {
	file      *kernel.OpenFile
	exclusive bool
}

// Owner owns record locks: one of the fields is nil. Processes that share
// their descriptor table share their locks, as in Linux.
type Owner struct {
	Table *kernel.FDTable
	File  *kernel.OpenFile
}

// Record is a lock on the bytes from Start to End, both included.
type Record struct {
	Owner      Owner
	Start, End int64
	Write      bool
	PID        int // who set it; -1 for OFD locks
}

// blocked is a thread that waits for a POSIX lock.
type blocked struct {
	thread *kernel.Thread
	key    inode.Key
	lock   Record
}

// KeyOf identifies what an open file is of, as far as locks go: Linux locks inodes,
// of which a pipe has one for both ends, and all epoll sets and their kin one together.
func KeyOf(f kernel.File) inode.Key {
	if x, ok := f.(kernel.Named); ok {
		if key, ok := x.NamedBy(); ok {
			return key
		}
	}
	switch x := f.(type) {
	case kernel.Keyed:
		return x.Key()
	case kernel.Describer:
		name := x.Describe()
		if n := kernel.DescribedInode(name); n != 0 && name[0] == 's' {
			return kernel.EmulatedKey(inode.DevSock, n)
		} else if n != 0 {
			return kernel.EmulatedKey(inode.DevPipe, n)
		}
	}
	return kernel.EmulatedKey(inode.DevAnon, 1)
}

func (l *Table) on(key inode.Key) *fileLocks {
	f := l.files[key]
	if f == nil {
		f = &fileLocks{}
		if l.files == nil {
			l.files = map[inode.Key]*fileLocks{}
		}
		l.files[key] = f
	}
	return f
}

// tidy forgets the file when nothing locks it or waits for it.
func (l *Table) tidy(key inode.Key) {
	f := l.files[key]
	if f != nil && len(f.records) == 0 && len(f.flocks) == 0 && len(f.leases) == 0 && f.changed.Empty() {
		delete(l.files, key)
	}
}

// Conflict returns the first lock that stands in the way of x.
func (l *Table) Conflict(key inode.Key, x Record) (Record, bool) {
	if f := l.files[key]; f != nil {
		for _, r := range f.records {
			if r.Owner != x.Owner && (r.Write || x.Write) && r.Start <= x.End && x.Start <= r.End {
				return r, true
			}
		}
	}
	return Record{}, false
}

// Own returns the first lock that the owner of x has within it.
func (l *Table) Own(key inode.Key, x Record) (Record, bool) {
	if f := l.files[key]; f != nil {
		for _, r := range f.records {
			if r.Owner == x.Owner && r.Start <= x.End && x.Start <= r.End {
				return r, true
			}
		}
	}
	return Record{}, false
}

// Lock sets x, in place of what its owner holds on that range; EAGAIN when
// another owner stands in the way.
func (l *Table) Lock(key inode.Key, x Record) kernel.Errno {
	if _, ok := l.Conflict(key, x); ok {
		return unix.EAGAIN
	}
	l.replace(key, x, true)
	return 0
}

// Unlock takes the owner's locks off the range of x.
func (l *Table) Unlock(key inode.Key, x Record) { l.replace(key, x, false) }

// replace cuts the range of x out of its owner's locks and, with add, sets x
// there, joined with what it touches. As in Linux the locks of an owner stay together,
// sorted, where the first of them came to stand: Conflict shows their order.
func (l *Table) replace(key inode.Key, x Record, add bool) {
	f := l.on(key)
	var keep []Record // the owner's
	var others []Record
	place := -1 // of keep among the others
	for _, r := range f.records {
		if r.Owner == x.Owner && place < 0 {
			place = len(others)
		}
		switch {
		case r.Owner != x.Owner:
			others = append(others, r)
		case r.End < x.Start-1 || x.End != EndOfFile && r.Start > x.End+1:
			keep = append(keep, r)
		case add && r.Write == x.Write: // overlaps or touches: join
			x.Start, x.End = min(x.Start, r.Start), max(x.End, r.End)
		default:
			left, right := r, r
			left.End = min(r.End, x.Start-1)
			if left.Start <= left.End {
				keep = append(keep, left)
			}
			if r.End > x.End {
				right.Start = max(r.Start, x.End+1)
				keep = append(keep, right)
			}
		}
	}
	if add {
		keep = append(keep, x)
	}
	slices.SortFunc(keep, func(a, b Record) int { return cmp.Compare(a.Start, b.Start) })
	if place < 0 {
		place = len(others)
	}
	f.records = slices.Insert(others, place, keep...)
	f.changed.Notify(0)
	l.tidy(key)
}

// Await makes t wait until the locks of the file change. EDEADLK: x is a POSIX
// lock that, in the end, waits for its own owner.
func (l *Table) Await(t *kernel.Thread, key inode.Key, x Record) (*kernel.Queue, kernel.Errno) {
	var still []blocked
	for _, b := range l.blocked {
		if b.thread != t && b.thread.State == kernel.Blocked {
			still = append(still, b)
		}
	}
	l.blocked = still
	if x.Owner.Table != nil {
		if l.deadlock(key, x) {
			return nil, unix.EDEADLK
		}
		l.blocked = append(l.blocked, blocked{t, key, x})
	}
	return &l.on(key).changed, 0
}

// deadlock follows the chain of owners who wait for one another from x on.
func (l *Table) deadlock(key inode.Key, x Record) bool {
	first := x.Owner
	for i := 0; i < maxChain; i++ {
		by, ok := l.Conflict(key, x)
		if !ok {
			return false
		}
		if by.Owner == first {
			return true
		}
		if key, x, ok = l.waitsFor(by.Owner); !ok {
			return false
		}
	}
	return false
}

// waitsFor returns the lock for which a thread of owner waits.
func (l *Table) waitsFor(owner Owner) (inode.Key, Record, bool) {
	for _, b := range l.blocked {
		if b.lock.Owner == owner && b.thread.State == kernel.Blocked {
			return b.key, b.lock, true
		}
	}
	return inode.Key{}, Record{}, false
}

// Flock sets or changes the lock of an open file description. As in Linux a
// change gives up the old lock first. wait is not nil when another stands in
// the way.
func (l *Table) Flock(key inode.Key, of *kernel.OpenFile, exclusive bool) (wait *kernel.Queue) {
	f := l.on(key)
	for _, x := range f.flocks {
		if x.file == of && x.exclusive == exclusive {
			return nil
		}
	}
	l.Funlock(key, of)
	f = l.on(key)
	for _, x := range f.flocks {
		if x.exclusive || exclusive {
			return &f.changed
		}
	}
	f.flocks = append(f.flocks, flockLock{of, exclusive})
	return nil
}

// Funlock gives the lock of an open file description up.
func (l *Table) Funlock(key inode.Key, of *kernel.OpenFile) {
	f := l.files[key]
	if f == nil {
		return
	}
	for i, x := range f.flocks {
		if x.file == of {
			f.flocks = append(f.flocks[:i:i], f.flocks[i+1:]...)
			f.changed.Notify(0)
			break
		}
	}
	l.tidy(key)
}

// descriptorClosed drops a descriptor table's POSIX locks on a file: closing
// any descriptor of it does (fcntl(2)).
func (l *Table) descriptorClosed(table *kernel.FDTable, of *kernel.OpenFile) {
	if len(l.files) == 0 {
		return
	}
	if key := KeyOf(of.File); l.files[key] != nil {
		l.Unlock(key, Record{Owner: Owner{Table: table}, End: EndOfFile})
	}
}

// fileClosed drops what a closed open file description held.
func (l *Table) fileClosed(of *kernel.OpenFile) {
	if len(l.files) == 0 {
		return
	}
	if key := KeyOf(of.File); l.files[key] != nil {
		l.Funlock(key, of)
		l.Unlock(key, Record{Owner: Owner{File: of}, End: EndOfFile})
		l.Unlease(key, of)
	}
}
