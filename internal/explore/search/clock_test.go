package search_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// leaser answers requests by how many of some times are over, or only by whether they are an odd
// number. It has no timer for them. It says the same when its ticks have passed.
type leaser struct {
	turns []ariadne.Time
	odd   bool
	ticks time.Duration // 0: it has none
}

func (l *leaser) Start(c *worldtest.Ctx) {
	if l.ticks > 0 {
		c.SetTimer(l.ticks)
	}
}
func (l *leaser) Fire(c *worldtest.Ctx)                       { l.say(c, "tick") }
func (l *leaser) Receive(c *worldtest.Ctx, m ariadne.Message) { l.say(c, string(m.Data)) }

func (l *leaser) say(c *worldtest.Ctx, of string) {
	c.Output().ReadClock = true
	passed := 0
	for _, t := range l.turns {
		if c.Now() >= t {
			passed++
		}
	}
	if l.odd {
		passed %= 2
	}
	c.Log("%s: phase %c, read at %d", of, 'a'+passed, c.Now())
}

// holder answers requests while a lease holds. It looks at the clock to see whether it does, and
// once more for its answer.
type holder struct{ ends ariadne.Time }

func (*holder) Watches() {}

func (*holder) Start(c *worldtest.Ctx)                        { c.SetTimer(6 * time.Millisecond) }
func (h *holder) Fire(c *worldtest.Ctx)                       { h.look(c, "timer") }
func (h *holder) Receive(c *worldtest.Ctx, m ariadne.Message) { h.look(c, string(m.Data)) }

func (h *holder) look(c *worldtest.Ctx, of string) {
	c.Output().ReadClock = true
	if c.Now() >= h.ends {
		c.Log("%s: refused", of)
		return
	}
	if c.Now() >= h.ends {
		c.Log("%s: held no more", of)
		return
	}
	c.Log("%s: held", of)
}

// requester sends requests, the last of them by a timer.
type requester struct {
	name     string
	requests int
	again    time.Duration // 0: never
}

func (a *requester) Start(c *worldtest.Ctx) {
	for range a.requests {
		c.SendDatagram(0, a.name)
	}
	if a.again > 0 {
		c.SetTimer(a.again)
	}
}
func (a *requester) Receive(*worldtest.Ctx, ariadne.Message) {}
func (a *requester) Fire(c *worldtest.Ctx)                   { c.SendDatagram(0, a.name+" again") }

// clocked is a system of a leaser and requesters, and what its bounds are.
type clocked struct {
	small
	turns      []ariadne.Time
	odd        bool
	requesters []requester
	ticks      time.Duration
	holds      ariadne.Time // until when a holder's lease holds; 0: there is a leaser instead
}

func (s *clocked) newPrograms() []worldtest.Program {
	all := []worldtest.Program{&leaser{s.turns, s.odd, s.ticks}}
	if s.holds > 0 {
		all[0] = &holder{s.holds}
	}
	for _, a := range s.requesters {
		all = append(all, &a)
	}
	return all
}

func drawClocked(t *rapid.T) *clocked {
	s := &clocked{}
	ms := func(name string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, name)) * time.Millisecond
	}
	s.rules = world.Rules{Latency: ms("latency", 1, 3), ClockError: ms("E", 0, 2),
		Delays: rapid.IntRange(0, 2).Draw(t, "delays"), MaxDelay: ms("most", 5, 12)}
	// As far apart as what is found lasts at least. If they are odd or even, what opens closes.
	ns := ariadne.Time(rapid.IntRange(0, 999_999).Draw(t, "ns"))
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(2, 16), 0, 4, rapid.ID).Draw(t, "turns") {
		s.turns = append(s.turns, ariadne.Time(n)*1e6+ns)
	}
	s.odd = rapid.Bool().Draw(t, "odd")
	for i := range rapid.IntRange(1, 2).Draw(t, "requesters") {
		a := requester{name: string(rune('A' + i)), requests: rapid.IntRange(1, 2).Draw(t, "requests")}
		if rapid.Bool().Draw(t, "again") {
			a.again = ms("again", 2, 15)
		}
		s.requesters = append(s.requesters, a)
	}
	s.small.programs, s.instant, s.window = s.newPrograms, true, s.rules.MaxDelay
	return s
}

// outcomes are what the leaser has said at the ends of all executions, if each message may arrive
// at the beginning and the end of each millisecond at which the rules let it. So may the leaser's
// tick happen. They are found by the rules alone: each execution is made once more, and nothing is
// remembered. ok is false when there are too many.
func (s *clocked) outcomes() (all map[string]bool, ok bool) {
	all = map[string]bool{}
	seen := map[string]bool{}
	count := 0
	var walk func(events []world.Event) bool
	walk = func(events []world.Event) bool {
		if count++; count > 5_000 {
			return false
		}
		w := worldtest.New(s.rules, worldtest.Nodes(s.newPrograms()...), s.newAutomata())
		said := ""
		for _, e := range events {
			step, err := w.ApplyEvent(e)
			if err != nil && e.Varied.Variation() != "" && strings.Contains(err.Error(), "it is up") {
				return true // it did not read the clock as often
			}
			if err != nil {
				panic(err)
			}
			said += saidOf(&step.Output)
		}
		state := w.State()
		// What is in flight, when, and what was said is all that matters.
		key := fmt.Sprint(state.Hash(), said)
		if seen[key] {
			return true
		}
		seen[key] = true
		next := w.System.Enabled(&state, nil)
		next = append(next, s.paused(w.System, &state, next)...)
		for i := range next {
			if e := &next[i]; s.window > 0 && e.Node == 0 && world.CanBeLate(e.Kind) {
				for at := e.At - e.At%1e6; at <= e.At+ariadne.Time(s.rules.MaxDelay); at += 1e6 {
					for _, at := range []ariadne.Time{at, at + 1e6 - 1} {
						// shortly before a timer nothing is tried
						near := e.Kind == ariadne.ActDeliver && at > state.Nodes[0].Timer()-2e6
						if l, ok := w.System.Later(&state, e, at); ok && !near {
							next = append(next, l)
						}
					}
				}
			}
		}
		if len(next) == 0 {
			all[said] = true
		}
		for _, e := range next {
			if !walk(append(slices.Clip(events), e)) {
				return false
			}
		}
		return true
	}
	ok = walk(nil)
	return all, ok
}

// paused are the events by which a holder is paused at its first read of the clock in a step, or
// its second.
func (s *clocked) paused(y *world.System, state *world.State, events []world.Event) (all []world.Event) {
	if s.holds == 0 {
		return nil
	}
	for _, e := range events {
		if e.Node != 0 || e.Kind != ariadne.ActDeliver && e.Kind != ariadne.ActFire {
			continue
		}
		for read := 1; read <= 2; read++ {
			for _, o := range s.outagesOf(0) {
				v, err := e.VariedAs(ariadne.Variation(fmt.Sprintf("%s@1/clock#%d", ariadne.Alternative(o), read)))
				if err != nil {
					panic(err)
				}
				if y.Allows(state, &v) {
					all = append(all, v)
				}
			}
		}
	}
	return all
}

// saidOf is what a step has said, without the times in it.
func saidOf(o *ariadne.Output) (said string) {
	for _, l := range o.Logs {
		text, _, _ := strings.Cut(l.Text, ",")
		said += text + "; "
	}
	return said
}

func (s *clocked) newAutomata() []ariadne.Automaton {
	all := worldtest.Automata(s.newPrograms()...)
	for i, a := range all {
		a := a.(*worldtest.Automaton)
		a.Instant, a.Grid = true, s.rules.Grid
		a.Outages = s.outagesOf(ariadne.NodeID(i))
	}
	return all
}

// TestTurnsOfClocksAgreeWithBruteForce: where a program decides by the clock, at times drawn at
// random, searches that try messages at other times come to each outcome that there is if a
// message may arrive at any time, and to no other. All exhaustive strategies come to the same
// states, or traces, with one worker and with two.
func TestTurnsOfClocksAgreeWithBruteForce(t *testing.T) {
	turned, fired := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawClocked(t)
		if rapid.Bool().Draw(t, "ticks") {
			s.ticks = time.Duration(rapid.IntRange(2, 15).Draw(t, "tick")) * time.Millisecond
			s.rules.ClockError = time.Duration(rapid.IntRange(2, 3).Draw(t, "error")) * time.Millisecond
		}
		want, ok := s.outcomes()
		if !ok {
			t.SkipNow()
		}
		all := brute(t, s.small)
		if len(all.late) > 0 {
			turned++
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(all.late)), func(name string) bool {
			return strings.HasPrefix(name, "late timer ")
		}) {
			fired++
		}
		if got := outcomesOf(all); !maps.Equal(got, want) {
			t.Fatalf("outcomes\n%q, want\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		agree(t, s, all)
	})
	if turned < 10 {
		t.Errorf("something was late in %d systems only", turned)
	}
	if fired < 3 {
		t.Errorf("a timer was late in %d systems only", fired)
	}
}

// agree fails unless each exhaustive strategy, with one worker and with two, finds what brute force
// found.
func agree(t *rapid.T, s *clocked, all found) {
	for name := range divisible() {
		for _, workers := range []int{1, 2} {
			got := s.together(t, divisible()[name].Divide(workers), nil)
			if got.how != search.SearchExhausted || !maps.Equal(got.traces, all.traces) &&
				(name == "DPOR" || name == "sleep sets" || name == "all paths") {
				t.Fatalf("%s, %d workers: %s with %d traces, want %d", name, workers, got.how, len(got.traces),
					len(all.traces))
			}
			if _, one := divisible()[name].(*strategy.DPOR); !one && name != "sleep sets" &&
				!maps.Equal(got.states, all.states) {
				t.Fatalf("%s, %d workers: %d states, want %d", name, workers, len(got.states), len(all.states))
			}
		}
	}
}

// TestPausesAtReadsAgreeWithBruteForce: where a program is paused between two reads of the clock in
// one step, or before the first, searches come to each outcome that there is, and to no other. The
// answer that is given although the lease is over comes of such a pause alone.
func TestPausesAtReadsAgreeWithBruteForce(t *testing.T) {
	between := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawClocked(t)
		s.turns, s.window, s.holds = nil, 0, ariadne.Time(rapid.IntRange(2, 12).Draw(t, "holds"))*1e6+5e5
		s.rules.Delays = min(s.rules.Delays, 1)
		s.rules.Grid = 1e6
		s.rules.Faults[world.Pause] = uint8(rapid.IntRange(1, 2).Draw(t, "pauses"))
		lengths := [][]time.Duration{{2e6}, {9e6}, {1e6, 6e6}}[rapid.IntRange(0, 2).Draw(t, "lengths")]
		s.rules.NodeFaults = []world.NodeFaults{world.Outages(ariadne.Paused, []ariadne.NodeID{0}, lengths...)}
		want, ok := s.outcomes()
		if !ok {
			t.SkipNow()
		}
		all := brute(t, s.small)
		if got := outcomesOf(all); !maps.Equal(got, want) {
			t.Fatalf("outcomes\n%q, want\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
		for said := range want {
			if strings.Contains(said, "no more") {
				between++
			}
		}
		agree(t, s, all)
	})
	if between == 0 {
		t.Error("no lease was over between two reads")
	}
}

// outcomesOf are the outcomes of a search's executions.
func outcomesOf(f found) map[string]bool {
	all := map[string]bool{}
	for _, said := range f.said {
		all[said] = true
	}
	return all
}
