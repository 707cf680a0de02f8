// Package kernel is the core of one node's emulated kernel: processes, threads, tables of
// descriptors, wait queues, timers, and which thread takes a signal. Kernel objects (pipes,
// futexes, sockets, ...) are packages of their own above it, which it does not know. They keep
// their state in slots, and get events through hooks (state.go).
//
// Everything that can be reached from a Node is plain data: no closures, channels, goroutines or
// handles of the operating system. There are two exceptions, which a copy replaces: the Machine of
// a thread, and descriptors of Ariadne's own process. So a Node can be copied, for a checkpoint,
// and encoded. The package never looks at real time, never lets the order of a map show, and makes
// no real system call of its own.
//
// A blocked call is a condition. A handler that cannot finish returns Thread.Block. It runs again
// from its start when one of the queues that it named is notified, its deadline passes, or a signal
// arrives. Thread.Wait has what the handler must remember until then.
//
// Packages below this folder may import it and each other, and of the other packages of this module
// only deepcopy, disk, filetree and the root. Those that it imports itself (inode, area, seccomp,
// signal) are below it.
//
// Read next: state.go, a small object (eventfd, pipe), then internal/machine/sys (the table of
// system calls and its handlers) and internal/machine/node (which schedules threads).
package kernel

import (
	"net/netip"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Errno is a Linux error number.
type Errno = unix.Errno

// Costs in virtual time, so that a loop which polls the clock ends.
const (
	CallCost  = ariadne.Time(500) // one emulated system call
	ClockCost = ariadne.Time(50)  // one clock read without a stop
)

// Drift is by how many parts per million a machine's clocks run faster than they do undisturbed,
// since a time of the world's at which they showed another.
type Drift struct {
	By           int
	Since, Shown ariadne.Time
}

// Node is the kernel state of one machine.
type Node struct {
	ID        ariadne.NodeID
	Name      string       // host name
	Addrs     []netip.Addr // own addresses, without loopback
	Hosts     []Host       // every node of the system, for name resolution
	CPUs      int          // processors the node sees
	Processor string       // their model (internal/machine/processor); "": the real one
	Memory    int64        // bytes that it has; 0: MemTotal
	Drift     Drift        // how its clocks run
	RealBase  int64        // CLOCK_REALTIME at time 0, ns since the epoch
	MonoBase  int64        // CLOCK_MONOTONIC at time 0, ns
	NTP       NTP          // what adjtimex keeps
	Now       ariadne.Time // the node's clock
	Boots     int          // times that the machine was switched on before
	Rand      Rand         // the node's random bytes

	Procs   map[int]*Process // by pid; zombies included
	Init    *Thread          // of process 1
	nextPID int
	nextMM  int       // last number of an address space
	ready   []*Thread // runnable, first is next
	late    int       // how many at its end are late (MakeLate)
	Woken   int       // how often a thread has become ready
	timers  timerHeap // but silent ones
	silent  timerHeap
	seq     uint64 // order of creation, for ties

	Files  inode.Table
	Stalls bool  // syncs may take time (package slowdisk)
	state  slots // what packages of objects keep

	// Carried are the supervisor's descriptors of host files that are on their
	// way between processes; Stale those that the node layer is to close.
	Carried []*Carried
	Stale   []int

	// SharesMemory: some process has mapped memory that is neither its own nor a
	// file's.
	SharesMemory bool

	// Copied: there are or were copies of the node, which show what they share by turns.
	Copied bool

	// Said are the kinds of faults for which the node has written the line that must come before
	// them (config.Faults.After), a bit for each.
	Said uint64

	// CommandsEnded counts the spec's commands that have ended.
	CommandsEnded int
	again         []*Again // of them, those that are to be run again

	// The output of this step so far; the node layer takes it.
	Out []ariadne.Message
	Told
	Exits    []ariadne.Exit
	Refusals []ariadne.Refusal // one for each name and program
	Used     []UsedFile        // of the last call
	Asked    []string          // paths that the last call has looked up besides its arguments

	// Instead is what the path of the call under way is shown as; nil: as what it stands for.
	Instead *Instead
}

// Told is what the node has told in a step, as the fields of ariadne.Output.
type Told struct {
	Logs      []ariadne.LogLine
	Exposures []ariadne.Shown
	Notices   []ariadne.Notice
	// ClockTold: a program has learnt what time it is (TellTime).
	ClockTold bool
	// Began is the node's clock when the input of the step had come.
	Began ariadne.Time
}

// nextPlace is that of what is told next.
func (t *Told) nextPlace() int { return len(t.Logs) + len(t.Exposures) + len(t.Notices) }

// Expose notes what the node exposes from now on. pid is of the process that tells it, or 0.
func (n *Node) Expose(pid int, e ariadne.Exposure) {
	n.Exposures = append(n.Exposures, ariadne.Shown{Place: n.nextPlace(), At: n.Now, PID: pid, Exposure: e})
}

// Notice notes that something was found in the node, in the process pid if that is not 0.
func (n *Node) Notice(pid int, found string) {
	n.Notices = append(n.Notices, ariadne.Notice{Place: n.nextPlace(), At: n.Now, PID: pid, Found: found})
}

// Host is a name and its addresses, as in /etc/hosts.
type Host struct {
	Name  string
	Addrs []netip.Addr
}

// consoles are how many pipes there are already: the consoles' numbers are those from 1.
const consoles = 3

// NewNode returns a machine that has just been switched on.
func NewNode(id ariadne.NodeID, name string, seed uint64) *Node {
	n := &Node{ID: id, Name: name, CPUs: 1, nextPID: initPID + 1, seq: consoles, Rand: NewRand(seed),
		Procs: map[int]*Process{}}
	n.Init = n.newInit()
	n.Files.Init()
	return n
}

// Sequence returns the next number of a per-node count of created things.
func (n *Node) Sequence() uint64 { n.seq++; return n.seq }

// Refuse counts a use of something that is not modelled (invariant I6).
// harmless: the answer given is one that real kernels give too.
func (n *Node) Refuse(t *Thread, name, detail string, harmless bool) {
	program := ""
	if t != nil {
		program = t.Proc.Exe
	}
	for i := range n.Refusals {
		if r := &n.Refusals[i]; r.Name == name && r.Program == program {
			r.Count++
			r.Harmless = r.Harmless && harmless
			return
		}
	}
	n.Refusals = append(n.Refusals,
		ariadne.Refusal{Name: name, Detail: detail, Program: program, Count: 1, Harmless: harmless})
}

// Carried is a descriptor of the supervisor's that stands for a host file on its
// way between processes. A copy of the node needs one of its own (Node.Carried).
type Carried struct {
	FD int `encode:"-"`
}

// Instead is a file of the host as the node was first shown it. It is another one by now, or has
// gone, or has come.
type Instead struct {
	Path    string      // without links
	Stat    unix.Stat_t // Mode 0: there was nothing
	Content []byte      // nil: it is not known
	// Link: the last name of the path is a link, which has changed when not SameLink.
	Link, SameLink bool
	// SameFile: nothing has changed but how many names the file has.
	SameFile bool
}

// UsedFile is a file without a place in the node's own tree, perhaps, of which something
// was learnt.
type UsedFile struct {
	Path string // as the node sees it, without symbolic links
	Key  inode.Key
	Use  ariadne.FileUse
	Held bool // nothing more was learnt, but it was mapped
}

// NoteUsed notes that something was learnt of a file. The node layer takes it after each call.
func (n *Node) NoteUsed(f UsedFile) { n.Used = append(n.Used, f) }

// NoteAsked notes that a path was looked up which is no argument of the call.
func (n *Node) NoteAsked(path string) { n.Asked = append(n.Asked, path) }

// RealNow is the node's CLOCK_REALTIME in ns.
func (n *Node) RealNow() int64 { return n.RealBase + int64(n.Now) }

// FileCreated gives a new file its times.
func (n *Node) FileCreated(key inode.Key) {
	now := n.RealNow()
	n.Files.SetTimes(key, inode.Times{Access: now, Modify: now, Change: now, Birth: now})
	n.Files.Dirty[key] = true
}

// FileModified notes a change of a file's content.
func (n *Node) FileModified(key inode.Key) {
	t := n.Files.Times(key)
	t.Modify = n.RealNow()
	t.Change = t.Modify
	n.Files.SetTimes(key, t)
	n.Files.Dirty[key] = true
}

// FileChanged notes a change of a file's inode: owner, mode, names.
func (n *Node) FileChanged(key inode.Key) {
	t := n.Files.Times(key)
	t.Change = n.RealNow()
	n.Files.SetTimes(key, t)
	n.Files.Dirty[key] = true
}

// TellTime notes that a program learns what time it is: by a clock, by how much is left of a time,
// by how much has passed, or by whether it has come.
func (n *Node) TellTime() { n.ClockTold = true }

// TellStamp notes that a program learns what CLOCK_REALTIME was, in ns since the epoch, when
// something happened. That tells the time only if it has happened in this step. A time of an
// earlier step is the same whenever this one happens.
func (n *Node) TellStamp(at int64) {
	if n.RealBase+int64(n.Began) <= at && at <= n.RealNow() {
		n.TellTime()
	}
}

// Rand is a SplitMix64 generator: small, copyable, the same everywhere.
type Rand struct{ state uint64 }

// NewRand returns a generator that depends on seed alone.
func NewRand(seed uint64) Rand { return Rand{seed} }

// Uint64 returns the next 64 bits.
func (r *Rand) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Fill writes random bytes into b.
func (r *Rand) Fill(b []byte) {
	for i := 0; i < len(b); i += 8 {
		v := r.Uint64()
		for j := i; j < i+8 && j < len(b); j++ {
			b[j] = byte(v)
			v >>= 8
		}
	}
}
