package expose

import (
	"net/netip"
	"regexp"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// History is a rule by which lines of clients become the beginnings and ends of their operations.
type History struct {
	// Invoke is what a line is like by which a client begins an operation; its groups op, key and
	// value say which. OK ends the client's last one; its group value says what came of it. Fail,
	// when not nil, ends one that has had no effect. A group client, of all of them, tells clients
	// of one node apart.
	Invoke, OK, Fail *regexp.Regexp
	Nodes            []ariadne.NodeID // whose lines count; nil: all
	// Wire, when not "", is the protocol of the connections of Nodes to Port, over which operations
	// go: the events are what goes over these.
	Wire string
	Port uint16
}

// Event is the beginning or the end of an operation.
type Event struct {
	Kind           EventKind
	Node           ariadne.NodeID
	Client         string // of those of the node; "" when they are not told apart
	Op, Key, Value string
}

// EventKind says which.
type EventKind uint8

// The kinds of events.
const (
	Invoked EventKind = iota
	Returned
	Failed
	// Gone: the node's programs are no more. Nobody waits for what they had under way, of which
	// nobody knows what came.
	Gone
	// Opened, Sent and the kinds after them are the life of a connection (History.Wire), whose name
	// is Event.Client: it is opened, bytes (Value) leave the client or come to it, and nothing more
	// will come: Value is Reset where it was reset.
	Opened
	Sent
	Received
	Closed
)

// Reset is the Value of Closed where either end has reset the connection.
const Reset = "reset"

// Events are those of a node's step, in order. It has begun with a message, or in is nil. h may be
// nil.
func (h *History) Events(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) (all []Event) {
	if h == nil || h.Nodes != nil && !slices.Contains(h.Nodes, id) {
		return nil
	}
	if h.Wire != "" {
		all = h.carried(id, in, out)
	} else {
		all = h.written(id, out)
	}
	if out.Down != ariadne.Up && out.Down != ariadne.Paused || out.Ended && len(out.Exits) > 0 {
		all = append(all, Event{Kind: Gone, Node: id})
	}
	return all
}

// carried are the events of what the node has received and sent over the clients' connections.
func (h *History) carried(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) (all []Event) {
	if in != nil && in.Flow.Proto == ariadne.TCP && in.From != id && in.Flow.Src.Port() == h.Port {
		all = over(all, id, in, in.Flow.Dst, in.Flow.Src, Received)
	}
	for i := range out.Messages {
		if m := &out.Messages[i]; m.Flow.Proto == ariadne.TCP && m.To != id && m.Flow.Dst.Port() == h.Port {
			all = over(all, id, m, m.Flow.Src, m.Flow.Dst, Sent)
		}
	}
	return all
}

// written are the events of the lines that the node has written.
func (h *History) written(id ariadne.NodeID, out *ariadne.Output) (all []Event) {
	for l := range out.Lines() {
		for kind, x := range []*regexp.Regexp{h.Invoke, h.OK, h.Fail} {
			if x == nil {
				continue
			}
			if m := x.FindStringSubmatch(l.Text); m != nil {
				group := func(name string) string {
					if i := x.SubexpIndex(name); i >= 0 {
						return m[i]
					}
					return ""
				}
				all = append(all,
					Event{EventKind(kind), id, group("client"), group("op"), group("key"), group("value")})
				break
			}
		}
	}
	return all
}

// over appends what a message says of a connection of a node's.
func over(all []Event, id ariadne.NodeID, m *ariadne.Message, own, peer netip.AddrPort, kind EventKind) []Event {
	e := Event{Node: id, Client: own.String() + ">" + peer.String()}
	with := func(kind EventKind, value string) {
		e.Kind, e.Value = kind, value
		all = append(all, e)
	}
	if m.Flags&ariadne.SYN != 0 && kind == Sent {
		with(Opened, "")
	}
	if len(m.Data) > 0 {
		with(kind, string(m.Data))
	}
	if m.Flags&ariadne.RST != 0 {
		with(Closed, Reset)
	} else if m.Flags&ariadne.FIN != 0 && kind == Received {
		with(Closed, "")
	}
	return all
}

// Past are the events of an execution so far; nil: none. It does not change. The order of events of
// different clients counts, so a Past is a part of the name of the state to which it led.
type Past struct {
	Event
	before *Past
	n      int
	hash   hash.Hash
}

// Then is the past after one more event. That a node is gone of which nothing is under way is none.
func (p *Past) Then(e Event) *Past {
	if e.Kind == Gone && !p.busy(e.Node) {
		return p
	}
	next := &Past{Event: e, before: p, n: p.Len() + 1}
	next.hash = p.Hash().Plus(hash.Of(uint64(e.Kind), uint64(e.Node), 19))
	for _, s := range []string{e.Client, e.Op, e.Key, e.Value} {
		next.hash = next.hash.Plus(hash.OfText(s))
	}
	return next
}

// Len is how many events there are.
func (p *Past) Len() int {
	if p == nil {
		return 0
	}
	return p.n
}

// Hash stands for the past.
func (p *Past) Hash() hash.Hash {
	if p == nil {
		return hash.Hash{}
	}
	return p.hash
}

// Events are all, the earliest first.
func (p *Past) Events() []Event {
	all := make([]Event, p.Len())
	for i := range slices.Backward(all) {
		all[i], p = p.Event, p.before
	}
	return all
}

// Pending is an operation that is under way: the so many-th of its client, from 1.
type Pending struct {
	Event
	N int
}

// busy reports whether a node may have an operation under way.
func (p *Past) busy(node ariadne.NodeID) bool {
	for ; p != nil; p = p.before {
		switch {
		case p.Node != node:
		case p.Kind == Gone:
			return false
		case p.Kind == Invoked || p.Kind >= Opened:
			return true
		}
	}
	return false
}

// PendingOf are the operations that are under way after some events, in the order in which they
// began.
func PendingOf(events []Event) (all []Pending) {
	type client struct {
		node ariadne.NodeID
		name string
	}
	begun := map[client]int{}
	for _, e := range events {
		of := client{e.Node, e.Client}
		all = slices.DeleteFunc(all, func(o Pending) bool {
			return o.Node == e.Node && (e.Kind == Gone && e.Client == "" || o.Client == e.Client)
		})
		if e.Kind == Invoked {
			begun[of]++
			all = append(all, Pending{e, begun[of]})
		}
	}
	return all
}

// Found is what properties read of a step, and what who steers a search does.
type Found struct {
	Changes []Change
	Events  []Event
	Told    []Change // whatever is exposed, where somebody steers by it
}

// None reports whether properties read nothing of it.
func (f *Found) None() bool { return len(f.Changes) == 0 && len(f.Events) == 0 }
