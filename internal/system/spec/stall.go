package spec

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Stall says which syncs may take time, within the budget of such faults.
type Stall struct {
	Nodes []ariadne.NodeID // whose; nil: all but clients
	For   []time.Duration  // how long; nil: DefaultStalls
	Paths []string         // of which files; nil: all
}

// DefaultStalls are how long syncs take when the spec does not say it: as long as another thread
// needs to go on, and as long as others miss a heartbeat.
var DefaultStalls = []time.Duration{0, 2 * time.Second}

// Stalls are how long syncs of a node may take; nil: none takes time.
func (s *Spec) Stalls(id ariadne.NodeID) []time.Duration {
	switch {
	case s.Faults[world.Stall] == 0 || !slices.Contains(s.Servers(s.Stall.Nodes), id):
		return nil
	case s.Stall.For == nil:
		return DefaultStalls
	}
	return s.Stall.For
}

func init() {
	faultRow(world.Stall, fault{
		fields:  func() schema { return object(stallFields) },
		set:     setStall,
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.Stall.Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.Servers(s.Stall.Nodes) },
	})
}

// stallText is a Stall as written.
type stallText struct {
	budgetText
	lengths, paths []text
}

var stallFields = []field[stallText]{
	timesField[stallText](),
	faultyField[stallText](),
	textsField("for", "How long the call takes, each as in 0s or 2s; default these two. With 0s other events that are due may come first, in any order.", func(s *stallText) *[]text { return &s.lengths }),
	textsField("paths", "Patterns for the files of which syncs take time, as in /node/wal/* or *.log, compared with the path by which the file was opened; sync and syncfs always may. Default any.", func(s *stallText) *[]text { return &s.paths }),
	afterField[stallText](),
}

// setStall reads a number, or which syncs take how much time.
func setStall(r *reader, s *specText, v *yaml.Node) {
	var w stallText
	readBudget(r, s, world.Stall, stallFields, &w, v)
	for _, t := range w.paths {
		r.pattern("faults: stall: paths", t)
	}
	s.Stall = Stall{Paths: stringsOf(w.paths)}
	for _, t := range w.lengths {
		d, err := time.ParseDuration(t.string)
		switch {
		case err != nil || d < 0:
			r.fail(t.line, "faults: stall: for: %q is no length of time, as in 2s", t.string)
		case slices.Contains(s.Stall.For, d):
			r.fail(t.line, "faults: stall: for: %s stands twice", t.string)
		}
		s.Stall.For = append(s.Stall.For, d)
	}
}
