package sys

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

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
		t.PDeathSig = int(a[1])
	case unix.PR_GET_PDEATHSIG:
		return kernel.RetOr(0, writeU32(t, a[1], uint32(t.PDeathSig)))
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
		if t.Cred.SecureBits&kernel.SecKeepLocked != 0 {
			return kernel.Fail(unix.EPERM)
		}
		t.Cred.KeepCaps = a[1] == 1
	case unix.PR_GET_KEEPCAPS:
		return kernel.Ret(flag(t.Cred.KeepCaps))
	case unix.PR_SET_NO_NEW_PRIVS:
		if a[1] != 1 || a[2]|a[3]|a[4] != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		t.NoNewPrivs = true
	case unix.PR_GET_NO_NEW_PRIVS:
		if a[1]|a[2]|a[3]|a[4] != 0 {
			return kernel.Fail(unix.EINVAL)
		}
		return kernel.Ret(flag(t.NoNewPrivs))
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
	case unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE:
		return thpPrctl(t, a)
	case unix.PR_SET_TIMING:
		if a[1] != unix.PR_TIMING_STATISTICAL {
			return kernel.Fail(unix.EINVAL)
		}
		return kernel.Ret(0)
	case unix.PR_GET_TIMING, unix.PR_GET_IO_FLUSHER, unix.PR_SET_PTRACER:
		return kernel.Ret(0)
	case unix.PR_SET_TSC:
		if a[1] != unix.PR_TSC_ENABLE && a[1] != unix.PR_TSC_SIGSEGV {
			return kernel.Fail(unix.EINVAL)
		}
		t.NoTSC = a[1] == unix.PR_TSC_SIGSEGV
		return kernel.Ret(0)
	case unix.PR_GET_TSC:
		mode := uint32(unix.PR_TSC_ENABLE)
		if t.NoTSC {
			mode = unix.PR_TSC_SIGSEGV
		}
		return kernel.RetOr(0, writeU32(t, a[1], mode))
	case unix.PR_MCE_KILL, unix.PR_MCE_KILL_GET:
		return mcePrctl(t, a)
	case unix.PR_GET_SPECULATION_CTRL, unix.PR_SET_SPECULATION_CTRL:
		return speculationPrctl(a)
	case unix.PR_SET_MM:
		return memoryPrctl(t, a)
	case unix.PR_GET_ENDIAN, unix.PR_SET_ENDIAN, unix.PR_GET_FPEMU, unix.PR_SET_FPEMU, unix.PR_GET_FPEXC, unix.PR_SET_FPEXC,
		unix.PR_GET_UNALIGN, unix.PR_SET_UNALIGN: // of other processors
		return kernel.Fail(unix.EINVAL)
	case unix.PR_SET_VMA:
		return kernel.Fail(unix.EINVAL) // names of memory areas: a kernel built without them
	}
	t.Node().Refuse(t, fmt.Sprintf("prctl %d", int32(a[0])), formatArgs(t.Call.NR, a), true)
	return kernel.Fail(unix.EINVAL)
}

// thpPrctl remembers who wants no huge pages, of which there are none.
func thpPrctl(t *kernel.Thread, a Args) kernel.Result {
	set := int32(a[0]) == unix.PR_SET_THP_DISABLE
	switch {
	case a[2]|a[3]|a[4] != 0 || !set && a[1] != 0:
		return kernel.Fail(unix.EINVAL)
	case !set:
		return kernel.Ret(flag(t.Proc.NoHugePages))
	}
	t.Proc.NoHugePages = a[1] != 0
	return kernel.Ret(0)
}

// mcePrctl remembers how a process wants to learn of memory that is broken, which none is.
func mcePrctl(t *kernel.Thread, a Args) kernel.Result {
	p := t.Proc
	if a[3]|a[4] != 0 || int32(a[0]) == unix.PR_MCE_KILL_GET && a[1]|a[2] != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	switch {
	case int32(a[0]) == unix.PR_MCE_KILL_GET && p.EarlyKill == nil:
		return kernel.Ret(unix.PR_MCE_KILL_DEFAULT)
	case int32(a[0]) == unix.PR_MCE_KILL_GET:
		return kernel.Ret(flag(*p.EarlyKill)) // PR_MCE_KILL_EARLY is 1, LATE 0
	case a[1] == unix.PR_MCE_KILL_CLEAR && a[2] == 0:
		p.EarlyKill = nil
	case a[1] == unix.PR_MCE_KILL_SET && a[2] == unix.PR_MCE_KILL_DEFAULT:
		p.EarlyKill = nil
	case a[1] == unix.PR_MCE_KILL_SET && (a[2] == unix.PR_MCE_KILL_EARLY || a[2] == unix.PR_MCE_KILL_LATE):
		early := a[2] == unix.PR_MCE_KILL_EARLY
		p.EarlyKill = &early
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

// speculationPrctl answers as on a processor that leaks nothing, like /proc/PID/status.
func speculationPrctl(a Args) kernel.Result {
	set := int32(a[0]) == unix.PR_SET_SPECULATION_CTRL
	switch {
	case a[3]|a[4] != 0 || !set && a[2] != 0:
		return kernel.Fail(unix.EINVAL)
	case a[1] > unix.PR_SPEC_L1D_FLUSH:
		return kernel.Fail(unix.ENODEV)
	case a[1] == unix.PR_SPEC_L1D_FLUSH && set:
		return kernel.Fail(unix.EPERM)
	case a[1] == unix.PR_SPEC_L1D_FLUSH:
		return kernel.Ret(unix.PR_SPEC_FORCE_DISABLE)
	case set && a[1] == unix.PR_SPEC_STORE_BYPASS:
		return kernel.Fail(unix.ENXIO)
	case set && a[2] == unix.PR_SPEC_ENABLE:
		return kernel.Ret(0)
	case set && (a[2] == unix.PR_SPEC_DISABLE || a[2] == unix.PR_SPEC_FORCE_DISABLE):
		return kernel.Fail(unix.EPERM)
	case set:
		return kernel.Fail(unix.ERANGE)
	}
	return kernel.Ret(unix.PR_SPEC_NOT_AFFECTED)
}

// memoryPrctl is PR_SET_MM. Its changes need the real CAP_SYS_RESOURCE, as in a container.
func memoryPrctl(t *kernel.Thread, a Args) kernel.Result {
	const mapSize = 104 // struct prctl_mm_map
	switch {
	case a[4] != 0 || a[3] != 0 && a[1] != unix.PR_SET_MM_AUXV && a[1] != unix.PR_SET_MM_MAP &&
		a[1] != unix.PR_SET_MM_MAP_SIZE:
		return kernel.Fail(unix.EINVAL)
	case a[1] == unix.PR_SET_MM_MAP_SIZE:
		return kernel.RetOr(0, writeU32(t, a[2], mapSize))
	}
	t.Node().Refuse(t, "prctl PR_SET_MM", formatArgs(t.Call.NR, a), true)
	return kernel.Fail(unix.EPERM)
}

// capPrctl are the options on capabilities (capabilities(7)).
func capPrctl(t *kernel.Thread, a Args) kernel.Result {
	c := &t.Cred
	switch int32(a[0]) {
	case unix.PR_CAP_AMBIENT:
		return ambient(c, a)
	case unix.PR_GET_SECUREBITS:
		return kernel.Ret(int64(c.SecureBits) | flag(c.KeepCaps)*kernel.SecKeepCaps)
	case unix.PR_SET_SECUREBITS:
		return setSecureBits(t, a[1])
	case unix.PR_CAPBSET_READ:
		if a[1] > unix.CAP_LAST_CAP {
			return kernel.Fail(unix.EINVAL)
		}
		return kernel.Ret(int64(c.Bounding >> a[1] & 1))
	}
	switch {
	case !t.Capable(unix.CAP_SETPCAP):
		return kernel.Fail(unix.EPERM)
	case a[1] > unix.CAP_LAST_CAP:
		return kernel.Fail(unix.EINVAL)
	}
	c.Bounding &^= 1 << a[1]
	return kernel.Ret(0)
}

// setSecureBits changes what is not locked; a lock stays.
func setSecureBits(t *kernel.Thread, arg uint64) kernel.Result {
	c := &t.Cred
	keep := int(flag(c.KeepCaps)) * kernel.SecKeepCaps
	old, bits := c.SecureBits|keep, int(arg)
	locked := (old & kernel.SecAllLocks) >> 1
	if arg&^(kernel.SecAllBits|kernel.SecAllLocks) != 0 || locked&(old^bits) != 0 ||
		old&kernel.SecAllLocks&^bits != 0 || !t.Capable(unix.CAP_SETPCAP) {
		return kernel.Fail(unix.EPERM)
	}
	c.KeepCaps = bits&kernel.SecKeepCaps != 0
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
