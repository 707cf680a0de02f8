package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// lateKinds are kinds of messages with which nodes read the clock. A path may have a thousand
// heartbeats and one request, so kinds are drawn and not messages. The first ones count, up to
// mostKinds.
type lateKinds struct {
	all     map[hash.Hash]*lateKind
	listed  []*lateKind // in the order in which they were met
	turning []*lateKind // those of which times are known
	read    int         // of space.Sample.Turning
}

// lateKind is one of them.
type lateKind struct {
	of        *lateKinds     // nil: it is one of those that do not count
	met, most int            // on the path so far, and on a path before
	times     []ariadne.Time // by which a message was late when its node did something else with it
}

const (
	mostKinds     = 512
	mostLateTimes = 8 // of one kind
)

// of is a kind by its name (space.KindOf).
func (k *lateKinds) of(h hash.Hash) *lateKind {
	kind := k.all[h]
	if kind == nil {
		kind = &lateKind{}
		if k.all == nil {
			k.all = map[hash.Hash]*lateKind{}
		}
		if len(k.listed) < mostKinds {
			kind.of, k.all[h], k.listed = k, kind, append(k.listed, kind)
		}
	}
	return kind
}

// begin begins a path. It takes over what a sample has found since the path before.
func (k *lateKinds) begin(s *space.Sample, d *draw) {
	for _, kind := range k.listed {
		kind.met = 0
	}
	if s != nil {
		for _, t := range s.Turning(k.read) {
			k.of(t.Kind).turns(t.Late, d)
			k.read++
		}
	}
}

// end ends it.
func (k *lateKinds) end() {
	for _, kind := range k.listed {
		kind.most = max(kind.most, kind.met)
	}
}

// draw draws a kind, or returns nil if none is known. Three in four are among those of which times
// are known.
func (k *lateKinds) draw(d *draw) *lateKind {
	among := k.listed
	if len(k.turning) > 0 && d.below(4) > 0 {
		among = k.turning
	}
	if len(among) == 0 {
		return nil
	}
	return among[d.below(len(among))]
}

// turns enters that a node does something else with a message that is late by a time.
func (k *lateKind) turns(late ariadne.Time, d *draw) {
	switch {
	case k.of == nil, slices.Contains(k.times, late):
	case len(k.times) < mostLateTimes:
		if len(k.times) == 0 {
			k.of.turning = append(k.of.turning, k)
		}
		k.times = append(k.times, late)
	default:
		k.times[d.below(mostLateTimes)] = late
	}
}
