package sys

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// The tests in this file make the same calls to our handlers and to Linux, and
// compare what is returned.

const noProcess = 0x7ffffff0 // an id that nobody has

// at marks an argument as an offset into memory; the first half is zero, then
// come a few structures.
type at uint64

// Structures in memory.
const (
	zeros   = at(0)
	badTime = at(0x800) // nanoseconds out of range
	negTime = at(0x820)
	word    = at(0x840) // a futex word of 7
	beyond  = at(0)     // with odd added: unaligned
	nowhere = at(1 << 60)
)

func fillMemory(b []byte) {
	le.PutUint64(b[badTime+8:], 1e9)
	le.PutUint64(b[negTime:], ^uint64(0))
	le.PutUint32(b[word:], 7)
}

// sameErrors are calls that end at once and mean the same on every machine: they ask
// for nothing that exists there already. Process 1 is named only where it cannot be
// the caller's child.
var sameErrors = []struct {
	name string
	nr   int
	args []any
}{
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{99, zeros}},
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{10, zeros}},
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{cpuClockOf(noProcess, 0), zeros}},
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{cpuClockOf(noProcess, 1), zeros}},
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{-1, zeros}},
	{"clock_gettime", unix.SYS_CLOCK_GETTIME, []any{0, nowhere}},
	{"clock_getres", unix.SYS_CLOCK_GETRES, []any{99, zeros}},
	{"clock_getres", unix.SYS_CLOCK_GETRES, []any{unix.CLOCK_MONOTONIC, 0}},
	{"nanosleep", unix.SYS_NANOSLEEP, []any{badTime, 0}},
	{"nanosleep", unix.SYS_NANOSLEEP, []any{negTime, 0}},
	{"nanosleep", unix.SYS_NANOSLEEP, []any{nowhere, 0}},
	{"nanosleep", unix.SYS_NANOSLEEP, []any{zeros, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{unix.CLOCK_MONOTONIC_RAW, 0, zeros, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{unix.CLOCK_MONOTONIC_COARSE, 0, zeros, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{unix.CLOCK_THREAD_CPUTIME_ID, 0, zeros, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{99, 0, zeros, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{unix.CLOCK_TAI, 0, badTime, 0}},
	{"clock_nanosleep", unix.SYS_CLOCK_NANOSLEEP, []any{unix.CLOCK_REALTIME, 1, zeros, 0}},
	{"getitimer", unix.SYS_GETITIMER, []any{3, zeros}},
	{"setitimer", unix.SYS_SETITIMER, []any{3, 0, 0}},
	{"timer_create", unix.SYS_TIMER_CREATE, []any{99, 0, zeros}},
	{"timer_create", unix.SYS_TIMER_CREATE, []any{unix.CLOCK_MONOTONIC_RAW, 0, zeros}},
	{"timer_create", unix.SYS_TIMER_CREATE, []any{unix.CLOCK_MONOTONIC_COARSE, 0, zeros}},
	{"timer_create", unix.SYS_TIMER_CREATE, []any{0, zeros, zeros}}, // signal 0
	{"timer_settime", unix.SYS_TIMER_SETTIME, []any{77, 0, zeros, 0}},
	{"timer_gettime", unix.SYS_TIMER_GETTIME, []any{77, zeros}},
	{"timer_getoverrun", unix.SYS_TIMER_GETOVERRUN, []any{77}},
	{"timer_delete", unix.SYS_TIMER_DELETE, []any{77}},
	{"getrusage", unix.SYS_GETRUSAGE, []any{5, zeros}},
	{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, []any{unix.CLOCK_MONOTONIC, zeros}},

	{"FUTEX_WAIT, other value", unix.SYS_FUTEX, []any{word, futexWait, 8}},
	{"FUTEX_WAIT, unaligned", unix.SYS_FUTEX, []any{word + 1, futexWait, 7}},
	{"FUTEX_WAIT, nowhere", unix.SYS_FUTEX, []any{nowhere, futexWait | futexPrivate, 7}},
	{"FUTEX_WAIT, no time", unix.SYS_FUTEX, []any{word, futexWait, 7, zeros}},
	{"FUTEX_WAIT, bad time", unix.SYS_FUTEX, []any{word, futexWait, 7, badTime}},
	{"FUTEX_WAIT, real time", unix.SYS_FUTEX, []any{word, futexWait | futexRealtime, 7, zeros}},
	{"FUTEX_WAIT_BITSET, past", unix.SYS_FUTEX, []any{word, futexWaitBitset, 7, zeros, 0, 1}},
	{"FUTEX_WAIT_BITSET, none", unix.SYS_FUTEX, []any{word, futexWaitBitset, 7, zeros, 0, 0}},
	{"FUTEX_WAKE", unix.SYS_FUTEX, []any{word, futexWake, 1}},
	{"FUTEX_WAKE, nowhere", unix.SYS_FUTEX, []any{nowhere, futexWake, 1}},
	{"FUTEX_WAKE, unaligned", unix.SYS_FUTEX, []any{word + 2, futexWake | futexPrivate, 1}},
	{"FUTEX_WAKE, real time", unix.SYS_FUTEX, []any{word, futexWake | futexRealtime, 1}},
	{"FUTEX_WAKE_BITSET, none", unix.SYS_FUTEX, []any{word, 10, 1, 0, 0, 0}},
	{"FUTEX_REQUEUE, negative", unix.SYS_FUTEX, []any{word, futexRequeue, 1, -1, word}},
	{"FUTEX_REQUEUE, unaligned", unix.SYS_FUTEX, []any{word, futexRequeue, 1, 1, word + 1}},
	{"FUTEX_CMP_REQUEUE, other value", unix.SYS_FUTEX, []any{word, futexCmpRequeue, 1, 1, word + 8, 8}},
	{"FUTEX_CMP_REQUEUE", unix.SYS_FUTEX, []any{word, futexCmpRequeue, 1, 1, word + 8, 7}},
	{"FUTEX_WAKE_OP, unknown", unix.SYS_FUTEX, []any{word, futexWakeOp, 1, 1, word + 8, 6 << 28}},
	{"FUTEX_WAKE_OP, unknown test", unix.SYS_FUTEX, []any{word, futexWakeOp, 1, 1, word + 8, 7 << 24}},
	{"FUTEX_WAKE_OP", unix.SYS_FUTEX, []any{word, futexWakeOp, 1, 1, word + 8, 1<<28 | 1<<12}},
	{"FUTEX_LOCK_PI, no owner", unix.SYS_FUTEX, []any{word + 16, futexLockPI, 0, nowhere}},
	{"FUTEX_UNLOCK_PI, not mine", unix.SYS_FUTEX, []any{word, futexUnlockPI}},
	{"FUTEX_WAIT_REQUEUE_PI, same", unix.SYS_FUTEX, []any{word, futexWaitRequeuePI, 7, zeros, word}},
	{"FUTEX_CMP_REQUEUE_PI, wake 2", unix.SYS_FUTEX, []any{word, futexCmpRequeuePI, 2, 1, word + 8, 7}},
	{"FUTEX_CMP_REQUEUE_PI, same", unix.SYS_FUTEX, []any{word, futexCmpRequeuePI, 1, 1, word, 7}},
	{"FUTEX_CMP_REQUEUE_PI, other value", unix.SYS_FUTEX, []any{word, futexCmpRequeuePI, 1, 1, word + 8, 8}},
	{"FUTEX_CMP_REQUEUE_PI", unix.SYS_FUTEX, []any{word, futexCmpRequeuePI, 1, 1, word + 8, 7}},
	{"FUTEX_FD", unix.SYS_FUTEX, []any{word, futexFD, 0}},
	{"futex, unknown", unix.SYS_FUTEX, []any{word, 99, 0}},
	{"set_robust_list", unix.SYS_SET_ROBUST_LIST, []any{zeros, 23}},
	{"get_robust_list", unix.SYS_GET_ROBUST_LIST, []any{noProcess, zeros, zeros}},

	{"rt_sigprocmask, how", unix.SYS_RT_SIGPROCMASK, []any{9, zeros, 0, 8}},
	{"rt_sigprocmask, size", unix.SYS_RT_SIGPROCMASK, []any{0, 0, 0, 4}},
	{"rt_sigprocmask, nowhere", unix.SYS_RT_SIGPROCMASK, []any{0, nowhere, 0, 8}},
	{"rt_sigprocmask, nothing", unix.SYS_RT_SIGPROCMASK, []any{9, 0, zeros, 8}},
	{"rt_sigpending, size", unix.SYS_RT_SIGPENDING, []any{zeros, 9}},
	{"rt_sigpending, less", unix.SYS_RT_SIGPENDING, []any{zeros, 4}},
	{"rt_sigsuspend, size", unix.SYS_RT_SIGSUSPEND, []any{zeros, 4}},
	{"rt_sigsuspend, nowhere", unix.SYS_RT_SIGSUSPEND, []any{nowhere, 8}},
	{"rt_sigtimedwait, none", unix.SYS_RT_SIGTIMEDWAIT, []any{zeros, 0, zeros, 8}},
	{"rt_sigtimedwait, size", unix.SYS_RT_SIGTIMEDWAIT, []any{zeros, 0, zeros, 4}},
	{"rt_sigtimedwait, bad time", unix.SYS_RT_SIGTIMEDWAIT, []any{zeros, 0, badTime, 8}},
	{"rt_sigqueueinfo, nobody", unix.SYS_RT_SIGQUEUEINFO, []any{noProcess, 0, zeros}},
	{"rt_tgsigqueueinfo, bad id", unix.SYS_RT_TGSIGQUEUEINFO, []any{0, 0, 0, zeros}},
	{"kill, nobody", unix.SYS_KILL, []any{noProcess, 0}},
	{"kill, no group", unix.SYS_KILL, []any{-noProcess, 0}},
	{"kill, nobody, bad signal", unix.SYS_KILL, []any{noProcess, 99}},
	{"kill, bad signal", unix.SYS_KILL, []any{0, 65}},
	{"tkill, bad id", unix.SYS_TKILL, []any{0, 0}},
	{"tkill, nobody", unix.SYS_TKILL, []any{noProcess, 0}},
	{"tgkill, bad id", unix.SYS_TGKILL, []any{-1, noProcess, 0}},
	{"tgkill, nobody", unix.SYS_TGKILL, []any{noProcess, noProcess, 0}},
	{"pidfd_open, bad id", unix.SYS_PIDFD_OPEN, []any{0, 0}},
	{"pidfd_open, nobody", unix.SYS_PIDFD_OPEN, []any{noProcess, 0}},
	{"pidfd_open, bad flag", unix.SYS_PIDFD_OPEN, []any{noProcess, 1}},
	{"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, []any{-1, 0, 0, 0}},
	{"pidfd_send_signal, flags", unix.SYS_PIDFD_SEND_SIGNAL, []any{-1, 0, 0, 0x100}},

	{"wait4, options", unix.SYS_WAIT4, []any{-1, 0, 0x10, 0}},
	{"wait4, nobody", unix.SYS_WAIT4, []any{noProcess, 0, unix.WNOHANG, 0}},
	{"wait4, lowest", unix.SYS_WAIT4, []any{-1 << 31, 0, unix.WNOHANG, 0}},
	{"waitid, no options", unix.SYS_WAITID, []any{unix.P_ALL, 0, 0, unix.WNOHANG, 0}},
	{"waitid, bad option", unix.SYS_WAITID, []any{unix.P_ALL, 0, 0, 0x10 | unix.WEXITED, 0}},
	{"waitid, bad kind", unix.SYS_WAITID, []any{7, 0, 0, unix.WEXITED, 0}},
	{"waitid, bad id", unix.SYS_WAITID, []any{unix.P_PID, 0, 0, unix.WEXITED, 0}},
	{"waitid, bad group", unix.SYS_WAITID, []any{unix.P_PGID, -1, 0, unix.WEXITED, 0}},
	{"waitid, bad pidfd", unix.SYS_WAITID, []any{unix.P_PIDFD, 999, 0, unix.WEXITED, 0}},
	{"waitid, negative pidfd", unix.SYS_WAITID, []any{unix.P_PIDFD, -1, 0, unix.WEXITED, 0}},
	{"waitid, nobody", unix.SYS_WAITID, []any{unix.P_PID, noProcess, 0, unix.WEXITED, 0}},
	{"clone, thread alone", unix.SYS_CLONE, []any{unix.CLONE_THREAD, 0, 0, 0, 0}},
	{"clone, handlers alone", unix.SYS_CLONE, []any{unix.CLONE_SIGHAND, 0, 0, 0, 0}},
	{"prctl, dumpable", unix.SYS_PRCTL, []any{unix.PR_SET_DUMPABLE, 7}},
	{"prctl, death signal", unix.SYS_PRCTL, []any{unix.PR_SET_PDEATHSIG, 65}},
	{"prctl, privileges", unix.SYS_PRCTL, []any{unix.PR_SET_NO_NEW_PRIVS, 2, 0, 0, 0}},
	{"prctl, capabilities", unix.SYS_PRCTL, []any{unix.PR_CAPBSET_READ, 99}},
	{"prctl, name nowhere", unix.SYS_PRCTL, []any{unix.PR_SET_NAME, nowhere}},
	{"prctl, unknown", unix.SYS_PRCTL, []any{12345}},
	{"getpgid, nobody", unix.SYS_GETPGID, []any{noProcess}},
	{"getsid, nobody", unix.SYS_GETSID, []any{noProcess}},
	{"setpgid, nobody", unix.SYS_SETPGID, []any{noProcess, 0}},
	{"setpgid, negative", unix.SYS_SETPGID, []any{0, -1}},
	{"capget, version", unix.SYS_CAPGET, []any{zeros, zeros}},
	{"getgroups, negative", unix.SYS_GETGROUPS, []any{-1, 0}},
	{"kcmp, nobody", unix.SYS_KCMP, []any{noProcess, noProcess, 0, 0, 0}},

	{"sched_get_priority_max", unix.SYS_SCHED_GET_PRIORITY_MAX, []any{unix.SCHED_FIFO}},
	{"sched_get_priority_max", unix.SYS_SCHED_GET_PRIORITY_MAX, []any{unix.SCHED_DEADLINE}},
	{"sched_get_priority_max", unix.SYS_SCHED_GET_PRIORITY_MAX, []any{4}},
	{"sched_get_priority_min", unix.SYS_SCHED_GET_PRIORITY_MIN, []any{unix.SCHED_RR}},
	{"sched_getscheduler", unix.SYS_SCHED_GETSCHEDULER, []any{-1}},
	{"sched_getscheduler", unix.SYS_SCHED_GETSCHEDULER, []any{noProcess}},
	{"sched_getparam", unix.SYS_SCHED_GETPARAM, []any{0, 0}},
	{"sched_getparam", unix.SYS_SCHED_GETPARAM, []any{noProcess, zeros}},
	{"sched_setparam", unix.SYS_SCHED_SETPARAM, []any{0, 0}},
	{"sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, []any{0, -1, zeros}},
	{"sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, []any{0, unix.SCHED_FIFO, zeros}},
	{"sched_setscheduler", unix.SYS_SCHED_SETSCHEDULER, []any{0, 4, zeros}},
	{"sched_getattr", unix.SYS_SCHED_GETATTR, []any{0, zeros, 47, 0}},
	{"sched_getattr", unix.SYS_SCHED_GETATTR, []any{0, zeros, 48, 1}},
	{"sched_getaffinity", unix.SYS_SCHED_GETAFFINITY, []any{0, 12, zeros}},
	{"sched_getaffinity", unix.SYS_SCHED_GETAFFINITY, []any{noProcess, 0x800, zeros}},
	{"sched_getaffinity", unix.SYS_SCHED_GETAFFINITY, []any{-1, 0x800, zeros}},
	{"sched_getattr", unix.SYS_SCHED_GETATTR, []any{-1, zeros, 48, 0}},
	{"sched_setparam", unix.SYS_SCHED_SETPARAM, []any{-1, zeros}},
	{"getpriority", unix.SYS_GETPRIORITY, []any{0, -1}},
	{"get_robust_list", unix.SYS_GET_ROBUST_LIST, []any{-1, zeros, zeros}},
	{"getpgid", unix.SYS_GETPGID, []any{-1}},
	{"wait4, init", unix.SYS_WAIT4, []any{1, 0, unix.WNOHANG, 0}},
	{"setpgid, init", unix.SYS_SETPGID, []any{1, 0}},
	{"sched_setaffinity", unix.SYS_SCHED_SETAFFINITY, []any{0, 8, zeros}},
	{"sched_rr_get_interval", unix.SYS_SCHED_RR_GET_INTERVAL, []any{-1, zeros}},
	{"getpriority", unix.SYS_GETPRIORITY, []any{3, 0}},
	{"getpriority", unix.SYS_GETPRIORITY, []any{0, noProcess}},
	{"getpriority", unix.SYS_GETPRIORITY, []any{2, noProcess}},
	{"ioprio_get", unix.SYS_IOPRIO_GET, []any{0, 0}},
	{"ioprio_get", unix.SYS_IOPRIO_GET, []any{1, noProcess}},
	{"ioprio_set", unix.SYS_IOPRIO_SET, []any{1, 0, 4 << 13}},
	{"membarrier", unix.SYS_MEMBARRIER, []any{3, 0}},
	{"membarrier", unix.SYS_MEMBARRIER, []any{0, 1}},
	{"getrlimit", unix.SYS_GETRLIMIT, []any{16, zeros}},
	{"prlimit64", unix.SYS_PRLIMIT64, []any{noProcess, 0, 0, zeros}},
	{"prlimit64", unix.SYS_PRLIMIT64, []any{0, 99, 0, zeros}},
	{"getrandom", unix.SYS_GETRANDOM, []any{zeros, 1, 8}},
	{"getrandom", unix.SYS_GETRANDOM, []any{zeros, 1, unix.GRND_RANDOM | unix.GRND_INSECURE}},
	{"getrandom", unix.SYS_GETRANDOM, []any{nowhere, 1, 0}},

	{"semget, empty", unix.SYS_SEMGET, []any{0, 0, 0o600}},
	{"semget, negative", unix.SYS_SEMGET, []any{0, -1, 0o600}},
	{"semget, none", unix.SYS_SEMGET, []any{0x7abcdef1, 1, 0}},
	{"semop, no operations", unix.SYS_SEMOP, []any{0x7fff7fff, zeros, 0}},
	{"semop, too many", unix.SYS_SEMOP, []any{0x7fff7fff, zeros, 501}},
	{"semop, no set", unix.SYS_SEMOP, []any{0x7fff7fff, zeros, 1}},
	{"semctl, no set", unix.SYS_SEMCTL, []any{0x7fff7fff, 0, semGetVal, 0}},
	{"msgget, none", unix.SYS_MSGGET, []any{0x7abcdef1, 0}},
	{"msgsnd, type", unix.SYS_MSGSND, []any{0x7fff7fff, zeros, 1, 0}},
	{"msgsnd, size", unix.SYS_MSGSND, []any{0x7fff7fff, word, 9000, 0}},
	{"msgrcv, no queue", unix.SYS_MSGRCV, []any{0x7fff7fff, zeros, 1, 0, 0}},
	{"msgctl, no queue", unix.SYS_MSGCTL, []any{0x7fff7fff, ipcStat, zeros}},
}

func TestSameErrorsAsLinux(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	memory := linuxMemory(t, 0x1000)
	for _, c := range sameErrors {
		clear(memory)
		fillMemory(memory)
		d, a, m := newProcess(t)
		fillMemory(m.Mem.Bytes)
		var ours, theirs [6]uint64
		for i, v := range c.args {
			switch v := v.(type) {
			case at:
				ours[i], theirs[i] = uint64(v), uint64(v)
				if v < nowhere {
					ours[i] += kerneltest.Base
					theirs[i] += uint64(uintptr(unsafe.Pointer(&memory[0])))
				}
			case int:
				ours[i], theirs[i] = uint64(v), uint64(v)
			case uint64:
				ours[i], theirs[i] = v, v
			default:
				t.Fatalf("%s: argument %d is a %T", c.name, i, v)
			}
		}
		got := d.Must(a, c.nr, ours[:]...)
		r, _, e := unix.Syscall6(uintptr(c.nr), uintptr(theirs[0]), uintptr(theirs[1]), uintptr(theirs[2]),
			uintptr(theirs[3]), uintptr(theirs[4]), uintptr(theirs[5]))
		expected := int64(r)
		if e != 0 {
			expected = errno(e)
		}
		if expected == errno(unix.ENOSYS) || expected == errno(unix.EPERM) && filtered() {
			t.Logf("%s%v: this machine does not allow it", c.name, c.args)
			continue
		}
		if got != expected {
			t.Errorf("%s%v: got %s, Linux says %s", c.name, c.args, sayResult(got), sayResult(expected))
		}
	}
}

// linuxMemory is memory for Linux's calls that begins at a page and never moves, as
// the tests' stack does.
func linuxMemory(t *testing.T, n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return b
}

// filtered reports whether a seccomp filter, a container's for example, decides which
// calls the tests may make.
func filtered() bool {
	status, _ := os.ReadFile("/proc/self/status")
	return strings.Contains(string(status), "\nSeccomp:\t2")
}

// TestSchedulerOfAnotherProcess: what one process may know of another one's policy is compared with
// a process that the test has made, and whose policy it has set.
func TestSchedulerOfAnotherProcess(t *testing.T) {
	d, a, _ := newProcess(t)
	b, bm := child(d, a)
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	param := linuxMemory(t, 4)
	for _, policy := range []int{unix.SCHED_BATCH, unix.SCHED_BATCH | schedResetOnFork} {
		bm.Poke(bufAt, param)
		got := d.Must(b, unix.SYS_SCHED_SETSCHEDULER, 0, uint64(policy), bufAt)
		expected := raw(unix.SYS_SCHED_SETSCHEDULER, uint64(cmd.Process.Pid), uint64(policy),
			uint64(uintptr(unsafe.Pointer(&param[0]))))
		want(t, "set", got, expected)
		want(t, "get", d.Must(a, unix.SYS_SCHED_GETSCHEDULER, uint64(b.TID)),
			raw(unix.SYS_SCHED_GETSCHEDULER, uint64(cmd.Process.Pid)))
	}
}

func sayResult(v int64) string {
	if v < 0 {
		return kernel.Errno(-v).Error()
	}
	return fmt.Sprint(v)
}

// twin makes calls twice: in our node and in Linux, with a copy of its memory.
type twin struct {
	t      *testing.T
	d      *kerneltest.Driver
	a      *kernel.Thread
	m      *kerneltest.Tracee
	memory []byte // Linux's, the same as at Base
	rand   kernel.Rand
	log    []string
}

func newTwin(t *testing.T, seed uint64) *twin {
	d, a, m := newProcess(t)
	return &twin{t: t, d: d, a: a, m: m, memory: linuxMemory(t, 0x2000), rand: kernel.NewRand(seed)}
}

func (w *twin) n(max int) int { return int(w.rand.Uint64() % uint64(max)) }

func (w *twin) poke(off at, b []byte) {
	copy(w.memory[off:], b)
	w.m.Poke(kerneltest.Base+uint64(off), b)
}

// both makes a call and compares results; ids are ours and Linux's first
// argument, when they differ.
func (w *twin) both(nr int, ids *[2]uint64, args ...any) int64 {
	w.t.Helper()
	var ours, theirs [6]uint64
	for i, v := range args {
		switch v := v.(type) {
		case at:
			ours[i], theirs[i] = kerneltest.Base+uint64(v), uint64(uintptr(unsafe.Pointer(&w.memory[v])))
		case int:
			ours[i], theirs[i] = uint64(v), uint64(v)
		}
	}
	if ids != nil {
		ours[0], theirs[0] = ids[0], ids[1]
	}
	got := w.d.Must(w.a, nr, ours[:]...)
	expected := raw(nr, theirs[:]...)
	w.log = append(w.log, fmt.Sprintf("%d%v = %s", nr, args, sayResult(expected)))
	if got != expected {
		w.t.Fatalf("got %s, Linux says %s, after %q", sayResult(got), sayResult(expected), w.log)
	}
	return got
}

func raw(nr int, a ...uint64) int64 {
	a = append(a, make([]uint64, 6)...)
	r, _, e := unix.RawSyscall6(uintptr(nr), uintptr(a[0]), uintptr(a[1]), uintptr(a[2]), uintptr(a[3]), uintptr(a[4]),
		uintptr(a[5]))
	if e != 0 {
		return errno(e)
	}
	return int64(r)
}

// same compares memory from off on.
func (w *twin) same(off at, n int) {
	w.t.Helper()
	if got := w.m.Peek(kerneltest.Base+uint64(off), n); string(got) != string(w.memory[off:int(off)+n]) {
		w.t.Fatalf("got %x, Linux has %x, after %q", got, w.memory[off:int(off)+n], w.log)
	}
}

func TestSemaphoresAsInLinux(t *testing.T) {
	for seed := range uint64(30) {
		w := newTwin(t, seed)
		const count = 3
		ids := [2]uint64{uint64(w.d.Must(w.a, unix.SYS_SEMGET, 0, count, 0o600)), 0}
		if r := raw(unix.SYS_SEMGET, 0, count, 0o600); r >= 0 {
			ids[1] = uint64(r)
		} else {
			t.Skipf("no semaphores here: %s", sayResult(r))
		}
		for range 60 {
			switch w.n(5) {
			case 0:
				w.both(unix.SYS_SEMCTL, &ids, 0, w.n(count+1), semSetVal, w.n(5)*8192-1)
			case 1:
				w.both(unix.SYS_SEMCTL, &ids, 0, 0, semGetAll, zeros)
				w.same(zeros, 2*count)
			default:
				var b []byte
				ops := 1 + w.n(3)
				for range ops {
					flags := ipc.NoWait | w.n(2)*ipc.SemUndo
					for _, v := range []int{w.n(count*8+1) % (count + w.n(2)), w.n(7) - 3, flags} {
						b = le.AppendUint16(b, uint16(v))
					}
				}
				w.poke(zeros, b)
				w.log = append(w.log, fmt.Sprintf("%x", b))
				w.both(unix.SYS_SEMOP, &ids, 0, zeros, ops)
			}
		}
		raw(unix.SYS_SEMCTL, ids[1], 0, ipcRmid, 0)
	}
}

func TestMessageQueuesAsInLinux(t *testing.T) {
	for seed := range uint64(30) {
		w := newTwin(t, seed)
		ids := [2]uint64{uint64(w.d.Must(w.a, unix.SYS_MSGGET, 0, 0o600)), 0}
		if r := raw(unix.SYS_MSGGET, 0, 0o600); r >= 0 {
			ids[1] = uint64(r)
		} else {
			t.Skipf("no message queues here: %s", sayResult(r))
		}
		for range 80 {
			if w.n(2) == 0 {
				size := w.n(9)
				if w.n(8) == 0 {
					size = 8000
				}
				w.poke(zeros, le.AppendUint64(le.AppendUint64(nil, uint64(w.n(5))), w.rand.Uint64()))
				w.both(unix.SYS_MSGSND, &ids, 0, zeros, min(size, 0x1ff0), ipc.NoWait)
				continue
			}
			flags := ipc.NoWait | w.n(2)*ipc.MsgNoError | w.n(2)*ipc.MsgExcept
			if n := w.both(unix.SYS_MSGRCV, &ids, 0, at(0x1000), w.n(10), w.n(9)-4, flags); n >= 0 {
				w.same(0x1000, 8+int(n))
			}
		}
		raw(unix.SYS_MSGCTL, ids[1], ipcRmid, 0)
	}
}

// TestIDsAsInLinux changes the ids of a thread, which for Linux has ids of its
// own, and lets the thread end.
func TestIDsAsInLinux(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may change ids")
	}
	if ids, err := os.ReadFile("/proc/self/uid_map"); err == nil && len(strings.Fields(string(ids))) >= 3 &&
		strings.Fields(string(ids))[2] == "1" {
		t.Skip("a user namespace with one id")
	}
	done := make(chan bool)
	for seed := range uint64(40) {
		go func() {
			defer func() { done <- true }()
			runtime.LockOSThread()
			w := newTwin(t, seed)
			w.randomIDs()
		}()
		<-done
	}
}

func (w *twin) randomIDs() {
	id := func() int { return []int{-1, 0, 1000, 1001, 1002}[w.n(5)] }
	for range 40 {
		nr := []int{unix.SYS_SETUID, unix.SYS_SETREUID, unix.SYS_SETRESUID, unix.SYS_SETFSUID,
			unix.SYS_SETGID, unix.SYS_SETREGID, unix.SYS_SETRESGID, unix.SYS_SETFSGID}[w.n(8)]
		w.both(nr, nil, id(), id(), id())
		for _, nr := range []int{unix.SYS_GETRESUID, unix.SYS_GETRESGID} {
			w.both(nr, nil, zeros, at(4), at(8))
			w.same(zeros, 12)
		}
		w.both(unix.SYS_SETFSUID, nil, -1)
		w.poke(zeros, le.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3))
		w.poke(4, make([]byte, 4))
		w.both(unix.SYS_CAPGET, nil, zeros, at(16))
		// Whether any are left is the same; which root has depends on the host.
		for off := 16; off < 24; off += 4 {
			ours, theirs := le.Uint32(w.m.Peek(kerneltest.Base+uint64(off), 4)), le.Uint32(w.memory[off:])
			if (ours == 0) != (theirs == 0) {
				w.t.Errorf("capabilities %#x, Linux has %#x, after %q", ours, theirs, w.log)
				return
			}
		}
	}
}
