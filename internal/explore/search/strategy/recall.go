package strategy

import (
	"sync/atomic"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Prefix is the first part of a path, so that another search of the same system can take it: so
// many steps of the execution, all natural but for some.
type Prefix struct {
	Steps      int         `json:"steps"`
	Deviations []Deviation `json:"deviations"`
	Violation  bool        `json:"violation,omitempty"` // it has led to one
}

// Deviation is a step that is not the natural one, or is varied.
type Deviation struct {
	Step   int               `json:"step"` // from 1
	Action string            `json:"action"`
	Vary   ariadne.Variation `json:"vary,omitempty"`
}

// PrefixOf is the whole of a path.
func PrefixOf(p *space.Path) Prefix {
	x := Prefix{Steps: p.Steps()}
	for i := 1; i <= p.Len(); i++ {
		x.Deviations = append(x.Deviations, deviationAt(p, i)...)
	}
	return x
}

// Then is the prefix with the last step of a path, whose steps before it are those of the prefix.
func (x Prefix) Then(p *space.Path) Prefix {
	x.Steps = p.Steps()
	if !p.Approaching() {
		x.Deviations = append(x.Deviations, deviationAt(p, p.Len())...)
	}
	return x
}

// deviationAt is step i of a path, if it is not the natural one.
func deviationAt(p *space.Path, i int) []Deviation {
	if i == 0 {
		return nil // the last step of the approach
	}
	f, e := p.Frame(i-1), p.Event(i)
	vary := e.Varied.Variation()
	if !f.Deviates(f.Taken) && vary == "" && !e.IsFault() {
		return nil
	}
	return []Deviation{{p.Steps() - p.Len() + i, undisturbed(p.System().Names(), e), vary}}
}

// undisturbed names an event, but for what varies it.
func undisturbed(names world.Names, e *world.Event) string {
	a := e.Action()
	a.Vary = ""
	return names.Action(a)
}

// Recall takes paths that begin as prefixes say, one each, and goes on naturally. Where a deviation
// is not possible, as when programs have changed, the path goes on naturally from there.
type Recall struct {
	Prefixes []Prefix

	taken atomic.Int32
	path  Prefix // its Deviations are those that are still to come
}

// left reports whether there is one that was not taken yet.
func (r *Recall) left() bool { return r != nil && int(r.taken.Load()) < len(r.Prefixes) }

// Taken is how many were taken, the first ones. Others may ask meanwhile.
func (r *Recall) Taken() int { return int(r.taken.Load()) }

// Begin implements Explorer.
func (r *Recall) Begin(*space.Path) (keep int, ok bool) {
	if !r.left() {
		return 0, false
	}
	r.path = r.Prefixes[r.taken.Add(1)-1]
	return 0, true
}

// Next implements Explorer.
func (r *Recall) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	if len(r.path.Deviations) > 0 && r.path.Deviations[0].Step <= p.Steps()+1 {
		d := r.path.Deviations[0]
		r.path.Deviations = r.path.Deviations[1:]
		if d.Step == p.Steps()+1 {
			if event, ok = find(p, &d); ok {
				return event, true
			}
		}
		r.path.Deviations = nil
	}
	return 0, f.Plain > 0
}

// find returns where in the last frame's Enabled a deviation is.
func find(p *space.Path, d *Deviation) (event int, ok bool) {
	f, names := p.Last(), p.System().Names()
	for i := range f.Initial {
		e := f.Enabled[i]
		if e.Varied.Variation() != "" || undisturbed(names, &e) != d.Action {
			continue
		}
		if d.Vary == "" {
			return i, true
		}
		e, err := e.VariedAs(d.Vary)
		if err != nil {
			return 0, false
		}
		return p.Find(&e)
	}
	if a, err := names.Parse(d.Action); err == nil && a.Kind == world.Late && d.Vary == "" {
		return p.FindAction(a)
	}
	return 0, false
}

// End implements Explorer.
func (*Recall) End(*space.Path, End) error { return nil }

// TriesFaultsAtRest implements FaultTrier.
func (r *Recall) TriesFaultsAtRest() bool { return len(r.path.Deviations) > 0 }
