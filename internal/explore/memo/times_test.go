package memo

import (
	"math"
	"testing"
	"time"
)

func TestMedianOfTimes(t *testing.T) {
	var a, b Times
	if a.Median() != 0 {
		t.Error("a median of nothing")
	}
	for i := range 1001 {
		d := time.Duration(float64(time.Microsecond) * math.Exp2(float64(i)/60)) // up to 0.1 s
		if i%2 == 0 {
			a.enter(d)
		} else {
			b.enter(d)
		}
	}
	a.add(&b)
	a.enter(time.Hour)
	a.enter(-1)
	want := time.Duration(float64(time.Microsecond) * math.Exp2(500.0/60))
	if got := a.Median(); math.Abs(float64(got-want)) > 0.06*float64(want) || a.Count() != 1003 {
		t.Errorf("%v of %d, want %v", got, a.Count(), want)
	}
}

// TestMedianOfSizes: the median of sizes that two executors have entered.
func TestMedianOfSizes(t *testing.T) {
	var a, b Sizes
	if a.Median() != 0 {
		t.Error("a median of nothing")
	}
	for i := range int64(101) {
		a.enter((100 + i) << 10)
	}
	if a.add(&b); math.Abs(a.Median()-150) > 8 {
		t.Errorf("%v KB, want 150", a.Median())
	}
}

// TestSpacing: the more often a search comes back, the closer are the checkpoints.
func TestSpacing(t *testing.T) {
	x := NewExecutor(nil, nil, Limits{})
	for _, c := range []struct {
		returns float64
		want    int
	}{{0, maxSpacing}, {0.1, 4}, {0.5, 2}, {1, 1}} {
		if x.returns = c.returns; x.spacing() != c.want {
			t.Errorf("%v returns: %d apart, want %d", c.returns, x.spacing(), c.want)
		}
	}
	if x.limits.Every = 5; x.spacing() != 5 {
		t.Error("what was asked for is not kept")
	}
}
