package steer

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/script"

	"go.starlark.net/starlark"
)

// What scripts see are views of the search's own values: nothing is copied until it
// is asked for. A view is good during the call that it is given to; no script can
// keep one, because its globals are frozen.

// action is a step of the path, or one that could be the next.
type action struct {
	script.View
	r      *Rules
	did    ariadne.Action
	at     ariadne.Time
	packet *world.Packet    // of a delivery
	by     *memo.Transition // what it came to; nil: it has not happened
	index  int              // in the list that it is of
	says   script.Says
}

func (a *action) String() string { return a.name() }
func (a *action) Type() string   { return "action" }
func (a *action) AttrNames() []string {
	return a.says.Names(a.message(), actionAttrs.Names())
}
func (a *action) Attr(name string) (starlark.Value, error) {
	if v, err := actionAttrs.Attr(a, name); v != nil || err != nil {
		return v, err
	}
	return a.says.Attr(a.message(), name), nil
}

// message is what is delivered, or nil.
func (a *action) message() *ariadne.Message {
	if a.packet == nil {
		return nil
	}
	return &a.packet.Message
}

func (a *action) name() string { return a.r.names.Action(a.did) }

var actionAttrs = script.Attributes[*action]{
	"index": func(a *action) starlark.Value { return starlark.MakeInt(a.index) },
	"kind":  func(a *action) starlark.Value { return starlark.String(world.KindOf(a.did.Kind).Name) },
	"name":  func(a *action) starlark.Value { return starlark.String(a.name()) },
	"node": func(a *action) starlark.Value {
		if world.KindOf(a.did.Kind).World && a.packet == nil { // the network's
			return starlark.None
		}
		return a.r.node(a.did.Node)
	},
	"what":      func(a *action) starlark.Value { return starlark.String(a.did.What) },
	"variation": func(a *action) starlark.Value { return starlark.String(a.did.Vary) },
	"time":      func(a *action) starlark.Value { return script.Seconds(a.at) },
	"sender":    ofPacket(starlark.None, func(a *action, p *world.Packet) starlark.Value { return a.r.node(p.From) }),
	"text": ofPacket(starlark.String(""), func(_ *action, p *world.Packet) starlark.Value {
		return starlark.String(p.Data)
	}),
	"size": ofPacket(starlark.MakeInt(0), func(_ *action, p *world.Packet) starlark.Value {
		return starlark.MakeInt(len(p.Data))
	}),
	"port": ofPacket(starlark.None, func(_ *action, p *world.Packet) starlark.Value {
		return starlark.MakeInt(int(p.Flow.Dst.Port()))
	}),
	"flags": ofPacket(starlark.String(""), func(_ *action, p *world.Packet) starlark.Value {
		return starlark.String(p.Flags.String())
	}),
	"exposed": func(a *action) starlark.Value {
		return &exposures{r: a.r, of: func(name string) (all []starlark.Value) {
			for _, c := range a.changes(name) {
				if !c.Ends {
					all = append(all, &script.Tuple{Node: a.r.names.Node(a.did.Node), Tuple: c.Tuple})
				}
			}
			return all
		}}
	},
	"concealed": func(a *action) starlark.Value {
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
	},
	"logs": func(a *action) starlark.Value {
		if a.by == nil {
			return &script.Sequence{}
		}
		logs := slices.Collect(a.by.Output.Lines())
		return &script.Sequence{N: len(logs), At: func(i int) starlark.Value { return starlark.String(logs[i].Text) }}
	},
	"sent": func(a *action) starlark.Value {
		if a.by == nil {
			return &script.Sequence{}
		}
		packets := a.by.Effect.Packets
		return &script.Sequence{N: len(packets), At: func(i int) starlark.Value {
			m := &packets[i].Message
			return &script.Message{Node: a.r.names.Node,
				Message: expose.Message{Message: m, Arrival: ariadne.Never, Name: func() string {
					return a.r.names.Action(world.ArrivalOf(m))
				}}}
		}}
	},
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

// state is the state at the end of a path.
type state struct {
	r *Rules
	p *space.Path
}

func (*state) Freeze()                                    {}
func (*state) Truth() starlark.Bool                       { return true }
func (*state) Hash() (uint32, error)                      { return script.View{}.Hash() }
func (s *state) String() string                           { return fmt.Sprintf("state after %d steps", s.p.Steps()) }
func (*state) Type() string                               { return "state" }
func (*state) AttrNames() []string                        { return stateAttrs.Names() }
func (s *state) Attr(name string) (starlark.Value, error) { return stateAttrs.Attr(s, name) }

var stateAttrs = script.Attributes[*state]{
	"time":       func(s *state) starlark.Value { return script.Seconds(s.p.Last().State.Now) },
	"steps":      func(s *state) starlark.Value { return starlark.MakeInt(s.p.Steps()) },
	"delays":     func(s *state) starlark.Value { return starlark.MakeInt(s.p.Last().State.Delays) },
	"deviations": func(s *state) starlark.Value { return starlark.MakeInt(s.p.Last().Deviations) },
	"nodes": func(s *state) starlark.Value {
		return &script.Sequence{N: len(s.p.Last().State.Nodes), At: func(i int) starlark.Value {
			return &nodeValue{s: s, id: ariadne.NodeID(i)}
		}}
	},
	"node": func(s *state) starlark.Value {
		return starlark.NewBuiltin("node",
			func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
				error) {
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
	},
	"exposed": func(s *state) starlark.Value {
		return &exposures{r: s.r, sets: s.p.Last().Told, of: func(name string) (all []starlark.Value) {
			for i := range s.p.Last().Told {
				all = append(all, s.tuples(ariadne.NodeID(i), name)...)
			}
			return all
		}}
	},
	"messages": func(s *state) starlark.Value {
		all := space.Seen{State: &s.p.Last().State.State, System: s.p.System()}.Messages()
		return &script.Sequence{N: len(all), At: func(i int) starlark.Value {
			return &script.Message{Message: all[i], Node: s.r.names.Node}
		}}
	},
}

// nodeValue is a node in a state.
type nodeValue struct {
	script.View
	s  *state
	id ariadne.NodeID
}

func (n *nodeValue) String() string                           { return n.s.r.names.Node(n.id) }
func (*nodeValue) Type() string                               { return "node" }
func (*nodeValue) AttrNames() []string                        { return nodeAttrs.Names() }
func (n *nodeValue) Attr(name string) (starlark.Value, error) { return nodeAttrs.Attr(n, name) }

func (n *nodeValue) now() *world.NodeState { return &n.s.p.Last().State.Nodes[n.id] }

// eachLog calls f with the node's lines since it was last taken down, the last one first, until it
// returns false.
func (n *nodeValue) eachLog(f func(text string) bool) {
	for i := n.s.p.Steps(); i >= 1; i-- {
		t := n.s.p.Transition(i)
		if t.From.Node != n.id {
			continue
		}
		if d := t.Effect.Down; d == ariadne.Crashed || d.Off() {
			return
		}
		for _, l := range slices.Backward(slices.Collect(t.Output.Lines())) {
			if !f(l.Text) {
				return
			}
		}
	}
}

var nodeAttrs = script.Attributes[*nodeValue]{
	"name":    func(n *nodeValue) starlark.Value { return starlark.String(n.String()) },
	"started": func(n *nodeValue) starlark.Value { return starlark.Bool(n.now().Started) },
	"ended":   func(n *nodeValue) starlark.Value { return starlark.Bool(n.now().Done) },
	"exposed": func(n *nodeValue) starlark.Value {
		return &exposures{r: n.s.r, of: func(name string) []starlark.Value { return n.s.tuples(n.id, name) }}
	},
	"clock": func(n *nodeValue) starlark.Value { return script.Seconds(n.now().Clock) },
	"timer": func(n *nodeValue) starlark.Value { return nextTimer(n.now()) },
	"logs": func(n *nodeValue) starlark.Value {
		var lines []starlark.Value
		n.eachLog(func(text string) bool {
			lines = append(lines, starlark.String(text))
			return true
		})
		slices.Reverse(lines)
		return &script.Sequence{N: len(lines), At: func(i int) starlark.Value { return lines[i] }}
	},
	"last": func(n *nodeValue) starlark.Value {
		v := starlark.Value(starlark.None)
		n.eachLog(func(text string) bool {
			v = starlark.String(text)
			return false
		})
		return v
	},
}

// nextTimer is when a node's next timer is due.
func nextTimer(n *world.NodeState) starlark.Value {
	if !n.Started || n.Done {
		return starlark.None
	}
	return script.Seconds(n.Deadline)
}

// path is a list of the steps of the execution.
func (r *Rules) path(p *space.Path) starlark.Value {
	return &script.Sequence{N: p.Steps(), At: func(i int) starlark.Value { return r.done(p, i+1) }}
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
	return &script.Sequence{N: len(events), At: func(i int) starlark.Value {
		e := &events[i]
		return &action{r: r, did: e.Action(), at: e.At, packet: e.Packet, index: i}
	}}
}

func (r *Rules) node(id ariadne.NodeID) starlark.Value { return starlark.String(r.names.Node(id)) }
