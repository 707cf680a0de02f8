//go:build linux

package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/processor"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/machine/vdso"

	"golang.org/x/sys/unix"
)

// mapArea makes Ariadne's pages of the node. They are memory of the supervisor's that
// has no name, so that programs reach it nowhere but where it is mapped.
func (n *Node) mapArea() error {
	if n.home.area != nil {
		return nil
	}
	fd, err := unix.MemfdCreate("ariadne", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("make the clock page: %w", err)
	}
	n.home.areaFD = os.NewFile(uintptr(fd), "clock page")
	if err := unix.Ftruncate(fd, area.Size); err != nil {
		return fmt.Errorf("make the clock page: %w", err)
	}
	memory, err := unix.Mmap(fd, 0, area.Size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the clock page: %w", err)
	}
	n.home.area = memory
	copy(memory[area.VDSO-area.Base:], vdso.Image)
	n.home.clock = vdso.Clock(memory[:4096])
	return nil
}

// setImage prepares a program that has not run an instruction: the filter, Ariadne's
// pages and vDSO in place of Linux's, which shows the real time, and the random bytes
// that libc and Go take from the auxiliary vector. It reports whether the program can run.
func (n *Node) setImage(th *thread, maps string) bool {
	if !th.tr.Executed64() {
		return n.refuseImage(th, "exec of a 32-bit program", th.k.Proc.Exe)
	}
	own := n.patchAuxv(th, sys.ExecCred(th.k))
	if own == 0 {
		must(errors.New("no vDSO is shown to programs: Linux was booted with vdso=0"))
	}
	// The program has not run yet: Linux's own code is as it was.
	th.tr.SetCode(own + uint64(linuxSyscall(th, own)))
	restore := th.tr.Borrow()
	if !th.tr.Filtered() {
		n.confine(th)
	}
	why := n.attachArea(th)
	if why == "" {
		th.tr.SetCode(areaSyscall)
		for _, v := range linuxPages(maps) {
			n.inject(th, unix.SYS_MUNMAP, v[0], v[1]-v[0])
		}
		if tracee.CanTrapCPUID() {
			must(th.tr.TrapCPUID())
		}
	}
	must(restore())
	n.breakCode(th, maps)
	n.noteOwnImage(th, maps)
	return why == "" || n.refuseImage(th, "exec of "+th.k.Proc.Exe, why)
}

// refuseImage ends the process of a program that cannot run: what it ran before is gone.
func (n *Node) refuseImage(th *thread, what, detail string) bool {
	n.k.Refuse(th.k, what, detail, false)
	n.endProcess(th.k.Proc, 0, int(unix.SIGKILL), false)
	return false
}

// belowStack is memory of a new program that it does not use yet.
func belowStack(th *thread, size int) uint64 { return (th.tr.SP() - 256 - uint64(size)) &^ 63 }

// confine puts the filter in force and takes the descriptor with which the first
// process was started. All other processes come from those that were confined.
func (n *Node) confine(th *thread) {
	stops := sandbox.Stops{
		Memory: slices.ContainsFunc(sys.TakesMemory, func(nr int) bool { return n.failing[nr] != nil }),
		Maps:   n.cfg.Pages,
	}
	at := belowStack(th, len(sandbox.Filter(0, stops)))
	prog := sandbox.Filter(at, stops)
	if e := th.tr.WriteMem(at, prog); e != 0 {
		must(fmt.Errorf("thread %d: write to the new stack: %w", th.k.TID, e))
	}
	must(th.tr.Filter(at))
	th.tr.WriteMem(at, make([]byte, len(prog)))
	if n.home.treeFD == nil {
		fd, err := th.tr.HostFD(sandbox.TreeFD)
		must(err)
		n.home.treeFD = os.NewFile(uintptr(fd), "file tree")
		n.k.Files.Tree = fd
		n.inject(th, unix.SYS_CLOSE, sandbox.TreeFD)
		n.countCopies()
		n.ownCopies()
		if n.k.Files.Logs {
			n.findPrivate()
		}
	}
}

// attachArea maps Ariadne's pages, or says why the program cannot have them.
func (n *Node) attachArea(th *thread) string {
	e := n.tryArea(th)
	if e == unix.EMFILE || e == unix.ENOMEM {
		// The program's own limits are not for what it does not ask for.
		defer liftLimits(th.tr.PID)()
		e = n.tryArea(th)
	}
	switch e {
	case 0:
		return ""
	case unix.EEXIST:
		return fmt.Sprintf("it is linked at %#x, where Ariadne has its own pages", uint64(area.Base))
	}
	must(fmt.Errorf("thread %d: map Ariadne's pages: %w", th.k.TID, e))
	return ""
}

func (n *Node) tryArea(th *thread) kernel.Errno {
	scratch := belowStack(th, receiveSize)
	fd, e := th.receive(int(n.home.areaFD.Fd()), scratch)
	th.tr.WriteMem(scratch, make([]byte, receiveSize))
	if e != 0 {
		return e
	}
	r := th.Syscall(unix.SYS_MMAP, area.Base, area.Size, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED_NOREPLACE, fd, 0)
	n.inject(th, unix.SYS_CLOSE, fd)
	if r < 0 {
		return kernel.Errno(-r)
	}
	n.inject(th, unix.SYS_MPROTECT, area.VDSO, area.Scratch-area.VDSO, unix.PROT_READ|unix.PROT_EXEC)
	// A second wall, where Linux has it (6.10), for what no handler lets happen.
	th.Syscall(unix.SYS_MSEAL, area.Base, area.Size, 0)
	return 0
}

// areaSyscall is the address of a syscall instruction in Ariadne's pages.
var areaSyscall = area.VDSO + uint64(tracee.SyscallIn(vdso.Image))

// linuxVDSO is where Linux's own vDSO has a syscall instruction: the same for all
// programs.
var linuxVDSO struct {
	sync.Mutex
	offset int
}

func linuxSyscall(th *thread, vdso uint64) int {
	linuxVDSO.Lock()
	defer linuxVDSO.Unlock()
	if linuxVDSO.offset == 0 {
		const most = 4 * pageSize
		var code []byte
		for len(code) < most {
			p := make([]byte, pageSize)
			if th.tr.ReadMem(vdso+uint64(len(code)), p) != 0 {
				break
			}
			code = append(code, p...)
		}
		if linuxVDSO.offset = tracee.SyscallIn(code); linuxVDSO.offset <= 0 {
			must(errors.New("no syscall instruction in Linux's vDSO"))
		}
	}
	return linuxVDSO.offset
}

// linuxPages are the mappings of Linux's vDSO and its data.
func linuxPages(maps string) (list [][2]uint64) {
	for line := range strings.Lines(maps) {
		if !strings.HasSuffix(line, "[vdso]\n") && !strings.HasSuffix(line, "[vvar]\n") &&
			!strings.HasSuffix(line, "[vvar_vclock]\n") {
			continue
		}
		m, ok := procmaps.Parse(line)
		switch last := len(list) - 1; {
		case !ok:
		case last >= 0 && list[last][1] == m.Start:
			list[last][1] = m.End
		default:
			list = append(list, [2]uint64{m.Start, m.End})
		}
	}
	return list
}

// Entries of the auxiliary vector (getauxval(3)).
const (
	atNull        = 0
	atBase        = 7
	atUID         = 11
	atEUID        = 12
	atGID         = 13
	atEGID        = 14
	atHWCAP       = 16
	atSecure      = 23
	atRandom      = 25
	atHWCAP2      = 26
	atSysinfoEHDR = 33
	atMinSigStkSz = 51
)

// patchAuxv changes what Linux told the new program: where the vDSO is, and the
// random bytes, whom it runs as, and a fixed processor's features. It returns where Linux's
// own vDSO is.
func (n *Node) patchAuxv(th *thread, secure bool) (vdso uint64) {
	c := &th.k.Cred
	values := map[uint64]uint64{atUID: uint64(c.UID.Real), atEUID: uint64(c.UID.Effective), atGID: uint64(c.GID.Real),
		atEGID: uint64(c.GID.Effective), atSecure: 0}
	if secure {
		values[atSecure] = 1
	}
	if m := processor.Named(n.k.Processor); m != nil {
		values[atHWCAP], values[atHWCAP2] = m.HWCAP(n.k.CPUs)
		values[atMinSigStkSz] = processor.SignalStack
	}
	th.k.Proc.Aux = nil
	write := func(addr uint64, b []byte) {
		if e := th.tr.WriteMem(addr, b); e != 0 {
			must(fmt.Errorf("thread %d: write the initial stack: %w", th.k.TID, e))
		}
	}
	stack := words{th: th, at: th.tr.SP()}
	set := func(kind, value uint64) { // of the entry that was just read
		write(stack.at-8, binary.LittleEndian.AppendUint64(nil, value))
		th.k.Proc.Aux = append(th.k.Proc.Aux, kernel.AuxValue{Kind: kind, Value: value})
	}
	for range stack.next() + 1 { // the arguments and NULL
		stack.next()
	}
	for stack.next() != 0 { // the environment
	}
	for {
		kind, value := stack.next(), stack.next()
		switch kind {
		case atNull:
			return vdso
		case atRandom:
			b := make([]byte, 16)
			n.k.Rand.Fill(b)
			write(value, b)
		case atSysinfoEHDR:
			vdso = value
			set(kind, area.VDSO)
		default:
			if v, known := values[kind]; known && value != v {
				set(kind, v)
			}
		}
	}
}

// cpuid is what a program of the node is told of the processor.
func (n *Node) cpuid(leaf, sub uint32) processor.Regs {
	if m := processor.Named(n.k.Processor); m != nil {
		return m.CPUID(leaf, sub, n.k.CPUs)
	}
	return processor.Hide(leaf, sub, tracee.CPUID(leaf, sub))
}

// words reads memory word by word, a page at a time.
type words struct {
	th   *thread
	at   uint64 // of what next returns
	page bytes.Reader
}

func (w *words) next() uint64 {
	if w.page.Len() == 0 {
		b := make([]byte, pageSize-w.at%pageSize)
		if e := w.th.tr.ReadMem(w.at, b); e != 0 {
			must(fmt.Errorf("thread %d: read the initial stack: %w", w.th.k.TID, e))
		}
		w.page.Reset(b)
	}
	var b [8]byte
	w.page.Read(b[:])
	w.at += 8
	return binary.LittleEndian.Uint64(b[:])
}
