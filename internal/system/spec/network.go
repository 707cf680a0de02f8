package spec

import (
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Network says which part of the network faults of a kind may hit, within the budget of such
// faults.
type Network struct {
	Groups  [][]ariadne.NodeID // each and all other nodes; nil: the default, unless there are Links
	Links   [][]ariadne.NodeID // pairs
	For     []time.Duration    // for how long, or ariadne.Ever; nil: DefaultCuts
	OneWay  bool               // in one direction, too
	Clients bool               // between groups and clients, too
	By      []int64            // how much (world.Amount); nil: the default
}

// DefaultCuts are how long the network is parted, or slow, when the spec does not say it.
var DefaultCuts = []time.Duration{15 * time.Second}

// networkRow is the row of a kind of fault that hits the network.
func networkRow(k ariadne.ActionKind, kind *world.Kind) *fault {
	row := kind.Network
	return &fault{
		fields: func() schema { return object(networkFields(row)) },
		set:    func(r *reader, s *specText, v *yaml.Node) { r.network(s, k, v) },
		names: func(r *reader, s *Spec, written *specText) {
			w, of := written.network[k], &s.Network[k]
			of.Groups = r.cutNodes(kind.Name+": groups", w.groups, s.Nodes)
			of.Links = r.cutNodes(kind.Name+": links", w.links, s.Nodes)
		},
		parts: func(s *Spec) (all []*world.Partition) {
			if row.Amount == nil {
				return s.partitions(k)
			}
			by := s.Network[k].By
			if by == nil {
				by = row.Amount.Default
			}
			for _, p := range s.partitions(k) {
				for _, amount := range by {
					all = append(all, p.WithKind(k, amount))
				}
			}
			return all
		},
		nowhere: func(s *Spec) string {
			if len(s.partitions(k)) == 0 {
				return "faults: " + kind.Name + ": " + row.Nowhere
			}
			return ""
		},
	}
}

// Sides are two groups of nodes that a fault of the network may separate.
type Sides struct{ From, To []ariadne.NodeID }

// SidesOf are those of the groups, each and all others, and those of the links.
func (s *Spec) SidesOf(n *Network) (groups, links []Sides) {
	for _, g := range n.Groups {
		if to := s.others(g, n.Clients); len(to) > 0 {
			groups = append(groups, Sides{g, to})
		}
	}
	for _, l := range n.Links {
		links = append(links, Sides{l[:1], l[1:]})
	}
	return groups, links
}

// NetworkOf is which part of the network faults of a kind may hit: with the groups that are given
// by default, when nothing is said.
func (s *Spec) NetworkOf(k ariadne.ActionKind) *Network {
	n := s.Network[k]
	if n.Groups == nil && n.Links == nil {
		n.Groups = world.KindOf(k).Network.Groups(s.Servers(nil))
	}
	return &n
}

// partitions are those of a kind of fault, each for each length.
func (s *Spec) partitions(k ariadne.ActionKind) (all []*world.Partition) {
	n := s.NetworkOf(k)
	lengths := n.For
	if lengths == nil {
		lengths = DefaultCuts
	}
	seen := map[string]bool{}
	add := func(from, to []ariadne.NodeID, between string, oneWay bool) {
		name := s.namesOf(from) + between + s.namesOf(to)
		for _, length := range lengths {
			if key := name + length.String(); !seen[key] {
				seen[key] = true
				all = append(all, world.NewPartition(name, from, to, oneWay, length))
			}
		}
	}
	groups, links := s.SidesOf(n)
	for _, x := range append(groups, links...) {
		add(x.From, x.To, "|", false)
		if n.OneWay {
			add(x.From, x.To, ">", true)
			add(x.To, x.From, ">", true)
		}
	}
	return all
}

// others are the nodes outside of a group: clients come last, if at all.
func (s *Spec) others(group []ariadne.NodeID, clients bool) (all []ariadne.NodeID) {
	for _, client := range []bool{false, true} {
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Client == client && (clients || !client) && !slices.Contains(group, n.ID) {
				all = append(all, n.ID)
			}
		}
	}
	return all
}

func (s *Spec) namesOf(ids []ariadne.NodeID) string {
	var names []string
	for _, id := range ids {
		names = append(names, s.Nodes[id].Name)
	}
	return strings.Join(names, "+")
}

// names are those of all nodes.
func (s *Spec) names() (all []string) {
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Name)
	}
	return all
}

// networkText is a Network as written.
type networkText struct {
	budgetText
	groups, links   [][]text
	For, by         []text
	oneWay, clients bool
}

// networkFields are those of a kind of fault that hits the network.
func networkFields(n *world.Network) []field[networkText] {
	fields := []field[networkText]{
		timesField[networkText](),
		{"groups", n.DocGroups, groupsSchema, func(r *reader, c *networkText, v *yaml.Node) { c.groups = r.groups(v) }},
		{"links", n.DocLinks, linksSchema, func(r *reader, c *networkText, v *yaml.Node) { c.links = r.pairs(v) }},
		textsField("for", n.DocFor, func(c *networkText) *[]text { return &c.For }),
		flagField("one_way", n.DocOneWay, func(c *networkText) *bool { return &c.oneWay }),
		flagField("clients", n.DocClients, func(c *networkText) *bool { return &c.clients }),
		afterField[networkText](),
	}
	if n.Amount != nil {
		fields = append(fields, textsField("by", n.Amount.Doc, func(c *networkText) *[]text { return &c.by }))
	}
	return fields
}

var (
	groupsSchema = schema{"type": "array", "minItems": 1, "items": textsSchema}
	linksSchema  = schema{"type": "array", "minItems": 1,
		"items": schema{"type": "array", "minItems": 2, "maxItems": 2, "items": schema{"type": "string"}}}
)

// groups reads a list of lists of names.
func (r *reader) groups(v *yaml.Node) (groups [][]text) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fail(v.Line, "%s: a list of groups is needed here, as in [[n1], [n1, n2]]", strings.Join(r.fields, ": "))
		return nil
	}
	for _, g := range v.Content {
		groups = append(groups, r.texts(g))
	}
	return groups
}

// pairs reads a list of lists of two names.
func (r *reader) pairs(v *yaml.Node) (pairs [][]text) {
	if v.Kind == yaml.SequenceNode {
		for _, p := range v.Content {
			pairs = append(pairs, r.texts(p))
		}
	}
	if len(pairs) == 0 || slices.ContainsFunc(pairs, func(p []text) bool { return len(p) != 2 }) {
		r.fail(v.Line, "%s: a list of pairs is needed here, as in [[n1, n2]]", strings.Join(r.fields, ": "))
	}
	return pairs
}

// cutNodes resolves the names of the nodes in groups, or pairs.
func (r *reader) cutNodes(where string, written [][]text, nodes []Node) (groups [][]ariadne.NodeID) {
	for _, names := range written {
		g := r.faultyNodes(where, names, nodes)
		slices.Sort(g)
		switch same := func(h []ariadne.NodeID) bool { return slices.Equal(g, h) }; {
		case len(slices.Compact(slices.Clone(g))) < len(g):
			r.fail(names[0].line, "faults: %s: a node stands twice in [%s]", where,
				strings.Join(stringsOf(names), ", "))
		case slices.ContainsFunc(groups, same):
			r.fail(names[0].line, "faults: %s: [%s] stands twice", where, strings.Join(stringsOf(names), ", "))
		}
		groups = append(groups, g)
	}
	return groups
}

// network reads a number, or which part of the network a kind of fault may hit, and how.
func (r *reader) network(s *specText, k ariadne.ActionKind, v *yaml.Node) {
	var w networkText
	kind := world.KindOf(k)
	readBudget(r, s, k, networkFields(kind.Network), &w, v)
	name := kind.Name
	n := Network{For: r.lengths(name, w.For), OneWay: w.oneWay, Clients: w.clients}
	for _, t := range w.by {
		by, err := kind.Network.Amount.Parse(t.string)
		if err != nil {
			r.fail(t.line, "faults: %s: by: %v", name, err)
		} else if slices.Contains(n.By, by) {
			r.fail(t.line, "faults: %s: by: %s stands twice", name, t.string)
		}
		n.By = append(n.By, by)
	}
	s.Network[k], s.network[k] = n, w
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
