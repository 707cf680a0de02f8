package record

import (
	"ariadne/internal/coverage"
	"ariadne/internal/memo"
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
	Memo  memo.Counters
	Nodes memo.Counts
}
