package spec

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"go.yaml.in/yaml/v3"
)

// Power says what a loss of power leaves of what was not synced.
type Power struct {
	Model  disk.Model
	Images int // of one loss and model, at most
	// disk.Choice.Alone: traces recorded earlier have no images of stronger models besides
	Alone bool
}

// DefaultPower is what it leaves when the spec does not say it.
var DefaultPower = Power{Model: disk.Ordered, Images: 64}

// maxImages is a choice that a trace can still name and a person can still read.
const maxImages = 100_000

// LosesPower reports whether a node's machine may lose power.
func (s *Spec) LosesPower(id ariadne.NodeID) bool {
	return s.Faults[world.Power] > 0 &&
		slices.ContainsFunc(s.outagesOf(ariadne.PowerLost), func(f world.NodeFaults) bool {
			return slices.Contains(f.Nodes, id)
		})
}

// mostTogether is of how many nodes each set may go down: 26 sets.
const mostTogether = 5

// together are the groups of nodes that may go down at one blow.
func (s *Spec) together(down ariadne.Down) [][]ariadne.NodeID {
	if !s.Outages[down].All {
		return s.Outages[down].Together
	}
	nodes := s.Servers(s.Outages[down].Nodes)
	var groups [][]ariadne.NodeID
	for set := range 1 << len(nodes) {
		var g []ariadne.NodeID
		for i, id := range nodes {
			if set>>i&1 != 0 {
				g = append(g, id)
			}
		}
		if len(g) > 1 {
			groups = append(groups, g)
		}
	}
	return groups
}

// allTogether is the word for each set of nodes.
const allTogether = "any"

// togetherField says which nodes may go down at one blow.
var togetherField = field[outageText]{"together", "Lists of names of nodes, as in [[n1, n2], [n1, n2, n3]]. The nodes of a list that are up may go down together, as one fault. After a loss of power, each node has an image of its own. Or any: each set of two or more nodes, where nodes names at most five. Single nodes may still go down alone. Default none.",
	schema{"anyOf": []schema{{"type": "string", "pattern": "^any$"}, groupsSchema}},
	func(r *reader, o *outageText, v *yaml.Node) {
		if o.all = v.Kind == yaml.ScalarNode && v.Value == allTogether; o.all {
			o.allLine = v.Line
		} else {
			o.together = r.groups(v)
		}
	}}

// outagesTogether resolves the names of the nodes that may go down at one blow.
func (r *reader) outagesTogether(s *Spec, written *specText, k ariadne.ActionKind, down ariadne.Down) {
	name, w, o := world.KindOf(k).Name, &written.outages[down], &s.Outages[down]
	o.Together = r.cutNodes(name+": together", w.together, s.Nodes)
	for i, g := range o.Together {
		if len(g) == 1 {
			r.fail(w.together[i][0].line, "faults: %s: together: [%s] has one node, and two or more are needed", name, s.Nodes[g[0]].Name)
		}
	}
	if n := len(s.Servers(o.Nodes)); o.All && n > mostTogether {
		r.fail(w.allLine, "faults: %s: together: any of %d nodes are too many sets: list the sets that matter, or name at most %d nodes in nodes", name, n, mostTogether)
	}
}

func init() { outageRow(world.Power, ariadne.PowerLost, "", powerFields) }

// powerFields are those of an outage, and what is left.
var powerFields = append(slices.Clone(outageFields),
	field[outageText]{"model", "The unsynced operations that a loss may leave: prefix (all up to one of them), ordered (metadata in order, data before the metadata that show it, as on ext4; the default) or any (any of them). With :512 writes may be torn at multiples of 512 bytes instead of 4096.",
		schema{"type": "string", "pattern": "^(prefix|ordered|any)(:512)?$"},
		func(r *reader, o *outageText, v *yaml.Node) {
			t := r.text(v)
			m, err := disk.ParseModel(t.string)
			if err != nil {
				r.fail(t.line, "faults: power: model: %s", err)
			}
			o.power.Model = m
		}},
	countField("images", "How many images of a node's files are tried for one loss, at most: first everything unsynced lost, then nothing lost, then one operation lost or kept, then random ones; default 64.", 1, maxImages, func(o *outageText) *int { return &o.power.Images }),
)
