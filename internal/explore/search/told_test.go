package search_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"pgregory.net/rapid"
)

// drawTelling draws a system whose nodes expose something, which may outlive their crashes, and of
// some of which nothing may be left but their content.
func drawTelling(t *rapid.T) small {
	s := drawShowing(t, 3, 4, rapid.Bool().Draw(t, "timers"), true)
	if rapid.Bool().Draw(t, "forgets") {
		plain := s.programs
		s.programs = func() []worldtest.Program {
			all := plain()
			for _, p := range all {
				x := p.(*worldtest.Chaos)
				x.Forgets, x.Limits = true, false
			}
			return all
		}
	}
	s.tells = expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (?P<n>\d+)`),
		Stays: rapid.Bool().Draw(t, "stays")}}
	if rapid.Bool().Draw(t, "ends") {
		s.tells[0].Until = regexp.MustCompile(`shows [35]`)
	}
	return s
}

// told is what all nodes expose at the end of a path.
func told(p *space.Path) string {
	text := ""
	for _, set := range p.Last().Told {
		text += fmt.Sprint(set.Tuples()) + ";"
	}
	return text
}

// TestNamesTellWhatIsExposed: whatever leads to states of the same name, their nodes expose the
// same there: of those that are told apart by what was given to the nodes all, of others what the
// rules are about. So what a script makes of it does not depend on who came first.
func TestNamesTellWhatIsExposed(t *testing.T) {
	merged, tuples := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawTelling(t)
		if rapid.Bool().Draw(t, "by content") {
			rule, err := expose.ParseRule("exposed:step")
			if err != nil {
				t.Fatal(err)
			}
			s.shows, s.equality = expose.Rules{rule}, space.Equality{Exposed: true}
		}
		x := s.exploration(t, &strategy.DepthFirst{All: true})
		by, paths := map[hash.Hash]string{}, 0
		x.Watch = func(p *space.Path) {
			text, name := told(p), p.Name(p.Last())
			before, known := by[name]
			if known && before != text {
				t.Fatalf("two states have one name, with %q and %q", before, text)
			}
			if by[name] = text; known {
				merged++
			}
			if p.Last().Told[0] != nil {
				tuples++
			}
			paths++
		}
		x.Stopped = func() bool { return paths > 5000 }
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	})
	if t.Logf("%d states met again, %d with tuples", merged, tuples); merged == 0 || tuples == 0 {
		t.Error("none")
	}
}

// tallied is a stage that says of each number how many nodes have it.
type tallied struct{}

func (tallied) Execute(_ int, of [][]*stage.Tuple) ([]*stage.Tuple, error) {
	return []*stage.Tuple{{Tuple: expose.Tuple{Values: []string{of[0][0].Values[0], strconv.Itoa(len(of[0]))}}}}, nil
}

func (tallied) Change(int, []*stage.Tuple, [][]*stage.Tuple, [][]*stage.Tuple) ([]*stage.Tuple, error) {
	return nil, errors.New("there is none")
}

func (tallied) Wrong(b *stage.Bad) error { return b }

// TestNamesTellWhatStagesMake: whatever leads to states of the same name, the stages that the rules
// are about make the same there, which is what they make of what the nodes expose.
func TestNamesTellWhatStagesMake(t *testing.T) {
	graph, err := stage.NewGraph([]stage.Stage{{Name: "count", Of: []string{"step"}, Key: []string{"n"}}},
		func(name string) bool { return name == "step" })
	if err != nil {
		t.Fatal(err)
	}
	merged, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawTelling(t)
		s.stages = func() *stage.Runner { return graph.NewRunner([]string{"a", "b", "c"}, tallied{}, 1) }
		s.shows, s.equality = expose.Rules{{Name: "count"}}, space.Equality{Exposed: rapid.Bool().Draw(t, "by content")}
		x := s.exploration(t, &strategy.DepthFirst{All: true})
		by, made, paths := map[hash.Hash]string{}, map[string]hash.Hash{}, 0
		x.Watch = func(p *space.Path) {
			f, have := p.Last(), map[string]int{}
			for _, set := range f.Told {
				for _, tuple := range set.Named("step") {
					have[tuple.Values[0]]++
				}
			}
			text, name := fmt.Sprint(have), p.Name(f)
			if before, known := by[name]; known && before != text {
				t.Fatalf("two states have one name, where stages make %s and %s", before, text)
			} else if known {
				merged++
			}
			h, known := made[text]
			if known && h != f.Made.Hash() {
				t.Fatalf("of %s something else is made than before", text)
			}
			if by[name] = text; len(have) > 0 {
				made[text] = f.Made.Hash()
			}
			paths++
		}
		x.Stopped = func() bool { return paths > 1000 }
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		different := map[hash.Hash]bool{}
		for _, h := range made {
			different[h] = true
		}
		if len(different) != len(made) {
			t.Fatalf("%d different things are made, told apart as %d", len(made), len(different))
		}
		if len(made) > 1 {
			several++
		}
	})
	if t.Logf("%d states met again, %d systems with several things made", merged, several); merged == 0 ||
		several == 0 {
		t.Error("none")
	}
}

// TestWalksLeaveWhatIsExposed: walks that look for what must happen begin in states of a path, and
// leave what its nodes expose there as it was: with them a search comes to the same states, by the
// same names.
func TestWalksLeaveWhatIsExposed(t *testing.T) {
	walks, tuples := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawTelling(t)
		s.bounds, s.clients = space.Bounds{}, nil
		rule, err := expose.ParseRule("exposed:step")
		if err != nil {
			t.Fatal(err)
		}
		s.shows, s.equality = expose.Rules{rule}, space.Equality{Exposed: rapid.Bool().Draw(t, "by content")}
		s.properties = &aimed{Sources: s.tells, oneOf: rapid.SampledFrom([]uint64{1, 2, 4}).Draw(t, "holds"), whenOf: 3}
		states := func(looks bool) map[hash.Hash]string {
			x := s.exploration(t, &strategy.DepthFirst{})
			x.Checks = func() []property.Check { return nil }
			var l *search.Liveness
			by, paths := map[hash.Hash]string{}, 0
			x.Watch = func(p *space.Path) {
				if by[p.Name(p.Last())] = told(p); p.Last().Told[0] != nil {
					tuples++
				}
			}
			x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
				if paths++; !looks {
					return paths < 200
				}
				if l == nil {
					if l, err = search.NewLiveness(x); err != nil {
						t.Fatal(err)
					}
				}
				for n := p.Steps(); n >= 0; n-- {
					r, err := l.TakeWalk(p, n)
					if err != nil {
						t.Fatal(err)
					}
					if walks++; r.Stuck != nil && n == p.Steps() {
						if _, err := l.FindCritical(r.Stuck, nil); err != nil {
							t.Fatal(err)
						}
					}
				}
				return paths < 200
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			return by
		}
		want := states(false)
		if got := states(true); !maps.Equal(got, want) {
			t.Fatalf("%d states with walks, %d without, or they expose something else", len(got), len(want))
		}
	})
	if walks == 0 || tuples == 0 {
		t.Errorf("%d walks, %d states with tuples", walks, tuples)
	}
}

// TestStatesTellAll: searches of states show to who reads it all that nodes expose at the same time
// on any path.
func TestStatesTellAll(t *testing.T) {
	several := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawTelling(t)
		seen := func(e strategy.Explorer, most int) map[string]bool {
			x, all := s.exploration(t, e), map[string]bool{}
			x.Watch = func(p *space.Path) { all[told(p)] = true }
			x.Stopped = func() bool { return most > 0 && x.Coverage.Steps > most }
			if how, err := x.Run(); err != nil {
				t.Fatal(err)
			} else if how != search.SearchExhausted {
				t.SkipNow()
			}
			return all
		}
		want := seen(&strategy.DepthFirst{All: true}, 5000)
		for _, e := range []strategy.Explorer{&strategy.DepthFirst{}, &strategy.BreadthFirst{},
			&strategy.FewestDeviations{}} {
			if got := seen(e, 0); !maps.Equal(got, want) {
				t.Fatalf("%T: %d, brute force finds %d", e, len(got), len(want))
			}
		}
		if len(want) > 2 {
			several++
		}
	})
	if several == 0 {
		t.Error("nothing was exposed")
	}
}
