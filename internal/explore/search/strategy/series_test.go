package strategy

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// TestRepeatedPathsDoNotCount: of a part that has so many paths, those that show nothing new are
// not counted, so that a small system is explored however often others come to what is known.
func TestRepeatedPathsDoNotCount(t *testing.T) {
	lostUpdate := lostUpdates(t, world.Rules{Latency: time.Millisecond, Delays: 1})
	p, err := space.NewPath(lostUpdate, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	seen, fresh := map[hash.Hash]bool{}, false
	news := func() News {
		if fresh {
			return NewLocal
		}
		return NothingNew
	}
	const paths = 10
	first := &Portfolio{News: news, Members: []*Member{{Explorer: &Walks{Seed: 1}}}}
	s := &Series{Parts: []Part{{first, paths}, {Explorer: &Natural{}}}}
	fruitful, all := 0, 0
	for {
		keep, ok := s.Begin(p)
		if !ok {
			t.Fatal("no path is left before the part has ended")
		}
		if len(s.Parts) == 1 {
			break
		}
		p.Cut(keep)
		any := false
		fresh = false
		for len(p.Last().Enabled) > 0 {
			event, ok := s.Next(p)
			if !ok {
				break
			}
			if err := p.Push(event); err != nil {
				t.Fatal(err)
			}
			h := p.Identity()
			fresh, seen[h] = !seen[h], true
			any = any || fresh
		}
		if err := s.End(p, Complete); err != nil {
			t.Fatal(err)
		}
		if all++; any {
			fruitful++
		}
	}
	if fruitful != paths || all == fruitful {
		t.Errorf("the part ended behind %d paths, of which %d showed something new, want %d of these and others", all, fruitful, paths)
	}
}
