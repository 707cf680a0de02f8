package replay

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
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

// TestWithoutSomethingLate: what was late comes before all that is due after it, also where that
// stands before something else that is late. A message that arrives later at a time of its own
// arrives at that at which it was due.
func TestWithoutSomethingLate(t *testing.T) {
	names := world.NewNames([]world.Node{{Name: "n1", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")}},
		{Name: "n2", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}, nil)
	const a, b, c, d = "deliver n1:1>n2:1 #1", "deliver n1:2>n2:1 #1", "deliver n1:3>n2:1 #1", "deliver n1:4>n2:1 #1"
	steps := func(all ...any) (tr *trace.Trace) {
		tr = &trace.Trace{}
		for i := 0; i < len(all); i += 2 {
			tr.Steps = append(tr.Steps,
				trace.Step{Index: i/2 + 1, At: ariadne.Time(all[i].(int)), Action: all[i+1].(string)})
		}
		return tr
	}
	for name, x := range map[string]struct {
		tr       *trace.Trace
		late     []int // the steps that are
		undo     int   // of these
		want     []string
		at, time int // when the step at an index comes then
	}{
		"behind one that is late": {steps(10, a, 40, b, 20, c, 30, d), []int{3, 4}, 1, []string{a, d, b, c}, 1, 30},
		"before one that is late": {steps(10, a, 40, b, 20, c, 30, d), []int{3, 4}, 0, []string{a, c, b, d}, 1, 20},
		"at a time of its own": {steps(10, a, 40, b, 50, c, 60, "late n1:4>n2:1 #1 by 35ns"), []int{4}, 0,
			[]string{a, d, b, c}, 1, 25},
		"in its place": {steps(10, a, 20, "late n1:4>n2:1 #1 by 5ns", 40, b), []int{2}, 0, []string{a, d, b},
			1, 15},
	} {
		t.Run(name, func(t *testing.T) {
			var late []int
			all := Deviations(x.tr, names)
			for _, d := range all {
				if !d.Late() {
					t.Errorf("%+v is not late", d)
				}
				late = append(late, d.Step())
			}
			if !slices.Equal(late, x.late) {
				t.Fatalf("steps %v are late", late)
			}
			less := Without(x.tr, names, all[x.undo:x.undo+1], true)
			var got []string
			for _, s := range less.Steps {
				got = append(got, s.Action)
			}
			if !slices.Equal(got, x.want) || less.Steps[x.at].At != ariadne.Time(x.time) {
				t.Errorf("%q, at %v", got, less.Steps[x.at].At)
			}
		})
	}
}
