package replay

import (
	"ariadne"
	"ariadne/internal/trace"
	"ariadne/internal/world"
)

// Deviation is something in which a trace differs from the natural schedule: a step that is a fault, that
// has gone otherwise within, or that came later than what was due after it.
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
		if a.Vary != "" {
			others = append(others, Deviation{i, varied})
		}
		k := world.KindOf(a.Kind)
		if k.Fault != "" {
			all = append(all, Deviation{i, aFault})
		}
		if k.Aside {
			continue // it has no time of its own
		}
		w := wanted{step: s, action: undisturbed(a)}
		if i > 0 && w.before(&latest) {
			others = append(others, Deviation{i, late})
		} else {
			latest = w
		}
	}
	return append(all, others...)
}

// Without is a trace to be followed loosely (Loose), without some of its deviations: faults are left out, what has
// gone otherwise goes as it does by itself, and what was late comes when it was due.
func Without(t *trace.Trace, n world.Names, some []Deviation) *trace.Trace {
	what := map[int]map[deviation]bool{}
	for _, d := range some {
		if what[d.step] == nil {
			what[d.step] = map[deviation]bool{}
		}
		what[d.step][d.what] = true
	}
	less := *t
	less.Steps = nil
	for i, s := range t.Steps {
		if what[i][aFault] {
			continue
		}
		a, err := n.Parse(s.Action)
		if err == nil && what[i][varied] {
			a = undisturbed(a)
			s.Action = n.Action(a)
		}
		at := len(less.Steps)
		if err == nil && what[i][late] {
			at = due(less.Steps, s, a, n)
		}
		less.Steps = append(less.Steps, s)
		copy(less.Steps[at+1:], less.Steps[at:])
		less.Steps[at] = s
	}
	return &less
}

// due is where among steps a step belongs by its time: before all that is due after it.
func due(steps []trace.Step, s trace.Step, a ariadne.Action, n world.Names) int {
	w := wanted{step: s, action: undisturbed(a)}
	at := len(steps)
	for at > 0 {
		b, err := n.Parse(steps[at-1].Action)
		if err != nil || !w.before(&wanted{step: steps[at-1], action: undisturbed(b)}) {
			break
		}
		at--
	}
	return at
}
