package record

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// TestSizesInOrder: one fault explains more than several messages that change places, and a message
// that is little late is easier to believe than one that is much.
func TestSizesInOrder(t *testing.T) {
	late := func(d time.Duration) ariadne.Time { return ariadne.Time(d) }
	sizes := []Size{
		{Steps: 300},
		{Deviations: 1, Steps: 10},
		{Deviations: 1, Steps: 10, Late: late(900 * time.Millisecond)},
		{Deviations: 1, Steps: 10, Late: late(1500 * time.Millisecond)},
		{Deviations: 2, Steps: 10, Late: late(900 * time.Millisecond)},
		{Deviations: 1, Steps: 10, Late: late(3 * time.Second)},
		{Deviations: 4, Steps: 10},
		{Faults: 1, Steps: 10},
		{Deviations: 1, Steps: 10, Late: late(15 * time.Second)},
		{Faults: 1, Steps: 20},
		{Faults: 1, Deviations: 1, Steps: 10},
		{Deviations: 26, Steps: 10},
	}
	less := func(a, b Size) {
		t.Helper()
		if !a.Less(b) || b.Less(a) {
			t.Errorf("%+v is not less than %+v", a, b)
		}
	}
	less(sizes[7], sizes[11]) // one fault, 26 deviations
	less(sizes[1], sizes[2])
	less(sizes[2], sizes[3])
	less(sizes[3], sizes[5])
	less(sizes[5], sizes[8])
	less(sizes[0], sizes[1])
	less(sizes[9], sizes[10])
	less(sizes[6], sizes[7])
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct {
		late time.Duration
		want string
	}{
		{15200 * time.Millisecond, "a message 15.2 s late; in the spec, delays: 0 or max_delay: 15s excludes it"},
		{6 * time.Second, "max_delay: 5s"},
		{time.Second, "max_delay: 500ms"},
		{999 * time.Millisecond, ""},
	} {
		s := Size{Late: ariadne.Time(c.late)}
		if got := s.Needs(); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %q, want %q", c.late, got, c.want)
		}
	}
	if (*Size)(nil).Needs() != "" {
		t.Error("of no size something is needed")
	}
}
