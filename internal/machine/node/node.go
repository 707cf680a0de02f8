//go:build linux

// Package node is an automaton with real processes inside: (local state, input) -> (local state,
// outputs). It starts a node's commands in their sandbox, and runs their threads one at a time
// until all of them wait. It answers their system calls through internal/machine/sys, and reports
// what they did.
//
// A Node belongs to the executor (tracee.Pin) on whose OS thread it was made.
//
// Read next: loop.go (which thread runs), call.go (how a stop is handled), signal.go, process.go
// (clone, exec, exit), machine.go (what handlers may ask for).
package node

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/node/watchdog"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// Config says what machine a node is, and what is asked of it besides.
type Config struct {
	*config.Machine
	// TraceCalls fills Output.CallTrace.
	TraceCalls bool
	// Interrupt, when not nil, returns a channel that ends the step under way when it is closed.
	// Another step may have another one.
	Interrupt func() <-chan struct{}
	// Seen is what nodes were first shown of the host's files, by all nodes of the system together;
	// nil: they are shown what is there.
	Seen *hostfiles.Seen
	// Pages: checkpoints are pages, where that is possible, and the node goes back to them in
	// place; else they are forks.
	Pages bool
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
	paging  paging
	step    step
	reads   *clockReads // nil: they are not noted
	// debugging is who decides how threads go on; nil: nobody.
	debugging *debugging
	// watching sees what each call brings about; nil: nobody does.
	watching func(*inspect.Effect) error
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
	outages   []string // cfg.Faults.Within as alternatives
	joins     bool     // commands may be started when none of its processes lives
}

// step is what one Apply accumulates besides the kernel's own lists. A part of the node that keeps
// values of its own in it has a type for them beside that part.
type step struct {
	effort
	pace
	scheduling
	asking
	learnt
	fate

	course ariadne.Course
	// readPlaces is how many reads of the clock were places.
	readPlaces int

	stream stream
	trace  []ariadne.CallRecord
	memory memoryHash

	unreplayable bool
	diverged     string
	cut          string
	cutAt        *ariadne.CodePoint // where, if it had computed for too long
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
		*err = fmt.Errorf("node %s: %w", n.cfg.Name, n.explainKilled(e.error, threads))
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

// fireDue expires every timer due at time at, in order.
func (n *Node) fireDue(at ariadne.Time) {
	for t := n.k.NextTimer(true); t != nil && t.When <= at; t = n.k.NextTimer(true) {
		if !t.Silent {
			n.step.disturb()
		}
		n.k.FireTimer(t)
	}
}

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

func callName(nr int) string { return sys.Name(nr) }

// requeue puts a thread that could go on at the end of the run queue.
func (n *Node) requeue(th *thread) {
	th.k.State = kernel.Runnable
	n.k.MakeLast(th.k)
}

// find is a thread that lives and of which f is true, or nil.
func (n *Node) find(f func(*kernel.Thread) bool) *thread {
	for k, th := range n.threads {
		if k.State != kernel.Dead && f(k) {
			return th
		}
	}
	return nil
}
