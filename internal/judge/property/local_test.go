package property_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// verdict is a violation without where it was found.
func verdict(v *ariadne.Violation) ariadne.Violation {
	if v == nil {
		return ariadne.Violation{}
	}
	return ariadne.Violation{Kind: v.Kind, Node: v.Node, Message: v.Message}
}

// TestVerdictsAreLocal: what searches in memory rely on: a step is judged alone, and the end by
// what each node has done, however the steps of different nodes lay between each other.
func TestVerdictsAreLocal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		output := rapid.Custom(func(t *rapid.T) ariadne.Output {
			var o ariadne.Output
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				o = errorLines(exit(1, 0), "panic: no")
			case 1:
				o.Diverged = "calls"
			case 2, 3:
				o.Polling, o.Unheeded = "poll (9 calls)", rapid.Bool().Draw(t, "unheeded")
			case 4, 5:
				o.Done = true
			}
			return o
		})
		var inOrder []ariadne.Step
		queues := make([][]ariadne.Step, len(nodes))
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			id := rapid.IntRange(0, len(nodes)-1).Draw(t, "node")
			s := step(ariadne.NodeID(id), output.Draw(t, "output"))
			inOrder, queues[id] = append(inOrder, s), append(queues[id], s)
		}
		var shuffled []ariadne.Step
		for len(shuffled) < len(inOrder) {
			id := rapid.IntRange(0, len(nodes)-1).Filter(func(i int) bool { return len(queues[i]) > 0 }).Draw(t, "next")
			shuffled, queues[id] = append(shuffled, queues[id][0]), queues[id][1:]
		}
		for i := range property.Generic(nodes) {
			a, b := property.Generic(nodes)[i], property.Generic(nodes)[i]
			for _, s := range inOrder {
				if got, alone := verdict(a.Step(&s)), verdict(property.Generic(nodes)[i].Step(&s)); got != alone {
					t.Fatalf("%T: %+v after others, %+v alone", a, got, alone)
				}
			}
			for _, s := range shuffled {
				b.Step(&s)
			}
			end := property.End{Quiet: rapid.Bool().Draw(t, "quiet"), Step: len(inOrder)}
			if x, y := verdict(a.End(end)), verdict(b.End(end)); x != y {
				t.Fatalf("%T: %+v in one order, %+v in another", a, x, y)
			}
		}
	})
}
