package watch

import (
	"maps"
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"

	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// TestTraffic: whatever messages and events there are, and however often the agent looks, an event
// has the positions that a count of all messages gives it.
func TestTraffic(t *testing.T) {
	stream := func(i int) live.Stream {
		return live.Stream{From: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 1}), uint16(i)),
			To: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), 1)}
	}
	bounded := 0
	rapid.Check(t, func(t *rapid.T) {
		tr := traffic{got: map[live.Stream]uint32{}}
		streams := rapid.IntRange(1, 3).Draw(t, "streams")
		// What programs have written and read of each stream so far, and all messages.
		written, read := map[live.Stream]uint32{}, map[live.Stream]uint32{}
		var all []message
		clock, looked := ariadne.Time(0), ariadne.Time(0)
		for i := range streams {
			written[stream(i)] = ^uint32(0) - 3
			clock++
			m := message{clock, stream(i), false, ^uint32(0) - 3}
			read[m.stream] = m.position
			all, tr.messages = append(all, m), append(tr.messages, m)
		}
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			var events []*live.Record
			for range rapid.IntRange(0, 12).Draw(t, "steps") {
				clock++
				s := stream(rapid.IntRange(0, streams-1).Draw(t, "stream"))
				switch rapid.SampledFrom([]string{"write", "read", "call", "line"}).Draw(t, "what") {
				case "write":
					m := message{clock, s, true, written[s]}
					written[s] += uint32(rapid.IntRange(1, 3).Draw(t, "bytes"))
					all, tr.messages = append(all, m), append(tr.messages, m)
				case "read":
					read[s] += uint32(rapid.IntRange(1, 3).Draw(t, "bytes"))
					m := message{clock, s, false, read[s]}
					all, tr.messages = append(all, m), append(tr.messages, m)
				case "call":
					events = append(events, &live.Record{Kind: live.Show, After: clock, At: clock})
				case "line":
					events = append(events, &live.Record{Kind: live.Show, After: looked, At: clock})
				}
			}
			clock++
			now := &live.Positions{Sent: maps.Clone(written), Got: maps.Clone(read)}
			tr.bound(events, now)
			tr.forget(clock, now)
			for _, e := range events {
				want := &live.Positions{Sent: maps.Clone(written), Got: map[live.Stream]uint32{}}
				for _, m := range all {
					if m.at <= e.After && !m.writes {
						want.Got[m.stream] = m.position
					}
				}
				for i := len(all) - 1; i >= 0 && all[i].at > e.At; i-- {
					if m := all[i]; m.writes {
						want.Sent[m.stream] = m.position
					}
				}
				if !maps.Equal(e.Positions.Sent, want.Sent) || !maps.Equal(e.Positions.Got, want.Got) || e.Read != e.At {
					t.Fatalf("event from %v to %v has %v at %v, want %v", e.After, e.At, e.Positions, e.Read, want)
				}
				if !maps.Equal(want.Sent, written) || !maps.Equal(want.Got, read) {
					bounded++
				}
			}
			looked = clock
		}
		if len(tr.messages) > 0 {
			t.Fatalf("%d messages are kept", len(tr.messages))
		}
		tr.forget(clock, &live.Positions{})
		if len(tr.got) > 0 {
			t.Fatalf("streams that are over are kept: %v", tr.got)
		}
	})
	if bounded == 0 {
		t.Error("no event has other positions than those of the look: the test tries too little")
	}
}
