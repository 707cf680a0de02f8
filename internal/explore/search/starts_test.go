package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// TestStartsAreCopied: random executions are the same where nodes are copied behind their first
// input as where each is booted, also where some copies cannot be made or cannot go on.
func TestStartsAreCopied(t *testing.T) {
	thaws, lost, unfrozen, varied := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawSmall(t, true)
		nodes := worldtest.Nodes(s.programs()...)
		for i := range s.starts {
			nodes[i].Start = ariadne.Time(s.starts[i]) * 1e6
		}
		y := world.NewSystem(s.rules, nodes)
		m := s.instances()
		switch rapid.IntRange(0, 3).Draw(t, "trouble") {
		case 0:
			m.Lost = func(steps, furthest int) bool { return steps == 1 && furthest > 2 }
		case 1:
			m.Unfreezable = func(steps int) bool { return steps == 1 }
		}
		var start []func() (memo.Instance, error)
		for _, boot := range m.Boot() {
			start = append(start, func() (memo.Instance, error) { return boot() })
		}
		kept := memo.NewLiving(y, start, nil)
		kept.KeepStarts = true
		for i := range 6 {
			run := func(l *memo.Living) (steps []string) {
				e := &search.Execution{Space: space.Live(y, l), Explorer: walk(3, i+1),
					Checks: s.exploration(t, nil).Checks, Limits: search.Limits{Steps: 200}}
				e.Watch = func(s ariadne.Step) bool {
					steps = append(steps, fmt.Sprintf("%s at %v: %v", s.Name, s.At, s.Output.Digest))
					return true
				}
				result, err := e.Run()
				if err != nil {
					t.Fatal(err)
				}
				return append(steps, result.End)
			}
			got, want := run(kept), run(s.instances().Living(y))
			if !slices.Equal(got, want) {
				t.Fatalf("execution %d:\n%s\nwant\n%s", i+1, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			if strings.Contains(want[0], " with ") {
				varied++
			}
			if err := kept.Restart(); err != nil {
				t.Fatal(err)
			}
		}
		if err := kept.Close(); err != nil || m.Alive != 0 || m.Frozen != 0 {
			t.Fatalf("%v; %d instances and %d checkpoints are left", err, m.Alive, m.Frozen)
		}
		c := kept.Counts()
		thaws, lost, unfrozen = thaws+c.Thaws, lost+c.Lost, unfrozen+c.Unfrozen
	})
	if t.Logf("%d copies, %d could not go on, %d could not be made, %d first steps varied", thaws, lost, unfrozen, varied); thaws == 0 || lost == 0 || unfrozen == 0 || varied == 0 {
		t.Error("one of these is missing")
	}
}
