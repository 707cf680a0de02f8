package work

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Source says whose Result something is from: of which unit of work, of which of its workers, and
// which of that worker's, from 1. The zero value is none.
type Source struct {
	Unit   int `json:"unit"`
	Worker int `json:"worker"`
	Serial int `json:"serial"`
}

// Compare orders sources: those of a worker by time.
func (s Source) Compare(o Source) int {
	return cmp.Or(cmp.Compare(s.Unit, o.Unit), cmp.Compare(s.Worker, o.Worker), cmp.Compare(s.Serial, o.Serial))
}

// Result is what came of a unit of work, or of a part of one. The zero value is that of nothing.
// All of it is a sum: Results can be added in any order, and the sum is the same.
type Result struct {
	Source Source `json:"source"` // of the sum of several: the least of theirs
	Counts
	Cover
	// Ended are the indexes of executions that have one of their own and have ended.
	Ended []Span `json:"ended,omitempty"`
	// Findings are violations, with how many executions ended in each.
	Findings []Finding `json:"findings,omitempty"`
	// Refusals are what nodes asked for that is not modelled, in executions that are counted by
	// themselves. Met are those of transitions, of which each counts once however many workers have
	// made it.
	Refusals []Refusal `json:"refusals,omitempty"`
	Met      []Met     `json:"met,omitempty"`
	// CutOffs are where steps were cut off because they computed for too long.
	CutOffs []CutOff `json:"cut_offs,omitempty"`
	// what became of servers in executions that are recorded
	Servers Remarks `json:"servers,omitempty"`
	Doubts  Remarks `json:"doubts,omitempty"`
	Notes   Remarks `json:"notes,omitempty"`
	Bugs    Remarks `json:"bugs,omitempty"`
	// Violations are those that were found first and confirmed, in the order of their sources.
	Violations []Violation `json:"violations,omitempty"`
	// Seen is what was seen for the first time, by who does not share with others what is seen;
	// else nil. Nodes is what its nodes did.
	Seen  *coverage.Sightings `json:"seen,omitempty"`
	Nodes *memo.Counts        `json:"nodes,omitempty"`
	// Left is what is left to do of the work, when it was not done to its end.
	Left []Work `json:"left,omitempty"`
	// Explored: there is no path left within the bounds. Missed says why there are, where the
	// strategy has come to its end; of several the least.
	Explored bool   `json:"explored,omitempty"`
	Missed   string `json:"missed,omitempty"`
	// Stop says why all work of the check is to stop; "": it need not. Of several it is that of the
	// least source.
	Stop Remarks `json:"stop,omitempty"`
}

// Counts are of executions.
type Counts struct {
	Executions int            `json:"executions,omitempty"` // ended by themselves
	Steps      int            `json:"steps,omitempty"`
	Calls      int            `json:"calls,omitempty"`
	Messages   int            `json:"messages,omitempty"`
	Virtual    ariadne.Time   `json:"virtual_time_ns,omitempty"`
	Ends       map[string]int `json:"ends,omitempty"` // of Executions, by why they ended
}

// Cover is what of the coverage of a search is counted by its workers.
type Cover struct {
	Bounded int `json:"bounded"` // states in which the bounds left less than the rules
	// Cycles counts how often a path came back to a state in which it was before; CutOff
	// the states in which a limit of steps or time cut paths off, where that matters
	// (search.Coverage).
	Cycles int `json:"cycles,omitempty"`
	CutOff int `json:"cut_off,omitempty"`
	// Known counts the paths that came to known states and went no further, Given those
	// that the strategy gave up; neither are executions.
	Known int `json:"known"`
	Given int `json:"given"`
	// Merged counts how often a new state counted as known, by the user's word alone.
	Merged int `json:"merged"`
	// RulesAudited counts what of the user's rules was looked at.
	RulesAudited int `json:"rules_audited"`
	// ReadClock are the nodes that have read the clock in steps of which nobody knows the outcome
	// at other times, in order.
	ReadClock []ariadne.NodeID `json:"read_clock,omitempty"`
	// TriedClock are those that have in steps of which the outcome at some other times is known.
	TriedClock []ariadne.NodeID `json:"tried_clock,omitempty"`
	// TookTurns are the nodes of which another thread could go first somewhere, and AtLocks those
	// of them of which one could at a lock function, in order.
	TookTurns []ariadne.NodeID `json:"took_turns,omitempty"`
	AtLocks   []ariadne.NodeID `json:"at_locks,omitempty"`
	// Probing counts what was tried at other times.
	Probing space.Probing `json:"probing,omitzero"`
	// Assertions are what programs want to be shown once, and whether it was.
	Assertions property.Assertions `json:"assertions,omitempty"`
	// Tried says how much faults were tried, by kind.
	Tried []Faults `json:"tried,omitempty"`
	// Strategies say what each of the strategies brought among which the work was divided, by name.
	Strategies []strategy.Tally `json:"strategies,omitempty"`
	// Liveness says how it looked for what must happen; nil: nothing must.
	Liveness *Liveness `json:"liveness,omitempty"`
}

// Faults say how much faults of a kind were tried.
type Faults struct {
	Kind string `json:"kind"`
	search.Faults
	By   []Struck         `json:"by,omitempty"`   // what they hit and when, by node
	Open []ariadne.NodeID `json:"open,omitempty"` // nodes that one could have hit
}

// Struck is how often faults of a kind hit a node.
type Struck struct {
	Node   ariadne.NodeID        `json:"node"` // ariadne.NoNode: the network
	Phases [search.NumPhases]int `json:"phases"`
}

// Liveness says how a search looked for what must happen.
type Liveness struct {
	Bound int `json:"bound"` // steps of a walk by which it should be live
	// steps of walks from the natural schedule to their first live state, in order
	Sampled []int `json:"sampled"`
	States  int   `json:"states"` // from which walks were taken
	Live    int   `json:"live"`   // of them were live
	Quiet   int   `json:"quiet"`  // states in which nothing could happen, and all was live
	Steps   int   `json:"steps"`  // of all walks
	Most    int   `json:"most"`   // steps of a walk to its first live state
	// Skipped are ends of paths from which no walk was taken, since walks take no more than half of
	// all steps. GivenUp are walks that could not go on, and Undecided those that were not live
	// although others from their states were.
	Skipped   int `json:"skipped"`
	GivenUp   int `json:"given_up"`
	Undecided int `json:"undecided"`
}

// Empty reports whether nothing was done.
func (l *Liveness) Empty() bool {
	return l.Bound == 0 && len(l.Sampled) == 0 && l.States == 0 && l.Live == 0 && l.Quiet == 0 && l.Steps == 0 &&
		l.Most == 0 && l.Skipped == 0 && l.GivenUp == 0 && l.Undecided == 0
}

// Span are the indexes from one on, up to another that is none of them.
type Span struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// NoIndex is that of an execution which is not counted by itself.
const NoIndex = -1

// Finding is a violation, with the index of an execution that ended in it, the least known.
type Finding struct {
	Violation ariadne.Violation `json:"violation"`
	Execution int               `json:"execution"`
	Count     int               `json:"count"`
}

// Violation is a violation with its record.
type Violation struct {
	By   Source `json:"by"`
	Item int    `json:"item"` // which of its source
	// as in report.json, but that paths begin at the directory of the record
	Record json.RawMessage `json:"record"`
	Files  []File          `json:"files"`
}

// File is a file of a record.
type File struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// Refusal is what a node asked for that is not modelled. Its Detail is that of the least source.
type Refusal struct {
	Node ariadne.NodeID `json:"node"`
	By   Source         `json:"by"`
	ariadne.Refusal
}

// Met is what a transition met that makes an execution with it another one than on Linux.
type Met struct {
	State    hash.Hash         `json:"state"` // the name of the local state to which it leads
	Node     ariadne.NodeID    `json:"node"`
	By       Source            `json:"by"`
	Refusals []ariadne.Refusal `json:"refusals,omitempty"`
	Doubts   []string          `json:"doubts,omitempty"`
	// CutAt is where it was cut off, or nil, and Step what led to that.
	CutAt *ariadne.CodePoint `json:"cut_at,omitempty"`
	Step  string             `json:"step,omitempty"`
}

// CutOff is where steps of a node were cut off because they computed for too long. Steps are named
// by what led to them, in order: a step that was executed once more is the same step.
type CutOff struct {
	Node  ariadne.NodeID    `json:"node"`
	At    ariadne.CodePoint `json:"at"`
	Steps []string          `json:"steps"`
}

// compare orders them by place.
func (c *CutOff) compare(o *CutOff) int {
	a, b := &c.At, &o.At
	return cmp.Or(cmp.Compare(c.Node, o.Node), cmp.Compare(a.Program, b.Program), cmp.Compare(a.Function, b.Function),
		cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// Remark is a text with where it is from.
type Remark struct {
	By   Source `json:"by"`
	Item int    `json:"item,omitempty"` // its place among those of its source
	Text string `json:"text"`
}

func (r *Remark) compare(o *Remark) int {
	return cmp.Or(r.By.Compare(o.By), cmp.Compare(r.Item, o.Item), cmp.Compare(r.Text, o.Text))
}

// Remarks are different texts, in the order of their sources.
type Remarks []Remark

// Say adds texts to those of a Result which has no source yet.
func (all *Remarks) Say(texts ...string) {
	for _, t := range texts {
		all.enter(Remark{Item: len(*all), Text: t})
	}
}

// Add adds remarks. Of those with the same text the one with the least source stays.
func (all *Remarks) Add(more Remarks) {
	for _, r := range more {
		all.enter(r)
	}
}

func (all *Remarks) enter(r Remark) {
	if i := slices.IndexFunc(*all, func(o Remark) bool { return o.Text == r.Text }); i >= 0 {
		if (*all)[i].compare(&r) <= 0 {
			return
		}
		*all = slices.Delete(*all, i, i+1)
	}
	i, _ := slices.BinarySearchFunc(*all, r, func(a, b Remark) int { return a.compare(&b) })
	*all = slices.Insert(*all, i, r)
}

// Texts are those of the remarks.
func (all Remarks) Texts() (texts []string) {
	for _, r := range all {
		texts = append(texts, r.Text)
	}
	return texts
}

// Of enters where a Result is from.
func (r *Result) Of(s Source) {
	r.Source = s
	for _, all := range []Remarks{r.Servers, r.Doubts, r.Notes, r.Bugs, r.Stop} {
		for i := range all {
			all[i].By = s
		}
	}
	for i := range r.Refusals {
		r.Refusals[i].By = s
	}
	for i := range r.Met {
		r.Met[i].By = s
	}
	for i := range r.Violations {
		r.Violations[i].By, r.Violations[i].Item = s, i
	}
}
