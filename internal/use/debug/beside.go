package debug

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// load makes the steps of another trace a branch, and goes to its end.
func (d *Debugger) load(args string) (string, error) {
	name, path, _ := strings.Cut(args, " ")
	path = strings.TrimSpace(path)
	if path == "" || name == traceName {
		return "", fmt.Errorf("load wants a name for the branch, other than %s, and the file of a trace", traceName)
	}
	t, err := system.LoadTrace(path)
	if err != nil {
		return "", err
	}
	var line []string
	for i := range t.Steps {
		line = append(line, t.Steps[i].Action)
	}
	err = d.at(func() error {
		if err := d.session.Return(session.At(line)); err != nil {
			return fmt.Errorf("%s cannot be followed in this system: %w", path, err)
		}
		for i, s := range d.session.Taken() {
			if trace.NewStep(s).Digest != t.Steps[i].Digest {
				return fmt.Errorf("%s cannot be followed here: step %d does something else than in the trace", path, i+1)
			}
		}
		d.kept[name] = d.session.Position()
		return nil
	})
	if err != nil {
		return "", err
	}
	if !slices.Contains(d.order, name) {
		d.order = append(d.order, name)
	}
	return d.toBranch(name)
}

// at goes elsewhere, and comes back to where the debugger stands.
func (d *Debugger) at(elsewhere func() error) error {
	stands := d.Step()
	if err := d.Goto(len(d.known)); err != nil {
		return err
	}
	line := d.session.Position()
	err := elsewhere()
	return errors.Join(err, d.session.Return(line), d.session.Go(stands))
}

// stepsOf are the steps of a branch in words, up to where it was kept.
func (d *Debugger) stepsOf(name string) (steps []ariadne.Step, events []causal.Event, err error) {
	p, ok := d.kept[name]
	if !ok {
		return nil, nil, fmt.Errorf("no branch is called %q: there are %s", name, strings.Join(d.order, ", "))
	}
	err = d.at(func() error {
		if err := d.session.Return(p); err != nil {
			return err
		}
		steps = d.session.Taken()
		events = d.inWords(steps)
		return nil
	})
	return steps, events, err
}

// inCommon is how many first steps are the same, and do the same.
func inCommon(a, b []ariadne.Step) (n int) {
	for n < min(len(a), len(b)) && a[n].Name == b[n].Name && a[n].Output.Digest == b[n].Output.Digest {
		n++
	}
	return n
}

// Companion is a branch whose steps are shown with those of the same number here.
type Companion struct {
	Name   string
	Events []causal.Event
	// Common is how many first steps are the same on both.
	Common int
	steps  []ariadne.Step
}

// Line is the companion's step of a number, with a mark from the first difference on.
func (c *Companion) Line(step int) string {
	mark := " "
	switch {
	case step == c.Common+1:
		mark = "#"
	case step > c.Common:
		mark = "|"
	}
	if step < 1 || step > len(c.Events) {
		return mark
	}
	e := &c.Events[step-1]
	return fmt.Sprintf("%s%5d %12v  %s", mark, e.Step, e.At, Line(e))
}

// Companion is the branch that is shown together with this one, or nil.
func (d *Debugger) Companion() *Companion {
	c := d.companion
	if c != nil {
		c.Common = inCommon(d.known, c.steps)
	}
	return c
}

// together shows the steps of a branch with those here from now on. "": no longer.
func (d *Debugger) together(name string) (string, error) {
	if name == "" {
		d.companion = nil
		return d.where("")
	}
	steps, events, err := d.stepsOf(name)
	if err != nil {
		return "", err
	}
	d.companion = &Companion{Name: name, Events: events, steps: steps}
	return d.where("")
}

// besideColumn is how wide a step is beside another one.
const besideColumn = 56

// beside shows the steps here beside those of a branch, from before the first that differ.
func (d *Debugger) beside(args string) (string, error) {
	name, number, _ := strings.Cut(args, " ")
	count, err := numberOfSteps(number, 2*around)
	if err != nil {
		return "", err
	}
	steps, there, err := d.stepsOf(name)
	if err != nil {
		return "", err
	}
	here, common := d.Events(), inCommon(d.known, steps)
	if common == len(steps) && common == len(d.known) {
		return fmt.Sprintf("all %d steps are the same\n", common), nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the first %d steps are the same\n", common)
	row := func(mark, left, right string) {
		left = abridge(left, besideColumn)
		fmt.Fprintf(&b, "%s %s%s | %s\n", mark, left, strings.Repeat(" ", besideColumn-len([]rune(left))),
			abridge(right, besideColumn))
	}
	row(" ", "here", name)
	cell := func(events []causal.Event, i int) string {
		if i >= len(events) {
			return ""
		}
		return fmt.Sprintf("%5d %12v  %s", events[i].Step, events[i].At, printable(Line(&events[i])))
	}
	for i := max(0, common-around/2); i < min(max(len(here), len(there)), common+count); i++ {
		mark := " "
		if i == common {
			mark = "#" // where they part
		}
		row(mark, cell(here, i), cell(there, i))
	}
	return b.String(), nil
}

// lookAt is what a node looks like behind a step, as in 41, or behind one of a branch, as in
// 41@well, with some variables.
func (d *Debugger) lookAt(id ariadne.NodeID, place string, names []string) (facts []fact, err error) {
	number, branch, other := strings.Cut(place, "@")
	step, err := strconv.Atoi(number)
	if err != nil {
		return nil, fmt.Errorf("%q is no step", place)
	}
	if !other {
		stood := d.Step()
		if err := d.Goto(step); err != nil {
			return nil, err
		}
		facts, err = d.lookWith(id, names)
		return facts, errors.Join(err, d.Goto(stood))
	}
	p, ok := d.kept[branch]
	if !ok {
		return nil, fmt.Errorf("no branch is called %q: there are %s", branch, strings.Join(d.order, ", "))
	}
	if step < 0 || step > p.Steps() {
		return nil, fmt.Errorf("%s has no step %d: it has steps 0 to %d", branch, step, p.Steps())
	}
	known, events := d.known, d.events
	err = d.at(func() error {
		if err := d.session.Return(session.At(p.Names()[:step])); err != nil {
			return err
		}
		d.known, d.events = d.session.Taken(), nil
		facts, err = d.lookWith(id, names)
		return err
	})
	d.known, d.events = known, events
	return facts, err
}

// lookWith is what a node looks like where the debugger stands, with what its files hold, and some
// variables.
func (d *Debugger) lookWith(id ariadne.NodeID, names []string) ([]fact, error) {
	facts, err := d.look(id, true)
	for _, name := range names {
		f := missing(name)
		if value, err := d.valueOf(id, name); err == nil {
			f.text = name + " = " + value
		}
		facts = append(facts, f)
	}
	return facts, err
}

// missing says that a node has no such variable.
func missing(name string) fact {
	return fact{section: variables, key: name, text: name + " = " + noValue}
}
