package space

import (
	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/world"
)

// Equality says when two global states count as the same one. A state has two names: the
// history that made it, which is exact, and a fingerprint of its content. By its history no
// state comes twice on a path; by its content a system may come back to where it was, and
// the orders of messages that have changed nothing meet.
//
// The zero value is equality by history.
type Equality struct {
	// Exposed: states are the same in which the nodes show the same (Space.Shows), and the
	// messages in flight, what is due before what, and the budgets are the same
	// (world.System.Content). What else is in a node is not looked at: who searches does not
	// go on from a state that shows the same as one that is known, and may miss what
	// comes of the difference.
	Exposed bool
	// Times: and it is due after the same times. The smallest difference tells states apart
	// then, also that one reply was made some system calls later than another.
	Times bool
}

// equalities are those that have names.
var equalities = []struct {
	name string
	Equality
}{
	{"history", Equality{}},
	{"exposed", Equality{Exposed: true}},
	{"exposed-times", Equality{Exposed: true, Times: true}},
}

// Equalities are their names, that by history first.
func Equalities() (names []string) {
	for _, e := range equalities {
		names = append(names, e.name)
	}
	return names
}

// EqualityNamed is the equality of a name.
func EqualityNamed(name string) (e Equality, ok bool) {
	for _, e := range equalities {
		if e.name == name {
			return e.Equality, true
		}
	}
	return e, false
}

func (e Equality) String() string {
	for _, named := range equalities {
		if named.Equality == e {
			return named.name
		}
	}
	return "unnamed"
}

// Name stands for the state of a frame, by the equality of the space.
func (p *Path) Name(f *Frame) world.Hash { return f.name }

// show enters into a frame what the nodes have shown, with Space.Shows. from is the frame before it, or nil.
func (p *Space) show(from, to *Frame) {
	if from == nil {
		to.Shown, to.Showed, to.Made, to.Remade = make([]expose.State, len(p.roots)), false, expose.State{}, false
		p.remake(to)
		return
	}
	to.Shown = append(to.Shown[:0], from.Shown...)
	id, exposed := to.By.From.Node, (*expose.Set)(nil)
	if p.Tells != nil {
		exposed = to.Told[id]
	}
	to.Showed = to.Shown[id].Add(p.Shows, to.By.Input.Kind, &to.By.Output, exposed)
	to.Made, to.Remade = from.Made, false
	if p.Stages != nil && to.Told[id] != from.Told[id] {
		p.remake(to)
	}
}

// remake enters into a frame what is made of what the nodes expose.
func (p *Space) remake(to *Frame) {
	if p.Stages == nil || p.Tells == nil {
		return
	}
	to.Remade = to.Made.AddMade(p.Shows, func(name string) (h world.Hash, ok bool) {
		if !p.Stages.Has(name) || p.stagesErr != nil {
			return h, false
		}
		h, p.stagesErr = p.Stages.Hash(name, to.Told)
		return h, p.stagesErr == nil
	})
}

// StagesErr is what is wrong with stages that could not be run, or nil.
func (p *Space) StagesErr() error { return p.stagesErr }

// tell enters into a frame all that the nodes expose, with Space.Tells. from is the frame before it, or nil.
func (p *Space) tell(from, to *Frame) {
	if from == nil {
		to.Told = make([]*expose.Set, len(p.roots))
		return
	}
	to.Told = append(to.Told[:0], from.Told...)
	set := &to.Told[to.By.From.Node]
	if *set = (*set).After(p.found(to.By).Told); takesDown(to.By) {
		*set = (*set).Staying()
	}
}

// call gives the state of a frame its name.
func (p *Space) call(f *Frame) {
	if f.name = f.State.Hash(); p.Properties != nil || p.Final != nil || p.Tells != nil || p.Equality.Exposed {
		p.callByMore(f)
	}
}

// callByMore has what nodes show or expose in the name, too.
func (p *Space) callByMore(f *Frame) {
	if !p.Equality.Exposed {
		f.name = f.name.Plus(p.was(f))
		return
	}
	p.fingerprints = p.fingerprints[:0]
	for i := range f.Shown {
		p.fingerprints = append(p.fingerprints, f.Shown[i].Fingerprint())
	}
	f.name = p.System.Content(&f.State.State, p.fingerprints, p.Equality.Times)
	if p.Stages != nil {
		f.name = f.name.Plus(f.Made.Hash())
	}
	if p.Properties != nil || p.Final != nil || p.Tells != nil {
		f.name = f.name.Plus(p.exposed(f))
	}
}

// Lasso is a way to go on for ever: after the cycle the system is again where it was after
// the stem, by the equality of the search.
type Lasso struct{ Stem, Cycle []ariadne.Step }

// Back reports whether the path is at its end in a state in which it was before, and after
// how many steps.
func (p *Path) Back() (stem int, ok bool) {
	if !p.space.Equality.Exposed {
		return 0, false // histories do not repeat
	}
	end := p.Name(p.Last())
	for i := p.Len() - 1; i >= 0; i-- {
		if p.Name(p.Frame(i)) == end {
			return i, true
		}
	}
	return 0, false
}

// Lasso is the path that goes round from the state after the first stem steps, as Back has
// them. The steps of the approach belong to the stem.
func (p *Path) Lasso(stem int) (l Lasso) {
	for i := 1; i <= p.Steps(); i++ {
		if i <= p.root+stem {
			l.Stem = append(l.Stem, p.Step(i))
		} else {
			l.Cycle = append(l.Cycle, p.Step(i))
		}
	}
	return l
}
