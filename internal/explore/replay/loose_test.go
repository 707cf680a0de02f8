package replay_test

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// followEdited is the trace of an execution that follows one from which something was left out.
func followEdited(t *testing.T, programs []worldtest.Program, tr *trace.Trace) *trace.Trace {
	t.Helper()
	s, checks := newSpace(programs)
	l := replay.NewLoose(s.System, tr)
	l.Edited = true
	got := &trace.Trace{}
	e := search.Execution{Space: s, Checks: checks, Explorer: l, Limits: search.Limits{Steps: maxSteps},
		Watch: func(s ariadne.Step) bool {
			got.Steps = append(got.Steps, trace.NewStep(s))
			l.Watch(s)
			return true
		}}
	if _, err := e.Run(); err != nil {
		t.Fatal(err)
	}
	return got
}

func actions(tr *trace.Trace) (all []string) {
	for _, s := range tr.Steps {
		all = append(all, s.Action)
	}
	return all
}

// followLoosely returns the names of the actions taken, and the result.
func followLoosely(t *testing.T, programs []worldtest.Program, tr *trace.Trace) ([]string, search.Result,
	*replay.Loose) {
	t.Helper()
	s, checks := newSpace(programs)
	l := replay.NewLoose(s.System, tr)
	var names []string
	e := search.Execution{Space: s, Checks: checks, Explorer: l, Limits: search.Limits{Steps: maxSteps},
		Watch: func(s ariadne.Step) bool {
			names = append(names, s.Name)
			l.Watch(s)
			return true
		}}
	r, err := e.Run()
	if err != nil {
		t.Fatal(err)
	}
	return names, r, l
}

// TestLooseFollowsWhatHasNotChanged exactly, however late messages and timers are.
func TestLooseFollowsWhatHasNotChanged(t *testing.T) {
	for name, programs := range systems() {
		for i := range 60 {
			tr, _ := record(t, programs(), i)
			for _, n := range worldtest.Nodes(programs()...) {
				tr.Programs = append(tr.Programs, trace.Program{Node: n.Name})
			}
			names, r, l := followLoosely(t, programs(), tr)
			var want []string
			for _, s := range tr.Steps {
				want = append(want, s.Action)
			}
			if !slices.Equal(names, want) || r.End != tr.End || l.Left() != nil || l.Taken() != len(want) {
				t.Fatalf("%s, walk %d: left at %v, ended with %s, not %s\n%q\nwant:\n%q", name, i, l.Left(), r.End, tr.End, names, want)
			}
		}
	}
}

// TestLooseFollowsWhatIsLeft: the lost update comes again although both nodes that
// lose it say more.
func TestLooseFollowsWhatIsLeft(t *testing.T) {
	changed := func() []worldtest.Program {
		programs := worldtest.LostUpdate()
		for i, p := range programs {
			if a, ok := p.(*worldtest.Adder); ok {
				programs[i] = &logger{Adder: *a}
			}
		}
		return programs
	}
	came, of := 0, 0
	for i := range 60 {
		tr, _ := record(t, worldtest.LostUpdate(), i)
		if tr.Violation == nil {
			continue
		}
		of++
		if _, r, _ := followLoosely(t, changed(), tr); r.Violation != nil && r.Violation.Kind == tr.Violation.Kind {
			came++
		}
	}
	if of == 0 || came < of {
		t.Errorf("the violation came in %d of %d", came, of)
	}
}

// logger is an Adder that writes a line at each message.
type logger struct{ worldtest.Adder }

func (p *logger) Receive(c *worldtest.Ctx, m ariadne.Message) {
	c.Log("has %s", m.Data)
	p.Adder.Receive(c, m)
}

// TestLooseGoesOnToAnEnd: what the trace does not have happens when it is due.
func TestLooseGoesOnToAnEnd(t *testing.T) {
	tr, _ := record(t, pingPong(worldtest.Pong{}), 0)
	more := []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Peer: 0, Count: 5}}
	names, r, l := followLoosely(t, more, tr)
	if r.End != search.EndClients || l.Taken() != len(tr.Steps) || len(names) != len(tr.Steps)+4 {
		t.Errorf("%s after %q, %d of %d", r.End, names, l.Taken(), len(tr.Steps))
	}
	fewer := []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Peer: 0, Count: 2}}
	names, r, l = followLoosely(t, fewer, tr)
	if r.End != search.EndClients || len(names) != len(tr.Steps)-2 {
		t.Errorf("%s after %q, %d of %d", r.End, names, l.Taken(), len(tr.Steps))
	}
	if d := l.Left(); d != nil {
		t.Errorf("left at %v", d)
	}
	s, _ := newSpace(pingPong(worldtest.Pong{}))
	tr.Steps[0].Action = "start nobody"
	if l := replay.NewLoose(s.System, tr); l.Taken() != 0 {
		t.Error("taken before it began")
	}
}

// TestEditedFollowsTheWhole: a trace of which nothing was left out goes as it says, although it may
// have been edited.
func TestEditedFollowsTheWhole(t *testing.T) {
	for name, programs := range systems() {
		for i := range 60 {
			tr, _ := record(t, programs(), i)
			for _, n := range worldtest.Nodes(programs()...) {
				tr.Programs = append(tr.Programs, trace.Program{Node: n.Name})
			}
			if got := followEdited(t, programs(), tr); !slices.Equal(actions(got), actions(tr)) {
				t.Fatalf("%s, walk %d: %q\nwant:\n%q", name, i, actions(got), actions(tr))
			}
		}
	}
}

// TestWithoutDeviationsIsNatural: a trace that has delivered all that was sent is, without its
// deviations, the natural schedule. Events that follow from a late message come when they are due,
// and not where the trace has them.
func TestWithoutDeviationsIsNatural(t *testing.T) {
	programs := func() []worldtest.Program {
		return []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Peer: 0, Count: 4},
			&worldtest.Ping{Peer: 0, Count: 4}}
	}
	natural, _ := record(t, programs(), 0)
	s, _ := newSpace(programs())
	names := s.System.Names()
	tried := 0
	for i := range 60 {
		tr, _ := record(t, programs(), i)
		all := replay.Deviations(tr, names)
		if len(all) == 0 {
			continue
		}
		tried++
		got := followEdited(t, programs(), replay.Without(tr, names, all, true))
		if !slices.Equal(actions(got), actions(natural)) {
			t.Errorf("walk %d, %d deviations: %q\nwant:\n%q", i, len(all), actions(got), actions(natural))
		}
	}
	if tried < 10 {
		t.Errorf("%d walks have deviations", tried)
	}
}
