// Package ariadne holds the nouns that every part shares: nodes, virtual time,
// messages, inputs and outputs, actions, steps, digests. Types only: no behaviour
// beyond printing and their canonical encoding (encode.go), nothing of Linux.
//
// The one idea (docs/internals/architecture.md): a node is a function
//
//	(local state, input) -> (local state, outputs)
//
// Automaton is that function. internal/machine/node implements it with real processes;
// tests implement it with a few lines of Go.
//
// Read next: internal/explore/world (what may happen next), then internal/machine/node.
package ariadne

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// NodeID is a node's index in the order of the spec, from 0.
type NodeID int

// Time is virtual time in nanoseconds since the start of the execution.
type Time int64

// Never is later than every other time: the deadline of a node without timers.
const Never = Time(1<<63 - 1)

// Seconds formats t with microseconds, as log prefixes and timelines show it.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return fmt.Sprintf("%d.%06ds", int64(t)/1e9, int64(t)%1e9/1e3)
}

// Add returns t+d, saturating at Never.
func (t Time) Add(d time.Duration) Time {
	if s := t + Time(d); s >= t || d < 0 {
		return s
	}
	return Never
}

// Digest is a SHA-256 over a canonical encoding of what it names.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:8]) }

// MarshalText and UnmarshalText are for JSON, with all of the digest.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

func (d *Digest) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(d) {
		return fmt.Errorf("want %d hexadecimal digits of a digest, not %d", hex.EncodedLen(len(d)), len(b))
	}
	_, err := hex.Decode(d[:], b)
	return err
}

// Flags of a message that is a TCP segment.
type Flags uint8

const (
	SYN Flags = 1 << iota // opens a connection
	ACK                   // with SYN: accepts it; alone: completes the handshake
	FIN                   // no more data from the sender
	RST                   // refuses or aborts the connection
	WND                   // the receiver has room again (Message.Window bytes more)
	MID                   // with RST: it comes from between the ends, and the other one gets one too; with SYN: what is between the ends refuses it
)

func (f Flags) String() string {
	s := ""
	for i, n := range [...]string{"SYN", "ACK", "FIN", "RST", "WND", "MID"} {
		if f&(1<<i) != 0 {
			if s != "" {
				s += "+"
			}
			s += n
		}
	}
	return s
}

// Protocol of a flow.
type Protocol uint8

const (
	TCP Protocol = 6
	UDP Protocol = 17
	// Expiry is no protocol. A message of it is the network's word to the sender of a TCP flow
	// that nothing has got through for as long as that lets it (Limit), from and to that node: the
	// connection has ended. With ACK it is from the other end's node: that has no such
	// connection any more, and has answered a probe of keep-alive with an RST.
	Expiry Protocol = 255
	// App is no protocol either. A message of it is an event that a program of the node tells of
	// (/dev/ariadne). It is from and to that node, arrives when it was sent, and never gets lost.
	App Protocol = 254
	// Disk is no protocol either. A message of it is the end of a sync of the node's that takes
	// time. It is from and to that node, arrives Message.After() later than it was sent, and never
	// gets lost.
	Disk Protocol = 253
)

func (p Protocol) String() string {
	switch p {
	case UDP:
		return "udp"
	case Expiry:
		return "expiry"
	case App:
		return "event"
	case Disk:
		return "disk"
	}
	return "tcp"
}

// Own reports whether messages of it are from a node to itself.
func (p Protocol) Own() bool { return p == App || p == Disk }

// Flow is one direction of a connection, or the datagrams from one address to
// another. Ports are assigned in a fixed order by each node, so a Flow means
// the same in every execution that reaches it by the same local history.
type Flow struct {
	Proto    Protocol
	Src, Dst netip.AddrPort
	// Epoch counts earlier connections of the sender with the same addresses.
	Epoch int
}

// OwnFlow is the flow of the events of a node's programs (App), or of its slow syncs (Disk). addr
// is the node's first address, or the zero Addr; epoch counts how often the machine was switched on
// before.
func OwnFlow(p Protocol, addr netip.Addr, epoch int) Flow {
	a := netip.AddrPortFrom(addr, 0)
	return Flow{Proto: p, Src: a, Dst: a, Epoch: epoch}
}

// Message is what crosses between two nodes: a TCP segment carrying all that
// one step wrote to one connection, or a datagram. Or it is an event of the node's own (App, Disk).
type Message struct {
	From, To NodeID
	Flow     Flow
	// the multicast or broadcast address of a datagram that each receiver gets for itself
	Group  netip.Addr
	Seq    int // position on its Flow, from 1
	Flags  Flags
	Window int // bytes; with WND. Of Disk: how long the sync takes, in ns
	Data   []byte
	Sent   Time // the sender's clock
}

// After is how much later than it was sent a message to the node itself arrives.
func (m *Message) After() time.Duration {
	if m.Flow.Proto != Disk {
		return 0
	}
	return time.Duration(m.Window)
}

// Limit is how long the sender of a TCP flow lets nothing get through before it takes the
// connection for dead. 0: what all do (world.Rules.GiveUp), and for ever.
type Limit struct {
	Flow Flow
	Data time.Duration // from when it sends what is not acknowledged
	Idle time.Duration // with nothing to acknowledge, from when it has heard of the peer last
	// With Idle: from then to its first probe, and from each probe to the next.
	First, Every time.Duration
}

// InputKind says what a node is given.
type InputKind uint8

const (
	Start   InputKind = iota + 1 // run the node's commands
	Deliver                      // a message arrives
	Fire                         // the node's earliest timer fires
	Fault                        // what Input.Fault says
)

// Input is one input of a node.
type Input struct {
	Kind InputKind
	// At is the virtual time of the input: start time, arrival time, or the
	// timer's deadline. The node's clock becomes max(its clock, At).
	At      Time
	Message *Message  // with Deliver
	Fault   NodeFault // with Fault
	// Vary is what is to be different in the step. The node comes to the places one after the
	// other; those that it does not come to change nothing, which Output.Places shows.
	Vary Variation
	Draw *Draw // or nil
}

// LogLine is one line that a node wrote to standard output or standard error, or by which a program
// asserts something on /dev/ariadne.
type LogLine struct {
	At     Time
	Stream int // 1 standard output, 2 standard error, Exposed
	PID    int // virtual process that wrote it
	Text   string
}

// Exit is the end of one of the node's processes that the spec started.
type Exit struct {
	At      Time `json:"at_ns"`
	Command int  `json:"command"` // index of the command in the node's spec
	Status  int  `json:"status"`  // exit status, or -1 when a signal killed it
	Signal  int  `json:"signal"`  // signal number, or 0
}

// How says how it ended, as in "exited with status 3".
func (e Exit) How() string {
	if e.Signal == 0 {
		return fmt.Sprintf("exited with status %d", e.Status)
	}
	if e.Signal > 0 && e.Signal < len(signals) {
		return "was killed by " + signals[e.Signal]
	}
	return fmt.Sprintf("was killed by signal %d", e.Signal)
}

// signals are Linux's names (signal(7)).
var signals = [...]string{"", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE",
	"SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT",
	"SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH",
	"SIGIO", "SIGPWR", "SIGSYS"}

// Refusal is something Ariadne does not model that the program asked for.
type Refusal struct {
	// "io_uring_setup", "ioctl 0x5412", "setsockopt SOL_SOCKET 61"
	Name    string `json:"name"`
	Detail  string `json:"detail,omitempty"` // arguments of its first occurrence
	Program string `json:"program,omitempty"`
	Count   int    `json:"count"`
	// Harmless: the answer given is one that a real kernel may give and that
	// programs are known to handle, so the run stays conclusive.
	Harmless bool `json:"harmless"`
}

// CallRecord is one emulated system call: who made it, which, what it was
// answered, and a hash over what its emulation read and wrote of the program's
// memory.
type CallRecord struct {
	TID, NR int
	Result  int64
	Hash    uint64
}

// Output is all that a node does in one step: what it has done, which stands here, and three groups
// of fields by who may rely on them. Each field is in one of the groups or among those here.
type Output struct {
	Calls int // emulated system calls in this step
	// Places are the visible operations of the step at which something else could have
	// happened, in order. Nodes list them where the spec has a budget for such things: whether
	// any of it is left does not matter.
	Places   []Place
	Messages []Message
	Logs     []LogLine
	// Exposures are what the node exposes from some moment of the step on, and Notices what Ariadne
	// has found in it, both in order. Neither is among Logs.
	Exposures []Shown
	Notices   []Notice
	Exits     []Exit
	Digest    Digest // over all that the node did, and the stream of calls (Sum)
	// Diverged: the step did not reach quiescence within so many calls; says why. It
	// does not depend on real time.
	Diverged string
	// Polling: the node waits for nothing but asks again and again whether something
	// has come; says by which calls. Deadline is then when it asks again, or Never when
	// it has asked so often that nothing but a message or a timer will stop it.
	Polling string
	// Unheeded: with Polling, most calls found something ready that it did not take.
	Unheeded bool
	// Fatal is what the node could not go on without (see Refusal), or "".
	Fatal string
	// Refusals are what its programs asked for in this step and did not get, by
	// name and program.
	Refusals []Refusal
	// Lost says what a loss of power has taken from the node's files, operation by operation.
	// LeftOut is how many more images of the disk there could be than it was given a choice among.
	Lost    []string
	LeftOut int

	Left
	Noted
	Passing
}

// Left is what a step has left of the node. All of it is in the name of the local state that the
// node has reached, where that is by content, and nothing else is.
type Left struct {
	Clock    Time   // the node's clock at the end of the step
	Deadline Time   // its earliest pending timer, or Never
	Timer    string // what that timer is, a stable name: "epoll_wait/3"
	// Calm is not 0 when all its timers are such by which a language's runtime looks
	// after itself: the time at which, if it has done nothing else till then, nothing
	// more will come of it.
	Calm Time
	// Done: the node waits for nothing at all: no process is left.
	Done bool
	// Ended: its commands have ended. What they started may still run.
	Ended bool
	// Spared: from here on no fault is to hit the node, until it says otherwise.
	Spared bool
	// Content, when it is not zero, is over all that is left of the node: with the same clock,
	// deadline and so on it is in the same state, whichever inputs have led there. So it is with
	// a machine that is down and has nothing but its disk.
	Content Digest
	// Limits, when not nil, are those of its connections from here on, by flow. Nodes tell them
	// where the spec lets the network be parted.
	Limits *[]Limit
	// Processes, when not nil, are the names of those that faults may kill one by one, in order.
	Processes *[]string
	// Down, when it is not Up: a fault has taken the node down in this step. Its commands are
	// run again by a Start at time Back, or Never. One that was Paused goes on at Back, which its
	// clock has passed.
	Down Down
	Back Time
	// Ready: at the end of the step the node is what others may wait for before they are switched
	// on. It need not say so again.
	Ready bool
}

// Noted is what is recorded with a step and does not depend on the node's state and its input
// alone, or is there on demand. It is remembered and encoded, and the digest does not cover it: two
// executions of the step may differ in it.
type Noted struct {
	// CallTrace is the stream of calls that Digest covers; nil unless the
	// automaton was asked to record it. It is there to find the first call in
	// which two executions differ.
	CallTrace []CallRecord
	// Unreplayable: a thread that made no call for long was preempted, or the step was cut
	// off (Cut), or the node had come to its state by such a step: it may do something
	// else the next time.
	Unreplayable bool
	// Cut: the step was ended because it took too long by real time; says what was too long.
	// The node is in the midst of it, so nothing can be said of it, and it can be given
	// no further input.
	Cut string
	// Files are what the node has learnt of the host's files, by path, each told once: in
	// the step in which it first asked.
	Files []File
	// Unsynced: a loss of power at the end of the step would take something from the machine's
	// disks. Nodes say so where the spec has a budget for such losses, and may not say it of what
	// was stored through mappings.
	Unsynced bool
	// ReadClock: a program of the node has learnt in the step what time it is. At another time it
	// may do something else in the same state, with the same message.
	ReadClock bool
}

// Passing is what a node tells who has just given it the input. It is not encoded: who reads an
// output knows nothing of it.
type Passing struct {
	// Disks, when they are told, are what the machine's disks hold that Content is over, and Looks,
	// when they are not nil, are all that the step has looked at of what they held when the machine
	// was last switched on.
	Disks Disks
	Looks []Look
	// Others are what the step would have come to had it taken other alternatives at its last
	// place, when it was asked for such and they are cheaper together. They have no Others.
	Others []Output
}

// File is something that a node has learnt of a file of the host. The path is as nodes
// see it: /spec is the spec's directory. There may be no such file: that is an answer
// too.
type File struct {
	Path string
	Use  FileUse
}

// FileUse says what of a file was learnt.
type FileUse uint8

const (
	FileRead FileUse = iota // its content: it was opened
	FileCode                // its content: its code was run, or it was copied into the node
	FileName                // what the name stands for: nothing, or a file of which kind, mode and owner; where a link leads
	FileStat                // FileName, and the size and the number of links of a file
	FileList                // the names in a directory, and of which kind each is
	FileKind                // FileName without mode and owner, which differ from copy to copy of a directory
)

func (u FileUse) String() string {
	return [...]string{"read", "code", "name", "stat", "list", "kind"}[u]
}

// Automaton is a node: a function from inputs to outputs, with its local state
// inside. An error is a bug or a limit of the tool, never the target's doing.
type Automaton interface {
	Apply(Input) (Output, error)
}

// SetupError is an automaton's error when what it needs to run at all is not
// there: a namespace that may not be made, a program that cannot be started. It
// is the machine's or the user's to fix, not a bug of the tool.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// KilledError is an automaton's error when one of its processes was killed by nobody
// in the system. Most often that is Linux, for want of memory. It is neither the
// target's doing nor a bug of the tool.
type KilledError struct{ Err error }

func (e *KilledError) Error() string { return e.Err.Error() }
func (e *KilledError) Unwrap() error { return e.Err }

// LimitError is an error for want of something that the host gives no more of: processes,
// open files, room on a disk. It says which limit that is and what to do. It is
// neither the target's doing nor a bug of the tool.
type LimitError struct{ Err error }

func (e *LimitError) Error() string { return e.Err.Error() }
func (e *LimitError) Unwrap() error { return e.Err }

// ChangedError is an automaton's error when a file of the host is no longer what nodes were first
// shown, and what they were shown was not kept. It is neither the target's doing nor a bug of the
// tool.
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return e.Err.Error() }
func (e *ChangedError) Unwrap() error { return e.Err }

// ErrInterrupted is an automaton's error when the user has ended what it was part of in
// the midst of a step.
var ErrInterrupted = errors.New("interrupted")

// ActionKind is what the explorer can choose.
type ActionKind uint8

const (
	ActStart ActionKind = iota + 1
	ActDeliver
	ActFire
)

// Action is one choice of the explorer. Its String is its stable name.
type Action struct {
	Kind ActionKind
	Node NodeID
	Flow Flow   // with ActDeliver
	Seq  int    // with ActDeliver
	What string // what there is a choice of, of faults that have one: for how long
	Vary Variation
}

// Step is one applied action with what came of it.
type Step struct {
	Index  int    // from 1
	Action Action // of NoNode when it happened to the network
	Name   string // the action's stable name
	At     Time   // virtual time of the input
	Output Output
}

// NoNode is the node of a violation that concerns all of them, and of a step that is none's.
const NoNode = NodeID(-1)

// Violation is the target's misbehaviour: a value, never an error.
type Violation struct {
	Kind    string `json:"kind"` // "death", "divergence", "deadlock", "sanitizer", ...
	Node    NodeID `json:"node"` // or NoNode
	Step    int    `json:"step"` // index of the step that showed it
	At      Time   `json:"at_ns"`
	Message string `json:"message"` // one line, without the node's name
}
