package space

import (
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// shown is in a frame what showing observes.
type shown struct {
	// Shown is what the nodes have shown, by node, with Space.Shows. Showed: the node whose
	// step led here has shown something in it.
	Shown  []expose.State
	Showed bool
	// Made is what Shows say of what Space.Stages make. Remade: the step that led here has changed
	// it.
	Made   expose.State
	Remade bool
}

// showing observes what nodes show. It stands behind telling.
type showing struct{ *Space }

func (p showing) beginPath(f *Frame) {
	f.Shown, f.Showed, f.Made, f.Remade = make([]expose.State, len(p.roots)), false, expose.State{}, false
	p.remakeShown(f)
}

func (p showing) followStep(_ *Path, from, to *Frame) {
	to.Shown = append(to.Shown[:0], from.Shown...)
	id, exposed := to.By.From.Node, (*expose.Set)(nil)
	if p.Tells != nil {
		exposed = to.Told[id]
	}
	to.Showed = to.Shown[id].Add(p.Shows, to.By.Input.Kind, &to.By.Output, exposed)
	to.Made, to.Remade = from.Made, false
	if p.Stages != nil && to.Told[id] != from.Told[id] {
		p.remakeShown(to)
	}
}

// remakeShown enters into a frame what is made of what the nodes expose.
func (p showing) remakeShown(f *Frame) {
	if p.Stages == nil || p.Tells == nil {
		return
	}
	f.Remade = f.Made.AddMade(p.Shows, func(name string) (h hash.Hash, ok bool) {
		if !p.Stages.Has(name) || p.stagesErr != nil {
			return h, false
		}
		h, p.stagesErr = p.Stages.Hash(name, f.Told)
		return h, p.stagesErr == nil
	})
}

func (showing) copyLists(f, was *Frame) { f.Shown = append(was.Shown[:0], f.Shown...) }

// hashPast and hashReads are empty: only names by content (Space.hashContent) cover what nodes
// show.
func (showing) hashPast(*Frame) hash.Hash  { return hash.Hash{} }
func (showing) hashReads(*Frame) hash.Hash { return hash.Hash{} }

// StagesErr is what is wrong with stages that could not be run, or nil.
func (p *Space) StagesErr() error { return p.stagesErr }

// hashContent stands for a frame by what the nodes show.
func (p *Space) hashContent(f *Frame) hash.Hash {
	p.fingerprints = p.fingerprints[:0]
	for i := range f.Shown {
		p.fingerprints = append(p.fingerprints, f.Shown[i].Fingerprint())
	}
	h := p.System.Content(&f.State.State, p.fingerprints, p.Equality.Times)
	if p.Stages != nil {
		h = h.Plus(f.Made.Hash())
	}
	return h
}
