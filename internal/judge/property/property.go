// Package property watches an execution and says when the target has
// misbehaved: one file per kind of check. A check sees steps and how the
// execution ended, never the world, and finds values, never errors.
//
// Invariants: a check's verdict is a function of the steps that it was shown, so a replay comes to
// the same verdict. Its verdict on a step depends on this step alone. Its verdict on the end
// depends on the steps of each node, and not on the order of steps of different nodes. For a node
// that was down, only the steps since then count. Searches in memory rely on that: they show each
// transition once, and do not go on from a state that another path has reached (its nodes have done
// the same, or what is left of them is the same: ariadne.Output.Content). A check that looks at the
// order of events of different nodes would have to be a part of the state, as the automaton of a
// temporal property is in SPIN.
//
// Read next: death.go; internal/explore/search, which shows them the steps.
package property

import (
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Check watches one execution, from its first step.
type Check interface {
	// Step looks at the next step.
	Step(*ariadne.Step) *ariadne.Violation
	// End looks at how the execution ended, when no step was a violation.
	End(End) *ariadne.Violation
}

// End is how an execution ended.
type End struct {
	Quiet bool // nothing can ever happen again
	Step  int  // index of the last step
	At    ariadne.Time
}

// Subject is what checks know of a node.
type Subject struct {
	Name     string
	Commands []string // as the spec has them
	// Checkers are the last so many of Commands: they look at what a fault has left, and may not
	// fail.
	Checkers int
	MayFail  bool
	Client   bool
}

// Generic returns the checks that every system gets, for one execution.
func Generic(nodes []Subject) []Check {
	return []Check{&Death{Nodes: nodes}, &Divergence{Nodes: nodes}, &Deadlock{Nodes: nodes}, Assertion{}, Sanitizer{}}
}

var numbers = regexp.MustCompile(`[0-9]+`)

// Masked is what of a violation's message others that count as the same have as well: all but its
// numbers, and of a property the name.
func Masked(kind, message string) string {
	if kind == Kind || IsLiveness(kind) {
		message, _, _ = strings.Cut(message, ": ")
	}
	return numbers.ReplaceAllString(message, "0")
}
