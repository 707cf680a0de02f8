package record

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
)

// TestSumOfReport: a report that is gone on with counts all that it has counted, whatever that is.
func TestSumOfReport(t *testing.T) {
	names := []NodeReport{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}}
	empty := func() *Report {
		return &Report{Nodes: append([]NodeReport(nil), names...),
			Coverage: &Coverage{Faults: []Faults{{Kind: "pause", Budget: 2},
				{Kind: "crash", Budget: 1, After: "ready"}}}}
	}
	s := &work.Result{Source: work.Source{Unit: -1}}
	number := 0
	set(reflect.ValueOf(&s.Counts).Elem(), &number)
	s.Ends = map[string]int{"violation": 1, "clients done": 2}
	set(reflect.ValueOf(&s.Cover).Elem(), &number)
	s.Probing = space.Probing{Messages: 3, Tries: 2, Turns: 1}
	s.ReadClock, s.TriedClock = []ariadne.NodeID{0, 2}, []ariadne.NodeID{0, 1}
	s.TookTurns, s.AtLocks = []ariadne.NodeID{1, 2}, []ariadne.NodeID{1}
	s.Assertions = map[string]bool{"sometimes: a": true, "reachable: b": false}
	s.Strategies = []strategy.Tally{{Name: "pos", Executions: 1, Violations: 2, Transitions: 3, Sights: 4}}
	s.Tried = []work.Faults{
		{Kind: "crash", Faults: search.Faults{Offered: 1, Taken: 2, Said: 3, Paths: 4},
			By: []work.Struck{{Node: ariadne.NoNode, Phases: [search.NumPhases]int{1}},
				{Node: 1, Phases: [search.NumPhases]int{0, 2}}}, Open: []ariadne.NodeID{2}},
		{Kind: "pause", Faults: search.Faults{Offered: 5}, Open: []ariadne.NodeID{0, 1}},
	}
	s.Liveness = &work.Liveness{Sampled: []int{3, 4}}
	set(reflect.ValueOf(s.Liveness).Elem(), &number)
	s.Refuse(work.Refusal{Node: 2,
		Refusal: ariadne.Refusal{Name: "ioctl 0x1", Detail: "(3)", Program: "/bin/a", Count: 7, Harmless: true}})
	for _, to := range []*work.Remarks{&s.Servers, &s.Doubts, &s.Notes, &s.Bugs} {
		to.Say("one", "two")
	}
	s.Of(s.Source)

	r := empty()
	r.Fill(s)
	if got := r.Sum(); !reflect.DeepEqual(got, s) {
		t.Errorf("counted\n%s\nnot\n%s", text(t, got), text(t, s))
	}
	again := empty()
	again.Fill(r.Sum())
	if got, want := text(t, again), text(t, r); got != want {
		t.Errorf("reported\n%s\nnot\n%s", got, want)
	}
	if f := r.Coverage.Faults; f[0].Kind != "pause" || f[0].Budget != 2 ||
		!reflect.DeepEqual(f[0].Spared, []string{"n1", "n2"}) || f[1].By[len(f[1].By)-1].Node != "" {
		t.Errorf("%+v", f)
	}
}

// set sets all numbers of a struct to different ones.
func set(v reflect.Value, n *int) {
	for i := range v.NumField() {
		if f := v.Field(i); f.CanInt() {
			*n++
			f.SetInt(int64(*n))
		}
	}
}

func text(t *testing.T, v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
