package strategy

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// lostUpdates is the space of a small system that loses an update, until the test ends.
func lostUpdates(t *testing.T, rules world.Rules) *space.Space {
	y := world.NewSystem(rules, worldtest.Nodes(worldtest.LostUpdate()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: worldtest.LostUpdate}).Boot(), memo.Limits{Checkpoints: 20})
	t.Cleanup(func() { x.Close() })
	return space.New(y, m, x)
}

// TestNoveltyForgets: what has led on often is forgotten when there is no room, and walks
// go on from the rest.
func TestNoveltyForgets(t *testing.T) {
	lostUpdate := lostUpdates(t, world.Rules{Latency: time.Millisecond, Delays: 2})
	p, err := space.NewPath(lostUpdate, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	w := &Novelty{New: func(*space.Path) bool { return true }, Bytes: 5000, Features: &Features{}}
	most, forgot, pooled := 0, false, 0
	for range 300 {
		keep, _ := w.Begin(p)
		w.begins(true, keep)
		if p.Cut(keep); len(w.now.prefix) > 0 {
			pooled++
		}
		for len(p.Last().Enabled) > 0 {
			before := len(w.pool)
			event, _ := w.Next(p)
			if err := p.Push(event); err != nil {
				t.Fatal(err)
			}
			w.learn(p)
			sum := int64(0)
			for i := range w.pool {
				sum += w.pool[i].bytes()
			}
			if sum != w.bytes || sum > w.Bytes {
				t.Fatalf("%d bytes, %d counted", sum, w.bytes)
			}
			most, forgot = max(most, len(w.pool)), forgot || before > 0 && len(w.pool) <= before
		}
	}
	if most < 20 || !forgot || pooled < 100 {
		t.Errorf("up to %d beginnings, %d walks from them", most, pooled)
	}
}
