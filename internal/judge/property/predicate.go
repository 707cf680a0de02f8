package property

import "time"

// Predicate is something that must hold in global states, of what the nodes expose in them: an
// expression in Starlark, in which names are those of what is exposed (internal/judge).
type Predicate struct {
	Name string
	Form Form
	Expr string
	// Number, when not nil: Expr is a number that must be within bounds in every state. Form is
	// Always.
	Number *Number
	// Window is how many earlier snapshots Expr sees.
	Window int
	// Subsets is the name of the tuples that it is about, if what holds of all of them holds of
	// each subset, by keys; else "".
	Subsets string
	Line    int // of the spec
}

// Kind is that of the violation of a property. The message begins with its name.
const Kind = "property"

// Final is the kind of the violation that a command finds in what the nodes of an ended execution
// leave (space.Final).
const Final = "finally"

// Form says when a predicate must be true.
type Form uint8

// The forms of predicates.
const (
	Always  Form = iota // in every state
	Never               // in none: it must be false
	Finally             // when an execution ends by itself
)

// Forms are their names.
var Forms = []string{"always", "never", "finally"}

// OwnNames are what expressions read that no node exposes: nothing that nodes expose is called so.
var OwnNames = []string{"clocks", "earlier", "messages", "nodes", "pending", "timers", "up"}

// Goal is something that must happen (a liveness property): what must be true again and again, or
// once something else was.
type Goal struct {
	Name string
	// an expression like those of predicates: what it follows from; "": Expr must always become
	// true again
	When string
	Expr string // what must become true
	// Within is the virtual time by which it must, without further faults; 0: some time.
	Within time.Duration
	// StableFor is for how long it must then stay true.
	StableFor time.Duration
	Line      int // of the spec
}

// The kinds of violations of goals.
const (
	// Dead: what must happen can happen no more, or has not happened in time.
	Dead = "liveness"
	// Suspected: it has not happened for so long that it most likely never will.
	Suspected = "suspected liveness"
)

// IsLiveness reports whether a kind is one of these.
func IsLiveness(kind string) bool { return kind == Dead || kind == Suspected }

// MaxWindow is how many earlier snapshots a property sees at most.
const MaxWindow = 64

// MaxGoals is how many a system has at most.
const MaxGoals = 64
