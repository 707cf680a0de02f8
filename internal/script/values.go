package script

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/space"
	"ariadne/internal/world"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
)

// What scripts see are views of the search's own values: nothing is copied until it
// is asked for. A view is good during the call that it is given to; no script can
// keep one, because its globals are frozen.

// view is what all views have in common.
type view struct{}

func (view) Freeze()               {}
func (view) Truth() starlark.Bool  { return true }
func (view) Hash() (uint32, error) { return 0, errors.New("unhashable: take what of it matters") }

// attribute is one of a view of type T.
type attribute[T any] struct {
	name string
	get  func(T) starlark.Value
}

func attr[T any](attributes []attribute[T], v T, name string) (starlark.Value, error) {
	for _, a := range attributes {
		if a.name == name {
			return a.get(v), nil
		}
	}
	return nil, nil // the interpreter knows what to say
}

func attrNames[T any](attributes []attribute[T], more ...string) []string {
	names := more
	for _, a := range attributes {
		names = append(names, a.name)
	}
	slices.Sort(names)
	return names
}

// action is a step of the path, or one that could be the next.
type action struct {
	view
	r      *Rules
	did    ariadne.Action
	at     ariadne.Time
	packet *world.Packet    // of a delivery
	by     *memo.Transition // what it came to; nil: it has not happened
	index  int              // in the list that it is of
	fields starlark.StringDict
}

func (a *action) String() string { return a.name() }
func (a *action) Type() string   { return "action" }
func (a *action) AttrNames() []string {
	return withFields(attrNames(actionAttrs, decoderNames()...), eventFields(a.packet, &a.fields))
}
func (a *action) Attr(name string) (starlark.Value, error) {
	if v, err := attr(actionAttrs, a, name); v != nil || err != nil {
		return v, err
	}
	if says, ok := decoders[name]; ok {
		return decoded(a.packet, says), nil
	}
	return eventField(eventFields(a.packet, &a.fields), name), nil
}

// eventFields are those of an application event, which is an object of JSON; of other messages there are
// none. They are kept in known.
func eventFields(p *world.Packet, known *starlark.StringDict) starlark.StringDict {
	if p == nil || p.Flow.Proto != ariadne.App || *known != nil {
		return *known
	}
	*known = starlark.StringDict{}
	v, err := starlark.Call(&starlark.Thread{}, json.Module.Members["decode"], starlark.Tuple{starlark.String(p.Data)}, nil)
	if d, ok := v.(*starlark.Dict); ok && err == nil {
		d.Freeze()
		for _, item := range d.Items() {
			name, _ := starlark.AsString(item[0])
			(*known)[name] = item[1]
		}
	}
	return *known
}

// eventField is a field of an event. nil: it has none of this name.
func eventField(fields starlark.StringDict, name string) starlark.Value {
	if v, ok := fields[name]; ok {
		return v
	}
	return nil
}

// withFields adds those names to attributes that they do not have.
func withFields(attributes []string, fields starlark.StringDict) []string {
	for name := range fields {
		if !slices.Contains(attributes, name) {
			attributes = append(attributes, name)
		}
	}
	slices.Sort(attributes)
	return attributes
}

func (a *action) name() string { return a.r.names.Action(a.did) }

var actionAttrs = []attribute[*action]{
	{"index", func(a *action) starlark.Value { return starlark.MakeInt(a.index) }},
	{"kind", func(a *action) starlark.Value { return starlark.String(world.KindOf(a.did.Kind).Name) }},
	{"name", func(a *action) starlark.Value { return starlark.String(a.name()) }},
	{"node", func(a *action) starlark.Value {
		if world.KindOf(a.did.Kind).World && a.packet == nil { // the network's
			return starlark.None
		}
		return a.r.node(a.did.Node)
	}},
	{"what", func(a *action) starlark.Value { return starlark.String(a.did.What) }},
	{"variation", func(a *action) starlark.Value { return starlark.String(a.did.Vary) }},
	{"time", func(a *action) starlark.Value { return seconds(a.at) }},
	{"sender", ofPacket(starlark.None, func(a *action, p *world.Packet) starlark.Value { return a.r.node(p.From) })},
	{"text", ofPacket(starlark.String(""), func(_ *action, p *world.Packet) starlark.Value { return starlark.String(p.Data) })},
	{"size", ofPacket(starlark.MakeInt(0), func(_ *action, p *world.Packet) starlark.Value { return starlark.MakeInt(len(p.Data)) })},
	{"port", ofPacket(starlark.None, func(_ *action, p *world.Packet) starlark.Value { return starlark.MakeInt(int(p.Flow.Dst.Port())) })},
	{"flags", ofPacket(starlark.String(""), func(_ *action, p *world.Packet) starlark.Value { return starlark.String(p.Flags.String()) })},
	{"exposed", func(a *action) starlark.Value {
		return &exposures{r: a.r, of: func(name string) (all []starlark.Value) {
			for _, c := range a.changes(name) {
				if !c.Ends {
					all = append(all, &tuple{node: a.r.names.Node(a.did.Node), Tuple: c.Tuple})
				}
			}
			return all
		}}
	}},
	{"concealed", func(a *action) starlark.Value {
		return &exposures{r: a.r, of: func(name string) (all []starlark.Value) {
			for _, c := range a.changes(name) {
				switch {
				case c.All:
					all = append(all, starlark.None)
				case c.Ends:
					all = append(all, starlark.String(c.Key))
				}
			}
			return all
		}}
	}},
	{"logs", func(a *action) starlark.Value {
		if a.by == nil {
			return empty
		}
		logs := a.by.Output.Logs
		return &sequence{n: len(logs), at: func(i int) starlark.Value { return starlark.String(logs[i].Text) }}
	}},
	{"sent", func(a *action) starlark.Value {
		if a.by == nil {
			return empty
		}
		packets := a.by.Effect.Packets
		return &sequence{n: len(packets), at: func(i int) starlark.Value {
			return &message{names: &a.r.names, packet: packets[i], arrival: ariadne.Never}
		}}
	}},
}

// ofPacket is an attribute of deliveries; none is that of other actions.
func ofPacket(none starlark.Value, get func(*action, *world.Packet) starlark.Value) func(*action) starlark.Value {
	return func(a *action) starlark.Value {
		if a.packet == nil {
			return none
		}
		return get(a, a.packet)
	}
}

// message is one that was sent.
type message struct {
	view
	names   *world.Names
	packet  *world.Packet
	arrival ariadne.Time // or Never: not known
	delayed bool
	fields  starlark.StringDict
}

func (m *message) String() string {
	return m.names.Action(world.ArrivalOf(&m.packet.Message))
}
func (m *message) Type() string { return "message" }
func (m *message) AttrNames() []string {
	return withFields(attrNames(messageAttrs, decoderNames()...), eventFields(m.packet, &m.fields))
}
func (m *message) Attr(name string) (starlark.Value, error) {
	if v, err := attr(messageAttrs, m, name); v != nil || err != nil {
		return v, err
	}
	if says, ok := decoders[name]; ok {
		return decoded(m.packet, says), nil
	}
	return eventField(eventFields(m.packet, &m.fields), name), nil
}

var messageAttrs = []attribute[*message]{
	{"sender", func(m *message) starlark.Value { return starlark.String(m.names.Node(m.packet.From)) }},
	{"receiver", func(m *message) starlark.Value { return starlark.String(m.names.Node(m.packet.To)) }},
	{"text", func(m *message) starlark.Value { return starlark.String(m.packet.Data) }},
	{"size", func(m *message) starlark.Value { return starlark.MakeInt(len(m.packet.Data)) }},
	{"port", func(m *message) starlark.Value { return starlark.MakeInt(int(m.packet.Flow.Dst.Port())) }},
	{"flags", func(m *message) starlark.Value { return starlark.String(m.packet.Flags.String()) }},
	{"sent", func(m *message) starlark.Value { return seconds(m.packet.Sent) }},
	{"time", func(m *message) starlark.Value { return seconds(m.arrival) }},
	{"delayed", func(m *message) starlark.Value { return starlark.Bool(m.delayed) }},
}

// state is the state at the end of a path.
type state struct {
	r *Rules
	p *space.Path
}

func (*state) Freeze()                                    {}
func (*state) Truth() starlark.Bool                       { return true }
func (*state) Hash() (uint32, error)                      { return view{}.Hash() }
func (s *state) String() string                           { return fmt.Sprintf("state after %d steps", s.p.Steps()) }
func (*state) Type() string                               { return "state" }
func (*state) AttrNames() []string                        { return attrNames(stateAttrs) }
func (s *state) Attr(name string) (starlark.Value, error) { return attr(stateAttrs, s, name) }

var stateAttrs = []attribute[*state]{
	{"time", func(s *state) starlark.Value { return seconds(s.p.Last().State.Now) }},
	{"steps", func(s *state) starlark.Value { return starlark.MakeInt(s.p.Steps()) }},
	{"delays", func(s *state) starlark.Value { return starlark.MakeInt(s.p.Last().State.Delays) }},
	{"deviations", func(s *state) starlark.Value { return starlark.MakeInt(s.p.Last().Deviations) }},
	{"nodes", func(s *state) starlark.Value {
		return &sequence{n: len(s.p.Last().State.Nodes), at: func(i int) starlark.Value { return &nodeValue{s: s, id: ariadne.NodeID(i)} }}
	}},
	{"node", func(s *state) starlark.Value {
		return starlark.NewBuiltin("node", func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var name string
			if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &name); err != nil {
				return nil, err
			}
			for i := range s.p.Last().State.Nodes {
				if s.r.names.Node(ariadne.NodeID(i)) == name {
					return &nodeValue{s: s, id: ariadne.NodeID(i)}, nil
				}
			}
			return nil, fmt.Errorf("node: there is no node %q", name)
		})
	}},
	{"exposed", func(s *state) starlark.Value {
		return &exposures{r: s.r, sets: s.p.Last().Told, of: func(name string) (all []starlark.Value) {
			for i := range s.p.Last().Told {
				all = append(all, s.tuples(ariadne.NodeID(i), name)...)
			}
			return all
		}}
	}},
	{"messages", func(s *state) starlark.Value {
		flight := inFlight(&s.p.Last().State.State)
		return &sequence{n: len(flight), at: func(i int) starlark.Value { return newMessage(&s.r.names, &flight[i]) }}
	}},
}

// inFlight are the messages that have been sent and have not arrived.
func inFlight(s *world.State) []world.Flying {
	return slices.DeleteFunc(slices.Clone(s.Flight), func(f world.Flying) bool { return f.Flow.Proto == ariadne.Expiry })
}

func newMessage(names *world.Names, f *world.Flying) *message {
	return &message{names: names, packet: f.Packet, arrival: f.Arrival, delayed: f.Delayed}
}

// nodeValue is a nodeValue in a state.
type nodeValue struct {
	view
	s  *state
	id ariadne.NodeID
}

func (n *nodeValue) String() string                           { return n.s.r.names.Node(n.id) }
func (*nodeValue) Type() string                               { return "node" }
func (*nodeValue) AttrNames() []string                        { return attrNames(nodeAttrs) }
func (n *nodeValue) Attr(name string) (starlark.Value, error) { return attr(nodeAttrs, n, name) }

func (n *nodeValue) now() *world.NodeState { return &n.s.p.Last().State.Nodes[n.id] }

// eachLog calls f with the node's lines since it was last taken down, the last one first, until it returns false.
func (n *nodeValue) eachLog(f func(text string) bool) {
	for i := n.s.p.Steps(); i >= 1; i-- {
		t := n.s.p.Transition(i)
		if t.From.Node != n.id {
			continue
		}
		if d := t.Effect.Down; d == ariadne.Crashed || d.Off() {
			return
		}
		for j := len(t.Output.Logs) - 1; j >= 0; j-- {
			if !f(t.Output.Logs[j].Text) {
				return
			}
		}
	}
}

var nodeAttrs = []attribute[*nodeValue]{
	{"name", func(n *nodeValue) starlark.Value { return starlark.String(n.String()) }},
	{"started", func(n *nodeValue) starlark.Value { return starlark.Bool(n.now().Started) }},
	{"ended", func(n *nodeValue) starlark.Value { return starlark.Bool(n.now().Done) }},
	{"exposed", func(n *nodeValue) starlark.Value {
		return &exposures{r: n.s.r, of: func(name string) []starlark.Value { return n.s.tuples(n.id, name) }}
	}},
	{"clock", func(n *nodeValue) starlark.Value { return seconds(n.now().Clock) }},
	{"timer", func(n *nodeValue) starlark.Value { return nextTimer(n.now()) }},
	{"logs", func(n *nodeValue) starlark.Value {
		var lines []starlark.Value
		n.eachLog(func(text string) bool {
			lines = append(lines, starlark.String(text))
			return true
		})
		slices.Reverse(lines)
		return &sequence{n: len(lines), at: func(i int) starlark.Value { return lines[i] }}
	}},
	{"last", func(n *nodeValue) starlark.Value {
		v := starlark.Value(starlark.None)
		n.eachLog(func(text string) bool {
			v = starlark.String(text)
			return false
		})
		return v
	}},
}

// nextTimer is when a node's next timer is due.
func nextTimer(n *world.NodeState) starlark.Value {
	if !n.Started || n.Done {
		return starlark.None
	}
	return seconds(n.Deadline)
}

// sequence is a list that is made item by item.
type sequence struct {
	view
	n  int
	at func(i int) starlark.Value
}

var empty = &sequence{}

func (s *sequence) String() string             { return starlark.NewList(s.all()).String() }
func (*sequence) Type() string                 { return "sequence" }
func (s *sequence) Truth() starlark.Bool       { return s.n > 0 }
func (s *sequence) Len() int                   { return s.n }
func (s *sequence) Index(i int) starlark.Value { return s.at(i) }
func (s *sequence) Iterate() starlark.Iterator { return &iterator{s, 0} }
func (s *sequence) Slice(start, end, step int) starlark.Value {
	n := 0
	if step > 0 && end > start {
		n = (end - start + step - 1) / step
	} else if step < 0 && end < start {
		n = (start - end - step - 1) / -step
	}
	return &sequence{n: n, at: func(i int) starlark.Value { return s.at(start + i*step) }}
}

func (s *sequence) all() []starlark.Value {
	var items []starlark.Value
	for i := range s.n {
		items = append(items, s.at(i))
	}
	return items
}

type iterator struct {
	s *sequence
	i int
}

func (it *iterator) Next(v *starlark.Value) bool {
	if it.i >= it.s.n {
		return false
	}
	*v = it.s.at(it.i)
	it.i++
	return true
}

func (*iterator) Done() {}

// path is a list of the steps of the execution.
func (r *Rules) path(p *space.Path) starlark.Value {
	return &sequence{n: p.Steps(), at: func(i int) starlark.Value { return r.done(p, i+1) }}
}

// done is step i of the execution, from 1.
func (r *Rules) done(p *space.Path, i int) *action {
	e, t := p.Taken(i), p.Transition(i)
	return &action{r: r, did: e.Action(), at: t.Input.At, packet: e.Packet, by: t, index: i - 1}
}

// given is what a node was given, wherever that was.
func (r *Rules) given(t *memo.Transition) *action {
	return &action{r: r, did: t.Input.Action(t.From.Node), at: t.Input.At, packet: t.Input.Packet, by: t, index: -1}
}

// enabled is a list of what can be done next.
func (r *Rules) enabled(p *space.Path) starlark.Value {
	events := p.Last().Enabled
	return &sequence{n: len(events), at: func(i int) starlark.Value {
		e := &events[i]
		return &action{r: r, did: e.Action(), at: e.At, packet: e.Packet, index: i}
	}}
}

func (r *Rules) node(id ariadne.NodeID) starlark.Value { return starlark.String(r.names.Node(id)) }

// seconds of virtual time; None for never.
func seconds(t ariadne.Time) starlark.Value {
	if t == ariadne.Never {
		return starlark.None
	}
	return starlark.Float(float64(t) / 1e9)
}

// patterns are compiled, by text; so many are kept.
var (
	patterns     sync.Map
	patternsKept atomic.Int32
)

const maxPatterns = 1000

// match(pattern, text) is None, or what the pattern finds in the text: a tuple of all
// of it and its groups.
func match(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var pattern, text string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &pattern, &text); err != nil {
		return nil, err
	}
	x, ok := patterns.Load(pattern)
	if !ok {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("match: %w", err)
		}
		if x = compiled; patternsKept.Add(1) <= maxPatterns {
			x, _ = patterns.LoadOrStore(pattern, compiled)
		}
	}
	found := x.(*regexp.Regexp).FindStringSubmatch(text)
	if found == nil {
		return starlark.None, nil
	}
	var groups starlark.Tuple
	for _, s := range found {
		groups = append(groups, starlark.String(s))
	}
	return groups, nil
}
