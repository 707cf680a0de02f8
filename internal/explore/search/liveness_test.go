package search_test

import (
	"fmt"
	"reflect"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// aimed are goals that hold in one of so many snapshots, and of which the second follows from one
// of so many.
type aimed struct {
	expose.Sources
	oneOf, whenOf uint64
	stable        time.Duration // of the first goal
}

func (a *aimed) Find(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) expose.Found {
	return expose.Found{Changes: a.Sources.Changes(id, out)}
}
func (*aimed) Sees() expose.Sights                          { return expose.Sights{} }
func (*aimed) Windows() []expose.Window                     { return nil }
func (*aimed) Err() error                                   { return nil }
func (*aimed) Judge(*expose.Snapshot, expose.Moment) string { return "" }
func (*aimed) Numbers(*expose.Snapshot) []*float64          { return nil }
func (*aimed) Reads(int, *expose.Snapshot) string           { return "" }
func (a *aimed) Goals() []property.Goal {
	return []property.Goal{{Name: "a", StableFor: a.stable}, {Name: "b", When: "x"}}
}
func (a *aimed) Aims(s *expose.Snapshot) (when, holds uint64) {
	s.Up = make([]bool, len(s.Sets))
	h := s.Hash()
	when = 1
	if h.Hi%a.oneOf == 0 {
		holds |= 1
	}
	if h.Lo%a.whenOf == 0 {
		when |= 2
	}
	if (h.Lo>>8)%a.oneOf == 0 {
		holds |= 2
	}
	return when, holds
}

// dead is brute force: no state that follows the first n steps of a path without further faults is
// live.
func dead(t *rapid.T, p *space.Path, n, goal int) bool {
	f, err := space.NewPath(p.Space(), space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	p.ForkInto(f, n)
	if err := f.ClearBudgets(); err != nil {
		t.Fatal(err)
	}
	states := 0
	var live func(depth int) bool
	live = func(depth int) bool {
		if states++; states > 20_000 {
			t.SkipNow()
		}
		s := f.Last()
		if s.Waits&(1<<goal) == 0 && (s.Plain == 0 || p.System().Recovered(&s.State.State)) {
			return true
		}
		for i := 0; i < len(f.Last().Enabled); i++ {
			if err := f.Push(i); err != nil {
				t.Fatal(err)
			}
			if live(depth + 1) {
				return true
			}
			f.ExecutionStepVariations(n + depth)
			f.CutExecution(n + depth)
		}
		return false
	}
	return !live(0)
}

// TestFromLive: a path that is to begin in a steady state begins behind the first step of the
// natural schedule after which nothing is waited for, and each goal was before that need not come
// true from the start.
func TestFromLive(t *testing.T) {
	begun, nowhere := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 3, false, true)
		s.bounds, s.clients = space.Bounds{}, nil
		s.properties = &aimed{
			Sources: expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (\d+)`)}},
			oneOf:   rapid.SampledFrom([]uint64{1, 2, 4}).Draw(t, "holds"),
			whenOf:  rapid.SampledFrom([]uint64{1, 3}).Draw(t, "when"),
		}
		x := s.exploration(t, nil)
		natural, err := space.NewPath(x.Space, space.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		// the first goal must come true from the start, and may be true there
		want, waited := -1, natural.Last().Waits|1
		for natural.Last().Plain > 0 && want < 0 {
			if err := natural.Push(0); err != nil {
				t.Fatal(err)
			}
			if waited |= natural.Last().Waits; waited == 3 && natural.Last().Waits == 0 {
				want = natural.Steps()
			}
		}
		p, err := space.NewPath(x.Space, space.Bounds{FromLive: true})
		if err != nil {
			t.Fatal(err)
		}
		for p.Approaching() && p.Last().Plain > 0 {
			if err := p.Push(0); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case p.Approaching() != (want < 0), want >= 0 && (p.Steps() != want || p.Len() != 0):
			t.Fatalf("the path begins behind %d steps (approaching: %v), not %d", p.Steps(), p.Approaching(), want)
		case want < 0:
			nowhere++
		default:
			begun++
		}
	})
	if begun == 0 || nowhere == 0 {
		t.Errorf("%d began, %d did not", begun, nowhere)
	}
}

// TestLiveness: where all is explored, something is found not to happen that must if, and only if,
// there is a state from which it cannot, and the critical transition leads to such a state from one
// that is none.
func TestLiveness(t *testing.T) {
	systems, broken, both, never, cut := 0, 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 3, rapid.Bool().Draw(t, "timers"), true)
		s.bounds, s.clients = space.Bounds{}, nil
		s.properties = &aimed{
			Sources: expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (\d+)`)}},
			oneOf:   rapid.SampledFrom([]uint64{1, 2, 4}).Draw(t, "holds"),
			whenOf:  rapid.SampledFrom([]uint64{1, 3}).Draw(t, "when"),
		}
		want, got := [2]bool{}, [2]bool{}
		run := func(e strategy.Explorer, ended func(*search.Exploration, *space.Path)) {
			x := s.exploration(t, e)
			x.Checks = func() []property.Check { return nil }
			paths := 0
			x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if v != nil {
					t.Fatal(v)
				}
				if paths++; end != search.EndStrategy {
					ended(x, p)
				}
				return paths < 400
			}
			if how, err := x.Run(); err != nil {
				t.Fatal(err)
			} else if how != search.SearchExhausted {
				t.SkipNow()
			}
		}
		judged := map[hash.Hash]bool{}
		run(&strategy.DepthFirst{}, func(x *search.Exploration, p *space.Path) {
			for n := range p.Steps() + 1 {
				if h := p.Hash(p.FrameAt(n)); judged[h] {
					continue
				} else {
					judged[h] = true
				}
				for goal := range want {
					want[goal] = want[goal] || dead(t, p, n, goal)
				}
			}
		})
		var l *search.Liveness
		looking := rapid.SampledFrom([]strategy.Explorer{&strategy.DepthFirst{}, &strategy.DPOR{},
			&strategy.BreadthFirst{}}).Draw(t, "strategy")
		run(looking, func(x *search.Exploration, p *space.Path) {
			if l == nil {
				var err error
				if l, err = search.NewLiveness(x); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Calibrate(space.Bounds{}); err != nil {
					t.Fatal(err)
				}
			}
			r, err := l.TakeWalk(p, p.Steps())
			if err != nil {
				t.Fatal(err)
			}
			if r.Stuck == nil {
				if !r.Live && !r.Known {
					t.Fatal("a walk could not go on")
				}
				return
			}
			goal := r.Stuck.Goal
			got[goal] = true
			if v := l.Violation(r.Stuck); v.Kind != property.Dead {
				t.Fatalf("%s: %s, although all was explored", v.Kind, v.Message)
			}
			known, stopped := stop(t, l, r.Stuck)
			if stopped {
				cut++
				if dead(t, r.Stuck.Path, known.After, goal) && known.After > 0 ||
					!dead(t, r.Stuck.Path, known.Step, goal) || known.Step <= known.After {
					t.Fatalf("the critical transition does not lie between %d and %d", known.After, known.Step)
				}
			}
			c, err := l.FindCritical(r.Stuck, nil)
			if err != nil {
				t.Fatal(err)
			}
			if stopped && c.Verdict == search.DeadFrom {
				again, err := l.FindCritical(r.Stuck, &known)
				if err != nil || again.Verdict != search.DeadFrom || again.Step > known.Step ||
					again.Step <= known.After {
					t.Fatalf("%+v, after %+v: %v", again, known, err)
				}
				if dead(t, r.Stuck.Path, again.Step-1, goal) || !dead(t, r.Stuck.Path, again.Step, goal) {
					t.Fatalf("step %d is not critical", again.Step)
				}
				c, err = l.FindCritical(r.Stuck, nil)
				if err != nil {
					t.Fatal(err)
				}
			}
			switch c.Verdict {
			case search.NeverLive:
				if never++; !dead(t, r.Stuck.Path, 0, goal) {
					t.Fatal("the first state is not dead")
				}
			case search.DeadFrom:
				if both++; !dead(t, r.Stuck.Path, c.Step, goal) || dead(t, r.Stuck.Path, c.Step-1, goal) {
					t.Fatalf("step %d is not critical", c.Step)
				}
				if c.Near == nil || c.Along < c.Step-1 || c.Near.Last().Waits&(1<<goal) != 0 {
					t.Fatalf("no live execution that begins with the %d steps before", c.Step-1)
				}
			default:
				t.Fatal("undecided")
			}
		})
		// Of one execution the first goal that is not live is told.
		if got[0] != want[0] || got[1] && !want[1] || want[1] && !got[1] && !got[0] {
			t.Fatalf("found %v, want %v", got, want)
		}
		if systems++; want[0] || want[1] {
			broken++
		}
	})
	t.Logf("%d systems, %d with dead states; %d critical transitions, %d dead from the beginning, %d were stopped", systems, broken, both, never, cut)
	if cut == 0 {
		t.Error("no search for a critical transition was stopped")
	}
}

// stop stops the search for a critical transition after some time. not ok: it was over by then, or
// nothing was known.
func stop(t *rapid.T, l *search.Liveness, s *search.Stuck) (c search.Crisis, ok bool) {
	now := time.Duration(0)
	l.Clock = func() time.Duration { now++; return now }
	l.Until = time.Duration(rapid.SampledFrom([]int{1, 5, 20, 100, 1000}).Draw(t, "until"))
	defer func() { l.Clock, l.Until = nil, 0 }()
	c, err := l.FindCritical(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Verdict == search.Between
}

// TestShared: it is no matter how many take walks. Verdict, critical transition, live execution and
// what is counted are the same, and so is what tells how long walks are.
func TestShared(t *testing.T) {
	verdicts, helped := map[search.Verdict]int{}, atomic.Int64{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 3, rapid.Bool().Draw(t, "timers"), true)
		s.bounds, s.clients = space.Bounds{}, nil
		s.properties = &aimed{
			Sources: expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (\d+)`)}},
			oneOf:   rapid.SampledFrom([]uint64{2, 4, 8}).Draw(t, "holds"), whenOf: 1,
			// with one all states are not looked at
			stable: rapid.SampledFrom([]time.Duration{0, 1, time.Millisecond}).Draw(t, "stable"),
		}
		team := []*search.Liveness{}
		for range 3 {
			x := s.exploration(t, nil)
			x.Checks = func() []property.Check { return nil }
			l, err := search.NewLiveness(x)
			if err != nil {
				t.Fatal(err)
			}
			l.Seed = 7
			team = append(team, l)
		}
		share := func(f func(*search.Liveness)) {
			var group sync.WaitGroup
			for _, l := range team[2:] {
				group.Go(func() { f(l); helped.Add(1) })
			}
			f(team[1])
			group.Wait()
		}
		// so that later walks end before earlier ones
		team[1].Watch = func(*memo.Transition) { time.Sleep(10 * time.Microsecond) }
		type all struct {
			sampled string
			crises  []string
		}
		var came [2]all
		for i, l := range team[:2] {
			if i == 1 {
				l.Share = share
			}
			steps, err := l.Calibrate(space.Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			came[i].sampled = fmt.Sprint(steps, l.Bound)
			p, err := space.NewPath(l.X.Space, space.Bounds{})
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; p.Last().Plain > 0 && n < 12; n++ {
				r, err := l.TakeWalk(p, p.Steps())
				if err != nil {
					t.Fatal(err)
				}
				if r.Stuck != nil {
					c, err := l.FindCritical(r.Stuck, nil)
					if err != nil {
						t.Fatal(err)
					}
					near := ""
					if c.Near != nil {
						near = fmt.Sprint(c.Near.Identity())
					}
					c.Near = nil
					came[i].crises = append(came[i].crises, fmt.Sprintf("%+v %s", c, near))
					if i == 0 {
						verdicts[c.Verdict]++
					}
				}
				if err := p.Push((n * 5) % p.Last().Plain); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(came[0], came[1]) {
			t.Fatalf("alone %+v\nwith others %+v", came[0], came[1])
		}
	})
	if t.Logf("%v, helped %d times", verdicts, helped.Load()); verdicts[search.DeadFrom] == 0 ||
		verdicts[search.NeverLive] == 0 {
		t.Errorf("verdicts: %v", verdicts)
	}
}

var _ space.Properties = (*aimed)(nil)
