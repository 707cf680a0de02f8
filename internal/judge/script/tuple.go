package script

import (
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"

	"go.starlark.net/starlark"
)

// Tuple is one that a node exposes.
type Tuple struct {
	View
	expose.Tuple
	Node string // its name
}

func (t *Tuple) String() string { return strings.TrimPrefix(t.Node+" "+t.Tuple.String(), " ") }
func (t *Tuple) Type() string   { return "tuple of " + t.Name }

func (t *Tuple) AttrNames() []string {
	return append([]string{"node", "key", "value", "values"},
		slices.DeleteFunc(slices.Clone(t.Fields), func(f string) bool { return f == "" })...)
}

func (t *Tuple) Attr(name string) (starlark.Value, error) {
	if i := slices.Index(t.Fields, name); i >= 0 && name != "" {
		return starlark.String(t.Values[i]), nil
	}
	switch name {
	case "node":
		return starlark.String(t.Node), nil
	case "key":
		return starlark.String(t.Key), nil
	case "value":
		if len(t.Values) == 0 {
			return starlark.None, nil
		}
		return starlark.String(t.Values[len(t.Values)-1]), nil
	case "values":
		var all starlark.Tuple
		for _, v := range t.Values {
			all = append(all, starlark.String(v))
		}
		return all, nil
	}
	return nil, nil // the interpreter knows what to say
}

// Tuples are those that stages make or read.
func Tuples(all []*stage.Tuple) starlark.Value {
	values := make([]starlark.Value, len(all))
	for i, t := range all {
		v, ok := t.View.(*Tuple)
		if !ok {
			v = &Tuple{Node: t.Node, Tuple: t.Tuple}
			t.View = v
		}
		values[i] = v
	}
	return Frozen(values)
}
