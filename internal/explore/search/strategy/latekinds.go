package strategy

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// lateKinds are kinds of messages with which nodes read the clock. A path may have a thousand
// heartbeats and one request, so kinds are drawn and not messages. The first ones count, up to
// mostKinds.
type lateKinds struct {
	all     map[hash.Hash]*lateKind
	listed  []*lateKind // in the order in which they were met
	turning []*lateKind // those of which times are known
}

// lateKind is one of them.
type lateKind struct {
	of  *lateKinds
	met int // on the path so far
	// at are places on the last path that had so many: how many messages came before each.
	at    []int
	times []ariadne.Time // by which a message was late when its node did something else with it
}

const (
	mostKinds     = 512
	mostLateTimes = 8 // of one kind
)

// of is the kind of a message.
func (k *lateKinds) of(p *world.Packet) *lateKind {
	h := space.KindOf(p)
	kind := k.all[h]
	if kind == nil {
		kind = &lateKind{of: k}
		if k.all == nil {
			k.all = map[hash.Hash]*lateKind{}
		}
		if len(k.listed) < mostKinds {
			k.all[h], k.listed = kind, append(k.listed, kind)
		}
	}
	return kind
}

// begin begins a path.
func (k *lateKinds) begin() {
	for _, kind := range k.listed {
		kind.met = 0
	}
}

// meet counts a message, behind so many others of the path.
func (k *lateKind) meet(behind int) {
	if k.met == len(k.at) {
		k.at = append(k.at, 0)
	}
	k.at[k.met] = behind
	k.met++
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
	case slices.Contains(k.times, late):
	case len(k.times) < mostLateTimes:
		if len(k.times) == 0 {
			k.of.turning = append(k.of.turning, k)
		}
		k.times = append(k.times, late)
	default:
		k.times[d.below(mostLateTimes)] = late
	}
}
