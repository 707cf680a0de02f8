package check_test

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// door opens for good when it hears of "open" before "shut". Once it is shut it stays so.
type door struct {
	worldtest.Idle
	shut bool
}

func (d *door) Receive(c *worldtest.Ctx, m ariadne.Message) {
	switch text := string(m.Data); {
	case text == "shut":
		d.shut = true
	case text == "open" && !d.shut:
		c.Log("opened")
	case text == "ping":
		c.Send(m.From, "pong")
	}
}

// caller says a word to the door after some time. With Pings it goes on to ask, each second,
// whether it is there.
type caller struct {
	After time.Duration
	Says  string
	Pings bool
	said  bool
}

func (k *caller) Start(c *worldtest.Ctx) { c.SetTimer(k.After) }

func (k *caller) Receive(*worldtest.Ctx, ariadne.Message) {}

func (k *caller) Fire(c *worldtest.Ctx) {
	switch {
	case !k.said:
		k.said = true
		c.Send(0, k.Says)
	case k.Pings:
		c.Send(0, "ping")
	default:
		return
	}
	c.SetTimer(time.Second)
}

// stuckDoor is a system in which the door stays shut when a message is late. pings: it then goes on
// for ever.
func stuckDoor(t *testing.T, pings bool) (*spec.Spec, *systemtest.Fakes) {
	return stuckDoorOf(systemtest.Spec(t, 3, 2)), &systemtest.Fakes{Programs: doorPrograms(pings)}
}

func doorPrograms(pings bool) func() []worldtest.Program {
	return func() []worldtest.Program {
		return []worldtest.Program{&door{}, &caller{After: 10 * time.Millisecond, Says: "open"},
			&caller{After: 100 * time.Millisecond, Says: "shut", Pings: pings}}
	}
}

func stuckDoorOf(s *spec.Spec) *spec.Spec {
	s.Faults, s.Limits.Time = worldtest.Faults("duplicate", 2), 8*time.Second
	s.EndsByTime = true
	s.Properties = spec.Properties{
		Sources: expose.Sources{{Name: "open", Line: regexp.MustCompile("^opened")}},
		Goals:   []property.Goal{{Name: "it opens", Expr: "len(open) > 0", Line: 1}},
		Digest:  ariadne.Digest{7},
	}
	return s
}

// TestShrinkStuck: what something must happen in and does not is shrunk to an execution in which it
// still does not, with the critical transition of that one; both replay, and loosely too, and a
// session shows the violation at the end.
func TestShrinkStuck(t *testing.T) {
	for _, pings := range []bool{false, true} {
		shrunk := 0
		for seed := range uint64(12) {
			s, f := stuckDoor(t, pings)
			s.Seed = seed
			o := check.Options{Executions: 500, Workers: 1, Shrink: time.Minute,
				Search: check.Search{Strategy: "walks"}}
			r := inMemory(t, s, f.Programs, o)
			if len(r.Violations) != 1 || r.Violations[0].Goal == nil {
				t.Fatalf("pings %v, seed %d: %v %+v %q", pings, seed, r.Outcome, r.Violations, r.Doubts)
			}
			v := r.Violations[0]
			want := map[bool]string{false: property.Dead, true: property.Suspected}[pings]
			if v.Kind != want || v.Goal.Critical == 0 {
				t.Fatalf("pings %v, seed %d: %s: %+v", pings, seed, v.Kind, v.Goal)
			}
			same := func(trace string, steps int) {
				t.Helper()
				again := replay(t, s, f, trace)
				loose, err := run.Replay(t.Context(), s, trace, run.Options{System: f.Options(), Loose: true})
				if err != nil {
					t.Fatal(err)
				}
				if len(again.Violations) != 1 || again.Violations[0].Kind != want || again.Steps != steps {
					t.Errorf("pings %v, seed %d: replay: %+v", pings, seed, again)
				}
				if loose.Loose.Came != record.CameSame || loose.Loose.Taken != steps ||
					len(replay(t, s, f, loose.Out+"/trace.txt").Violations) != 1 {
					t.Errorf("pings %v, seed %d: loose: %+v", pings, seed, loose.Loose)
				}
			}
			from, err := system.LoadTrace(v.Trace)
			if err != nil {
				t.Fatal(err)
			}
			same(v.Trace, len(from.Steps))
			sess, err := session.OpenTrace(t.Context(), s, v.Trace,
				session.Options{System: systemtest.Freezable{Fakes: f}.Options()})
			if err != nil {
				t.Fatal(err)
			}
			if err := sess.Go(len(sess.Line())); err != nil {
				t.Fatal(err)
			}
			if _, shown := sess.End(); shown == nil || shown.Kind != want || shown.Message != v.Message {
				t.Errorf("session: %+v, want %s", shown, v.Message)
			}
			if err := sess.Close(); err != nil {
				t.Error(err)
			}
			if v.Shrunk == nil {
				continue
			}
			shrunk++
			// One late message is enough, and needed; the critical transition is the delivery that
			// comes too early, whatever was found.
			if size := v.Shrunk.To; size.Faults != 0 || size.Deviations != 1 || !size.Less(v.Shrunk.From) {
				t.Errorf("pings %v, seed %d: from %v to %v", pings, seed, v.Shrunk.From, size)
			}
			same(v.Shrunk.Trace, v.Shrunk.To.Steps)
			if g := v.Shrunk.Goal; g == nil || !strings.HasPrefix(g.CriticalName, "deliver n3") ||
				g.Critical != criticalOf(t, v.Shrunk.Trace) {
				t.Errorf("pings %v, seed %d: %+v", pings, seed, g)
			}
		}
		if shrunk < 3 {
			t.Errorf("pings %v: %d were shrunk", pings, shrunk)
		}
	}
}

// criticalOf is the step in which the door hears from n3 for the first time.
func criticalOf(t *testing.T, path string) int {
	tr, err := system.LoadTrace(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range tr.Steps {
		if strings.HasPrefix(s.Action, "deliver n3") {
			return s.Index
		}
	}
	return 0
}

// TestLooseStuckIsMended: with a door that opens whatever came before, what did not happen in the
// trace does.
func TestLooseStuckIsMended(t *testing.T) {
	s, f := stuckDoor(t, true)
	r := inMemory(t, s, f.Programs, check.Options{Executions: 500, Workers: 1, Search: check.Search{Strategy: "walks"}})
	if len(r.Violations) != 1 {
		t.Fatalf("%+v", r)
	}
	mended := &systemtest.Fakes{Programs: func() []worldtest.Program {
		all := f.Programs()
		all[0] = &mendedDoor{}
		return all
	}}
	loose, err := run.Replay(t.Context(), s, r.Violations[0].Trace, run.Options{System: mended.Options(), Loose: true})
	if err != nil || loose.Loose.Came != record.CameNone || len(loose.Violations) != 0 {
		t.Errorf("%v, %+v", err, loose)
	}
}

type mendedDoor struct{ worldtest.Idle }

func (d *mendedDoor) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if string(m.Data) == "open" {
		c.Log("opened")
	}
}

// slowDoor opens after a while when it hears of "shut" before "open".
type slowDoor struct {
	worldtest.Idle
	While time.Duration
	heard bool
}

func (d *slowDoor) Receive(c *worldtest.Ctx, m ariadne.Message) {
	switch text := string(m.Data); {
	case d.heard || text == "ping":
	case text == "open":
		d.heard = true
		c.Log("opened")
	default:
		d.heard = true
		c.SetTimer(d.While)
	}
}

func (d *slowDoor) Fire(c *worldtest.Ctx) { c.Log("opened") }

// nagger says a word to the door after some time, and then pings it a hundred times a second.
type nagger struct{ caller }

func (k *nagger) Fire(c *worldtest.Ctx) {
	if k.said {
		c.Send(0, "ping")
	} else {
		k.said = true
		c.Send(0, k.Says)
	}
	c.SetTimer(10 * time.Millisecond)
}

// TestSlowIsNotSuspected: what takes long in virtual time, while others take more steps than a walk
// has, is not suspected; nor is what still has time.
func TestSlowIsNotSuspected(t *testing.T) {
	for while, within := range map[time.Duration]time.Duration{20 * time.Second: 0, 5 * time.Minute: 10 * time.Minute} {
		slow, most := 0, 0
		for seed := range uint64(2) {
			s, f := stuckDoor(t, false)
			f.Programs = func() []worldtest.Program {
				return []worldtest.Program{&slowDoor{While: while}, &caller{After: 10 * time.Millisecond, Says: "open"},
					&nagger{caller{After: 100 * time.Millisecond, Says: "shut"}}}
			}
			s.Seed, s.Limits.Time, s.Properties.Goals[0].Within = seed, time.Second, within
			r := inMemory(t, s, f.Programs,
				check.Options{Executions: 25, Workers: 1, Search: check.Search{Strategy: "walks"}})
			if len(r.Violations) != 0 || r.Outcome != record.Nothing {
				t.Fatalf("%v, within %v, seed %d: %v %+v %q", while, within, seed, r.Outcome, r.Violations, r.Doubts)
			}
			slow += r.Coverage.Liveness.Undecided
			most = max(most, r.Coverage.Liveness.Steps)
		}
		if within == 0 && slow == 0 || most < 2000 {
			t.Errorf("%v, within %v: %d walks were too short, of %d steps at most", while, within, slow, most)
		}
	}
}

// stuckUntilKilled in the environment makes this program a check of a stuck door in that directory.
const stuckUntilKilled = "ARIADNE_TEST_STUCK"

func stuckOptions(dir string) (*spec.Spec, check.Options) {
	s := stuckDoorOf(systemtest.SpecIn(dir, 3, 2))
	f := systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: doorPrograms(true)}}
	return s,
		check.Options{System: f.Options(), Out: "out", KeepGoing: true, Workers: 1,
			Search: check.Search{Strategy: "depth-first"}}
}

func checkStuck(dir string) {
	if err := os.Chdir(dir); err != nil {
		panic(err)
	}
	s, o := stuckOptions(dir)
	o.Resume = systemtest.Exists("out")
	if _, err := check.Check(context.Background(), s, o); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// TestStuckSurvivesKill: what was found not to happen before a check was killed is there when it is
// resumed, once, with what was known of it, and what was left open by an interruption is not held
// against the rest.
func TestStuckSurvivesKill(t *testing.T) {
	sp, _ := stuckDoor(t, true)
	for round := range 4 {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), stuckUntilKilled+"="+sp.Dir)
		killedOnce(t, p, func() bool { return systemtest.Exists("out/violation-1/timeline.txt") },
			time.Duration(50*round)*time.Millisecond)
	}
	s, o := stuckOptions(sp.Dir)
	ctx, over := context.WithCancel(t.Context())
	defer over()
	o.Resume = true
	first := -1
	o.OnProgress = func(p check.Progress) {
		if first < 0 {
			first = p.Executions
		}
		// it has gone on for some time, however fast that is
		if p.Violations > 0 && p.Executions > first+10 {
			over()
		}
	}
	r, err := check.Check(ctx, s, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Violations) != 1 || r.Violations[0].Goal == nil || r.Violations[0].Goal.Critical == 0 ||
		r.Outcome != record.Suspected {
		t.Fatalf("%v, %d violations: %+v", r.Outcome, len(r.Violations), r.Violations)
	}
	if again := replay(t, s, &systemtest.Fakes{Programs: doorPrograms(true)},
		r.Violations[0].Trace); len(again.Violations) != 1 {
		t.Errorf("%+v", again)
	}
}

// TestStuckResumed: a check in parts counts what its walks came to as one in one go does.
func TestStuckResumed(t *testing.T) {
	for _, strategy := range []string{"walks", "depth-first"} {
		s, f := stuckDoor(t, true)
		o := check.Options{Out: "whole", KeepGoing: true, Workers: 1, Executions: 120,
			Search: check.Search{Strategy: strategy}}
		whole := inMemory(t, s, f.Programs, o)
		o.Out, o.Executions = "parts", 60
		first := inMemory(t, s, f.Programs, o)
		o.Resume, o.Executions = true, 120
		parts := inMemory(t, s, f.Programs, o)
		a, b := whole.Coverage.Liveness, parts.Coverage.Liveness
		if a == nil || b == nil || !slices.Equal(a.Sampled, b.Sampled) || b.States < first.Coverage.Liveness.States ||
			b.States < a.States {
			t.Errorf("%s: %+v, in parts %+v after %+v", strategy, a, b, first.Coverage.Liveness)
		}
		if strategy == "walks" && len(whole.Violations) != 1 || len(parts.Violations) != len(whole.Violations) ||
			parts.Outcome != whole.Outcome || !slices.Equal(parts.Doubts, whole.Doubts) {
			t.Errorf("%s: %d violations %q, in parts %d %q", strategy, len(whole.Violations), whole.Doubts,
				len(parts.Violations), parts.Doubts)
		}
	}
}
