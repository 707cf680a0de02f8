//go:build linux

package node

import (
	"fmt"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// thread implements kernel.Machine.

func (th *thread) ReadMem(addr uint64, b []byte) kernel.Errno  { return th.tr.ReadMem(addr, b) }
func (th *thread) WriteMem(addr uint64, b []byte) kernel.Errno { return th.tr.WriteMem(addr, b) }

func (th *thread) Syscall(nr int, args ...uint64) int64 {
	v, err := th.tr.Inject(nr, args...)
	must(err)
	return v
}

func (th *thread) HostFD(fd int) (int, kernel.Errno) {
	pidfd, err := unix.PidfdOpen(th.tr.PID, 0)
	if err != nil {
		panic(toolError{fmt.Errorf("pidfd_open: %w", err)})
	}
	defer unix.Close(pidfd)
	got, err := unix.PidfdGetfd(pidfd, fd, 0)
	if err != nil {
		return -1, err.(kernel.Errno)
	}
	return got, 0
}

func (th *thread) SigMask() kernel.SigSet {
	m, err := th.tr.SigMask()
	must(err)
	return kernel.SigSet(m)
}

func (th *thread) SetSigMask(m kernel.SigSet) { must(th.tr.SetSigMask(uint64(m))) }

func (th *thread) RealTID() int { return th.tr.TID }
