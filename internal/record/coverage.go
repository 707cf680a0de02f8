package record

import (
	"fmt"

	"ariadne/internal/coverage"
	"ariadne/internal/memo"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/world"
)

// Coverage is what a search has seen and done.
type Coverage struct {
	Strategy string
	coverage.Sample
	LocalStates []int // by node
	Bounded     int   // states in which the bounds left less than the rules
	// Equality is that of states; "": by their history.
	Equality string `json:",omitempty"`
	// Cycles counts how often a path came back to a state in which it was before; CutOff
	// the states in which a limit of steps or time cut paths off, where that matters
	// (search.Coverage).
	Cycles int `json:",omitempty"`
	CutOff int `json:",omitempty"`
	// Exhausted: all paths within the bounds were explored.
	Exhausted bool
	// StatesDigest stands for the set of global states that were seen.
	StatesDigest string
	Missed       string // what the strategy left out, when it has come to its end
	// Full: there was no memory to count all; the numbers are lower bounds.
	Full bool
	// Earlier is how many executions ended before the check was resumed of which
	// nothing is counted here, because what they had seen was lost; Lost says how.
	Earlier int    `json:",omitempty"`
	Lost    string `json:",omitempty"`
	// Record is the record of coverage.seen up to which this was seen; 0: none.
	Record int `json:",omitempty"`
	// Again: a check that goes on with this one walks all of it again.
	Again bool
	// Known counts the paths that came to known states and went no further, Given those
	// that the strategy gave up; neither are executions.
	Known, Given int
	// Merged counts how often a new state counted as known, by the user's word alone.
	Merged int
	// RulesAudited counts what of the user's rules was looked at.
	RulesAudited int
	// Under is what the user has said and the result rests on, one line each.
	Under []string
	// Faults say how much faults were tried, of the kinds for which there is a budget.
	Faults []Faults `json:",omitempty"`
	Memo   memo.Counters
	Nodes  memo.Counts
}

// Faults say how much faults of a kind were tried.
type Faults struct {
	Kind   string
	Budget int    // how many there may be in one execution
	After  string `json:",omitempty"` // what a line must look like that comes before
	search.Faults
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

// Tried adds what was tried, by kind.
func (c *Coverage) Tried(more func(k int) search.Faults) {
	for i := range c.Faults {
		f := &c.Faults[i]
		k, _ := world.KindNamed(f.Kind)
		f.Add(more(int(k)))
	}
}

// untried is how a note begins on a kind of fault that was not tried.
const untried = "no fault was tried of kind "

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
			r.Note(fmt.Sprintf("%s%s: no line came before it that matches %q", untried, f.Kind, f.After))
		case f.Offered == 0:
			r.Note(fmt.Sprintf("%s%s: none could happen in what was executed", untried, f.Kind))
		default:
			r.Note(fmt.Sprintf("%s%s: the search did not get to where one could happen", untried, f.Kind))
		}
	}
}
