package live

import (
	"testing"

	"github.com/ariadne-mc/ariadne"

	"pgregory.net/rapid"
)

// TestClock: whatever the offset of two clocks is, their rates up to a bound, and how long
// questions take on either way, the common time of each event lies between the bounds that a Clock
// gives, and that of a Beat is not before it.
func TestClock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const rate = 1000
		offset := rapid.Int64Range(-1e15, 1e15).Draw(t, "offset")
		faster := rapid.Float64Range(-rate, rate).Draw(t, "ppm")
		own := func(common int64) ariadne.Time {
			return ariadne.Time(offset + common + int64(float64(common)*faster/1e6))
		}
		var c Clock
		now := int64(0)
		pass := func(name string, most int64) int64 {
			now += rapid.Int64Range(1, most).Draw(t, name)
			return now
		}
		var lastBeat, lastPolled, lastAt ariadne.Time
		for i := range rapid.IntRange(1, 80).Draw(t, "steps") {
			if i == 0 || rapid.Bool().Draw(t, "asks") {
				sent := pass("to wait", 1e9)
				answered := pass("to get there", 1e6)
				received := pass("to come back", 1e6)
				if err := c.Add(ClockSample{Sent: own(sent), Received: own(received), Answered: ariadne.Time(answered),
					Rate: rate + 2}); err != nil {
					t.Fatal(err)
				}
				continue
			}
			begin := pass("begin", 1e8)
			at := pass("at", 1e6)
			r := Record{Kind: Show, After: own(begin), At: own(at)}
			told := lastBeat
			switch rapid.SampledFrom([]string{"beat", "poll", "call"}).Draw(t, "what") {
			case "beat":
				r.Kind, r.After, r.Polled = Beat, r.At, own(begin)
			case "poll":
				r.Channel, told = Polls, lastPolled
			}
			c.Convert(&r)
			switch {
			case r.Kind == Beat && (r.Polled > ariadne.Time(begin) || r.Polled < lastPolled):
				t.Fatalf("polls at %d are given the time %d, after %d", begin, r.Polled, lastPolled)
			case r.Kind == Beat && r.At > ariadne.Time(at):
				t.Fatalf("a beat at %d is given the time %d", at, r.At)
			case r.Kind == Beat && r.At < lastBeat:
				t.Fatalf("a beat at %d comes after one at %d", r.At, lastBeat)
			case r.Kind != Beat && (r.After > ariadne.Time(begin) && r.After > told || r.At < ariadne.Time(at)):
				t.Fatalf("an event between %d and %d is given %d to %d", begin, at, r.After, r.At)
			case r.Kind != Beat && r.At < lastAt:
				t.Fatalf("an event at %d comes after one at %d", r.At, lastAt)
			}
			if r.Kind == Beat {
				lastBeat, lastPolled = r.At, r.Polled
			} else {
				lastAt = r.At
			}
		}
	})
}

// TestClockContradiction: clocks whose rates differ too much are noticed.
func TestClockContradiction(t *testing.T) {
	var c Clock
	for i := range ariadne.Time(10) {
		at := i * 1e9
		if err := c.Add(ClockSample{Sent: at, Received: at + 1000, Answered: at + at/100, Rate: 1000}); err != nil {
			return
		}
	}
	t.Error("a clock that is 1 % faster is not noticed")
}
