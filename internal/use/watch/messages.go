package watch

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
)

// traffic is what is known of each message of a node (watch: each_message). By it, events have the
// positions that were theirs when they happened. Without it they have those of the looks before and
// after.
type traffic struct {
	got      map[live.Stream]uint32 // what had been read before the messages
	messages []message              // of events that are still to be told of
}

// message is a step of a stream at a node: its position is that of probe.Message.
type message struct {
	at       ariadne.Time
	stream   live.Stream
	writes   bool
	position uint32
}

// hearMessage keeps a message of a node.
func (a *Agent) hearMessage(m probe.Message) {
	n := a.watchedAs(ariadne.NodeID(m.Node))
	if n == nil {
		return
	}
	stream := live.Stream{From: m.Remote, To: m.Local}
	if m.Writes {
		stream = live.Stream{From: m.Local, To: m.Remote}
	}
	n.messages = append(n.messages, message{native.FromKernel(m.At) - a.base, stream, m.Writes, m.Position})
}

// mostMessages is how many messages of a node are kept at most. Nothing is said by others.
const mostMessages = 1 << 18

// boundEvents gives the events of the agent's records, from one on, the positions that were theirs.
// now are positions that were read after all of them. No further event was before a time.
func (a *Agent) boundEvents(from int, now []*live.Positions, before ariadne.Time) {
	if !a.spec.Watch.EachMessage || now == nil {
		return
	}
	for _, n := range a.nodes {
		var events []*live.Record
		for i := range a.batch[from:] {
			r := &a.batch[from+i]
			if own := r.Node == n.def.ID; own && (r.Kind == live.Show || r.Kind == live.Up || r.Kind == live.Down) {
				events = append(events, r)
			}
		}
		if n.got == nil || len(n.messages) > mostMessages {
			n.got, n.messages = map[live.Stream]uint32{}, nil
		}
		n.bound(events, now[n.def.ID])
		// The next poll may tell of an event since the last one.
		n.forget(min(before, cmp.Or(a.polledUpTo(n), before)), now[n.def.ID])
	}
}

// bound gives events of the node the positions that were theirs.
func (t *traffic) bound(records []*live.Record, now *live.Positions) {
	slices.SortStableFunc(t.messages, func(a, b message) int { return cmp.Compare(a.at, b.at) })
	byAfter, byAt := slices.Clone(records), slices.Clone(records)
	slices.SortStableFunc(byAfter, func(a, b *live.Record) int { return cmp.Compare(a.After, b.After) })
	slices.SortStableFunc(byAt, func(a, b *live.Record) int { return cmp.Compare(b.At, a.At) })
	for _, r := range records {
		r.Positions, r.Read = &live.Positions{}, r.At
	}
	// What was read is counted forward, and what was written backward. A map is shared by the
	// events between which nothing was.
	got, next, shared := maps.Clone(t.got), 0, false
	for _, r := range byAfter {
		for ; next < len(t.messages) && t.messages[next].at <= r.After; next++ {
			if m := &t.messages[next]; !m.writes {
				if shared {
					got, shared = maps.Clone(got), false
				}
				got[m.stream] = m.position
			}
		}
		r.Positions.Got, shared = got, true
	}
	sent, next, shared := now.Sent, len(t.messages)-1, true
	for _, r := range byAt {
		for ; next >= 0 && t.messages[next].at > r.At; next-- {
			if m := &t.messages[next]; m.writes {
				if shared {
					sent, shared = maps.Clone(sent), false
				}
				sent[m.stream] = m.position
			}
		}
		r.Positions.Sent, shared = sent, true
	}
}

// forget leaves out what was before a time, before which no further event can have been, and the
// streams that are over: another connection between the same addresses counts from elsewhere.
func (t *traffic) forget(before ariadne.Time, now *live.Positions) {
	t.messages = slices.DeleteFunc(t.messages, func(m message) bool {
		if m.at > before {
			return false
		}
		if !m.writes {
			t.got[m.stream] = m.position
		}
		return true
	})
	maps.DeleteFunc(t.got, func(s live.Stream, _ uint32) bool {
		_, ok := now.Got[s]
		return !ok
	})
}
