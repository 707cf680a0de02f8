package spec

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Jump says whose real-time clocks faults may set, within the budget of such faults.
type Jump struct {
	Nodes   []ariadne.NodeID // nil: all but clients
	By      []time.Duration  // forward, or back when it is negative; nil: DefaultJumps
	Between bool             // only between two steps of the node, not within one
}

// DefaultJumps are by how much a clock is set when the spec does not say it.
var DefaultJumps = []time.Duration{time.Hour, -30 * time.Second}

// maxJump is how far a clock may be set at once, or be wrong from the beginning. Programs find it
// between 1970 and 2262 for as many jumps as a budget may have.
const maxJump = 20 * 24 * time.Hour

func (j *Jump) by() []time.Duration {
	if j.By == nil {
		return DefaultJumps
	}
	return j.By
}

func init() {
	faultRow(world.Jump, fault{
		fields:  func() schema { return object(jumpFields) },
		set:     setJump,
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.Jump.Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.servers(s.Jump.Nodes) },
		befalls: func(s *Spec) []world.NodeFaults {
			return []world.NodeFaults{world.Jumps(s.servers(s.Jump.Nodes), s.Jump.by()...)}
		},
		within: func(s *Spec, id ariadne.NodeID) []ariadne.NodeFault {
			if s.Jump.Between || !slices.Contains(s.servers(s.Jump.Nodes), id) {
				return nil
			}
			return world.Jumps(nil, s.Jump.by()...).Faults
		},
	})
}

// jumpText is a Jump as written.
type jumpText struct {
	budgetText
	by []text
}

var jumpFields = []field[jumpText]{
	timesField[jumpText](),
	faultyField[jumpText](),
	textsField("by", "By how much the clock is set, each as in +1h or -30s, at most 480h; default +1h and -30s.", func(j *jumpText) *[]text { return &j.by }),
	betweenField[jumpText]("before it sends something or changes a file"),
	afterField[jumpText](),
}

// setJump reads a number, or whose clocks are set by how much.
func setJump(r *reader, s *specText, v *yaml.Node) {
	var w jumpText
	readBudget(r, s, world.Jump, jumpFields, &w, v)
	s.Jump.Between = w.between
	for _, t := range w.by {
		d := r.offset("faults: jump: by", t)
		if slices.Contains(s.Jump.By, d) {
			r.fail(t.line, "faults: jump: by: %s stands twice", t.string)
		}
		s.Jump.By = append(s.Jump.By, d)
	}
}

// offset reads by how much a clock is set, or wrong.
func (r *reader) offset(where string, t text) time.Duration {
	d, err := ariadne.ParseJump(t.string)
	switch {
	case err != nil:
		r.fail(t.line, "%s: %q is no offset: a sign and a time are needed, as in +1h or -30s", where, t.string)
	case d > maxJump || d < -maxJump:
		r.fail(t.line, "%s: %s is more than %v", where, t.string, maxJump)
	}
	return d
}
