package search_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// reach is what a path has used up of each bound.
type reach struct {
	steps, deviations, timers int
	kinds                     [world.MaxKinds]int
}

// within is what the bounds mean, word by word.
func (r reach) within(b space.Bounds) bool {
	for k := range r.kinds {
		if n, ok := b.Kinds[k].Limit(); ok && r.kinds[k] > n {
			return false
		}
	}
	deviations, some := b.Deviations.Limit()
	timers, few := b.Timers.Limit()
	return (b.Depth == 0 || r.steps <= b.Depth) && (!some || r.deviations <= deviations) && (!few || r.timers <= timers)
}

// simple takes every path of a system within its bounds, by the rules of the world alone, and
// varies each step at every place that its own output lists. It returns the fewest deviations with
// which each state is reached; not ok when there are too many paths.
func (s small) simple(t failer) (states map[hash.Hash]int, ok bool) {
	x := s.exploration(t, nil)
	y := x.Space.System
	states = map[hash.Hash]int{}
	left := 20_000
	var from func(at *space.State, r reach, begun bool)
	var take func(at *space.State, r reach, begun bool, i int, e world.Event, fails int)
	from = func(at *space.State, r reach, begun bool) {
		if left--; left < 0 {
			return
		}
		h := at.Hash()
		if n, ok := states[h]; !ok || r.deviations < n {
			states[h] = r.deviations
		}
		if y.ClientsDone(&at.State) {
			return
		}
		for i, e := range y.Enabled(&at.State, nil) {
			if !begun && (i > 0 || e.IsUntimed()) {
				break
			}
			if s.bounds.Time > 0 && e.At > s.bounds.Time {
				continue
			}
			take(at, r, begun, i, e, 0)
		}
	}
	take = func(at *space.State, r reach, begun bool, i int, e world.Event, fails int) {
		q := r
		if begun {
			q.steps++
			q.kinds[e.Kind]++
			for k, n := range e.Costs() {
				if ariadne.ActionKind(k) != e.Kind {
					q.kinds[k] += int(n)
				}
			}
			if i > 0 || fails > 0 || e.IsUntimed() {
				q.deviations++
			}
			if i > 0 && world.KindOf(e.Kind).Overtakes {
				q.timers++
			}
		}
		var next space.State
		next.CopyFrom(at)
		by, err := x.Space.Step(&next, &e)
		if err != nil {
			t.Fatal(err)
		}
		if begun && by.Output.Cut == "" {
			behind := e.Varied.Variation() == ""
			for _, place := range by.Output.Places {
				more := fails
				if k, _ := world.KindNamed(place.Kind()); world.KindOf(k).Fault != "" {
					more++
				}
				for _, other := range place.Alternatives {
					if more > fails && fails == s.rules.Together() {
						break
					}
					if v, err := e.WithChoice(ariadne.Choice{Alternative: other, Place: place.Name}); err != nil {
						t.Fatal(err)
					} else if behind && y.Allows(&at.State, &v) {
						take(at, r, begun, i, v, more)
					}
				}
				behind = behind || place.Taken != "" && e.Varied.Variation() == by.Output.Variation() &&
					strings.HasSuffix(string(e.Varied.Variation()), "@"+place.Name)
			}
		}
		if !q.within(s.bounds) {
			return
		}
		step := ariadne.Step{Index: next.Steps, Action: e.Action(), Name: by.Action, At: e.At, Output: by.Output}
		end := by.Output.Fatal != ""
		for _, c := range x.Checks() {
			end = end || c.Step(&step) != nil
		}
		if !end {
			from(&next, q, begun || s.bounds.From(step))
			return
		}
		if n, ok := states[next.Hash()]; !ok || q.deviations < n {
			states[next.Hash()] = q.deviations
		}
	}
	var first space.State
	x.Space.First(&first)
	from(&first, reach{}, s.bounds.From == nil)
	return states, left >= 0
}

// drawBounds draws any combination of bounds.
func drawBounds(t *rapid.T, s *small) {
	bound := func(name string, most int) space.Bound {
		return space.Bound(rapid.IntRange(-1, most+1).Draw(t, name))
	}
	b := &s.bounds
	b.Depth = rapid.SampledFrom([]int{0, 0, 1, 4, 9}).Draw(t, "depth")
	b.Deviations, b.Timers = bound("deviations", 4), bound("timers", 3)
	b.Kinds[ariadne.ActDeliver] = bound("deliveries", 4)
	if rapid.IntRange(0, 3).Draw(t, "others") == 0 {
		b.Kinds[ariadne.ActFire], b.Kinds[ariadne.ActStart] = bound("all timers", 4), bound("starts", 3)
	}
	b.Kinds[world.Fail], b.Kinds[world.Crash] = bound("fails", 2), bound("crashes", 2)
	if n := rapid.IntRange(-6, 6).Draw(t, "from"); n > 0 {
		b.From = func(s ariadne.Step) bool { return s.Index >= n }
	}
}

// TestBoundsAreWhatTheySay: under any combination of bounds, searches of states come to
// those and only those that brute force does, and others to none besides.
func TestBoundsAreWhatTheySay(t *testing.T) {
	bounded := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSystem(t, 3, 5, rapid.IntRange(0, 3).Draw(t, "timers") > 0)
		drawBounds(t, &s)
		want, ok := s.simple(t)
		if !ok {
			t.SkipNow()
		}
		exhaustive := map[string]strategy.Explorer{
			"depth first": &strategy.DepthFirst{}, "breadth first": &strategy.BreadthFirst{},
			"fewest deviations": &strategy.FewestDeviations{},
			"scripted":          &strategy.Scripted{Ask: askAll}, "all paths": &strategy.DepthFirst{All: true},
		}
		others := sampling(1)
		others["DPOR"], others["sleep sets"] = &strategy.DPOR{}, &strategy.SleepSets{}
		for name, e := range others {
			if _, ok := exhaustive[name]; !ok {
				exhaustive[name] = e
			}
		}
		for name, e := range exhaustive {
			x := s.exploration(t, e)
			got := map[hash.Hash]int{}
			x.Watch = func(p *space.Path) {
				h := p.Last().State.Hash()
				if _, known := got[h]; known {
					return
				}
				got[h] = p.Last().Deviations
				n, ok := want[h]
				if !ok {
					for i := 1; i <= p.Steps(); i++ {
						t.Logf("%s at %v", p.Step(i).Name, p.Step(i).At)
					}
					t.Fatalf("%s: a state that brute force does not reach", name)
				}
				if name == "fewest deviations" && s.bounds.From == nil && got[h] != n {
					t.Fatalf("%s: a state is first reached with %d deviations, brute force reaches it with %d", name, got[h], n)
				}
			}
			how := explore(t, x, 300).how
			_, some := others[name]
			switch {
			case how == search.SearchNowhere || some:
			case how == search.SearchExhausted && len(got) != len(want):
				t.Fatalf("%s: %d states, brute force reaches %d", name, len(got), len(want))
			case how == search.SearchExhausted:
				bounded++
			case how != search.SearchStopped:
				t.Fatalf("%s: %s", name, how)
			}
		}
	})
	if bounded == 0 {
		t.Error("no search was exhaustive")
	}
}

// ticker lets four timers fire, one after the other.
type ticker struct {
	worldtest.Idle
	left int
}

func (k *ticker) Start(c *worldtest.Ctx) { c.SetTimer(time.Millisecond) }

func (k *ticker) Fire(c *worldtest.Ctx) {
	c.Send(1-c.ID(), "tick")
	if k.left--; k.left > 0 {
		c.SetTimer(time.Millisecond)
	}
}

// TestBoundsTakeNothingNatural: what is left when a bound has taken away what comes first
// in time is not natural for that.
func TestBoundsTakeNothingNatural(t *testing.T) {
	for deviations := range 3 {
		for deliveries := range 4 {
			s := small{rules: world.Rules{Latency: 1500 * time.Microsecond, Delays: 8},
				programs: func() []worldtest.Program {
					return []worldtest.Program{&ticker{left: 4}, &ticker{left: 4}}
				}}
			s.bounds.Deviations = space.AtMost(deviations)
			s.bounds.Kinds[ariadne.ActDeliver] = space.AtMost(deliveries)
			want, ok := s.simple(t)
			x := s.exploration(t, &strategy.DepthFirst{})
			got := map[hash.Hash]bool{}
			x.Watch = func(p *space.Path) { got[p.Last().State.Hash()] = true }
			f := explore(t, x, 0)
			if name := fmt.Sprintf("%d deviations, %d deliveries", deviations, deliveries); !ok ||
				f.how != search.SearchExhausted || len(got) != len(want) {
				t.Errorf("%s: %s with %d states, brute force reaches %d", name, f.how, len(got), len(want))
			}
		}
	}
}
