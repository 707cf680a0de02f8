package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/itimer"

	"golang.org/x/sys/unix"
)

// child forks t.
func child(d *kerneltest.Driver, t *kernel.Thread) (*kernel.Thread, *kerneltest.Tracee) {
	return d.Fork(t, kernel.CloneArgs{Flags: uint64(unix.SIGCHLD)})
}

// wait4 returns the pid and the status that wait4 reports.
func wait4(d *kerneltest.Driver, t *kernel.Thread, pid, options int) (int64, int) {
	d.T.Helper()
	m := t.M.(*kerneltest.Tracee)
	m.Poke(bufAt, le.AppendUint32(nil, 0xdead))
	r := d.Must(t, unix.SYS_WAIT4, uint64(pid), bufAt, uint64(options), 0)
	return r, int(le.Uint32(m.Peek(bufAt, 4)))
}

func TestWaitForExit(t *testing.T) {
	d, a, m := newProcess(t)
	want(t, "no child", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, 0, 0), errno(unix.ECHILD))
	b, _ := child(d, a)
	want(t, "bad option", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, 0x100, 0), errno(unix.EINVAL))
	want(t, "not yet", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, unix.WNOHANG, 0), 0)
	d.Waits(a, unix.SYS_WAIT4, ^uint64(0), bufAt, 0, bufAt+8)
	b.CPUTime = 3e9
	b.Proc.Exit(7, 0, false)
	d.Settle()
	want(t, "child", d.Done(a), int64(b.TID))
	want(t, "status", int64(le.Uint32(m.Peek(bufAt, 4))), 7<<8)
	want(t, "its seconds", int64(le.Uint64(m.Peek(bufAt+8, 8))), 3)
	want(t, "children's time", int64(a.Proc.ChildCPUTime), 3e9)
	want(t, "reaped", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, 0, 0), errno(unix.ECHILD))
	want(t, "gone", d.Must(a, unix.SYS_KILL, uint64(b.TID), 0), errno(unix.ESRCH))
}

func TestZombieStaysUntilReaped(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := child(d, a)
	b.Proc.Rlimits[unix.RLIMIT_CORE] = [2]uint64{kernel.RlimInfinity, kernel.RlimInfinity}
	b.Proc.Exit(0, int(unix.SIGSEGV), true)
	want(t, "zombie", d.Must(a, unix.SYS_KILL, uint64(b.TID), 9), 0)
	for range 2 {
		want(t, "waitid", d.Must(a, unix.SYS_WAITID, unix.P_PID, uint64(b.TID), bufAt, unix.WEXITED|unix.WNOWAIT, 0), 0)
		i := signal.DecodeInfo(m.Peek(bufAt, signal.InfoSize))
		if i.Signo != int(unix.SIGCHLD) || i.Code != signal.CLDDumped || i.PID != b.TID ||
			i.Status != int(unix.SIGSEGV) {
			t.Fatalf("info %+v", i)
		}
	}
	pid, status := wait4(d, a, b.TID, 0)
	want(t, "wait4", pid, int64(b.TID))
	want(t, "status", int64(status), int64(unix.SIGSEGV)|0x80)
}

func TestWaitSelects(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := child(d, a)
	c, _ := child(d, a)
	other, _ := d.Process(nil)
	c.Proc.PGID = c.TID
	c.Proc.Exit(1, 0, false)
	want(t, "not mine", d.Must(a, unix.SYS_WAIT4, uint64(other.TID), 0, 0, 0), errno(unix.ECHILD))
	want(t, "own group", d.Must(a, unix.SYS_WAIT4, 0, 0, unix.WNOHANG, 0), 0)
	want(t, "b's group by waitid", d.Must(a, unix.SYS_WAITID, unix.P_PGID, 0, bufAt, unix.WEXITED|unix.WNOHANG, 0), 0)
	want(t, "nothing", int64(le.Uint32(m.Peek(bufAt, 4))), 0)
	pid, _ := wait4(d, a, -c.TID, 0)
	want(t, "c's group", pid, int64(c.TID))
	want(t, "no group", d.Must(a, unix.SYS_WAIT4, uint64(1<<64-4000), 0, 0, 0), errno(unix.ECHILD))
	for _, x := range []Args{{unix.P_ALL, 0, 0, 0}, {unix.P_PID, 0, 0, unix.WEXITED}, {9, 0, 0, unix.WEXITED}} {
		want(t, "bad waitid", d.Must(a, unix.SYS_WAITID, x[:]...), errno(unix.EINVAL))
	}
	d.Waits(a, unix.SYS_WAITID, unix.P_PID, uint64(b.TID), bufAt, unix.WEXITED, 0)
	b.Proc.Exit(0, 15, false)
	d.Settle()
	want(t, "waitid", d.Done(a), 0)
	i := signal.DecodeInfo(m.Peek(bufAt, signal.InfoSize))
	if i.Code != signal.CLDKilled || i.Status != 15 || i.PID != b.TID {
		t.Errorf("info %+v", i)
	}
}

func TestWaitCloneChildren(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := d.Fork(a, kernel.CloneArgs{Flags: uint64(unix.SIGUSR1)})
	a.M.SetSigMask(signal.SetOf(10))
	b.Proc.Exit(0, 0, false)
	if !a.PendingSignals().Has(10) {
		t.Error("its exit signal was not sent")
	}
	want(t, "not an ordinary child", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, 0, 0), errno(unix.ECHILD))
	want(t, "by __WCLONE", d.Must(a, unix.SYS_WAIT4, ^uint64(0), 0, kernel.WCLONE|unix.WNOHANG, 0), int64(b.TID))
}

func TestWaitStopContinue(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	d.Waits(a, unix.SYS_WAIT4, ^uint64(0), bufAt, unix.WUNTRACED, 0)
	b.Proc.Stop(int(unix.SIGTSTP))
	d.Settle()
	want(t, "stopped", d.Done(a), int64(b.TID))
	pid, _ := wait4(d, a, -1, unix.WUNTRACED|unix.WNOHANG)
	want(t, "reported once", pid, 0)
	d.Node.Kill(b.Proc, info(unix.SIGCONT))
	pid, _ = wait4(d, a, -1, unix.WNOHANG)
	want(t, "not asked for", pid, 0)
	pid, status := wait4(d, a, -1, unix.WNOHANG|unix.WCONTINUED)
	want(t, "continued", pid, int64(b.TID))
	want(t, "status", int64(status), 0xffff)
	b.Proc.Stop(int(unix.SIGSTOP))
	pid, status = wait4(d, a, -1, unix.WUNTRACED)
	want(t, "stopped again", pid, int64(b.TID))
	want(t, "status", int64(status), int64(unix.SIGSTOP)<<8|0x7f)
}

func TestIgnoredChildrenAreReapedAlone(t *testing.T) {
	for _, act := range []signal.Action{{Handler: signal.Ign}, {Handler: handlerAt, Flags: signal.SANoCldWait}} {
		d, a, _ := newProcess(t)
		a.Proc.SetAction(int(unix.SIGCHLD), act)
		b, _ := child(d, a)
		d.Waits(a, unix.SYS_WAIT4, ^uint64(0), 0, 0, 0)
		b.Proc.Exit(0, 0, false)
		d.Settle()
		if act.Handler == signal.Ign {
			want(t, "wait", d.Done(a), errno(unix.ECHILD))
		} else {
			want(t, "signal", next(a), int64(unix.SIGCHLD))
		}
		if d.Node.Procs[b.TID] != nil {
			t.Error("a zombie is left")
		}
	}
}

func TestOrphans(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	c, _ := child(d, b)
	z, _ := child(d, b)
	z.Proc.Exit(3, 0, false)
	want(t, "getppid", d.Must(c, unix.SYS_GETPPID), int64(b.TID))
	want(t, "subreaper", d.Must(a, unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1), 0)
	want(t, "pdeathsig", d.Must(c, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uint64(unix.SIGUSR1)), 0)
	c.M.SetSigMask(signal.SetOf(10))
	b.Proc.Exit(0, 0, false)
	want(t, "adopted", d.Must(c, unix.SYS_GETPPID), int64(a.TID))
	if !c.PendingSignals().Has(10) {
		t.Error("no signal at the parent's death")
	}
	for _, x := range []*kernel.Thread{b, z} {
		pid, _ := wait4(d, a, x.TID, 0)
		want(t, "reaped", pid, int64(x.TID))
	}
	a.Proc.Exit(0, 0, false)
	want(t, "adopted by init", d.Must(c, unix.SYS_GETPPID), 1)
	if len(d.Node.Procs) != 1 {
		t.Errorf("%d processes are left", len(d.Node.Procs))
	}
	c.Proc.Exit(0, 0, false)
	if len(d.Node.Procs) != 0 {
		t.Errorf("%d processes are left", len(d.Node.Procs))
	}
}

func TestHangUpOfStoppedOrphans(t *testing.T) {
	d, shell, _ := newProcess(t)
	job, mj := child(d, shell)
	worker, mw := child(d, job)
	pid := uint64(job.TID)
	want(t, "setpgid", d.Must(shell, unix.SYS_SETPGID, pid, pid), 0)
	want(t, "setpgid", d.Must(job, unix.SYS_SETPGID, uint64(worker.TID), pid), 0)
	mw.Mask, mj.Mask = signal.SetOf(1, 18), signal.SetOf(1, 18)
	worker.Proc.Stop(int(unix.SIGTSTP))
	shell.M.SetSigMask(signal.SetOf(17))
	job.Proc.Exit(0, 0, false) // worker's parent is now init: no link to the session
	if worker.Proc.Stopped || worker.PendingSignals() != signal.SetOf(1, 18) {
		t.Errorf("stopped %v, signals %#x", worker.Proc.Stopped, worker.PendingSignals())
	}
}

func TestExitOfCommands(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := d.Process(nil)
	a.Proc.Command, b.Proc.Command = 0, 1
	d.Node.Now = 5
	a.Proc.Exit(2, 0, false)
	b.Proc.Exit(0, 9, false)
	expected := []ariadne.Exit{{At: 5, Command: 0, Status: 2}, {At: 5, Command: 1, Status: -1, Signal: 9}}
	for i, e := range d.Node.Exits {
		if e != expected[i] {
			t.Errorf("exit %d: %+v, want %+v", i, e, expected[i])
		}
	}
}

func TestClone(t *testing.T) {
	d, a, m := newProcess(t)
	result := func(args ...uint64) kernel.Result {
		r, _ := d.Call(a, unix.SYS_CLONE, args...)
		return r
	}
	flags := uint64(threadFlags | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID)
	r := result(flags, 1, 2, 3, 4)
	if r.Op != kernel.OpClone ||
		r.Clone != (kernel.CloneArgs{Flags: flags, Stack: 1, ParentTID: 2, ChildTID: 3, TLS: 4}) {
		t.Errorf("clone: %+v", r)
	}
	want(t, "thread without memory", result(unix.CLONE_THREAD|unix.CLONE_SIGHAND).Value, errno(unix.EINVAL))
	want(t, "namespace", result(unix.CLONE_NEWUSER|unix.CLONE_NEWPID).Value, errno(unix.EPERM))
	want(t, "namespace", d.Must(a, unix.SYS_UNSHARE, unix.CLONE_NEWPID), errno(unix.EPERM))
	for i, was := range []ariadne.Refusal{{Name: "clone of namespaces", Detail: "user, pid"},
		{Name: "unshare of namespaces", Detail: "pid"}} {
		if r := d.Node.Refusals[i]; r.Name != was.Name || r.Detail != was.Detail || !r.Harmless {
			t.Errorf("refusal %d: %+v, want %+v", i, r, was)
		}
	}
	want(t, "clone3 of nothing", d.Must(a, unix.SYS_CLONE3), errno(unix.EINVAL))
	words := []uint64{flags, 0, 3, 2, 0, 0x1000, 0x500, 4, 0, 0, 0}
	clone3 := func() kernel.Result {
		var b []byte
		for _, w := range words {
			b = le.AppendUint64(b, w)
		}
		if e := m.WriteMem(kerneltest.Base, b); e != 0 {
			t.Fatal(e)
		}
		r, _ := d.Call(a, unix.SYS_CLONE3, kerneltest.Base, uint64(len(b)))
		return r
	}
	r = clone3()
	if r.Op != kernel.OpClone ||
		r.Clone != (kernel.CloneArgs{Flags: flags, Stack: 0x1500, ParentTID: 2, ChildTID: 3, TLS: 4}) {
		t.Errorf("clone3: %+v", r)
	}
	words = append(words, 1)
	want(t, "clone3 of the future", clone3().Value, errno(unix.E2BIG))
	words[11], words[0] = 0, 1<<32
	want(t, "clone3 with CLONE_CLEAR_SIGHAND", clone3().Value, errno(unix.ENOSYS))
	if n := len(d.Node.Refusals); n != 3 {
		t.Errorf("%d refusals", n)
	}
	r, _ = d.Call(a, unix.SYS_VFORK)
	if r.Op != kernel.OpClone || r.Clone.Flags != unix.CLONE_VM|unix.CLONE_VFORK|uint64(unix.SIGCHLD) {
		t.Errorf("vfork: %+v", r)
	}
	m.Poke(bufAt, []byte("/bin/true\x00"))
	for _, nr := range []int{unix.SYS_EXECVE, unix.SYS_EXECVEAT} {
		if r, _ := d.Call(a, nr, bufAt, bufAt); r.Op != kernel.OpExec {
			t.Errorf("call %d: %+v", nr, r)
		}
	}
	if r, _ := d.Call(a, unix.SYS_EXIT_GROUP, 0x1ff); r.Op != kernel.OpExitGroup || r.Value != 0xff {
		t.Errorf("exit_group: %+v", r)
	}
}

func TestForkInherits(t *testing.T) {
	d, a, _ := newProcess(t)
	p := a.Proc
	p.SetUser(1000, 100)
	setHandler(a, unix.SIGUSR1)
	p.Rlimits[unix.RLIMIT_NOFILE] = [2]uint64{10, 20}
	a.Name, a.Nice = "a", 3
	itimer.New(p, unix.CLOCK_MONOTONIC, 14, nil, 0)
	d.Node.Kill(p, info(unix.SIGUSR1))
	b, _ := child(d, a)
	q := b.Proc
	if b.Cred.UID.Effective != 1000 || b.Cred.GID.Saved != 100 || b.Name != "a" || b.Nice != 3 || q.PGID != p.PGID ||
		q.SID != p.SID || q.MM == p.MM {
		t.Errorf("child %+v of %+v", q, p)
	}
	if soft, _ := q.Rlimit(unix.RLIMIT_NOFILE); soft != 10 {
		t.Error("limits are not inherited")
	}
	if itimer.Posix(q, 0) != nil || b.PendingSignals() != 0 {
		t.Error("timers or pending signals are inherited")
	}
	q.SetAction(10, signal.Action{})
	if p.Actions[10].Handler == 0 {
		t.Error("dispositions are shared")
	}
	c, _ := d.Fork(a, kernel.CloneArgs{Flags: threadFlags | unix.CLONE_CHILD_CLEARTID, ChildTID: word1})
	if c.Proc != p || c.ClearTID != word1 || len(p.Threads) != 2 {
		t.Errorf("thread %+v", c)
	}
}

func TestClonePidfd(t *testing.T) {
	d, a, m := newProcess(t)
	b, _ := d.Fork(a, kernel.CloneArgs{Flags: unix.CLONE_PIDFD | uint64(unix.SIGCHLD), ParentTID: bufAt})
	fd := int(le.Uint32(m.Peek(bufAt, 4)))
	f, ok := a.FDs().Get(fd).File.(*kernel.PidFile)
	if !ok || f.Proc != b.Proc || !a.FDs().CloseOnExec(fd) {
		t.Errorf("descriptor %d: %+v", fd, f)
	}
	if b.FDs().Get(fd) != nil {
		t.Error("the child has it too")
	}
}

func TestExec(t *testing.T) {
	d, ts, m := crew(t, 3)
	a, leader := ts[1], ts[0]
	p := a.Proc
	setHandler(a, unix.SIGUSR1)
	p.SetAction(12, signal.Action{Handler: signal.Ign})
	itimer.New(p, unix.CLOCK_MONOTONIC, 14, nil, 0)
	setWord(m, word1, 1)
	a.ClearTID, a.RobustList = word1, word2
	pid, mm := p.PID, p.MM
	r, w := pipeOf(d, a, unix.O_CLOEXEC)
	kept := d.Must(a, unix.SYS_DUP, w)
	b, _ := d.Fork(a, kernel.CloneArgs{Flags: unix.CLONE_FILES | uint64(unix.SIGCHLD)})
	p.Exec(a, "/usr/bin/x", "/usr/bin/a-very-long-program-name", []string{"x"})
	if a.TID != pid || p.MM == mm || len(p.Threads) != 1 || leader.State != kernel.Dead || a.Name != "a-very-long-pro" {
		t.Errorf("process %+v, thread %+v", p, a)
	}
	if p.Actions[10].Handler != signal.Dfl || p.Actions[12].Handler != signal.Ign || itimer.Posix(p, 0) != nil ||
		a.ClearTID != 0 || a.RobustList != 0 {
		t.Error("dispositions, timers or addresses are left")
	}
	want(t, "memory is not touched", getWord(m, word1), 1)
	if a.FDs().Get(int(r)) != nil || a.FDs().Get(int(kept)) == nil || b.FDs().Get(int(r)) == nil {
		t.Error("descriptors")
	}
	want(t, "gettid", d.Must(a, unix.SYS_GETTID), int64(pid))
	want(t, "not by its parent after exec", d.Must(a, unix.SYS_SETPGID, uint64(b.TID), 0), 0)
	b.Proc.Exec(b, "/x", "/x", nil)
	want(t, "not by its parent after exec", d.Must(a, unix.SYS_SETPGID, uint64(b.TID), 0), errno(unix.EACCES))
}

func TestVforkParentGoesOn(t *testing.T) {
	for _, end := range []func(*kernel.Thread){
		func(c *kernel.Thread) { c.Proc.Exit(0, 0, false) },
		func(c *kernel.Thread) { c.Proc.Exec(c, "/x", "/x", nil) },
	} {
		d, a, _ := newProcess(t)
		b, _ := d.Fork(a, kernel.CloneArgs{Flags: unix.CLONE_VFORK | unix.CLONE_VM | uint64(unix.SIGCHLD)})
		a.Wait.Uninterruptible = true
		a.Park()
		end(b)
		if a.State != kernel.Runnable || d.Node.NextReady() != a {
			t.Error("the parent still waits")
		}
	}
}

func TestGroupsAndSessions(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	c, _ := child(d, a)
	id := func(x *kernel.Thread) uint64 { return uint64(x.TID) }
	want(t, "leader", d.Must(a, unix.SYS_SETSID), errno(unix.EPERM))
	want(t, "leader of a session", d.Must(a, unix.SYS_SETPGID, 0, 0), errno(unix.EPERM))
	want(t, "own group", d.Must(b, unix.SYS_SETPGID, 0, 0), 0)
	want(t, "getpgid", d.Must(a, unix.SYS_GETPGID, id(b)), int64(b.TID))
	want(t, "getpgrp", d.Must(b, unix.SYS_GETPGRP), int64(b.TID))
	want(t, "leader of a group", d.Must(b, unix.SYS_SETSID), errno(unix.EPERM))
	want(t, "join", d.Must(a, unix.SYS_SETPGID, id(c), id(b)), 0)
	want(t, "no such group", d.Must(a, unix.SYS_SETPGID, id(c), 4000), errno(unix.EPERM))
	want(t, "negative", d.Must(a, unix.SYS_SETPGID, 0, ^uint64(0)), errno(unix.EINVAL))
	want(t, "not my child", d.Must(b, unix.SYS_SETPGID, id(c), 0), errno(unix.ESRCH))
	want(t, "setsid", d.Must(c, unix.SYS_SETSID), int64(c.TID))
	want(t, "getsid", d.Must(a, unix.SYS_GETSID, id(c)), int64(c.TID))
	want(t, "other session", d.Must(a, unix.SYS_SETPGID, id(c), id(b)), errno(unix.EPERM))
	want(t, "getsid", d.Must(a, unix.SYS_GETSID, 4000), errno(unix.ESRCH))
	want(t, "of init", d.Must(a, unix.SYS_GETSID, 1), 1)
}

func TestPrctl(t *testing.T) {
	d, a, m := newProcess(t)
	prctl := func(args ...uint64) int64 { t.Helper(); return d.Must(a, unix.SYS_PRCTL, args...) }
	m.Poke(bufAt, []byte("a name that is too long\x00"))
	want(t, "set name", prctl(unix.PR_SET_NAME, bufAt), 0)
	want(t, "get name", prctl(unix.PR_GET_NAME, bufAt+64), 0)
	if got := string(m.Peek(bufAt+64, 16)); got != "a name that is \x00" {
		t.Errorf("name %q", got)
	}
	for _, c := range []struct {
		set, get, v uint64
		before      int64
	}{
		{unix.PR_SET_DUMPABLE, unix.PR_GET_DUMPABLE, 0, 1},
		{unix.PR_SET_KEEPCAPS, unix.PR_GET_KEEPCAPS, 1, 0},
		{unix.PR_SET_NO_NEW_PRIVS, unix.PR_GET_NO_NEW_PRIVS, 1, 0},
		{unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK, 7, 50000},
	} {
		want(t, "before", prctl(c.get), c.before)
		want(t, "set", prctl(c.set, c.v), 0)
		want(t, "after", prctl(c.get), int64(c.v))
	}
	want(t, "unknown", prctl(12345), errno(unix.EINVAL))
	if d.Refused("prctl 12345") == nil {
		t.Error("not reported")
	}
}

func TestKcmp(t *testing.T) {
	d, a, _ := newProcess(t)
	b, _ := child(d, a)
	r, w := pipeOf(d, a, 0)
	kcmp := func(what, x, y uint64) int64 {
		return d.Must(a, unix.SYS_KCMP, uint64(a.TID), uint64(b.TID), what, x, y)
	}
	want(t, "not open there", kcmp(kcmpFile, r, r), errno(unix.EBADF))
	want(t, "memory", kcmp(kcmpVM, 0, 0), 3)
	c, _ := child(d, a)
	b = c
	want(t, "same file", kcmp(kcmpFile, r, r), 0)
	want(t, "other file", kcmp(kcmpFile, r, w), 3)
}
