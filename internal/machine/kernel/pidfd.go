package kernel

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// PidFile is a process as a file (pidfd_open(2)): readable when it has ended, and hung up when it
// was waited for.
type PidFile struct{ Proc *Process }

func (f *PidFile) Ready() Events {
	switch p := f.Proc; {
	case !p.Dead:
		return 0
	case p.Reaped():
		return In | RdNorm | Hup
	}
	return In | RdNorm
}
func (f *PidFile) Changed() *Queue  { return &f.Proc.Ended }
func (f *PidFile) Release(n *Node)  {}
func (f *PidFile) Describe() string { return "anon_inode:[pidfd]" }

// Reaped reports whether wait has taken a process that is dead.
func (p *Process) Reaped() bool { return p.Dead && p.Node.Procs[p.PID] != p }

// givePidFD stores a descriptor for p at addr (CLONE_PIDFD).
func (t *Thread) givePidFD(p *Process, addr uint64) {
	fd, e := t.NewFD(&PidFile{p}, unix.O_RDWR|unix.O_CLOEXEC)
	if e != 0 || t.M.WriteMem(addr, binary.LittleEndian.AppendUint32(nil, uint32(fd))) != 0 {
		t.Node().Refuse(t, "clone CLONE_PIDFD", "no descriptor could be given after the fork", false)
	}
}
