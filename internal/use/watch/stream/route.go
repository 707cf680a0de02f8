package stream

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
)

// Routing says which readers of one turn need a change of what nodes expose, where properties are
// judged in parts. Such changes have messages of their own, and the subject of a message names the
// parts that need it. So the server gives each part its own changes only (D3S, section 2.4). All
// other records are for all readers.
type Routing struct {
	divided []*judge.Properties // each of one property
	parts   int
	// several parts share a slot where there are many: a server keeps each subject in memory
	slots int
}

// slotsMost and subjectsMost bound how many subjects a node has.
const (
	slotsMost    = 16
	subjectsMost = 4096
)

// NewRouting returns the routing for properties that are divided into parts.
func NewRouting(divided []*judge.Properties, parts int) *Routing {
	r := &Routing{divided: divided, parts: parts, slots: min(parts, slotsMost)}
	for r.slots > 1 && r.subjects() > subjectsMost {
		r.slots /= 2
	}
	return r
}

func (r *Routing) subjects() int {
	n := 1
	for range r.divided {
		if n *= r.slots; n > subjectsMost {
			break
		}
	}
	return n
}

// Want is what a reader needs: the changes of one part of a property; nil: all.
type Want struct {
	Routing  *Routing
	Property int // of those that are divided
	Part     int
}

// Words in the place of a slot: the change is for no part of the property, or for several.
const (
	forNone = "none"
	forAll  = "all"
)

// reads reports whether changes with a route are for the reader.
func (w *Want) reads(route string) bool {
	if w == nil {
		return true
	}
	slots := strings.Split(route, ".")
	return w.Property < len(slots) && (slots[w.Property] == forAll || slots[w.Property] == w.slot())
}

func (w *Want) slot() string { return strconv.Itoa(w.Part % w.Routing.slots) }

// subjects are those of the messages that the reader needs of a turn; nil: all.
func (w *Want) subjects(c *Conn, turn int) []string {
	if w == nil || w.Routing.slots < 2 {
		return nil
	}
	all := []string{c.subject("log.time"), c.subject("log.end"), c.subject("log.node.>")}
	for _, slot := range []string{w.slot(), forAll} {
		slots := slices.Repeat([]string{"*"}, len(w.Routing.divided))
		slots[w.Property] = slot
		all = append(all, c.subject(fmt.Sprintf("log.part.%d.*.%s", turn, strings.Join(slots, "."))))
	}
	if turn > 0 { // it counts changes of agents that have not turned yet
		all = append(all, c.subject(fmt.Sprintf("log.part.%d.>", turn-1)))
	}
	return all
}

// router gives records their routes, in the order in which they are written.
type router struct {
	*Routing
	// nodes has, for each node and divided property, where the tuples are that it exposes
	nodes map[ariadne.NodeID][]map[place]spot
	// resumed are nodes of which an earlier agent has told, too: it is not known where its tuples
	// are
	resumed map[ariadne.NodeID]bool
}

// place names a tuple of a node.
type place struct{ name, key string }

type spot struct {
	slot  string
	stays bool
}

func newRouter(r *Routing) *router {
	return &router{Routing: r, nodes: map[ariadne.NodeID][]map[place]spot{}, resumed: map[ariadne.NodeID]bool{}}
}

// route returns the route of a record; "": it is for all readers.
func (r *router) route(record *live.Record) string {
	if r.Routing == nil || r.slots < 2 || len(r.divided) == 0 {
		return ""
	}
	own := r.nodes[record.Node]
	if own == nil {
		for range r.divided {
			own = append(own, map[place]spot{})
		}
		r.nodes[record.Node] = own
	}
	switch record.Kind {
	case live.Down:
		for _, tuples := range own {
			for at, is := range tuples {
				if !is.stays {
					delete(tuples, at)
				}
			}
		}
		return ""
	case live.Show:
		var slots []string
		for i, p := range r.divided {
			slots = append(slots, r.slotOf(record, p, own[i]))
		}
		return strings.Join(slots, ".")
	}
	return ""
}

// slotOf returns which parts of a property need a change, and keeps where the tuples are.
func (r *router) slotOf(record *live.Record, p *judge.Properties, tuples map[place]spot) string {
	slot := forNone
	add := func(other string) {
		if slot == forNone {
			slot = other
		} else if slot != other {
			slot = forAll
		}
	}
	for i := range record.Changes {
		c := &record.Changes[i]
		if !p.ReadsName(c.Name) {
			continue
		}
		at := place{c.Name, c.Key}
		was, known := tuples[at]
		switch {
		case c.Ends && c.All:
			for at := range tuples {
				if at.name == c.Name {
					delete(tuples, at)
				}
			}
			add(forAll)
			continue
		case c.Key == "" || !known && r.resumed[record.Node]:
			add(forAll) // it says what the node exposes by the name, or a tuple may be anywhere
		case known:
			add(was.slot)
		}
		if c.Ends {
			delete(tuples, at)
			continue
		}
		is := strconv.Itoa(p.Division().Part(p.Nodes[record.Node], &c.Tuple, r.parts) % r.slots)
		tuples[at] = spot{is, c.Stays}
		add(is)
	}
	return slot
}

// messages are what a writer writes of some records, one after the other. Within each, the order
// does not matter.
type messages struct{ first, then, last []*batch }

// parcels makes records messages. Readers of a part do not get all of them. So a message for all
// readers counts, by route, the records before it that have messages of their own.
type parcels struct {
	names   []string // of nodes
	session string
	before  map[origin]map[string]int // that no message has counted yet
}

// origin is a node in a turn.
type origin struct {
	node ariadne.NodeID
	turn int
}

// divide makes messages of records.
func (p *parcels) divide(all []queued) messages {
	var out messages
	type pending struct {
		broad *batch
		trail []*batch // behind broad
	}
	by := map[origin]*pending{}
	var order []origin
	for i := range all {
		q := &all[i]
		of := origin{q.Node, q.turn}
		s := by[of]
		if s == nil {
			s = &pending{}
			by[of], order = s, append(order, of)
		}
		if q.route == "" {
			if s.broad == nil {
				s.broad = p.batch(of, "")
			}
			s.broad.Records = append(s.broad.Records, encodeRecord(&q.Record))
			out.first = append(out.first, s.trail...)
			p.count(of, s.trail)
			s.trail = nil
			continue
		}
		k := slices.IndexFunc(s.trail, func(b *batch) bool { return b.Route == q.route })
		if k < 0 {
			k = len(s.trail)
			s.trail = append(s.trail, p.batch(of, q.route))
		}
		s.trail[k].Records = append(s.trail[k].Records, encodeRecord(&q.Record))
	}
	for _, of := range order {
		s := by[of]
		if s.broad != nil {
			for _, route := range slices.Sorted(maps.Keys(p.before[of])) {
				s.broad.Before = append(s.broad.Before, counted{route, p.before[of][route]})
			}
			delete(p.before, of)
			out.then = append(out.then, s.broad)
		}
		out.last = append(out.last, s.trail...)
		p.count(of, s.trail)
	}
	return out
}

// batch returns a message without records.
func (p *parcels) batch(of origin, route string) *batch {
	return &batch{Version: version, Session: p.session, Node: p.names[of.node], Turn: of.turn, Route: route}
}

// count keeps how many records messages have, for the next message for all readers.
func (p *parcels) count(of origin, all []*batch) {
	for _, b := range all {
		if p.before[of] == nil {
			p.before[of] = map[string]int{}
		}
		p.before[of][b.Route] += len(b.Records)
	}
}
