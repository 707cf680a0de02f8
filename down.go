package ariadne

import (
	"fmt"
	"strings"
	"time"
)

// Down says what a fault has left of a node.
type Down uint8

const (
	Up        Down = iota
	Crashed        // its programs were killed; the machine, its kernel and its files live on
	Stopped        // the machine stands still: what is on its disks is all that is left
	Paused         // nothing is lost, but nothing of the node ran for some time, while its clock went on
	PowerLost      // as Stopped, and of what was not synced to its disks some may be gone
)

func (d Down) String() string { return [...]string{"up", "crash", "stop", "pause", "power"}[d] }

// Off reports whether the machine does not run: what is on its disks is all that is left.
func (d Down) Off() bool { return d == Stopped || d == PowerLost }

// Ever is how long a node is down that does not come back.
const Ever = time.Duration(-1)

// Outage is a fault that takes a node down, or pauses it.
type Outage struct {
	Down Down
	For  time.Duration // for how long, or Ever
	// With, of a crash, a stop or a loss of power, are the names of other nodes that go down with
	// the node, joined by plus signs.
	With string
}

// Kind implements NodeFault.
func (o Outage) Kind() string { return o.Down.String() }

// What says how long the outage lasts, as in 15s or ever, and names further nodes, as in 15s+n2+n3.
func (o Outage) What() string {
	what := FormatLength(o.For)
	if o.With != "" {
		what += "+" + o.With
	}
	return what
}

// OutageOf is a fault that takes a node down, or the zero Outage.
func OutageOf(f NodeFault) Outage {
	o, _ := f.(Outage)
	return o
}

// OutageIn is the fault that an alternative is, if that takes a node down, or the zero Outage.
func OutageIn(alternative string) Outage {
	kind := KindOf(alternative)
	for down := Crashed; down <= PowerLost; down++ {
		if kind == down.String() {
			f, _ := ParseNodeFault(alternative)
			return OutageOf(f)
		}
	}
	return Outage{}
}

func init() {
	for _, down := range []Down{Crashed, Stopped, Paused, PowerLost} {
		registerNodeFault(down.String(), func(what string) (NodeFault, error) {
			o, others := Outage{Down: down}, false
			if down != Paused {
				if what, o.With, others = strings.Cut(what, "+"); others && o.With == "" {
					return o, fmt.Errorf("no node stands after the plus sign")
				}
			}
			var err error
			o.For, err = ParseLength(what)
			return o, err
		})
	}
	inputOptions.add(faultOption(6, func(o Outage) bool { return o.With != "" },
		func(o Outage, b []byte) []byte { return appendText(b, o.With) },
		func(d *decoder, o Outage) Outage {
			if o.With = string(d.text()); o.Down == Up {
				d.fail(errCanonical)
			}
			return o
		}))
}

// FormatLength is the inverse of ParseLength.
func FormatLength(d time.Duration) string {
	if d == Ever {
		return "ever"
	}
	return d.String()
}

// ParseLength reads a length of time, or ever.
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

// Grid is how coarse the times are at which faults of a second and more end: a node is switched on
// again at a full second. So a fault that comes a bit later leaves the same state.
const Grid = Time(time.Second)

// EndOf is when a fault of some length is over that begins at time t: so much later, and then at
// the next full multiple of grid, that of Grid when it is 0. A fault that is shorter than the grid
// ends at a multiple of a finer one (Fine), so that a supervisor can restart a program at once. It
// is Never with Ever.
func EndOf(t Time, length time.Duration, grid Time) Time {
	return CoarseEndOf(t, length, Fine(length, grid))
}

// CoarseEndOf is EndOf as it was for short faults too: at a multiple of grid.
func CoarseEndOf(t Time, length time.Duration, grid Time) Time {
	if grid == 0 {
		grid = Grid
	}
	if t = t.Add(length); length == Ever || t >= Never-grid {
		return Never
	}
	return NextOn(t, grid)
}

// NextOn is the next full multiple of grid behind time t.
func NextOn(t, grid Time) Time { return t - t%grid + grid }

// Fine is the grid on which a fault of some length ends: a tenth, a hundredth or a thousandth of
// grid where the fault is shorter than the one before.
func Fine(length time.Duration, grid Time) Time {
	if grid == 0 {
		grid = Grid
	}
	if length == Ever {
		return grid
	}
	fine := grid
	for Time(length) < fine && fine > grid/1000 && fine%10 == 0 {
		fine /= 10
	}
	return fine
}
