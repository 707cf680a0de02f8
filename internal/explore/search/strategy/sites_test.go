package strategy

import (
	"fmt"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestAimedFaults: faults are aimed at each site once before they are aimed at one twice, and then
// strike at any of its places.
func TestAimedFaults(t *testing.T) {
	var search Features
	var by memo.Transition
	for i := range 500 { // one site with most of the places, and ten with one
		name := fmt.Sprintf("1/read/before:/node/%d#1", i)
		if i%50 == 7 {
			name = fmt.Sprintf("1/rename/before:/node/%c#1", 'a'+i/50)
		}
		by.Output.Places = append(by.Output.Places, ariadne.Place{Name: name, Alternatives: []string{"crash:1s"}})
	}
	search.sites.see(placed{}, &by)
	aims, first, struck := map[string]int{}, 0, map[int]bool{}
	for index := range 1600 {
		var c chance
		c.begin([]ariadne.ActionKind{world.Crash},
			origin{seed: 5, index: index, length: 100, weights: &unweighted, features: &search})
		if len(c.kinds) == 0 || c.strike.spares == 0 {
			continue
		}
		l := &c.kinds[0]
		if aims[l.Only[0]]++; first == 0 && aims[l.Only[0]] > 1 {
			first = len(aims)
		}
		if l.Only[0] == "read/before:/node/0" {
			struck[l.After[0]] = true
		} else if l.After[0] != 1 {
			t.Fatalf("a fault is aimed at alternative %d of a site with one", l.After[0])
		}
	}
	if len(aims) != 11 || first != 11 {
		t.Errorf("faults were aimed at %d of 11 sites, and at one of them again after %d", len(aims), first)
	}
	if len(struck) < aims["read/before:/node/0"]*3/4 {
		t.Errorf("%d faults at the site with many places strike at %d of these", aims["read/before:/node/0"], len(struck))
	}
	search.without.Sites = true
	for index := range 100 {
		var c chance
		c.begin([]ariadne.ActionKind{world.Crash},
			origin{seed: 5, index: index, length: 100, weights: &unweighted, features: &search})
		if c.strike.spares != 0 {
			t.Fatal("a fault is aimed without that part")
		}
	}
}
