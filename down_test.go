package ariadne_test

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// TestEndOf: a fault ends at the first multiple of its grid behind its length. Short faults have a
// finer grid, and what never ends has none.
func TestEndOf(t *testing.T) {
	const ms = ariadne.Time(time.Millisecond)
	first := func(from, multiple ariadne.Time) ariadne.Time {
		t := from + 1
		for t%multiple != 0 {
			t++
		}
		return t
	}
	for _, c := range []struct {
		length time.Duration
		grid   ariadne.Time
	}{
		{0, ms}, {500 * time.Microsecond, ms}, {5 * time.Millisecond, ms}, {10 * time.Millisecond, 10 * ms},
		{99 * time.Millisecond, 10 * ms},
		{100 * time.Millisecond, 100 * ms}, {200 * time.Millisecond, 100 * ms}, {time.Second, 1000 * ms},
		{1500 * time.Millisecond, 1000 * ms}, {15 * time.Second, 1000 * ms},
	} {
		for _, at := range []ariadne.Time{0, 1, ms - 1, ms, 99*ms + 7, 999 * ms, 1000*ms - 1, 2000 * ms} {
			want := at + ariadne.Time(c.length)
			// Multiples of a grid are far apart: look for one from just before it on.
			want = first(max(want, (want/c.grid+1)*c.grid-2), c.grid)
			if got := ariadne.EndOf(at, c.length, 0); got != want {
				t.Errorf("%v from %v on: it ends at %v, want %v", c.length, at, got, want)
			}
			if got, full := ariadne.CoarseEndOf(at, c.length, 0),
				ariadne.EndOf(at, max(c.length, time.Second), 0); c.length >= time.Second && got != full ||
				got%(1000*ms) != 0 || got < want {
				t.Errorf("%v from %v on: it ended at %v in traces of old", c.length, at, got)
			}
		}
	}
	if ariadne.EndOf(7, ariadne.Ever, 0) != ariadne.Never || ariadne.CoarseEndOf(7, ariadne.Ever, 0) != ariadne.Never {
		t.Error("what never ends has an end")
	}
}

// TestDrawOfLengths: a fault that takes a node down lasts for one of the seldom lengths at times,
// and what was taken is a variation like any other.
func TestDrawOfLengths(t *testing.T) {
	run := func(in ariadne.Input) (out ariadne.Output) {
		c := ariadne.NewCourse(&in)
		for range 3 {
			c.At(1, "call", "", []string{"crash:1s", "crash:15s", "fail:EIO"})
		}
		out.Places = c.Places
		return out
	}
	seen := map[string]int{}
	for seed := range uint64(300) {
		d := ariadne.Draw{Kinds: []string{"fail", "crash"}, After: [][]int{{9}, {4, 9}},
			Seldom: [][]time.Duration{nil, {0, time.Millisecond}}, Seed: seed}
		in := ariadne.Input{Draw: &d}
		out := run(in)
		all := out.Variation().Choices()
		if len(all) != 1 || all[0].Place != "1/call#2" || !in.Takes(out.Places) {
			t.Fatalf("seed %d: varied by %q", seed, out.Variation())
		}
		seen[all[0].Alternative]++
		if again := run(ariadne.Input{Vary: out.Variation()}); again.Variation() != out.Variation() {
			t.Fatalf("%q comes to %q", out.Variation(), again.Variation())
		}
		if rest := d.Rest(&out); len(rest[1]) != 1 || rest[1][0] != 7 {
			t.Fatalf("seed %d: left are %v", seed, rest)
		}
	}
	if len(seen) != 3 || seen["crash:15s"] < 150 || seen["crash:0s"] == 0 || seen["crash:1ms"] == 0 {
		t.Errorf("drawn were %v", seen)
	}
	for _, no := range []ariadne.Variation{"stop:1s@1/call#2", "crash:1s+n2@1/call#2", "fail:ENOSPC@1/call#2"} {
		if out := run(ariadne.Input{Vary: no}); out.Variation() != "" {
			t.Errorf("%q, which the node does not have, came to %q", no, out.Variation())
		}
	}
}
