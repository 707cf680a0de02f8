package debug

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
)

// breakpoint is a kind of steps at which continue stops.
type breakpoint struct {
	what string
	is   match
}

// first is the first known step of a kind from one step to another, in either direction; 0: there
// is none.
func (d *Debugger) first(is match, from, to int) (step int, err error) {
	events, by := d.Events(), 1
	if from > to {
		by = -1
	}
	for i := from; i >= 1 && i <= len(events) && (to-i)*by >= 0; i += by {
		if found, err := is(&events[i-1]); found || err != nil {
			return i, err
		}
	}
	return 0, nil
}

// gotoFirst goes there. what says what such a step does.
func (d *Debugger) gotoFirst(is match, from, to int, what string) error {
	where := fmt.Sprintf("no known step behind step %d", d.Step())
	if from < d.Step() {
		where = fmt.Sprintf("no step before step %d", d.Step())
	}
	step, err := d.first(is, from, to)
	switch {
	case err != nil:
		return err
	case step == 0:
		return fmt.Errorf("%s %s", where, what)
	}
	return d.Goto(step)
}

// setBreak sets a breakpoint, or lists them.
func (d *Debugger) setBreak(args string) (string, error) {
	if args != "" {
		is, err := d.breakAt(args)
		if err != nil {
			return "", err
		}
		d.breaks = append(d.breaks, breakpoint{args, is})
	}
	if len(d.breaks) == 0 {
		return "no breakpoint is set\n", nil
	}
	var b strings.Builder
	for i := range d.breaks {
		fmt.Fprintf(&b, "%3d  %s\n", i+1, d.breaks[i].what)
	}
	return b.String(), nil
}

// breakAt understands a WHAT, or the number of a step.
func (d *Debugger) breakAt(text string) (match, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return d.condition(text)
	}
	if n < 1 {
		return nil, fmt.Errorf("there is no step %d", n)
	}
	return sure(func(e *causal.Event) bool { return e.Step == n }), nil
}

// unbreak removes a breakpoint, or all.
func (d *Debugger) unbreak(args string) (string, error) {
	if args == "" {
		d.breaks = nil
		return d.setBreak("")
	}
	n, err := strconv.Atoi(args)
	if err != nil || n < 1 || n > len(d.breaks) {
		return "", fmt.Errorf("there is no breakpoint %s: break lists them", args)
	}
	d.breaks = append(d.breaks[:n-1:n-1], d.breaks[n:]...)
	return d.setBreak("")
}

// toBreak goes forward to the next breakpoint.
func (d *Debugger) toBreak(string) (string, error) { return d.continueTo(d.Step()+1, len(d.known)) }

// backToBreak goes back to the breakpoint before.
func (d *Debugger) backToBreak(string) (string, error) { return d.continueTo(d.Step()-1, 1) }

// continueTo goes to the first breakpoint from one step to another.
func (d *Debugger) continueTo(from, to int) (string, error) {
	if len(d.breaks) == 0 {
		return "", errors.New("no breakpoint is set: break sets one")
	}
	at := ""
	any := func(e *causal.Event) (bool, error) {
		for i := range d.breaks {
			if is, err := d.breaks[i].is(e); is || err != nil {
				at = fmt.Sprintf("breakpoint %d: %s\n", i+1, d.breaks[i].what)
				return is, err
			}
		}
		return false, nil
	}
	if err := d.gotoFirst(any, from, to, "is at a breakpoint"); err != nil {
		return "", err
	}
	text, err := d.where("")
	return at + text, err
}
