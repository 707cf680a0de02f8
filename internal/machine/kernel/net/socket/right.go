package socket

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Carry takes a reference to a file that t sends to another process.
func Carry(t *kernel.Thread, r Right) Right {
	r.File.Hold()
	r.Host = nil
	if _, ok := r.File.File.(*kernel.HostFile); ok {
		if fd, e := t.M.HostFD(r.FD); e == 0 {
			r.Host = &kernel.Carried{FD: fd}
			t.Node().Carried = append(t.Node().Carried, r.Host)
		}
	}
	return r
}

// Receive gives t a descriptor for a file that another process sent.
func Receive(t *kernel.Thread, r Right, cloexec bool) (int, kernel.Errno) {
	if r.Host == nil {
		return t.InstallFD(r.File, cloexec)
	}
	fd, e := t.M.Adopt(r.Host.FD, cloexec)
	if e == 0 {
		t.FDs().Set(fd, r.File, cloexec)
	}
	return fd, e
}

// DropRight takes the reference back. peeked: the message is still there.
func DropRight(n *kernel.Node, r Right, peeked bool) {
	r.File.Drop(n)
	if i := slices.Index(n.Carried, r.Host); i >= 0 && !peeked {
		n.Carried = slices.Delete(n.Carried, i, i+1)
		n.Stale = append(n.Stale, r.Host.FD)
	}
}
