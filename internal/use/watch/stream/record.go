package stream

import (
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
	Version int      `json:"v"`
	Session string   `json:"session"` // of the agent
	Node    string   `json:"node"`
	Turn    int      `json:"turn,omitempty"` // how often the properties had changed before
	Records []record `json:"records"`
}

// version is that of batch.
const version = 2

// record is a live.Record as the log has it. Times are those of the watch, in ns.
type record struct {
	Seq     uint64          `json:"seq"`
	Kind    live.Kind       `json:"kind"`
	Channel live.Channel    `json:"channel,omitempty"`
	After   ariadne.Time    `json:"after"`
	At      ariadne.Time    `json:"at"`
	Changes []expose.Change `json:"changes,omitempty"`
	Text    string          `json:"text,omitempty"`
	Names   []string        `json:"names"`
	Placed  bool            `json:"placed,omitempty"` // it has positions
	Sent    []position      `json:"sent,omitempty"`
	Got     []position      `json:"got,omitempty"`
	Read    ariadne.Time    `json:"read,omitempty"`
}

// position is a place in a TCP stream.
type position struct {
	From netip.AddrPort `json:"f"`
	To   netip.AddrPort `json:"t"`
	At   uint32         `json:"n"`
}

func encodeRecord(r *live.Record) record {
	to := record{Seq: r.Seq, Kind: r.Kind, Channel: r.Channel, After: r.After, At: r.At, Changes: r.Changes,
		Text: r.Text, Names: r.Names, Read: r.Read}
	if p := r.Positions; p != nil {
		to.Placed, to.Sent, to.Got = true, encodePositions(p.Sent), encodePositions(p.Got)
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
		Changes: r.Changes, Text: r.Text, Names: r.Names, Read: r.Read}
	if r.Placed {
		to.Positions = &live.Positions{Sent: decodePositions(r.Sent), Got: decodePositions(r.Got)}
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
	begun bool // a record of the turn has come
	nodes map[string]ariadne.NodeID
	of    map[string]*sender
}

// sender is what is known of the agents of a node.
type sender struct {
	session string
	before  map[string]bool // earlier sessions: their agents were replaced
	last    uint64          // Seq of the last record in this session, as it was sent
	told    uint64          // how many records were made
	at      ariadne.Time    // of the last record
}

func newDecoder(nodes []string, turn int) *decoder {
	d := &decoder{turn: turn, nodes: map[string]ariadne.NodeID{}, of: map[string]*sender{}}
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
	if s.before[b.Session] {
		return nil, false, nil
	}
	tell := func(r live.Record) {
		s.told++
		r.Seq = s.told
		s.at = max(s.at, r.At)
		all = append(all, r)
	}
	for i := range b.Records {
		r := b.Records[i].decode(node)
		why := ""
		switch {
		case b.Session != s.session:
			s.before[s.session] = true
			s.session, s.last = b.Session, r.Seq-1
			why = "another agent took over"
		case r.Seq <= s.last:
			continue
		case r.Seq > s.last+1:
			why = fmt.Sprintf("the log has lost %d records", r.Seq-s.last-1)
		}
		if why != "" {
			tell(live.Record{Node: node, Kind: live.Lost, After: min(s.at, r.At), At: r.At, Text: why})
		}
		s.last = r.Seq
		tell(r)
	}
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
	Last, Told uint64
	At         ariadne.Time
}

// save returns the state of the decoder: the same bytes for the same state.
func (d *decoder) save() ([]byte, error) {
	to := savedDecoder{Turn: d.turn, Begun: d.begun, Of: map[string]savedSender{}}
	for node, s := range d.of {
		to.Of[node] = savedSender{s.session, slices.Sorted(maps.Keys(s.before)), s.last, s.told, s.at}
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
		own := &sender{session: s.Session, before: map[string]bool{}, last: s.Last, told: s.Told, at: s.At}
		for _, session := range s.Before {
			own.before[session] = true
		}
		d.of[node] = own
	}
	return nil
}
