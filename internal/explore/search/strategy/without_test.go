package strategy

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestNamedWithout: the name of a strategy takes parts away that it has, and no others.
func TestNamedWithout(t *testing.T) {
	for name, want := range map[string]Without{
		"default":                             {},
		"default:-novelty":                    {Novelty: true},
		"default:-moments,-together,-novelty": {Moments: true, Together: true, Novelty: true},
		"slow:-sites":                         {Sites: true},
		"slow:-together":                      {Together: true},
		"priorities:-moments,-together":       {Moments: true, Together: true},
	} {
		if r, ok := Named(name); !ok || r.Without != want {
			t.Errorf("%s: %+v, %v", name, r.Without, ok)
		}
	}
	for name, why := range map[string]string{
		"default:":               `strategy default: the parts to leave out are -moments,-together,-sites,-novelty, not ""`,
		"default:moments":        `-novelty, not "moments"`,
		"slow:-novelty":          `-sites, not "-novelty"`,
		"breadth-first:-novelty": "has no parts to leave out",
		"best:-novelty":          "unknown strategy",
	} {
		if r, ok := Named(name); ok {
			t.Errorf("%s: %+v", name, r)
		} else if err := Unknown(name); !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDefaultWithoutNovelty: the default strategy has a share for novelty unless its name takes it
// away.
func TestDefaultWithoutNovelty(t *testing.T) {
	has := func(name string) (novelty bool) {
		r, _ := Named(name)
		b := &Builder{Workers: 2, Without: r.Without, Bytes: 1 << 20,
			News:     func(int) func() News { return func() News { return NothingNew } },
			Combined: func(int) func(*space.Path) bool { return nil }}
		for _, e := range r.Make(b) {
			if s, ok := e.(*Series); ok {
				e = s.Parts[1].Explorer
			}
			for _, m := range e.(*Portfolio).Members {
				novelty = novelty || m.Tally.Name == "novelty"
			}
		}
		return novelty
	}
	if !has("default") || has("default:-novelty") {
		t.Error("novelty is there when it should not be, or is not when it should")
	}
}

// TestWithoutMoments: who goes without moments waits for none and skips no steps.
func TestWithoutMoments(t *testing.T) {
	waits := func(w Without) (moments int) {
		for index := range 1000 {
			var c chance
			c.begin([]ariadne.ActionKind{world.Fail},
				origin{seed: 3, index: index, length: 300, weights: &unweighted, features: &Features{without: w}})
			d := newDraw(3, index)
			if wait := c.moments.draw(&d, 300); wait.moments > 0 && wait.moments < 1<<32 {
				moments++
			}
			if c.strike.again(&space.Frame{}, &c.moments, 300); !c.every || !c.strike.every {
				moments++
			}
		}
		return moments
	}
	if with, without := waits(Without{}), waits(Without{Moments: true}); with < 500 || without != 0 {
		t.Errorf("%d and %d of 1000 paths wait for moments", with, without)
	}
}

// TestWithoutTogether: who goes without faults that come together has none follow another one on
// the same node.
func TestWithoutTogether(t *testing.T) {
	together := func(w Without) (follow, close int) {
		for index := range 1000 {
			var c chance
			o := origin{seed: 3, index: index, length: 300, weights: &unweighted, features: &Features{without: w}}
			if c.begin(nil, o); c.strike.follows {
				follow++
			}
			s := &space.State{}
			s.Nodes = make([]world.NodeState, 8)
			c.strike.some = true
			c.hits(7, 0)
			if c.follow(s); c.strike.wait.node == 7 {
				close++
			}
		}
		return follow, close
	}
	if follow, close := together(Without{}); follow < 400 || close < 200 {
		t.Errorf("of 1000 paths %d have faults on one node, %d have a second one soon", follow, close)
	}
	if follow, close := together(Without{Together: true}); follow != 0 || close != 0 {
		t.Errorf("of 1000 paths without that %d have faults on one node, %d have a second one soon", follow, close)
	}
}
