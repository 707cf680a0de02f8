package space

import (
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// told is in a frame what telling observes.
type told struct {
	// Told is all that the nodes expose, by node, with Space.Tells.
	Told []*expose.Set
}

// telling observes what nodes expose to who steers a search.
type telling struct{ *Space }

func (p telling) beginPath(f *Frame) { f.Told = make([]*expose.Set, len(p.roots)) }

func (p telling) followStep(_ *Path, from, to *Frame) {
	to.Told = append(to.Told[:0], from.Told...)
	set := &to.Told[to.By.From.Node]
	if *set = (*set).After(p.exposedBy(to.By).Told); takesDown(to.By) {
		*set = (*set).Staying()
	}
}

func (telling) copyLists(f, was *Frame) { f.Told = append(was.Told[:0], f.Told...) }

func (telling) hashPast(f *Frame) hash.Hash { return f.hashKept(f.Told, 1) }

func (telling) hashReads(*Frame) hash.Hash { return hash.Hash{} }
