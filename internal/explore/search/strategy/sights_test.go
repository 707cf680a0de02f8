package strategy

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestSightsOfCutPaths: what a path that was cut and went on has shown is what the same path shows
// when it is read from its beginning, and a sight is new once.
func TestSightsOfCutPaths(t *testing.T) {
	lostUpdate := lostUpdates(t,
		world.Rules{Latency: time.Millisecond, Delays: 2, Faults: worldtest.Faults("crash", 2)})
	rapid.Check(t, func(t *rapid.T) {
		p, err := space.NewPath(lostUpdate, space.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		var c Features
		var s sights
		for range rapid.IntRange(1, 10).Draw(t, "parts") {
			keep := rapid.IntRange(0, p.Len()).Draw(t, "keep")
			p.Cut(keep)
			s.cut(keep)
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				if len(p.Last().Enabled) == 0 {
					break
				}
				if err := p.Push(rapid.IntRange(0, len(p.Last().Enabled)-1).Draw(t, "event")); err != nil {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "read") {
					s.read(p, &c)
				}
			}
			s.read(p, &c)
			var whole sights
			if _, news := whole.read(p, &c); news {
				t.Fatal("the same path has shown something new when it was read again")
			}
			if !maps.Equal(s.counts, whole.counts) || !slices.Equal(s.all, whole.all) ||
				!slices.Equal(s.ends, whole.ends) {
				t.Fatalf("read in parts: %v, want %v", s.all, whole.all)
			}
		}
	})
}

// TestSightsTellTimesApart: the second time is another sight than the first one, the fifth is not,
// and what a node does after it was struck is its own.
func TestSightsTellTimesApart(t *testing.T) {
	var c Features
	fresh := func(n int, life uint64) bool {
		return c.sight(mixed(mixed(feature(1, 'l'), life), uint64(n)))
	}
	for n := 1; n <= 16; n++ {
		if often(n) {
			if n < 5 || n == 8 || n == 16 {
				t.Errorf("%d times are often", n)
			}
			continue
		}
		if !fresh(n, 0) || fresh(n, 0) || !fresh(n, 1) {
			t.Errorf("the sight of %d times is not new once", n)
		}
	}
}
