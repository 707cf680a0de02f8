package kernel

import (
	"sort"

	"ariadne"
)

// Process is a thread group. PIDs are virtual: in order of creation in the node,
// from the same numbers as TIDs.
type Process struct {
	PID, PGID, SID int
	Parent         *Process // nil for those the spec started
	Node           *Node
	Exe            string // path of the program, as the node sees it
	Args           []string
	Cwd            string    // kept by chdir and fchdir, as the node sees it
	Threads        []*Thread // alive, leader first while it lives
	FDs            *FDTable
	MM             int // address space: shared with CLONE_VM; key of private futexes
	UID, GID       int
	Umask          int

	Actions [65]SigAction // by signal number
	Pending []SigInfo     // signals sent to the process
	Stopped bool          // by SIGSTOP and its kind

	// Command is the index of the spec's command that this process runs, or -1.
	Command int

	Dead       bool
	ExitStatus int // exit code, valid when Dead and ExitSignal is 0
	ExitSignal int // the signal that killed it
	Core       bool
	// Reaped by wait: a dead process that is not is a zombie.
	ChildChanged Queue // waiters in wait4 and waitid of this process
	// StopReport, ContReport: a state change that wait has not yet reported.
	StopReport, ContReport int
	ExitSig                int // signal sent to the parent at exit (SIGCHLD)

	Rlimits               map[int][2]uint64 // changed by setrlimit
	CPUTime, ChildCPUTime ariadne.Time
	Dumpable              int
	Subreaper             bool
	PDeathSig             int
	ITimers               [3]*IntervalTimer      // setitimer: real, virtual, profiling
	PTimers               map[int]*IntervalTimer // timer_create
}

// IntervalTimer is a POSIX or interval timer of a process.
type IntervalTimer struct {
	Timer    *Timer // pending, or nil
	Interval ariadne.Time
	Proc     *Process
	Target   *Thread // SIGEV_THREAD_ID, or nil for the process
	Signo    int     // 0: none (SIGEV_NONE)
	Value    uint64
	ID       int
	Clock    int
	Overrun  int
}

// NewProcess returns a process with one thread, the child of parent (or nil).
func (n *Node) NewProcess(parent *Process) (*Process, *Thread) {
	pid := n.nextPID
	n.nextPID++
	p := &Process{PID: pid, PGID: pid, SID: pid, Node: n, Parent: parent, Command: -1, MM: pid,
		Umask: 0o022, Dumpable: 1, Rlimits: map[int][2]uint64{}, PTimers: map[int]*IntervalTimer{}}
	n.Procs[pid] = p
	t := &Thread{TID: pid, Proc: p, Affinity: 1<<n.CPUs - 1}
	p.Threads = []*Thread{t}
	return p, t
}

// NewThread adds a thread to p.
func (p *Process) NewThread() *Thread {
	t := &Thread{TID: p.Node.nextPID, Proc: p, Affinity: 1<<p.Node.CPUs - 1}
	p.Node.nextPID++
	p.Threads = append(p.Threads, t)
	return t
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
