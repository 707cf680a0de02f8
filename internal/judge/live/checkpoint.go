package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// saved is the state of a Verifier as a checkpoint has it. The judge's memory is not there, because
// it follows from the snapshots.
type saved struct {
	Nodes     []savedNode
	Positions []*Positions // from 1, of records and events
	Events    []savedEvent // from 1
	Pending   []int        // of Events
	Recent    []int        // likewise
	Begin     ariadne.Time
	Passed    ariadne.Time
	Snapshot  savedSnapshot
	Judged    *savedSnapshot
	Earlier   [][]savedSnapshot // by window
	Stamp     Stamp
	Aims      []savedAim
	AimsUntil ariadne.Time
	Unsure    bool // of aims
	Broken    string
	Suspected bool
	History   []savedShown
	Series    *property.Series
	Doubts    map[string]doubt
	Counts    Counts
}

// savedNode is a follower.
type savedNode struct {
	Next                           uint64
	Early                          []savedRecord // by Seq
	Now, Heard                     ariadne.Time
	Late                           ariadne.Time
	Kept                           savedKept
	Got                            []savedRecord
	Events                         uint64
	Last                           int   // of saved.Events; 0: none
	Unsent                         []int // likewise
	Unknown                        []string
	Shown                          []expose.Tuple
	Sought                         string
	Seen, Waits, Gone, Left, Brief bool
}

type savedKept struct {
	Set     []expose.Tuple
	Up      bool
	Unknown []string
}

// savedRecord is a Record. Positions is the place of its positions in saved.Positions, or 0.
type savedRecord struct {
	Record
	Positions int
}

type savedEvent struct {
	Of        savedRecord
	Place     uint64
	Stamp     Stamp
	Got, Sent int // of saved.Positions, or 0
	Away      bool
	Next      ariadne.Time
}

type savedSnapshot struct {
	Sets [][]expose.Tuple
	Up   []bool
}

type savedShown struct {
	Stamp Stamp
	Of    savedRecord
}

type savedAim struct {
	Waits, Open, Holds, Perhaps, Reported bool
	Since, First, From, Sure              ariadne.Time
	Interrupted, Late, Vague              int
}

// MarshalText implements encoding.TextMarshaler.
func (s Stream) MarshalText() ([]byte, error) {
	return []byte(s.From.String() + " " + s.To.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Stream) UnmarshalText(text []byte) error {
	from, to, _ := strings.Cut(string(text), " ")
	var wrong [2]error
	s.From, wrong[0] = netip.ParseAddrPort(from)
	s.To, wrong[1] = netip.ParseAddrPort(to)
	return errors.Join(wrong[:]...)
}

// saver gives positions and events the places that saved has them at.
type saver struct {
	to        *saved
	positions map[*Positions]int
	events    map[*event]int
}

// Save returns the state of the verifier for Restore. Findings must have been taken before (Found).
// Verifiers with the same state return the same bytes.
func (v *Verifier) Save() ([]byte, error) {
	if v.found != nil {
		return nil, errors.New("a verifier with findings cannot be saved")
	}
	v.fill()
	to := &saved{Begin: v.begin, Passed: v.passed, Stamp: v.stamp, AimsUntil: v.aims.until, Unsure: v.aims.unsure,
		Broken: v.broken, Suspected: v.suspected, Series: v.series, Doubts: v.doubts, Counts: v.Counts,
		Snapshot: saveSnapshot(&v.snapshot)}
	w := &saver{to, map[*Positions]int{}, map[*event]int{}}
	for i := range v.nodes {
		to.Nodes = append(to.Nodes, w.node(&v.nodes[i]))
	}
	to.Pending, to.Recent = w.eventsOf(v.order.waitingEvents()), w.eventsOf(v.order.recentEvents())
	if v.judged != nil {
		own := saveSnapshot(v.judged)
		to.Judged = &own
	}
	for i := range v.properties.Windows() {
		var all []savedSnapshot
		for _, s := range v.snapshot.Earlier.In(i) {
			all = append(all, saveSnapshot(s))
		}
		to.Earlier = append(to.Earlier, all)
	}
	for _, a := range v.aims.states {
		to.Aims = append(to.Aims, savedAim{Waits: a.waits, Open: a.open, Holds: a.holds, Perhaps: a.perhaps,
			Reported: a.reported, Since: a.since, First: a.first, From: a.from, Sure: a.sure,
			Interrupted: a.interrupted, Late: a.late, Vague: a.vague})
	}
	for i := range v.history {
		h := &v.history[i]
		to.History = append(to.History, savedShown{h.Stamp, w.record(&h.Record)})
	}
	return json.Marshal(to)
}

func (w *saver) node(f *follower) savedNode {
	n := savedNode{Next: f.next, Now: f.now, Heard: f.heard, Late: f.late, Events: f.events, Seen: f.seen,
		Waits: f.waits, Gone: f.gone, Left: f.left, Sought: f.sought, Brief: f.brief,
		Unknown: slices.Sorted(maps.Keys(f.unknown)),
		Kept:    savedKept{f.kept.set.Tuples(), f.kept.up, slices.Sorted(maps.Keys(f.kept.unknown))}}
	for _, seq := range slices.Sorted(maps.Keys(f.early)) {
		n.Early = append(n.Early, w.record(f.early[seq]))
	}
	for _, r := range f.got {
		n.Got = append(n.Got, w.record(r))
	}
	if f.last != nil {
		n.Last = w.event(f.last)
	}
	n.Unsent = w.eventsOf(slices.DeleteFunc(slices.Clone(f.unsent), func(e *event) bool { return e.stage == over }))
	for of, stays := range f.shown {
		n.Shown = append(n.Shown, expose.Tuple{Name: of.name, Key: of.key, Stays: stays})
	}
	slices.SortFunc(n.Shown, func(a, b expose.Tuple) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	return n
}

func (w *saver) record(r *Record) savedRecord {
	own := savedRecord{*r, w.place(r.Positions)}
	own.Record.Positions = nil
	return own
}

func (w *saver) place(p *Positions) int {
	if p == nil {
		return 0
	}
	if w.positions[p] == 0 {
		w.to.Positions = append(w.to.Positions, p)
		w.positions[p] = len(w.to.Positions)
	}
	return w.positions[p]
}

func (w *saver) event(e *event) int {
	if w.events[e] == 0 {
		w.to.Events = append(w.to.Events, savedEvent{w.record(e.Record), e.place, e.stamp, w.place(e.got),
			w.place(e.sent), e.away, e.next})
		w.events[e] = len(w.to.Events)
	}
	return w.events[e]
}

func (w *saver) eventsOf(all []*event) (places []int) {
	for _, e := range all {
		places = append(places, w.event(e))
	}
	return places
}

func saveSnapshot(s *expose.Snapshot) (to savedSnapshot) {
	to.Up = slices.Clone(s.Up)
	for _, set := range s.Sets {
		to.Sets = append(to.Sets, set.Tuples())
	}
	return to
}

// restorer makes records and events of places.
type restorer struct {
	from   *saved
	events []*event
	wrong  error
}

// Restore gives a new verifier the state that Save of another one has returned, with the same
// properties and Config. After an error it cannot be used.
func (v *Verifier) Restore(state []byte) error {
	var from saved
	if err := json.Unmarshal(state, &from); err != nil {
		return err
	}
	if len(from.Nodes) != len(v.nodes) || len(from.Aims) != len(v.aims.states) ||
		len(from.Earlier) != len(v.properties.Windows()) || (from.Series == nil) != (v.series == nil) {
		return errors.New("it is of other nodes or of another property")
	}
	r := &restorer{from: &from}
	for i := range from.Events {
		e := &from.Events[i]
		if uint(e.Of.Node) >= uint(len(v.nodes)) {
			return errors.New("it has an event of another node")
		}
		r.events = append(r.events, &event{Record: r.record(&e.Of), place: e.Place, stamp: e.Stamp,
			got: r.positions(e.Got), sent: r.positions(e.Sent), away: e.Away, next: e.Next})
	}
	for i := range v.nodes {
		r.node(&v.nodes[i], &from.Nodes[i])
	}
	pending, recent := r.eventsOf(from.Pending), r.eventsOf(from.Recent)
	if r.wrong != nil {
		return r.wrong
	}
	for _, e := range pending {
		v.order.add(e)
	}
	for _, e := range recent {
		v.order.keep(e)
	}
	v.begin, v.passed, v.stamp, v.broken, v.Counts = from.Begin, from.Passed, from.Stamp, from.Broken, from.Counts
	v.suspected = from.Suspected
	v.snapshot = *r.snapshot(&from.Snapshot)
	var earlier [][]*expose.Snapshot
	for _, all := range from.Earlier {
		var own []*expose.Snapshot
		for i := range all {
			own = append(own, r.snapshot(&all[i]))
		}
		earlier = append(earlier, own)
	}
	v.snapshot.Earlier = expose.NewEarlier(earlier)
	if from.Judged != nil {
		v.judged = r.snapshot(from.Judged)
		v.judged.Earlier = v.snapshot.Earlier
	}
	if v.groups != nil {
		v.groups.fill(v.snapshot.Sets)
	}
	v.aims.until, v.aims.unsure = from.AimsUntil, from.Unsure
	for i, a := range from.Aims {
		v.aims.states[i] = aim{waits: a.Waits, open: a.Open, since: a.Since, first: a.First, holds: a.Holds,
			perhaps: a.Perhaps, from: a.From, sure: a.Sure, reported: a.Reported, interrupted: a.Interrupted,
			late: a.Late, vague: a.Vague}
	}
	for i := range from.History {
		h := &from.History[i]
		v.history = append(v.history, Shown{h.Stamp, *r.record(&h.Of)})
	}
	if from.Series != nil {
		v.series = from.Series
	}
	v.doubts = from.Doubts
	return r.wrong
}

func (r *restorer) node(f *follower, n *savedNode) {
	*f = follower{next: n.Next, early: map[uint64]*Record{}, shown: map[shown]bool{}, now: n.Now, heard: n.Heard,
		seen: n.Seen, waits: n.Waits,
		gone: n.Gone, left: n.Left, sought: n.Sought, late: n.Late, events: n.Events, unsent: r.eventsOf(n.Unsent),
		unknown: names(n.Unknown), brief: n.Brief,
		kept: kept{setOf(n.Kept.Set), n.Kept.Up, names(n.Kept.Unknown)}}
	for i := range n.Early {
		f.early[n.Early[i].Seq] = r.record(&n.Early[i])
	}
	for i := range n.Shown {
		f.shown[shown{n.Shown[i].Name, n.Shown[i].Key}] = n.Shown[i].Stays
	}
	for i := range n.Got {
		f.got = append(f.got, r.record(&n.Got[i]))
	}
	if n.Last != 0 {
		f.last = r.event(n.Last)
	}
}

func (r *restorer) record(s *savedRecord) *Record {
	own := s.Record
	own.Positions = r.positions(s.Positions)
	return &own
}

func (r *restorer) positions(place int) *Positions {
	switch {
	case place == 0:
		return nil
	case place < 0 || place > len(r.from.Positions):
		r.wrong = fmt.Errorf("it has no positions %d", place)
		return nil
	}
	return r.from.Positions[place-1]
}

func (r *restorer) event(place int) *event {
	if place < 1 || place > len(r.events) {
		r.wrong = fmt.Errorf("it has no event %d", place)
		return nil
	}
	return r.events[place-1]
}

func (r *restorer) eventsOf(places []int) (all []*event) {
	for _, place := range places {
		all = append(all, r.event(place))
	}
	return all
}

func (r *restorer) snapshot(s *savedSnapshot) *expose.Snapshot {
	to := &expose.Snapshot{Up: s.Up}
	for _, tuples := range s.Sets {
		to.Sets = append(to.Sets, setOf(tuples))
	}
	return to
}

func setOf(tuples []expose.Tuple) *expose.Set {
	var changes []expose.Change
	for _, t := range tuples {
		changes = append(changes, expose.Change{Tuple: t})
	}
	return (*expose.Set)(nil).After(changes)
}

func names(all []string) map[string]bool {
	to := map[string]bool{}
	for _, name := range all {
		to[name] = true
	}
	return to
}
