package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

const remembered = "remembered and shown; one thread of a node runs at a time whatever it says"

// succeeds answers 0: there is nothing to do.
func succeeds(t *kernel.Thread, a Args) kernel.Result { return kernel.Ret(0) }

func sysSchedYield(t *kernel.Thread, a Args) kernel.Result {
	return kernel.Result{Op: kernel.OpYield}
}

// schedOf is threadByID for the calls on policies, to which negative ids are
// not even possible.
func schedOf(t *kernel.Thread, tid uint64) (*kernel.Thread, kernel.Errno) {
	if int32(tid) < 0 {
		return nil, unix.EINVAL
	}
	return threadByID(t, tid)
}

// mayNice reports whether t may change how x is scheduled, if not to its advantage.
func mayNice(t, x *kernel.Thread) bool {
	c, him := &t.Cred, &x.Cred
	me := c.UID.Effective
	return (me == him.UID.Real || me == him.UID.Effective) && him.Permitted&^c.Permitted == 0 ||
		t.Capable(unix.CAP_SYS_NICE)
}

// schedResetOnFork is the flag that sched_setscheduler takes with the policy.
const schedResetOnFork = 0x40000000

// realTime reports whether a policy has priorities from 1 to 99.
func realTime(policy int) bool { return policy == unix.SCHED_FIFO || policy == unix.SCHED_RR }

func knownPolicy(policy int) bool {
	switch policy {
	case unix.SCHED_NORMAL, unix.SCHED_FIFO, unix.SCHED_RR, unix.SCHED_BATCH, unix.SCHED_IDLE:
		return true
	}
	return false
}

// setSched changes a thread's policy as the caller may (sched(7)).
func setSched(t, x *kernel.Thread, policy, priority int, reset bool) kernel.Errno {
	// counts as a better nice value
	leavesIdle := x.Sched.Policy == unix.SCHED_IDLE && policy != unix.SCHED_IDLE
	switch {
	case !knownPolicy(policy), realTime(policy) != (priority > 0), priority < 0 || priority > 99:
		return unix.EINVAL
	case !mayNice(t, x), !t.Capable(unix.CAP_SYS_NICE) &&
		(realTime(policy) || x.Sched.ResetOnFork && !reset || leavesIdle):
		return unix.EPERM
	}
	x.Sched.Policy, x.Sched.Priority, x.Sched.ResetOnFork = policy, priority, reset
	return 0
}

func sysSchedSetscheduler(t *kernel.Thread, a Args) kernel.Result {
	policy := int(int32(a[1]))
	if policy < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	return schedParam(t, a[0], a[2], func(x *kernel.Thread, priority int) kernel.Errno {
		return setSched(t, x, policy&^schedResetOnFork, priority, policy&schedResetOnFork != 0)
	})
}

func sysSchedSetparam(t *kernel.Thread, a Args) kernel.Result {
	return schedParam(t, a[0], a[1], func(x *kernel.Thread, priority int) kernel.Errno {
		return setSched(t, x, x.Sched.Policy, priority, x.Sched.ResetOnFork)
	})
}

// schedParam reads a struct sched_param and gives it to set.
func schedParam(t *kernel.Thread, tid, addr uint64, set func(*kernel.Thread, int) kernel.Errno) kernel.Result {
	if addr == 0 {
		return kernel.Fail(unix.EINVAL)
	}
	priority, e := readU32(t, addr)
	if e != 0 {
		return kernel.Fail(e)
	}
	x, e := schedOf(t, tid)
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.RetOr(0, set(x, int(int32(priority))))
}

func sysSchedGetscheduler(t *kernel.Thread, a Args) kernel.Result {
	x, e := schedOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	policy := x.Sched.Policy
	if x.Sched.ResetOnFork {
		policy |= schedResetOnFork
	}
	return kernel.Ret(int64(policy))
}

func sysSchedGetparam(t *kernel.Thread, a Args) kernel.Result {
	x, e := schedOf(t, a[0])
	if e == 0 && a[1] == 0 {
		e = unix.EINVAL
	}
	if e == 0 {
		e = writeU32(t, a[1], uint32(x.Sched.Priority))
	}
	return kernel.RetOr(0, e)
}

// schedAttrSize is the size of the first version of struct sched_attr.
const schedAttrSize = 48

func sysSchedSetattr(t *kernel.Thread, a Args) kernel.Result {
	x, e := schedOf(t, a[0])
	if e == 0 && (a[1] == 0 || a[2] != 0) {
		e = unix.EINVAL
	}
	var b []byte
	if e == 0 {
		b, e = readBytes(t, a[1], schedAttrSize)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	policy, flags := int(int32(le.Uint32(b[4:]))), le.Uint64(b[8:])
	if policy == unix.SCHED_DEADLINE {
		return kernel.RetOr(0, setDeadlinePolicy(t, x, b, flags))
	}
	if e := setSched(t, x, policy, int(le.Uint32(b[20:])), flags&1 != 0); e != 0 {
		return kernel.Fail(e)
	}
	if !realTime(policy) {
		return kernel.RetOr(0, setNice(t, x, int(int32(le.Uint32(b[16:])))))
	}
	return kernel.Ret(0)
}

// setDeadlinePolicy takes SCHED_DEADLINE from a struct sched_attr (sched_setattr(2)).
func setDeadlinePolicy(t, x *kernel.Thread, b []byte, flags uint64) kernel.Errno {
	const known, least, most = 7, 1024, 1 << 63
	runtime, deadline, period := le.Uint64(b[24:]), le.Uint64(b[32:]), le.Uint64(b[40:])
	if period == 0 {
		period = deadline
	}
	switch {
	case flags&^known != 0, deadline == 0, runtime < least, runtime > deadline, deadline > period, deadline >= most, period >= most:
		return unix.EINVAL
	case !t.Capable(unix.CAP_SYS_NICE):
		return unix.EPERM
	}
	x.Sched.Policy, x.Sched.Priority, x.Sched.ResetOnFork = unix.SCHED_DEADLINE, 0, flags&1 != 0
	x.Sched.Runtime, x.Sched.Deadline, x.Sched.Period = runtime, deadline, period
	return 0
}

func sysSchedGetattr(t *kernel.Thread, a Args) kernel.Result {
	x, e := schedOf(t, a[0])
	if e == 0 && (a[1] == 0 || a[2] < schedAttrSize || a[2] > 4096 || a[3] != 0) {
		e = unix.EINVAL
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	b := le.AppendUint32(nil, schedAttrSize)
	b = le.AppendUint32(b, uint32(x.Sched.Policy))
	b = le.AppendUint64(b, uint64(flag(x.Sched.ResetOnFork)))
	b = le.AppendUint32(b, uint32(x.Nice))
	b = le.AppendUint32(b, uint32(x.Sched.Priority))
	for _, v := range []uint64{x.Sched.Runtime, x.Sched.Deadline, x.Sched.Period} {
		b = le.AppendUint64(b, v)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], b))
}

func sysPriorityMax(t *kernel.Thread, a Args) kernel.Result { return priorityBound(a, 99) }
func sysPriorityMin(t *kernel.Thread, a Args) kernel.Result { return priorityBound(a, 1) }

func priorityBound(a Args, bound int64) kernel.Result {
	policy := int(int32(a[0]))
	switch {
	case realTime(policy):
		return kernel.Ret(bound)
	case knownPolicy(policy), policy == unix.SCHED_DEADLINE:
		return kernel.Ret(0)
	}
	return kernel.Fail(unix.EINVAL)
}

func sysRRInterval(t *kernel.Thread, a Args) kernel.Result {
	x, e := schedOf(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	interval := coarseRes // what Linux says for ordinary threads at 250 Hz
	switch x.Sched.Policy {
	case unix.SCHED_RR:
		interval = 100e6
	case unix.SCHED_FIFO:
		interval = 0
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], appendTimespec(nil, interval)))
}

// allCPUs are the node's processors.
func allCPUs(t *kernel.Thread) uint64 { return 1<<t.Node().CPUs - 1 }

// maskSize is the size in bytes of the kernel's own processor masks.
const maskSize = 8

func sysSetaffinity(t *kernel.Thread, a Args) kernel.Result {
	b, e := readBytes(t, a[2], int(min(a[1], maskSize)))
	if e != 0 {
		return kernel.Fail(e)
	}
	x, e := threadByID(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	mask := le.Uint64(append(b, make([]byte, maskSize)...)) & allCPUs(t)
	switch {
	case !mayNice(t, x):
		return kernel.Fail(unix.EPERM)
	case mask == 0:
		return kernel.Fail(unix.EINVAL)
	}
	x.Affinity = mask
	return kernel.Ret(0)
}

func sysGetaffinity(t *kernel.Thread, a Args) kernel.Result {
	size := uint64(uint32(a[1]))
	if size*8 < uint64(t.Node().CPUs) || size%8 != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	x, e := threadByID(t, a[0])
	if e == 0 {
		e = writeU64(t, a[2], x.Affinity&allCPUs(t))
	}
	return kernel.RetOr(maskSize, e)
}

func sysGetcpu(t *kernel.Thread, a Args) kernel.Result {
	for _, addr := range a[:2] {
		if addr == 0 {
			continue
		}
		if e := writeU32(t, addr, 0); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(0)
}

// The scopes of getpriority(2) and ioprio_get(2). Those of ioprio_get start at 1.
const (
	whichThread = iota
	whichGroup
	whichUser
)

// selectThreads returns the threads that which and who name.
func selectThreads(t *kernel.Thread, which, who int) ([]*kernel.Thread, kernel.Errno) {
	var out []*kernel.Thread
	switch which {
	case whichThread:
		x, e := threadByID(t, uint64(who))
		if e != 0 {
			return nil, unix.ESRCH
		}
		return []*kernel.Thread{x}, 0
	case whichGroup:
		if who == 0 {
			who = t.Proc.PGID
		}
		for _, p := range t.Node().Group(who) {
			out = append(out, p.Tasks()...)
		}
	case whichUser:
		if who == 0 {
			who = t.Cred.UID.Real
		}
		for _, pid := range t.Node().PIDs() {
			for _, x := range t.Node().Procs[pid].Tasks() {
				if x.Cred.UID.Real == who {
					out = append(out, x)
				}
			}
		}
	default:
		return nil, unix.EINVAL
	}
	if len(out) == 0 {
		return nil, unix.ESRCH
	}
	return out, 0
}

func sysGetpriority(t *kernel.Thread, a Args) kernel.Result {
	threads, e := selectThreads(t, int(int32(a[0])), int(int32(a[1])))
	if e != 0 {
		return kernel.Fail(e)
	}
	best := 0
	for _, x := range threads {
		best = max(best, 20-x.Nice)
	}
	return kernel.Ret(int64(best))
}

func sysSetpriority(t *kernel.Thread, a Args) kernel.Result {
	threads, e := selectThreads(t, int(int32(a[0])), int(int32(a[1])))
	for _, x := range threads {
		if e2 := setNice(t, x, int(int32(a[2]))); e2 != 0 {
			e = e2
		}
	}
	return kernel.RetOr(0, e)
}

func setNice(t, x *kernel.Thread, nice int) kernel.Errno {
	nice = max(-20, min(19, nice))
	if !mayNice(t, x) {
		return unix.EPERM
	}
	if nice < x.Nice && !t.Capable(unix.CAP_SYS_NICE) {
		return unix.EACCES
	}
	x.Nice = nice
	return 0
}

func sysIoprioGet(t *kernel.Thread, a Args) kernel.Result {
	threads, e := selectThreads(t, int(int32(a[0]))-1, int(int32(a[1])))
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(threads[0].Sched.IOPrio))
}

// ioprioRealTime is IOPRIO_CLASS_RT.
const ioprioRealTime = 1

func sysIoprioSet(t *kernel.Thread, a Args) kernel.Result {
	if class, data := a[2]>>13, a[2]&(1<<13-1); class > 3 || class == 0 && data != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	threads, e := selectThreads(t, int(int32(a[0]))-1, int(int32(a[1])))
	if class := a[2] >> 13; class == ioprioRealTime && !t.Capable(unix.CAP_SYS_ADMIN) && !t.Capable(unix.CAP_SYS_NICE) {
		return kernel.Fail(unix.EPERM)
	}
	for _, x := range threads {
		if me := t.Cred.UID; x.Cred.UID.Real != me.Effective && x.Cred.UID.Real != me.Real &&
			!t.Capable(unix.CAP_SYS_NICE) {
			return kernel.Fail(unix.EPERM)
		}
		x.Sched.IOPrio = int(a[2])
	}
	return kernel.RetOr(0, e)
}

// Commands of membarrier(2).
const (
	membarrierGlobal = 1 << iota
	membarrierGlobalExpedited
	membarrierRegisterGlobal
	membarrierPrivate
	membarrierRegisterPrivate
	membarrierSync
	membarrierRegisterSync

	membarrierAll = membarrierRegisterSync<<1 - 1
)

// sysMembarrier has nothing to do but to check: a thread that runs has seen all
// that those before it wrote.
func sysMembarrier(t *kernel.Thread, a Args) kernel.Result {
	p := t.Proc
	cmd := int(int32(a[0]))
	if uint32(a[1]) != 0 {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case 0:
		return kernel.Ret(membarrierAll)
	case membarrierRegisterGlobal, membarrierRegisterPrivate, membarrierRegisterSync:
		p.Membarrier |= cmd
	case membarrierPrivate, membarrierSync:
		if p.Membarrier&(cmd<<1) == 0 {
			return kernel.Fail(unix.EPERM)
		}
	case membarrierGlobal, membarrierGlobalExpedited:
	default:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}
