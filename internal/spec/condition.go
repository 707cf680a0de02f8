package spec

import (
	"regexp"

	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// afterField is what a line must look like that comes before a fault. All kinds have it.
func afterField[T any](at func(*T) **regexp.Regexp) field[T] {
	return field[T]{"after", "A regular expression: only after a line like that, of the node that it happens to, of either node that a message is sent from or to, or of any when the network is parted. Default from the beginning.",
		schema{"type": "string"}, func(r *reader, into *T, v *yaml.Node) {
			t := r.text(v)
			x, err := regexp.Compile(t.string)
			if err != nil {
				r.fail(t.line, "faults: after: %s", err)
			} else if t.string == "" {
				r.fail(t.line, "faults: after: an empty expression matches every line")
			}
			*at(into) = x
		}}
}

// hitText is which messages faults of a kind hit, as written.
type hitText struct {
	count        int
	nodes, peers []text
	after        *regexp.Regexp
}

var hitFields = []field[hitText]{
	countField("count", "How many in one execution; default 1.", 0, world.MaxFaults, func(h *hitText) *int { return &h.count }),
	{"nodes", "Names of the nodes from or to which messages are hit; default any.", textsSchema,
		func(r *reader, h *hitText, v *yaml.Node) { h.nodes = r.texts(v) }},
	{"peers", "Names of nodes of which one is at the other end; default any.", textsSchema,
		func(r *reader, h *hitText, v *yaml.Node) { h.peers = r.texts(v) }},
	afterField(func(h *hitText) **regexp.Regexp { return &h.after }),
}

// setHit reads a number, or which messages are hit when.
func setHit(k ariadne.ActionKind) func(r *reader, s *specText, v *yaml.Node) {
	return func(r *reader, s *specText, v *yaml.Node) {
		w := hitText{count: 1}
		if v.Kind == yaml.MappingNode {
			readFields(r, hitFields, &w, v)
		} else {
			w.count = r.count(v, 0, world.MaxFaults)
		}
		s.Faults[k], s.After[k], s.hits[k] = uint8(w.count), w.after, w
	}
}

// endsOf resolves the names of the nodes between which faults of a kind hit messages.
func (r *reader) endsOf(k ariadne.ActionKind, w hitText, nodes []Node) world.Ends {
	name := world.KindOf(k).Name
	return world.Ends{Nodes: r.faultyNodes(name+": nodes", w.nodes, nodes), Peers: r.faultyNodes(name+": peers", w.peers, nodes)}
}
