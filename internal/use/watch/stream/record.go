package stream

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
)

// batch is a message of the log: records of one node, by one agent.
type batch struct {
	Version int    `json:"v"`
	Session string `json:"session"` // of the agent
	Node    string `json:"node"`
	Turn    int    `json:"turn,omitempty"` // how often the properties had changed before
	// Route says who needs the records, as in router; "": all readers do. Then Before is how many
	// records with routes come between the last message for all readers and the end of this one.
	Route   string    `json:"route,omitempty"`
	Before  []counted `json:"before,omitempty"`
	Records []record  `json:"records"`
}

// counted is how many records have a route.
type counted struct {
	Route string `json:"route"`
	N     int    `json:"n"`
}

// version is that of batch.
const version = 5

// record is a live.Record as the log has it. Times are those of the watch, in ns.
type record struct {
	Seq     uint64          `json:"seq"`
	Kind    live.Kind       `json:"kind"`
	Channel live.Channel    `json:"channel,omitempty"`
	After   ariadne.Time    `json:"after"`
	At      ariadne.Time    `json:"at"`
	Polled  ariadne.Time    `json:"polled,omitempty"`
	Changes []expose.Change `json:"changes,omitempty"`
	Text    string          `json:"text,omitempty"`
	Names   []string        `json:"names"`
	Missing uint64          `json:"missing,omitempty"`
	Placed  bool            `json:"placed,omitempty"` // it has positions
	Sent    []position      `json:"sent,omitempty"`
	Got     []position      `json:"got,omitempty"`
	Counted bool            `json:"counted,omitempty"`
	Read    ariadne.Time    `json:"read,omitempty"`
}

// position is a place in a TCP stream.
type position struct {
	From netip.AddrPort `json:"f"`
	To   netip.AddrPort `json:"t"`
	At   uint32         `json:"n"`
}

func encodeRecord(r *live.Record) record {
	to := record{Seq: r.Seq, Kind: r.Kind, Channel: r.Channel, After: r.After, At: r.At, Polled: r.Polled,
		Changes: r.Changes, Text: r.Text, Names: r.Names, Missing: r.Missing, Read: r.Read}
	if p := r.Positions; p != nil {
		to.Placed, to.Sent, to.Got = true, encodePositions(p.Sent), encodePositions(p.Got)
		to.Counted = p.Counted
	}
	return to
}

// encodePositions leaves out streams within one machine: on another one, the same addresses are
// those of another stream.
func encodePositions(all map[live.Stream]uint32) (to []position) {
	for s, at := range all {
		if a := s.From.Addr().Unmap(); !a.IsLoopback() && !a.IsUnspecified() {
			to = append(to, position{s.From, s.To, at})
		}
	}
	return to
}

func (r *record) decode(node ariadne.NodeID) live.Record {
	to := live.Record{Node: node, Seq: r.Seq, Kind: r.Kind, Channel: r.Channel, After: r.After, At: r.At,
		Polled: r.Polled, Changes: r.Changes, Text: r.Text, Names: r.Names, Missing: r.Missing, Read: r.Read}
	if r.Placed {
		to.Positions = &live.Positions{Sent: decodePositions(r.Sent), Got: decodePositions(r.Got), Counted: r.Counted}
	}
	return to
}

func decodePositions(all []position) map[live.Stream]uint32 {
	to := make(map[live.Stream]uint32, len(all))
	for _, p := range all {
		to[live.Stream{From: p.From, To: p.To}] = p.At
	}
	return to
}

// decoder makes the messages of a log the records of nodes in one turn, without gaps. It is a
// function of the messages.
type decoder struct {
	turn  int
	want  *Want // nil: all
	begun bool  // a record of the turn has come
	nodes map[string]ariadne.NodeID
	of    map[string]*sender
}

// sender is what is known of the agents of a node.
type sender struct {
	session string
	before  map[string]bool // earlier sessions: their agents were replaced
	last    uint64          // Seq of the last record in this session that was made, as it was sent
	held    []record        // with routes, behind that one: they wait for a message for all readers
	told    uint64          // how many records were made
	at      ariadne.Time    // of the last record
}

func newDecoder(nodes []string, turn int, want *Want) *decoder {
	d := &decoder{turn: turn, want: want, nodes: map[string]ariadne.NodeID{}, of: map[string]*sender{}}
	for i, name := range nodes {
		d.nodes[name] = ariadne.NodeID(i)
	}
	return d
}

// decode returns the records of a message. over: it is of a later turn.
func (d *decoder) decode(text []byte) (all []live.Record, over bool, err error) {
	var b batch
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, false, fmt.Errorf("log: a message cannot be read: %w", err)
	}
	node, ok := d.nodes[b.Node]
	switch {
	case b.Version != version:
		return nil, false, fmt.Errorf("log: a message has version %d, and this ariadne reads %d: use the same ariadne on all machines",
			b.Version, version)
	case !ok:
		return nil, false, fmt.Errorf("log: an agent tells of node %q, which the spec does not have", b.Node)
	case b.Turn > d.turn:
		return nil, true, nil
	case b.Turn < d.turn:
		return d.missed(node, &b), false, nil
	}
	d.begun = true
	s := d.of[b.Node]
	if s == nil {
		s = &sender{session: b.Session, before: map[string]bool{}}
		d.of[b.Node] = s
	}
	if s.before[b.Session] || len(b.Records) == 0 {
		return nil, false, nil
	}
	tell := func(r live.Record) {
		s.told++
		r.Seq = s.told
		s.at = max(s.at, r.At)
		all = append(all, r)
	}
	lose := func(at *record, missing uint64, why string) {
		tell(live.Record{Node: node, Kind: live.Lost, After: min(s.at, at.At), At: at.At, Text: why, Missing: missing})
	}
	if b.Session != s.session {
		for i := range s.held {
			tell(s.held[i].decode(node))
		}
		s.before[s.session] = true
		s.session, s.last, s.held = b.Session, 0, nil
		lose(&b.Records[0], 0, "another agent took over")
	}
	end := b.Records[len(b.Records)-1].Seq
	own := slices.DeleteFunc(b.Records, func(r record) bool {
		return r.Seq <= s.last || slices.ContainsFunc(s.held, func(h record) bool { return h.Seq == r.Seq })
	})
	if len(own) == 0 {
		return all, false, nil // it came twice
	}
	s.held = append(s.held, own...)
	if b.Route != "" {
		return all, false, nil
	}
	slices.SortFunc(s.held, func(a, b record) int { return cmp.Compare(a.Seq, b.Seq) })
	n := slices.IndexFunc(s.held, func(r record) bool { return r.Seq > end })
	if n < 0 {
		n = len(s.held)
	}
	missing := int(end-s.last) - n
	for _, c := range b.Before {
		if !d.want.reads(c.Route) {
			missing -= c.N
		}
	}
	if missing > 0 {
		lose(&s.held[0], uint64(missing), "the log has lost records")
	}
	for i := range s.held[:n] {
		tell(s.held[i].decode(node))
	}
	s.last, s.held = end, slices.Clone(s.held[n:])
	return all, false, nil
}

// missed are the changes in records of an agent that had not turned yet when others had.
func (d *decoder) missed(node ariadne.NodeID, b *batch) (all []live.Record) {
	for i := range b.Records {
		if r := b.Records[i].decode(node); d.begun && r.Kind == live.Show {
			r.Kind = live.Missed
			all = append(all, r)
		}
	}
	return all
}

// savedDecoder is the state of a decoder as a checkpoint has it.
type savedDecoder struct {
	Turn  int
	Begun bool
	Of    map[string]savedSender // by node
}

// savedSender is a sender.
type savedSender struct {
	Session    string
	Before     []string // in order
	Held       []record
	Last, Told uint64
	At         ariadne.Time
}

// save returns the state of the decoder: the same bytes for the same state.
func (d *decoder) save() ([]byte, error) {
	to := savedDecoder{Turn: d.turn, Begun: d.begun, Of: map[string]savedSender{}}
	for node, s := range d.of {
		to.Of[node] = savedSender{s.session, slices.Sorted(maps.Keys(s.before)), s.held, s.last, s.told, s.at}
	}
	return json.Marshal(to)
}

// restore gives a new decoder a state that save has returned.
func (d *decoder) restore(state []byte) error {
	var from savedDecoder
	if err := json.Unmarshal(state, &from); err != nil {
		return err
	}
	if from.Turn != d.turn {
		return errors.New("it is of another turn")
	}
	d.begun = from.Begun
	for node, s := range from.Of {
		if _, ok := d.nodes[node]; !ok {
			return fmt.Errorf("it has a node %q, which the spec does not have", node)
		}
		own := &sender{session: s.Session, before: map[string]bool{}, held: s.Held, last: s.Last, told: s.Told,
			at: s.At}
		for _, session := range s.Before {
			own.before[session] = true
		}
		d.of[node] = own
	}
	return nil
}
