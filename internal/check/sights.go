package check

import (
	"sync"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/record"
	"ariadne/internal/search/strategy"
)

// sights are what a check has seen for the first time, whatever its strategy: kinds of what nodes do, and the disks that
// machines left which stopped.
type sights struct {
	features strategy.Features

	mu    sync.Mutex // of all below
	kinds []time.Duration
	left  map[ariadne.Digest]bool
	disks []time.Duration
}

// look looks at a transition at a time of the check, and returns a kind of behaviour that it shows first. Not ok: there is none.
func (s *sights) look(by *memo.Transition, now time.Duration) (kind uint64, ok bool) {
	fresh, kind := s.features.Show(by.From.Node, by)
	disk := by.Output.Content
	if fresh == 0 && disk == (ariadne.Digest{}) {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range fresh {
		s.kinds = append(s.kinds, now)
	}
	if disk != (ariadne.Digest{}) && !s.left[disk] {
		if s.left == nil {
			s.left = map[ariadne.Digest]bool{}
		}
		s.left[disk], s.disks = true, append(s.disks, now)
	}
	return kind, fresh > 0
}

// report says what was seen in a check that has taken so long.
func (s *sights) report(now time.Duration) (kinds, disks record.Sightings) {
	full := s.features.Full()
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds, disks = sightings(s.kinds, now), sightings(s.disks, now)
	kinds.Full = full
	return kinds, disks
}

func sightings(at []time.Duration, now time.Duration) record.Sightings {
	n := record.Sightings{Seen: len(at)}
	for _, t := range at {
		if t > now-now/10 {
			n.Late++
		}
	}
	return n
}
