package spec

import (
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Cut says how faults may part the network, or make a part of it slow, within the budget of such faults.
type Cut struct {
	Groups  [][]ariadne.NodeID // each is parted from all other nodes; nil: the default, unless there are Links
	Links   [][]ariadne.NodeID // pairs of which each is parted
	For     []time.Duration    // for how long, or ariadne.Ever; nil: DefaultCuts
	OneWay  bool               // in one direction, too
	Clients bool               // clients are parted from the groups as well; else they reach everyone
	By      []time.Duration    // how much later messages arrive where it is slow; nil: DefaultSlow
}

// DefaultCuts are how long the network is parted, or slow, when the spec does not say it.
var DefaultCuts = []time.Duration{15 * time.Second}

// DefaultSlow is how much later messages arrive when the spec does not say it: later than
// most systems let pass without a word of a peer.
var DefaultSlow = []time.Duration{2 * time.Second}

// maxSlow is how much later they may arrive.
const maxSlow = time.Minute

func init() {
	faultRow(world.Cut, fault{
		fields: func() schema { return object(cutFields) },
		set:    setCut,
		names:  func(r *reader, s *Spec, written *specText) { r.cutNames(&s.Cut, world.Cut, &written.cut, s.Nodes) },
		parts:  func(s *Spec) []*world.Partition { return s.partitions(&s.Cut, DefaultGroups) },
		nowhere: func(s *Spec) string {
			if len(s.partitions(&s.Cut, DefaultGroups)) == 0 {
				return "faults: cut: it parts no node from another; clients are parted from none unless clients: true is given"
			}
			return ""
		},
	})
	faultRow(world.Slow, fault{
		fields: func() schema { return object(slowFields) },
		set:    setSlow,
		names:  func(r *reader, s *Spec, written *specText) { r.cutNames(&s.Slow, world.Slow, &written.slow, s.Nodes) },
		parts:  (*Spec).slowParts,
		nowhere: func(s *Spec) string {
			if len(s.partitions(&s.Slow, alone)) == 0 {
				return "faults: slow: nothing goes between nodes; what goes to clients is slow only if clients: true is given"
			}
			return ""
		},
	})
}

// slowParts are the parts of the network that may be slow.
func (s *Spec) slowParts() (all []*world.Partition) {
	by := s.Slow.By
	if by == nil {
		by = DefaultSlow
	}
	for _, p := range s.partitions(&s.Slow, alone) {
		for _, late := range by {
			all = append(all, p.Late(late))
		}
	}
	return all
}

// partitions are those of groups, those given by default when nothing is said, and of links.
func (s *Spec) partitions(c *Cut, byDefault func([]ariadne.NodeID) [][]ariadne.NodeID) (all []*world.Partition) {
	groups, lengths := c.Groups, c.For
	if groups == nil && c.Links == nil {
		groups = byDefault(s.servers(nil))
	}
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
	part := func(from, to []ariadne.NodeID) {
		if len(to) == 0 {
			return
		}
		add(from, to, "|", false)
		if c.OneWay {
			add(from, to, ">", true)
			add(to, from, ">", true)
		}
	}
	for _, g := range groups {
		part(g, s.others(g, c.Clients))
	}
	for _, l := range c.Links {
		part(l[:1], l[1:])
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

// alone is each node alone.
func alone(nodes []ariadne.NodeID) (groups [][]ariadne.NodeID) {
	if len(nodes) == 2 {
		nodes = nodes[:1]
	}
	for _, id := range nodes {
		groups = append(groups, []ariadne.NodeID{id})
	}
	return groups
}

// DefaultGroups are each node alone and, of four nodes and more, each two.
func DefaultGroups(nodes []ariadne.NodeID) (groups [][]ariadne.NodeID) {
	groups = alone(nodes)
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

// names are those of all nodes.
func (s *Spec) names() (all []string) {
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Name)
	}
	return all
}

// cutText is a Cut as written.
type cutText struct {
	budgetText
	groups, links   [][]text
	For, by         []text
	oneWay, clients bool
}

var cutFields = []field[cutText]{
	timesField[cutText](),
	{"groups", "Lists of names of nodes, as in [[n1], [n1, n2]]: each is parted from all other nodes but clients. Default each node alone and, of four and more, each two.", groupsSchema,
		func(r *reader, c *cutText, v *yaml.Node) { c.groups = r.groups(v) }},
	{"links", "Pairs of names of nodes, as in [[n1, n2]]: only these two are parted, and others reach both.", linksSchema,
		func(r *reader, c *cutText, v *yaml.Node) { c.links = r.pairs(v) }},
	textsField("for", "How long until a partition ends, each as in 500ms or 15s, or ever. It ends at the next full second of virtual time after that. Others may stand at the same time. Default 15s.", func(c *cutText) *[]text { return &c.For }),
	flagField("one_way", "Also so that messages get through in one direction; default false.", func(c *cutText) *bool { return &c.oneWay }),
	flagField("clients", "Clients are parted from the group, too; default false: they reach every node.", func(c *cutText) *bool { return &c.clients }),
	afterField[cutText](),
}

var slowFields = []field[cutText]{
	timesField[cutText](),
	{"groups", "Lists of names of nodes, as in [[n1], [n1, n2]]: what goes between them and all other nodes but clients is slow. Default each node alone.", groupsSchema,
		func(r *reader, c *cutText, v *yaml.Node) { c.groups = r.groups(v) }},
	{"links", "Pairs of names of nodes, as in [[n1, n2]]: what goes between these two is slow.", linksSchema,
		func(r *reader, c *cutText, v *yaml.Node) { c.links = r.pairs(v) }},
	textsField("by", "How much later messages arrive than otherwise, each as in 500ms or 2s, at most 60s; default 2s.", func(c *cutText) *[]text { return &c.by }),
	textsField("for", "How long, each as in 500ms or 15s, or ever: what is sent up to the next full second of virtual time after that is late. Default 15s.", func(c *cutText) *[]text { return &c.For }),
	flagField("one_way", "Also in one direction alone; default false.", func(c *cutText) *bool { return &c.oneWay }),
	flagField("clients", "What goes between the groups and clients is slow, too; default false.", func(c *cutText) *bool { return &c.clients }),
	afterField[cutText](),
}

var (
	groupsSchema = schema{"type": "array", "minItems": 1, "items": textsSchema}
	linksSchema  = schema{"type": "array", "minItems": 1, "items": schema{"type": "array", "minItems": 2, "maxItems": 2, "items": schema{"type": "string"}}}
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
			r.fail(names[0].line, "faults: %s: a node stands twice in [%s]", where, strings.Join(stringsOf(names), ", "))
		case slices.ContainsFunc(groups, same):
			r.fail(names[0].line, "faults: %s: [%s] stands twice", where, strings.Join(stringsOf(names), ", "))
		}
		groups = append(groups, g)
	}
	return groups
}

// cutNames resolves the names of the nodes of a Cut.
func (r *reader) cutNames(c *Cut, k ariadne.ActionKind, written *cutText, nodes []Node) {
	name := world.KindOf(k).Name
	c.Groups = r.cutNodes(name+": groups", written.groups, nodes)
	c.Links = r.cutNodes(name+": links", written.links, nodes)
}

// setCut reads a number, or how the network may be parted.
func setCut(r *reader, s *specText, v *yaml.Node) { s.Cut = r.cut(s, world.Cut, cutFields, &s.cut, v) }

// setSlow reads a number, or which part of the network may be slow.
func setSlow(r *reader, s *specText, v *yaml.Node) {
	s.Slow = r.cut(s, world.Slow, slowFields, &s.slow, v)
}

func (r *reader) cut(s *specText, k ariadne.ActionKind, fields []field[cutText], w *cutText, v *yaml.Node) Cut {
	readBudget(r, s, k, fields, w, v)
	c := Cut{For: r.lengths(world.KindOf(k).Name, w.For), OneWay: w.oneWay, Clients: w.clients}
	for _, t := range w.by {
		by, err := time.ParseDuration(t.string)
		switch {
		case err != nil || by <= 0:
			r.fail(t.line, "faults: slow: by: %q is no length of time, as in 2s", t.string)
		case by > maxSlow:
			r.fail(t.line, "faults: slow: by: %s is more than %v", t.string, maxSlow)
		case slices.Contains(c.By, by):
			r.fail(t.line, "faults: slow: by: %s stands twice", t.string)
		}
		c.By = append(c.By, by)
	}
	return c
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
