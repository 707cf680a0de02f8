package space

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Final judges executions that have ended by what their nodes leave: their files and their lines.
type Final interface {
	// Judge says what is wrong with what the nodes leave at the end of a path, or "". byTime: the
	// limit on time has ended it.
	Judge(p *Path, byTime bool) (wrong string, err error)
}

// Visitor is a Source that can bring nodes to where they are on a path.
type Visitor interface {
	// Visit calls f with a node in a state, which f leaves as it is. A node that was not switched
	// on yet is not there.
	Visit(l *memo.Local, f func(memo.Instance) error) error
}

// Lines are those that a node has written so far (ariadne.Output.Lines), of an execution; nil:
// none. They do not change.
type Lines struct {
	ariadne.LogLine
	before *Lines
	hash   hash.Hash
}

// Hash stands for the lines, but for when they were written.
func (l *Lines) Hash() hash.Hash {
	if l == nil {
		return hash.Hash{}
	}
	return l.hash
}

// All are the lines, the earliest first.
func (l *Lines) All() (all []ariadne.LogLine) {
	for ; l != nil; l = l.before {
		all = append(all, l.LogLine)
	}
	slices.Reverse(all)
	return all
}

// appendStep are the lines after those of a step.
func (l *Lines) appendStep(out *ariadne.Output) *Lines {
	for line := range out.Lines() {
		l = &Lines{LogLine: line, before: l,
			hash: l.Hash().Plus(hash.OfText(line.Text)).Plus(hash.Of(uint64(line.Stream), 0, 31))}
	}
	return l
}

// written is in a frame what writing observes.
type written struct {
	// Lines are what the nodes have written, by node, with Space.Final.
	Lines []*Lines
}

// writing observes the lines that nodes write.
type writing struct{ *Space }

func (p writing) beginPath(f *Frame) { f.Lines = make([]*Lines, len(p.roots)) }

func (writing) followStep(_ *Path, from, to *Frame) {
	to.Lines = append(to.Lines[:0], from.Lines...)
	id := to.By.From.Node
	to.Lines[id] = to.Lines[id].appendStep(&to.By.Output)
}

func (writing) copyLists(f, was *Frame) { f.Lines = append(was.Lines[:0], f.Lines...) }

// hashPast stands for the lines where the nodes' names do not say them: by other ways they may have
// come to the same states, and written something else.
func (writing) hashPast(f *Frame) (h hash.Hash) {
	if !f.merged {
		return h
	}
	for _, l := range f.Lines {
		h = h.Plus(l.Hash())
	}
	return h
}

func (writing) hashReads(*Frame) hash.Hash { return hash.Hash{} }

// HashLeft stands for all that the nodes leave at the end of the path.
func (p *Path) HashLeft() hash.Hash {
	f := p.Last()
	h := hash.Hash{}
	for i, l := range f.Lines {
		h = h.Plus(l.Hash()).Plus(hash.OfText(string(f.State.Locals[i].Name[:])))
	}
	return h
}
