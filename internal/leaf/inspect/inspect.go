// Package inspect says what can be seen of a machine between two of its steps: processes, threads
// and where they wait, registers, memory, files, sockets and timers. A caller needs to know nothing
// of how the machine is made.
//
// Invariant: to look changes nothing, neither in the machine nor in what becomes of it.
//
// Read next: internal/machine/node/inspect.go, which looks into Linux programs.
package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// Machine can be looked into. A caller may use it only during the call that gave it. Processes and
// threads have the numbers that the machine's programs see.
type Machine interface {
	// Look returns all but the contents.
	Look() (*View, error)
	// Registers are those of a thread. Where it waits in a call they are as it made the call.
	Registers(tid int) (Registers, error)
	// Mappings are what a process has in its memory, by address.
	Mappings(pid int) ([]Mapping, error)
	// ReadMemory reads a process's memory into b. It returns how much of it there is in one piece.
	ReadMemory(pid int, address uint64, b []byte) (n int, err error)
	// Auxiliary is the auxiliary vector that a process was given when its program began
	// (getauxval(3)).
	Auxiliary(pid int) ([]byte, error)
	// ReadFile reads a regular file, by the path that the machine's programs see, into b. At the
	// file's end n is less than len(b).
	ReadFile(path string, offset int64, b []byte) (n int, err error)
}

// Steppable is a Machine whose threads can be stopped within a step. Between the calls of its
// Debugger it is between two steps.
type Steppable interface {
	Machine
	// Debug lets by decide from now on how the threads of a process go on. nil: nobody decides, and
	// breakpoints are gone.
	Debug(pid int, by Debugger) error
	// SetBreakpoint has each thread of the process that is debugged stop before it executes the
	// instruction at an address.
	SetBreakpoint(address uint64) error
	ClearBreakpoint(address uint64) error
	// Process is a process without what Look says of its files. ok: there is one.
	Process(pid int) (p Process, ok bool)
	// Watch lets f see what each call brings about from now on, before the thread goes on: it still
	// stands in the call, and f may look at the machine as a Debugger may. An error ends the
	// machine's step, which is lost.
	Watch(f func(*Effect) error)
	// StepFromRead lets see look at each instruction of a process before it is executed: of the
	// process that makes the read of the clock at which the clock goes on, from there on. It does
	// so until see wants no more. The machine must note its reads.
	StepFromRead(see func(*Instruction) (more bool, err error))
}

// Instruction is one that a thread is about to execute. Its observer may change the flags, and
// where the thread goes on.
type Instruction struct {
	PID, TID      int
	IP, SP, Flags uint64
}

// Effect is what a system call of a thread has brought about.
type Effect struct {
	PID, TID int
	// Messages and Lines are indexes into those of the step's output, the first one and the one
	// behind the last.
	Messages, Lines [2]int
	// Flows are those on which the end of the step sends what the call has left to send.
	Flows []ariadne.Flow
	// Operations are those on files, in the words by which outputs name them (ariadne.Output.Lost).
	Operations []string
	// Ends: the process is about to end, by the call or by a signal that it has brought on itself.
	Ends bool
}

// Debugger decides how threads go on. It may look at the machine while it is asked, except by
// Machine.Look.
type Debugger interface {
	// GoesOn is asked each time before a thread goes on: by one instruction, or up to a breakpoint,
	// a call or its end. An error ends the machine's step, which is lost.
	GoesOn(tid int, why Arrival) (step bool, err error)
}

// Arrival says where a thread stands within a step.
type Arrival int

const (
	Begins  Arrival = iota + 1 // it goes on from a call, or for the first time
	Stepped                    // it has executed one instruction
	AtBreak                    // before an instruction that has a breakpoint
)

// View is what a machine is between two steps.
type View struct {
	Clock     ariadne.Time `json:"clock_ns"`
	Processes []Process    `json:"processes"` // by id
	Files     []File       `json:"files"`     // of its own, by path
	Timers    []Timer      `json:"timers"`    // by when they are due
}

// Process is a process of a machine.
type Process struct {
	PID     int      `json:"pid"`
	Parent  int      `json:"parent"`
	Command int      `json:"command"` // of the spec, or -1
	Exe     string   `json:"exe"`
	Args    []string `json:"args"`
	Cwd     string   `json:"cwd"`
	// Zombie: it has ended, by a signal unless that is 0, and nobody has waited for it.
	Zombie      bool         `json:"zombie,omitempty"`
	Status      int          `json:"status,omitempty"`
	Signal      int          `json:"signal,omitempty"`
	Threads     []Thread     `json:"threads,omitempty"`
	Descriptors []Descriptor `json:"descriptors,omitempty"` // by number
}

// Thread is a thread of a process.
type Thread struct {
	TID  int    `json:"tid"`
	Name string `json:"name"`
	// Call is the system call in which it waits, and Args are its arguments; "": it stands in
	// no call, and goes on with the machine's next step.
	Call string    `json:"call,omitempty"`
	Args [6]uint64 `json:"-"`
	// On says what it waits on, if that is an open file; Until is when it stops waiting, or
	// Never.
	On    string       `json:"on,omitempty"`
	Until ariadne.Time `json:"-"`
}

// Descriptor is an open descriptor of a process.
type Descriptor struct {
	FD    int    `json:"fd"`
	What  string `json:"what"`  // a path, or what /proc shows of it, with addresses
	Flags int    `json:"flags"` // of open(2)
	// Unread are the bytes that can be read from a socket or a pipe, Unsent those that a socket has
	// not sent yet.
	Unread int `json:"unread,omitempty"`
	Unsent int `json:"unsent,omitempty"`
}

// File is a name of the machine's own files.
type File struct {
	Path   string `json:"path"`
	Mode   uint32 `json:"mode"` // st_mode
	UID    uint32 `json:"uid"`
	GID    uint32 `json:"gid"`
	Size   int64  `json:"size"`             // of a regular file
	Target string `json:"target,omitempty"` // of a symbolic link
}

// Timer is a deadline that is pending.
type Timer struct {
	At ariadne.Time `json:"at_ns"`
	Of string       `json:"of"` // what it ends, in words: "thread 12", "timerfd"
	// Silent: it merely keeps a language runtime alive, and is nothing that can happen.
	Silent bool `json:"silent,omitempty"`
}

// Registers are those of a thread.
type Registers struct {
	// the general ones and segment bases, in the order of the processor's manual
	Named []Register `json:"named"`
	// Extended are the others as the processor saves them (XSAVE).
	Extended []byte `json:"extended,omitempty"`
}

// Register is one of 64 bits.
type Register struct {
	Name  string `json:"name"`
	Value uint64 `json:"value,string"` // as a text in JSON, whose numbers are less exact
}

// Of is the value of a register; not ok: there is none of this name.
func (r *Registers) Of(name string) (value uint64, ok bool) {
	for i := range r.Named {
		if r.Named[i].Name == name {
			return r.Named[i].Value, true
		}
	}
	return 0, false
}

// Mapping is a piece of a process's memory.
type Mapping struct {
	Start   uint64 `json:"start,string"`
	End     uint64 `json:"end,string"` // up to before End
	Read    bool   `json:"read"`
	Write   bool   `json:"write"`
	Execute bool   `json:"execute"`
	Shared  bool   `json:"shared"`
	Offset  uint64 `json:"offset,string"` // in the file
	// a path as the process sees it, [stack] and the like, or ""
	Name string `json:"name,omitempty"`
}

// MarshalJSON leaves out the time until which a thread waits when there is none. Arguments are
// texts, for numbers in JSON are less exact.
func (t Thread) MarshalJSON() ([]byte, error) {
	type plain Thread
	j := struct {
		plain
		Args  []string      `json:"args,omitempty"`
		Until *ariadne.Time `json:"until_ns,omitempty"`
	}{plain: plain(t)}
	if t.Until != ariadne.Never {
		j.Until = &t.Until
	}
	for i := range t.Args {
		if t.Call != "" {
			j.Args = append(j.Args, fmt.Sprintf("%#x", t.Args[i]))
		}
	}
	return json.Marshal(j)
}

// String is the thread in a line.
func (t Thread) String() string {
	text := fmt.Sprintf("%d %s: ", t.TID, t.Name)
	switch {
	case t.Call == "":
		return text + "goes on"
	case t.On != "":
		text += fmt.Sprintf("%s on %s", t.Call, t.On)
	default:
		text += fmt.Sprintf("%s(%#x, %#x, %#x)", t.Call, t.Args[0], t.Args[1], t.Args[2])
	}
	if t.Until != ariadne.Never {
		text += fmt.Sprintf(" until %v", t.Until)
	}
	return text
}
