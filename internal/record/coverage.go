package record

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Coverage is what a search has seen and done. For programs it is CoverageFields.
type Coverage struct {
	Strategy string
	coverage.Sample
	LocalStates []int // by node
	Bounded     int   // states in which the bounds left less than the rules
	// Equality is that of states; "": by their history.
	Equality string
	// Cycles counts how often a path came back to a state in which it was before; CutOff
	// the states in which a limit of steps or time cut paths off, where that matters
	// (search.Coverage).
	Cycles int
	CutOff int
	// Exhausted: all paths within the bounds were explored, with each event at the time at which it
	// happens by the rules. ReadClock are the nodes that could have noticed another time: they have
	// read the clock in steps of which nobody knows the outcome at other times. TriedClock are
	// those that have read it in steps of which the outcome is known at some other times.
	Exhausted  bool
	ReadClock  []string
	TriedClock []string
	// TookTurns are the nodes with several threads of which another one could go first somewhere.
	// Between such places the work of a thread stayed in one piece. AtLocks are those of them of
	// which entries of lock functions are such places.
	TookTurns, AtLocks []string
	// Probing counts what was tried at other times.
	Probing space.Probing
	// StatesDigest stands for the set of global states that were seen.
	StatesDigest string
	Missed       string // what the strategy left out, when it has come to its end
	// Full: there was no memory to count all; the numbers are lower bounds.
	Full bool
	// Earlier is how many executions ended before the check was resumed of which
	// nothing is counted here, because what they had seen was lost; Lost says how.
	Earlier int
	Lost    string
	// Record is the record of coverage.seen up to which this was seen; 0: none.
	Record int
	// Again: a check that goes on with this one walks all of it again.
	Again bool
	// Known counts the paths that came to known states and went no further, Given those
	// that the strategy gave up; neither are executions.
	Known int
	Given int
	// Merged counts how often a new state counted as known, by the user's word alone.
	Merged int
	// RulesAudited counts what of the user's rules was looked at.
	RulesAudited int
	// Under is what the user has said and the result rests on, one line each.
	Under []string
	// Assertions are what programs want to be shown once, and whether it was.
	Assertions property.Assertions
	// Faults say how much faults were tried, of the kinds for which there is a budget.
	Faults []Faults
	// Strategies say what each of the strategies brought among which the work was divided, by name.
	Strategies []strategy.Tally
	// Kinds are the kinds of what nodes have done: lines, messages, calls and exits, numbers left
	// out. Disks are what machines left that stopped or lost power. Both are of the part since the
	// check was last resumed.
	Kinds Sightings
	Disks Sightings
	// Liveness says how it looked for what must happen; nil: nothing must.
	Liveness *Liveness
	Memo     memo.Counters
	Nodes    memo.Counts
}

// Faults say how much faults of a kind were tried.
type Faults struct {
	Kind   string
	Budget int    // how many there may be in one execution
	After  string // what a line must look like that comes before
	search.Faults
	// By says what they hit and when, by node and with the network last, where it was anything.
	By []Struck
	// Spared are the nodes that one could have hit and none did.
	Spared []string
}

// Struck is how often faults of a kind hit a node.
type Struck struct {
	Node   string // "": the network
	Phases [search.NumPhases]int
}

// Sum is how often in all phases.
func (s *Struck) Sum() (n int) {
	for _, m := range s.Phases {
		n += m
	}
	return n
}

// Sightings are how many different things of a kind were seen.
type Sightings struct {
	Seen int  `json:"seen"`
	Late int  `json:"late"` // of these, in the last tenth of the time
	Full bool `json:"full,omitempty"`
}

// NewFaults are those of the kinds for which the spec has a budget, none tried yet.
func NewFaults(s *spec.Spec) (all []Faults) {
	for _, k := range world.Kinds() {
		if n := s.Faults[k]; n > 0 {
			f := Faults{Kind: world.KindOf(k).Name, Budget: int(n)}
			if after := s.After[k]; after != nil {
				f.After = after.String()
			}
			all = append(all, f)
		}
	}
	return all
}

// Unshown notes what programs want to be shown once and was not.
func (r *Report) Unshown() {
	if r.Coverage == nil || r.Coverage.Earlier > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Coverage.Assertions)) {
		if !r.Coverage.Assertions[name] {
			r.Note("never shown: " + name)
		}
	}
}

// untried is how a note begins on a kind of fault that was not tried.
const untried = "no fault of this kind was tried: "

// Untried notes the kinds of faults for which there is a budget and that were not tried, unless
// it is not known whether they were before the check was resumed.
func (r *Report) Untried() {
	c := r.Coverage
	if c == nil || c.Earlier > 0 {
		return
	}
	for i := range c.Faults {
		f := &c.Faults[i]
		switch {
		case f.Taken > 0:
		case f.Offered == 0 && f.After != "" && f.Said == 0:
			r.Note(fmt.Sprintf("%s%s: no line matched its after: %q", untried, f.Kind, f.After))
		case f.Offered == 0:
			r.Note(fmt.Sprintf("%s%s: none was possible in these executions", untried, f.Kind))
		default:
			r.Note(fmt.Sprintf("%s%s: the search did not reach a step at which one could happen", untried, f.Kind))
		}
	}
}
