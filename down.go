package ariadne

import (
	"fmt"
	"strings"
	"time"
)

// Down says what a fault has left of a node.
type Down uint8

const (
	Up      Down = iota
	Crashed      // its programs were killed; the machine, its kernel and its files live on
	Stopped      // the machine stands still: what is on its disks is all that is left
	Paused       // nothing is lost, but nothing of the node ran for some time, while its clock went on
)

func (d Down) String() string { return [...]string{"up", "crash", "stop", "pause"}[d] }

// Ever is how long a node is down that does not come back.
const Ever = time.Duration(-1)

// Outage is a fault that takes a node down for some time, or pauses it.
type Outage struct {
	Down Down
	For  time.Duration // or Ever
}

// Alternative is the outage as an alternative to how a step goes: its kind, and for how long,
// as in crash:15s.
func (o Outage) Alternative() string { return o.Down.String() + ":" + o.Length() }

// Length is for how long it is, as in 15s or ever.
func (o Outage) Length() string {
	if o.For == Ever {
		return "ever"
	}
	return o.For.String()
}

// ParseOutage is the inverse of Alternative.
func ParseOutage(s string) (o Outage, err error) {
	kind, length, _ := strings.Cut(s, ":")
	switch kind {
	case Crashed.String():
		o.Down = Crashed
	case Stopped.String():
		o.Down = Stopped
	case Paused.String():
		o.Down = Paused
	default:
		return o, fmt.Errorf("%q is neither a crash nor a stop nor a pause", s)
	}
	o.For, err = ParseLength(length)
	return o, err
}

// ParseLength reads a length of time as Length writes it.
func ParseLength(s string) (time.Duration, error) {
	if s == "ever" {
		return Ever, nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("a time of %v is over before it begins", d)
	}
	return d, err
}

// Grid is how coarse the times are at which faults end: a node is switched on again at a full
// second. So a fault that comes a bit later leaves the same state.
const Grid = Time(time.Second)

// EndOf is when a fault of some length is over that begins at time t: so much later, and then at
// the next full multiple of grid, that of Grid when it is 0. It is Never with Ever.
func EndOf(t Time, length time.Duration, grid Time) Time {
	if grid == 0 {
		grid = Grid
	}
	if t = t.Add(length); length == Ever || t >= Never-grid {
		return Never
	}
	return t - t%grid + grid
}
