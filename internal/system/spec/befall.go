package spec

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Befall says which nodes faults of a kind may befall, and which faults, within the budget of such
// faults.
type Befall struct {
	Nodes   []ariadne.NodeID    // nil: all but clients
	By      []ariadne.NodeFault // nil: the default
	Between bool                // only between two steps of the node, not within one
}

// befallsRow is the row of a kind of fault that befalls nodes as one of several.
func befallsRow(k ariadne.ActionKind, kind *world.Kind) *fault {
	return &fault{
		fields:  func() schema { return object(befallFields(kind)) },
		set:     func(r *reader, s *specText, v *yaml.Node) { r.befall(s, k, v) },
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.Befalls[k].Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.servers(s.Befalls[k].Nodes) },
		befalls: func(s *Spec) []world.NodeFaults {
			return []world.NodeFaults{{Nodes: s.servers(s.Befalls[k].Nodes), Faults: s.befallsBy(k)}}
		},
		within: func(s *Spec, id ariadne.NodeID) []ariadne.NodeFault {
			if !kind.Within || s.Befalls[k].Between || !slices.Contains(s.servers(s.Befalls[k].Nodes), id) {
				return nil
			}
			return s.befallsBy(k)
		},
	}
}

// befallsBy are the faults of a kind that may befall nodes.
func (s *Spec) befallsBy(k ariadne.ActionKind) []ariadne.NodeFault {
	if by := s.Befalls[k].By; by != nil {
		return by
	}
	return world.KindOf(k).Befalls.Default
}

// befallText is a Befall as written.
type befallText struct {
	budgetText
	by []text
}

// befallFields are those of a kind of fault that befalls nodes as one of several.
func befallFields(kind *world.Kind) []field[befallText] {
	fields := []field[befallText]{
		timesField[befallText](),
		faultyField[befallText](),
		textsField("by", kind.Befalls.DocBy, func(b *befallText) *[]text { return &b.by }),
		afterField[befallText](),
	}
	if kind.Within {
		fields = append(fields, betweenField[befallText](kind.Befalls.DocWithin))
	}
	return fields
}

// befall reads a number, or which nodes a kind of fault may befall, and by what.
func (r *reader) befall(s *specText, k ariadne.ActionKind, v *yaml.Node) {
	var w befallText
	kind := world.KindOf(k)
	readBudget(r, s, k, befallFields(kind), &w, v)
	b := Befall{Between: w.between}
	for _, t := range w.by {
		f, err := kind.Befalls.Parse(t.string)
		if err != nil {
			r.fail(t.line, "faults: %s: by: %v", kind.Name, err)
		} else if slices.Contains(b.By, f) {
			r.fail(t.line, "faults: %s: by: %s stands twice", kind.Name, t.string)
		}
		b.By = append(b.By, f)
	}
	s.Befalls[k] = b
}
