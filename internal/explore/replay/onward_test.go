package replay_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

func TestGoalOf(t *testing.T) {
	goals := []property.Goal{{Name: "answers"}, {Name: "answers: all"}, {Name: "other"}}
	for message, want := range map[string]int{"answers: all: n1 waits": 1, "answers: n1 waits": 0, "other: x": 2} {
		if goal, ok := replay.GoalOf(&trace.Violation{Kind: property.Suspected, Message: message}, goals); !ok ||
			goal != want {
			t.Errorf("%q: goal %d, %v", message, goal, ok)
		}
	}
	if _, ok := replay.GoalOf(&trace.Violation{Kind: property.Suspected, Message: "none: x"}, goals); ok {
		t.Error("there is no such goal")
	}
}
