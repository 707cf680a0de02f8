package strategy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestFaultsAtEachSite: a fault at the first place of each site comes before one at the second
// place of any, however many places come before it on the path. None is left out.
func TestFaultsAtEachSite(t *testing.T) {
	d := &FewestDeviations{frontal: alone(newFrontier(1, &levels{}, 0))}
	d.frontier.take(nil) // the path without steps
	events := map[int32]string{}
	add := func(kind, place string) {
		e := world.Event{Varied: world.VariedBy(ariadne.Variation(kind + "@" + place))}
		n := int32(len(events))
		events[n] = kind + "@" + place
		d.frontier.addOne(d.levelOfFault(0, &e), 0, n)
	}
	for i := range 200 {
		add("crash:1s", fmt.Sprintf("1/write/before:/node/log#%d", i))
	}
	add("crash:1s", "1/rename/before:/node/new#1")
	for i := range 3 {
		add("stop:1s", fmt.Sprintf("1/write/before:/node/log#%d", i))
	}
	d.frontier.add(levelsEach, 0, 1000, 1001) // an event that is late
	var got []string
	for range len(events) + 1 {
		batch, _, ok := d.frontier.take(nil)
		if !ok || len(batch) != 1 {
			t.Fatalf("%d of %d are taken", len(got), len(events)+1)
		}
		got = append(got, events[d.frontier.tree.nodes[batch[0]].event])
	}
	want := []string{"crash:1s@1/write/before:/node/log#0", "crash:1s@1/rename/before:/node/new#1",
		"stop:1s@1/write/before:/node/log#0", "crash:1s@1/write/before:/node/log#1"}
	if !slices.Equal(got[:len(want)], want) {
		t.Errorf("the first are %q, want %q", got[:len(want)], want)
	}
	if got[len(got)-1] != "" {
		t.Errorf("the last is %q, want the event that is late", got[len(got)-1])
	}
	slices.Sort(got)
	if len(slices.Compact(got)) != len(events)+1 {
		t.Errorf("of %d, some are taken twice", len(events)+1)
	}
}
