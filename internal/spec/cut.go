package spec

import (
	"slices"
	"strings"
	"time"

	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// Cut says how faults may part the network, within the budget of such faults.
type Cut struct {
	Groups  [][]ariadne.NodeID // each is parted from all other nodes; nil: DefaultGroups
	For     []time.Duration    // for how long, or ariadne.Ever; nil: DefaultCuts
	OneWay  bool               // in one direction, too
	Clients bool               // clients are parted from the group as well; else they reach everyone
}

// DefaultCuts are how long the network is parted when the spec does not say it.
var DefaultCuts = []time.Duration{15 * time.Second}

// PartitionsOf are the ways in which the spec's faults may part the network, for the rules.
func (s *Spec) PartitionsOf() (all []*world.Partition) {
	if s.Faults[world.Cut] == 0 {
		return nil
	}
	var inside, clients []ariadne.NodeID
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Client {
			clients = append(clients, n.ID)
		} else {
			inside = append(inside, n.ID)
		}
	}
	groups, lengths := s.Cut.Groups, s.Cut.For
	if groups == nil {
		groups = DefaultGroups(inside)
	}
	if lengths == nil {
		lengths = DefaultCuts
	}
	seen := map[string]bool{}
	add := func(p *world.Partition) {
		if name := p.Name + p.For.String(); !seen[name] {
			seen[name] = true
			all = append(all, p)
		}
	}
	for _, g := range groups {
		rest := slices.DeleteFunc(slices.Clone(inside), func(id ariadne.NodeID) bool { return slices.Contains(g, id) })
		if s.Cut.Clients {
			rest = append(rest, slices.DeleteFunc(slices.Clone(clients), func(id ariadne.NodeID) bool { return slices.Contains(g, id) })...)
		}
		if len(rest) == 0 {
			continue
		}
		a, b := s.namesOf(g), s.namesOf(rest)
		for _, length := range lengths {
			add(world.NewPartition(a+"|"+b, g, rest, false, length))
			if s.Cut.OneWay {
				add(world.NewPartition(a+">"+b, g, rest, true, length))
				add(world.NewPartition(b+">"+a, rest, g, true, length))
			}
		}
	}
	return all
}

// DefaultGroups are each node alone and, of four nodes and more, each two.
func DefaultGroups(nodes []ariadne.NodeID) (groups [][]ariadne.NodeID) {
	if len(nodes) == 2 {
		return [][]ariadne.NodeID{nodes[:1]}
	}
	for _, id := range nodes {
		groups = append(groups, []ariadne.NodeID{id})
	}
	for i := 0; len(nodes) > 3 && i < len(nodes); i++ {
		for j := i + 1; j < len(nodes); j++ {
			if len(nodes) > 4 || i == 0 { // of four nodes the other two are the rest
				groups = append(groups, []ariadne.NodeID{nodes[i], nodes[j]})
			}
		}
	}
	return groups
}

func (s *Spec) namesOf(ids []ariadne.NodeID) string {
	var names []string
	for _, id := range ids {
		names = append(names, s.Nodes[id].Name)
	}
	return strings.Join(names, "+")
}

// cutText is a Cut as written.
type cutText struct {
	budgetText
	groups          [][]text
	For             []text
	oneWay, clients bool
}

var cutFields = []field[cutText]{
	timesField[cutText](),
	{"groups", "Lists of names of nodes, as in [[n1], [n1, n2]]: each is parted from all other nodes but clients. Default each node alone and, of four and more, each two.", schema{"type": "array", "minItems": 1, "items": textsSchema},
		func(r *reader, c *cutText, v *yaml.Node) { c.groups = r.groups(v) }},
	textsField("for", "How long until the network is whole again, each as in 500ms or 15s, or ever. It is at the next full second of virtual time after that, and can be parted anew from then on. Default 15s.", func(c *cutText) *[]text { return &c.For }),
	flagField("one_way", "Also so that messages get through in one direction; default false.", func(c *cutText) *bool { return &c.oneWay }),
	flagField("clients", "Clients are parted from the group, too; default false: they reach every node.", func(c *cutText) *bool { return &c.clients }),
	afterField[cutText](),
}

// groups reads a list of lists of names.
func (r *reader) groups(v *yaml.Node) (groups [][]text) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fail(v.Line, "faults: cut: groups: a list of groups is needed here, as in [[n1], [n1, n2]]")
		return nil
	}
	for _, g := range v.Content {
		groups = append(groups, r.texts(g))
	}
	return groups
}

// cutGroups resolves the names of the nodes in groups.
func (r *reader) cutGroups(written [][]text, nodes []Node) (groups [][]ariadne.NodeID) {
	for _, names := range written {
		g := r.faultyNodes("cut: groups", names, nodes)
		slices.Sort(g)
		switch same := func(h []ariadne.NodeID) bool { return slices.Equal(g, h) }; {
		case len(slices.Compact(slices.Clone(g))) < len(g):
			r.fail(names[0].line, "faults: cut: groups: a node stands twice in [%s]", strings.Join(stringsOf(names), ", "))
		case slices.ContainsFunc(groups, same):
			r.fail(names[0].line, "faults: cut: groups: [%s] stands twice", strings.Join(stringsOf(names), ", "))
		}
		groups = append(groups, g)
	}
	return groups
}

// setCut reads a number, or how the network may be parted.
func setCut(r *reader, s *specText, v *yaml.Node) {
	var w cutText
	readBudget(r, s, world.Cut, cutFields, &w, v)
	s.Cut = Cut{For: r.lengths("cut", w.For), OneWay: w.oneWay, Clients: w.clients}
	s.cutGroups = w.groups
}

// lengths reads how long a kind of fault lasts.
func (r *reader) lengths(fault string, written []text) (all []time.Duration) {
	for _, t := range written {
		d, err := ariadne.ParseLength(t.string)
		if err != nil {
			r.fail(t.line, "faults: %s: for: %q is no length of time, as in 15s, nor ever", fault, t.string)
		}
		all = append(all, d)
	}
	return all
}
