package ariadne_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"

	"pgregory.net/rapid"
)

// FuzzVariation: what is a variation is the same when it is taken apart and joined, and stands in a
// line of a trace as one word.
func FuzzVariation(f *testing.F) {
	for _, s := range []string{"", "fail:EIO@7/fsync:/node/wal#2", "fail:EIO@1/a#1,fail:ENOSPC@2/b#1", "fail:EIO", "@",
		",", "a:b@c d", "a:b@%2", "a:b@%20"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := ariadne.Variation(s)
		if v.Check() != nil {
			return
		}
		joined := ariadne.Variation("")
		for _, c := range v.Choices() {
			if c.Kind() == "" || c.Place == "" {
				t.Errorf("%q has the choice %q", v, c)
			}
			joined = joined.And(c)
		}
		if joined != v {
			t.Errorf("%q joined is %q", v, joined)
		}
		if strings.ContainsAny(s, " \t\n\"") {
			t.Errorf("%q is not one word", v)
		}
	})
}

// TestCourse: the steps of a variation's tree are each varied as they are told, a draw comes
// to the same, and names of places tell them apart whatever they are made on.
func TestCourse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := rapid.SliceOfN(rapid.SampledFrom([]string{"", "/a", "/a b", "/a%20b", "/x,y@z\"", "ä", "%"}), 1,
			8).Draw(t, "objects")
		threads := rapid.SliceOfN(rapid.IntRange(1, 2), len(objects), len(objects)).Draw(t, "threads")
		run := func(in ariadne.Input) (out ariadne.Output) {
			c := ariadne.NewCourse(&in)
			for i, o := range objects {
				if c.At(threads[i], "call", o, []string{"fail:A", "fail:B"}) == "fail:B" {
					break // what follows is not there
				}
			}
			out.Places = c.Places
			return out
		}
		plain := run(ariadne.Input{})
		names := map[string]bool{}
		for _, p := range plain.Places {
			names[p.Name] = true
		}
		if len(names) != len(objects) || plain.Variation() != "" {
			t.Fatalf("%d names for %d places, varied by %q", len(names), len(objects), plain.Variation())
		}
		for i, c := range plain.More() {
			v := ariadne.Variation("").And(c)
			if err := v.Check(); err != nil {
				t.Fatal(err)
			}
			out := run(ariadne.Input{Vary: v})
			draw := func(after ...int) *ariadne.Draw {
				return &ariadne.Draw{Kinds: []string{"other", "fail"}, After: [][]int{{1}, after}}
			}
			drawn := run(ariadne.Input{Draw: draw(i + 1)})
			if out.Variation() != v || drawn.Variation() != v {
				t.Fatalf("varied by %q and %q, want %q", out.Variation(), drawn.Variation(), v)
			}
			for j, d := range out.More() {
				two := v.And(d)
				drawn := run(ariadne.Input{Draw: draw(i+1, j+1, 17)})
				if out := run(ariadne.Input{Vary: two}); out.Variation() != two || drawn.Variation() != two {
					t.Fatalf("varied by %q and %q, want %q", out.Variation(), drawn.Variation(), two)
				}
				if left := draw(i+1, j+1, 17).Rest(&drawn); len(left[0]) != 1 || len(left[1]) != 1 ||
					left[1][0] != 17-len(drawn.More()) {
					t.Fatalf("of 17 are left %v behind which %d come", left, len(drawn.More()))
				}
			}
			if c.Alternative == "fail:B" && len(out.More()) > 0 {
				t.Fatalf("after %q nothing follows, and there is %q", v, out.More())
			}
		}
	})
}

// TestDrawOfSeveralKinds: a place may have alternatives of several kinds: each is counted with
// those of its own kind, and none is taken for which nothing is counted.
func TestDrawOfSeveralKinds(t *testing.T) {
	run := func(d *ariadne.Draw) (out ariadne.Output) {
		c := ariadne.NewCourse(&ariadne.Input{Draw: d})
		for range 3 {
			c.At(1, "call", "", []string{"crash:1s", "crash:15s", "stop:1s", "stop:15s"})
		}
		out.Places = c.Places
		return out
	}
	for _, test := range []struct {
		draw ariadne.Draw
		want ariadne.Variation
		left []int // of each kind's first count, 0: none
	}{
		{ariadne.Draw{Kinds: []string{"crash"}, After: [][]int{{4}}}, "crash:15s@1/call#2", []int{0}},
		{ariadne.Draw{Kinds: []string{"crash"}, After: [][]int{{7}}}, "", []int{1}},
		{ariadne.Draw{Kinds: []string{"stop"}, After: [][]int{{3}}}, "stop:1s@1/call#2", []int{0}},
		{ariadne.Draw{Kinds: []string{"crash", "stop"}, After: [][]int{{9}, {2}}}, "stop:15s@1/call#1", []int{3, 0}},
		{ariadne.Draw{Kinds: []string{"stop", "crash"}, After: [][]int{{9}, {1}}}, "crash:1s@1/call#1", []int{5, 0}},
	} {
		out := run(&test.draw)
		left := make([]int, len(test.draw.After))
		for i, rest := range test.draw.Rest(&out) {
			if len(rest) > 0 {
				left[i] = rest[0]
			}
		}
		if got := out.Variation(); got != test.want || !slices.Equal(left, test.left) {
			t.Errorf("%+v: varied by %q, left %v; want %q, %v", test.draw, got, left, test.want, test.left)
		}
	}
}

// TestDrawAtSomeCalls: where a kind counts only at some calls, others are passed by.
func TestDrawAtSomeCalls(t *testing.T) {
	d := &ariadne.Draw{Kinds: []string{"crash", "fail"}, After: [][]int{{2}, {1}},
		Only: [][]string{{"fsync", "sync"}, nil}}
	c := ariadne.NewCourse(&ariadne.Input{Draw: d})
	var taken []string
	for _, call := range []string{"write", "fsync", "write", "sync"} {
		taken = append(taken, c.At(7, call, "/node/a:b", []string{"crash:1s", "fail:EIO"}))
	}
	if want := []string{"fail:EIO", "", "", "crash:1s"}; !slices.Equal(taken, want) {
		t.Errorf("%q, want %q", taken, want)
	}
	for place, want := range map[string]string{"7/fsync:/node/a:b#2": "fsync", "9@7/turn#1": "turn",
		"7/futex#3": "futex", "": ""} {
		if got := ariadne.CallOf(place); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}
