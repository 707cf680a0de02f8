package ariadne

import (
	"fmt"
	"strconv"
	"strings"
)

// Drifted is the name of the kind of fault by which clocks run at another speed.
const Drifted = "drift"

// Drift is a fault from which on a node's clocks run at another speed.
type Drift struct {
	By int // parts per million faster, or slower when it is negative; not 0
}

// Kind implements NodeFault.
func (Drift) Kind() string { return Drifted }

// What says how much the speed changes, as in +100ppm.
func (d Drift) What() string { return fmt.Sprintf("%+d%s", d.By, ppm) }

func init() {
	registerNodeFault(Drifted, func(what string) (NodeFault, error) {
		by, err := ParseDrift(what)
		return Drift{by}, err
	}, faultOption(7, func(d Drift) bool { return d.By != 0 },
		func(d Drift, b []byte) []byte { return appendInt(b, d.By) },
		func(d *decoder, _ Drift) Drift { return Drift{d.int()} }))
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
