package expose

import (
	"regexp"
	"slices"

	"ariadne"
	"ariadne/internal/world"
)

// History is a rule by which lines of clients become the beginnings and ends of their operations.
type History struct {
	// Invoke is what a line is like by which a client begins an operation; its groups op, key and value say which.
	// OK ends the client's last one; its group value says what came of it. Fail, when not nil, ends one that
	// has had no effect. A group client, of all of them, tells clients of one node apart.
	Invoke, OK, Fail *regexp.Regexp
	Nodes            []ariadne.NodeID // whose lines count; nil: all
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
	// Gone: the node's programs are no more. Nobody waits for what they had under way, of which nobody knows what came.
	Gone
)

// Events are those of a node's step, in order. h may be nil.
func (h *History) Events(id ariadne.NodeID, out *ariadne.Output) (all []Event) {
	if h == nil || h.Nodes != nil && !slices.Contains(h.Nodes, id) {
		return nil
	}
	for i := range out.Logs {
		for kind, x := range []*regexp.Regexp{h.Invoke, h.OK, h.Fail} {
			if x == nil {
				continue
			}
			if m := x.FindStringSubmatch(out.Logs[i].Text); m != nil {
				group := func(name string) string {
					if i := x.SubexpIndex(name); i >= 0 {
						return m[i]
					}
					return ""
				}
				all = append(all, Event{EventKind(kind), id, group("client"), group("op"), group("key"), group("value")})
				break
			}
		}
	}
	if out.Down != ariadne.Up && out.Down != ariadne.Paused || out.Ended && len(out.Exits) > 0 {
		all = append(all, Event{Kind: Gone, Node: id})
	}
	return all
}

// Past are the events of an execution so far; nil: none. It does not change. Which of two events
// of different clients came first counts, so it is a part of the name of the state that it led to.
type Past struct {
	Event
	before *Past
	n      int
	hash   world.Hash
}

// Then is the past after one more event. That a node is gone of which nothing is under way is none.
func (p *Past) Then(e Event) *Past {
	if e.Kind == Gone && !slices.ContainsFunc(p.Pending(), func(o Pending) bool { return o.Node == e.Node }) {
		return p
	}
	next := &Past{Event: e, before: p, n: p.Len() + 1}
	next.hash = p.Hash().Plus(world.HashOf(uint64(e.Kind), uint64(e.Node), 19))
	for _, s := range []string{e.Client, e.Op, e.Key, e.Value} {
		next.hash = next.hash.Plus(world.HashOfText(s))
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
func (p *Past) Hash() world.Hash {
	if p == nil {
		return world.Hash{}
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

// Pending are the operations that are under way, in the order in which they began.
func (p *Past) Pending() (all []Pending) {
	type client struct {
		node ariadne.NodeID
		name string
	}
	begun := map[client]int{}
	for _, e := range p.Events() {
		of := client{e.Node, e.Client}
		all = slices.DeleteFunc(all, func(o Pending) bool {
			return o.Node == e.Node && (e.Kind == Gone || o.Client == e.Client)
		})
		if e.Kind == Invoked {
			begun[of]++
			all = append(all, Pending{e, begun[of]})
		}
	}
	return all
}

// Found is what properties read of a step.
type Found struct {
	Changes []Change
	Events  []Event
}

// None reports whether there is nothing.
func (f *Found) None() bool { return len(f.Changes) == 0 && len(f.Events) == 0 }
