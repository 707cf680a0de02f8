package spec

import (
	"regexp"
	"slices"

	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// Preempt says which threads may be late, within the budget of such faults.
type Preempt struct {
	Nodes []ariadne.NodeID // whose; nil: all
}

// ThreadsLate reports whether threads of a node may be late.
func (s *Spec) ThreadsLate(id ariadne.NodeID) bool {
	return s.Faults[world.Preempt] > 0 && (s.Preempt.Nodes == nil || slices.Contains(s.Preempt.Nodes, id))
}

// preemptText is a Preempt as written.
type preemptText struct {
	count int
	nodes []text
	after *regexp.Regexp
}

var preemptFields = []field[preemptText]{
	countField("count", "How many in one execution; default 1.", 0, world.MaxFaults, func(p *preemptText) *int { return &p.count }),
	{"nodes", "Names of the nodes of which threads are late; default all.", textsSchema,
		func(r *reader, p *preemptText, v *yaml.Node) { p.nodes = r.texts(v) }},
	afterField(func(x *preemptText) **regexp.Regexp { return &x.after }),
}

// setPreempt reads a number, or whose threads may be late.
func setPreempt(r *reader, s *specText, v *yaml.Node) {
	w := preemptText{count: 1}
	if v.Kind == yaml.MappingNode {
		readFields(r, preemptFields, &w, v)
	} else {
		w.count = r.count(v, 0, world.MaxFaults)
	}
	s.Faults[world.Preempt], s.After[world.Preempt], s.preemptNodes = uint8(w.count), w.after, w.nodes
}
