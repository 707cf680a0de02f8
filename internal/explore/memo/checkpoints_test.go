package memo_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
)

// TestCheckpointsMove: checkpoints beyond the bound are kept if they rest on others, and move where
// memory is short, as far as there is room elsewhere. They come back and save replays, and nothing
// is left of them.
func TestCheckpointsMove(t *testing.T) {
	walk := func(pages *memotest.Pages, bytes int64) memo.Counts {
		m := open(t, memo.Options{})
		own := &memotest.Instances{Programs: chaos}
		limits := memo.Limits{Checkpoints: 4, Every: 1, Bytes: bytes}
		if pages != nil {
			limits.Pages = pages
		}
		x := memo.NewExecutor(m, own.Boot(), limits)
		l := m.Root(0)
		var way []*memo.Local
		for d := range 30 {
			tr, err := x.Transition(l, input(min(d, 1)))
			if err != nil {
				t.Fatal(err)
			}
			l = tr.To
			way = append(way, l)
		}
		for round := range 3 {
			for i := 2; i < len(way); i += 3 {
				if _, err := x.Transition(way[i], input(2+round)); err != nil {
					t.Fatal(err)
				}
			}
		}
		c := x.Counts()
		if pages != nil && pages.Held() > pages.Most {
			t.Errorf("%d pages are held", pages.Held())
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if own.Alive != 0 || own.Frozen != 0 || pages != nil && pages.Held() != 0 {
			t.Errorf("%d instances, %d checkpoints and some pages are left", own.Alive, own.Frozen)
		}
		if c.Mismatches != 0 {
			t.Errorf("%d mismatches", c.Mismatches)
		}
		return c
	}
	const short = 8000
	dropped := walk(nil, short)
	few, many := walk(&memotest.Pages{Most: 3}, short), walk(&memotest.Pages{Most: 100}, short)
	ample := walk(&memotest.Pages{Most: 100}, 0)
	t.Logf("replayed %d, with few pages %d, with many %d, with memory %d; moved %d and %d", dropped.Replayed,
		few.Replayed, many.Replayed, ample.Replayed, few.Moved, many.Moved)
	if dropped.Moved != 0 || few.Moved == 0 || many.Moved <= few.Moved || ample.Moved != 0 {
		t.Error("checkpoints are moved where memory is not short, or are not where it is")
	}
	if many.Replayed >= dropped.Replayed || many.Replayed >= few.Replayed || ample.Replayed > many.Replayed {
		t.Error("moving checkpoints does not save replays")
	}
}
