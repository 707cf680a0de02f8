// Package config says what one machine is to be, in the machine's own terms: its programs and their
// surroundings, its clocks, what is looked at in it, and at which places of a step something else
// may happen.
//
// It knows nothing of specs, budgets or searches. A Machine does not change once a node is made of
// it, so any number of nodes may share one.
//
// Read next: internal/system/machines, which builds it from a spec; internal/machine/node.
package config

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// Machine is what one machine is to be.
type Machine struct {
	ID   ariadne.NodeID
	Name string
	// Seed is that of its random bytes and clock offsets.
	Seed uint64
	// Hosts are the names of all machines, its own among them, with their addresses.
	Hosts []Host
	Addrs []netip.Addr

	Date        time.Time     // of its real-time clock at virtual time 0, but for ClockOffset
	ClockOffset time.Duration // by how much that is wrong when it is first switched on
	// by how much its clocks run fast, in parts per million; slow when negative
	ClockDrift int
	Coarse     bool // it comes back at a full second from faults of less than one, too

	// model that programs are told of (internal/machine/processor); "": the real one
	Processor string
	CPUs      int   // 0: 1
	Memory    int64 // bytes; 0: the default
	Disk      int64 // bytes that its own files may hold; 0: the default

	Commands   []Command
	Restart    []Command // what it runs when it is switched on again; nil: Commands
	AfterCrash []Command // what it runs before that, one after the other
	Path       string    // the programs' PATH, unless Env has another
	Env        map[string]string
	Stdin      string // bytes of standard input
	StdinOpen  bool   // standard input never ends
	User       int
	Group      int

	SpecDir  string   // directory of the host that programs see, read-only, as /spec
	Beside   Beside   // what they find in it
	WorkDir  string   // directory of the host of which /node is a copy at first, or ""
	Links    []string // paths below SpecDir to which there are links at the same place in /node
	Writable []string // absolute paths that it may write too
	// directories below /run that are its user's, each behind those that it lies in
	Run []string

	Limits Limits
	Ready  Ready
	Faults Faults

	Probes []Probe // functions and variables by which it exposes something
	Looks  []Look  // files and commands, likewise
	Growth *Growth // bounds of what its processes take; nil: it does not look
	// the names by which it exposes at which ports it takes connections; nil: it does not
	Serves []string
	// Stays reports whether something of what it has told (Logs and Exposures) outlives its going
	// down. nil: nothing does.
	Stays func(told *ariadne.Output) bool
}

// Host is a machine's name and its addresses.
type Host struct {
	Name  string
	Addrs []netip.Addr
}

// Command is a program, absolute or below /spec, with its arguments.
type Command struct{ Args []string }

// Programs are all that the machine may run: Commands, and behind them those of Restart and
// AfterCrash. In this order commands have their numbers.
func (m *Machine) Programs() []Command { return slices.Concat(m.Commands, m.Restart, m.AfterCrash) }

// Beside is what programs find in directories of the host that lie beside the spec.
type Beside interface {
	// Shown returns which names they find in a directory when they list it. A reader of the
	// directory calls it before.
	Shown(dir string) func(name string) bool
	// Copied returns which names a copy of a directory has.
	Copied(dir string) func(name string) bool
	// Hides reports whether no listing has a path, or a directory that it lies in.
	Hides(host string) bool
}

// Limits end a step.
type Limits struct {
	Divergence time.Duration // processor time that it may take, besides some for each call
	Calls      int           // system calls without getting on
}

// Faults say at which places of a step something else may happen, and what.
type Faults struct {
	// After says what the machine must have written before something of a kind happens, by the
	// kind's number, which is its bit in kernel.Node.Said.
	After []After

	Fail  Fail  // calls that fail
	Late  bool  // threads may be late
	Stall Stall // syncs that take time
	// Within are the faults that may hit the machine within a step, in the order of its
	// alternatives.
	Within []ariadne.NodeFault
	// PausesAtReads: it may also be paused where a program reads the clock.
	PausesAtReads bool
	Falls         bool // it may go down or be paused, within a step or between two
	LosesPower    bool
	Power         Power
	Kill          Kill
	// Parted: the network may be parted, or others go down, so it tells how long its connections
	// let nothing get through.
	Parted bool
}

// After is what a line is like that comes before something of a kind. nil: nothing need come, or
// another machine has to write it.
type After struct {
	Kind string
	Line *regexp.Regexp
}

// Fail says which calls may fail.
type Fail struct {
	// Errors are the names of the errors that each call may fail with, by its name; nil: no call
	// fails.
	Errors map[string][]string
	// Functions are the values with which functions return without having done anything, by symbol.
	Functions map[string]int64
	Paths     []string     // patterns of files; nil: any
	Peers     []netip.Addr // of whose connections calls may fail; nil: all calls
	Programs  []string     // names of files of which processes' calls fail; nil: all
	Sites     bool         // places have where in the program the call is made in their names
}

// On reports whether calls may fail on a file, or on what has no path: "".
func (f *Fail) On(file string) bool { return matches(f.Paths, file) }

// Stall says which syncs may take time.
type Stall struct {
	For   []time.Duration // how long; nil: none does
	Paths []string        // patterns of files; nil: any
}

// On reports whether syncs of a file may take time, or with "" what syncs all.
func (s *Stall) On(file string) bool { return file == "" || matches(s.Paths, file) }

// matches reports whether a file's path is one of some patterns, of which nil are all. A pattern
// without a slash is compared with the last part of the path.
func matches(patterns []string, file string) bool {
	if patterns == nil {
		return true
	}
	return strings.HasPrefix(file, "/") && slices.ContainsFunc(patterns, func(p string) bool {
		name := file
		if !strings.Contains(p, "/") {
			name = path.Base(file)
		}
		ok, _ := path.Match(p, name)
		return ok
	})
}

// Ready is when the machine is ready for others that wait for it: a program takes connections or
// datagrams at a port, or has written a line. Both zero: none waits.
type Ready struct {
	Port uint16
	Line *regexp.Regexp
}

// Power says what a loss of power leaves of what was not synced.
type Power struct {
	Model  disk.Model
	Images int  // of one loss and model, at most
	Alone  bool // disk.Choice.Alone
}

// Kill says which processes may be killed alone.
type Kill struct {
	May      bool
	Programs []string      // patterns of their names, with the number or without; nil: all
	Between  bool          // only between two steps
	Restart  time.Duration // after which a command that was killed is run again; 0: never
}

// Of reports whether a process may be killed, by its name, as in server#2.
func (k *Kill) Of(name string) bool {
	program := name[:strings.LastIndexByte(name, '#')]
	return k.Programs == nil || slices.ContainsFunc(k.Programs, func(pattern string) bool {
		with, _ := path.Match(pattern, name)
		without, _ := path.Match(pattern, program)
		return with || without
	})
}

// Probe is a function or a variable by which the machine exposes a tuple.
type Probe struct {
	Name     string
	Function string
	Variable string   // in its place
	Values   []string // expressions of its parameters, or of it
	Returns  bool     // it exposes when it returns, and not when it is called
	Ends     bool     // it ends the tuple whose key is Values, or, without these, all of the name
	Ignored  bool     // it counts at other machines alone
}

// What names it.
func (p *Probe) What() string {
	if p.Variable != "" {
		return "variable " + p.Variable
	}
	return "function " + p.Function
}

// Look is a file that the machine exposes, or what a command says in a copy of it.
type Look struct {
	Name    string
	File    string         // relative to where its programs start, or absolute
	Command *Command       // in its place
	Match   *regexp.Regexp // of its content, or of what the command writes; nil: all of it
	Ignored bool           // it counts at other machines alone
}

// What names it.
func (l *Look) What() string {
	if l.Command != nil {
		return "command " + strings.Join(l.Command.Args, " ")
	}
	return "file " + l.File
}

// Asks reports whether commands are run in copies of the machine.
func (m *Machine) Asks() bool {
	return slices.ContainsFunc(m.Looks, func(l Look) bool { return l.Command != nil && !l.Ignored })
}

// Growth are bounds of what one process has. 0: none.
type Growth struct {
	Descriptors int
	Memory      int64 // bytes
}
