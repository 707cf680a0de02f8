//go:build linux

// Package node is the automaton with real processes inside: (local state, input)
// -> (local state, outputs). It starts a node's commands in their sandbox, runs
// their threads one at a time until all of them wait, answers their system calls
// through internal/machine/sys, and reports what they did.
//
// A Node belongs to the executor (tracee.Pin) on whose OS thread it was made.
//
// Read next: loop.go (who runs), call.go (what becomes of a stop), signal.go,
// process.go (clone, exec, exit), machine.go (what handlers may ask for).
package node

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/timers/timerfd"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/node/watchdog"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/machine/vdso"

	"golang.org/x/sys/unix"
)

// Config says what machine a node is, and what is asked of it besides.
type Config struct {
	*config.Machine
	// TraceCalls fills Output.CallTrace.
	TraceCalls bool
	// Interrupt, when not nil, returns a channel that ends the step under way when it is closed. Another step may have another one.
	Interrupt func() <-chan struct{}
	// Seen is what nodes were first shown of the host's files, by all nodes of the system together; nil: they are
	// shown what is there.
	Seen *hostfiles.Seen
	// Logs asks for the log of all that is done to the node's files (Log).
	Logs bool
}

// Clock offsets: real machines were not switched on at the same moment, and
// programs that derive identities from the time must not get equal ones.
const (
	bootSpan  = uint64(24 * time.Hour)
	clockSkew = uint64(20 * time.Millisecond)
)

// Node is one running machine: what it is by its configuration, the state that it is in, and what
// belongs to the processes that live in it.
type Node struct {
	setup
	state

	threads map[*kernel.Thread]*thread
	home    *home
	held    mappedFiles
	watch   *watchdog.Watchdog
	layout  layout
	step    step
}

// setup is what a node is by its configuration. Its copies are the same.
type setup struct {
	cfg     Config
	ahead   bool    // Ahead
	failing failing // what the spec lets fail
	// functions are those that it has fail; nil: none.
	functions functions
	probing   *probing // nil: it exposes nothing by functions
	stalls    []string // how long its syncs may take
	joins     bool     // commands may be started when none of its processes lives
}

// home is what all copies of a node share: the namespaces with the file tree, and
// Ariadne's pages in every process.
type home struct {
	area   []byte // kernel.AreaSize bytes
	areaFD *os.File
	clock  vdso.Clock
	used   bool // the scratch memory, by Ariadne, since it was last cleared
	users  int  // live nodes and checkpoints

	told map[ariadne.File]bool // what some step has told of the host's files
	view *hostView             // nil until a process has built the file tree

	spaces *sandbox.Spaces // of a node that may go down; else nil
	treeFD *os.File
	tree   *filetree.Tree   // nil until a node is copied
	disk   map[string]*held // what its disks have held once; not to be changed
	shows  *Node            // whose files the tree shows; nil: those of one that is gone
}

// clearArea takes out of Ariadne's pages what other copies have left there: programs can
// read and write them.
func (h *home) clearArea() {
	if h.area != nil {
		clear(h.area[:area.VDSO-area.Base])
		h.clearScratch()
	}
}

// clearScratch takes out of the scratch memory what the host has answered Ariadne.
func (h *home) clearScratch() {
	clear(h.area[area.Scratch-area.Base:])
	h.used = false
}

// leave gives up one use of the home; the last one unmaps the pages.
func (h *home) leave() error {
	h.users--
	if h.users > 0 {
		return nil
	}
	if h.view != nil {
		h.view.close()
		h.view = nil
	}
	if h.tree != nil {
		h.tree.Close()
	}
	if h.spaces != nil {
		h.spaces.Close()
		h.spaces = nil
	}
	for _, f := range []*os.File{h.treeFD, h.areaFD} {
		if f != nil {
			f.Close()
		}
	}
	area := h.area
	if h.area = nil; area == nil {
		return nil
	}
	return unix.Munmap(area)
}

// step is what one Apply accumulates besides the kernel's own lists.
type step struct {
	calls        int
	below        ariadne.Time // the deadline at which the clock last came to stand
	stood        int          // calls and reads for which it has
	lent         int          // reads for which it may, while a thread runs
	spun         ariadne.Time // computed without a call, not yet on the clock
	stream       stream
	trace        []ariadne.CallRecord
	memory       memoryHash
	course       ariadne.Course
	looked       int              // log lines of the step that were compared with Faults.After
	first        *kernel.Thread   // goes first although it is another's turn
	others       []*kernel.Thread // who was ready at the last place where one could be late,
	alternatives []string         // and what that place had for it
	unreplayable bool
	diverged     string
	cut          string
	files        []ariadne.File  // what it has learnt of the host's
	opened       map[string]bool // files, by path, that it has opened or run so far
	changed      *way            // that the call under way is about, and that is no longer what nodes were first shown
	read         []string        // paths of files of the host's that it has opened, and that Linux reads
	lastOpened   int             // how many those were when it last opened a further one
	gotOn        int             // calls made by then

	moved     int // calls that have read or written something
	made      callCounts
	vain      callCounts // that asked in vain
	ready     int        // of them, those by which something was ready
	answered  bool       // a thread that had asked in vain got something, or waited
	readClock bool       // some thread has read the clock
	disturbed bool       // it was switched on, got a message, or a timer fired
	polling   bool       // it ended because all that could run only polled

	seen    sys.Sight             // what has happened
	heard   int                   // lines in which it was looked for
	since   lossPoint             // the last place at which power could go
	outage  *ariadne.NodeFault    // what takes the node down in its midst
	down    ariadne.Down          // what has taken it down
	back    ariadne.Time          // with down
	content ariadne.Digest        // of what a stop has left
	looks   map[ariadne.Look]bool // at what Node.disk has; nil: that is not known
	lost    []string              // by a loss of power
	ways    []otherwise           // what it would have come to with other images
	drawn   bool                  // how it is varied is drawn as it goes
	left    int                   // images of the disk that are no alternatives
}

// thread joins a kernel thread, which is a part of the node's state, and its real one.
type thread struct {
	n     *Node
	k     *kernel.Thread
	tr    *tracee.Thread
	used  int          // calls in its turn
	began ariadne.Time // of its turn
}

// toolError carries a failure of the tool itself out of a handler.
type toolError struct{ error }

// recoverTool turns a toolError into the error of the function that defers it.
func recoverTool(n *Node, err *error) {
	switch e := recover().(type) {
	case nil:
	case toolError:
		var threads []*tracee.Thread
		for _, th := range n.threads {
			if th.k.State != kernel.Dead { // a leader that ended before the others
				threads = append(threads, th.tr)
			}
		}
		*err = fmt.Errorf("node %s: %w", n.cfg.Name, n.killed(e.error, threads))
	default:
		panic(e)
	}
}

// interrupted reports whether the user has ended what the step is part of.
func (n *Node) interrupted() bool {
	if n.cfg.Interrupt == nil {
		return false
	}
	select {
	case <-n.cfg.Interrupt():
		return true
	default:
		return false
	}
}

// must turns a failure that no target can cause into the end of the step.
func must(err error) {
	if err != nil {
		panic(toolError{err})
	}
}

// Start makes a node that is not yet switched on; the input Start does that.
func Start(cfg Config) *Node {
	oomKillsBefore()
	n := &Node{setup: setupOf(cfg), home: &home{users: 1, told: map[ariadne.File]bool{}}, threads: map[*kernel.Thread]*thread{}}
	n.state.k = newKernel(&n.cfg, 0)
	return n
}

func setupOf(cfg Config) setup {
	f := &cfg.Faults
	return setup{
		cfg:     cfg,
		failing: failures(&f.Fail), functions: failingFunctions(f.Fail.Functions),
		probing: probingOf(cfg.Probes),
		stalls:  stallsFor(f.Stall.For),
		joins:   f.Falls || f.Kill.May && f.Kill.Restart > 0 || cfg.Asks(),
	}
}

// newKernel is the kernel of the node's machine as it is switched on, for the first time or
// again.
func newKernel(cfg *Config, boots int) *kernel.Node {
	k := kernel.NewNode(cfg.ID, cfg.Name, cfg.Seed^uint64(boots)*0x9e3779b97f4a7c15)
	k.Boots = boots
	k.Files.Logs, k.Files.Whole = cfg.Logs || cfg.Faults.LosesPower, cfg.Logs
	k.Stalls = cfg.Faults.Stall.For != nil
	k.CPUs = max(cfg.CPUs, 1)
	k.Memory = cfg.Memory
	k.Processor = cfg.Processor
	k.Files.User, k.Files.Group = cfg.User, cfg.Group
	k.Files.Disk = inode.Disk{Limit: cmp.Or(cfg.Disk, inode.DefaultDisk), Given: cfg.Disk > 0}
	k.Addrs = cfg.Addrs
	for _, o := range cfg.Hosts {
		k.Hosts = append(k.Hosts, kernel.Host{Name: o.Name, Addrs: o.Addrs})
	}
	k.RealBase = cfg.Date.UnixNano() + int64(k.Rand.Uint64()%clockSkew) + int64(cfg.ClockOffset)
	k.MonoBase = int64(time.Hour) + int64(k.Rand.Uint64()%bootSpan)
	return k
}

// RecordCalls says whether outputs have their CallTrace from now on, this node's
// and its copies'.
func (n *Node) RecordCalls(on bool) { n.cfg.TraceCalls = on }

// Ahead says whether outputs have their Others from now on, this node's and its copies'.
func (n *Node) Ahead(on bool) { n.ahead = on }

// Close ends the node's processes.
func (n *Node) Close() (err error) {
	defer recoverTool(n, &err)
	if n.watch != nil {
		n.watch.Stop()
	}
	n.letGo(nil)
	if n.home.shows == n {
		if n.home.users > 1 {
			n.captureFiles() // the others' states are told from this one
		}
		n.home.shows = nil
	}
	procs := map[*tracee.Process][]*tracee.Thread{}
	for _, th := range n.threads {
		procs[th.tr.Process()] = append(procs[th.tr.Process()], th.tr)
	}
	var first error
	for _, threads := range procs {
		if err := tracee.Kill(threads); err != nil && first == nil {
			first = err
		}
	}
	for _, th := range n.threads {
		th.tr.Release()
	}
	n.threads = nil
	n.closeCarried()
	if err := n.home.leave(); err != nil && first == nil {
		first = fmt.Errorf("node %s: unmap: %w", n.cfg.Name, err)
	}
	return first
}

// Apply gives the node an input and runs it until every thread waits.
func (n *Node) Apply(in ariadne.Input) (out ariadne.Output, err error) {
	defer recoverTool(n, &err)
	in.At = n.drift().local(in.At)
	n.step = step{memory: memoryHash{on: n.cfg.TraceCalls}, course: ariadne.NewCourse(&in), drawn: in.Draw != nil, since: lossPoint{log: n.k.Files.Log}}
	if n.disk != nil {
		n.step.looks = map[ariadne.Look]bool{}
	}
	n.enter()
	if n.interrupted() {
		return out, ariadne.ErrInterrupted
	}
	if n.watch == nil {
		n.watch = watchdog.Start(n.cfg.Limits.Divergence, n.k.MemTotal(), n.interrupted)
	}
	n.watch.Begin()
	defer n.watch.End()
	n.home.clearArea()
	n.k.Punctual()
	n.step.disturbed = in.Kind != ariadne.Fire
	switch in.Kind {
	case ariadne.Start:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		if err := n.boot(); err != nil {
			return out, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", n.cfg.Name, err)}
		}
	case ariadne.Deliver:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.step.stream.message(in.Message)
		n.given += int64(len(in.Message.Data))
		switch in.Message.Flow.Proto {
		case ariadne.App:
			dialog.Deliver(n.k, in.Message)
		case ariadne.Disk:
			sys.EnterStores(n.k)
			slowdisk.Deliver(n.k, in.Message)
		default:
			net.Deliver(n.k, in.Message)
		}
	case ariadne.Fire:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.fireDue(in.At)
	case ariadne.Fault:
		n.catchUp(in.At)
		n.k.Now = max(n.k.Now, in.At)
		n.befall(&in.Fault)
	}
	began := n.k.Now
	n.step.polling = false // so it may have been while catching up, before the input came
	if err := n.relaunchDue(); err != nil {
		return out, err
	}
	n.run()
	n.settle()
	for !n.step.over() && !n.step.polling && (n.due() || n.checked() || n.k.HasDueAgain()) {
		if n.checked() {
			if err := n.goOn(); err != nil {
				return out, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", n.cfg.Name, err)}
			}
		}
		n.fireDue(n.k.Now)
		if err := n.relaunchDue(); err != nil {
			return out, err
		}
		n.run()
		n.settle()
	}
	n.polled.count(&n.step, began)
	n.forgive()
	if n.step.outage != nil {
		n.fall(*n.step.outage)
	}
	if n.k.Files.Whole { // else a fault between two steps looks
		sys.EnterStores(n.k)
	}
	net.Flush(n.k)
	n.closeStale()
	n.grow()
	n.serve()
	n.look()
	n.compareRead()
	n.calm = n.calmsDown(in.Kind == ariadne.Fire)
	return n.output(), nil
}

// calmsDown returns Output.Calm of the step that ends. Timers that housekeeping has
// set, and of which nothing has come yet, are taken for housekeeping until the end of
// its time: a collection of Go's sets some.
func (n *Node) calmsDown(fired bool) ariadne.Time {
	k := n.k
	house := k.Housekeeping()
	undisturbed := n.calm != 0 && fired && len(k.Out)+len(k.Logs)+len(k.Exits) == 0
	switch {
	case n.step.polling || house == 0 && !(undisturbed && k.Now < n.calm):
		return 0
	case undisturbed && house <= n.house:
		return n.calm
	}
	n.house = house
	return k.Now + house
}

// closeCarried closes our descriptors of files that no process will receive.
func (n *Node) closeCarried() {
	for _, c := range n.k.Carried {
		n.k.Stale = append(n.k.Stale, c.FD)
	}
	n.k.Carried = nil
	n.closeStale()
}

// closeStale closes descriptors of ours that stood for files on their way from
// process to process.
func (n *Node) closeStale() {
	for _, fd := range n.k.Stale {
		must(unix.Close(fd))
	}
	n.k.Stale = nil
}

// catchUp runs the timers that merely keep runtimes alive up to time at: no
// other node can tell when they ran. A node that polls goes on with the input, and
// they have their turn in its midst.
func (n *Node) catchUp(at ariadne.Time) {
	for !n.step.over() && !n.k.HasReady() {
		t := n.k.NextTimer(true)
		if t == nil || t.When >= at || !t.Silent {
			return
		}
		n.k.Now = max(n.k.Now, t.When)
		n.k.FireTimer(t)
		n.run()
	}
}

// fireDue expires every timer due at time at, in order.
func (n *Node) fireDue(at ariadne.Time) {
	for t := n.k.NextTimer(true); t != nil && t.When <= at; t = n.k.NextTimer(true) {
		n.step.disturbed = n.step.disturbed || !t.Silent
		n.k.FireTimer(t)
	}
}

// output collects what the step did.
func (n *Node) output() ariadne.Output {
	k := n.k
	n.listen()
	out := ariadne.Output{
		Messages: k.Out, Logs: k.Logs, Exits: k.Exits,
		Calls: n.step.calls, Places: n.step.course.Places, Diverged: n.step.diverged, Refusals: k.Refusals,
		Left: ariadne.Left{
			Clock: k.Now, Deadline: ariadne.Never, Calm: n.calm,
			Done:   n.started && n.alive() == 0 && !k.RunsAgain(),
			Ended:  n.started && k.CommandsEnded == n.running,
			Spared: dialog.Spared(k),
			Ready:  n.ready(k.Logs),
		},
		Noted: ariadne.Noted{
			CallTrace: n.step.trace, Unreplayable: n.step.unreplayable || n.step.cut != "", Cut: n.step.cut, Files: n.usedFiles(),
			Unsynced: !k.Files.Log.Durable(),
		},
	}
	if n.cfg.Faults.Parted {
		out.Limits = net.Limits(k)
	}
	if n.cfg.Faults.Kill.May {
		processes := n.victims()
		out.Processes = &processes
	}
	if out.Down, out.Back = n.step.down, n.step.back; out.Down != ariadne.Up && out.Down != ariadne.Paused {
		out.Ended = false // its commands are to be run again
		out.Content, out.Lost, out.LeftOut = n.step.content, n.step.lost, n.step.left
		if n.disk != nil && out.Content != (ariadne.Digest{}) {
			out.Disks = n.disk
		}
	}
	out.Looks = n.lookedAt()
	k.Out, k.Logs, k.Exits, k.Refusals = nil, nil, nil, nil
	slices.SortFunc(out.Refusals, func(a, b ariadne.Refusal) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Program, b.Program))
	})
	if t := k.NextTimer(false); t != nil {
		out.Deadline = t.When
		out.Timer = timerName(t)
		if t.When <= k.Now && !n.step.over() {
			panic(toolError{fmt.Errorf("the clock is at %v, and the timer of %v (%s) has not fired", k.Now, t.When, out.Timer)})
		}
	}
	if n.step.polling {
		out.Polling, out.Unheeded = n.polled.String(), n.polled.unheeded()
		if at := n.polled.next(k.Now, n.cfg.Limits.Calls); at < out.Deadline {
			out.Deadline, out.Timer = at, "polling"
		}
	}
	n.drift().convert(&out)
	out.Digest = out.Sum(n.step.stream.sum)
	out.Others = n.othersOf(&out)
	return out
}

// checked reports whether the command that looks at what a fault has left has ended.
func (n *Node) checked() bool { return n.checking > 0 && n.k.CommandsEnded > 0 }

// alive counts the node's processes that have not ended.
func (n *Node) alive() int {
	c := 0
	for _, p := range n.k.Procs {
		if !p.Dead {
			c++
		}
	}
	return c
}

// timerName is a stable name for what a timer ends: call and thread.
func timerName(t *kernel.Timer) string {
	switch e := t.Exp.(type) {
	case *kernel.Thread:
		return fmt.Sprintf("%s/%d", callName(e.Call.NR), e.TID)
	case *tcp.Socket:
		return "TCP"
	case *timerfd.File:
		return "TimerFD"
	case fmt.Stringer:
		return e.String()
	default:
		panic(toolError{fmt.Errorf("a timer of a %T has no name", e)})
	}
}

// SwitchedOn reports whether the node has been switched on before.
func (n *Node) SwitchedOn() bool { return n.started }

// boot starts the node's commands, or those for another start: the first builds the sandbox, the
// others join it.
func (n *Node) boot() error {
	n.again, n.started, n.checking, n.looked, n.grows, n.given, n.serves = n.started, true, 0, nil, nil, 0, nil
	return n.goOn()
}

// goOn starts the next of the commands that look at what a fault has left, or the node's commands
// when these have ended.
func (n *Node) goOn() error {
	n.k.CommandsEnded = 0
	if after := n.cfg.AfterCrash; n.again && n.checking < len(after) {
		n.checking++
		n.running = -1 // there are more to come
		return n.launch(len(n.cfg.Commands)+len(n.cfg.Restart)+n.checking-1, after[n.checking-1])
	}
	n.checking = 0
	first, commands := 0, n.cfg.Commands
	if n.again && n.cfg.Restart != nil {
		first, commands = len(commands), n.cfg.Restart
	}
	n.running = len(commands)
	for i, c := range commands {
		if err := n.launch(first+i, c); err != nil {
			return err
		}
	}
	return nil
}
