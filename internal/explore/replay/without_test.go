package replay

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// TestWithoutALossOfPower: with a loss of power within a step goes what it leaves; other choices
// leave the image of a loss that is not undone.
func TestWithoutALossOfPower(t *testing.T) {
	names := world.NewNames([]world.Node{{Name: "n1"}}, nil)
	for action, want := range map[string]string{
		"start n1 with power:1s@2/write:/node/f#1,disk:8@0/disk#1": "start n1",
		"start n1 with fail:EIO@2/write:/node/f#1":                 "start n1",
		"start n1 with fail:EIO@2/write:/node/f#1,disk:8@0/disk#1": "start n1 with disk:8@0/disk#1",
	} {
		tr := &trace.Trace{Steps: []trace.Step{{Index: 1, Action: action}}}
		all := Deviations(tr, names)
		if len(all) != 1 {
			t.Fatalf("%s: %v", action, all)
		}
		if got := Without(tr, names, all, true).Steps[0].Action; got != want {
			t.Errorf("%s: %s, want %s", action, got, want)
		}
	}
}
