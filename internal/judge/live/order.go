package live

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// event is a change of what a property reads, at one node.
type event struct {
	*Record
	place uint64 // of the node's events, from 1
	stamp Stamp
	// got is a lower bound of the node's positions when the event happened, and sent an upper one;
	// nil: none is known.
	got, sent *Positions
	away      bool         // with Down: not the node, but its agent is known to be gone
	next      ariadne.Time // At of the node's next event, or ariadne.Never
}

// order says what is known of the order of events of different nodes.
type order struct {
	// clockError is by how much clocks of two agents differ at most.
	clockError ariadne.Time
}

// before reports whether a has certainly happened before b. Events of a node are in the order of
// their numbers. Of different nodes, a did if it was over, by the clocks, when b could begin; or if
// b's node had then read more of a stream than a's node had sent when a was over.
func (o *order) before(a, b *event) bool {
	switch {
	case a.Node == b.Node && (a.Channel == b.Channel || a.Kind != Show || b.Kind != Show):
		return a.place < b.place
	case a.Node == b.Node:
		return a.At < b.After
	case a.At+o.clockError < b.After:
		return true
	}
	return heard(a, b)
}

// heard reports whether b's node had read, before b, something that a's node sent after a.
func heard(a, b *event) bool {
	if a.sent == nil || b.got == nil || a.sent.Counted != b.got.Counted {
		return false
	}
	for s, got := range b.got.Got {
		if sent, ok := a.sent.Sent[s]; ok && ahead(got, sent) {
			return true
		}
	}
	return false
}

// divides reports whether all events of one list have certainly happened before all of another one:
// then there was a moment between them. Both are short: only events that are close in time are
// there. A lost event may have happened before an event of the same node that was told earlier.
func (o *order) divides(early, late []*event) bool {
	for _, a := range early {
		for _, b := range late {
			if !o.before(a, b) || a.Node == b.Node && b.Kind == Lost && a.At > b.After {
				return false
			}
		}
	}
	return true
}

// inversion is a message that was read before it was sent, by the clocks: the event after which it
// was sent is later than the one before which it was read.
type inversion struct{ sent, read *event }

// first returns the place of an event that can come first: none of the others is certainly before
// it. It is the earliest by the clocks, unless messages say that another one was before it. Then
// inverted, if it is not nil, says by how much the clocks are wrong at least.
func (o *order) first(pending []*event) (place int, inverted *inversion) {
	for k, e := range pending {
		if earlier(e, pending[place]) {
			place = k
		}
	}
	for range pending { // no event is before itself, however often that is followed
		e := pending[place]
		k := slices.IndexFunc(pending, func(f *event) bool {
			return f != e && (f.Node == e.Node && o.before(f, e) || f.Node != e.Node && heard(f, e))
		})
		if k < 0 {
			break
		}
		f := pending[k]
		if by := f.After - e.At; f.Node != e.Node && by > 0 &&
			(inverted == nil || by > inverted.sent.After-inverted.read.At) {
			inverted = &inversion{f, e}
		}
		place = k
	}
	return place, inverted
}

func earlier(a, b *event) bool {
	if a.At != b.At {
		return a.At < b.At
	}
	return a.Node < b.Node || a.Node == b.Node && a.place < b.place
}
