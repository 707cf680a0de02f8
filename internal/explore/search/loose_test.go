package search_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"

	"pgregory.net/rapid"
)

// TestLooseFollowsEveryPath: what follows the trace of any path of an unchanged system loosely
// takes the same steps and ends in the same way, also where faults strike when nothing else is left
// to happen, or only what lies behind the limit on time.
func TestLooseFollowsEveryPath(t *testing.T) {
	followed, faults, late, violations := 0, 0, 0, 0
	one := func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		every := rapid.SampledFrom([]int{1, 7, 50}).Draw(t, "one of")
		x := s.exploration(t, &strategy.DepthFirst{All: true})
		n := 0
		x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
			if n++; n%every != 0 || end == search.EndSeen || end == search.EndStrategy {
				return n < 40*every
			}
			tr := traceOf(p, end, v)
			atRest := false
			for i := 1; i <= p.Steps(); i++ {
				if f := p.FrameAt(i - 1); f.Rest {
					atRest = true
					if f.Late {
						late++
					}
				}
			}
			y := x.Space.System
			l := replay.NewLoose(y, tr)
			var got []trace.Step
			e := search.Execution{Space: s.living(y), Checks: x.Checks, Explorer: l,
				Limits: search.Limits{Time: s.bounds.Time},
				Watch: func(s ariadne.Step) bool {
					got = append(got, trace.NewStep(s))
					l.Watch(s)
					return true
				}}
			r, err := e.Run()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, tr.Steps) || r.End != end || l.Left() != nil || (v == nil) != (r.Violation == nil) ||
				v != nil && *v != *r.Violation {
				t.Fatalf("left at %+v, ended with %s %+v after %d steps, not %s %+v after %d\n%s\nwant:\n%s", l.Left(), r.End, r.Violation, len(got), end, v, p.Steps(), listed(got), listed(tr.Steps))
			}
			if followed++; atRest {
				faults++
			}
			if v != nil {
				violations++
			}
			return n < 40*every
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for round := 0; round < 10 && (faults == 0 || late == 0 || violations == 0); round++ {
		rapid.Check(t, one)
	}
	t.Logf("%d paths, %d with faults at rest, %d behind the limit on time, %d violations", followed, faults, late, violations)
	if followed == 0 || faults == 0 || late == 0 || violations == 0 {
		t.Error("one of these is missing")
	}
}

// TestOnwardFollowsWhatIsStuck: what follows the trace of an execution in which something that must
// happen does not takes the same steps, and says the same of it.
func TestOnwardFollowsWhatIsStuck(t *testing.T) {
	followed, faults := 0, 0
	one := func(t *rapid.T) {
		s := drawShowing(t, 3, 3, rapid.Bool().Draw(t, "timers"), true)
		s.bounds = space.Bounds{}
		s.properties = &aimed{
			Sources: expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (\d+)`)}},
			oneOf:   rapid.SampledFrom([]uint64{2, 4}).Draw(t, "holds"),
			whenOf:  rapid.SampledFrom([]uint64{1, 3}).Draw(t, "when"),
		}
		every := rapid.SampledFrom([]int{1, 7, 50}).Draw(t, "one of")
		x := s.exploration(t, &strategy.DepthFirst{All: true})
		x.Checks = func() []property.Check { return nil }
		var l *search.Liveness
		n := 0
		x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
			if n++; n%every != 0 || end == search.EndSeen || end == search.EndStrategy {
				return n < 20*every
			}
			if l == nil {
				var err error
				if l, err = search.NewLiveness(x); err != nil {
					t.Fatal(err)
				}
			}
			r, err := l.TakeWalk(p, p.Steps()*(n%5)/4)
			if err != nil {
				t.Fatal(err)
			}
			if r.Stuck == nil {
				return n < 20*every
			}
			v := l.Violation(r.Stuck)
			tr := traceOf(r.Stuck.Path, search.EndViolation, v)
			y := x.Space.System
			o, ok := replay.NewOnward(y, tr, s.properties.Goals())
			if !ok {
				t.Fatal("the violation is of no goal")
			}
			var got []trace.Step
			e := search.Execution{Space: s.living(y), Checks: func() []property.Check { return []property.Check{} },
				Explorer: o, Endless: true, Frame: o.Frame,
				Watch: func(s ariadne.Step) bool {
					got = append(got, trace.NewStep(s))
					o.Watch(s)
					return true
				}}
			came, err := e.Run()
			if err != nil {
				t.Fatal(err)
			}
			if o.Complete(&came); !slices.Equal(got, tr.Steps) || o.Left() != nil || came.Violation == nil ||
				*came.Violation != *v {
				t.Fatalf("left at %+v, ended with %s %+v after %d steps, not %+v after %d\n%s\nwant:\n%s", o.Left(), came.End, came.Violation, len(got), v, len(tr.Steps), listed(got), listed(tr.Steps))
			}
			followed++
			for i := 1; i <= p.Steps(); i++ {
				if p.FrameAt(i - 1).Rest {
					faults++
					break
				}
			}
			return n < 20*every
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
	}
	for round := 0; round < 10 && faults == 0; round++ {
		rapid.Check(t, one)
	}
	if t.Logf("%d executions, %d with faults at rest", followed, faults); followed == 0 || faults == 0 {
		t.Error("one of these is missing")
	}
}

// traceOf is the trace of a path, as far as it is followed loosely.
func traceOf(p *space.Path, end string, v *ariadne.Violation) *trace.Trace {
	y := p.System()
	tr := &trace.Trace{End: end, Violation: trace.NewViolation(v, y.Names().Node)}
	for _, n := range y.Nodes() {
		tr.Programs = append(tr.Programs, trace.Program{Node: n.Name})
	}
	for i := 1; i <= p.Steps(); i++ {
		tr.Steps = append(tr.Steps, trace.NewStep(p.Step(i)))
	}
	return tr
}

// living returns the space of the system, whose nodes live.
func (s small) living(y *world.System) *space.Space {
	l := s.instances().Living(y)
	p := s.space(y, l, l)
	p.Restart = l.Restart
	return p
}

// listed are steps, one a line.
func listed(steps []trace.Step) (text string) {
	for _, s := range steps {
		text += s.Action + " at " + s.At.String() + "\n"
	}
	return text
}
