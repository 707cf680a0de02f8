// Package ariadne has the types that all parts share: nodes, virtual time, messages, inputs and
// outputs, actions, steps, digests. They have no behaviour except printing and a canonical encoding
// (encode.go). They know nothing of Linux.
//
// The main idea (docs/internals/architecture.md) is that a node is a function:
//
//	(local state, input) -> (local state, outputs)
//
// Automaton is that function. Package internal/machine/node implements it with real processes.
// Tests implement it with a few lines of Go.
//
// Read next: internal/explore/world (which events can happen), then internal/machine/node.
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

// String returns t in seconds with six digits, as log lines and timelines show it.
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

// Digest is the SHA-256 of the canonical encoding of a value, which it names.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:8]) }

// MarshalText implements encoding.TextMarshaler, with all digits of the digest.
func (d Digest) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d[:]), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
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
	// MID: a machine between the ends sent it. With RST, the other end gets one, too. With SYN,
	// that machine refuses the connection.
	MID
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
	// Expiry is no protocol. Such a message ends a connection of TCP. It goes from the sender of a
	// flow to itself, when nothing has got through for the time that the sender allows (Limit).
	// With ACK it comes from the node at the other end, which has no such connection any more, and
	// has answered a probe of keep-alive with an RST.
	Expiry Protocol = 255
	// App is no protocol either. Such a message is an event that a program of the node declares
	// (/dev/ariadne). It goes from the node to itself, arrives when it is sent, and is never lost.
	App Protocol = 254
	// Disk is no protocol either. Such a message is the end of a sync that takes time. It goes from
	// the node to itself, arrives Message.After() after it is sent, and is never lost.
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

// Own reports whether messages of the protocol go from a node to itself.
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

// Message goes from one node to another: a datagram, or a TCP segment with everything that one step
// wrote to one connection. An event of App or Disk goes from a node to itself.
type Message struct {
	From, To NodeID
	Flow     Flow
	// Group is the multicast or broadcast address of a datagram. Each receiver gets a message of
	// its own.
	Group  netip.Addr
	Seq    int // position on its Flow, from 1
	Flags  Flags
	Window int // with WND: bytes; of Disk: the duration of the sync in ns
	Data   []byte
	Sent   Time // the sender's clock
}

// After returns the time from the sending to the arrival of a message of App or Disk.
func (m *Message) After() time.Duration {
	if m.Flow.Proto != Disk {
		return 0
	}
	return time.Duration(m.Window)
}

// Limit has the times after which the sender of a TCP flow takes the connection for dead, when
// nothing gets through. 0 means the default of Data (world.Rules.GiveUp), and of Idle no limit.
type Limit struct {
	Flow Flow
	Data time.Duration // since it sent data that is not acknowledged
	Idle time.Duration // with nothing to acknowledge: since the last segment from the peer
	// With Idle: the time from that segment to the first probe, and from each probe to the next.
	First, Every time.Duration
}

// InputKind is the kind of an input.
type InputKind uint8

const (
	Start   InputKind = iota + 1 // run the node's commands
	Deliver                      // a message arrives
	Fire                         // the node's earliest timer fires
	Fault                        // the fault Input.Fault happens
)

// Input is one input of a node.
type Input struct {
	Kind InputKind
	// At is the virtual time of the input: start time, arrival time, or the
	// timer's deadline. The node's clock becomes max(its clock, At).
	At      Time
	Message *Message  // with Deliver
	Fault   NodeFault // with Fault
	// Vary has the choices that the step makes at its places. A choice at a place that the step
	// does not reach changes nothing. Output.Places shows which choices were taken.
	Vary Variation
	Draw *Draw // or nil
}

// MemoryPage is a page of memory of one of a node's processes.
type MemoryPage struct {
	Process int // which of them
	Address uint64
	Data    []byte
}

// LogLine is a line that a node wrote to standard output or standard error, or an assertion that a
// program wrote to /dev/ariadne.
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

// How describes the end, as in "exited with status 3".
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

// Refusal is a request of a program that Ariadne does not emulate.
type Refusal struct {
	// "io_uring_setup", "ioctl 0x5412", "setsockopt SOL_SOCKET 61"
	Name    string `json:"name"`
	Detail  string `json:"detail,omitempty"` // arguments of its first occurrence
	Program string `json:"program,omitempty"`
	Count   int    `json:"count"`
	// Harmless: a real kernel may give the same answer, and programs are known to handle it. The
	// run stays conclusive.
	Harmless bool `json:"harmless"`
}

// CallRecord is an emulated system call: its thread, its number, its result, and a hash of the
// program's memory that the emulation read and wrote.
type CallRecord struct {
	TID, NR int
	Result  int64
	Hash    uint64
}

// CodeLine is a place in the code of a program.
type CodeLine struct {
	Program  string `json:"program"`        // the name of the file that has the code
	Function string `json:"function"`       // "": there are no symbols
	File     string `json:"file,omitempty"` // of the source; "": there is no debug information
	Line     int    `json:"line,omitempty"`
}

// CodePoint is an instruction, and the line to which it belongs.
type CodePoint struct {
	CodeLine
	Offset uint64 `json:"offset"` // in the file that has the code
}

// Output is everything that a node does in a step. The fields of Output itself say what the step
// has done. The other fields are in three groups, by the parts that may rely on them.
type Output struct {
	Calls int // emulated system calls in this step
	// Places are the visible operations of the step at which a choice was possible, in order.
	// Nodes list them where the spec has a budget for such choices, even if it is used up.
	Places   []Place
	Messages []Message
	Logs     []LogLine
	// Exposures are the changes of the values that the node exposes. Notices are Ariadne's remarks
	// on the node. Both are in order, and neither is among Logs.
	Exposures []Shown
	Notices   []Notice
	Exits     []Exit
	Digest    Digest // of everything that the node did, and of the stream of calls (Sum)
	// Diverged, if not "", says why the step counts as endless: it did not reach quiescence within
	// the limit of calls. It does not depend on real time.
	Diverged string
	// Polling, if not "", names the calls by which the node asks again and again whether something
	// has come, without waiting. Deadline is then the time at which it asks again. Deadline is
	// Never when it has asked so often that only a message or a timer can stop it.
	Polling string
	// Unheeded: with Polling, most calls found something ready, and the node did not take it.
	Unheeded bool
	// Fatal names the request without which the node cannot continue (see Refusal), or is "".
	Fatal string
	// Refusals are the requests of programs in this step that Ariadne refused, by name and program.
	Refusals []Refusal
	// Lost lists the operations on the node's files that a loss of power has taken back. LeftOut is
	// the number of possible images of the disk that no choice offered.
	Lost    []string
	LeftOut int

	Left
	Noted
	Passing
}

// Left is the part of an output that describes the node after the step. The name of a local state
// by content covers all of it and nothing else.
type Left struct {
	Clock    Time   // the node's clock at the end of the step
	Deadline Time   // its earliest pending timer, or Never
	Timer    string // a stable name of that timer: "epoll_wait/3"
	// Calm is not 0 when all timers are internal ones of a language's runtime. If the node does
	// nothing else until that time, these timers will cause nothing more.
	Calm Time
	// Done: no process is left, so the node waits for nothing.
	Done bool
	// Ended: its commands have ended. Processes that they started may still run.
	Ended bool
	// Spared: no fault may hit the node, until a later step says otherwise.
	Spared bool
	// Content, when it is not zero, is a digest of everything that is left of the node. Two nodes
	// with the same Left are then in the same state, whichever inputs have led there. A machine
	// that is down, and has only its disk, has a Content.
	Content Digest
	// Limits, when not nil, are the limits of the node's connections from now on, by flow. Nodes
	// list them where the spec has a budget for partitions.
	Limits *[]Limit
	// Processes, when not nil, are the names of the processes that faults may kill one by one.
	Processes *[]string
	// Down, when it is not Up, says how a fault has taken the node down in this step. A Start at
	// time Back runs its commands again (Never: it stays down). A node that is Paused continues at
	// Back, which its clock has passed.
	Down Down
	Back Time
	// Ready: at the end of the step the node is ready for the nodes that wait for it. Later steps
	// need not repeat this.
	Ready bool
}

// Noted is the part of an output that is recorded with a step and not compared. It does not depend
// on the node's state and input alone, or it is there on demand. It is remembered and encoded. The
// digest does not cover it, so two executions of the step may differ in it.
type Noted struct {
	// CallTrace is the stream of calls that Digest covers, or nil when nobody asked the automaton
	// to record it. It shows the first call in which two executions differ.
	CallTrace []CallRecord
	// Unreplayable: the step may go differently the next time. A thread that made no call for long
	// was preempted, or the step was cut off (Cut), or the node reached its state by such a step.
	Unreplayable bool
	// Cut, if not "", says why the step was cut off: it took too long by real time. The node is in
	// the middle of the step, so it has no known state and takes no further input.
	Cut string
	// Files are the facts that the node has learnt of the host's files, by path. Each is listed
	// once: in the step in which the node first asked.
	Files []File
	// Unsynced: a loss of power at the end of the step would take back an operation on the
	// machine's disks. Nodes say so where the spec has a budget for such losses. They may not say
	// it of data that was stored through mappings.
	Unsynced bool
	// ReadClock: a program of the node has learnt in the step what time it is. At another time it
	// may do something else in the same state, with the same message.
	ReadClock bool
	// CutAt, with Cut, is where the thread was that had computed for too long; nil: it was cut off
	// for something else, or the place has no file.
	CutAt *CodePoint
}

// Passing is the part of an output that is only for the caller that has just given the input. It is
// not encoded, so stored outputs do not have it.
type Passing struct {
	// Disks, when it is set, are the contents of the machine's disks, which Content covers. Looks,
	// when it is not nil, are the parts that the step has read of the disks as they were when the
	// machine was last switched on.
	Disks Disks
	Looks []Look
	// Others are the outputs of the step with other alternatives at its last place. The node makes
	// them when it is asked for alternatives and they are cheaper together. They have no Others.
	Others []Output
}

// File is a fact that a node has learnt of a file of the host. The path is as nodes see it: /spec
// is the spec's directory. That a file is missing is a fact, too.
type File struct {
	Path string
	Use  FileUse
}

// FileUse says which fact of a file was learnt.
type FileUse uint8

const (
	FileRead FileUse = iota // its content: it was opened
	FileCode                // its content: its code was run, or it was copied into the node
	FileName                // whether there is a file of the name; its kind, mode and owner; the target of a link
	FileStat                // FileName, and the size and the number of links of a file
	FileList                // the names in a directory, and the kind of each
	FileKind                // FileName without mode and owner, which differ from copy to copy of a directory
)

func (u FileUse) String() string {
	return [...]string{"read", "code", "name", "stat", "list", "kind"}[u]
}

// Automaton is a node: a function from inputs to outputs, with its local state inside. An error is
// a bug or a limit of Ariadne, never a fault of the system under test.
type Automaton interface {
	Apply(Input) (Output, error)
}

// SetupError is an automaton's error when it cannot run at all: Linux permits no namespace, or a
// program cannot be started. The user has to fix that. It is no bug of Ariadne.
type SetupError struct{ Err error }

func (e *SetupError) Error() string { return e.Err.Error() }
func (e *SetupError) Unwrap() error { return e.Err }

// KilledError is an automaton's error when something outside the system killed one of its
// processes. Most often that is Linux, when memory runs out. It is neither a fault of the system
// under test nor a bug of Ariadne.
type KilledError struct{ Err error }

func (e *KilledError) Error() string { return e.Err.Error() }
func (e *KilledError) Unwrap() error { return e.Err }

// LimitError is an error at a limit of the host: of processes, open files, or room on a disk. Its
// text names the limit and says what to do. It is neither a fault of the system under test nor a
// bug of Ariadne.
type LimitError struct{ Err error }

func (e *LimitError) Error() string { return e.Err.Error() }
func (e *LimitError) Unwrap() error { return e.Err }

// ChangedError is an automaton's error when a file of the host has changed since nodes first saw
// it, and the old content was not kept. It is neither a fault of the system under test nor a bug of
// Ariadne.
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return e.Err.Error() }
func (e *ChangedError) Unwrap() error { return e.Err }

// ErrInterrupted is an automaton's error when the user has interrupted the command in the middle of
// a step.
var ErrInterrupted = errors.New("interrupted")

// ActionKind is a kind of action that the explorer can choose.
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
	What string // of faults with a choice: the choice, such as the length
	Vary Variation
}

// Step is an applied action with its output.
type Step struct {
	Index  int    // from 1
	Action Action // of NoNode when it happened to the network
	Name   string // the action's stable name
	At     Time   // virtual time of the input
	Output Output
}

// NoNode is the node of a violation that concerns all nodes, and of a step that belongs to no node.
const NoNode = NodeID(-1)

// Violation is misbehaviour of the system under test: a value, never an error.
type Violation struct {
	Kind    string `json:"kind"` // "death", "divergence", "deadlock", "sanitizer", ...
	Node    NodeID `json:"node"` // or NoNode
	Step    int    `json:"step"` // index of the step that showed it
	At      Time   `json:"at_ns"`
	Message string `json:"message"` // one line, without the node's name
}
