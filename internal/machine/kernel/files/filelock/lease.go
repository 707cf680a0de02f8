package filelock

import (
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// breakTime is /proc/sys/fs/lease-break-time: how long who holds a lease may take to give
// it up.
var breakTime = kernel.NewSetting("fs/lease-break-time", 0, math.MaxInt32, 45)

// pollMsg is the reason for the signal to who holds a lease (POLL_MSG), and EPOLLMSG its band.
const (
	pollMsg     = 3
	pollMsgBand = kernel.Events(0x400)
)

// A lease is held by an open file description (fcntl(2), "Leases"): who opens the file in a way
// that conflicts waits until its holder, told by a signal, has given it up or reduced it.
type lease struct {
	file  *kernel.OpenFile
	fd    int // by which it was taken
	write bool
	// breaking: somebody waits. Until then it must become a read lease or, with ends, end.
	breaking, ends bool
	until          ariadne.Time
}

// Lease is what F_GETLEASE shows: F_UNLCK without a lease, and of one that is being broken what
// it is to become.
func (l *Table) Lease(n *kernel.Node, of *kernel.OpenFile) int {
	key := KeyOf(of.File)
	l.expireLeases(n, key)
	if f := l.files[key]; f != nil {
		for _, x := range f.leases {
			switch {
			case x.file != of:
			case x.ends:
				return unix.F_UNLCK
			case x.write && !x.breaking:
				return unix.F_WRLCK
			default:
				return unix.F_RDLCK
			}
		}
	}
	return unix.F_UNLCK
}

// SetLease takes or changes a lease of t's for a regular file: F_RDLCK or F_WRLCK.
func (l *Table) SetLease(t *kernel.Thread, of *kernel.OpenFile, fd, typ int) kernel.Errno {
	key, n := KeyOf(of.File), t.Node()
	l.expireLeases(n, key)
	write := typ == unix.F_WRLCK
	for _, x := range openFiles(n, key) {
		if x != of && write || x.Flags&unix.O_ACCMODE != unix.O_RDONLY && !write {
			return unix.EAGAIN
		}
	}
	f := l.on(key)
	mine := -1
	for i, x := range f.leases {
		switch {
		case x.file == of && x.ends && !write && !f.changed.Empty():
			return unix.EAGAIN // who waits has the file open for writing already
		case x.file == of:
			mine = i
		case write || x.ends:
			return unix.EAGAIN
		}
	}
	switch {
	case mine < 0:
		f.leases = append(f.leases, lease{file: of, fd: fd, write: write})
		if of.Owner == 0 {
			of.Owner = t.Proc.PID
		}
	default: // one that is to end still is
		f.leases[mine].write = write
		f.leases[mine].breaking = f.leases[mine].breaking && (write || f.leases[mine].ends)
		f.changed.Notify(0)
	}
	return 0
}

// Unlease gives a lease up; EAGAIN when there is none.
func (l *Table) Unlease(key inode.Key, of *kernel.OpenFile) kernel.Errno {
	f := l.files[key]
	if f == nil {
		return unix.EAGAIN
	}
	i := slices.IndexFunc(f.leases, func(x lease) bool { return x.file == of })
	if i < 0 {
		return unix.EAGAIN
	}
	f.leases = slices.Delete(f.leases, i, i+1)
	of.Owner, of.Sig = 0, 0
	f.changed.Notify(0)
	l.tidy(key)
	return 0
}

// BreakLeases tells the holders of leases on the file that it is about to be opened or
// truncated. wait is not nil while one stands in the way, until deadline at the latest.
func (l *Table) BreakLeases(n *kernel.Node, key inode.Key, write bool) (wait *kernel.Queue, deadline ariadne.Time) {
	l.expireLeases(n, key)
	f := l.files[key]
	if f == nil {
		return nil, 0
	}
	for i := range f.leases {
		x := &f.leases[i]
		if !write && !x.write {
			continue
		}
		if !x.breaking || write && !x.ends {
			x.breaking, x.ends, x.until = true, write, n.Now+ariadne.Time(breakTime.Of(n))*1e9
			x.file.Signal(n, x.fd, pollMsg, kernel.In|kernel.RdNorm|pollMsgBand)
		}
		if wait == nil || x.until < deadline {
			wait, deadline = &f.changed, x.until
		}
	}
	return wait, deadline
}

// expireLeases ends or reduces the leases whose holders took too long.
func (l *Table) expireLeases(n *kernel.Node, key inode.Key) {
	f := l.files[key]
	if f == nil {
		return
	}
	for _, x := range slices.Clone(f.leases) {
		if !x.breaking || n.Now < x.until {
			continue
		}
		if x.ends {
			l.Unlease(key, x.file)
			continue
		}
		i := slices.IndexFunc(f.leases, func(y lease) bool { return y.file == x.file })
		f.leases[i].write, f.leases[i].breaking = false, false
		f.changed.Notify(0)
	}
}

// HasLeases reports whether any file of the node may have a lease: few nodes have one.
func (l *Table) HasLeases() bool {
	for _, f := range l.files {
		if len(f.leases) > 0 {
			return true
		}
	}
	return false
}

// openFiles are the open file descriptions of a file that descriptors refer to.
func openFiles(n *kernel.Node, key inode.Key) []*kernel.OpenFile {
	var list []*kernel.OpenFile
	for _, p := range n.Procs {
		if p.FDs == nil {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			of := p.FDs.Get(fd)
			if h, ok := of.File.(*kernel.HostFile); ok && h.Key() == key && of.Flags&unix.O_PATH == 0 &&
				!slices.Contains(list, of) {
				list = append(list, of)
			}
		}
	}
	return list
}
