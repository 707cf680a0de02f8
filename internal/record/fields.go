package record

import (
	"encoding/json"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// CoverageFields is a Coverage for programs, in report.json as in the report of --json.
type CoverageFields struct {
	Strategy  string `json:"strategy"`
	Exhausted bool   `json:"exhausted"` // all paths within the bounds were explored
	// ReadClock are the nodes that have read the clock in steps of which the outcome at other times
	// was not tried. The result holds for the times at which events happened.
	ReadClock []string `json:"read_clock,omitempty"`
	// TriedClock are the nodes that have read the clock in steps that were tried at some other
	// times. The result does not hold for the other times.
	TriedClock []string `json:"tried_clock,omitempty"`
	// TookTurns are the nodes whose threads took turns at certain places, and nowhere else: of
	// those in AtLocks, lock functions are among them.
	TookTurns []string `json:"took_turns,omitempty"`
	AtLocks   []string `json:"at_locks,omitempty"`
	// what was tried at other times (--probe-clocks)
	Probing *space.Probing `json:"clocks_probed,omitempty"`
	Bounded int            `json:"bounded"` // states in which the bounds cut something off
	// of the set of states: the same set has the same one
	Digest string `json:"states_digest"`
	Missed string `json:"missed,omitempty"`
	// Under is what the result rests on of what the user said; merged counts states
	// that are like known ones by that.
	Under  []string `json:"under,omitempty"`
	Merged int      `json:"merged,omitempty"`
	// of states, when it is not by history
	Equality string `json:"equality,omitempty"`
	// paths that came back to where they had been
	Cycles int `json:"cycles,omitempty"`
	// paths that came to known states and went no further
	Known   int `json:"known"`
	GivenUp int `json:"given_up"` // paths that the strategy gave up
	// answers of a script that were looked at
	RulesAudited int `json:"rules_audited,omitempty"`
	// the numbers below are lower bounds: there was no memory to count more
	Full bool `json:"full,omitempty"`
	// paths taken before the check was resumed, not in the numbers below
	Earlier int            `json:"earlier,omitempty"`
	Lost    string         `json:"lost,omitempty"` // why they are not
	Faults  []FaultsFields `json:"faults,omitempty"`
	// Strategies are what each brought, when several have shared the work.
	Strategies []strategy.Tally `json:"strategies,omitempty"`

	Kinds Sightings `json:"behaviour"`  // of what nodes do, since the check was last resumed
	Left  Sightings `json:"disks_left"` // by machines that stopped, likewise

	Liveness *Liveness `json:"liveness,omitempty"` // how it looked for what must happen

	Paths       int   `json:"paths"`
	Traces      int   `json:"traces"` // different partial orders of events
	States      int   `json:"states"`
	LocalStates []int `json:"local_states"` // by node
	Protocol    int   `json:"protocol_states"`
	Combined    int   `json:"protocol_combinations"`
	Executed    int   `json:"executed"` // transitions
	Remembered  int   `json:"remembered"`
	Lent        int   `json:"lent"`
	Foreseen    int   `json:"foreseen"`
	Replayed    int   `json:"replayed"`
	Boots       int   `json:"boots"`
	Thaws       int   `json:"thaws"`
	// of thaws, by writing pages and not by copies of processes
	InPlace int `json:"in_place,omitempty"`
	Freezes int `json:"freezes"`
	// of freezes, those whose memory was compared with that of the checkpoint before, and of these
	// those that have the same
	Compared  int `json:"compared,omitempty"`
	Unchanged int `json:"unchanged,omitempty"`
	// checkpoints that workers made of other workers', and those that were of no use
	Adopted    int `json:"adopted,omitempty"`
	Unadopted  int `json:"unadopted,omitempty"`
	Evictions  int `json:"evictions"`
	Moved      int `json:"moved,omitempty"` // checkpoints whose pages went to disk
	Kept       int `json:"kept,omitempty"`  // checkpoints at once, at most
	Unfrozen   int `json:"unfrozen"`        // states that could not be frozen
	Mismatches int `json:"mismatches"`

	Stopped int `json:"stopped,omitempty"` // transitions by which a machine stopped
	Disks   int `json:"disks,omitempty"`   // that these left, different ones
	// images that losses of power could have left besides, beyond the bound
	LeftOut int `json:"left_out,omitempty"`

	Unreplayable int `json:"unreplayable"` // of executed: a thread was preempted
	Audited      int `json:"audited"`
	Incomparable int `json:"incomparable"` // of audited

	// Real time in living nodes, added up over the workers.
	Stepping  time.Duration `json:"stepping_ns"`
	Freezing  time.Duration `json:"freezing_ns"`
	Thawing   time.Duration `json:"thawing_ns"`
	Booting   time.Duration `json:"booting_ns"`
	Replaying time.Duration `json:"replaying_ns"`
	Ending    time.Duration `json:"ending_ns"`
	// Medians: of what checkpoints held in memory when they were made, and of new transitions.
	CheckpointKB float64       `json:"checkpoint_kb,omitempty"`
	Thaw         time.Duration `json:"thaw_ns"`
	Step         time.Duration `json:"step_ns"`
	Freeze       time.Duration `json:"freeze_ns"`

	Elapsed time.Duration `json:"elapsed_ns"` // real time of the search
	Steps   int           `json:"steps"`      // taken in memory
	// states in which a limit of steps or time cut paths off
	CutOff int `json:"cut_off,omitempty"`
	// transitions for which another worker waited already
	Shared      int   `json:"shared,omitempty"`
	Abandoned   int   `json:"abandoned,omitempty"`   // living nodes that could not go on
	Transitions int   `json:"transitions,omitempty"` // that the memo has got
	Loaded      int   `json:"loaded,omitempty"`      // that it read from its store
	Forgotten   int   `json:"forgotten,omitempty"`   // that it has taken out of memory
	Bytes       int64 `json:"bytes,omitempty"`       // that it has in memory
	// Assertions are what programs want to be shown once, and whether it was.
	Assertions property.Assertions `json:"assertions,omitempty"`
	// of coverage.seen, up to which this was seen
	Record int `json:"record,omitempty"`
	// a check that is resumed walks all of it again
	Again bool `json:"again,omitempty"`
}

// FaultsFields are Faults for programs.
type FaultsFields struct {
	Kind       string `json:"kind"`
	Budget     int    `json:"budget"`     // how many there may be in one execution
	Executions int    `json:"executions"` // with one or more
	Taken      int    `json:"taken"`      // in all steps
	Offered    int    `json:"offered"`    // states in which one could happen
	// After is what a line must look like that comes before, and Said in how many states it had
	// been written.
	After string `json:"after,omitempty"`
	Said  int    `json:"said,omitempty"`
	// Struck are what they hit, and Spared the nodes that they could have hit and did not.
	Struck []StruckFields `json:"struck,omitempty"`
	Spared []string       `json:"spared,omitempty"`
}

// StruckFields is Struck for programs: how many in which phase.
type StruckFields struct {
	Node    string `json:"node,omitempty"` // missing: the network
	Startup int    `json:"startup"`
	Request int    `json:"request"`
	Between int    `json:"between"`
	Recover int    `json:"recovery"`
}

// InNodes is the real time that workers have spent in living nodes.
func (c *CoverageFields) InNodes() time.Duration {
	return c.Stepping + c.Freezing + c.Thawing + c.Booting + c.Replaying + c.Ending
}

// Fields are the coverage for programs; nil for nil.
func (c *Coverage) Fields() *CoverageFields {
	if c == nil {
		return nil
	}
	n, m := &c.Nodes, &c.Memo
	f := &CoverageFields{
		Strategy: c.Strategy, Digest: c.StatesDigest, Exhausted: c.Exhausted, ReadClock: c.ReadClock,
		TriedClock: c.TriedClock, TookTurns: c.TookTurns, AtLocks: c.AtLocks, Bounded: c.Bounded, Missed: c.Missed,
		Under:  c.Under,
		Merged: c.Merged, Equality: c.Equality, Cycles: c.Cycles, CutOff: c.CutOff, Known: c.Known, GivenUp: c.Given,
		RulesAudited: c.RulesAudited,
		Full:         c.Full, Kinds: c.Kinds, Left: c.Disks, Strategies: c.Strategies, Liveness: c.Liveness,
		Assertions: c.Assertions,
		Earlier:    c.Earlier, Lost: c.Lost, Record: c.Record, Again: c.Again,
		Elapsed: c.Elapsed, Steps: c.Steps, Paths: c.Paths, Traces: c.Traces, States: c.States,
		LocalStates: c.LocalStates,
		Protocol:    c.Protocol, Combined: c.Global,
		Stopped: m.Stopped, Disks: m.Disks, LeftOut: m.LeftOut, Transitions: m.Transitions, Loaded: m.Loaded,
		Forgotten: m.Forgotten, Bytes: m.Bytes,
		Executed: n.Executed, Remembered: n.Remembered, Shared: n.Shared, Lent: n.Lent, Foreseen: n.Foreseen,
		Replayed: n.Replayed,
		Boots:    n.Boots, Thaws: n.Thaws, InPlace: n.InPlace, Freezes: n.Freezes, Unfrozen: n.Unfrozen,
		Compared: n.Compared, Unchanged: n.Unchanged,
		Adopted: n.Adopted, Unadopted: n.Unadopted, Moved: n.Moved, Kept: n.Kept,
		Abandoned:  n.Lost,
		Evictions:  n.Evictions,
		Mismatches: n.Mismatches, Audited: n.Audited, Incomparable: n.Incomparable, Unreplayable: n.Unreplayable,
		Stepping: n.Stepping, Freezing: n.Freezing, Thawing: n.Thawing, Booting: n.Booting, Replaying: n.Replaying,
		Ending:       n.Ending,
		CheckpointKB: n.Size.Median(), Thaw: n.Thaw.Median(), Step: n.Step.Median(), Freeze: n.Freeze.Median(),
	}
	if none := (space.Probing{}); c.Probing != none {
		f.Probing = &c.Probing
	}
	for i := range c.Faults {
		f.Faults = append(f.Faults, c.Faults[i].fields())
	}
	return f
}

// coverage is the inverse of Fields, but for medians.
func (f *CoverageFields) coverage() Coverage {
	c := Coverage{
		Strategy: f.Strategy, StatesDigest: f.Digest, Exhausted: f.Exhausted, ReadClock: f.ReadClock,
		TriedClock: f.TriedClock, TookTurns: f.TookTurns, AtLocks: f.AtLocks, Bounded: f.Bounded, Missed: f.Missed,
		Under:  f.Under,
		Merged: f.Merged, Equality: f.Equality, Cycles: f.Cycles, CutOff: f.CutOff, Known: f.Known, Given: f.GivenUp,
		RulesAudited: f.RulesAudited,
		Full:         f.Full, Kinds: f.Kinds, Disks: f.Left, Strategies: f.Strategies, Liveness: f.Liveness,
		Assertions: f.Assertions,
		Earlier:    f.Earlier, Lost: f.Lost, Record: f.Record, Again: f.Again, LocalStates: f.LocalStates,
		Sample: coverage.Sample{Elapsed: f.Elapsed, Steps: f.Steps, Paths: f.Paths, Traces: f.Traces, States: f.States,
			Protocol: f.Protocol, Global: f.Combined, Executed: f.Executed, Known: f.Remembered},
		Memo: memo.Counters{Stopped: f.Stopped, Disks: f.Disks, LeftOut: f.LeftOut, Transitions: f.Transitions,
			Loaded:    f.Loaded,
			Forgotten: f.Forgotten, Bytes: f.Bytes},
		Nodes: memo.Counts{Executed: f.Executed, Remembered: f.Remembered, Shared: f.Shared, Lent: f.Lent,
			Foreseen: f.Foreseen,
			Replayed: f.Replayed, Boots: f.Boots, Thaws: f.Thaws, InPlace: f.InPlace, Freezes: f.Freezes,
			Compared: f.Compared, Unchanged: f.Unchanged,
			Adopted: f.Adopted, Unadopted: f.Unadopted, Moved: f.Moved, Kept: f.Kept,
			Unfrozen: f.Unfrozen, Lost: f.Abandoned,
			Evictions: f.Evictions, Mismatches: f.Mismatches, Audited: f.Audited, Incomparable: f.Incomparable,
			Unreplayable: f.Unreplayable,
			Stepping:     f.Stepping, Freezing: f.Freezing, Thawing: f.Thawing, Booting: f.Booting,
			Replaying: f.Replaying,
			Ending:    f.Ending},
	}
	if f.Probing != nil {
		c.Probing = *f.Probing
	}
	for _, n := range f.LocalStates {
		c.Locals += n
	}
	for i := range f.Faults {
		c.Faults = append(c.Faults, f.Faults[i].faults())
	}
	return c
}

func (f *Faults) fields() FaultsFields {
	row := FaultsFields{Kind: f.Kind, Budget: f.Budget, After: f.After, Executions: f.Paths, Taken: f.Taken,
		Offered: f.Offered, Said: f.Said, Spared: f.Spared}
	for _, s := range f.By {
		n := &s.Phases
		row.Struck = append(row.Struck,
			StruckFields{s.Node, n[search.InStartup], n[search.InRequest], n[search.BetweenRequests],
				n[search.InRecovery]})
	}
	return row
}

func (f *FaultsFields) faults() Faults {
	all := Faults{Kind: f.Kind, Budget: f.Budget, After: f.After, Spared: f.Spared,
		Faults: search.Faults{Paths: f.Executions, Taken: f.Taken, Offered: f.Offered, Said: f.Said}}
	for _, s := range f.Struck {
		by := Struck{Node: s.Node}
		by.Phases[search.InStartup], by.Phases[search.InRequest], by.Phases[search.BetweenRequests], by.Phases[search.InRecovery] = s.Startup, s.Request, s.Between, s.Recover
		all.By = append(all.By, by)
	}
	return all
}

// MarshalJSON gives Fields.
func (c *Coverage) MarshalJSON() ([]byte, error) { return json.Marshal(c.Fields()) }

// UnmarshalJSON takes what MarshalJSON gives.
func (c *Coverage) UnmarshalJSON(b []byte) error {
	f := &CoverageFields{}
	if err := json.Unmarshal(b, f); err != nil {
		return err
	}
	*c = f.coverage()
	return nil
}
