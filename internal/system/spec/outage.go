package spec

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Outage says which nodes faults of a kind may take down, within the budget of such faults.
type Outage struct {
	Nodes   []ariadne.NodeID // nil: all but clients
	For     []time.Duration  // for how long, or ariadne.Ever; nil: DefaultOutages
	Between bool             // only between two steps of the node, not within one
	Reads   bool             // of a pause: also where a program reads the clock
	// Together are the groups of nodes that may also go down at one blow. All: each set of two and
	// more of those that may go down alone.
	Together [][]ariadne.NodeID
	All      bool
}

// DefaultOutages are how long nodes are down when the spec does not say it: as long as others may
// not notice, and as long as they must.
var DefaultOutages = []time.Duration{time.Second, 15 * time.Second}

// SeldomOutages are how long a node is down at times besides, by random strategies alone, when the
// spec does not say it: its programs are run again at once, or as soon as supervisors do that.
var SeldomOutages = []time.Duration{0, 10 * time.Millisecond, 100 * time.Millisecond}

// SeldomOf are the lengths that are seldom tried of faults of a kind.
func (s *Spec) SeldomOf() (all [world.MaxKinds][]time.Duration) {
	for _, d := range downs {
		if s.Faults[d.kind] > 0 && d.down != ariadne.Paused && s.Outages[d.down].For == nil && !s.Coarse {
			all[d.kind] = SeldomOutages
		}
	}
	return all
}

// HasShortFaults reports whether faults may last for less than a second.
func (s *Spec) HasShortFaults() bool {
	short := func(length time.Duration) bool { return length != ariadne.Ever && length < time.Second }
	for _, rule := range s.NodeFaultsOf() {
		if slices.ContainsFunc(rule.Faults, func(f ariadne.NodeFault) bool {
			o, ok := f.(ariadne.Outage)
			return ok && short(o.For)
		}) {
			return true
		}
	}
	for _, lengths := range s.SeldomOf() {
		if slices.ContainsFunc(lengths, short) {
			return true
		}
	}
	return slices.ContainsFunc(s.PartitionsOf(), func(p *world.Partition) bool { return short(p.For) })
}

// downs are the kinds of faults that take nodes down, or pause them.
var downs = []struct {
	kind ariadne.ActionKind
	down ariadne.Down
}{{world.Crash, ariadne.Crashed}, {world.Stop, ariadne.Stopped}, {world.Pause, ariadne.Paused},
	{world.Power, ariadne.PowerLost}}

// DownTogether are the nodes that faults may take down in one way: each alone, then groups of them.
func (s *Spec) DownTogether(down ariadne.Down) (groups [][]ariadne.NodeID) {
	for _, id := range s.Servers(s.Outages[down].Nodes) {
		groups = append(groups, []ariadne.NodeID{id})
	}
	return append(groups, s.together(down)...)
}

// outagesOf are the faults that take nodes down in one way: each alone, then groups of them.
func (s *Spec) outagesOf(down ariadne.Down) []world.NodeFaults {
	lengths := s.Outages[down].For
	if lengths == nil {
		lengths = DefaultOutages
	}
	all := []world.NodeFaults{world.Outages(down, s.Servers(s.Outages[down].Nodes), lengths...)}
	for _, g := range s.together(down) {
		all = append(all, world.OutagesTogether(down, g, s.names(), lengths...)...)
	}
	return all
}

// Servers are the nodes that are named, or all but clients when none is.
func (s *Spec) Servers(named []ariadne.NodeID) (all []ariadne.NodeID) {
	if named != nil {
		return named
	}
	for i := range s.Nodes {
		if !s.Nodes[i].Client {
			all = append(all, s.Nodes[i].ID)
		}
	}
	return all
}

// Falls reports whether faults may take a node down.
func (s *Spec) Falls(id ariadne.NodeID) bool {
	for _, d := range downs {
		if s.Faults[d.kind] == 0 {
			continue
		}
		for _, rule := range s.outagesOf(d.down) {
			if slices.Contains(rule.Nodes, id) {
				return true
			}
		}
	}
	return false
}

// PausesAtReads reports whether a node may be paused where a program of it reads the clock.
func (s *Spec) PausesAtReads(id ariadne.NodeID) bool {
	o := &s.Outages[ariadne.Paused]
	return s.Faults[world.Pause] > 0 && o.Reads && slices.Contains(s.Servers(o.Nodes), id)
}

// outageRow is the row of a kind of fault that takes nodes down, or pauses them.
func outageRow(k ariadne.ActionKind, down ariadne.Down, definition string, fields []field[outageText]) {
	faultRow(k, fault{
		definition: definition,
		fields:     func() schema { return object(fields) },
		set:        setOutage(k, down, fields),
		nodes:      func(s *Spec) *[]ariadne.NodeID { return &s.Outages[down].Nodes },
		names:      func(r *reader, s *Spec, written *specText) { r.outagesTogether(s, written, k, down) },
		victims:    func(s *Spec) []ariadne.NodeID { return s.Servers(s.Outages[down].Nodes) },
		nodeFaults: func(s *Spec) []world.NodeFaults { return s.outagesOf(down) },
		within: func(s *Spec, id ariadne.NodeID) (all []ariadne.NodeFault) {
			for _, rule := range s.outagesOf(down) {
				if !s.Outages[down].Between && slices.Contains(rule.Nodes, id) {
					all = append(all, rule.Faults...)
				}
			}
			return all
		},
	})
}

func init() {
	outageRow(world.Crash, ariadne.Crashed, "outage", outageFields)
	outageRow(world.Stop, ariadne.Stopped, "outage", outageFields)
	outageRow(world.Pause, ariadne.Paused, "", append(slices.Clone(pauseFields), readsField))
}

// outageText is an Outage as written.
type outageText struct {
	budgetText
	For   []text
	power Power // of a loss of power
	// The groups that go down together, or all sets, which stands in a line.
	together [][]text
	all      bool
	allLine  int
	reads    bool
}

// outageFields are those of crashes and stops: of a pause, and which nodes go down together.
var outageFields = append(slices.Clone(pauseFields), togetherField)

// pauseFields are those of a pause, and of all outages.
var pauseFields = []field[outageText]{
	timesField[outageText](),
	faultyField[outageText](),
	textsField("for", "How long the node is down or paused, each as in 500ms or 15s, or ever (it stays down). The node continues at the next full second of virtual time. After less than a second, it continues at the next multiple of 100ms, 10ms or 1ms, the largest that is no longer. Default 1s and 15s. Random choices also try 0s, 10ms and 100ms, except for pauses.", func(o *outageText) *[]text { return &o.For }),
	betweenField[outageText]("wherever the node has sent something or changed a file since the last such place; for a pause, also before the first one"),
	afterField[outageText](),
}

// readsField is of a pause.
var readsField = flagField("reads", "Also within a step, where a program reads the clock: that read and all later ones see the time behind the pause. So a program that has found a lease valid, and reads the clock once more, may find that it is over. This concerns the first 16 reads of a step. Each read then takes Ariadne as long as a system call. Default false.", func(o *outageText) *bool { return &o.reads })

// setOutage reads which nodes a kind of fault takes down.
func setOutage(k ariadne.ActionKind, down ariadne.Down, fields []field[outageText]) setter {
	return func(r *reader, s *specText, v *yaml.Node) {
		w := outageText{power: DefaultPower}
		readBudget(r, s, k, fields, &w, v)
		o := Outage{Between: w.between, Reads: w.reads, For: r.lengths(world.KindOf(k).Name, w.For), All: w.all}
		if i := slices.Index(o.For, ariadne.Ever); i >= 0 && k == world.Pause {
			r.fail(w.For[i].line, "faults: pause: for: a pause cannot last for ever: use the fault stop")
		}
		if w.reads && w.between {
			r.fail(v.Line, "faults: pause: reads means places within a step: remove between or reads")
		}
		s.Outages[down], s.outages[down] = o, w
		if k == world.Power {
			s.Power = w.power
		}
	}
}
