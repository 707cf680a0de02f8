package replay

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Deviation is something in which a trace differs from the natural schedule: a step that is a
// fault, that has gone otherwise within, or that came later than what was due after it.
type Deviation struct {
	step int // index in the trace's steps
	what deviation
}

type deviation uint8

const (
	aFault deviation = iota
	varied
	late
)

// Step is the index of the step in its trace, from 1.
func (d Deviation) Step() int { return d.step + 1 }

// Late reports whether the step came later than what was due after it.
func (d Deviation) Late() bool { return d.what == late }

// Varied reports whether the step has gone otherwise within.
func (d Deviation) Varied() bool { return d.what == varied }

// Fault reports whether a budget of faults was paid for it.
func (d Deviation) Fault(t *trace.Trace, n world.Names) bool {
	if d.what == late {
		return false
	}
	a, _ := n.Parse(t.Steps[d.step].Action)
	for _, c := range a.Vary.Choices() {
		if !world.FreeKind(c.Alternative) {
			return true
		}
	}
	return d.what == aFault
}

// Deviations are those of a trace, faults first.
func Deviations(t *trace.Trace, n world.Names) (all []Deviation) {
	var others []Deviation
	var latest wanted
	for i, s := range t.Steps {
		a, err := n.Parse(s.Action)
		if err != nil {
			continue
		}
		if onlyImage(a.Vary) != a.Vary {
			others = append(others, Deviation{i, varied})
		}
		k := world.KindOf(a.Kind)
		if k.Fault != "" {
			all = append(all, Deviation{i, aFault})
		}
		if k.Untimed {
			continue // it has no time of its own
		}
		w := wanted{step: s, action: undisturbed(a)}
		if k.Alike || i > 0 && w.before(&latest) {
			others = append(others, Deviation{i, late})
		} else {
			latest = w
		}
	}
	return append(all, others...)
}

// Arrives reports whether the deviation is an arrival that leaves its message in flight: a
// duplicate of it, or its first bytes.
func (d Deviation) Arrives(t *trace.Trace, n world.Names) bool {
	a, _ := n.Parse(t.Steps[d.step].Action)
	return d.what == aFault && world.KindOf(a.Kind).Leaves
}

// Without returns a trace to be followed loosely (Loose), without some deviations. Faults are left
// out, choices within steps are the natural ones, and late events come when they are due. A fault
// may have left a copy or a part of a message in flight. With early, the whole message then arrives
// where the fault was. Otherwise it arrives where the trace has the rest.
func Without(t *trace.Trace, n world.Names, some []Deviation, early bool) *trace.Trace {
	what := map[int]map[deviation]bool{}
	for _, d := range some {
		if what[d.step] == nil {
			what[d.step] = map[deviation]bool{}
		}
		what[d.step][d.what] = true
	}
	less := *t
	less.Steps = nil
	arrived := map[ariadne.Action]bool{}
	for i, s := range t.Steps {
		a, err := n.Parse(s.Action)
		if early && err == nil && arrived[arrival(a)] {
			continue
		}
		if what[i][aFault] {
			if !early || err != nil || !world.KindOf(a.Kind).Leaves {
				continue
			}
			b := arrival(a)
			arrived[b] = true
			b.Vary = a.Vary
			a, s.Action = b, n.Action(b)
		}
		if err == nil && what[i][varied] {
			a.Vary = leftBy(a.Vary)
			s.Action = n.Action(a)
		}
		at := len(less.Steps)
		if err == nil && what[i][late] {
			if world.KindOf(a.Kind).Alike {
				b := world.OnTime(a)
				b.Vary = a.Vary
				a, s.At, s.Action = b, s.At-world.LateBy(a), n.Action(b)
			}
			at = due(less.Steps, s, a, n)
		}
		less.Steps = append(less.Steps, s)
		copy(less.Steps[at+1:], less.Steps[at:])
		less.Steps[at] = s
	}
	return &less
}

// onlyImage is of a variation what a loss of power leaves, which is no deviation: something has to
// be left.
func onlyImage(v ariadne.Variation) (image ariadne.Variation) {
	for _, c := range v.Choices() {
		if c.Kind() == ariadne.DiskImage {
			image = image.And(c)
		}
	}
	return image
}

// leftBy is what is left of a variation that is undone: what a loss of power leaves, unless that
// was a part of the variation.
func leftBy(v ariadne.Variation) ariadne.Variation {
	for _, c := range v.Choices() {
		if ariadne.OutageIn(c.Alternative).Down == ariadne.PowerLost {
			return ""
		}
	}
	return onlyImage(v)
}

// WithImage is a trace to be followed loosely in which the loss of power of a step, by its index,
// leaves what a choice says.
func WithImage(t *trace.Trace, n world.Names, step int, c ariadne.Choice) *trace.Trace {
	a, err := n.Parse(t.Steps[step].Action)
	if err != nil {
		return t
	}
	var vary ariadne.Variation
	for _, other := range a.Vary.Choices() {
		if other.Kind() != ariadne.DiskImage {
			vary = vary.And(other)
		}
	}
	a.Vary = vary.And(c)
	other := *t
	other.Steps = slices.Clone(t.Steps)
	other.Steps[step].Action = n.Action(a)
	return &other
}

// arrival is the one by which the message of an action arrives; of other actions it is no more than
// that.
func arrival(a ariadne.Action) ariadne.Action {
	return ariadne.Action{Kind: world.ArrivalKind(a.Flow.Proto), Node: a.Node, Flow: a.Flow, Seq: a.Seq}
}

// due is where among steps a step belongs by its time: before all that is due after it. Those may
// stand before others that are late themselves, and so not due after it.
func due(steps []trace.Step, s trace.Step, a ariadne.Action, n world.Names) int {
	w := wanted{step: s, action: undisturbed(a)}
	for at := range steps {
		b, err := n.Parse(steps[at].Action)
		if err == nil && w.before(&wanted{step: steps[at], action: undisturbed(b)}) {
			return at
		}
	}
	return len(steps)
}
