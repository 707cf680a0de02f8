package kernel

import (
	"encoding/binary"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/seccomp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// Tracee is what a stopped thread lends to the handler of its call. The node
// layer implements it over ptrace; tests over a byte slice.
type Tracee interface {
	// ReadMem fills b from the thread's memory at addr, or fails with EFAULT.
	ReadMem(addr uint64, b []byte) Errno
	// WriteMem stores b at addr, or fails with EFAULT.
	WriteMem(addr uint64, b []byte) Errno
	// PeekMem and PokeMem are ReadMem and WriteMem where the program itself may not read or write.
	PeekMem(addr uint64, b []byte) Errno
	PokeMem(addr uint64, b []byte) Errno
	// Syscall runs a real system call in the thread, now, and returns what the
	// kernel answered (-errno on failure). Never one that may block. The
	// thread's registers are restored afterwards.
	Syscall(nr int, args ...uint64) int64
	// HostFD returns a duplicate, for the supervisor to use and close, of the
	// thread's real descriptor fd (same open file description).
	HostFD(fd int) (int, Errno)
	// Adopt gives the thread's process a descriptor, the lowest free one, for the
	// open file that the supervisor's descriptor host refers to.
	Adopt(host int, cloexec bool) (int, Errno)
	// SigMask returns the signals the thread blocks; SetSigMask changes them.
	SigMask() signal.Set
	SetSigMask(signal.Set)
	// RealTID is the thread's id in the supervisor's view (for /proc).
	RealTID() int
}

// ThreadState says whether a thread can run.
type ThreadState uint8

const (
	Runnable ThreadState = iota // in the run queue, or running
	Blocked                     // in a call that waits (Thread.Wait)
	Dead
)

// Thread is one thread. TIDs are virtual: in order of creation in the node.
type Thread struct {
	TID   int
	Proc  *Process
	State ThreadState
	Name  string // comm, at most 15 bytes
	M     Tracee

	// Call is the system call the thread is in, as at its entry.
	Call Call
	Wait Wait

	Pending  []signal.Info // signals sent to this thread
	AltStack AltStack      // sigaltstack
	Handled  bool          // it has entered a signal handler
	// AskAltStack: the alternate stack may be another than AltStack. Linux brings back the one
	// that there was when a handler was entered, and takes one away that disarms itself.
	AskAltStack bool
	ClearTID    uint64 // set_tid_address
	RobustList  uint64 // set_robust_list head
	Cred        Cred
	NoNewPrivs  bool // PR_SET_NO_NEW_PRIVS
	PDeathSig   int  // PR_SET_PDEATHSIG
	Nice        int
	Sched       Sched
	Affinity    uint64
	Seccomp     seccomp.State
	NoTSC       bool         // rdtsc is a fault (PR_SET_TSC)
	Policy      MemoryPolicy // set_mempolicy
	CPUTime     ariadne.Time // virtual processor time used
	Started     ariadne.Time // when it was made
	// calls since one last waited or got what it asked for (internal/machine/node)
	Vain   int
	Native bool // its last call is made by Linux when it goes on
	// Overtaken is the address of a lock function at whose entry others had their turn; 0: there is
	// none.
	Overtaken uint64
	// Vfork is the child whose exec or end it waits for; clone then returns its pid.
	Vfork *Process

	kept       kept       // arguments of its call, in memory
	naps       bool       // it has kept a Go runtime alive
	sigPending bool       // it was asked to take a signal (Linux's TIF_SIGPENDING)
	seenMask   signal.Set // its mask when the kernel last looked
	state      slots      // what packages of objects keep
}

// AltStack is a stack_t as sigaltstack(2) takes it.
type AltStack [24]byte

// Call is a system call number and its arguments.
type Call struct {
	NR   int
	Args [6]uint64
	// InCall: the thread stands in this call (else it is in user code).
	InCall bool
	// Passed: what else could have happened at its entry did not (internal/machine/node).
	Passed bool
	// Waited: nothing else happened when it began to wait, either.
	Waited bool
	// Part is how many bytes it moves, a part of those that it could; 0: it is as its arguments
	// say.
	Part int64
	// Fails is how the first of the operations fails that it submits; 0: it does not.
	Fails Errno
	// Cut: the machine has lost its power in the midst of it.
	Cut bool
	// Naps: a language's runtime sleeps, to keep itself going (internal/machine/node).
	Naps bool
	// Program is the path that execve was given; "" for a descriptor.
	Program string
}

// Wait is what a thread in a blocking call remembers between runs of its
// handler. It is zero when the call begins.
type Wait struct {
	Runs        int          // earlier runs of the handler for this call
	Deadline    ariadne.Time // absolute; valid when HasDeadline
	HasDeadline bool
	Real        bool        // the deadline is a time of CLOCK_REALTIME
	Absolute    bool        // the program has named the deadline itself, and no duration
	TimedOut    bool        // the deadline has passed
	Interrupted bool        // a signal is to be delivered
	Woken       bool        // the object waited for picked this thread (futex)
	Done        int64       // progress, as the handler likes (bytes moved)
	Aux         [2]uint64   // anything else, as the handler likes
	SavedMask   *signal.Set // mask to restore after ppoll, sigsuspend, ...
	// Sender is who sent the bytes that a receive has joined so far.
	Sender *Creds
	// Uninterruptible: only a fatal signal ends it (vfork, a slow disk).
	Uninterruptible bool
	// Preempted: others had their turn at the entry of the call.
	Preempted bool
	// Entry is where the thread stands among those who wait for an object, or nil.
	Entry WaitEntry

	queues []*Queue
	timer  *Timer
	target *OpenFile // what Target found; held while the call waits
	held   bool
}

// Creds are a process's credentials as a peer sees them (struct ucred).
type Creds struct{ PID, UID, GID int }

// Op says what the node layer does with a thread after its handler ran.
type Op uint8

const (
	OpReturn    Op = iota // the call returns Result.Value
	OpBlock               // not yet: run the handler again when woken
	OpNative              // let Linux run the call as it stands
	OpClone               // clone, fork, vfork: Result.Clone says how
	OpExec                // execve, execveat: run it, then set the new image up
	OpExit                // the thread ends, status Result.Value
	OpExitGroup           // the process ends, status Result.Value
	OpYield               // returns Result.Value after the other runnable threads ran
)

// Restart says what a signal does to a blocked call (signal(7)).
type Restart uint8

const (
	RestartSA     Restart = iota // restarted after a handler with SA_RESTART, else EINTR
	RestartNoHand                // EINTR after any handler; restarted when none ran
	RestartNever                 // always EINTR
	RestartAlways                // restarted, whatever ran (FUTEX_LOCK_PI)
)

// Result is a handler's decision.
type Result struct {
	Op      Op
	Value   int64 // -errno on failure
	Restart Restart
	Clone   CloneArgs
	// Unseen: Linux would make the call when the thread goes on, and nobody would look at its
	// result.
	Unseen bool
}

// CloneArgs are the arguments of clone in one form for clone, fork and vfork.
type CloneArgs struct {
	Flags     uint64 // CLONE_*, exit signal in the low byte
	Stack     uint64
	ParentTID uint64
	ChildTID  uint64
	TLS       uint64
}

// Ret is a successful result.
func Ret(v int64) Result { return Result{Value: v} }

// Fail is a failed result.
func Fail(e Errno) Result { return Result{Value: -int64(e)} }

// RetOr returns v, or e when it is not zero.
func RetOr(v int, e Errno) Result {
	if e != 0 {
		return Fail(e)
	}
	return Ret(int64(v))
}

// Native lets Linux run the call as it stands.
var Native = Result{Op: OpNative}

// Target returns the open file description that the current call works on, or
// nil when fd is not open. Once the call waits it stays the one found first,
// even if another thread closes or reuses the number meanwhile.
func (t *Thread) Target(fd int) *OpenFile {
	if !t.Wait.held {
		t.Wait.target = t.FDs().Get(fd)
	}
	return t.Wait.target
}

// Block says that the call waits: its handler runs again when one of the queues
// is notified, the deadline set by SetDeadline passes, or a signal arrives.
func (t *Thread) Block(r Restart, queues ...*Queue) Result {
	for _, q := range queues {
		if q != nil {
			q.add(t)
			t.Wait.queues = append(t.Wait.queues, q)
		}
	}
	if t.Wait.target != nil && !t.Wait.held {
		t.Wait.held = true
		t.Wait.target.Hold()
	}
	return Result{Op: OpBlock, Restart: r}
}

// SetDeadline gives the current call an absolute deadline on the node's clock;
// a second call for the same system call keeps the first deadline, so that a
// handler may simply set it on each run.
func (t *Thread) SetDeadline(at ariadne.Time) {
	if !t.Wait.HasDeadline {
		t.Wait.HasDeadline, t.Wait.Deadline = true, at
	}
}

// Park makes a thread whose handler returned OpBlock wait. The node layer calls it.
func (t *Thread) Park() {
	t.State = Blocked
	t.Wait.Runs++
	if t.Wait.HasDeadline && t.Wait.timer == nil {
		t.Wait.timer = t.Node().AddTimer(t.Wait.Deadline, t)
	}
}

// Unpark makes a blocked thread runnable; its handler will run again.
func (t *Thread) Unpark() {
	if t.State != Blocked {
		return
	}
	for _, q := range t.Wait.queues {
		q.remove(t)
	}
	t.Wait.queues = t.Wait.queues[:0]
	t.State = Runnable
	t.Node().MakeReady(t)
}

// EndWait forgets what the finished call waited for. The node layer calls it.
func (t *Thread) EndWait() {
	for _, q := range t.Wait.queues {
		q.remove(t)
	}
	if t.Wait.timer != nil {
		t.Node().StopTimer(t.Wait.timer)
	}
	if t.Wait.Entry != nil {
		t.Wait.Entry.Leave(t)
	}
	target, held := t.Wait.target, t.Wait.held
	t.Wait = Wait{}
	t.kept.forget()
	if held {
		target.Drop(t.Node())
	}
}

// Notify implements Waiter: what the thread waits for may hold now.
func (t *Thread) Notify(Events) { t.Unpark() }

// Expire implements Expirer: the deadline of the thread's call has passed.
func (t *Thread) Expire(*Timer) {
	t.Wait.timer = nil
	t.Wait.TimedOut = true
	t.Unpark()
}

// Node returns the machine that the thread runs on.
func (t *Thread) Node() *Node { return t.Proc.Node }

// FDs returns the thread's descriptor table.
func (t *Thread) FDs() *FDTable { return t.Proc.FDs }

// NewFD gives file a real descriptor number in the thread (an eventfd stands in
// for it in Linux's table) and enters it in the descriptor table.
// flags: O_NONBLOCK and O_CLOEXEC are meant, access mode is kept for F_GETFL.
func (t *Thread) NewFD(file File, flags int) (int, Errno) {
	return t.InstallFD(&OpenFile{File: file, Flags: flags &^ unix.O_CLOEXEC}, flags&unix.O_CLOEXEC != 0)
}

// InstallFD is NewFD for an open file that exists.
func (t *Thread) InstallFD(of *OpenFile, cloexec bool) (int, Errno) {
	var fl uint64
	if cloexec {
		fl = unix.EFD_CLOEXEC
	}
	fd := t.M.Syscall(unix.SYS_EVENTFD2, 0, fl)
	if fd < 0 {
		return -1, Errno(-fd)
	}
	of.StandIn = true
	t.FDs().Set(int(fd), of, cloexec)
	return int(fd), 0
}

// StoreInt writes a C int into the thread's memory.
func (t *Thread) StoreInt(addr uint64, v int) Errno {
	return t.M.WriteMem(addr, binary.LittleEndian.AppendUint32(nil, uint32(v)))
}

// MakeReady appends t to the run queue. Only those that are late stand behind it.
func (n *Node) MakeReady(t *Thread) {
	n.ready = slices.Insert(n.ready, len(n.ready)-n.late, t)
	n.Woken++
}

// MakeLast puts t at the end of the run queue, which has had its turn. A late thread is no longer
// late: t may go on until another thread has.
func (n *Node) MakeLast(t *Thread) {
	n.late = 0
	n.ready = append(n.ready, t)
}

// MakeLate puts t at the end of the run queue, where it stays: others go first that become
// ready before it goes on, unless one of them has had its turn (MakeLast).
func (n *Node) MakeLate(t *Thread) {
	n.ready = append(n.ready, t)
	n.late++
}

// ForgetLate: nobody is late any more.
func (n *Node) ForgetLate() { n.late = 0 }

// OnlyLate reports whether threads are in the run queue, and each of them is late.
func (n *Node) OnlyLate() bool { return n.late > 0 && n.late == len(n.ready) }

// isReady reports whether t is in the run queue.
func (n *Node) isReady(t *Thread) bool { return slices.Contains(n.ready, t) }

// NextReady takes the next runnable thread, or nil when the node is quiescent.
// Threads of a stopped process keep their place until it is continued.
func (n *Node) NextReady() *Thread {
	for i := 0; i < len(n.ready); {
		t := n.ready[i]
		switch {
		case t.State != Runnable:
			n.removeReady(i)
		case t.Proc.Stopped:
			i++
		default:
			n.removeReady(i)
			return t
		}
	}
	return nil
}

// removeReady takes the i-th out of the run queue.
func (n *Node) removeReady(i int) {
	if i >= len(n.ready)-n.late {
		n.late--
	}
	n.ready = slices.Delete(n.ready, i, i+1)
}

// TakeReady takes t, which is in the run queue, out of it.
func (n *Node) TakeReady(t *Thread) { n.removeReady(slices.Index(n.ready, t)) }

// Ready appends to all the threads that NextReady would find one after the other.
func (n *Node) Ready(all []*Thread) []*Thread {
	for _, t := range n.ready {
		if t.State == Runnable && !t.Proc.Stopped {
			all = append(all, t)
		}
	}
	return all
}

// HasReady reports whether NextReady would find a thread.
func (n *Node) HasReady() bool { return n.AnyReady(func(*Thread) bool { return true }) }

// AnyReady reports whether NextReady would find a thread for which f holds.
func (n *Node) AnyReady(f func(*Thread) bool) bool {
	for _, t := range n.ready {
		if t.State == Runnable && !t.Proc.Stopped && f(t) {
			return true
		}
	}
	return false
}

// keepsRuntimeAlive reports whether the thread's current wait only keeps a
// language runtime ticking: Go's sysmon naps; HotSpot names its ticker.
func (t *Thread) keepsRuntimeAlive() bool {
	t.naps = t.naps || t.Call.Naps
	return t.Call.Naps || t.Name == "VM Periodic Tas"
}

// housekeeping returns how long a language runtime may look after itself, when the
// thread waits for a time at which it does so, before nothing more can come of it; 0:
// it waits for something else.
//
// Go's sysmon sleeps up to a minute when all else sleeps, and forces a collection
// every two: three of them, and the first may come a minute late. HotSpot's threads go by
// their names; the slowest wakes every minute.
func (t *Thread) housekeeping() ariadne.Time {
	switch {
	case t.naps && t.Call.NR == unix.SYS_FUTEX:
		return 430e9
	case hotspot[t.Name]:
		return 130e9
	}
	return 0
}

// hotspot are the names, as far as Linux keeps them, of the virtual machine's own
// threads that wait with a deadline.
var hotspot = map[string]bool{
	"VM Thread": true, "Monitor Deflati": true, "Sweeper thread": true, "Common-Cleaner": true,
	"C1 CompilerThre": true, "C2 CompilerThre": true, "G1 Service": true,
}
