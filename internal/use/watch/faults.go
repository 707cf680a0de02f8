package watch

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// faults say when a fault happens, and of which kind. Most bugs need a fault at the right moment:
// when a node has just become the leader, and nobody else has heard of it. A random time is hardly
// ever such a moment. Other bugs need several faults at once. So half of the faults come soon after
// another one. Of the others, half come soon after a node has shown something, half of these at
// that node. And half of the kills are strikes.
type faults struct {
	every   time.Duration // on average, or a little more
	kills   float64       // the share of kills
	random  *rand.Rand    // nil: there are none
	next    ariadne.Time  // when the next one comes, or waits for a node that shows something
	waits   bool          // it does, until next
	after   bool          // it comes after something that was shown
	follows bool          // it comes after another fault
	at      *watched      // the node that it hits; nil: any
	kind    faultKind
	strikes bool // a kill waits until the node is right behind a system call
}

const (
	// Times are drawn evenly over their orders of magnitude: nobody knows those that matter. A
	// fault comes so soon after something was shown, or after another fault:
	soonestFault, latestFault = time.Millisecond, time.Second
	// It lasts, unless the spec says it:
	shortestFault, longestFault = 50 * time.Millisecond, 6 * time.Second
	// rarestFaults bounds the average, so that a multiple of it is still a time.
	rarestFaults = 365 * 24 * time.Hour
)

// faultKind is the kind of a fault.
type faultKind uint8

const (
	killing faultKind = iota
	cutting
	faultKinds
)

var faultNames = [faultKinds]string{killing: "kill", cutting: "cut"}

// begin begins faults: of each kind one every so often, or none if that is 0.
func (f *faults) begin(every [faultKinds]time.Duration, seed uint64, now ariadne.Time) {
	var often [faultKinds]float64 // in a year
	for kind, d := range every {
		if d > 0 {
			often[kind] = max(float64(rarestFaults)/float64(d), 1)
		}
	}
	if all := often[killing] + often[cutting]; all > 0 {
		f.every, f.kills = time.Duration(float64(rarestFaults)/all), often[killing]/all
		f.random = rand.New(rand.NewPCG(seed, 0))
		f.next = now.Add(f.wait())
		f.draw()
	}
}

// draw draws which fault is next.
func (f *faults) draw() {
	f.kind = cutting
	if f.random.Float64() < f.kills {
		f.kind = killing
	}
	f.strikes = f.random.IntN(2) == 0 && f.kind == killing
}

// wait is a random time from a fault to the next one that does not follow it soon. There are half
// as many of these times as of faults.
func (f *faults) wait() time.Duration {
	return time.Duration(f.random.ExpFloat64() * 2 * float64(f.every))
}

// between draws a time, evenly over the orders of magnitude.
func (f *faults) between(least, most time.Duration) time.Duration {
	return time.Duration(float64(least) * math.Pow(float64(most)/float64(least), f.random.Float64()))
}

// shows tells that a node has shown something.
func (f *faults) shows(n *watched, now ariadne.Time) {
	if !f.waits {
		return
	}
	f.waits, f.after = false, true
	if f.next = now; !f.strikes {
		f.next = now.Add(f.between(soonestFault, latestFault))
	}
	if f.random.IntN(2) == 0 {
		f.at = n
	}
}

// due reports whether a fault is to happen now.
func (f *faults) due(now ariadne.Time) bool {
	switch {
	case f.random == nil || now < f.next:
		return false
	case !f.waits && !f.after && !f.follows && f.random.IntN(2) == 0:
		f.waits, f.next = true, now.Add(f.every) // nothing may be shown
		return false
	}
	return true
}

// done begins the time to the next fault.
func (f *faults) done(now ariadne.Time) {
	f.waits, f.after, f.at, f.follows = false, false, nil, f.random.IntN(2) == 0
	f.draw()
	if f.follows {
		f.next = now.Add(f.between(soonestFault, latestFault))
	} else {
		f.next = now.Add(f.wait())
	}
}
