package sys

import (
	"fmt"

	"ariadne/internal/kernel"
	"ariadne/internal/kernel/signal"

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
		if a[1] > signal.Max {
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
		if p.Cred.SecureBits&kernel.SecKeepLocked != 0 {
			return kernel.Fail(unix.EPERM)
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
			p.TimerSlack = p.DefaultSlack
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
	case unix.PR_CAPBSET_READ, unix.PR_CAPBSET_DROP, unix.PR_GET_SECUREBITS, unix.PR_SET_SECUREBITS, unix.PR_CAP_AMBIENT:
		return capPrctl(t, a)
	case unix.PR_GET_SECCOMP:
		return kernel.Ret(int64(t.Seccomp.Mode))
	case unix.PR_SET_SECCOMP:
		return seccompPrctl(t, a)
	case unix.PR_GET_THP_DISABLE, unix.PR_GET_TIMING, unix.PR_GET_IO_FLUSHER:
		return kernel.Ret(0)
	case unix.PR_SET_THP_DISABLE, unix.PR_SET_PTRACER:
		return kernel.Ret(0)
	case unix.PR_GET_TSC:
		return kernel.RetOr(0, writeU32(t, a[1], unix.PR_TSC_ENABLE))
	case unix.PR_SET_VMA:
		return kernel.Fail(unix.EINVAL) // names of memory areas: a kernel built without them
	}
	t.Node().Refuse(t, fmt.Sprintf("prctl %d", int32(a[0])), formatArgs(a), true)
	return kernel.Fail(unix.EINVAL)
}

// capPrctl are the options on capabilities (capabilities(7)).
func capPrctl(t *kernel.Thread, a Args) kernel.Result {
	p, c := t.Proc, &t.Proc.Cred
	switch int32(a[0]) {
	case unix.PR_CAP_AMBIENT:
		return ambient(c, a)
	case unix.PR_GET_SECUREBITS:
		return kernel.Ret(int64(c.SecureBits) | flag(p.KeepCaps)*kernel.SecKeepCaps)
	case unix.PR_SET_SECUREBITS:
		return setSecureBits(p, a[1])
	case unix.PR_CAPBSET_READ:
		if a[1] > unix.CAP_LAST_CAP {
			return kernel.Fail(unix.EINVAL)
		}
		return kernel.Ret(int64(c.Bounding >> a[1] & 1))
	}
	switch {
	case !p.Capable(unix.CAP_SETPCAP):
		return kernel.Fail(unix.EPERM)
	case a[1] > unix.CAP_LAST_CAP:
		return kernel.Fail(unix.EINVAL)
	}
	c.Bounding &^= 1 << a[1]
	return kernel.Ret(0)
}

// setSecureBits changes what is not locked; a lock stays.
func setSecureBits(p *kernel.Process, arg uint64) kernel.Result {
	c, keep := &p.Cred, int(flag(p.KeepCaps))*kernel.SecKeepCaps
	old, bits := c.SecureBits|keep, int(arg)
	locked := (old & kernel.SecAllLocks) >> 1
	if arg&^(kernel.SecAllBits|kernel.SecAllLocks) != 0 || locked&(old^bits) != 0 ||
		old&kernel.SecAllLocks&^bits != 0 || !p.Capable(unix.CAP_SETPCAP) {
		return kernel.Fail(unix.EPERM)
	}
	p.KeepCaps = bits&kernel.SecKeepCaps != 0
	c.SecureBits = bits &^ kernel.SecKeepCaps
	return kernel.Ret(0)
}

// ambient reads and changes the ambient set.
func ambient(c *kernel.Cred, a Args) kernel.Result {
	if a[1] == unix.PR_CAP_AMBIENT_CLEAR_ALL {
		if a[2]|a[3]|a[4] != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		c.Ambient = 0
		return kernel.Ret(0)
	}
	if a[3]|a[4] != 0 || a[2] > unix.CAP_LAST_CAP {
		return kernel.Fail(unix.EINVAL)
	}
	bit := uint64(1) << a[2]
	switch a[1] {
	case unix.PR_CAP_AMBIENT_IS_SET:
		return kernel.Ret(flag(c.Ambient&bit != 0))
	case unix.PR_CAP_AMBIENT_LOWER:
		c.Ambient &^= bit
	case unix.PR_CAP_AMBIENT_RAISE:
		if c.Permitted&c.Inheritable&bit == 0 || c.SecureBits&kernel.SecNoAmbient != 0 {
			return kernel.Fail(unix.EPERM)
		}
		c.Ambient |= bit
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
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
