package check

import (
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// behaviour is what a check has seen for the first time, whatever its strategy: kinds of what nodes
// do, and the disks that machines left which stopped.
type behaviour struct {
	features strategy.Features

	mu    sync.Mutex // of all below
	kinds []time.Duration
	left  map[ariadne.Digest]bool
	disks []time.Duration
}

// lookAt looks at a transition at a time of the check, and returns a kind of behaviour that it
// shows first. Not ok: there is none.
func (b *behaviour) lookAt(by *memo.Transition, now time.Duration) (kind uint64, ok bool) {
	fresh, kind := b.features.Show(by.From.Node, by)
	disk := by.Output.Content
	if fresh == 0 && disk == (ariadne.Digest{}) {
		return 0, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for range fresh {
		b.kinds = append(b.kinds, now)
	}
	if disk != (ariadne.Digest{}) && !b.left[disk] {
		if b.left == nil {
			b.left = map[ariadne.Digest]bool{}
		}
		b.left[disk], b.disks = true, append(b.disks, now)
	}
	return kind, fresh > 0
}

// reportSightings says what was seen in a check that has taken so long.
func (b *behaviour) reportSightings(now time.Duration) (kinds, disks record.Sightings) {
	full := b.features.Full()
	b.mu.Lock()
	defer b.mu.Unlock()
	kinds, disks = sightings(b.kinds, now), sightings(b.disks, now)
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
