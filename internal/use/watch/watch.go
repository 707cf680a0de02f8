// Package watch judges a system that runs natively on this machine by the properties of a spec:
// unmodified programs, outside the emulated kernel. An Agent tells in a Log what nodes expose, and
// verifiers (internal/judge/live), one for each property, judge consistent snapshots of it.
//
// It is no check: it explores nothing, and sees only what happens. It does not judge what happens
// between two moments that it can tell apart, and counts these gaps.
//
// Nodes may be on several machines (shared.go): an agent on each writes to a log (stream), and one
// or more processes judge.
//
// Read next: agent.go, started.go, verify.go, shared.go; then internal/judge/live and
// internal/system/native.
package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Options are how a system is watched.
type Options struct {
	// Shared, unless it is empty, is where agents on several machines tell of the nodes. Then this
	// process only judges.
	Shared Shared
	// OnLog, when not nil, is called with the URL of that log, and the name of the watch.
	OnLog func(at, name string)
	// Time is for how long; 0: until the context ends.
	Time time.Duration
	// First ends the watch at the first finding.
	First bool
	// Kill and Cut, if they are not 0, are about how often a node that was started here is killed,
	// and how often nodes are parted (injection).
	Kill, Cut time.Duration
	// Budget bounds kills and cuts in the whole watch by the budgets of the spec. Otherwise these
	// bound how many there are at one time.
	Budget bool
	// Restart starts programs again that were started here and have ended.
	Restart bool
	// Seed is of the times of kills and cuts.
	Seed uint64
	// OnWait, when not nil, is called before a task that takes seconds, with the name of the task.
	OnWait func(text string)
	// OnBegin, when not nil, is called when all nodes are watched that run.
	OnBegin func()
	// OnShow, when not nil, is called with each record that changes what nodes expose or which run,
	// once all records that are earlier by the clocks have come.
	OnShow func(live.Record)
	// OnFault, when not nil, is called when a node is killed or cut off, or connected again.
	OnFault func(Change)
	// OnFinding, when not nil, is called with each finding.
	OnFinding func(Finding)
	// Reload has a value each time the spec's properties are to be read again.
	Reload <-chan struct{}
	// OnReload, when not nil, is called after that.
	OnReload func(error)
	// OnStatus, when not nil, is called with a function that returns what came of the properties so
	// far, which may be called until the watch has ended.
	OnStatus func(func() []*Status)
}

// Finding is a property that did not hold.
type Finding struct {
	Event    string `json:"event"` // "violation"
	Property string `json:"property"`
	Kind     string `json:"kind"`
	// Turn is how often the properties had changed before.
	Turn     int           `json:"turn,omitempty"`
	Message  string        `json:"message"`
	At       ariadne.Time  `json:"at_ns"` // since the watch began
	Delay    time.Duration `json:"delay_ns"`
	Snapshot []NodeState   `json:"snapshot"`
	History  []Change      `json:"history"`
	// Without are nodes whose agents were gone: the snapshot lacks what they expose, so the
	// property may have held.
	Without []string `json:"without,omitempty"`
	// Polled are names of variables and files that the property reads: they are read now and then,
	// so the property may have held.
	Polled []string `json:"polled,omitempty"`
}

// NodeState is a node in a snapshot.
type NodeState struct {
	Node   string   `json:"node"`
	Up     bool     `json:"up"`
	Tuples []string `json:"tuples"`
}

// Change is a record of the history of a finding, or a fault.
type Change struct {
	At   ariadne.Time `json:"at_ns"`
	Node string       `json:"node"`
	What string       `json:"what"`
	Line string       `json:"line,omitempty"`
	// Kind is "exposes", "up", "down", "unknown", "kill" or "cut". Exposes is what the node exposes
	// from here on.
	Kind    string    `json:"kind"`
	Exposes []Exposed `json:"exposes,omitempty"`
}

// Exposed is a value that a node exposes, or no longer.
type Exposed struct {
	Name   string   `json:"name"`
	Key    string   `json:"key,omitempty"`
	Values []string `json:"values,omitempty"`
	Ends   bool     `json:"ends,omitempty"` // the value with the key is exposed no longer
	All    bool     `json:"all,omitempty"`  // with Ends: no value of the name is, whatever its key
}

// ChangeOf is a record for people and programs.
func ChangeOf(s *spec.Spec, r *live.Record, at ariadne.Time) Change {
	c := Change{At: at, Node: s.Nodes[r.Node].Name, What: What(r), Line: r.Text, Kind: kindNames[r.Kind]}
	for i := range r.Changes {
		x := &r.Changes[i]
		c.Exposes = append(c.Exposes, Exposed{x.Name, x.Key, x.Values, x.Ends, x.All})
	}
	return c
}

var kindNames = [...]string{live.Show: "exposes", live.Up: "up", live.Down: "down", live.Lost: "unknown"}

// Property is what came of one property.
type Property struct {
	Name string `json:"name"`
	// Turn is how often the properties had changed before this one was judged.
	Turn int `json:"turn,omitempty"`
	// Parts is into how many parts it was divided by keys. All have judged the same moments, each
	// by its keys.
	Parts    int  `json:"parts,omitempty"`
	Findings int  `json:"findings"`
	Broken   bool `json:"broken"` // it did not hold at the end
	live.Counts
	Number *property.Series `json:"number,omitempty"` // of a property that is one
}

// Report is what came of a watch.
type Report struct {
	Event   string         `json:"event"` // "report"
	Spec    string         `json:"spec"`
	Outcome record.Outcome `json:"outcome"`
	Elapsed time.Duration  `json:"elapsed_ns"`
	Records int            `json:"records"`
	Kills   int            `json:"kills"`
	Cuts    int            `json:"cuts"`
	Turns   int            `json:"turns,omitempty"` // how often the properties have changed
	// properties that another process judged before
	TakenOver int `json:"taken_over"`
	// Restored are those of TakenOver, and parts of properties, that began with a checkpoint.
	Restored int `json:"restored"`
	// LeftOut are changes of keys that are not in the sample, by name. Agents that are other
	// processes do not tell.
	LeftOut    map[string]int `json:"left_out,omitempty"`
	Properties []Property     `json:"properties"`
	Findings   []Finding      `json:"findings"` // the first ones
	Doubts     []string       `json:"doubts,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

// findingsMax is how many findings a report has.
const findingsMax = 100

// Watch watches a system until ctx ends, or as long as the options say.
func Watch(ctx context.Context, s *spec.Spec, o Options) (*Report, error) {
	if o.Shared != (Shared{}) {
		return watchShared(ctx, s, o)
	}
	if err := canStart(s); err != nil {
		return nil, err
	}
	w := &watching{spec: s, options: o, log: NewMemory(), findings: make(chan found, 16)}
	if err := w.verifyBy(s); err != nil {
		return nil, err
	}
	return w.run(ctx)
}

// watching is one watch.
type watching struct {
	spec     *spec.Spec
	options  Options
	log      *Memory
	turn     int
	agent    *Agent
	mu       sync.Mutex // for verify and faults
	verify   []*verifying
	faults   []Change // the last ones
	findings chan found
	ended    []*verifying // by a spec that has changed since
	shown    []<-chan struct{}
	report   Report
}

// statuses are those of all properties.
func (w *watching) statuses() []*Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return statusesOf(w.verify)
}

func statusesOf(all []*verifying) []*Status {
	return joined(mapped(all, func(v *verifying) *Status { return v.status.Load() }))
}

// found is a finding, or an error, of a verifier.
type found struct {
	finding live.Finding
	turn    int
	err     error
}

func (w *watching) run(ctx context.Context) (r *Report, err error) {
	if w.agent, err = newAgent(w.spec, w.log, nil); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.agent.close()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.agent.onWait, w.agent.kills = w.options.OnWait, w.options.Kill > 0
	w.shown = append(w.shown, w.show())
	if err := w.agent.attach(ctx); err != nil {
		w.log.Close()
		return nil, err
	}
	if w.options.Cut > 0 && w.agent.lab != nil {
		if err := w.agent.lab.TryCut(); err != nil {
			w.log.Close()
			return nil, err
		}
	}
	if w.options.OnStatus != nil {
		w.options.OnStatus(w.statuses)
	}
	if w.options.OnBegin != nil {
		w.options.OnBegin()
	}
	if w.options.Time > 0 {
		defer time.AfterFunc(w.options.Time, cancel).Stop()
	}
	ended := make(chan error, 1)
	w.agent.again, w.agent.onFault = w.options.Restart, w.enterFault
	w.agent.injection = newInjection(w.spec, w.options.Budget)
	w.agent.begin([faultKinds]time.Duration{killing: w.options.Kill, cutting: w.options.Cut}, w.options.Seed,
		w.agent.now())
	go func() { ended <- w.agent.run(ctx) }()
	err = w.collect(ctx, cancel, ended)
	w.log.Close()
	for _, v := range slices.Concat(w.ended, w.verify) {
		err = errors.Join(err, w.drain(v))
	}
	for _, done := range w.shown {
		<-done
	}
	if err != nil {
		return nil, err
	}
	return w.conclude(), nil
}

// collect takes findings until the agent ends.
func (w *watching) collect(ctx context.Context, cancel func(), ended <-chan error) error {
	for {
		select {
		case f := <-w.findings:
			if f.err != nil {
				cancel()
				return errors.Join(f.err, <-ended)
			}
			w.enter(f)
			if w.options.First {
				cancel()
			}
		case <-w.options.Reload:
			if err := w.reload(); w.options.OnReload != nil {
				w.options.OnReload(err)
			}
		case err := <-ended:
			return err
		}
	}
}

// drain takes findings until a verifier has read its log.
func (w *watching) drain(v *verifying) error {
	done := v.done
	for {
		select {
		case f := <-w.findings:
			if f.err != nil {
				return f.err
			}
			w.enter(f)
		case <-done:
			if len(w.findings) == 0 { // a verifier ends after it has given its last one
				return nil
			}
		}
	}
}

// enter enters a finding.
func (w *watching) enter(f found) {
	own := words(w.spec, &f.finding, f.turn)
	own.Delay = time.Duration(w.agent.now() - own.At)
	own.History = w.withFaults(own.History, own.At)
	if len(w.report.Findings) < findingsMax {
		w.report.Findings = append(w.report.Findings, own)
	}
	if w.options.OnFinding != nil {
		w.options.OnFinding(own)
	}
}

// faultsMax is how many faults are kept for the history of findings.
const faultsMax = 1000

// enterFault enters a fault.
func (w *watching) enterFault(c Change) {
	w.mu.Lock()
	w.faults = append(w.faults, c)
	if len(w.faults) > faultsMax {
		w.faults = slices.Delete(w.faults, 0, faultsMax/2)
	}
	w.mu.Unlock()
	if w.options.OnFault != nil {
		w.options.OnFault(c)
	}
}

// withFaults returns a history with the faults since its first change and before a time.
func (w *watching) withFaults(history []Change, until ariadne.Time) []Change {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.faults {
		later := slices.IndexFunc(history, func(c Change) bool { return c.At > f.At })
		if later > 0 && f.At < until {
			history = slices.Insert(history, later, f)
		}
	}
	return history
}

// words makes a finding one for people and programs.
func words(s *spec.Spec, f *live.Finding, turn int) Finding {
	own := Finding{Event: "violation", Property: f.Property, Kind: f.Kind, Turn: turn, Message: f.Message, At: f.At}
	for i, set := range f.Snapshot.Sets {
		n := NodeState{Node: s.Nodes[i].Name, Up: f.Snapshot.Up[i], Tuples: []string{}}
		for _, t := range set.Tuples() {
			n.Tuples = append(n.Tuples, t.String())
		}
		own.Snapshot = append(own.Snapshot, n)
	}
	for i := range f.History {
		h := &f.History[i]
		own.History = append(own.History, ChangeOf(s, &h.Record, h.At))
	}
	own.Polled = f.Polled
	for _, id := range f.Without {
		own.Without = append(own.Without, s.Nodes[id].Name)
	}
	return own
}

// What says in words what a record tells.
func What(r *live.Record) string {
	switch r.Kind {
	case live.Up:
		return "is up"
	case live.Down:
		return "is down"
	case live.Lost:
		return "is partly unknown: " + r.Text
	case live.Beat:
		return "is there"
	}
	text := ""
	for i := range r.Changes {
		if text != "" {
			text += ", "
		}
		switch c := &r.Changes[i]; {
		case c.Ends && c.All:
			text += "no " + c.Name
		case c.Ends:
			text += "no " + c.Name + "[" + c.Key + "]"
		default:
			text += c.Tuple.String()
		}
	}
	return text
}

// conclude makes the report.
func (w *watching) conclude() *Report {
	r := &w.report
	r.Elapsed, r.LeftOut, r.Turns = time.Duration(w.agent.now()), w.agent.leftOut, w.turn
	r.Kills, r.Cuts = w.agent.limits[killing].count, w.agent.limits[cutting].count
	r.Notes = append(r.Notes, faultNotes(w.spec, &w.options)...)
	r.Notes = append(r.Notes, w.agent.notes(len(r.Findings) > 0)...)
	switch {
	case w.agent.placeless != "":
		r.Notes = append(r.Notes, "messages do not show the order of events: "+w.agent.placeless)
	case w.agent.without != "":
		r.Notes = append(r.Notes, "positions of TCP streams are read at each heartbeat only: "+w.agent.without)
	}
	if w.options.Kill > 0 && w.agent.noStrikes != "" {
		r.Notes = append(r.Notes, "nodes are killed at random times only, and not behind system calls: "+w.agent.noStrikes)
	}
	for _, s := range statusesOf(slices.Concat(w.ended, w.verify)) {
		r.add(w.spec, s)
	}
	r.Doubts = append(r.Doubts, w.agent.doubts()...)
	r.conclude(w.spec)
	return r
}

// add enters what came of a property.
func (r *Report) add(of *spec.Spec, s *Status) {
	r.Properties = append(r.Properties, s.Property)
	r.Records = max(r.Records, s.Records)
	r.Doubts = append(r.Doubts, s.Doubts...)
	if s.Judged == 0 {
		r.Doubts = append(r.Doubts, fmt.Sprintf("%s: no moment was judged", s.Name))
	}
	for _, name := range s.Unseen {
		if of.Watch.Sample[name] > 0 {
			r.Doubts = append(r.Doubts,
				fmt.Sprintf("%s: no node exposed a key of %s that is in the sample", s.Name, name))
			continue
		}
		note := "no node has exposed " + name
		if source := sourceOf(of, name); source != "" {
			note += ": " + source
		}
		if !slices.Contains(r.Notes, note) {
			r.Notes = append(r.Notes, note)
		}
	}
}

// conclude finds the outcome.
func (r *Report) conclude(s *spec.Spec) {
	if r.Findings == nil {
		r.Findings = []Finding{} // a list in JSON
	}
	r.Event, r.Spec = "report", s.Path
	slices.Sort(r.Doubts)
	r.Doubts = slices.Compact(r.Doubts)
	violated, suspected := false, false
	for i := range r.Findings {
		if isSuspicion(&r.Findings[i]) {
			suspected = true
		} else {
			violated = true
		}
	}
	switch {
	case violated:
		r.Outcome = record.Violated
	case suspected:
		r.Outcome = record.Suspected
	case len(r.Doubts) > 0:
		r.Outcome = record.Inconclusive
	}
}
