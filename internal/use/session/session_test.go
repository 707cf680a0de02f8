package session_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// fresh executes the steps of these names with nodes that live, and nothing else.
func fresh(t *testing.T, s *spec.Spec, o system.Options, names []string) (steps []ariadne.Step) {
	t.Helper()
	y, err := system.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	err = y.OnThread(0, func() error {
		return y.Live(func(sp *space.Space) error {
			p, err := space.NewPath(sp, space.Bounds{Time: y.Limits().Time, Depth: y.Limits().Steps})
			if err != nil {
				return err
			}
			for _, name := range names {
				a, err := p.System().Names().Parse(name)
				if err != nil {
					return err
				}
				plain := a
				plain.Vary = ""
				i := slices.IndexFunc(p.Last().Enabled, func(e world.Event) bool { return e.Action() == plain })
				if i < 0 {
					return errors.New(name + " is not enabled")
				}
				if a.Vary != "" {
					i, _ = p.AppendVaried(i, a.Vary)
				}
				if err := p.Push(i); err != nil {
					return err
				}
				steps = append(steps, p.Step(p.Steps()))
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// compare wants the steps behind which a session stands to be those of a fresh execution.
func compare(t *testing.T, s *session.Session, sp *spec.Spec, o system.Options) {
	t.Helper()
	got, want := s.Taken(), fresh(t, sp, o, s.Position().Names())
	if len(got) != len(want) {
		t.Fatalf("%d steps, a fresh execution has %d", len(got), len(want))
	}
	for i := range got {
		// which nodes that live tell besides
		want[i].Output.CallTrace, want[i].Output.Files = nil, nil
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("step %d is\n%+v\nand in a fresh execution\n%+v", i+1, got[i], want[i])
		}
	}
}

// wander moves a session about: forth, back, to steps of its line, and to positions where it
// has been, from which it takes other ways.
func wander(t *testing.T, s *session.Session, r *rand.Rand, moves int) (kept []session.Position) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range moves {
		choices := s.Enabled()
		switch n := r.IntN(10); {
		case n < 6 && len(choices) > 0:
			c := choices[r.IntN(len(choices))]
			before := s.Steps()
			step, err := s.Step(c.Name)
			must(err)
			if s.Steps() != before+1 || step.Name != c.Name || step.Index != before+1 {
				t.Fatalf("step %d %s, after %d and %s", step.Index, step.Name, before, c.Name)
			}
		case n < 7 && s.Steps() > 0:
			names := s.Position().Names()
			must(s.Back())
			if !slices.Equal(s.Position().Names(), names[:len(names)-1]) {
				t.Fatalf("back from %q to %q", names, s.Position().Names())
			}
		case n < 8:
			to := r.IntN(len(s.Line()) + 1)
			line := s.Line()
			must(s.Go(to))
			if s.Steps() != to || !slices.Equal(s.Line(), line) {
				t.Fatalf("at step %d of %q, not %d of %q", s.Steps(), s.Line(), to, line)
			}
		case n < 9:
			kept = append(kept, s.Position())
		case len(kept) > 0:
			p := kept[r.IntN(len(kept))]
			must(s.Return(p))
			if !slices.Equal(s.Position().Names(), p.Names()) {
				t.Fatalf("at %q, not at %q", s.Position().Names(), p.Names())
			}
		}
	}
	return kept
}

// TestSessionIsLikeFreshExecutions: however a session has come where it stands, its steps are
// those of an execution of the same choices.
func TestSessionIsLikeFreshExecutions(t *testing.T) {
	for name, programs := range map[string]func() []worldtest.Program{
		"two-phase commit": worldtest.TwoPhaseCommit, "lost update": worldtest.LostUpdate, "race": worldtest.Race,
		"chaos": func() []worldtest.Program {
			return []worldtest.Program{&worldtest.Chaos{Nodes: 3, Seed: 1}, &worldtest.Chaos{Nodes: 3, Seed: 2},
				&worldtest.Chaos{Nodes: 3, Seed: 3}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			sp := systemtest.Spec(t, 3, 2, 1, 2)
			o := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: programs}}.Options()
			s, err := session.Open(t.Context(), sp, session.Options{System: o})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			for range 10 {
				kept := wander(t, s, r, 40)
				compare(t, s, sp, o)
				for _, p := range kept {
					if err := s.Return(p); err != nil {
						t.Fatal(err)
					}
					compare(t, s, sp, o)
				}
			}
			if err := errors.Join(s.Close(), s.Close()); err != nil {
				t.Error(err)
			}
			if err := s.Back(); !errors.Is(err, session.ErrClosed) {
				t.Errorf("a closed session: %v", err)
			}
		})
	}
}

// TestEnds: a session says how an execution ended, with its violation, and that there is no
// going on from there.
func TestEnds(t *testing.T) {
	for want, programs := range map[string]func() []worldtest.Program{"clients done": systemtest.PingPong,
		"violation": worldtest.Stuck} {
		sp := systemtest.Spec(t, 2, 0, 0)
		s, err := session.Open(t.Context(), sp,
			session.Options{System: systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: programs}}.Options()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Step("deliver nothing"); !errors.Is(err, session.ErrNoSuchStep) {
			t.Errorf("%v", err)
		}
		for len(s.Enabled()) > 0 {
			if end, _ := s.End(); end != "" {
				t.Fatalf("it has ended (%s), and something is enabled", end)
			}
			if _, err := s.Natural(); err != nil {
				t.Fatal(err)
			}
		}
		end, v := s.End()
		if end != want || (v != nil) != (want == "violation") {
			t.Errorf("%s, %v; want %s", end, v, want)
		}
		if _, err := s.Natural(); !errors.Is(err, session.ErrNoSuchStep) {
			t.Errorf("beyond the end: %v", err)
		}
		if err := s.Go(s.Steps() + 1); !errors.Is(err, session.ErrNoSuchStep) {
			t.Errorf("beyond the line: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTrace: a session of a trace has its steps as its line, compares them, and may leave it.
func TestTrace(t *testing.T) {
	sp := systemtest.Spec(t, 2, 1, 0)
	fakes := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: systemtest.PingPong}}
	r, err := run.Run(t.Context(), sp, run.Options{System: fakes.Options()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: fakes.Options()})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Go(len(s.Line())); err != nil {
		t.Fatal(err)
	}
	if end, _ := s.End(); end != r.End || s.Steps() != r.Steps || r.Steps == 0 {
		t.Errorf("%s after %d steps, the run: %s after %d", end, s.Steps(), r.End, r.Steps)
	}
	compare(t, s, sp, fakes.Options())
	whole := s.Position()
	if err := s.Go(1); err != nil {
		t.Fatal(err)
	}
	choices := s.Enabled()
	if _, err := s.Step(choices[len(choices)-1].Name); err != nil {
		t.Fatal(err)
	}
	compare(t, s, sp, fakes.Options())
	if err := s.Return(whole); err != nil || s.Steps() != r.Steps {
		t.Errorf("%v, %d steps", err, s.Steps())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}

	others := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.Stuck}}
	s, err = session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: others.Options()})
	if err != nil {
		t.Fatal(err)
	}
	var m *session.Mismatch
	if err := s.Go(len(s.Line())); !errors.As(err, &m) || m.Want.Index != s.Steps() || m.Got.Digest == m.Want.Digest {
		t.Errorf("another program: %v at step %d", err, s.Steps())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	systemtest.Write(t, "program", "#!/bin/false\n")
	if _, err := session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: fakes.Options()}); err == nil ||
		!strings.Contains(err.Error(), "has changed") {
		t.Errorf("a program that has changed: %v", err)
	}
}

// housekeeper has nothing to do but to wake every minute, and waiter waits for ever.
type housekeeper struct {
	worldtest.Idle
	calm ariadne.Time
}

func (p *housekeeper) Start(c *worldtest.Ctx) {
	p.calm = c.Now() + 430e9
	p.Fire(c)
}

func (p *housekeeper) Fire(c *worldtest.Ctx) {
	c.SetTimer(time.Minute)
	c.Output().Calm = p.calm
}

type waiter struct{ worldtest.Idle }

// TestHousekeeping: a session goes as far beyond the time limit as a run does, and back.
func TestHousekeeping(t *testing.T) {
	sp := systemtest.Spec(t, 2, 0, 1)
	o := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: func() []worldtest.Program {
		return []worldtest.Program{&housekeeper{}, waiter{}}
	}}}.Options()
	r, err := run.Run(t.Context(), sp, run.Options{System: o})
	if err != nil || len(r.Violations) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	s, err := session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: o})
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []int{r.Steps, 2, r.Steps - 1} {
		if err := s.Go(to); err != nil {
			t.Fatal(err)
		}
	}
	for len(s.Enabled()) > 0 {
		if _, err := s.Natural(); err != nil {
			t.Fatal(err)
		}
	}
	if end, v := s.End(); end != r.End || s.Steps() != r.Steps || v == nil || v.Kind != "deadlock" {
		t.Errorf("%s, %v after %d steps; the run: %s after %d", end, v, s.Steps(), r.End, r.Steps)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestErrorsOfNodes: a session whose node fails stands where it stood.
func TestErrorsOfNodes(t *testing.T) {
	sp := systemtest.Spec(t, 2, 0, 0)
	s, err := session.Open(t.Context(), sp,
		session.Options{System: (&systemtest.Fakes{Programs: systemtest.PingPong}).Options()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Natural(); err == nil || !strings.Contains(err.Error(), "cannot be frozen") || s.Steps() != 0 ||
		len(s.Line()) != 0 {
		t.Errorf("%v, at step %d of %q", err, s.Steps(), s.Line())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// gate holds the step of a node that comes to it next, once it is shut.
type gate struct {
	shut    atomic.Int32 // steps until one is held; 0: none is
	reached chan bool
	open    chan bool
}

func newGate() *gate { return &gate{reached: make(chan bool, 1), open: make(chan bool)} }

func (g *gate) wait(interrupt <-chan struct{}) error {
	if g.shut.Load() == 0 || g.shut.Add(-1) > 0 {
		return nil
	}
	g.reached <- true
	select {
	case <-g.open:
		return nil
	case <-interrupt:
		return ariadne.ErrInterrupted
	}
}

// TestReadersDoNotWait: a session is read while a step is under way, and the step can be cancelled.
func TestReadersDoNotWait(t *testing.T) {
	sp, g := systemtest.Spec(t, 2, 1, 0), newGate()
	fakes := &systemtest.Fakes{Programs: systemtest.PingPong, Waiting: g.wait}
	o := systemtest.Freezable{Fakes: fakes}.Options()
	s, err := session.Open(t.Context(), sp, session.Options{System: o})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	step := func() chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := s.Natural()
			ended <- err
		}()
		return ended
	}
	text := func() string {
		b, err := json.Marshal(s.Now())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "null") {
			t.Errorf("a list is missing: %s", b)
		}
		return string(b)
	}
	s.Cancel() // of nothing
	for i := 0; len(s.Enabled()) > 0; i++ {
		before, was := s.Now(), text()
		select {
		case <-before.Replaced():
			t.Error("a state is replaced, and nothing has begun")
		default:
		}
		g.shut.Store(1)
		ended := step()
		<-g.reached
		<-before.Replaced()
		read := make(chan bool)
		go func() {
			s.Enabled()
			s.End()
			s.InFlight()
			if s.Steps() != i || len(s.Taken()) != i || len(s.Position().Names()) != i || len(s.Line()) != i ||
				s.Now().Busy != "step "+before.Enabled[0].Name {
				t.Errorf("during step %d: %s", i+1, text())
			}
			close(read)
		}()
		select {
		case <-read:
		case <-time.After(time.Minute):
			t.Fatal("who reads waits for a step")
		}
		s.Cancel()
		if err := <-ended; !errors.Is(err, session.ErrCancelled) || text() != was {
			t.Fatalf("a step that was cancelled: %v, %s\nbefore it: %s", err, text(), was)
		}
		g.shut.Store(1)
		ended = step()
		<-g.reached
		g.open <- true
		if err := <-ended; err != nil || s.Steps() != i+1 {
			t.Fatalf("%v at step %d", err, s.Steps())
		}
		if all := s.Now().Report(0); len(all) != i+1 || !reflect.DeepEqual(all[i:], s.Now().Report(i)) ||
			all[i].Action != s.Line()[i] {
			t.Errorf("behind step %d the report is %v", i+1, all)
		}
		if b, _ := json.Marshal(before); string(b) != was {
			t.Errorf("a state became\n%s\nfrom\n%s", b, was)
		}
	}
	compare(t, s, sp, o)
	end, v := s.End()
	if end != "clients done" || v != nil {
		t.Errorf("%s, %v", end, v)
	}
}

// TestCancelOnTheWay: a session that is to follow a trace and is cancelled on the way stands where
// it stood.
func TestCancelOnTheWay(t *testing.T) {
	sp, g := systemtest.Spec(t, 2, 1, 0), newGate()
	o := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: systemtest.PingPong, Waiting: g.wait}}.Options()
	r, err := run.Run(t.Context(), sp, run.Options{System: o})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.OpenTrace(t.Context(), sp, r.Trace, session.Options{System: o})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Go(1); err != nil {
		t.Fatal(err)
	}
	whole := len(s.Line())
	g.shut.Store(3)
	ended := make(chan error, 1)
	go func() { ended <- s.Go(whole) }()
	<-g.reached
	s.Cancel()
	if err := <-ended; !errors.Is(err, session.ErrCancelled) || s.Steps() != 1 || len(s.Line()) != whole ||
		s.Now().Busy != "" {
		t.Fatalf("%v at step %d of %q", err, s.Steps(), s.Line())
	}
	if err := s.Go(whole); err != nil {
		t.Fatal(err)
	}
	compare(t, s, sp, o)
	b, err := json.Marshal(s.Position())
	var p session.Position
	if err := errors.Join(err, json.Unmarshal(b, &p), s.Go(0), s.Return(p)); err != nil || s.Steps() != whole {
		t.Errorf("%v at step %d", err, s.Steps())
	}
}
