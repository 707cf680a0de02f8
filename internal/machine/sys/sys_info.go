package sys

import (
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

const rlimitNote = "RLIMIT_NOFILE, NPROC, FSIZE, AS, DATA and SIGPENDING are enforced, the others remembered and shown"

func sysUname(t *kernel.Thread, a Args) kernel.Result {
	const field = 65
	b := make([]byte, 6*field)
	release, machine := kernel.OSRelease, "x86_64"
	if t.Proc.Persona&uname26 != 0 {
		release = kernel.OSRelease26
	}
	if t.Proc.Persona&perMask == perLinux32 {
		machine = "i686"
	}
	for i, s := range []string{"Linux", t.Node().HostName(), release, kernel.OSVersion, machine,
		t.Node().DomainName()} {
		copy(b[i*field:(i+1)*field-1], s)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[0], b))
}

func sysSethostname(t *kernel.Thread, a Args) kernel.Result {
	return setUTS(t, a, t.Node().SetHostName)
}

func sysSetdomainname(t *kernel.Thread, a Args) kernel.Result {
	return setUTS(t, a, t.Node().SetDomainName)
}

func setUTS(t *kernel.Thread, a Args, set func(string)) kernel.Result {
	const most = 64
	size := int32(a[1])
	switch {
	case !t.Capable(unix.CAP_SYS_ADMIN):
		return kernel.Fail(unix.EPERM)
	case size < 0 || size > most:
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, a[0], int(size))
	if e != 0 {
		return kernel.Fail(e)
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	set(name)
	return kernel.Ret(0)
}

func sysSysinfo(t *kernel.Thread, a Args) kernel.Result {
	const size, loads = 112, 3
	uptime, _ := tellClock(t, unix.CLOCK_BOOTTIME)
	threads := 0
	for _, p := range t.Node().Procs {
		threads += len(p.Threads)
	}
	b := le.AppendUint64(nil, uint64(uptime/1e9))
	b = append(b, make([]byte, loads*8)...)
	b = le.AppendUint64(b, uint64(t.Node().MemTotal()))
	b = le.AppendUint64(b, uint64(t.Node().MemFree()))
	b = append(b, make([]byte, 4*8)...) // shared, buffers, total and free swap
	b = le.AppendUint16(b, uint16(threads))
	b = append(b, make([]byte, size-len(b))...)
	le.PutUint32(b[104:], 1) // unit of the sizes
	return kernel.RetOr(0, t.M.WriteMem(a[0], b))
}

func sysGetrlimit(t *kernel.Thread, a Args) kernel.Result {
	return prlimit(t, t.Proc, int(int32(a[0])), 0, a[1])
}

func sysSetrlimit(t *kernel.Thread, a Args) kernel.Result {
	if a[1] == 0 {
		return kernel.Fail(unix.EFAULT)
	}
	return prlimit(t, t.Proc, int(int32(a[0])), a[1], 0)
}

func sysPrlimit(t *kernel.Thread, a Args) kernel.Result {
	x := peerThread(t, int(int32(a[0])))
	if x == nil {
		return kernel.Fail(unix.ESRCH)
	}
	me, him := t.Cred.UID.Real, x.Cred.UID
	if x != t && !t.Capable(unix.CAP_SYS_RESOURCE) && (me != him.Real || me != him.Effective || me != him.Saved) {
		return kernel.Fail(unix.EPERM)
	}
	return prlimit(t, x.Proc, int(int32(a[1])), a[2], a[3])
}

// prlimit stores p's old limit at old and takes a new one from set, where not 0.
func prlimit(t *kernel.Thread, p *kernel.Process, resource int, set, old uint64) kernel.Result {
	if resource < 0 || resource >= kernel.NumRlimits {
		return kernel.Fail(unix.EINVAL)
	}
	soft, hard := p.Rlimit(resource)
	if set != 0 {
		b, e := readBytes(t, set, 16)
		if e != 0 {
			return kernel.Fail(e)
		}
		if e := setRlimit(t, p, resource, le.Uint64(b), le.Uint64(b[8:])); e != 0 {
			return kernel.Fail(e)
		}
	}
	if old != 0 {
		return kernel.RetOr(0, t.M.WriteMem(old, le.AppendUint64(le.AppendUint64(nil, soft), hard)))
	}
	return kernel.Ret(0)
}

func setRlimit(t *kernel.Thread, p *kernel.Process, resource int, soft, hard uint64) kernel.Errno {
	_, oldHard := p.Rlimit(resource)
	switch {
	case soft > hard:
		return unix.EINVAL
	case hard > oldHard && !t.Capable(unix.CAP_SYS_RESOURCE):
		return unix.EPERM
	case resource == unix.RLIMIT_NOFILE && int64(hard) > kernel.FilesMax.Of(t.Node()):
		return unix.EPERM
	}
	p.Rlimits[resource] = [2]uint64{soft, hard}
	switch {
	case !enforced[resource]:
	case p == t.Proc:
		limitLinux(t, resource, soft)
	default:
		limitOther(t, p, resource, soft)
	}
	return 0
}

// enforced are the limits that Linux watches over: it hands out descriptor numbers
// and memory, and writes files.
var enforced = map[int]bool{unix.RLIMIT_NOFILE: true, unix.RLIMIT_FSIZE: true, unix.RLIMIT_AS: true,
	unix.RLIMIT_DATA: true}

// limitOther gives Linux the soft limit of a process that does not make the call.
func limitOther(t *kernel.Thread, p *kernel.Process, resource int, soft uint64) {
	if len(p.Threads) == 0 {
		return // a zombie
	}
	pid := p.Threads[0].M.RealTID()
	var l unix.Rlimit
	if unix.Prlimit(pid, resource, nil, &l) == nil {
		l.Cur = min(soft, l.Max)
		if err := unix.Prlimit(pid, resource, &l, nil); err != nil {
			t.Node().Refuse(t, "prlimit of another process", err.Error(), false)
		}
	}
}

// limitLinux gives Linux the same soft limit. It keeps its own hard limit, so that
// the soft one can be raised again.
func limitLinux(t *kernel.Thread, resource int, soft uint64) {
	const at = area.Scratch
	if t.M.Syscall(unix.SYS_PRLIMIT64, 0, uint64(resource), 0, at) != 0 {
		return
	}
	hard, e := readU64(t, at+8)
	if e == 0 && writeU64(t, at, min(soft, hard)) == 0 {
		t.M.Syscall(unix.SYS_PRLIMIT64, 0, uint64(resource), at, 0)
	}
}
