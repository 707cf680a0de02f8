package work_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// results draws what a worker may give.
func results(t *rapid.T) *work.Result {
	few := func(what string, f func(i int)) {
		for i := range rapid.IntRange(0, 3).Draw(t, what) {
			f(i)
		}
	}
	n := func(what string) int { return rapid.IntRange(0, 9).Draw(t, what) }
	text := rapid.SampledFrom([]string{"", "a", "node n1: a 7", "node n1: a 8", "b\n\xff", "ü"})
	node := func() ariadne.NodeID { return ariadne.NodeID(rapid.IntRange(-1, 3).Draw(t, "node")) }
	refusal := func() ariadne.Refusal {
		return ariadne.Refusal{Name: text.Draw(t, "name"), Detail: text.Draw(t, "detail"),
			Program: text.Draw(t, "program"), Count: n("count"), Harmless: rapid.Bool().Draw(t, "harmless")}
	}
	r := &work.Result{
		Counts: work.Counts{Executions: n("executions"), Steps: n("steps"), Calls: n("calls"),
			Messages: n("messages"), Virtual: ariadne.Time(n("virtual"))},
		Cover: work.Cover{Bounded: n("bounded"), Cycles: n("cycles"), CutOff: n("cut off"), Known: n("known"),
			Given: n("given"), Merged: n("merged"), RulesAudited: n("audited")},
		Explored: rapid.Bool().Draw(t, "explored"), Missed: text.Draw(t, "missed"),
	}
	few("ends", func(int) { r.Ends = map[string]int{text.Draw(t, "end"): n("ended"), "violation": n("ended")} })
	few("assertions", func(int) {
		r.Assertions = map[string]bool{text.Draw(t, "assertion"): rapid.Bool().Draw(t, "shown"),
			"always: x": rapid.Bool().Draw(t, "shown")}
	})
	few("clock", func(int) {
		// a set
		r.Cover.Add(&work.Cover{Probing: space.Probing{Messages: n("probed"), Tries: n("tries"), Turns: n("turns")},
			ReadClock: []ariadne.NodeID{node()}, TriedClock: []ariadne.NodeID{node()},
			TookTurns: []ariadne.NodeID{node()}, AtLocks: []ariadne.NodeID{node()}})
	})
	few("kinds", func(int) {
		f := work.Faults{Kind: text.Draw(t, "kind"),
			Faults: search.Faults{Offered: n("offered"), Taken: n("taken"), Said: n("said"), Paths: n("paths")}}
		few("struck", func(int) {
			s := work.Struck{Node: node()}
			s.Phases[rapid.IntRange(0, int(search.NumPhases)-1).Draw(t, "phase")] = n("struck")
			f.By = append(f.By, s)
		})
		few("open", func(int) { f.Open = append(f.Open, node()) })
		r.Tried = append(r.Tried, f)
	})
	few("strategies", func(int) {
		r.Strategies = append(r.Strategies,
			strategy.Tally{Name: text.Draw(t, "strategy"), Executions: n("executions"), Violations: n("violations"),
				Transitions: n("transitions"), Sights: n("sights")})
	})
	if rapid.Bool().Draw(t, "goals") {
		r.Liveness = &work.Liveness{Bound: n("bound"), States: n("states"), Live: n("live"), Quiet: n("quiet"),
			Steps: n("walks"), Most: n("most"), Skipped: n("skipped"), GivenUp: n("given up"),
			Undecided: n("undecided")}
		few("sampled", func(int) { r.Liveness.Sampled = append(r.Liveness.Sampled, n("sampled")) })
	}
	few("spans", func(int) {
		from := n("from")
		r.Ended = append(r.Ended, work.Span{From: from, To: from + n("length")})
	})
	few("findings", func(int) {
		v := ariadne.Violation{Kind: text.Draw(t, "kind"), Node: node(), Step: n("step"), At: ariadne.Time(n("at")),
			Message: text.Draw(t, "message")}
		r.Findings = append(r.Findings,
			work.Finding{Violation: v, Execution: rapid.IntRange(work.NoIndex, 9).Draw(t, "execution"),
				Count: n("count")})
	})
	few("refusals", func(int) { r.Refuse(work.Refusal{Node: node(), Refusal: refusal()}) })
	source := work.Source{Unit: n("unit"), Worker: n("worker"), Serial: 1 + n("serial")}
	few("met", func(i int) {
		// What a transition has met follows from the state to which it leads.
		m := work.Met{State: hash.Of(uint64(n("state")), 0, 0)}
		m.Doubts = []string{fmt.Sprint("met ", m.State.Hi)}
		r.Met = append(r.Met, m)
	})
	few("violations", func(int) {
		r.Violations = append(r.Violations,
			work.Violation{Record: json.RawMessage(`{"kind":"death"}`),
				Files: []work.File{{Path: text.Draw(t, "path"), Data: []byte{1, 2, byte(n("data"))}}}})
	})
	if rapid.Bool().Draw(t, "alone") {
		r.Seen, r.Nodes = &coverage.Sightings{},
			&memo.Counts{Executed: n("executed"), Stepping: time.Duration(n("stepping"))}
		few("seen", func(int) {
			r.Seen.States.Add(coverage.Hashes{hash.Of(uint64(n("state")), 0, 1)})
			r.Seen.Locals.Add(coverage.Hashes{hash.Of(uint64(n("state")), 0, 2)})
		})
	}
	few("left", func(int) { r.Left = append(r.Left, *rapid.Custom(works).Draw(t, "work")) })
	for _, to := range []*work.Remarks{&r.Servers, &r.Doubts, &r.Notes, &r.Bugs, &r.Stop} {
		few("remarks", func(int) { to.Say(text.Draw(t, "remark")) })
	}
	r.Of(source)
	return r
}

// works draws a unit of work.
func works(t *rapid.T) *work.Work {
	n := func(what string) int { return rapid.IntRange(0, 3).Draw(t, what) }
	w := &work.Work{Unit: 1 + n("unit"), Spec: ariadne.Digest{byte(n("spec"))}, Faults: "crash 1",
		Strategy: "depth-first", Seed: rapid.Uint64().Draw(t, "seed")}
	w.Executions.From = n("from")
	w.Executions.To = w.Executions.From + n("length")
	w.Begins = rapid.SliceOfN(rapid.SampledFrom([]string{"n1 timer", "deliver <a:1>b:2 #1", "ü", "\xff"}), 0, 3).Draw(t,
		"begins")
	if len(w.Begins) == 0 {
		w.Begins = nil
	}
	// What is left of one unit has the same bounds everywhere.
	w.Bounds = work.Bounds{Depth: 1, Deviations: space.AtMost(2), Branch: space.Unbounded}
	w.Seed, w.Spec = uint64(w.Unit), ariadne.Digest{byte(w.Unit)}
	return w
}

// distinct are Results of which no two have one source.
func distinct(all []*work.Result) []*work.Result {
	for i, r := range all {
		r.Of(work.Source{Unit: r.Source.Unit, Worker: r.Source.Worker, Serial: i + 1})
	}
	return all
}

func sum(all []*work.Result) *work.Result {
	s := &work.Result{}
	for _, r := range all {
		s.Add(r)
	}
	return s
}

// TestAnyOrder: sums are the same in whatever order, and however Results are put together before.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := distinct(rapid.SliceOfN(rapid.Custom(results), 0, 6).Draw(t, "results"))
		want := sum(all)
		other := rapid.Permutation(all).Draw(t, "order")
		if got := sum(other); !reflect.DeepEqual(got, want) {
			t.Fatalf("in another order\n%+v\nnot\n%+v", got, want)
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "cut")
		if got := sum([]*work.Result{sum(other[:cut]), sum(other[cut:])}); !reflect.DeepEqual(got, want) {
			t.Fatalf("in two parts\n%+v\nnot\n%+v", got, want)
		}
	})
}

// TestAddKeepsNothing: what was added can be used again.
func TestAddKeepsNothing(t *testing.T) {
	a := &work.Result{Counts: work.Counts{Ends: map[string]int{"violation": 1}},
		Cover: work.Cover{Liveness: &work.Liveness{Bound: 3, Sampled: []int{3}},
			Tried: []work.Faults{{Kind: "crash", Open: []ariadne.NodeID{1}}}}}
	s := &work.Result{}
	s.Add(a)
	a.Ends["violation"], a.Liveness.Sampled[0], a.Tried[0].Open[0] = 9, 9, 9
	if s.Ends["violation"] != 1 || s.Liveness.Sampled[0] != 3 || !slices.Equal(s.Tried[0].Open, []ariadne.NodeID{1}) {
		t.Errorf("%+v, %+v", s, s.Liveness)
	}
}
