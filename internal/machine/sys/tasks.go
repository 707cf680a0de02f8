package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Processes and threads among the arguments of a call.

// threadByID finds a thread, of a zombie too; 0 is the caller.
func threadByID(t *kernel.Thread, tid uint64) (*kernel.Thread, kernel.Errno) {
	id := int(int32(tid))
	switch id {
	case 0:
		return t, 0
	case t.Node().Init.TID:
		return t.Node().Init, 0
	}
	if x := t.Node().Task(id); x != nil {
		return x, 0
	}
	return nil, unix.ESRCH
}

// processByID finds a process by its id or that of one of its threads.
func processByID(t *kernel.Thread, pid int) *kernel.Process {
	if p := t.Node().Procs[pid]; p != nil {
		return p
	}
	if x := t.Node().Thread(pid); x != nil {
		return x.Proc
	}
	return nil
}

// pidFile returns the process behind a pidfd.
func pidFile(t *kernel.Thread, fd uint64) (*kernel.Process, *kernel.OpenFile, kernel.Errno) {
	of := t.FDs().Get(fdOf(fd))
	if of == nil {
		return nil, nil, unix.EBADF
	}
	f, ok := of.File.(*kernel.PidFile)
	if !ok {
		return nil, nil, unix.EBADF
	}
	return f.Proc, of, 0
}
