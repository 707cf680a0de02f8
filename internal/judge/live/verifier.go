package live

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// Config is how a Verifier judges.
type Config struct {
	// ClockError is by how much the clocks of two agents differ at most.
	ClockError time.Duration
	// Settle is for how long what a node exposes must last to be judged: programs write lines that
	// belong together one after the other.
	Settle time.Duration
	// Timeout is how far a node's records may be behind those of another node. Then the node's
	// agent counts as gone, and the node with it, until there are records of it again.
	Timeout time.Duration
	// Patience is for how long a goal without a time may be unmet until that is a finding.
	Patience time.Duration
	// OnJudged, when not nil, is called with each snapshot that was judged, and the stamp of the
	// event that led to it.
	OnJudged func(Stamp, *expose.Snapshot)
}

// Finding is a property that did not hold.
type Finding struct {
	Property string
	Kind     string       // property.Kind, property.Dead or property.Suspected
	Message  string       // as a check words it
	At       ariadne.Time // of the event that led to it, or when a goal should have been met
	Stamp    Stamp
	Snapshot *expose.Snapshot
	History  []Shown // what the property has read before, the latest last
}

// Shown is a record that changed what a property reads.
type Shown struct {
	Stamp Stamp
	Record
}

// Counts say what a verifier has judged.
type Counts struct {
	Records int `json:"records"`
	Events  int `json:"events"` // that changed what the property reads
	Judged  int `json:"judged"` // snapshots
	// moments that were not judged: the order of events is not known
	Undecided int `json:"undecided"`
	// moments that were not judged: they lasted for less than Settle
	Brief int `json:"brief"`
	// moments that were not judged: what some node exposes is unknown
	Unknown  int `json:"unknown"`
	Compared int `json:"compared"` // positions in TCP streams of both ends
	Inverted int `json:"inverted"` // messages that were read before they were sent, by the clocks
}

// Verifier judges one property, or a few together. It is a function of its records: it reads no
// clock. Only one goroutine may use it.
type Verifier struct {
	Config
	properties *judge.Properties
	judge      *judge.Judge
	nodes      []follower
	order      order
	begin      ariadne.Time // of the first Beat
	pending    []*event     // in no order
	recent     []*event     // that were judged, and may have happened at the time of pending ones
	snapshot   expose.Snapshot
	judged     *expose.Snapshot // the last one, or nil: a moment after it was not judged
	stamp      Stamp
	aims       aims
	broken     string // the last verdict
	history    []Shown
	series     *property.Series // nil: the property is no number
	found      []Finding
	doubts     map[string]bool
	Counts
}

// follower is what a verifier knows of one node.
type follower struct {
	next    uint64             // Seq of the next record
	early   map[uint64]*Record // that came before those before them
	now     ariadne.Time       // At of its last Beat
	seen    bool
	gone    bool            // its agent is
	wasUp   bool            // when it went
	got     []*Record       // with positions, the latest last
	events  uint64          // how many there were
	last    *event          // not judged yet, or nil
	unsent  []*event        // that wait for positions behind them
	unknown map[string]bool // names of tuples
	brief   bool            // another event of the node followed soon
}

// historyMax is how many records a finding shows at most.
const historyMax = 32

// NewVerifier returns a verifier of properties, which are judge.Properties of one predicate or
// goal.
func NewVerifier(c Config, p *judge.Properties) *Verifier {
	n := len(p.Nodes)
	v := &Verifier{Config: c, properties: p, judge: p.NewJudge(1), nodes: make([]follower, n),
		order:    order{clockError: ariadne.Time(c.ClockError)},
		snapshot: expose.Snapshot{Sets: make([]*expose.Set, n), Up: make([]bool, n)}, doubts: map[string]bool{}}
	for i := range v.nodes {
		v.nodes[i] = follower{next: 1, early: map[uint64]*Record{}, unknown: map[string]bool{}}
	}
	v.aims.init(p.Config.Goals, c.Patience)
	for _, q := range p.Predicates {
		if q.Number != nil {
			v.series = &property.Series{Name: q.Name, Number: *q.Number}
		}
	}
	return v
}

// Take takes a record. Records of a node may come in any order, each once or more than once.
func (v *Verifier) Take(r Record) error {
	f := &v.nodes[r.Node]
	if r.Seq < f.next {
		return nil
	}
	f.early[r.Seq] = &r
	for {
		next, ok := f.early[f.next]
		if !ok {
			return nil
		}
		delete(f.early, f.next)
		f.next++
		v.Records++
		v.enter(next)
		if err := v.advance(); err != nil {
			return err
		}
	}
}

// Missing returns for how many records, of any node, the verifier waits at least.
func (v *Verifier) Missing() (n int) {
	for i := range v.nodes {
		f := &v.nodes[i]
		for seq := range f.early {
			n = max(n, int(seq-f.next))
		}
	}
	return n
}

// enter takes the next record of a node.
func (v *Verifier) enter(r *Record) {
	f := &v.nodes[r.Node]
	if f.gone {
		f.gone = false
		v.await(&Record{Node: r.Node, Kind: Lost, After: f.now, At: r.At, Text: "its agent was away"})
	}
	if f.seen = true; r.Kind == Beat {
		if v.begin == 0 {
			v.begin = r.At
		}
		f.now = max(f.now, r.At)
	}
	if of := v.relevant(r); of != nil {
		v.await(of)
	}
	if r.Positions == nil {
		return
	}
	for _, e := range f.unsent {
		e.sent = r.Positions
	}
	f.unsent = f.unsent[:0]
	v.compare(r)
	f.got = append(f.got, r)
	for len(f.got) > 1 && f.got[1].Read <= f.now-keepPositions {
		f.got = f.got[1:]
	}
}

// compare sees that no node had read more of a stream than the node of a record has sent later. If
// one had, the clocks or the positions are wrong.
func (v *Verifier) compare(r *Record) {
	for i := range v.nodes {
		before := v.nodes[i].before(r.At - ariadne.Time(v.ClockError))
		if before == nil || ariadne.NodeID(i) == r.Node {
			continue
		}
		for s, got := range before.Got {
			sent, ok := r.Positions.Sent[s]
			if !ok {
				continue
			}
			if v.Compared++; ahead(got, sent) {
				v.Inverted++
				v.doubt("node %s had read more of a TCP stream than node %s sent later: their clocks differ by more than clock_error (%v)", v.properties.Nodes[i], v.properties.Nodes[r.Node], v.ClockError)
			}
		}
	}
}

// await enters an event that is to be judged.
func (v *Verifier) await(r *Record) {
	f := &v.nodes[r.Node]
	f.events++
	e := &event{Record: r, place: f.events, next: ariadne.Never, got: f.before(r.After)}
	if f.last != nil {
		f.last.next = r.At
	}
	f.last = e
	f.unsent, v.pending = append(f.unsent, e), append(v.pending, e)
}

// keepPositions is for how long positions can be needed: a record tells of no longer time.
const keepPositions = ariadne.Time(10 * time.Second)

// before returns positions that were read before a time, the latest; or nil.
func (f *follower) before(at ariadne.Time) *Positions {
	for _, r := range slices.Backward(f.got) {
		if r.Read <= at {
			return r.Positions
		}
	}
	return nil
}

// relevant returns what of a record the property reads; nil: nothing.
func (v *Verifier) relevant(r *Record) *Record {
	own := *r
	switch r.Kind {
	case Beat:
		return nil
	case Show:
		own.Changes = slices.DeleteFunc(slices.Clone(r.Changes), func(c expose.Change) bool {
			return !v.properties.ReadsName(c.Name)
		})
		if len(own.Changes) == 0 {
			return nil
		}
	}
	return &own
}

// advance judges everything about which enough is known.
func (v *Verifier) advance() error {
	v.leave()
	until := v.frontier()
	for len(v.pending) > 0 {
		k := v.first()
		e := v.pending[k]
		if e.At > until || e.sent == nil && v.waitsForPositions(e, until) {
			break
		}
		v.pending = slices.Delete(v.pending, k, k+1)
		if err := v.apply(e); err != nil {
			return err
		}
	}
	v.forget(until)
	return v.aims.pass(v, until)
}

// first returns the place of a pending event that can come first. By the clocks it is the earliest,
// unless messages say that another one came before it.
func (v *Verifier) first() int {
	k, inverted := v.order.first(v.pending)
	if inverted > 0 {
		v.Inverted++
		if by := time.Duration(inverted); by > v.ClockError {
			v.doubt("a message was read before it was sent: clocks of nodes differ by %v, which is more than clock_error (%v)", by, v.ClockError)
		}
	}
	return k
}

// waitsForPositions reports whether positions that bound what the node had sent may still come.
func (v *Verifier) waitsForPositions(e *event, until ariadne.Time) bool {
	f := &v.nodes[e.Node]
	return len(f.got) > 0 && !f.gone && until < e.At+ariadne.Time(v.Timeout)
}

// frontier is the time up to which nothing more can come.
func (v *Verifier) frontier() ariadne.Time {
	until := ariadne.Never
	for i := range v.nodes {
		if f := &v.nodes[i]; !f.gone {
			until = min(until, f.now)
		}
	}
	return until - 1 - ariadne.Time(v.ClockError) - ariadne.Time(v.Settle)
}

// leave lets nodes go of whose agents there was no record for too long (D3S, section 3.3).
func (v *Verifier) leave() {
	if v.Timeout <= 0 {
		return
	}
	newest := v.begin
	for i := range v.nodes {
		newest = max(newest, v.nodes[i].now)
	}
	for i := range v.nodes {
		f := &v.nodes[i]
		if f.gone || max(f.now, v.begin) > newest-ariadne.Time(v.Timeout) {
			continue
		}
		f.gone = true
		v.doubt("node %s: no record came for %v, so the node counted as gone", v.properties.Nodes[i], v.Timeout)
		v.await(&Record{Node: ariadne.NodeID(i), Kind: Down, After: f.now, At: newest,
			Text: fmt.Sprintf("no record for %v", v.Timeout)})
	}
}

// apply makes an event happen, and judges the state after it if it is certain that the system was
// in it.
func (v *Verifier) apply(e *event) error {
	f := &v.nodes[e.Node]
	if f.last == e {
		f.last = nil
	}
	if err := v.aims.pass(v, e.After); err != nil {
		return err
	}
	v.Events++
	v.stamp = v.stamp.After(e.At)
	e.stamp = v.stamp
	set := &v.snapshot.Sets[e.Node]
	switch e.Kind {
	case Show:
		*set = (*set).After(e.Changes)
		f.learn(e.Changes)
	case Up:
		v.snapshot.Up[e.Node] = true
		clear(f.unknown)
	case Down:
		f.wasUp = v.snapshot.Up[e.Node]
		*set, v.snapshot.Up[e.Node] = (*set).Staying(), false
		clear(f.unknown)
	case Lost:
		v.snapshot.Up[e.Node] = v.snapshot.Up[e.Node] || f.wasUp
		v.lose(f, e)
	}
	v.remember(e)
	f.brief = e.next != ariadne.Never && e.next-e.At < ariadne.Time(v.Settle)
	v.recent = append(v.recent, e)
	switch v.doubtful() {
	case "":
		v.Judged++
		return v.decide(e)
	case "undecided":
		v.Undecided++
	case "brief":
		v.Brief++
		return nil // this is how the node goes on: it is no gap
	case "unknown":
		v.Unknown++
	}
	v.snapshot.Earlier, v.judged = nil, nil
	v.aims.interrupt(e)
	return nil
}

// doubtful says why it is not certain that the system was in the present state; "": it was.
func (v *Verifier) doubtful() string {
	for i := range v.nodes {
		f := &v.nodes[i]
		if !f.seen {
			return "unknown" // nobody has told of the node yet
		}
		for name := range f.unknown {
			if v.properties.ReadsName(name) {
				return "unknown"
			}
		}
		if f.brief {
			return "brief"
		}
	}
	if !v.order.divides(v.recent, v.pending) {
		return "undecided"
	}
	return ""
}

// learn notes that what a node exposes by some names is known from here on. Of names with keys only
// the end of all tuples says so.
func (f *follower) learn(changes []expose.Change) {
	for i := range changes {
		if c := &changes[i]; c.Ends && c.All || !c.Ends && c.Key == "" {
			delete(f.unknown, c.Name)
		}
	}
}

// lose notes that it is unknown what a node exposes.
func (v *Verifier) lose(f *follower, e *event) {
	names := e.Names
	if names == nil {
		names = []string{}
		for _, s := range v.properties.Sources {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		if f.unknown[name] = true; v.properties.ReadsName(name) {
			v.doubt("node %s: %s: what it exposes as %s is unknown from then on, until it exposes it again",
				v.properties.Nodes[e.Node], e.Text, name)
		}
	}
}

// remember keeps an event for findings.
func (v *Verifier) remember(e *event) {
	if len(v.history) == 2*historyMax {
		v.history = slices.Clone(v.history[historyMax:])
	}
	v.history = append(v.history, Shown{e.stamp, *e.Record})
}

// decide judges the present snapshot.
func (v *Verifier) decide(e *event) error {
	s := &v.snapshot
	if windows := v.properties.Windows(); windows != nil {
		if v.judged != nil {
			s.Earlier = s.Earlier.Then(windows, v.judged, s)
		}
		v.judged = &expose.Snapshot{Sets: slices.Clone(s.Sets), Up: slices.Clone(s.Up), Earlier: s.Earlier}
	}
	if v.OnJudged != nil {
		v.OnJudged(e.stamp, s)
	}
	v.measure(s, e.At)
	verdict := v.judge.Judge(s, expose.Between)
	if err := v.judge.Err(); err != nil {
		return err
	}
	if verdict != "" && v.broken == "" {
		v.report(property.Kind, verdict, e.At)
	}
	v.broken = verdict
	return v.aims.judge(v, e)
}

// measure enters the number of a property that is one.
func (v *Verifier) measure(s *expose.Snapshot, at ariadne.Time) {
	if v.series == nil {
		return
	}
	for _, n := range v.judge.Numbers(s) {
		v.series.Add(v.Judged, at, n)
		v.series.End = at
	}
}

// Series returns how the number of the property went, or nil: the property is none. Its steps are
// the moments that were judged.
func (v *Verifier) Series() *property.Series { return v.series }

// report enters a finding.
func (v *Verifier) report(kind, message string, at ariadne.Time) {
	s := v.snapshot
	s.Sets, s.Up = slices.Clone(s.Sets), slices.Clone(s.Up)
	v.found = append(v.found, Finding{Property: v.Name(), Kind: kind, Message: message, At: at, Stamp: v.stamp,
		Snapshot: &s, History: slices.Clone(v.history[max(0, len(v.history)-historyMax):])})
}

// Name is that of the property.
func (v *Verifier) Name() string {
	for _, q := range v.properties.Predicates {
		return q.Name
	}
	for _, g := range v.properties.Config.Goals {
		return g.Name
	}
	return ""
}

// forget drops events that are over when pending ones, and those to come, can begin.
func (v *Verifier) forget(until ariadne.Time) {
	begin := until
	for _, e := range v.pending {
		begin = min(begin, e.After)
	}
	v.recent = slices.DeleteFunc(v.recent, func(e *event) bool { return e.At+ariadne.Time(v.ClockError) < begin })
}

func (v *Verifier) doubt(format string, args ...any) { v.doubts[fmt.Sprintf(format, args...)] = true }

// Found returns the findings since the last call.
func (v *Verifier) Found() []Finding {
	all := v.found
	v.found = nil
	return all
}

// Doubts say what could not be judged, one line each.
func (v *Verifier) Doubts() []string {
	all := slices.Sorted(maps.Keys(v.doubts))
	return append(all, v.aims.doubts()...)
}

// Snapshot returns what the nodes expose as far as it is judged. It is not to be changed, and good
// until the next Take.
func (v *Verifier) Snapshot() *expose.Snapshot { return &v.snapshot }

// Broken returns the verdict of the last snapshot, "" if the property held.
func (v *Verifier) Broken() string { return v.broken }
