package ariadne

import (
	"fmt"
	"time"
)

// Jumped is the name of the kind of fault that sets a clock.
const Jumped = "jump"

// Jump is a fault that sets a node's real-time clock.
type Jump struct {
	By time.Duration // forward, or back when it is negative; not 0
}

// Kind implements NodeFault.
func (Jump) Kind() string { return Jumped }

// What says how far the clock jumps, as in +30s.
func (j Jump) What() string {
	if j.By > 0 {
		return "+" + j.By.String()
	}
	return j.By.String()
}

func init() {
	registerNodeFault(Jumped, func(what string) (NodeFault, error) {
		by, err := ParseJump(what)
		return Jump{by}, err
	}, faultOption(4, func(j Jump) bool { return j.By != 0 },
		func(j Jump, b []byte) []byte { return appendInt(b, j.By) },
		func(d *decoder, _ Jump) Jump { return Jump{time.Duration(d.int64())} }))
}

// ParseJump reads by how much a clock is set, as in +1h or -30s.
func ParseJump(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && (d == 0 || s[0] != '+' && s[0] != '-') {
		err = fmt.Errorf("%q is no jump: want a sign and a time, as in +1h or -30s", s)
	}
	return d, err
}
