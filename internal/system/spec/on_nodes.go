package spec

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// OnNodes says which nodes faults of a kind may hit, and which faults, within the budget of such
// faults.
type OnNodes struct {
	Nodes   []ariadne.NodeID    // nil: all but clients
	By      []ariadne.NodeFault // nil: the default
	Between bool                // only between two steps of the node, not within one
}

// onNodesRow is the row of a kind of fault that hits nodes as one of several.
func onNodesRow(k ariadne.ActionKind, kind *world.Kind) *fault {
	return &fault{
		fields:  func() schema { return object(onNodesFields(kind)) },
		set:     func(r *reader, s *specText, v *yaml.Node) { r.readOnNodes(s, k, v) },
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.OnNodes[k].Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.Servers(s.OnNodes[k].Nodes) },
		nodeFaults: func(s *Spec) []world.NodeFaults {
			return []world.NodeFaults{{Nodes: s.Servers(s.OnNodes[k].Nodes), Faults: s.nodeFaultsBy(k)}}
		},
		within: func(s *Spec, id ariadne.NodeID) []ariadne.NodeFault {
			if !kind.Within || s.OnNodes[k].Between || !slices.Contains(s.Servers(s.OnNodes[k].Nodes), id) {
				return nil
			}
			return s.nodeFaultsBy(k)
		},
	}
}

// nodeFaultsBy are the faults of a kind that may hit nodes.
func (s *Spec) nodeFaultsBy(k ariadne.ActionKind) []ariadne.NodeFault {
	if by := s.OnNodes[k].By; by != nil {
		return by
	}
	return world.KindOf(k).OnNodes.Default
}

// onNodesText is a Befall as written.
type onNodesText struct {
	budgetText
	by []text
}

// onNodesFields are those of a kind of fault that hits nodes as one of several.
func onNodesFields(kind *world.Kind) []field[onNodesText] {
	fields := []field[onNodesText]{
		timesField[onNodesText](),
		faultyField[onNodesText](),
		textsField("by", kind.OnNodes.DocBy, func(b *onNodesText) *[]text { return &b.by }),
		afterField[onNodesText](),
	}
	if kind.Within {
		fields = append(fields, betweenField[onNodesText](kind.OnNodes.DocWithin))
	}
	return fields
}

// readOnNodes reads a number, or which nodes a kind of fault may hit, and by what.
func (r *reader) readOnNodes(s *specText, k ariadne.ActionKind, v *yaml.Node) {
	var w onNodesText
	kind := world.KindOf(k)
	readBudget(r, s, k, onNodesFields(kind), &w, v)
	b := OnNodes{Between: w.between}
	for _, t := range w.by {
		f, err := kind.OnNodes.Parse(t.string)
		if err != nil {
			r.fail(t.line, "faults: %s: by: %v", kind.Name, err)
		} else if slices.Contains(b.By, f) {
			r.fail(t.line, "faults: %s: by: %s stands twice", kind.Name, t.string)
		}
		b.By = append(b.By, f)
	}
	s.OnNodes[k] = b
}
