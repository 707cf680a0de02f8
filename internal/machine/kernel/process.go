package kernel

import (
	"path"
	"slices"
	"sort"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// initPID is the process that adopts orphans. It runs nothing and is not among
// Node.Procs; the spec's commands are its children.
const initPID = 1

// DefaultTimerSlack is PR_GET_TIMERSLACK's first answer, in ns.
const DefaultTimerSlack = 50000

// AuxValue is an entry of the auxiliary vector (getauxval(3)).
type AuxValue struct{ Kind, Value uint64 }

// Break is a breakpoint of Ariadne's.
type Break struct {
	Addr     uint64
	Was      byte   // what is there without it
	Function string // that begins there and may fail, or ""
	Sites    []int  // where functions expose something (internal/machine/node)
	Behind   bool   // a function returns there that another one has jumped to at its end
	Instead  bool   // Ariadne executes the instruction there: rdtsc, rdrand and the like
}

// LockCode is where code is mapped that has breakpoints at lock functions.
type LockCode struct {
	Start, End, Offset uint64 // addresses, and where in the file they begin
	Table              int    // has the functions (internal/machine/node)
}

// NapSite is a place in a program at which it calls nanosleep.
type NapSite struct {
	At   uint64 // behind the call's instruction
	Naps bool   // by the call there a language's runtime keeps itself going
}

// Followed is a call of a function at whose end something is exposed.
type Followed struct {
	Probe        int      // which function
	Stack, Depth uint64   // where its frame is (debuginfo.Frame)
	Kept         [][]byte // what was kept of it when it began
	// where it has jumped to another function that returns in its place; with Return
	Site   int
	Return uint64 // where that returns to, or 0
}

// Variable is one that a process exposes.
type Variable struct {
	Site int    // what is read of it (internal/machine/node)
	Bias uint64 // what the program's addresses are more than those of its file
}

// Process is a thread group. PIDs are virtual: in order of creation in the node,
// from the same numbers as TIDs.
type Process struct {
	PID, PGID, SID int
	Parent         *Process // nil for those the spec started
	Node           *Node
	Exe            string     // path of the program, as the node sees it
	Aux            []AuxValue // what its auxiliary vector has else than Linux's
	Args           []string
	Cwd            string // kept by chdir and fchdir, as the node sees it
	// what chroot made the root directory, as the node sees it; "": the node's
	Root    string
	Threads []*Thread // alive, leader first while it lives
	Leader  *Thread   // the thread with the process's id, dead or alive
	FDs     *FDTable
	MM      int // address space: shared with CLONE_VM; key of private futexes
	Umask   int
	// AllStop: each of its calls stops, for one of its threads has a filter of its own
	// (Thread.Seccomp) or it has locked memory;
	// UnseenStop: those too that are refused without a stop otherwise.
	AllStop, UnseenStop bool
	// Breaks are Ariadne's breakpoints in its code (internal/machine/node).
	Breaks []Break
	// Locks is where there are others, at lock functions.
	Locks []LockCode
	// NapSite is where it has called nanosleep last (internal/machine/node).
	NapSite NapSite
	// Followed are the calls of functions at whose end something is exposed, until they return.
	Followed []Followed
	// Variables are those that it exposes.
	Variables []Variable
	// MapsOwn: it may have mapped files of the node's own privately (internal/machine/node).
	MapsOwn bool
	// AdvisedFork: some of its memory may not be copied to children as it is.
	AdvisedFork bool

	Actions *signal.Actions // dispositions; shared with CLONE_SIGHAND
	Pending []signal.Info   // signals sent to the process
	Signals Queue           // notified when a signal is queued (signalfd, sigtimedwait)
	Stopped bool            // by SIGSTOP and its kind
	// fatal is the signal that ends the process, once a thread was found for it: as in Linux no
	// thread makes another step of its own then.
	fatal signal.Info

	// Command is the index of the spec's command that this process runs, or -1.
	Command int

	Dead         bool // a zombie, until it is reaped
	ExitStatus   int  // exit code, valid when Dead and ExitSignal is 0
	ExitSignal   int  // the signal that killed it
	Core         bool
	Ended        Queue // notified when it is dead (pidfd)
	ChildChanged Queue // waiters in wait4 and waitid of this process
	// StopReport, ContReport: the signal of a state change that wait has not
	// yet reported, or 0.
	StopReport, ContReport int
	ExitSig                int // signal sent to the parent at exit (SIGCHLD)
	// VforkParent waits until this process runs another program or ends.
	VforkParent *Thread

	Rlimits map[int][2]uint64 // changed by setrlimit: soft, hard
	// CPUTime is that of ended threads (see CPU), ChildCPUTime that of reaped
	// children.
	CPUTime, ChildCPUTime ariadne.Time
	cpuTimers             []*CPUTimer // of its processor time, and of its threads'
	Dumpable              int
	NoHugePages           bool  // PR_SET_THP_DISABLE
	EarlyKill             *bool // PR_MCE_KILL, or nil
	HasExeced             bool  // since it was forked: its parent may not move it to another group
	Membarrier            int   // what it registered for
	Subreaper             bool
	TimerSlack            uint64
	Persona               uint32 // personality(2)
	DefaultSlack          uint64 // what TimerSlack was when the process was forked
	OOMScoreAdj           int
	CoreFilter            int   // /proc/<pid>/coredump_filter
	state                 slots // what packages of objects keep
}

// NewProcess returns a process with one thread, the child of parent (or nil).
func (n *Node) NewProcess(parent *Process) (*Process, *Thread) {
	pid := n.nextPID
	n.nextPID++
	p := &Process{PID: pid, PGID: pid, SID: pid, Node: n, Parent: parent, Command: -1, MM: n.newMM(),
		Umask: 0o022, Dumpable: 1, TimerSlack: DefaultTimerSlack, DefaultSlack: DefaultTimerSlack,
		ExitSig: int(unix.SIGCHLD), Actions: &signal.Actions{},
		Rlimits: map[int][2]uint64{}}
	n.Procs[pid] = p
	t := &Thread{TID: pid, Proc: p, Affinity: 1<<n.CPUs - 1, Started: n.Now}
	p.Threads, p.Leader = []*Thread{t}, t
	p.SetUser(0, 0)
	return p, t
}

// newInit returns process 1: it is asked about, and that is all.
func (n *Node) newInit() *Thread {
	p := &Process{PID: initPID, PGID: initPID, SID: initPID, Node: n, Command: -1, Exe: "/sbin/init", Cwd: "/",
		Actions: &signal.Actions{}, FDs: NewFDTable(), Rlimits: map[int][2]uint64{}}
	t := &Thread{TID: initPID, Proc: p, State: Blocked, Name: "init", Affinity: ^uint64(0)}
	p.Threads, p.Leader = []*Thread{t}, t
	p.SetUser(0, 0)
	return t
}

// readImpliesExec is READ_IMPLIES_EXEC, which programs of 64 bits take off.
const readImpliesExec = 0x400000

// NewThread adds a thread to p.
func (p *Process) NewThread() *Thread {
	t := &Thread{TID: p.Node.nextPID, Proc: p, Affinity: 1<<p.Node.CPUs - 1, Started: p.Node.Now}
	p.Node.nextPID++
	p.Threads = append(p.Threads, t)
	return t
}

func (n *Node) newMM() int { n.nextMM++; return n.nextMM }

// UnshareFDs gives p a table of descriptors of its own.
func (p *Process) UnshareFDs() {
	if p.FDs.Shared() {
		old := p.FDs
		p.FDs = old.Fork()
		old.Leave(p.Node)
	}
}

// ParentPID is what getppid returns.
func (p *Process) ParentPID() int {
	if p.Parent == nil {
		return initPID
	}
	return p.Parent.PID
}

// CPU returns the virtual processor time that p has used.
func (p *Process) CPU() ariadne.Time {
	sum := p.CPUTime
	for _, t := range p.Threads {
		sum += t.CPUTime
	}
	return sum
}

// Children returns p's children in order of creation, zombies included.
func (p *Process) Children() []*Process {
	var s []*Process
	for _, pid := range p.Node.PIDs() {
		if c := p.Node.Procs[pid]; c.Parent == p {
			s = append(s, c)
		}
	}
	return s
}

// PIDs returns all process ids of the node in ascending order.
func (n *Node) PIDs() []int {
	s := make([]int, 0, len(n.Procs))
	for pid := range n.Procs {
		s = append(s, pid)
	}
	sort.Ints(s)
	return s
}

// Group returns the processes of a process group in order of creation.
func (n *Node) Group(pgid int) []*Process {
	var s []*Process
	for _, pid := range n.PIDs() {
		if p := n.Procs[pid]; p.PGID == pgid {
			s = append(s, p)
		}
	}
	return s
}

// Thread finds a live thread by its id, or nil.
func (n *Node) Thread(tid int) *Thread {
	if p := n.Procs[tid]; p != nil && len(p.Threads) > 0 && p.Threads[0].TID == tid {
		return p.Threads[0]
	}
	for _, pid := range n.PIDs() {
		for _, t := range n.Procs[pid].Threads {
			if t.TID == tid {
				return t
			}
		}
	}
	return nil
}

// Task finds a thread by its id, or nil: a live one, or a dead one that led its process
// while that is not yet reaped. A zombie has a priority, a policy and more that can be
// asked for, and can be signalled in vain.
func (n *Node) Task(tid int) *Thread {
	if t := n.Thread(tid); t != nil {
		return t
	}
	if p := n.Procs[tid]; p != nil {
		return p.Leader
	}
	return nil
}

// Tasks returns p's threads; of a dead process, its leader.
func (p *Process) Tasks() []*Thread {
	if len(p.Threads) == 0 {
		return []*Thread{p.Leader}
	}
	return p.Threads
}

// Fork returns the new thread of clone, fork or vfork with its kernel state:
// of the caller's process with CLONE_THREAD, of a new one otherwise. The node
// layer has run the real call, and gives the thread its Machine.
func (n *Node) Fork(parent *Thread, a CloneArgs) *Thread {
	var t *Thread
	if a.Flags&unix.CLONE_THREAD != 0 {
		t = parent.Proc.NewThread()
	} else {
		t = n.forkProcess(parent, a)
	}
	t.Name, t.Nice, t.Affinity, t.seenMask = parent.Name, parent.Nice, parent.Affinity, parent.M.SigMask()
	t.Cred, t.NoNewPrivs = parent.Cred, parent.NoNewPrivs
	t.Sched, t.Seccomp, t.NoTSC, t.Policy = parent.Sched.inherited(), parent.Seccomp, parent.NoTSC, parent.Policy
	if a.Flags&(unix.CLONE_VM|unix.CLONE_VFORK) != unix.CLONE_VM {
		t.AltStack = parent.AltStack
	}
	if a.Flags&unix.CLONE_CHILD_CLEARTID != 0 {
		t.ClearTID = a.ChildTID
	}
	if a.Flags&unix.CLONE_PIDFD != 0 {
		parent.givePidFD(t.Proc, a.ParentTID)
	}
	return t
}

func (n *Node) forkProcess(parent *Thread, a CloneArgs) *Thread {
	p := parent.Proc
	up := p
	if a.Flags&unix.CLONE_PARENT != 0 {
		up = p.Parent
	}
	c, t := n.NewProcess(up)
	c.Aux, c.Breaks, c.Locks, c.NapSite = p.Aux, p.Breaks, p.Locks, p.NapSite
	c.Followed, c.Variables = slices.Clone(p.Followed), slices.Clone(p.Variables)
	c.PGID, c.SID, c.Exe, c.Args, c.Cwd, c.Root, c.Umask = p.PGID, p.SID, p.Exe, p.Args, p.Cwd, p.Root, p.Umask
	c.Dumpable, c.TimerSlack = p.Dumpable, p.TimerSlack
	c.DefaultSlack, c.Persona = p.TimerSlack, p.Persona
	c.MapsOwn, c.AdvisedFork, c.AllStop, c.UnseenStop = p.MapsOwn, p.AdvisedFork, p.AllStop, p.UnseenStop
	c.NoHugePages, c.EarlyKill = p.NoHugePages, p.EarlyKill
	c.OOMScoreAdj, c.CoreFilter = p.OOMScoreAdj, p.CoreFilter
	for r, l := range p.Rlimits {
		c.Rlimits[r] = l
	}
	c.ExitSig = int(a.Flags & 0xff)
	if a.Flags&unix.CLONE_PARENT != 0 {
		c.ExitSig = p.ExitSig
	}
	if a.Flags&unix.CLONE_VM != 0 {
		c.MM = p.MM
	}
	for i := range hooks {
		if h := hooks[i].Forks; h != nil {
			h(p, c, a.Flags)
		}
	}
	if a.Flags&unix.CLONE_SIGHAND != 0 {
		c.Actions = p.Actions
	} else {
		c.Actions = p.Actions.Fork()
	}
	if a.Flags&unix.CLONE_FILES != 0 {
		c.FDs = p.FDs.Share()
	} else {
		c.FDs = p.FDs.Fork()
	}
	if a.Flags&unix.CLONE_VFORK != 0 {
		c.VforkParent = parent
	}
	return t
}

// releaseVfork lets the parent that waits in vfork go on.
func (p *Process) releaseVfork() {
	if t := p.VforkParent; t != nil {
		p.VforkParent = nil
		t.Unpark()
	}
}

// Exec changes the process as execve(2) says, after t has run the real call:
// t is the only thread left and has the process's id. The old memory is gone,
// so a robust futex in memory shared with others stays held. file is the program
// that runs; name the path that was given, which may be that of a link to it or of a script.
func (p *Process) Exec(t *Thread, file, name string, args []string) {
	for _, x := range append([]*Thread(nil), p.Threads...) {
		x.ClearTID, x.RobustList, x.AltStack, x.AskAltStack = 0, 0, AltStack{}, false
		if x != t {
			x.Exit()
		}
	}
	for i := range hooks {
		if h := hooks[i].Execs; h != nil {
			h(t)
		}
	}
	t.Started = p.Leader.Started
	p.Leader = t
	t.TID, p.MM, p.ExitSig = p.PID, p.Node.newMM(), int(unix.SIGCHLD)
	p.Exe, p.Args, t.Name = file, args, CommName(path.Base(name))
	p.Actions = p.Actions.Exec()
	p.UnshareFDs()
	p.FDs.Exec(p.Node)
	p.Persona &^= readImpliesExec
	p.Dumpable, t.Cred.KeepCaps, p.HasExeced, p.AdvisedFork = 1, false, true, false
	p.Breaks, p.Locks, p.NapSite, p.Followed, p.Variables = nil, nil, NapSite{}, nil, nil
	p.releaseVfork()
}

// CommName shortens a name to what comm holds.
func CommName(s string) string {
	if len(s) > 15 {
		return s[:15]
	}
	return s
}

// Exit ends the thread while its memory is still there. When it was the last,
// the caller ends the process too.
func (t *Thread) Exit() {
	if t.State == Dead {
		return
	}
	p := t.Proc
	for i := range hooks {
		if h := hooks[i].ThreadExits; h != nil {
			h(t)
		}
	}
	t.EndWait()
	t.State = Dead
	t.Pending = nil
	p.CPUTime += t.CPUTime
	for i, x := range p.Threads {
		if x == t {
			p.Threads = append(p.Threads[:i:i], p.Threads[i+1:]...)
			break
		}
	}
	if !p.Dead {
		t.askOthers(^signal.Set(0))
	}
}

// Exit ends the process: by its exit status, or by a signal when that is not 0.
// It is a zombie until its parent has waited for it.
func (p *Process) Exit(status, signal int, core bool) {
	if p.Dead {
		return
	}
	n := p.Node
	p.Dead, p.Stopped = true, false
	p.ExitStatus, p.ExitSignal, p.Core = status, signal, core && p.mayDump()
	for _, t := range append([]*Thread(nil), p.Threads...) {
		t.Exit()
	}
	p.Pending = nil
	if p.FDs != nil {
		p.FDs.Leave(n)
	}
	for i := range hooks {
		if h := hooks[i].ProcessExits; h != nil {
			h(p)
		}
	}
	p.releaseVfork()
	if p.SID == p.PID {
		for i := range hooks {
			if h := hooks[i].SessionEnds; h != nil {
				h(p)
			}
		}
	}
	p.leaveFamily()
	if p.Command >= 0 {
		e := ariadne.Exit{At: n.Now, Command: p.Command, Status: status, Signal: signal}
		if signal != 0 {
			e.Status = -1
		}
		n.Exits = append(n.Exits, e)
		n.CommandsEnded++
	}
	p.notifyExit()
}

// mayDump reports whether Linux would write a core file.
func (p *Process) mayDump() bool {
	const least = 4096 // below it a core file is not begun
	limit, _ := p.Rlimit(unix.RLIMIT_CORE)
	return limit >= least && p.Dumpable == 1
}

// leaveFamily gives the children a new parent and hangs up the process groups
// that lose their last link to the session (exit(3p), setpgid(2)).
func (p *Process) leaveFamily() {
	heir := p.Parent
	for heir != nil && (heir.Dead || !heir.Subreaper) {
		heir = heir.Parent
	}
	p.hangUp(p.PGID, p, p.Parent)
	for _, c := range p.Children() {
		c.Parent = heir
		c.ExitSig = int(unix.SIGCHLD)
		for _, t := range c.Threads {
			if t.PDeathSig != 0 {
				p.Node.Kill(c,
					signal.Info{Signo: t.PDeathSig, Code: signal.SIUser, PID: p.PID, UID: p.Leader.Cred.UID.Real})
			}
		}
		if c.Dead {
			c.notifyExit()
		}
		c.hangUp(c.PGID, nil, p)
	}
}

// hangUp continues and hangs up a process group of p's that has become an orphan and has stopped
// members. parent: across whom the link ran.
func (p *Process) hangUp(pgid int, leaving, parent *Process) {
	if parent == nil || parent.SID != p.SID || parent.PGID == pgid || !p.Node.Orphaned(pgid, leaving) {
		return
	}
	members := p.Node.Group(pgid)
	stopped := false
	for _, m := range members {
		stopped = stopped || m.Stopped
	}
	if !stopped {
		return
	}
	for _, s := range []unix.Signal{unix.SIGHUP, unix.SIGCONT} {
		for _, m := range members {
			p.Node.Kill(m, signal.Info{Signo: int(s), Code: signal.SIKernel})
		}
	}
}

// Orphaned reports whether no member of the group has a parent in another group
// of the same session. ignore is about to end.
func (n *Node) Orphaned(pgid int, ignore *Process) bool {
	for _, m := range n.Group(pgid) {
		if m == ignore || m.Dead || m.Parent == nil {
			continue
		}
		if m.Parent.PGID != pgid && m.Parent.SID == m.SID {
			return false
		}
	}
	return true
}
