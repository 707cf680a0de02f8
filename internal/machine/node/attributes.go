//go:build linux

package node

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// attributes are what Linux holds for a process besides memory, of which the emulated kernel knows
// the value, so that system calls can change it back.
type attributes struct {
	// standIns are descriptors that keep their numbers from being given to files. Their own files
	// are in the emulated kernel, so Linux has the same in the place of all of them.
	standIns closeOnExec
	files    closeOnExec // descriptors of host files
	actions  signal.Actions
	umask    int
}

func attributesOf(p *kernel.Process) attributes {
	a := attributes{closeOnExec{}, closeOnExec{}, *p.Actions, p.Umask}
	for _, fd := range p.FDs.Numbers() {
		of := a.files
		if p.FDs.Get(fd).StandIn {
			of = a.standIns
		}
		of[fd] = p.FDs.CloseOnExec(fd)
	}
	return a
}

// closeOnExec says for each of some descriptors whether exec closes it.
type closeOnExec map[int]bool

// hostFilesOf lists the open host files of a process by descriptor.
func hostFilesOf(p *kernel.Process) map[int]*kernel.OpenFile {
	all := map[int]*kernel.OpenFile{}
	for _, fd := range p.FDs.Numbers() {
		if f := p.FDs.Get(fd); !f.StandIn {
			all[fd] = f
		}
	}
	return all
}

// changeAttributes gives the process of a thread that stands in a call the wanted attributes.
func (n *Node) changeAttributes(tr *tracee.Thread, has, wants attributes) {
	changeDescriptors(tr, has, wants)
	for s := range wants.actions {
		if has.actions[s] != wants.actions[s] {
			n.setAction(tr, s, wants.actions[s])
		}
	}
	if has.umask != wants.umask {
		injected(tr, unix.SYS_UMASK, uint64(wants.umask))
	}
}

// setAction has Linux know the action of a signal. It writes to the scratch memory, which must be
// cleared before the program runs.
func (n *Node) setAction(tr *tracee.Thread, s int, a signal.Action) {
	b := binary.LittleEndian.AppendUint64(nil, a.Handler)
	for _, v := range []uint64{a.Flags, a.Restorer, uint64(a.Mask)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	n.home.used = true
	if e := tr.WriteMem(area.Scratch, b); e != 0 {
		must(fmt.Errorf("thread %d: scratch memory: %w", tr.TID, e))
	}
	injected(tr, unix.SYS_RT_SIGACTION, uint64(s), area.Scratch, 0, 8)
}

// changeDescriptors gives a process the wanted stand-ins and host files. It can close host files,
// but not open them.
func changeDescriptors(tr *tracee.Thread, has, wants attributes) {
	if maps.Equal(has.standIns, wants.standIns) && maps.Equal(has.files, wants.files) {
		return
	}
	restore := liftLimits(tr.PID)
	defer restore()
	for _, fd := range slices.Sorted(maps.Keys(has.standIns)) {
		if _, ok := wants.standIns[fd]; !ok {
			injected(tr, unix.SYS_CLOSE, uint64(fd))
		}
	}
	for _, fd := range slices.Sorted(maps.Keys(has.files)) {
		cloexec, ok := wants.files[fd]
		if !ok {
			injected(tr, unix.SYS_CLOSE, uint64(fd))
		} else if cloexec != has.files[fd] {
			setCloseOnExec(tr, fd, cloexec)
		}
	}
	for _, fd := range slices.Sorted(maps.Keys(wants.standIns)) {
		cloexec, have := has.standIns[fd]
		switch {
		case !have:
			openStandIn(tr, fd, wants.standIns[fd])
		case cloexec != wants.standIns[fd]:
			setCloseOnExec(tr, fd, wants.standIns[fd])
		}
	}
}

func setCloseOnExec(tr *tracee.Thread, fd int, on bool) {
	var flags uint64
	if on {
		flags = unix.FD_CLOEXEC
	}
	injected(tr, unix.SYS_FCNTL, uint64(fd), unix.F_SETFD, flags)
}

// openStandIn opens a stand-in with a given number.
func openStandIn(tr *tracee.Thread, fd int, cloexec bool) {
	var flags uint64
	if cloexec {
		flags = unix.EFD_CLOEXEC
	}
	got := injected(tr, unix.SYS_EVENTFD2, 0, flags)
	if got == int64(fd) {
		return
	}
	injected(tr, unix.SYS_DUP3, uint64(got), uint64(fd), flags) // EFD_CLOEXEC is O_CLOEXEC
	injected(tr, unix.SYS_CLOSE, uint64(got))
}

// injected executes a system call in a process. A failure is a bug in Ariadne.
func injected(tr *tracee.Thread, nr int, args ...uint64) int64 {
	v, err := tr.Inject(nr, args...)
	if err == nil && v < 0 {
		err = fmt.Errorf("process %d: injected %s: %w", tr.PID, callName(nr), unix.Errno(-v))
	}
	must(err)
	return v
}
