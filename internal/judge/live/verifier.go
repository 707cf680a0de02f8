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
	// Polled are the names of tuples that come by Polls. Nobody knows what such a value was between
	// two reads, so findings of a property that reads one are suspicions.
	Polled []string
	// Turned: nodes ran when the verifier began, so of each node it waits for the record Turned.
	Turned bool
	// Parts, if it is more than 1, is into how many parts the property's tuples are divided by keys
	// (judge.Division). The verifier judges by the tuples of one part, from 0. Changes of other
	// tuples are no events to it, and it need not get them.
	Part, Parts int
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
	// Without are nodes whose agents were gone, or that were not found yet. The snapshot is without
	// what they expose, so the property may have held.
	Without []ariadne.NodeID
	// Polled are the names of tuples that the property reads, and that come by Polls.
	Polled []string
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
	// moments that were not judged: they lasted for less than Settle, or for no time
	Brief int `json:"brief"`
	// moments that were not judged: what some node exposes is unknown
	Unknown int `json:"unknown"`
	// changes that were not judged: some agents still used other properties
	Turning  int `json:"turning"`
	Compared int `json:"compared"` // positions in TCP streams of both ends
	Inverted int `json:"inverted"` // messages that were read before they were sent, by the clocks
}

// Add adds what another part of the property has judged. Records are those of the part that had
// most.
func (c *Counts) Add(o *Counts) {
	c.Records, c.Events, c.Judged = max(c.Records, o.Records), c.Events+o.Events, c.Judged+o.Judged
	c.Undecided, c.Brief, c.Unknown = c.Undecided+o.Undecided, c.Brief+o.Brief, c.Unknown+o.Unknown
	c.Turning, c.Compared, c.Inverted = c.Turning+o.Turning, max(c.Compared, o.Compared), max(c.Inverted, o.Inverted)
}

// Verifier judges one property, or a few together. It is a function of its records: it reads no
// clock. Only one goroutine may use it.
type Verifier struct {
	Config
	properties *judge.Properties
	judge      *judge.Judge
	division   *judge.Division // with Parts
	groups     *groups         // nil: snapshots are judged as a whole
	polled     []string        // of Config.Polled, those that the property reads
	nodes      []follower
	order      order        // of events
	begin      ariadne.Time // of the first Beat
	passed     ariadne.Time // At of the last Passed
	snapshot   expose.Snapshot
	judged     *expose.Snapshot // the last one, or nil: a moment after it was not judged
	stamp      Stamp
	aims       aims
	broken     string // the last verdict
	suspected  bool   // the last finding was Without some node
	history    []Shown
	series     *property.Series // nil: the property is no number
	found      []Finding
	doubts     map[string]doubt // by reason
	Counts
}

// follower is what a verifier knows of one node.
type follower struct {
	next  uint64             // Seq of the next record
	early map[uint64]*Record // that came before those before them
	now   ariadne.Time       // up to when all its events are known, by its last Beat
	heard ariadne.Time       // At of its last record
	seen  bool
	waits bool // for the record Turned
	gone  bool // its agent is
	left  bool // the snapshot is without it, because its agent is gone
	// sought says what of the node was never found; "": all was
	sought string
	kept   kept // when it went
	// late is the time up to which others were judged without the node, whose records come later.
	// Until they are beyond that time, nothing is judged.
	late   ariadne.Time
	got    []*Record // with positions, the latest last
	events uint64    // how many there were
	last   *event    // not judged yet, or nil
	unsent []*event  // that wait for positions behind them
	// shown are the tuples of the verifier's part that the node exposes, after all records so far,
	// and whether they stay; only with Parts
	shown   map[shown]bool
	unknown map[string]bool // names of tuples
	brief   bool            // another event of the node followed soon
}

// shown names a tuple of a node.
type shown struct{ name, key string }

// kept is what a node exposed when its agent was heard of last.
type kept struct {
	set     *expose.Set
	up      bool
	unknown map[string]bool
}

// historyMax is how many records a finding shows at most.
const historyMax = 32

// NewVerifier returns a verifier of properties, which are judge.Properties of one predicate or
// goal.
func NewVerifier(c Config, p *judge.Properties) *Verifier {
	n := len(p.Nodes)
	v := &Verifier{Config: c, properties: p, judge: p.NewJudge(1), division: p.Division(),
		nodes:    make([]follower, n),
		order:    newOrder(n, ariadne.Time(c.ClockError)),
		snapshot: expose.Snapshot{Sets: make([]*expose.Set, n), Up: make([]bool, n)}, doubts: map[string]doubt{}}
	for i := range v.nodes {
		v.nodes[i] = follower{next: 1, waits: c.Turned, early: map[uint64]*Record{}, shown: map[shown]bool{},
			unknown: map[string]bool{}}
	}
	v.groups = newGroups(p)
	for _, name := range c.Polled {
		if p.ReadsName(name) {
			v.polled = append(v.polled, name)
		}
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
	switch r.Kind {
	case Missed:
		if v.relevant(&r) != nil {
			v.Turning++
		}
		return nil
	case Passed:
		v.passed = max(v.passed, r.At)
		if v.begin == 0 {
			v.begin = r.At
		}
		return v.advance()
	}
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
		f.gone, f.late = false, v.newest()
		if f.seen {
			v.await(&Record{Node: r.Node, Kind: Up, After: f.now, At: f.late, Text: "there are records again"}, true)
		}
	}
	f.heard = max(f.heard, r.At, r.Read)
	if f.seen = true; r.Kind == Beat {
		if v.begin == 0 {
			v.begin = r.At
		}
		now := r.At
		if v.polled != nil && r.Polled != 0 {
			now = min(now, r.Polled)
		}
		f.now = max(f.now, now)
	}
	if of := v.relevant(r); of != nil {
		if v.polled != nil && r.Kind == Down {
			// Nobody has read what became of the values before the end. That is an event of its
			// own, whose order to other events of the node is open.
			v.await(&Record{Node: r.Node, Kind: Show, Channel: Polls, After: min(f.now, r.At), At: r.At}, false)
		}
		v.await(of, false)
	}
	if r.Positions == nil || r.Kind != Beat {
		return
	}
	v.order.know(f.unsent, r.Positions)
	f.unsent = nil
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
		if before == nil || before.Counted != r.Positions.Counted || ariadne.NodeID(i) == r.Node {
			continue
		}
		for s, got := range before.Got {
			sent, ok := r.Positions.Sent[s]
			if !ok {
				continue
			}
			if v.Compared++; ahead(got, sent) {
				v.Inverted++
				v.doubt(0, "node %s had read more of a TCP stream than node %s sent later: their clocks differ by more than clock_error (%v)",
					v.properties.Nodes[i], v.properties.Nodes[r.Node], v.ClockError)
			}
		}
	}
}

// await enters an event that is to be judged. away: no agent has told of it, so positions say
// nothing of it.
func (v *Verifier) await(r *Record, away bool) {
	f := &v.nodes[r.Node]
	f.events++
	e := &event{Record: r, place: f.events, next: ariadne.Never, away: away}
	switch {
	case away:
	case r.Positions != nil:
		e.got, e.sent = r.Positions, r.Positions
	default:
		e.got = f.before(r.After)
		for len(f.unsent) > 0 && f.unsent[0].stage == over {
			f.unsent = f.unsent[1:]
		}
		f.unsent = append(f.unsent, e)
	}
	if f.last != nil {
		f.last.next = r.At
	}
	f.last = e
	v.order.add(e)
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
	case Up, Down:
		maps.DeleteFunc(v.nodes[r.Node].shown, func(_ shown, stays bool) bool { return !stays })
	case Show, Missed:
		own.Changes = nil
		for i := range r.Changes {
			c := &r.Changes[i]
			if v.properties.ReadsName(c.Name) && (v.Parts <= 1 || v.follow(r, c)) {
				own.Changes = append(own.Changes, *c)
			}
		}
		if len(own.Changes) == 0 {
			return nil
		}
	}
	return &own
}

// follow reports whether a change is about tuples of the verifier's part, or says what is known of
// all tuples of a name. It keeps which tuples of the part the node exposes.
func (v *Verifier) follow(r *Record, c *expose.Change) bool {
	of, at := v.nodes[r.Node].shown, shown{c.Name, c.Key}
	_, was := of[at]
	switch {
	case r.Kind != Show:
	case c.Ends && c.All:
		maps.DeleteFunc(of, func(t shown, _ bool) bool { return t.name == c.Name })
	case v.owns(r.Node, c):
		of[at] = c.Stays
	default:
		delete(of, at)
	}
	return was || c.Key == "" || c.Ends && c.All || v.owns(r.Node, c)
}

// owns reports whether a change shows a tuple of the verifier's part.
func (v *Verifier) owns(node ariadne.NodeID, c *expose.Change) bool {
	return !c.Ends && v.division.Part(v.properties.Nodes[node], &c.Tuple, v.Parts) == v.Part
}

// advance judges everything about which enough is known.
func (v *Verifier) advance() error {
	v.leave()
	until := v.frontier()
	for v.order.waiting > 0 {
		e := v.first()
		if e.At > until || e.sent == nil && v.waitsForPositions(e, until) {
			break
		}
		v.order.take(e)
		if err := v.apply(e); err != nil {
			return err
		}
		v.order.forget(v.order.begin(until))
	}
	v.order.forget(v.order.begin(until))
	v.order.settle()
	return v.pass(until)
}

// pass lets time pass for goals, but not beyond the first time at which a pending event may have
// happened.
func (v *Verifier) pass(until ariadne.Time) error {
	if len(v.aims.goals) == 0 {
		return nil
	}
	return v.aims.pass(v, v.order.begin(until))
}

// first returns a pending event that can come first. By the clocks it is the earliest, unless
// messages say that another one came before it.
func (v *Verifier) first() *event {
	e, inverted := v.order.first()
	if inverted != nil {
		v.Inverted++
		if by := time.Duration(inverted.sent.After - inverted.read.At); by > v.ClockError {
			nodes := v.properties.Nodes
			v.doubtOnce(fmt.Sprintf("by %v: %s at %v, %s at %v", by, inverted.read.Text, inverted.read.At,
				inverted.sent.Text, inverted.sent.After),
				"node %s had read what node %s sent later: their clocks differ by more than clock_error (%v)",
				nodes[inverted.read.Node], nodes[inverted.sent.Node], v.ClockError)
		}
	}
	return e
}

// waitsForPositions reports whether positions that bound what the node had sent may still come.
func (v *Verifier) waitsForPositions(e *event, until ariadne.Time) bool {
	f := &v.nodes[e.Node]
	return !e.away && len(f.got) > 0 && !f.gone && until < e.At+ariadne.Time(v.Timeout)
}

// frontier is the time up to which nothing more can come.
func (v *Verifier) frontier() ariadne.Time {
	until := ariadne.Never
	for i := range v.nodes {
		if f := &v.nodes[i]; !f.gone {
			until = min(until, f.now)
		}
	}
	if until == ariadne.Never {
		until = v.newest() // all agents are gone
	}
	return until - 1 - ariadne.Time(v.ClockError) - ariadne.Time(v.Settle)
}

// newest is the latest time that any record tells of.
func (v *Verifier) newest() ariadne.Time {
	newest := max(v.begin, v.passed)
	for i := range v.nodes {
		newest = max(newest, v.nodes[i].now)
	}
	return newest
}

// leave lets nodes go of whose agents there was no record for too long (D3S, section 3.3).
func (v *Verifier) leave() {
	if v.Timeout <= 0 {
		return
	}
	newest := v.newest()
	for i := range v.nodes {
		f := &v.nodes[i]
		if f.gone || max(f.heard, v.begin) > newest-ariadne.Time(v.Timeout) {
			continue
		}
		f.gone = true
		if !f.seen {
			continue // that it exposes is unknown
		}
		v.doubt(0, "node %s: no record came for %v, so the node counted as gone", v.properties.Nodes[i], v.Timeout)
		v.await(&Record{Node: ariadne.NodeID(i), Kind: Down, After: f.now, At: newest,
			Text: fmt.Sprintf("no record for %v", v.Timeout)}, true)
	}
}

// apply makes an event happen, and judges the state after it if it is certain that the system was
// in it.
func (v *Verifier) apply(e *event) error {
	f := &v.nodes[e.Node]
	if f.last == e {
		f.last = nil
	}
	if err := v.pass(e.After); err != nil {
		return err
	}
	v.Events++
	v.stamp = v.stamp.After(e.At)
	e.stamp = v.stamp
	switch {
	case e.Kind == Show:
		v.change(e.Node, v.own(e))
		f.learn(e.Changes)
	case e.Kind == Up && e.away:
		v.replace(e.Node, f.kept.set)
		v.snapshot.Up[e.Node], f.unknown, f.left = f.kept.up, f.kept.unknown, false
		f.kept = kept{}
	case e.Kind == Up:
		// If its agent has ended with the program before, nobody has told of the end of that.
		v.replace(e.Node, v.set(e.Node).Staying())
		v.snapshot.Up[e.Node] = true
		v.end(f)
	case e.Kind == Down:
		if f.left = e.away; e.away {
			f.kept = kept{v.set(e.Node), v.snapshot.Up[e.Node], f.unknown}
			f.unknown = map[string]bool{}
		}
		v.replace(e.Node, v.set(e.Node).Staying())
		v.snapshot.Up[e.Node] = false
		v.end(f)
	case e.Kind == Lost:
		v.lose(f, e)
	case e.Kind == Turned:
		f.waits = false
	case e.Kind == Sought:
		f.sought = e.Text
	}
	if e.Kind != Turned && e.Kind != Sought && (e.Kind != Show || e.Changes != nil) {
		v.remember(e)
	}
	f.brief = e.next <= e.At || e.next != ariadne.Never && e.next-e.At < ariadne.Time(v.Settle)
	v.order.keep(e)
	switch v.doubtful() {
	case "":
		v.Judged++
		return v.decide(e)
	case "undecided":
		v.Undecided++
	case "brief":
		v.Brief++ // this is how the node goes on: it is no gap
		return v.aims.glimpse(v, e)
	case "unknown":
		v.Unknown++
	case "turning":
		v.Turning++
	}
	v.snapshot.Earlier, v.judged = nil, nil
	if v.groups != nil {
		v.groups.cut = true
	}
	v.aims.interrupt(e)
	return nil
}

// change makes changes of what a node exposes.
func (v *Verifier) change(node ariadne.NodeID, changes []expose.Change) {
	if v.groups != nil {
		v.groups.apply(node, changes)
	}
	if v.isWhole() {
		v.snapshot.Sets[node] = v.snapshot.Sets[node].After(changes)
	}
}

// replace has a node expose the tuples of a set, and nothing else.
func (v *Verifier) replace(node ariadne.NodeID, set *expose.Set) {
	if v.groups != nil {
		v.groups.replace(node, set)
	}
	if v.isWhole() {
		v.snapshot.Sets[node] = set
	}
}

// set is what a node exposes.
func (v *Verifier) set(node ariadne.NodeID) *expose.Set {
	if v.isWhole() {
		return v.snapshot.Sets[node]
	}
	return v.groups.set(int(node))
}

// isWhole reports whether the next snapshot is judged as a whole, and not by groups. Then its Sets
// are what nodes expose.
func (v *Verifier) isWhole() bool { return v.groups == nil || v.groups.whole }

// fill has the snapshot be what nodes expose, and the one before, if it matters.
func (v *Verifier) fill() {
	if v.isWhole() {
		return
	}
	g := v.groups
	before := make([]*expose.Set, len(v.snapshot.Sets))
	for i := range v.snapshot.Sets {
		v.snapshot.Sets[i] = g.set(i)
		before[i] = g.setBefore(i, v.snapshot.Sets[i])
	}
	if v.judged = nil; v.properties.Windows() != nil && !g.cut {
		v.judged = &expose.Snapshot{Sets: before, Up: slices.Clone(v.snapshot.Up)}
	}
}

// decideByGroups judges the groups that have changed, and reports whether the property holds. If it
// does not, the snapshot is to be judged as a whole.
func (v *Verifier) decideByGroups(e *event) (bool, error) {
	g, windows := v.groups, v.properties.Windows()
	if v.OnJudged != nil {
		v.fill()
		s := v.snapshot
		if v.judged != nil {
			s.Earlier = s.Earlier.Then(windows, v.judged, &s)
		}
		v.OnJudged(e.stamp, &s)
	}
	if some := g.differing(); len(some) > 0 {
		s := &expose.Snapshot{Sets: g.setsOf(some, false), Up: v.snapshot.Up}
		if windows != nil && !g.cut {
			s.Earlier = s.Earlier.Then(windows, &expose.Snapshot{Sets: g.setsOf(some, true), Up: s.Up}, s)
		}
		verdict := v.judge.Judge(s, expose.Between)
		if err := v.judge.Err(); err != nil {
			return false, err
		}
		if verdict != "" {
			v.fill()
			g.whole = true
			clear(g.changed)
			return false, nil
		}
	}
	g.judged()
	return true, nil
}

// own are the changes of an event as they concern the verifier's part. A tuple of another part
// takes the place of one of the same name and key, which may have been of this part.
func (v *Verifier) own(e *event) []expose.Change {
	if v.Parts <= 1 {
		return e.Changes
	}
	all := slices.Clone(e.Changes)
	for i := range all {
		c := &all[i]
		c.Ends = c.Ends || !v.owns(e.Node, c)
	}
	return all
}

// doubtful says why it is not certain that the system was in the present state; "": it was.
func (v *Verifier) doubtful() string {
	brief := false
	for i := range v.nodes {
		f := &v.nodes[i]
		if f.waits && !f.gone {
			return "turning"
		}
		if !f.seen || f.waits || v.isLate(f, ariadne.NodeID(i)) {
			return "unknown"
		}
		for name := range f.unknown {
			if v.properties.ReadsName(name) {
				return "unknown"
			}
		}
		brief = brief || f.brief
	}
	if brief {
		return "brief"
	}
	if !v.order.divides() {
		return "undecided"
	}
	return ""
}

// isLate reports whether others were judged further than the records of a node are.
func (v *Verifier) isLate(f *follower, node ariadne.NodeID) bool {
	if f.late == 0 || f.gone {
		return false
	}
	if e := v.order.least(int(node)); f.now <= f.late || e != nil && e.After <= f.late {
		return true
	}
	f.late = 0
	return false
}

// end notes that a program has ended or begun: what it exposes is known, but for what stays.
func (v *Verifier) end(f *follower) {
	maps.DeleteFunc(f.unknown, func(name string, _ bool) bool { return !v.properties.Sources.Stay(name) })
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
			if s.At(e.Node) {
				names = append(names, s.Name)
			}
		}
	}
	for _, name := range names {
		if f.unknown[name] = true; !v.properties.ReadsName(name) {
			continue
		}
		until := "it exposes it again"
		if v.properties.Sources.HaveKeys(name) {
			until = "all of it ends"
		}
		v.doubt(e.Missing, "node %s: %s: what it exposes as %s is unknown from then on, until %s",
			v.properties.Nodes[e.Node], e.Text, name, until)
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
	told := !v.isWhole()
	if told {
		if holds, err := v.decideByGroups(e); err != nil || holds {
			return err
		}
	}
	s := &v.snapshot
	if windows := v.properties.Windows(); windows != nil {
		if v.judged != nil {
			s.Earlier = s.Earlier.Then(windows, v.judged, s)
		}
		v.judged = &expose.Snapshot{Sets: slices.Clone(s.Sets), Up: slices.Clone(s.Up), Earlier: s.Earlier}
	}
	if v.OnJudged != nil && !told {
		v.OnJudged(e.stamp, s)
	}
	v.measure(s, e.At)
	verdict := v.judge.Judge(s, expose.Between)
	if err := v.judge.Err(); err != nil {
		return err
	}
	if verdict != "" && (v.broken == "" || v.suspected && v.without() == nil) {
		v.report(property.Kind, verdict, e.At)
	}
	if v.broken = verdict; verdict == "" && v.groups != nil {
		v.snapshot.Earlier, v.judged = nil, nil
		v.groups.whole = false
		v.groups.judged()
	}
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
	f := Finding{Property: v.Name(), Kind: kind, Message: message, At: at, Stamp: v.stamp, Snapshot: &s,
		History: slices.Clone(v.history[max(0, len(v.history)-historyMax):])}
	f.Without, f.Polled = v.without(), v.polled
	v.suspected = f.Without != nil
	v.found = append(v.found, f)
}

// without are the nodes without whose tuples a property that does not hold may hold.
func (v *Verifier) without() (all []ariadne.NodeID) {
	for i := range v.nodes {
		if f := &v.nodes[i]; f.left || f.sought != "" && !(v.monotone() && len(v.snapshot.Sets[i].Tuples()) == 0) {
			all = append(all, ariadne.NodeID(i))
		}
	}
	return all
}

// monotone reports whether further tuples cannot make the property hold. Those that a stage reads
// can: it may return fewer then. So can those of a node that has some, in the place of these.
func (v *Verifier) monotone() bool {
	p := v.properties
	return len(p.Predicates) == 1 && p.Exposes(p.Predicates[0].Subsets)
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

// doubt is why something could not be judged.
type doubt struct {
	First   string // details of the first time, or ""
	Times   int
	Missing uint64 // events, as far as they were counted
}

// doubt notes why something could not be judged, and how many events are missing; 0: nobody knows.
func (v *Verifier) doubt(missing uint64, format string, args ...any) {
	why := fmt.Sprintf(format, args...)
	d := v.doubts[why]
	d.Times++
	d.Missing += missing
	v.doubts[why] = d
}

// doubtOnce is doubt with details, of which those of the first time are told.
func (v *Verifier) doubtOnce(details, format string, args ...any) {
	v.doubt(0, format, args...)
	why := fmt.Sprintf(format, args...)
	if d := v.doubts[why]; d.Times == 1 {
		d.First = details
		v.doubts[why] = d
	}
}

// Turn says that nothing more comes, because the properties have changed. Events that could not be
// judged yet are counted.
func (v *Verifier) Turn() {
	all := v.order.waitingEvents()
	v.Turning += len(all)
	for _, e := range all {
		v.order.take(e)
	}
}

// Found returns the findings since the last call.
func (v *Verifier) Found() []Finding {
	all := v.found
	v.found = nil
	return all
}

// times says how often something was, where that is more than once.
func times(n int) string {
	if n > 1 {
		return fmt.Sprintf(" (%d times)", n)
	}
	return ""
}

// Doubts say what could not be judged, one line each.
func (v *Verifier) Doubts() []string {
	var all []string
	for why, d := range v.doubts {
		if d.First != "" {
			why += " (first " + d.First + ")"
		}
		if d.Missing > 0 {
			why += fmt.Sprintf(" (%d missing)", d.Missing)
		} else {
			why += times(d.Times)
		}
		all = append(all, why)
	}
	slices.Sort(all)
	for i := range v.nodes {
		if !v.nodes[i].seen {
			all = append(all, fmt.Sprintf("node %s: no agent has told of it", v.properties.Nodes[i]))
		}
		if v.nodes[i].sought != "" {
			all = append(all, Unfound(v.properties.Nodes[i], v.nodes[i].sought))
		}
	}
	return append(all, v.aims.doubts()...)
}

// Unfound says what of a node was never found.
func Unfound(node, what string) string { return fmt.Sprintf("node %s: never found: %s", node, what) }

// Up says which nodes are up as far as that is judged. It is not to be changed, and good until the
// next Take.
func (v *Verifier) Up() []bool { return v.snapshot.Up }

// Broken returns the verdict of the last snapshot, "" if the property held.
func (v *Verifier) Broken() string { return v.broken }
