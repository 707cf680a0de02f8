package search_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

const contentLine = "content "

// hideContent has states named by their history, and tells their content in a line.
func hideContent(_, _ int, out *ariadne.Output) {
	if out.Content != (ariadne.Digest{}) {
		out.Logs = append(out.Logs, ariadne.LogLine{Stream: 1, Text: contentLine + hex.EncodeToString(out.Content[:])})
		out.Content = ariadne.Digest{}
	}
}

// contents names the state at the end of a path by the nodes' contents, wherever they have
// said these, and by their histories since, whatever the names of their local states.
func contents(p *space.Path) string {
	y := p.System()
	names := make([]ariadne.Digest, len(y.Nodes()))
	for i := range names {
		names[i] = y.Nodes()[i].Initial
	}
	for i := 1; i <= p.Len(); i++ {
		if world.KindOf(p.Event(i).Kind).World {
			continue // no node has done anything
		}
		t := p.Transition(i)
		out := t.Output
		for _, l := range out.Logs {
			if text, ok := strings.CutPrefix(l.Text, contentLine); ok {
				b, _ := hex.DecodeString(text)
				copy(out.Content[:], b)
			}
		}
		names[t.From.Node] = y.NameReached(t.From.Node, names[t.From.Node], t.Input, &out)
	}
	var flight []string
	for _, f := range p.Last().State.Flight {
		flight = append(flight,
			fmt.Sprint(f.Flow, f.To, f.Seq, string(f.Data), int64(f.Sent), int64(f.Arrival), f.Delayed, int64(f.Due)))
	}
	slices.Sort(flight)
	parted := ""
	for _, c := range slices.Concat(p.Last().State.Cuts, p.Last().State.Slow) {
		parted += fmt.Sprint(" ", c.Name, c.By, int64(c.Since), int64(c.Until))
	}
	for i := range p.Last().State.Nodes {
		n := &p.Last().State.Nodes[i]
		parted += fmt.Sprint(" ", int64(n.On), int64(n.Ready), n.Falls.What(), int64(n.FallsAt), n.Said,
			n.Processes.Names())
		if n.Awake != 0 {
			parted += fmt.Sprint(" paused ", int64(n.Awake), int64(n.Told))
		}
	}
	return fmt.Sprint(names, flight, parted, p.Last().State.Delays, p.Last().State.Faults)
}

// TestStatesByContent: where nodes say that nothing is left of them but their content, states
// that different histories lead to are one; what is found is what brute force finds that goes
// by histories, with checkpoints or without.
func TestStatesByContent(t *testing.T) {
	histories, merged, executed, saved := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, rapid.Bool().Draw(t, "timers"))
		plain := s.programs
		s.programs = func() []worldtest.Program {
			all := plain()
			for _, p := range all {
				x := p.(*worldtest.Chaos)
				// what it has said of its connections is in no content
				x.Forgets, x.Limits = true, false
			}
			return all
		}
		explore := func(e strategy.Explorer, most int, limits memo.Limits,
			amend func(int, int, *ariadne.Output)) (states, ends map[string]bool, x *search.Exploration,
			n memo.Counts) {
			x = s.exploration(t, e)
			m, err := memo.Open(x.Space.System, memo.Options{})
			if err != nil {
				t.Fatal(err)
			}
			source := memo.NewExecutor(m,
				(&memotest.Instances{Programs: s.programs, Outages: s.outagesOf, Grid: s.rules.Grid,
					Amend: amend}).Boot(), limits)
			x.Space = space.New(x.Space.System, m, source)
			states, ends = map[string]bool{}, map[string]bool{}
			x.Watch = func(p *space.Path) { states[contents(p)] = true }
			x.Ended = func(p *space.Path, end string, _ *ariadne.Violation) bool {
				if end != search.EndSeen && end != search.EndStrategy {
					ends[contents(p)] = true
				}
				// else it takes minutes
				return most == 0 || x.Coverage.Paths < most && x.Coverage.Steps < 30_000
			}
			how, err := x.Run()
			if err != nil {
				t.Fatal(err)
			}
			if how != search.SearchExhausted && most > 0 {
				t.SkipNow()
			}
			return states, ends, x, source.Counts()
		}
		states, ends, brute, all := explore(&strategy.DepthFirst{All: true}, 2000, memo.Limits{Checkpoints: 20},
			hideContent)
		if n := brute.Seen.Len(); n < len(states) {
			t.Fatalf("%d states by their histories, %d by content", n, len(states))
		}
		for _, c := range []struct {
			name string
			e    strategy.Explorer
		}{
			{"depth first", &strategy.DepthFirst{}}, {"breadth first", &strategy.BreadthFirst{}},
			{"fewest deviations", &strategy.FewestDeviations{}},
			{"DPOR", &strategy.DPOR{}}, {"sleep sets", &strategy.SleepSets{}},
		} {
			name, e := c.name, c.e
			limits := memo.Limits{Checkpoints: rapid.SampledFrom([]int{0, 1, 20}).Draw(t, "checkpoints"), Audit: 1}
			gotStates, gotEnds, x, counts := explore(e, 0, limits, nil)
			if name == "DPOR" || name == "sleep sets" {
				if !maps.Equal(gotEnds, ends) {
					t.Fatalf("%s: %d ends of paths, brute force finds %d", name, len(gotEnds), len(ends))
				}
				continue
			}
			if !maps.Equal(gotStates, states) || x.Coverage.States != len(states) {
				t.Fatalf("%s: %d states, counted %d, brute force finds %d", name, len(gotStates), x.Coverage.States,
					len(states))
			}
			if counts.Mismatches > 0 || counts.Executed > all.Executed {
				t.Fatalf("%s: %+v, brute force %+v", name, counts, all)
			}
			saved += all.Executed - counts.Executed
		}
		histories, merged, executed = histories+brute.Seen.Len(), merged+len(states), executed+all.Executed
	})
	t.Logf("%d states by history, %d by content; %d transitions, %d times one that need not be executed", histories, merged, executed, saved)
	if merged == histories || saved == 0 {
		t.Error("no histories lead to the same state")
	}
}
