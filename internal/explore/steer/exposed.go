package steer

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/script"

	"go.starlark.net/starlark"
)

// exposures are something of what nodes expose, by the names of the spec as attributes.
type exposures struct {
	script.View
	r  *Rules
	of func(name string) []starlark.Value
	// sets, when not nil, is what all nodes expose, of which stages make something besides.
	sets []*expose.Set
}

func (*exposures) String() string { return "exposed" }
func (*exposures) Type() string   { return "exposed" }
func (e *exposures) AttrNames() (names []string) {
	for _, s := range e.r.Sources {
		names = append(names, s.Name)
	}
	if e.sets != nil {
		names = append(names, e.r.Stages.Names()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
func (e *exposures) Attr(name string) (starlark.Value, error) {
	if e.sets != nil && e.r.Stages.Has(name) {
		made, err := e.r.Stages.Tuples(name, e.sets)
		if err != nil && e.r.err == nil {
			e.r.err = err
		}
		return script.Tuples(made), err
	}
	if !slices.ContainsFunc(e.r.Sources, func(s expose.Source) bool { return s.Name == name }) {
		return nil, nil // the interpreter knows what to say
	}
	return script.Frozen(e.of(name)), nil
}

// tuples are those of a name that a node exposes.
func (s *state) tuples(id ariadne.NodeID, name string) (all []starlark.Value) {
	for _, t := range s.p.Last().Told[id].Named(name) {
		all = append(all, &script.Tuple{Node: s.r.names.Node(id), Tuple: t})
	}
	return all
}

// changes are those of tuples of a name that came of an action.
func (a *action) changes(name string) []expose.Change {
	if a.by == nil {
		return nil
	}
	return slices.DeleteFunc(a.r.Sources.Changes(a.by.From.Node, &a.by.Output), func(c expose.Change) bool {
		return c.Name != name
	})
}
