package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/seccomp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A program's own filters are the emulated kernel's, asked at each stop of a thread that has some
// (Judge). From the first one on all calls of its process stop.

// seccompSizes are those of struct seccomp_notif, its answer, and struct seccomp_data.
var seccompSizes = []uint16{80, 24, 64}

func sysSeccomp(t *kernel.Thread, a Args) kernel.Result {
	flags, arg := uint32(a[1]), a[2]
	switch uint32(a[0]) {
	case unix.SECCOMP_SET_MODE_STRICT:
		if flags != 0 || arg != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		return setStrict(t)
	case unix.SECCOMP_SET_MODE_FILTER:
		return setFilter(t, flags, arg)
	case unix.SECCOMP_GET_ACTION_AVAIL:
		if flags != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		action, e := readU32(t, arg)
		switch {
		case e != 0:
			return kernel.Fail(e)
		case uint32(seccomp.Answer(action)) != seccomp.Answer(action).Action():
			return kernel.Fail(unix.EOPNOTSUPP)
		}
		return kernel.Ret(0)
	case unix.SECCOMP_GET_NOTIF_SIZES:
		if flags != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		var b []byte
		for _, size := range seccompSizes {
			b = le.AppendUint16(b, size)
		}
		return kernel.RetOr(0, t.M.WriteMem(arg, b))
	}
	return kernel.Fail(unix.EINVAL)
}

// seccompPrctl is PR_SET_SECCOMP.
func seccompPrctl(t *kernel.Thread, a Args) kernel.Result {
	switch a[1] {
	case unix.SECCOMP_MODE_STRICT:
		return setStrict(t)
	case unix.SECCOMP_MODE_FILTER:
		return setFilter(t, 0, a[2])
	}
	return kernel.Fail(unix.EINVAL)
}

func setStrict(t *kernel.Thread) kernel.Result {
	if t.Seccomp.Mode == seccomp.ByFilter {
		return kernel.Fail(unix.EINVAL)
	}
	t.Seccomp.Mode, t.NoTSC = seccomp.Strict, true
	stopAll(t)
	return kernel.Ret(0)
}

const filterFlags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_LOG | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW |
	unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV

func setFilter(t *kernel.Thread, flags uint32, arg uint64) kernel.Result {
	const both = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	switch {
	case flags&^uint32(filterFlags) != 0,
		flags&(both|unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH) == both,
		flags&(unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV|unix.SECCOMP_FILTER_FLAG_NEW_LISTENER) == unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV:
		return kernel.Fail(unix.EINVAL)
	}
	program, e := readFilter(t, arg)
	switch {
	case e != 0:
		return kernel.Fail(e)
	case flags&unix.SECCOMP_FILTER_FLAG_NEW_LISTENER != 0:
		t.Node().Refuse(t, "seccomp SECCOMP_FILTER_FLAG_NEW_LISTENER", formatArgs(t.Call.NR, t.Call.Args), false)
		return kernel.Fail(unix.EINVAL)
	case !t.Seccomp.Fits(len(program)):
		return kernel.Fail(unix.ENOMEM)
	}
	if flags&unix.SECCOMP_FILTER_FLAG_TSYNC != 0 {
		for _, o := range t.Proc.Threads {
			switch {
			case o == t || o.Seccomp.CanBecome(t.Seccomp):
			case flags&unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH != 0:
				return kernel.Fail(unix.ESRCH)
			default:
				return kernel.Ret(int64(o.TID))
			}
		}
	}
	t.Seccomp = seccomp.State{Mode: seccomp.ByFilter,
		Newest: &seccomp.Filter{Program: program, Older: t.Seccomp.Newest}}
	if flags&unix.SECCOMP_FILTER_FLAG_TSYNC != 0 {
		for _, o := range t.Proc.Threads {
			o.Seccomp, o.NoNewPrivs = t.Seccomp, o.NoNewPrivs || t.NoNewPrivs
		}
	}
	stopAll(t)
	return kernel.Ret(0)
}

// readFilter reads a struct sock_fprog and what it points at, and judges it as Linux does.
func readFilter(t *kernel.Thread, arg uint64) ([]seccomp.Instruction, kernel.Errno) {
	b, e := readBytes(t, arg, 16)
	if e != 0 {
		return nil, e
	}
	n, at := int(le.Uint16(b)), le.Uint64(b[8:])
	switch {
	case n == 0 || n > seccomp.MaxProgram:
		return nil, unix.EINVAL
	case !t.NoNewPrivs && !t.Capable(unix.CAP_SYS_ADMIN):
		return nil, unix.EACCES
	case at == 0:
		return nil, unix.EINVAL
	}
	if b, e = readBytes(t, at, 8*n); e != 0 {
		return nil, e
	}
	program := make([]seccomp.Instruction, n)
	for i := range program {
		program[i] = seccomp.Instruction{Code: le.Uint16(b[8*i:]), JT: b[8*i+2], JF: b[8*i+3], K: le.Uint32(b[8*i+4:])}
	}
	if !seccomp.Valid(program) {
		return nil, unix.EINVAL
	}
	return program, 0
}

// Judge asks what the thread has in force about the call that it enters, of an architecture
// (AUDIT_ARCH_*) and behind the instruction at ip.
func Judge(t *kernel.Thread, arch uint32, ip uint64) seccomp.Answer {
	return t.Seccomp.Ask(seccomp.Call{NR: int32(t.Call.NR), Arch: arch, IP: ip, Args: t.Call.Args})
}

// AllowedStrictly reports whether a call is left in strict mode.
func AllowedStrictly(nr int) bool {
	return nr == unix.SYS_READ || nr == unix.SYS_WRITE || nr == unix.SYS_EXIT || nr == unix.SYS_RT_SIGRETURN
}

// BySeccomp is the SIGSYS of a call that a filter trapped.
func BySeccomp(nr int, arch uint32, ip uint64, data int) signal.Info {
	const sysSeccomp = 1
	return signal.Info{Signo: int(unix.SIGSYS), Code: sysSeccomp, Errno: data, Addr: ip,
		Value: uint64(uint32(nr)) | uint64(arch)<<32}
}

// stopAll has Linux stop all calls of the process, those of threads without a filter too: copies of
// it are made thread by thread from one. It is a filter of Linux's own beside Ariadne's, which
// every child inherits. A call that Linux refuses unseen raises SIGSYS there once the thread that
// asks for it would be told something else; no filter is known to look at the arguments of those.
func stopAll(t *kernel.Thread) {
	p := t.Proc
	var trapped []uint32
	for nr := range Table {
		if Table[nr].Runs == Unseen && (t.Seccomp.Mode == seccomp.Strict || !passes(t.Seccomp, nr)) {
			trapped = append(trapped, uint32(nr))
		}
	}
	if p.AllStop && (p.UnseenStop || len(trapped) == 0) {
		return
	}
	program := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}}
	for _, nr := range trapped {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: 1},
			bpf.RetConstant{Val: seccomp.Trap})
	}
	raw, err := bpf.Assemble(append(program, bpf.RetConstant{Val: seccomp.Trace}))
	if err != nil {
		panic("sys: " + err.Error())
	}
	const header = 16
	b := le.AppendUint64(le.AppendUint64(nil, uint64(len(raw))), area.Scratch+header)
	for _, r := range raw {
		b = le.AppendUint32(append(le.AppendUint16(b, r.Op), r.Jt, r.Jf), r.K)
	}
	t.M.WriteMem(area.Scratch, b)
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW
	if r := t.M.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, area.Scratch); r != 0 {
		t.Node().Refuse(t, "seccomp", "Linux does not take Ariadne's filter", false)
		return
	}
	p.AllStop, p.UnseenStop = true, p.UnseenStop || len(trapped) > 0
}

// passes reports whether filters let a call through, whatever its arguments.
func passes(s seccomp.State, nr int) bool {
	switch s.Ask(seccomp.Call{NR: int32(nr), Arch: unix.AUDIT_ARCH_X86_64}).Action() {
	case seccomp.Allow, seccomp.Log:
		return true
	}
	return false
}
