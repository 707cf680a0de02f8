package search

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// TestAims: when a walk is live, or too late, is what within and stable_for say of the times at
// which what must happen was true.
func TestAims(t *testing.T) {
	ends := map[string]int{}
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			g := property.Goal{Within: time.Duration(rapid.IntRange(0, 6).Draw(t, "within")),
				StableFor: time.Duration(rapid.IntRange(0, 4).Draw(t, "stable"))}
			type at struct {
				now   ariadne.Time
				holds bool
			}
			var all []at
			now := ariadne.Time(rapid.IntRange(0, 3).Draw(t, "start"))
			for range rapid.IntRange(1, 8).Draw(t, "frames") {
				all = append(all, at{now, rapid.Bool().Draw(t, "holds")})
				now += ariadne.Time(rapid.IntRange(0, 3).Draw(t, "later"))
			}
			deadline := all[0].now.Add(g.Within)
			inTime := func(from int) bool { return g.Within == 0 || all[from].now <= deadline }
			// By definition: it was true from some state on, for long enough, or is for ever where
			// nothing happens any more. It is too late in the first state behind the time in which
			// it is not true since before.
			want, quiet := "", rapid.Bool().Draw(t, "quiet")
			for i := 0; i < len(all) && want == ""; i++ {
				for from := range i + 1 {
					to := from
					for to < i && all[to].holds {
						to++ // the first state in which it is not true, or the last of all
					}
					if all[from].holds && inTime(from) && all[to].now >= all[from].now.Add(g.StableFor) {
						want = "live"
					}
				}
				if want == "" && g.Within > 0 && all[i].now > deadline {
					from := i
					for from > 0 && all[from].holds && all[from-1].holds {
						from--
					}
					if !all[i].holds || !inTime(from) {
						want = "late"
					}
				}
				if want == "" && quiet && i == len(all)-1 && all[i].holds {
					want = "live"
				}
			}
			a, got := aims{goals: []property.Goal{g}, left: 1}, ""
			for i, s := range all {
				f := space.Frame{}
				if f.State.Now = s.now; !s.holds {
					f.Waits = 1
				}
				if a.lookAt(&f); quiet && i == len(all)-1 {
					a.enterEnd()
				}
				if a.left == 0 {
					got = "live"
				} else if a.late != 0 {
					got = "late"
				}
				if got != "" {
					break
				}
			}
			if got != want {
				t.Fatalf("%+v of %v (quiet: %v): %q, want %q", g, all, quiet, got, want)
			}
			ends[got]++
		})
	}
	if ends["live"] == 0 || ends["late"] == 0 || ends[""] == 0 {
		t.Errorf("%v", ends)
	}
}
