package search_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// small is a system that can be explored by brute force.
type small struct {
	rules      world.Rules
	programs   func() []worldtest.Program
	clients    []int
	starts     []int              // ms
	after      [][]ariadne.NodeID // by node, which must be ready before it is switched on
	bounds     space.Bounds
	instant    bool // nothing that a node does takes time
	equality   space.Equality
	shows      expose.Rules
	tells      expose.Sources
	stages     func() *stage.Runner // or nil
	properties space.Properties
	final      space.Final
	chooses    bool // its programs do
	between    bool // outages happen between two steps only
	window     time.Duration
	// when workers are several, each is held up before one step in so many; 0: never
	uneven int
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Logf(string, ...any)
}

// exploration returns a fresh search of the system.
func (s small) exploration(t failer, e strategy.Explorer) *search.Exploration {
	t.Helper()
	nodes := worldtest.Nodes(s.programs()...)
	for i := range s.starts {
		nodes[i].Start = ariadne.Time(s.starts[i]) * 1e6
	}
	for i := range s.after {
		nodes[i].After = s.after[i]
	}
	for _, i := range s.clients {
		nodes[i].Client = true
	}
	y := world.NewSystem(s.rules, nodes)
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, s.instances().Boot(), memo.Limits{Checkpoints: 20})
	var checked []property.Subject
	for _, n := range nodes {
		checked = append(checked, property.Subject{Name: n.Name, Commands: []string{"program"}, Client: n.Client})
	}
	return &search.Exploration{Space: s.space(y, m, x), Explorer: e, Bounds: s.bounds,
		Checks: func() []property.Check { return property.Generic(checked) }}
}

func (s small) instances() *memotest.Instances {
	return &memotest.Instances{Programs: s.programs, Instant: s.instant, Outages: s.outagesOf, Grid: s.rules.Grid}
}

// space returns the space of the system.
func (s small) space(y *world.System, r space.Roots, source space.Source) *space.Space {
	p := space.New(y, r, source)
	p.Equality, p.Shows, p.Tells, p.Properties, p.Final = s.equality, s.shows, s.tells, s.properties, s.final
	p.Window = s.window
	if s.stages != nil {
		p.Stages = s.stages()
	}
	return p
}

// found is what a search came to.
type found struct {
	traces, states, violations map[hash.Hash]bool
	paths                      map[hash.Hash]string // one of each trace, by the names of its steps
	said                       map[hash.Hash]string // likewise, by what was said in it
	late                       map[string]bool      // steps by which a message arrived late
	coverage                   search.Coverage
	how                        string
}

func newFound() found {
	return found{traces: map[hash.Hash]bool{}, states: map[hash.Hash]bool{}, violations: map[hash.Hash]bool{},
		paths: map[hash.Hash]string{}, said: map[hash.Hash]string{}, late: map[string]bool{}}
}

// ended enters how a path ended.
func (f *found) ended(p *space.Path, end string, v *ariadne.Violation) {
	trace := p.Last().State.Trace()
	if v != nil {
		f.violations[trace] = true
	}
	if end != search.EndSeen && end != search.EndStrategy && !f.traces[trace] {
		f.traces[trace] = true
		for i := 1; i <= p.Steps(); i++ {
			s := p.Step(i)
			f.paths[trace] += fmt.Sprintf("%s at %v; ", s.Name, s.At)
			f.said[trace] += saidOf(&s.Output)
			if s.Action.Kind == world.Late {
				f.late[s.Name] = true
			}
		}
		f.paths[trace] += end
	}
}

// explore runs a search; it is given up after so many paths (0: never).
func explore(t failer, x *search.Exploration, paths int) found {
	t.Helper()
	f := newFound()
	n := 0
	x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
		if os.Getenv("DBG") != "" {
			t.Logf("%T", x.Explorer)
			for i := 1; i <= p.Steps(); i++ {
				t.Logf("  %s at %v", p.Step(i).Name, p.Step(i).At)
			}
			t.Logf("  %s %v", end, v != nil)
		}
		f.ended(p, end, v)
		n++
		return paths == 0 || n < paths
	}
	var err error
	if f.how, err = x.Run(); err != nil {
		t.Fatal(err)
	}
	x.Seen.All(func(h hash.Hash) { f.states[h] = true })
	f.coverage = x.Coverage
	return f
}

// fan is n-1 nodes that each send count messages to the first, which counts them.
func fan(n, count int) func() []worldtest.Program {
	return func() []worldtest.Program {
		p := []worldtest.Program{worldtest.Pong{}}
		p[0] = quietNode{}
		for range n - 1 {
			p = append(p, sender{count: count})
		}
		return p
	}
}

type quietNode struct{ worldtest.Idle }

// teller sends the first node a message, and writes a line when it gets one.
type teller struct{ worldtest.Idle }

func (teller) Start(c *worldtest.Ctx)                      { c.Send(0, "x") }
func (teller) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.Log("told") }

type sender struct {
	worldtest.Idle
	to    ariadne.NodeID
	count int
}

func (s sender) Start(c *worldtest.Ctx) {
	for range s.count {
		c.Send(s.to, "m")
	}
}

// ring is nodes that each send one message to the next and have none to receive but
// that: all is independent but for what is caused.
func ring(n int) func() []worldtest.Program {
	return func() []worldtest.Program {
		var p []worldtest.Program
		for i := range n {
			p = append(p, toNext{n: n, i: i})
		}
		return p
	}
}

type toNext struct {
	worldtest.Idle
	n, i int
}

func (r toNext) Start(c *worldtest.Ctx) { c.Send(ariadne.NodeID((r.i+1)%r.n), "m") }

// TestKnownCounts: the numbers of traces of these can be computed by hand. A node
// that receives k messages of each of m others, in order, has (mk)!/(k!)^m ways to
// do so.
func TestKnownCounts(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond}
	for _, c := range []struct {
		name   string
		s      small
		traces int
	}{
		{"ring of 2", small{rules: rules, programs: ring(2)}, 1},
		{"ring of 4", small{rules: rules, programs: ring(4)}, 1},
		{"1 sender", small{rules: rules, programs: fan(2, 3)}, 1},
		{"2 senders of 1", small{rules: rules, programs: fan(3, 1)}, 2},
		{"3 senders of 1", small{rules: rules, programs: fan(4, 1)}, 6},
		{"2 senders of 2", small{rules: rules, programs: fan(3, 2)}, 6},
		{"3 senders of 2", small{rules: rules, programs: fan(4, 2)}, 90},
		{"2 senders of 5", small{rules: rules, programs: fan(3, 5)}, 252},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &strategy.DPOR{}
			got := explore(t, c.s.exploration(t, d), 0)
			if got.how != search.SearchExhausted || got.coverage.Paths != c.traces || len(got.traces) != c.traces {
				t.Errorf("DPOR: %s after %d paths, %d traces, want %d", got.how, got.coverage.Paths, len(got.traces),
					c.traces)
			}
		})
	}
}

// drawSmall draws a system whose paths can all be taken.
func drawSmall(t *rapid.T, timers bool) small { return drawSystem(t, 3, 4, timers) }

// drawSystem draws a system of up to so many nodes, each of which takes notice of up
// to so many inputs.
func drawSystem(t *rapid.T, nodes, inputs int, timers bool) small {
	return drawShowing(t, nodes, inputs, timers, false)
}

// drawShowing is drawSystem with programs that show something of their states or do not.
func drawShowing(t *rapid.T, nodes, inputs int, timers, shows bool) small {
	n := rapid.IntRange(2, nodes).Draw(t, "nodes")
	seed := rapid.Uint64().Draw(t, "seed")
	exits := rapid.SampledFrom([]int{3, 40}).Draw(t, "exits")
	acts := rapid.IntRange(1, inputs).Draw(t, "acts")
	duplicates := worldtest.Faults("duplicate", rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "duplicates"))
	fails := rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "fails")
	combined := rapid.IntRange(0, 2).Draw(t, "combined")
	duplicates[world.Fail] = uint8(fails)
	duplicates[world.Lose] = uint8(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "losses"))
	duplicates[world.Split] = uint8(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "splits"))
	duplicates[world.Join] = uint8(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "joins"))
	duplicates[world.Reset] = uint8(rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "resets"))
	opens := duplicates[world.Lose] > 0 && rapid.Bool().Draw(t, "opens")
	if opens {
		duplicates[world.Refuse] = uint8(rapid.IntRange(0, 2).Draw(t, "refusals"))
	}
	faults := drawNodeFaults(t, n, &duplicates)
	partitions := drawPartitions(t, n, &duplicates)
	kills := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "kills")
	duplicates[world.Kill] = uint8(kills)
	restart := time.Duration(rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "restart ms")) * time.Millisecond
	within := kills > 0 && rapid.Bool().Draw(t, "kills within steps")
	var nets []ariadne.NodeID
	if fails > 0 && rapid.Bool().Draw(t, "connections fail") {
		nets = []ariadne.NodeID{0, 1, 2, 3}[rapid.IntRange(0, 1).Draw(t, "peers from"):n]
	}
	s := small{rules: world.Rules{Latency: time.Millisecond, Faults: duplicates, Combined: combined, NodeFaults: faults,
		Partitions: partitions, Grid: 2e6}}
	if timers {
		s.rules = world.Rules{
			Faults:     duplicates,
			Combined:   combined,
			NodeFaults: faults,
			Partitions: partitions,
			Grid:       2e6,
			Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
			ClockError: time.Duration(rapid.IntRange(0, 3).Draw(t, "E ms")) * time.Millisecond,
			Delays:     rapid.IntRange(0, 2).Draw(t, "delays"),
			MaxDelay: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 2, 5}).Draw(t,
				"max delay ms")) * time.Millisecond,
		}
		s.starts = rapid.SliceOfN(rapid.IntRange(0, 3), n, n).Draw(t, "starts ms")
		if limit := rapid.IntRange(0, 12).Draw(t, "limit ms"); limit > 3 {
			s.bounds.Time = ariadne.Time(limit) * 1e6
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "lines first") == 0 {
		for _, k := range world.Kinds() {
			if s.rules.Faults[k] > 0 && rapid.Bool().Draw(t, world.KindOf(k).Name+" after") {
				s.rules.After[k] = regexp.MustCompile("step [2-9]")
				if rapid.IntRange(0, 2).Draw(t, world.KindOf(k).Name+" after another's") == 0 {
					lineOf(t, &s.rules, k)
				}
			}
		}
	}
	limits := false
	if s.rules.Partitions != nil || s.rules.Faults[world.Stop]+s.rules.Faults[world.Power] > 0 {
		s.rules.GiveUp = time.Duration(rapid.SampledFrom([]int{0, 4, 6}).Draw(t, "give up ms")) * time.Millisecond
		limits = rapid.Bool().Draw(t, "limits")
	}
	if rapid.IntRange(0, 2).Draw(t, "clients") == 0 {
		s.clients = []int{0, 1}[:rapid.IntRange(1, 2).Draw(t, "how many")]
	}
	lingers := s.clients != nil && rapid.Bool().Draw(t, "lingers")
	chooses := rapid.IntRange(0, 2).Draw(t, "chooses") == 0
	tells := rapid.IntRange(0, 2).Draw(t, "events") == 0
	spares := s.rules.Faults != (world.Faults{}) && rapid.Bool().Draw(t, "spares")
	if rapid.IntRange(0, 2).Draw(t, "some wait") == 0 {
		s.after = drawAfter(t, n)
	}
	s.chooses = chooses
	s.programs = func() []worldtest.Program {
		var p []worldtest.Program
		for range n {
			p = append(p,
				&worldtest.Chaos{Nodes: n, Seed: seed, Acts: acts, NoTimers: !timers, Exits: exits, Lingers: lingers,
					Tries: fails > 0, Spares: spares, Chooses: chooses, Writes: faults != nil, Limits: limits,
					Opens: opens, Kills: kills > 0, Restart: restart, Within: within, Nets: nets, Events: tells,
					Shows: shows, Readies: s.after != nil})
		}
		return p
	}
	return s
}

// drawAfter draws which nodes must be ready before others are switched on.
func drawAfter(t *rapid.T, nodes int) [][]ariadne.NodeID {
	after := make([][]ariadne.NodeID, nodes)
	first := rapid.IntRange(0, nodes-1).Draw(t, "who waits for none")
	for i := range nodes {
		if i == first || rapid.IntRange(0, 3).Draw(t, "waits") == 0 {
			continue
		}
		after[i] = []ariadne.NodeID{ariadne.NodeID(first)}
		for j := range i {
			if j != first && rapid.Bool().Draw(t, "also for") {
				after[i] = append(after[i], ariadne.NodeID(j))
			}
		}
	}
	return after
}

// drawNodeFaults draws which nodes may go down, for how long, and whose clocks are set, and gives
// a budget of that.
func drawNodeFaults(t *rapid.T, nodes int, budgets *world.Faults) (all []world.NodeFaults) {
	some := func(f world.NodeFaults) {
		for i := range rapid.IntRange(1, nodes).Draw(t, "of") {
			f.Nodes = append(f.Nodes, ariadne.NodeID(i))
		}
		all = append(all, f)
	}
	for i, down := range []ariadne.Down{ariadne.Crashed, ariadne.Stopped, ariadne.Paused} {
		kind := []ariadne.ActionKind{world.Crash, world.Stop, world.Pause}[i]
		if rapid.IntRange(0, 4).Draw(t, down.String()) > 0 {
			continue
		}
		budgets[kind] = uint8(rapid.IntRange(1, 2).Draw(t, "how often"))
		lengths := [][]time.Duration{{0}, {1e6, 6e6}, {ariadne.Ever},
			{0, ariadne.Ever}}[rapid.IntRange(0, 3).Draw(t, "for")]
		if down == ariadne.Paused {
			lengths = lengths[:1]
			if lengths[0] == ariadne.Ever {
				lengths = []time.Duration{4e6}
			}
		}
		if down != ariadne.Paused && nodes > 1 && rapid.IntRange(0, 2).Draw(t, down.String()+" together") == 0 {
			group := []ariadne.NodeID{0, 1, 2}[:min(nodes, rapid.IntRange(2, 3).Draw(t, "group"))]
			all = append(all, world.OutagesTogether(down, group, []string{"n1", "n2", "n3", "n4"}, lengths...)...)
		}
		some(world.Outages(down, nil, lengths...))
	}
	if budgets[world.Stop] == 0 && rapid.IntRange(0, 4).Draw(t, "power") == 0 {
		budgets[world.Power] = uint8(rapid.IntRange(1, 2).Draw(t, "how often"))
		length := rapid.SampledFrom([]time.Duration{0, 6e6, ariadne.Ever}).Draw(t, "for")
		for _, group := range [][]ariadne.NodeID{{0, 1}, {1, 2}, {0, 1, 2}} {
			if int(group[len(group)-1]) < nodes && rapid.Bool().Draw(t, "together") {
				all = append(all,
					world.OutagesTogether(ariadne.PowerLost, group, []string{"n1", "n2", "n3", "n4"}, length)...)
			}
		}
		if rapid.Bool().Draw(t, "alone") {
			some(world.Outages(ariadne.PowerLost, nil, length))
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "jumps") == 0 {
		budgets[world.Jump] = uint8(rapid.IntRange(1, 2).Draw(t, "how often"))
		some(world.Jumps(nil, [][]time.Duration{{1e6}, {-2e6, 5e6}}[rapid.IntRange(0, 1).Draw(t, "by")]...))
	}
	if rapid.IntRange(0, 5).Draw(t, "drifts") == 0 {
		budgets[world.Drift] = uint8(rapid.IntRange(1, 2).Draw(t, "how often"))
		some(world.Drifts(nil, [][]int{{400_000}, {-300_000, 500_000}}[rapid.IntRange(0, 1).Draw(t, "ppm")]...))
	}
	return all
}

// drawPartitions draws how the network may be parted or slow, and gives budgets of that.
func drawPartitions(t *rapid.T, nodes int, budgets *world.Faults) (all []*world.Partition) {
	if rapid.IntRange(0, 3).Draw(t, "cuts") == 0 {
		budgets[world.Cut] = uint8(rapid.IntRange(1, 2).Draw(t, "how many cuts"))
		all = drawParts(t, nodes)
	}
	if rapid.IntRange(0, 3).Draw(t, "slow") == 0 {
		budgets[world.Slow] = uint8(rapid.IntRange(1, 2).Draw(t, "how often slow"))
		by := rapid.SampledFrom([]time.Duration{1e6, 5e6}).Draw(t, "late by")
		for _, p := range drawParts(t, nodes) {
			all = append(all, p.WithLateness(by))
		}
	}
	return all
}

func drawParts(t *rapid.T, nodes int) (all []*world.Partition) {
	for i := range rapid.IntRange(1, 2).Draw(t, "ways to cut") {
		var rest []ariadne.NodeID
		for j := range nodes {
			if j != i {
				rest = append(rest, ariadne.NodeID(j))
			}
		}
		length := rapid.SampledFrom([]time.Duration{0, 3e6, 8e6, ariadne.Ever}).Draw(t, "cut for")
		all = append(all,
			world.NewPartition(fmt.Sprintf("n%d", i+1), []ariadne.NodeID{ariadne.NodeID(i)}, rest,
				rapid.Bool().Draw(t, "one way"), length))
	}
	return all
}

// outagesOf are the outages that may happen to a node in the midst of a step.
func (s small) outagesOf(id ariadne.NodeID) (all []ariadne.Outage) {
	for _, rule := range s.rules.NodeFaults {
		if s.between || !slices.Contains(rule.Nodes, id) {
			continue
		}
		for _, f := range rule.Faults {
			if o, ok := f.(ariadne.Outage); ok {
				all = append(all, o)
			}
		}
	}
	return all
}

// brute takes all paths of a system, and gives it up when there are too many.
func brute(t *rapid.T, s small) found {
	all := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 3000)
	if all.how != search.SearchExhausted {
		t.SkipNow()
	}
	return all
}

// TestExhaustiveExplorersAgreeWithBruteForce: they find all states, and those that
// enumerate paths find all traces.
func TestExhaustiveExplorersAgreeWithBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		want := brute(t, s)
		for name, e := range map[string]strategy.Explorer{
			"depth first": &strategy.DepthFirst{}, "breadth first": &strategy.BreadthFirst{},
			"fewest deviations": &strategy.FewestDeviations{},
			"scripted":          &strategy.Scripted{Ask: askAll},
		} {
			got := explore(t, s.exploration(t, e), 0)
			if got.how != search.SearchExhausted || !maps.Equal(got.states, want.states) {
				t.Fatalf("%s: %s with %d states, want %d", name, got.how, len(got.states), len(want.states))
			}
		}
	})
}

// TestDPORAgreesWithBruteForce: it finds all traces. Without timers and faults it takes exactly one
// path of each and gives no path up; with them no more paths than sleep sets.
func TestDPORAgreesWithBruteForce(t *testing.T) {
	for _, timers := range []bool{false, true} {
		t.Run(fmt.Sprint("timers ", timers), func(t *testing.T) {
			paths, blocked, widened := 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				s := drawSmall(t, timers)
				want := brute(t, s)
				d := &strategy.DPOR{}
				got := explore(t, s.exploration(t, d), 0)
				same(t, got, want)
				if timers || s.chooses || s.rules.Faults != (world.Faults{}) {
					// Paths with the same trace may still differ in what the clock kept from
					// happening, so there may be more than traces. Sleep sets take as many, or a
					// few more: whether two events depend on each other may differ from state to
					// state.
					e := &strategy.SleepSets{}
					if one := explore(t, s.exploration(t, e), 0).coverage.Paths; got.coverage.Paths > one {
						t.Fatalf("%d paths, sleep sets take %d", got.coverage.Paths, one)
					}
				} else if s.after == nil &&
					(len(s.clients) < 2 && got.coverage.Paths != len(got.traces) || s.clients == nil && d.Blocked > 0) {
					// A node that waits for another starts at a time of the clock, as timers fire.
					t.Fatalf("%d paths and %d given up for %d traces", got.coverage.Paths, d.Blocked, len(got.traces))
				}
				if d.Impossible > 0 {
					t.Fatalf("%d reversals were not possible", d.Impossible)
				}
				paths, blocked, widened = paths+got.coverage.Paths, blocked+d.Blocked, widened+d.Widened
			})
			t.Logf("%d paths and %d given up; %d states were widened", paths, blocked, widened)
		})
	}
}

// TestBoundsThatCutOrdersOff: what strategies that take one path of each trace leave
// out because of bounds, they say. A time limit takes away what is later, whatever
// else has happened, and so leaves nothing out.
func TestBoundsThatCutOrdersOff(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond}
	for _, c := range []struct {
		name   string
		s      small
		wants  [2]string // of DPOR and of sleep sets
		traces int
	}{
		{"deviations", small{rules: rules, programs: fan(3, 2), bounds: space.Bounds{Deviations: space.AtMost(1)}},
			[2]string{search.SearchDone, search.SearchDone}, 0},
		{"depth", small{rules: rules, programs: fan(3, 2), bounds: space.Bounds{Depth: 4}},
			[2]string{search.SearchDone, search.SearchExhausted}, 0},
		{"time", small{rules: rules, programs: waiting, bounds: space.Bounds{Time: 5e6}},
			[2]string{search.SearchExhausted, search.SearchExhausted}, 2},
	} {
		for i, e := range []strategy.Explorer{&strategy.DPOR{}, &strategy.SleepSets{}} {
			got := explore(t, c.s.exploration(t, e), 0)
			if got.how != c.wants[i] || c.traces > 0 && got.coverage.Paths != c.traces {
				t.Errorf("%s, %T: %s after %d paths", c.name, e, got.how, got.coverage.Paths)
			}
		}
	}
}

// TestBranch: bounded to so many steps, DPOR tries other orders of these alone, and
// says that it has left some out.
func TestBranch(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: fan(3, 2)}
	for _, c := range []struct {
		branch, traces int
		how            string
	}{
		{0, 1, search.SearchDone},
		{3, 1, search.SearchDone}, // the three starts
		{4, 2, search.SearchDone},
		{5, 3, search.SearchDone},      // of four: the fourth is reached by way of others beyond
		{6, 6, search.SearchExhausted}, // the last message has no choice
	} {
		got := explore(t, s.exploration(t, &strategy.DPOR{Branch: space.AtMost(c.branch)}), 0)
		if got.how != c.how || got.coverage.Paths != c.traces || len(got.traces) != c.traces {
			t.Errorf("%d steps: %s with %d paths, %d traces", c.branch, got.how, got.coverage.Paths, len(got.traces))
		}
	}
}

// waiting is a node that two others send to and that waits for a while; they also
// wait, each for longer.
func waiting() []worldtest.Program {
	return []worldtest.Program{&alarm{after: 10}, &alarm{after: 20, send: true}, &alarm{after: 30, send: true}}
}

// alarm sets a timer, after ms.
type alarm struct {
	worldtest.Idle
	after int
	send  bool
}

func (a *alarm) Start(c *worldtest.Ctx) {
	c.SetTimer(time.Duration(a.after) * time.Millisecond)
	if a.send {
		c.Send(0, "m")
	}
}

// TestDPORAgreesWithSleepSets: in systems too large for brute force as well, by one worker
// and by three.
func TestDPORAgreesWithSleepSets(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("long: set ARIADNE_LONG=1")
	}
	paths, blocked, tried := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, 4, 6, rapid.Bool().Draw(t, "timers"))
		e := &strategy.SleepSets{}
		want := explore(t, s.exploration(t, e), 30000)
		if want.how != search.SearchExhausted {
			t.SkipNow()
		}
		d := &strategy.DPOR{}
		got := explore(t, s.exploration(t, d), 0)
		same(t, got, want)
		if got.coverage.Paths != want.coverage.Paths {
			t.Fatalf("%d paths, sleep sets take %d", got.coverage.Paths, want.coverage.Paths)
		}
		several := s.together(t, (&strategy.DPOR{}).Divide(3), nil)
		same(t, several, want)
		if several.coverage.Paths != want.coverage.Paths {
			t.Fatalf("three workers take %d paths, sleep sets take %d", several.coverage.Paths, want.coverage.Paths)
		}
		paths, blocked, tried = paths+got.coverage.Paths, blocked+d.Blocked, tried+e.Blocked
	})
	t.Logf("%d paths; %d given up by DPOR, %d by sleep sets", paths, blocked, tried)
}

// TestDPORMayChooseFreely: it finds the same whichever path it takes first.
func TestDPORMayChooseFreely(t *testing.T) {
	paths, blocked := 0, 0
	check := func(t failer, s small, want found) {
		for seed := range uint64(10) {
			r := rand.New(rand.NewPCG(seed, 0))
			d := &strategy.DPOR{Choose: func(_ *space.Path, choices []int) (event, awake int) {
				i := choices[r.IntN(len(choices))]
				return i, i
			}}
			got := explore(t, s.exploration(t, d), 0)
			same(t, got, want)
			// In about one drawn system of a thousand a trace is taken more than once, by one of
			// the two or by both.
			if got.coverage.Paths > 2*want.coverage.Paths || got.coverage.Paths < len(want.traces) || d.Impossible > 0 {
				t.Fatalf("order %d: %d paths for %d traces, sleep sets take %d; %d reversals were not possible", seed, got.coverage.Paths, len(want.traces), want.coverage.Paths, d.Impossible)
			}
			paths, blocked = paths+got.coverage.Paths, blocked+d.Blocked
		}
	}
	// Without a budget of delays, a timer and a message that is due later.
	late := small{rules: world.Rules{ClockError: 3 * time.Millisecond}, starts: []int{3, 0, 0, 0},
		bounds: space.Bounds{Time: 9e6}}
	late.programs = func() []worldtest.Program {
		var p []worldtest.Program
		for range 4 {
			p = append(p, &worldtest.Chaos{Nodes: 4, Seed: 0x9658342, Acts: 2, Exits: 40})
		}
		return p
	}
	check(t, late, explore(t, late.exploration(t, &strategy.SleepSets{}), 0))
	// A message that no fault can hit before its sender has written a line.
	lines := small{rules: world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("reset", 1)},
		programs: func() []worldtest.Program {
			return []worldtest.Program{quietNode{}, teller{}, sender{to: 1, count: 1}}
		}}
	lines.rules.After[world.Reset] = regexp.MustCompile("told")
	want := explore(t, lines.exploration(t, &strategy.SleepSets{}), 0)
	if len(want.traces) < 2 {
		t.Fatalf("%d traces: nothing was reset", len(want.traces))
	}
	check(t, lines, want)
	random := func(t *rapid.T) {
		s := drawSystem(t, 4, 4, rapid.IntRange(0, 3).Draw(t, "timers") > 0)
		want := explore(t, s.exploration(t, &strategy.SleepSets{}), 1000)
		if want.how != search.SearchExhausted {
			t.SkipNow()
		}
		check(t, s, want)
	}
	rapid.Check(t, random)
	for i := 1; i < 100 && os.Getenv("ARIADNE_LONG") != ""; i++ {
		rapid.Check(t, random)
	}
	t.Logf("%d paths and %d given up", paths, blocked)
}

// TestDPORInHardSystems: systems in which a race, looked at once, shows nothing, and
// shows what is missing with another end of the path or after the first timer.
func TestDPORInHardSystems(t *testing.T) {
	var parts, stops world.Faults
	parts[world.Cut], stops[world.Stop] = 1, 1
	both := worldtest.Faults("duplicate", 2)
	both[world.Fail] = 1
	var outages, cutAndPower, cutAndStop world.Faults
	outages[world.Stop], outages[world.Crash] = 1, 1
	cutAndPower[world.Cut], cutAndPower[world.Power], cutAndStop[world.Cut], cutAndStop[world.Stop] = 1, 1, 1, 1
	one, other := []ariadne.NodeID{0}, []ariadne.NodeID{1}
	for _, c := range []struct {
		name  string
		s     small
		nodes int
		chaos worldtest.Chaos
	}{
		{"another end", small{rules: world.Rules{Latency: time.Millisecond}}, 4,
			worldtest.Chaos{Seed: 0x15ba, Acts: 3, Exits: 40, NoTimers: true}},
		{"a timer", small{rules: world.Rules{Latency: 4 * time.Microsecond}, clients: []int{0}}, 2,
			worldtest.Chaos{Seed: 0x840, Acts: 4, Exits: 3}},
		{"context",
			small{rules: world.Rules{Latency: 2007 * time.Microsecond, Delays: 1}, clients: []int{0},
				starts: []int{0, 0, 2}}, 3,
			worldtest.Chaos{Seed: 0x5a72, Acts: 3, Exits: 40}},
		{"a partition that ends", small{rules: world.Rules{Latency: time.Millisecond, Faults: parts, Grid: 2e6,
			Partitions: []*world.Partition{world.NewPartition("n1", one, other, false, 0),
				world.NewPartition("n2", other, one, true, 0)}}}, 2,
			worldtest.Chaos{Seed: 0x7fed2e, Acts: 2, Exits: 3, NoTimers: true, Chooses: true, Spares: true}},
		{"a timer and who stops",
			small{rules: world.Rules{Latency: 282 * time.Microsecond, ClockError: time.Millisecond, Delays: 1,
				Faults: stops, Grid: 2e6,
				NodeFaults: []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, 0,
					ariadne.Ever)}},
				starts: []int{2, 1}}, 2,
			worldtest.Chaos{Seed: 0x33f, Acts: 2, Exits: 40, Writes: true}},
		{"a connection that ends",
			small{rules: world.Rules{Delays: 1, Faults: parts, Grid: 2e6, GiveUp: 4 * time.Millisecond,
				Partitions: []*world.Partition{world.NewPartition("n1", one, other, false, 0),
					world.NewPartition("n2", other, one, true, 8e6)}}, clients: []int{0}, starts: []int{0, 0}}, 2,
			worldtest.Chaos{Seed: 2, Acts: 2, Exits: 3, Chooses: true, Spares: true}},
		{"a machine that stops later",
			small{rules: world.Rules{Latency: 3 * time.Microsecond, Faults: outages, Grid: 2e6,
				GiveUp: 6 * time.Millisecond,
				NodeFaults: []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, 0, ariadne.Ever),
					world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1, 2}, 1e6, 6e6)}}, starts: []int{0, 1, 3}}, 3,
			worldtest.Chaos{Seed: 0xb5ed33e, Acts: 3, Exits: 40, NoTimers: true, Spares: true, Writes: true,
				Limits: true}},
		{"a machine that is back in a partition",
			small{between: true,
				rules: world.Rules{Latency: 3 * time.Millisecond, ClockError: 2 * time.Millisecond, Delays: 1,
					Faults: cutAndPower, Grid: 2e6,
					GiveUp:     4 * time.Millisecond,
					NodeFaults: []world.NodeFaults{world.Outages(ariadne.PowerLost, one, 0, ariadne.Ever)},
					Partitions: []*world.Partition{world.NewPartition("n1", one, other, true, 8e6),
						world.NewPartition("n2", other, one, true, 3e6)}}, starts: []int{3, 0}}, 2,
			worldtest.Chaos{Seed: 0x7b, Acts: 1, Exits: 40, Spares: true, Writes: true, Limits: true}},
		{"who is kept alive in a partition",
			small{between: true,
				rules: world.Rules{Latency: 1593 * time.Microsecond, ClockError: 2 * time.Millisecond,
					Faults: cutAndStop, Grid: 2e6,
					NodeFaults: []world.NodeFaults{world.Outages(ariadne.Stopped, []ariadne.NodeID{0, 1}, 1e6, 6e6)},
					Partitions: []*world.Partition{world.NewPartition("n1", one, other, true, 3e6),
						world.NewPartition("n2", other, one, false, 3e6)}}, starts: []int{3, 0}}, 2,
			worldtest.Chaos{Seed: 0x2d513b2, Acts: 2, Exits: 40, Spares: true, Writes: true, Limits: true}},
		{"what is spent later", small{rules: world.Rules{Latency: time.Millisecond, Faults: both, Combined: 1}}, 4,
			worldtest.Chaos{Seed: 0x5, Acts: 4, Exits: 3, NoTimers: true, Tries: true, Spares: true}},
	} {
		c.s.programs = func() []worldtest.Program {
			var p []worldtest.Program
			for range c.nodes {
				x := c.chaos
				x.Nodes = c.nodes
				p = append(p, &x)
			}
			return p
		}
		got := explore(t, c.s.exploration(t, &strategy.DPOR{}), 0)
		want := explore(t, c.s.exploration(t, &strategy.SleepSets{}), 0)
		t.Logf("%s: %s, %d paths, %d traces", c.name, got.how, got.coverage.Paths, len(got.traces))
		if got.how != search.SearchExhausted || !maps.Equal(got.traces, want.traces) ||
			got.coverage.Paths != want.coverage.Paths {
			t.Errorf("%s: %s, %d paths and %d traces, want %d and %d", c.name, got.how, got.coverage.Paths,
				len(got.traces), want.coverage.Paths, len(want.traces))
		}
	}
}

// same fails when a search has not found what another has.
func same(t failer, got, want found) {
	t.Helper()
	if got.how != search.SearchExhausted {
		t.Fatalf("%s", got.how)
	}
	if !maps.Equal(got.traces, want.traces) {
		for trace, path := range want.paths {
			if !got.traces[trace] {
				t.Logf("missing: %s", path)
			}
		}
		t.Fatalf("%d traces, want %d", len(got.traces), len(want.traces))
	}
	if !maps.Equal(got.violations, want.violations) {
		t.Fatalf("%d violations, want %d", len(got.violations), len(want.violations))
	}
}

// TestSleepSetsAgreeWithBruteForce: with timers, delays and late starts too. It also
// shows that the relation of dependence is right.
func TestSleepSetsAgreeWithBruteForce(t *testing.T) {
	paths, traces, blocked := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		s.bounds.Depth = rapid.SampledFrom([]int{0, 0, 5, 9}).Draw(t, "depth")
		want := brute(t, s)
		e := &strategy.SleepSets{}
		got := explore(t, s.exploration(t, e), 0)
		same(t, got, want)
		paths, traces, blocked = paths+got.coverage.Paths, traces+len(got.traces), blocked+e.Blocked
	})
	t.Logf("%d paths and %d given up for %d traces", paths, blocked, traces)
}

func TestPlantedBugsAreFound(t *testing.T) {
	for _, s := range systems {
		if s.natural {
			continue
		}
		for name, e := range map[string]strategy.Explorer{
			"depth first": &strategy.DepthFirst{}, "breadth first": &strategy.BreadthFirst{},
			"fewest deviations": &strategy.FewestDeviations{}, "DPOR": &strategy.DPOR{},
			"sleep sets": &strategy.SleepSets{},
		} {
			x := small{rules: world.Rules{Latency: time.Millisecond, Delays: s.delays}, programs: s.programs,
				clients: s.clients}.exploration(t, e)
			got := explore(t, x, 20000)
			if (len(got.violations) > 0) != (s.bug != "") {
				t.Errorf("%s: %s with %d violations after %d paths", s.name, name, len(got.violations),
					got.coverage.Paths)
			}
			t.Logf("%s: %s: %+v, %s", s.name, name, got.coverage, got.how)
		}
	}
}

// BenchmarkDPOR explores a space of which every transition is known.
func BenchmarkDPOR(b *testing.B) {
	for _, c := range []struct {
		name string
		s    small
	}{
		{"messages", small{rules: world.Rules{Latency: time.Millisecond}, programs: fan(4, 3)}},
		{"timers", small{rules: world.Rules{Latency: time.Millisecond, Delays: 1}, programs: worldtest.TwoPhaseCommit}},
	} {
		b.Run(c.name, func(b *testing.B) {
			warm := c.s.exploration(b, &strategy.DPOR{})
			explore(b, warm, 0)
			paths, steps := 0, 0
			for b.Loop() {
				x := &search.Exploration{Space: warm.Space, Explorer: &strategy.DPOR{}, Checks: warm.Checks}
				if _, err := x.Run(); err != nil {
					b.Fatal(err)
				}
				paths, steps = paths+x.Coverage.Paths, steps+x.Coverage.Steps
			}
			b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(paths)/b.Elapsed().Seconds(), "paths/s")
			b.ReportMetric(float64(steps)/float64(paths), "steps/path")
		})
	}
}
