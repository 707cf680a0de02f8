package search_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// quiet counts the gaps between messages that are longer than a time, and says with the next one
// whether there were two. Its step with a message tells nothing of the time of this message.
type quiet struct {
	gap         ariadne.Time
	last        ariadne.Time
	gaps, heard int
	blind       bool // it does not read the clock
}

func (*quiet) Start(*worldtest.Ctx) {}
func (*quiet) Fire(*worldtest.Ctx)  {}

func (q *quiet) Receive(c *worldtest.Ctx, m ariadne.Message) {
	said := "few"
	if q.gaps >= 2 {
		said = "many"
	}
	if q.heard++; !q.blind {
		c.Output().ReadClock = true
		if q.last > 0 && c.Now()-q.last > q.gap {
			q.gaps++
		}
		q.last = c.Now()
	}
	c.Log("%s", said)
	c.SendDatagram(1, "done")
}

// repeater sends one message after the other.
type repeater struct{ left int }

func (a *repeater) Start(c *worldtest.Ctx) { a.ask(c) }
func (a *repeater) Fire(*worldtest.Ctx)    {}
func (a *repeater) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	a.ask(c)
}

func (a *repeater) ask(c *worldtest.Ctx) {
	if a.left--; a.left >= 0 {
		c.SendDatagram(0, "ask")
	}
}

// quietly is a system of both.
func quietly(blind bool, delays int) small {
	rules := world.Rules{Latency: time.Millisecond, Delays: delays, MaxDelay: 7 * time.Second}
	return small{rules: rules, window: rules.MaxDelay, instant: true, programs: func() []worldtest.Program {
		return []worldtest.Program{&quiet{gap: 1e9, blind: blind}, &repeater{left: 6}}
	}}
}

// TestLate: messages that are late by random times find what takes two of them and shows in neither
// of their steps. The steps have names by which they are taken again. Nothing is late where the
// bounds, or a node that does not read the clock, leave nothing.
func TestLate(t *testing.T) {
	for _, c := range []struct {
		name   string
		system small
		found  bool
		late   bool
	}{
		{"two", quietly(false, 3), true, true},
		{"one delay", quietly(false, 1), false, true},
		{"no delays", quietly(false, 0), false, false},
		{"blind", quietly(true, 3), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.system.exploration(t, &strategy.Late{Seed: 1})
			paths, found, late := 0, false, false
			x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
				taken, err := space.NewPath(c.system.exploration(t, nil).Space, space.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				for i := 1; i <= p.Steps(); i++ {
					name := p.Step(i).Name
					late = late || strings.HasPrefix(name, "late ")
					for _, l := range p.Transition(i).Output.Logs {
						found = found || l.Text == "many"
					}
					if again, ok := taken.FindAction(p.Step(i).Action); !ok || taken.Push(again) != nil {
						t.Fatalf("step %d (%s) cannot be taken again", i, name)
					}
				}
				if a, b := p.Last().State.Trace(), taken.Last().State.Trace(); a != b {
					t.Fatalf("taken again, the path comes to another state")
				}
				paths++
				return paths < 300 && !found
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			if found != c.found || late != c.late {
				t.Errorf("found %v, late %v after %d paths", found, late, paths)
			}
		})
	}
}

// housekeeper wakes every 20 ms for 6.9 s, and says whether a message comes after 6 s.
type housekeeper struct{ left int }

func (a *housekeeper) Start(c *worldtest.Ctx) { c.SetTimer(20 * time.Millisecond) }

func (a *housekeeper) Fire(c *worldtest.Ctx) {
	if a.left--; a.left > 0 {
		c.SetTimer(20 * time.Millisecond)
	}
}

func (a *housekeeper) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	c.Output().ReadClock = true
	if c.Now() > 6e9 {
		c.Log("over")
	}
}

// TestLateWaits: a message waits while timers of its node expire, many more than the steps for
// which messages are slow.
func TestLateWaits(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond, Delays: 1, MaxDelay: 7 * time.Second}
	s := small{rules: rules, window: rules.MaxDelay, instant: true, programs: func() []worldtest.Program {
		return []worldtest.Program{&housekeeper{left: 345}, &repeater{left: 1}}
	}}
	x := s.exploration(t, &strategy.Late{Seed: 1})
	paths, found := 0, false
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		for i := 1; i <= p.Steps(); i++ {
			for _, l := range p.Transition(i).Output.Logs {
				found = found || l.Text == "over"
			}
		}
		paths++
		return paths < 100 && !found
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	if !found {
		t.Errorf("no message has waited for 6 s on %d paths", paths)
	}
}

// TestDefaultGoesBeyond: the default strategy goes on with messages that are late when it has
// explored all, if a node reads the clock. All is explored nevertheless.
func TestDefaultGoesBeyond(t *testing.T) {
	for _, c := range []struct {
		name   string
		system small
		beyond bool
	}{{"reads the clock", quietly(false, 1), true}, {"blind", quietly(true, 1), false}} {
		t.Run(c.name, func(t *testing.T) {
			for _, workers := range []int{1, 2} {
				d := strategy.Default{Late: true, Faultless: true, Workers: workers,
					Novelty: func(worker int) *strategy.Novelty {
						return &strategy.Novelty{Seed: uint64(worker), Bytes: 1 << 20}
					}}
				all := d.Explorers()
				x := c.system.exploration(t, all[0])
				if workers == 2 {
					strategy.Leave(all[1])
				}
				series := all[0].(*strategy.Series)
				beyond := 0
				x.Ended = func(*space.Path, string, *ariadne.Violation) bool {
					if series.Explored() {
						beyond++
					}
					return true
				}
				how, err := x.Run()
				if err != nil || how != search.SearchExhausted {
					t.Fatalf("%s, %v", how, err)
				}
				if beyond > 0 != c.beyond {
					t.Errorf("%d paths when all was explored", beyond)
				}
			}
		})
	}
}

// TestLateLearns: the share of late is greater once a node has done something else with a message
// that was late, and only then.
func TestLateLearns(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []ariadne.Time
		more  bool
	}{{"decides", []ariadne.Time{1e9}, true}, {"only reads", nil, false}} {
		t.Run(c.name, func(t *testing.T) {
			rules := world.Rules{Latency: time.Millisecond, Delays: 1, MaxDelay: 7 * time.Second}
			s := small{rules: rules, window: rules.MaxDelay, instant: true, programs: func() []worldtest.Program {
				return []worldtest.Program{&leaser{turns: c.turns}, &requester{name: "A", requests: 2}}
			}}
			late := &strategy.Late{Seed: 1}
			before := late.Share()
			x := s.exploration(t, late)
			paths := 0
			x.Ended = func(*space.Path, string, *ariadne.Violation) bool {
				paths++
				return paths < 50
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			if more := late.Share() > before; more != c.more {
				t.Errorf("the share was %v and is %v", before, late.Share())
			}
		})
	}
}
