package search_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// judged are properties that note the snapshots which they are shown, and do not hold in one of so
// many.
type judged struct {
	expose.Sources
	history *expose.History
	sees    expose.Sights
	windows []expose.Window
	oneOf   uint64
	mu      sync.Mutex
	seen    map[hash.Hash]bool
	broken  map[hash.Hash]bool
}

func (j *judged) Find(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) expose.Found {
	return expose.Found{Changes: j.Sources.Changes(id, out), Events: j.history.Events(id, in, out)}
}
func (j *judged) Sees() expose.Sights      { return j.sees }
func (j *judged) Windows() []expose.Window { return j.windows }
func (*judged) Err() error                 { return nil }

func (*judged) Goals() []property.Goal                     { return nil }
func (*judged) Aims(*expose.Snapshot) (when, holds uint64) { return 0, 0 }
func (*judged) Numbers(*expose.Snapshot) []*float64        { return nil }
func (*judged) Reads(int, *expose.Snapshot) string         { return "" }

func (j *judged) Judge(s *expose.Snapshot, m expose.Moment) string {
	if !j.sees.Up {
		s.Up = make([]bool, len(s.Sets))
	}
	h := s.Hash()
	if m != expose.Between || j.sees.Past {
		h = h.Plus(s.Past.Hash())
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen[h] = true
	if j.oneOf == 0 || h.Hi%j.oneOf != 0 || m != expose.Between {
		return ""
	}
	j.broken[h] = true
	return fmt.Sprint("snapshot ", h)
}

// TestPropertiesSeeAllSnapshots: every strategy that has exhausted the paths has shown to
// properties all snapshots that there are in any execution, and the violations of those that do not
// hold in some.
func TestPropertiesSeeAllSnapshots(t *testing.T) {
	snapshots, violations, single, windows := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 4, rapid.Bool().Draw(t, "timers"), true)
		sources := expose.Sources{{Name: "step",
			Line: regexp.MustCompile(rapid.SampledFrom([]string{`shows (\d+)`, `shows ([24])`, `shows 3`}).Draw(t,
				"line"))}}
		if rapid.Bool().Draw(t, "ends") {
			sources[0].Until = regexp.MustCompile(`shows [35]`)
		}
		if rapid.Bool().Draw(t, "of one node") {
			sources[0].Nodes = []ariadne.NodeID{1}
		}
		up, oneOf := rapid.Bool().Draw(t, "up"), rapid.SampledFrom([]uint64{0, 0, 2, 5}).Draw(t, "broken")
		sees := expose.Sights{Up: up, World: rapid.IntRange(0, 5).Draw(t, "world") == 0,
			Past: rapid.Bool().Draw(t, "past")}
		var window []expose.Window
		for range rapid.IntRange(0, 2).Draw(t, "windows") {
			window = append(window,
				expose.Window{Names: []string{"step"}, Up: up && rapid.Bool().Draw(t, "window's up"),
					Length: rapid.IntRange(1, 3).Draw(t, "length")})
		}
		sources[0].Stays = rapid.Bool().Draw(t, "stays")
		var history *expose.History
		if rapid.Bool().Draw(t, "history") {
			history = &expose.History{Invoke: regexp.MustCompile(`shows (?P<op>[024])`),
				OK: regexp.MustCompile(`shows 5`)}
		}
		var j *judged
		with := func() *judged {
			j = &judged{Sources: sources, history: history, sees: sees, windows: window, oneOf: oneOf,
				seen: map[hash.Hash]bool{}, broken: map[hash.Hash]bool{}}
			s.properties = j
			return j
		}
		want := with()
		all := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 3000)
		if all.how != search.SearchExhausted {
			t.SkipNow()
		}
		if len(window) > 0 && len(want.seen) > 2 {
			windows++
		}
		check := func(name string, got found) {
			if got.how != search.SearchExhausted || !maps.Equal(j.seen, want.seen) ||
				!maps.Equal(j.broken, want.broken) {
				t.Fatalf("%s: %s with %d snapshots, %d of them broken, want %d, %d", name, got.how, len(j.seen),
					len(j.broken), len(want.seen), len(want.broken))
			}
		}
		for name, e := range map[string]strategy.Explorer{
			"breadth first": &strategy.BreadthFirst{}, "fewest deviations": &strategy.FewestDeviations{},
			"sleep sets": &strategy.SleepSets{}, "DPOR": &strategy.DPOR{},
		} {
			with()
			check(name, explore(t, s.exploration(t, e), 0))
		}
		with()
		check("DPOR by two", s.together(t, (&strategy.DPOR{}).Divide(2), nil))
		with()
		check("sleep sets by two", s.together(t, (&strategy.SleepSets{}).Divide(2), nil))
		if snapshots += len(want.seen); len(want.broken) > 0 {
			violations++
		}
		if oneOf == 0 && !up && all.coverage.Paths > 1 && len(want.seen) > 2 {
			single++
		}
	})
	t.Logf("%d snapshots, %d systems with violations, %d with several snapshots and none, %d with windows", snapshots, violations, single, windows)
}

// TestSnapshotsOfReturningMachines: that a machine is back does not enable what ends connections
// between others, so where properties read the world DPOR takes both orders.
func TestSnapshotsOfReturningMachines(t *testing.T) {
	faults := worldtest.Faults("duplicate", 2)
	faults[world.Power], faults[world.Fail], faults[world.Reset] = 1, 1, 2
	names := []string{"n1", "n2", "n3"}
	s := small{
		rules: world.Rules{Latency: time.Millisecond, Faults: faults, Combined: 2, Grid: 2e6,
			GiveUp: 6 * time.Millisecond,
			NodeFaults: slices.Concat(world.OutagesTogether(ariadne.PowerLost, []ariadne.NodeID{1, 2}, names, 0),
				world.OutagesTogether(ariadne.PowerLost, []ariadne.NodeID{0, 1, 2}, names, 0))},
		programs: func() (all []worldtest.Program) {
			for range names {
				all = append(all,
					&worldtest.Chaos{Nodes: 3, Seed: 0x43584b, Acts: 1, NoTimers: true, Exits: 3, Tries: true,
						Spares: true, Writes: true, Limits: true, Shows: true})
			}
			return all
		}}
	seen := func(e strategy.Explorer) map[hash.Hash]bool {
		j := &judged{sees: expose.Sights{Up: true, World: true}, seen: map[hash.Hash]bool{},
			broken: map[hash.Hash]bool{}}
		s.properties = j
		if got := explore(t, s.exploration(t, e), 0); got.how != search.SearchExhausted {
			t.Fatal(got.how)
		}
		return j.seen
	}
	if got, want := seen(&strategy.DPOR{}), seen(&strategy.DepthFirst{All: true}); !maps.Equal(got, want) {
		t.Errorf("%d snapshots, want %d", len(got), len(want))
	}
}

var _ space.Properties = (*judged)(nil)
