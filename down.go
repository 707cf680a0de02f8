package ariadne

import (
	"fmt"
	"strconv"
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

// NodeFault is a fault that befalls a node: it takes it down or pauses it, sets its clock or has its clocks
// run at another speed, or kills one of its processes.
type NodeFault struct {
	Down  Down
	For   time.Duration // with Down: for how long, or Ever
	Jump  time.Duration // by how much the real-time clock is set forward; back when it is negative
	Drift int           // by how many parts per million its clocks run faster from here on; slower when it is negative
	Kill  string        // the process that is killed, as in Output.Processes
	// With, of a crash, a stop or a loss of power, are the names of other nodes that go down with the node, joined by
	// plus signs.
	With string
}

// The names of faults that befall a node and leave it Up.
const (
	Jumped  = "jump"
	Drifted = "drift"
	Killed  = "kill"
)

// Kind is what kind of fault it is.
func (f NodeFault) Kind() string {
	switch {
	case f.Jump != 0:
		return Jumped
	case f.Drift != 0:
		return Drifted
	case f.Kill != "":
		return Killed
	}
	return f.Down.String()
}

// Alternative is the fault as an alternative to how a step goes, as in crash:15s.
func (f NodeFault) Alternative() string { return f.Kind() + ":" + f.What() }

// What is the fault among those of its kind, as in 15s or ever of what takes a node down (of several
// 15s+n2+n3), +30s of a jump, +100ppm of a drift, or server#2.
func (f NodeFault) What() string {
	switch {
	case f.With != "":
		return NodeFault{For: f.For}.What() + "+" + f.With
	case f.Kill != "":
		return f.Kill
	case f.Jump > 0:
		return "+" + f.Jump.String()
	case f.Jump < 0:
		return f.Jump.String()
	case f.Drift != 0:
		return fmt.Sprintf("%+d%s", f.Drift, ppm)
	case f.For == Ever:
		return "ever"
	}
	return f.For.String()
}

// ParseNodeFault is the inverse of Alternative.
func ParseNodeFault(s string) (f NodeFault, err error) {
	kind, what, _ := strings.Cut(s, ":")
	switch kind {
	case Paused.String():
		f.Down = Paused
	case Crashed.String(), Stopped.String(), PowerLost.String():
		f.Down = map[string]Down{Crashed.String(): Crashed, Stopped.String(): Stopped, PowerLost.String(): PowerLost}[kind]
		others := false
		if what, f.With, others = strings.Cut(what, "+"); others && f.With == "" {
			return f, fmt.Errorf("no node stands after the plus sign")
		}
	case Jumped:
		f.Jump, err = ParseJump(what)
		return f, err
	case Drifted:
		f.Drift, err = ParseDrift(what)
		return f, err
	case Killed:
		if f.Kill = what; what == "" || Plain(what) != what {
			err = fmt.Errorf("%q is no process", what)
		}
		return f, err
	default:
		return f, fmt.Errorf("%q befalls no node", s)
	}
	f.For, err = ParseLength(what)
	return f, err
}

// ParseJump reads by how much a clock is set, as in +1h or -30s.
func ParseJump(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && (d == 0 || s[0] != '+' && s[0] != '-') {
		err = fmt.Errorf("%q is no jump: want a sign and a time, as in +1h or -30s", s)
	}
	return d, err
}

// ppm is the unit of how fast clocks run.
const ppm = "ppm"

// ParseDrift reads by how much a clock runs faster, or slower, as in +100ppm or -50ppm.
func ParseDrift(s string) (int, error) {
	digits, ok := strings.CutSuffix(s, ppm)
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n == 0 || fmt.Sprintf("%+d", n) != digits {
		return 0, fmt.Errorf("%q is no drift: want a sign and parts per million, as in +100ppm or -50ppm", s)
	}
	return n, nil
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

// Grid is how coarse the times are at which faults of a second and more end: a node is switched on again at
// a full second. So a fault that comes a bit later leaves the same state.
const Grid = Time(time.Second)

// EndOf is when a fault of some length is over that begins at time t: so much later, and then at
// the next full multiple of grid, that of Grid when it is 0. A fault that is shorter than the grid ends at a
// multiple of a finer one (Fine), so that a supervisor can restart a program at once. It is Never with Ever.
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

// Fine is the grid on which a fault of some length ends: a tenth, a hundredth or a thousandth of grid where the
// fault is shorter than the one before.
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
