package space

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Equality says when two global states count as the same one. A state has two names: the
// history that made it, which is exact, and a fingerprint of its content. By its history no
// state comes twice on a path; by its content a system may come back to where it was, and
// the orders of messages that have changed nothing meet.
//
// The zero value is equality by history.
type Equality struct {
	// Exposed: states are the same in which the nodes show the same (Space.Shows), and the messages
	// in flight, what is due before what, and the budgets are the same (world.System.Content).
	// Other state of a node is not compared. So a search does not continue from a state that shows
	// the same as a known one, and may miss what follows from the difference.
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
func (p *Path) Name(f *Frame) hash.Hash { return f.name }

// nameState gives the state of a frame its name.
func (p *Path) nameState(f *Frame) {
	if p.space.Equality.Exposed {
		f.name = p.addObserved(f, p.space.hashContent(f))
	} else {
		f.name = p.addPast(f, f.State.Hash())
	}
}

// Lasso is a way to go on for ever: after the cycle the system is again where it was after
// the stem, by the equality of the search.
type Lasso struct{ Stem, Cycle []ariadne.Step }

// FindCycle reports whether the path is at its end in a state in which it was before, and after
// how many steps.
func (p *Path) FindCycle() (stem int, ok bool) {
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
