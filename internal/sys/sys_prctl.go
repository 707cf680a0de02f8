package sys

import (
	"fmt"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

// sysPrctl knows the options that act on what the kernel keeps. An unknown one
// is reported by name and fails with EINVAL, as on a kernel without it.
func sysPrctl(t *kernel.Thread, a Args) kernel.Result {
	p := t.Proc
	switch int32(a[0]) {
	case unix.PR_SET_NAME:
		return setName(t, a[1])
	case unix.PR_GET_NAME:
		return kernel.RetOr(0, t.M.WriteMem(a[1], append([]byte(t.Name), make([]byte, 16-len(t.Name))...)))
	case unix.PR_SET_PDEATHSIG:
		if a[1] > kernel.NumSignals {
			return kernel.Fail(unix.EINVAL)
		}
		p.PDeathSig = int(a[1])
	case unix.PR_GET_PDEATHSIG:
		return kernel.RetOr(0, writeU32(t, a[1], uint32(p.PDeathSig)))
	case unix.PR_SET_DUMPABLE:
		if a[1] > 1 {
			return kernel.Fail(unix.EINVAL)
		}
		p.Dumpable = int(a[1])
	case unix.PR_GET_DUMPABLE:
		return kernel.Ret(int64(p.Dumpable))
	case unix.PR_SET_KEEPCAPS:
		if a[1] > 1 {
			return kernel.Fail(unix.EINVAL)
		}
		p.KeepCaps = a[1] == 1
	case unix.PR_GET_KEEPCAPS:
		return kernel.Ret(flag(p.KeepCaps))
	case unix.PR_SET_NO_NEW_PRIVS:
		if a[1] != 1 || a[2]|a[3]|a[4] != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		p.NoNewPrivs = true
	case unix.PR_GET_NO_NEW_PRIVS:
		return kernel.Ret(flag(p.NoNewPrivs))
	case unix.PR_SET_CHILD_SUBREAPER:
		p.Subreaper = a[1] != 0
	case unix.PR_GET_CHILD_SUBREAPER:
		return kernel.RetOr(0, writeU32(t, a[1], uint32(flag(p.Subreaper))))
	case unix.PR_SET_TIMERSLACK:
		if p.TimerSlack = a[1]; a[1] == 0 {
			p.TimerSlack = kernel.DefaultTimerSlack
		}
	case unix.PR_GET_TIMERSLACK:
		return kernel.Ret(int64(p.TimerSlack))
	default:
		return otherPrctl(t, a)
	}
	return kernel.Ret(0)
}

// otherPrctl are options that mean nothing here but have a true answer.
func otherPrctl(t *kernel.Thread, a Args) kernel.Result {
	switch int32(a[0]) {
	case unix.PR_CAPBSET_READ:
		if a[1] > 40 {
			return kernel.Fail(unix.EINVAL)
		}
		return kernel.Ret(1)
	case unix.PR_GET_SECUREBITS, unix.PR_GET_SECCOMP, unix.PR_GET_THP_DISABLE, unix.PR_GET_TIMING, unix.PR_GET_IO_FLUSHER:
		return kernel.Ret(0)
	case unix.PR_SET_THP_DISABLE, unix.PR_SET_PTRACER:
		return kernel.Ret(0)
	case unix.PR_GET_TSC:
		return kernel.RetOr(0, writeU32(t, a[1], unix.PR_TSC_ENABLE))
	case unix.PR_SET_VMA:
		return kernel.Fail(unix.EINVAL) // names of memory areas: a kernel built without them
	case unix.PR_CAP_AMBIENT:
		return ambient(a)
	}
	t.Node().Refuse(t, fmt.Sprintf("prctl %d", int32(a[0])), formatArgs(a), true)
	return kernel.Fail(unix.EINVAL)
}

// ambient: the ambient set of capabilities is always empty.
func ambient(a Args) kernel.Result {
	switch a[1] {
	case unix.PR_CAP_AMBIENT_IS_SET, unix.PR_CAP_AMBIENT_CLEAR_ALL, unix.PR_CAP_AMBIENT_LOWER:
		return kernel.Ret(0)
	case unix.PR_CAP_AMBIENT_RAISE:
		return kernel.Fail(unix.EPERM)
	}
	return kernel.Fail(unix.EINVAL)
}

func setName(t *kernel.Thread, addr uint64) kernel.Result {
	var name []byte
	for len(name) < 15 {
		b, e := readBytes(t, addr+uint64(len(name)), 1)
		if e != 0 {
			return kernel.Fail(e)
		}
		if b[0] == 0 {
			break
		}
		name = append(name, b[0])
	}
	t.Name = string(name)
	return kernel.Ret(0)
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
