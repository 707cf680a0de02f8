package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/script"

	"go.starlark.net/starlark"
)

// ownName is something that properties read which no node exposes.
type ownName struct {
	sees expose.Sights
	of   func(*Properties, *expose.Snapshot) starlark.Value
	// say says it in words; nil: it need not be said.
	say func(*Properties, *expose.Snapshot) []string
}

// earlier is the name of the snapshots before. Each property has others.
const earlier = "earlier"

// own are property.OwnNames but for earlier.
var own = map[string]ownName{
	"nodes": {of: func(p *Properties, _ *expose.Snapshot) starlark.Value { return script.Texts(p.Nodes) }},
	"up": {
		sees: expose.Sights{Up: true},
		of:   func(p *Properties, s *expose.Snapshot) starlark.Value { return script.Texts(p.up(s)) },
		say:  func(p *Properties, s *expose.Snapshot) []string { return []string{"up: " + strings.Join(p.up(s), " ")} },
	},
	"messages": {
		sees: expose.Sights{World: true},
		of: func(p *Properties, s *expose.Snapshot) starlark.Value {
			var all []starlark.Value
			for _, m := range s.World.Messages() {
				all = append(all, &script.Message{Message: m, Node: p.node})
			}
			return script.Frozen(all)
		},
		say: func(p *Properties, s *expose.Snapshot) (all []string) {
			for _, m := range s.World.Messages() {
				all = append(all, fmt.Sprintf("a message from %s to %s", p.node(m.From), p.node(m.To)))
			}
			return all
		},
	},
	"pending": {
		sees: expose.Sights{Past: true},
		of: func(p *Properties, s *expose.Snapshot) starlark.Value {
			var all []starlark.Value
			for _, o := range expose.PendingOf(p.operations(s.Past)) {
				all = append(all, &script.Tuple{Node: p.Nodes[o.Node], Tuple: pendingTuple(o)})
			}
			return script.Frozen(all)
		},
		say: func(p *Properties, s *expose.Snapshot) (all []string) {
			for _, o := range expose.PendingOf(p.operations(s.Past)) {
				all = append(all,
					strings.Join(strings.Fields(fmt.Sprintf("%s waits since it began %s %s %s",
						clientName(p.Nodes[o.Node], o.Client), o.Op, o.Key, o.Value)), " "))
			}
			return all
		},
	},
	"timers": {
		sees: expose.Sights{World: true},
		of: func(p *Properties, s *expose.Snapshot) starlark.Value {
			return p.byNode(func(id ariadne.NodeID) starlark.Value {
				at, ok := s.World.Timer(id)
				if !ok {
					return starlark.None
				}
				return script.Seconds(at)
			})
		},
	},
	"clocks": {
		sees: expose.Sights{World: true},
		of: func(p *Properties, s *expose.Snapshot) starlark.Value {
			return p.byNode(func(id ariadne.NodeID) starlark.Value { return script.Seconds(s.World.Clock(id)) })
		},
	},
}

// pendingTuple is an operation that is under way, as properties see it.
func pendingTuple(o expose.Pending) expose.Tuple {
	return expose.Tuple{Name: "pending", Key: o.Client,
		Fields: []string{"client", "op", "key", "value", "n"},
		Values: []string{o.Client, o.Op, o.Key, o.Value, strconv.Itoa(o.N)}}
}

// clientName names a client of a node.
func clientName(node, client string) string {
	if client == "" {
		return node
	}
	return node + "/" + client
}

func ownNames() []string {
	return slices.DeleteFunc(slices.Clone(property.OwnNames), func(name string) bool {
		return name == "nodes" || name == earlier
	})
}

// up are the names of the nodes whose programs may run.
func (p *Properties) up(s *expose.Snapshot) (up []string) {
	for i, name := range p.Nodes {
		if s.Up[i] {
			up = append(up, name)
		}
	}
	return up
}

// node is a node's name.
func (p *Properties) node(id ariadne.NodeID) string { return p.Nodes[id] }

// byNode is a dictionary by the names of the nodes, of those that have something.
func (p *Properties) byNode(of func(ariadne.NodeID) starlark.Value) starlark.Value {
	d := starlark.NewDict(len(p.Nodes))
	for i, name := range p.Nodes {
		if v := of(ariadne.NodeID(i)); v != starlark.None {
			_ = d.SetKey(starlark.String(name), v) // a string can be hashed
		}
	}
	d.Freeze()
	return d
}

// earlier are the snapshots before this one that a property sees, the latest last.
func (j *Judge) earlier(q *compiled, s *expose.Snapshot) starlark.Value {
	var all []starlark.Value
	for _, before := range s.Earlier.In(q.window) {
		all = append(all, &snapshot{j: j, q: q, of: before})
	}
	return script.Frozen(all)
}

// snapshot is an earlier one, as a property sees it: what the property reads are its attributes.
type snapshot struct {
	script.View
	j  *Judge
	q  *compiled
	of *expose.Snapshot
}

func (s *snapshot) String() string { return s.j.texts(s.q, s.of) }
func (*snapshot) Type() string     { return "snapshot" }
func (s *snapshot) AttrNames() []string {
	return slices.DeleteFunc(slices.Sorted(slices.Values(s.q.params)), func(name string) bool {
		return name == earlier
	})
}
func (s *snapshot) Attr(name string) (starlark.Value, error) {
	if name == earlier || !slices.Contains(s.q.params, name) {
		return nil, nil // the interpreter knows what to say
	}
	return s.j.valueOf(name, s.of)
}

// rising(tuples, earlier): the last value of each node and key, a number, is nowhere less than it
// was.
func rising(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var list, before *starlark.List
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &list, &before); err != nil {
		return nil, err
	}
	type of struct{ node, key string }
	last := map[of]float64{}
	for i := range before.Len() {
		s, ok := before.Index(i).(*snapshot)
		if !ok {
			return nil,
				fmt.Errorf("%s: its second argument must be earlier, not a list of %s", b.Name(),
					before.Index(i).Type())
		}
		if list.Len() == 0 {
			break
		}
		t, ok := list.Index(0).(*script.Tuple)
		if !ok {
			break // said below
		}
		was, err := s.Attr(t.Name)
		if err != nil {
			return nil, err
		}
		list, ok := was.(*starlark.List)
		if !ok {
			break // it is not what the property reads
		}
		if err := tuples(b, list, func(t *script.Tuple) (bool, error) {
			v, err := number(&t.Tuple)
			last[of{t.Node, t.Key}] = v
			return true, err
		}); err != nil {
			return nil, err
		}
	}
	return holds(tuples(b, list, func(t *script.Tuple) (bool, error) {
		v, err := number(&t.Tuple)
		was, known := last[of{t.Node, t.Key}]
		return !known || v >= was, err
	}))
}

// number is the last value of a tuple.
func number(t *expose.Tuple) (float64, error) {
	if len(t.Values) == 0 {
		return 0, fmt.Errorf("%s has no value", t)
	}
	v, err := strconv.ParseFloat(t.Values[len(t.Values)-1], 64)
	if err != nil {
		return 0, fmt.Errorf("the value of %s is not a number", t)
	}
	return v, nil
}
