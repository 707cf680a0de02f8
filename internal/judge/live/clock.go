package live

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// ClockSample is a question for the common time, and its answer. The clocks may differ by any
// offset: only the order of the three moments is used.
type ClockSample struct {
	Sent, Received ariadne.Time // by the own clock
	Answered       ariadne.Time // by the common one, at some moment between them
	// Rate is by how much one of the two clocks is faster than the other at most, in ppm.
	Rate int
}

// Clock says what the common time of a watch was when the clock of one machine showed some time.
// It knows bounds, which are right whatever the offset of the clocks is and however long messages
// take. They are as far apart as a question took that was answered fast and recently.
type Clock struct {
	samples []ClockSample
	beats   map[ariadne.NodeID]ariadne.Time // common, of the last Beat
	polled  map[ariadne.NodeID]ariadne.Time // common, Polled of the last Beat
	events  map[ariadne.NodeID]ariadne.Time // common, the last At of another record
}

// samplesMax is how many samples a Clock keeps.
const samplesMax = 32

// Add adds a sample. It returns an error if no offset agrees with all samples: then the rates of
// the clocks differ by more than the samples say.
func (c *Clock) Add(s ClockSample) error {
	if s.Received < s.Sent {
		return fmt.Errorf("the clock of this machine went back by %v", time.Duration(s.Sent-s.Received))
	}
	if len(c.samples) == samplesMax {
		c.samples = append(c.samples[:0], c.samples[1:]...)
	}
	c.samples = append(c.samples, s)
	if least, most, _ := c.Offset(s.Received); least > most {
		return fmt.Errorf("the clocks of this machine and of the watch run at rates that differ by more than %d ppm",
			s.Rate)
	}
	return nil
}

// Offset returns bounds of what is to be added to a time of the own clock for the common time; ok:
// they are known.
func (c *Clock) Offset(own ariadne.Time) (least, most ariadne.Time, ok bool) {
	for i := range c.samples {
		s := &c.samples[i]
		away := max(own-s.Sent, s.Received-own, 0)
		drift := ariadne.Time(0)
		if s.Rate > 0 {
			drift = ariadne.Time(float64(away)*float64(s.Rate)/1e6) + 1
		}
		low, high := s.Answered-s.Received-drift, s.Answered-s.Sent+drift
		if i == 0 {
			least, most = low, high
		}
		least, most = max(least, low), min(most, high)
	}
	return least, most, len(c.samples) > 0
}

// Convert gives a record of the own clock the common time. Records of a node are converted in the
// order of their numbers. The common time must be known.
func (c *Clock) Convert(r *Record) {
	if c.beats == nil {
		c.beats, c.polled = map[ariadne.NodeID]ariadne.Time{}, map[ariadne.NodeID]ariadne.Time{}
		c.events = map[ariadne.NodeID]ariadne.Time{}
	}
	first := func(own ariadne.Time) ariadne.Time { least, _, _ := c.Offset(own); return own + least }
	last := func(own ariadne.Time) ariadne.Time { _, most, _ := c.Offset(own); return own + most }
	if r.Read != 0 {
		r.Read = last(r.Read)
	}
	if r.Kind == Beat {
		// What an earlier bound said stays true.
		polled := max(first(cmp.Or(r.Polled, r.At)), c.polled[r.Node])
		r.At = max(first(r.At), c.beats[r.Node])
		r.After, c.beats[r.Node], c.polled[r.Node] = r.At, r.At, polled
		if r.Polled != 0 {
			r.Polled = polled
		}
		return
	}
	// Everything up to the last Beat was told before.
	before := c.beats[r.Node]
	if r.Kind == Show && r.Channel == Polls {
		before = c.polled[r.Node]
	}
	r.After = max(first(r.After), before)
	r.At = max(last(r.At), r.After, c.events[r.Node])
	c.events[r.Node] = r.At
}
