// Package spec reads and validates the description of a system: which programs
// make it up, in which directories, what may fail, how long to run. It starts
// nothing and looks at the host only to see that programs and directories are
// there. Unknown fields, missing programs and bad directories are errors of one
// line each that name file, line and node.
//
// A spec is YAML (fields.go has one row per field) or MODIST's form of three
// columns (columns.go). Both become the same Spec.
//
// Read next: internal/system, which turns a Spec into a world.
package spec

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Spec is a validated system description.
type Spec struct {
	Path string // of the file, as given
	Dir  string // absolute directory of the file; nodes see it, read-only, as /spec
	// over the file's bytes but for sections that change nothing of what the system does: explore
	// and properties
	Digest ariadne.Digest
	// Hidden are absolute paths below Dir that nodes find in no directory. They are not
	// in the file: whoever writes there enters them.
	Hidden []string
	// Notes are what is to be known of what somebody asked for besides the file, one line each.
	Notes []string
	// Listings, when there are any, hold what nodes find in directories below Dir.
	Listings *Listings

	Name  string
	Nodes []Node
	Seed  uint64    // of random bytes, clock offsets and random walks
	Date  time.Time // of the real-time clocks at virtual time 0
	// model that programs are told of (internal/machine/processor); "": the real one
	Processor  string
	Latency    time.Duration // of every message; default 1 ms
	ClockError time.Duration // E: timers due within E of the earliest may fire in any order
	// budget: how many messages may be delayed past a timer in one execution; default 3
	Delays int
	// faults of less than a second end at full seconds, as in traces of old
	Coarse bool
	// how much later than it should a delayed message arrives; 0: as late as may be
	MaxDelay time.Duration
	// budgets: how many faults of a kind there may be in one execution; default none
	Faults  world.Faults
	AfterOf map[ariadne.ActionKind]ariadne.NodeID
	// what a line is like that comes before faults of a kind (world.Rules)
	After   [world.MaxKinds]*regexp.Regexp
	Where   [world.MaxKinds]world.Ends    // of the messages that faults of a kind hit
	Fail    Fail                          // which calls fail, when there is a budget for it
	Preempt Preempt                       // whose threads are late, likewise
	Stall   Stall                         // which syncs take time, likewise
	Outages [ariadne.PowerLost + 1]Outage // which nodes go down, by what, likewise
	Power   Power                         // what a loss of power leaves, likewise
	// which nodes faults of a kind hit, and which faults, likewise
	OnNodes [world.MaxKinds]OnNodes
	Kill    Kill // which processes are killed alone, likewise
	// which part of the network faults of a kind hit, likewise
	Network    [world.MaxKinds]Network
	Limits     Limits
	EndsByTime bool // the limit on time is how executions are meant to end
	Properties Properties
	Probes     []Probe // functions by which nodes expose something
	Looks      []Look  // files and commands, likewise
	Growth     *Growth // nil: nobody asks whether processes take more and more
	Serves     bool    // nodes expose at which ports they serve (Serving, Served)
	Explore    Explore
	Watch      Watch
}

// Limits end an execution.
type Limits struct {
	Steps int           // actions in one execution; default 10000
	Time  time.Duration // virtual time; default 60 s
	// processor time that one step may take, besides some for each call; default 10 s
	Divergence time.Duration
	Finally    time.Duration // real time that Properties.Finally may take; default 60 s
	Calls      int           // system calls in one step without getting on; default 2,000,000
}

// Node is one machine of the system.
type Node struct {
	ID       ariadne.NodeID
	Name     string
	Line     int // in the file, for messages
	Commands []Command
	Restart  []Command // what it runs when it starts again after a fault; nil: Commands
	// AfterCrash is what it runs before that, one after the other. None of them may fail.
	AfterCrash []Command
	// absolute template of its working directory, or "" for an empty one
	Dir string
	// paths below Dir of the spec that its commands name: links at the same place in /node
	Links []string
	// absolute paths, as the node sees them, that it may write too (each a private copy)
	Writable  []string
	Env       map[string]string // besides PATH, HOME, LANG=C.UTF-8, TZ=UTC, LSAN_OPTIONS
	Stdin     string            // bytes of standard input
	StdinOpen bool              // standard input never ends (default: /dev/null)
	// directories below /run that are its user's, each behind those that it lies in
	Run         []string
	User, Group int           // inside the node; default 0
	Login       string        // the user as the spec names it; "": by number
	MayFail     bool          // its death is no violation
	Client      bool          // when all clients have ended, so has the execution
	CPUs        int           // processors it sees; default 1
	Addrs       []netip.Addr  // default 10.0.0.(index+1)
	Disk        int64         // bytes that its own files may hold; 0: the default
	Memory      int64         // bytes that it has; 0: the default
	ClockOffset time.Duration // by how much its real-time clock is wrong at first
	// by how much its clocks run fast, in parts per million; slow when negative
	ClockDrift int
	Start      time.Duration    // virtual time at which it is switched on; default 0
	After      []ariadne.NodeID // those that must be ready before that
	Ready      Ready            // when it is ready for those that wait for it
}

// Ready is when a node is ready: at the end of the first step in which a program of it takes
// connections, or datagrams, at a port, or has written a line. Both zero: nobody has said.
type Ready struct {
	Port uint16
	Line *regexp.Regexp
}

// Said reports whether the spec says when.
func (r *Ready) Said() bool { return r.Port != 0 || r.Line != nil }

func (r Ready) String() string {
	if r.Line != nil {
		return fmt.Sprintf("line %q", r.Line)
	}
	return fmt.Sprintf("port %d", r.Port)
}

// Programs are all that the node may run: its commands, and behind them those of Restart and
// AfterCrash. In this order commands have their numbers.
func (n *Node) Programs() []Command { return slices.Concat(n.Commands, n.Restart, n.AfterCrash) }

// Command is one program that a node starts, with its arguments. The programs of a node
// start together, in order.
type Command struct {
	Args []string // Args[0] is resolved: absolute, or below /spec
	Line int
	Name string // what messages call it; "": by Args
}

// MaxNodes is how many nodes a spec may have: one default IPv4 address each.
const MaxNodes = 250

// MaxDelay is how late a message may be in a spec that does not say. TCP sends the first segment of
// a connection again after 1, 2 and 4 s (RFC 6298, tcp_syn_retries of Linux): when three are lost
// in a row it is 7 s late. On an open connection of little latency that is five in a row (0.2 s,
// doubled each time).
const MaxDelay = 7 * time.Second

// DefaultDate is the date of a spec that gives none.
var DefaultDate = time.Date(2023, time.November, 14, 22, 13, 20, 0, time.UTC)

func defaults() Spec {
	return Spec{
		Date:    DefaultDate,
		Latency: time.Millisecond,
		Delays:  3, MaxDelay: MaxDelay,
		Power: DefaultPower,
		Limits: Limits{
			Steps:      10_000,
			Time:       60 * time.Second,
			Divergence: 10 * time.Second,
			Finally:    time.Minute,
			Calls:      2_000_000,
		},
	}
}
