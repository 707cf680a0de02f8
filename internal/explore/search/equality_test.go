package search_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// lastLine: a node shows the last line that it has written.
var lastLine = expose.Rules{{Line: regexp.MustCompile(`.+`)}}

// content writes out the content of the state at the end of a path, with times
// relative to the earliest at which anything is due.
func content(p *space.Path) string {
	s := &p.Last().State
	first := ariadne.Never
	for i := range s.Nodes {
		first = min(first, s.Nodes[i].Timer())
		if !s.Nodes[i].Started {
			first = min(first, p.System().Nodes()[i].Start)
		}
	}
	for i := range s.Flight {
		first = min(first, s.Flight[i].Arrival)
	}
	since := func(t ariadne.Time) string {
		if t == ariadne.Never || first == ariadne.Never {
			return "-"
		}
		return fmt.Sprint(int64(t - first))
	}
	shown := make([]string, len(s.Nodes))
	for i := 1; i <= p.Steps(); i++ {
		step := p.Step(i)
		for _, l := range step.Output.Logs {
			shown[step.Action.Node] = l.Text
		}
	}
	var b strings.Builder
	for i := range s.Nodes {
		n := &s.Nodes[i]
		fmt.Fprintln(&b, shown[i], n.Started, n.Done, n.Ended, since(n.Timer()), since(max(n.Clock, first-1)),
			since(max(first, p.System().Nodes()[i].Start)))
	}
	flows := map[string][]string{}
	for i := range s.Flight {
		f := &s.Flight[i]
		flow := fmt.Sprint(f.Flow, f.To)
		flows[flow] = append(flows[flow], fmt.Sprintf("%q %v %v", f.Data, since(f.Arrival), f.Delayed))
		if r := p.System().Rules(); r.MaxDelay > 0 { // until when a timer may overtake it
			flows[flow] = append(flows[flow], since(f.Arrival-f.Late()+ariadne.Time(r.MaxDelay)))
		}
	}
	for _, flow := range slices.Sorted(maps.Keys(flows)) {
		fmt.Fprintln(&b, flow, flows[flow])
	}
	fmt.Fprint(&b, s.Delays, s.Faults)
	return b.String()
}

// bruteContent finds all states by their content, by trying all that is possible in each,
// and returns their names. It gives up when there are too many.
func bruteContent(t failer, s small, most int) (states map[hash.Hash]bool, ok bool) {
	x := s.exploration(t, nil)
	p, err := space.NewPath(x.Space, s.bounds)
	if err != nil {
		t.Fatal(err)
	}
	described, names := map[string]hash.Hash{}, map[hash.Hash]bool{}
	var ways [][]int
	arrive := func(way []int) {
		d, name := content(p), p.Name(p.Last())
		known, met := described[d]
		if met != names[name] || met && known != name {
			t.Fatalf("the name of a state's content does not stand for it:\n%s", d)
		}
		if !met {
			described[d], names[name] = name, true
			ways = append(ways, way)
		}
	}
	for p.Approaching() {
		if err := p.Push(0); err != nil {
			t.Fatal(err)
		}
	}
	arrive(nil)
	for len(ways) > 0 {
		way := ways[0]
		ways = ways[1:]
		if len(names) > most {
			return nil, false
		}
		push := func(i int) {
			if err := p.Push(i); err != nil {
				t.Fatal(err)
			}
		}
		p.Cut(0)
		for _, i := range way {
			push(i)
		}
		for i := range p.Last().Enabled {
			p.Cut(len(way))
			push(i)
			arrive(append(slices.Clone(way), i))
		}
	}
	return names, true
}

// matching are the explorers that may match states by their content.
func matching() map[string]strategy.Divisible {
	all := divisible()
	// which do not go on from states
	for _, name := range []string{"all paths", "sleep sets", "DPOR"} {
		delete(all, name)
	}
	return all
}

// TestContentAgreesWithBruteForce: machines with a few states, most of which never end, have a
// few states together, and every strategy that goes on from states finds them all, whoever
// shares the work.
func TestContentAgreesWithBruteForce(t *testing.T) {
	cycles, most := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3).Draw(t, "nodes")
		loop := worldtest.Loop{Nodes: n, Seed: rapid.Uint64().Draw(t, "seed"),
			States: rapid.IntRange(1, 3).Draw(t, "states")}
		s := small{
			instant: true, shows: lastLine, equality: space.Equality{Exposed: true, Times: true},
			rules: world.Rules{
				Faults:     worldtest.Faults("duplicate", rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "duplicates")),
				Latency:    time.Duration(rapid.IntRange(1, 2).Draw(t, "latency ms")) * time.Millisecond,
				ClockError: time.Duration(rapid.IntRange(0, 1).Draw(t, "E ms")) * time.Millisecond,
				Delays:     rapid.IntRange(0, 1).Draw(t, "delays"),
				MaxDelay: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t,
					"max delay ms")) * time.Millisecond,
			},
			starts: rapid.SliceOfN(rapid.IntRange(0, 2), n, n).Draw(t, "starts ms"),
			programs: func() []worldtest.Program {
				var p []worldtest.Program
				for range n {
					l := loop
					p = append(p, &l)
				}
				return p
			},
		}
		want, ok := bruteContent(t, s, 150)
		if !ok {
			t.SkipNow()
		}
		most = max(most, len(want))
		for name := range matching() {
			for _, workers := range []int{0, 1, 2} {
				var got found
				if workers == 0 {
					got = explore(t, s.exploration(t, matching()[name]), 0)
					cycles += got.coverage.Cycles
				} else {
					got = s.together(t, matching()[name].Divide(workers), nil)
				}
				if got.how != search.SearchExhausted || !maps.Equal(got.states, want) {
					t.Fatalf("%s, %d workers: %s with %d states, want %d", name, workers, got.how, len(got.states),
						len(want))
				}
			}
		}
	})
	if t.Logf("%d cycles; up to %d states", cycles, most); cycles == 0 {
		t.Error("nothing came back to where it was")
	}
}

func heartbeats(trips int) func() []worldtest.Program {
	return func() []worldtest.Program {
		return []worldtest.Program{
			&worldtest.Heartbeat{Peer: 1, Every: 3 * time.Millisecond, Of: 3, Trips: trips},
			&worldtest.Heartbeat{Peer: 0, Every: 5 * time.Millisecond, Of: 2},
		}
	}
}

// TestWhatNeverEndsIsExhausted: without any bound, also when the two beats drift past each
// other, which they do when what nodes do takes time. (With delays beat after beat may pile up
// behind one that is late, and there is no end of states.)
func TestWhatNeverEndsIsExhausted(t *testing.T) {
	for _, times := range []bool{false, true} {
		s := small{rules: world.Rules{Latency: time.Millisecond, ClockError: time.Millisecond}, programs: heartbeats(0),
			shows: lastLine, equality: space.Equality{Exposed: true, Times: times}, instant: times}
		for name := range matching() {
			got := explore(t, s.exploration(t, matching()[name]), 0)
			if got.how != search.SearchExhausted || got.coverage.Cycles == 0 || got.coverage.Paths > 0 {
				t.Errorf("%s, times %v: %s with %d states, %d cycles, %d paths that ended", name, times, got.how, len(got.states), got.coverage.Cycles, got.coverage.Paths)
			}
			for _, workers := range []int{1, 2} {
				several := s.together(t, matching()[name].Divide(workers), nil)
				if several.how != search.SearchExhausted || times && !maps.Equal(several.states, got.states) {
					t.Errorf("%s, times %v, %d workers: %s with %d states, one alone has %d", name, times, workers, several.how, len(several.states), len(got.states))
				}
			}
			t.Logf("%s, times %v: %d states, %d cycles", name, times, len(got.states), got.coverage.Cycles)
		}
	}
}

// TestLassos: who has gone round once can go round again and again.
func TestLassos(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: heartbeats(0), instant: true,
		shows: lastLine, equality: space.Equality{Exposed: true, Times: true}}
	x := s.exploration(t, &strategy.DepthFirst{})
	type taken struct {
		lasso space.Lasso
		stem  int
		way   []int
	}
	var all []taken
	x.Cycled = func(p *space.Path, stem int) {
		k := taken{lasso: p.Lasso(stem), stem: stem}
		for i := range p.Len() {
			k.way = append(k.way, p.Frame(i).Taken)
		}
		all = append(all, k)
	}
	if how, err := x.Run(); err != nil || how != search.SearchExhausted || len(all) != x.Coverage.Cycles ||
		len(all) == 0 {
		t.Fatalf("%s with %d lassos and %d cycles, %v", how, len(all), x.Coverage.Cycles, err)
	}
	p, err := space.NewPath(x.Space, s.bounds)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if len(k.lasso.Stem) != k.stem || len(k.lasso.Cycle) == 0 || k.stem+len(k.lasso.Cycle) != len(k.way) {
			t.Fatalf("a stem of %d steps and a cycle of %d; %d and %d were taken", len(k.lasso.Stem),
				len(k.lasso.Cycle), k.stem, len(k.way)-k.stem)
		}
		p.Cut(0)
		push := func(way []int, steps []ariadne.Step) {
			for i, event := range way {
				if err := p.Push(event); err != nil {
					t.Fatal(err)
				}
				if got := p.Step(p.Steps()).Action; got.Kind != steps[i].Action.Kind ||
					got.Node != steps[i].Action.Node || got.Flow != steps[i].Action.Flow {
					t.Fatalf("%v is not %v", got, steps[i].Action)
				}
			}
		}
		push(k.way[:k.stem], k.lasso.Stem)
		there := p.Name(p.Last())
		for range 3 {
			push(k.way[k.stem:], k.lasso.Cycle)
			if p.Name(p.Last()) != there {
				t.Fatal("the cycle does not lead back")
			}
		}
	}
}

// TestMessagesThatCommuteMeet: the orders of messages to a node that adds them up are one by
// what it shows, and as many as there are by history.
func TestMessagesThatCommuteMeet(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, shows: lastLine, programs: func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Tally{}, &worldtest.Addend{Numbers: []int{1}},
			&worldtest.Addend{Numbers: []int{2}}}
	}}
	ends := func(e space.Equality) (map[hash.Hash]bool, int) {
		s.equality = e
		names := map[hash.Hash]bool{}
		x := s.exploration(t, &strategy.DepthFirst{All: true})
		n := 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			names[p.Name(p.Last())] = true
			n++
			return true
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		return names, n
	}
	if names, n := ends(space.Equality{}); len(names) != 2 || n < 4 {
		t.Errorf("by history %d states at the end of %d paths, want 2: one for each order", len(names), n)
	}
	for _, times := range []bool{false, true} {
		if names, _ := ends(space.Equality{Exposed: true, Times: times}); len(names) != 1 {
			t.Errorf("by what is shown %d states at the end, want 1", len(names))
		}
	}
	exhaust := func(e space.Equality) int {
		s.equality = e
		got := explore(t, s.exploration(t, &strategy.DepthFirst{}), 0)
		if got.how != search.SearchExhausted {
			t.Error(got.how)
		}
		return len(got.states)
	}
	s.programs = func() []worldtest.Program {
		p := []worldtest.Program{&worldtest.Tally{}}
		for i := range 4 {
			p = append(p, &worldtest.Addend{Numbers: []int{1 << (2 * i), 2 << (2 * i)}})
		}
		return p
	}
	byHistory, byShown := exhaust(space.Equality{}), exhaust(space.Equality{Exposed: true})
	if t.Logf("%d states by history, %d by what is shown", byHistory, byShown); byHistory < 10*byShown {
		t.Errorf("%d states by history, %d by what is shown", byHistory, byShown)
	}
}

// TestViolationsBehindMatchesAreReal: a violation that is found where states match is at the
// end of a path that can be taken, step by step.
func TestViolationsBehindMatchesAreReal(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond, ClockError: time.Millisecond, Delays: 1},
		programs: heartbeats(1), shows: lastLine}
	for _, times := range []bool{false, true} {
		s.equality = space.Equality{Exposed: true, Times: times}
		for name := range matching() {
			x := s.exploration(t, matching()[name])
			found := 0
			x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if v == nil {
					return true
				}
				found++
				w := worldtest.Of(s.rules, s.programs()...)
				var last ariadne.Step
				for i := 1; i <= p.Steps(); i++ {
					var err error
					if last, err = w.Apply(p.Step(i).Action); err != nil ||
						last.Output.Digest != p.Step(i).Output.Digest {
						t.Fatalf("%s: step %d is another one, %v", name, i, err)
					}
				}
				if len(last.Output.Exits) == 0 || last.Output.Exits[0].Signal != 6 {
					t.Fatalf("%s: %+v", name, last.Output)
				}
				return false
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			if found == 0 {
				t.Errorf("%s, times %v: no violation", name, times)
			}
		}
	}
}

// TestCutOffIsSaid: a state that was reached late, where a bound cuts the path off, counts as
// known when it is reached sooner, and the search knows that it may have missed something.
func TestCutOffIsSaid(t *testing.T) {
	s := small{rules: world.Rules{Latency: time.Millisecond}, programs: heartbeats(0), shows: lastLine,
		equality: space.Equality{Exposed: true}}
	for _, c := range []struct {
		bounds space.Bounds
		cut    bool
	}{{space.Bounds{Depth: 8}, true}, {space.Bounds{Time: 9e6}, true}, {space.Bounds{Depth: 5000, Time: 60e9}, false}} {
		s.bounds = c.bounds
		if got := explore(t, s.exploration(t, &strategy.DepthFirst{}), 0); got.coverage.CutOff > 0 != c.cut {
			t.Errorf("%+v: cut off in %d states", c.bounds, got.coverage.CutOff)
		}
	}
}

// TestNothingIsMissedBehindAnApproach: of a state on the way to where the paths begin only one
// way was taken, and who comes back to it goes on.
func TestNothingIsMissedBehindAnApproach(t *testing.T) {
	const from = 12
	s := small{rules: world.Rules{Latency: time.Millisecond, ClockError: 2 * time.Millisecond}, programs: heartbeats(0),
		shows: lastLine, instant: true,
		equality: space.Equality{Exposed: true, Times: true},
		bounds:   space.Bounds{From: func(s ariadne.Step) bool { return s.Index == from }}}
	want, ok := bruteContent(t, s, 2000)
	if !ok {
		t.Fatal("too many states")
	}
	for name := range matching() {
		for _, workers := range []int{1, 2} {
			got := s.together(t, matching()[name].Divide(workers), nil)
			for h := range want {
				if !got.states[h] {
					t.Fatalf("%s, %d workers: a state is missing", name, workers)
				}
			}
			if got.how != search.SearchExhausted || len(got.states) != len(want)+from {
				t.Errorf("%s, %d workers: %s with %d states, want %d and %d on the way there", name, workers, got.how, len(got.states), len(want), from)
			}
		}
	}
}
