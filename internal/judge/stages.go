package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/script"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"

	"go.starlark.net/starlark"
)

// Stages are a graph of stages whose functions are Starlark's. They do not change.
type Stages struct {
	*stage.Graph
	path  string               // of the spec
	calls []*starlark.Function // of stages, by place: Execute
	diffs []*starlark.Function // Change, or nil
	nodes []string
}

// newStages looks for the functions of stages among what is defined.
func (p *Properties) newStages(defined starlark.StringDict) (*Stages, error) {
	g, err := stage.NewGraph(p.Config.Stages, p.Exposes)
	if err != nil {
		return nil, wrong(p.Path, err)
	}
	s := &Stages{Graph: g, path: p.Path, nodes: p.Nodes}
	for i := range g.Stages {
		t := &g.Stages[i]
		find := func(name string, params int, what string) (*starlark.Function, error) {
			fn, ok := defined[name].(*starlark.Function)
			switch {
			case !ok:
				return nil,
					wrong(p.Path, &stage.Bad{Stage: t, Text: fmt.Sprintf("definitions have no function %s", name)})
			case fn.NumParams() != params || fn.HasVarargs() || fn.HasKwargs() || fn.NumKwonlyParams() > 0:
				return nil,
					&script.Error{Pos: fn.Position().String(),
						Text: fmt.Sprintf("stage %q: %s must have the parameters %s", t.Name, name, what)}
			}
			return fn, nil
		}
		call, err := find(t.Execute, len(t.Of), "lists of tuples for "+strings.Join(t.Of, ", "))
		if err != nil {
			return nil, err
		}
		diff := (*starlark.Function)(nil)
		if t.Change != "" {
			if diff, err = find(t.Change, 3, "before, added, removed"); err != nil {
				return nil, err
			}
		}
		s.calls, s.diffs = append(s.calls, call), append(s.diffs, diff)
	}
	return s, nil
}

// wrong makes an error of a graph one that says where.
func wrong(path string, err error) error {
	var bad *stage.Bad
	if errors.As(err, &bad) {
		return &script.Error{Pos: fmt.Sprintf("%s:%d", path, bad.Stage.Line), Text: bad.Error()}
	}
	return err
}

// NewRunner returns what runs the stages, for one goroutine; share is as in stage.Graph.NewRunner.
// nil: there are none.
func (s *Stages) NewRunner(share float64) *stage.Runner {
	if s == nil || len(s.Graph.Stages) == 0 {
		return nil
	}
	return s.Graph.NewRunner(s.nodes, &stageCalls{s, script.NewThread("stages", nil)}, share)
}

// stageCalls calls functions of stages on a thread of theirs: whoever asks for tuples may be in a
// call himself.
type stageCalls struct {
	*Stages
	thread *starlark.Thread
}

// Wrong implements stage.Calls.
func (c *stageCalls) Wrong(b *stage.Bad) error { return wrong(c.path, b) }

// Execute implements stage.Calls.
func (c *stageCalls) Execute(i int, of [][]*stage.Tuple) ([]*stage.Tuple, error) {
	var args starlark.Tuple
	for _, tuples := range of {
		args = append(args, script.Tuples(tuples))
	}
	return c.callFunction(i, c.calls[i], args)
}

// Change implements stage.Calls.
func (c *stageCalls) Change(i int, before []*stage.Tuple, added, removed [][]*stage.Tuple) ([]*stage.Tuple, error) {
	return c.callFunction(i, c.diffs[i],
		starlark.Tuple{script.Tuples(before), &byName{names: c.Graph.Stages[i].Of, lists: added},
			&byName{names: c.Graph.Stages[i].Of, lists: removed}})
}

func (c *stageCalls) callFunction(i int, fn *starlark.Function, args starlark.Tuple) ([]*stage.Tuple, error) {
	s := &c.Graph.Stages[i]
	v, err := script.Call(c.thread, fn, args)
	if err != nil {
		at := script.Located(fn.Position().Filename(), err)
		return nil,
			&script.Error{Pos: at.Pos, Text: fmt.Sprintf("stage %q: %s", s.Name, at.Text), Backtrace: at.Backtrace}
	}
	all, err := tuplesOf(v)
	if err != nil {
		return nil,
			&script.Error{Pos: fn.Position().String(),
				Text: fmt.Sprintf("stage %q: %s returned %s", s.Name, fn.Name(), err)}
	}
	return all, nil
}

// byName are lists of tuples by the names of what a stage reads, as attributes.
type byName struct {
	script.View
	names []string
	lists [][]*stage.Tuple
}

func (*byName) String() string        { return "tuples by name" }
func (*byName) Type() string          { return "tuples by name" }
func (b *byName) AttrNames() []string { return slices.Sorted(slices.Values(b.names)) }
func (b *byName) Attr(name string) (starlark.Value, error) {
	if i := slices.Index(b.names, name); i >= 0 {
		return script.Tuples(b.lists[i]), nil
	}
	return nil, nil // the interpreter knows what to say
}

// tuplesOf are the tuples that a function of a stage has returned: a list of tuples that it was
// given, of dicts by the names of fields, or of texts and numbers, single ones or in lists, without
// names.
func tuplesOf(v starlark.Value) (all []*stage.Tuple, err error) {
	list, ok := v.(starlark.Iterable)
	if _, dict := v.(*starlark.Dict); !ok || dict {
		return nil, fmt.Errorf("%s: a list is needed, of tuples that the function was given, dicts by names of fields, or texts and numbers", v.Type())
	}
	it := list.Iterate()
	defer it.Done()
	for item := starlark.Value(nil); it.Next(&item); {
		t, err := tupleOf(item)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func tupleOf(v starlark.Value) (t *stage.Tuple, err error) {
	t = &stage.Tuple{}
	add := func(field string, v starlark.Value) error {
		text, err := plainText(v)
		if err == nil {
			t.Fields, t.Values = append(t.Fields, field), append(t.Values, text)
		}
		return err
	}
	switch v := v.(type) {
	case *script.Tuple:
		t.Node, t.Tuple = v.Node, v.Tuple
		return t, nil
	case *starlark.Dict:
		for _, item := range v.Items() {
			name, ok := starlark.AsString(item[0])
			switch {
			case ok && name == "node":
				if t.Node, ok = starlark.AsString(item[1]); !ok {
					return t, fmt.Errorf("a tuple whose node is %s: a node's name is needed", item[1].Type())
				}
			case !ok || name == "values" || !ariadne.IsExposable(name):
				return t, fmt.Errorf("a tuple with the field %s: a name of letters, digits and _ is needed, other than values", item[0])
			default:
				if err := add(name, item[1]); err != nil {
					return t, fmt.Errorf("a tuple whose field %s is %w", name, err)
				}
			}
		}
		return t, nil
	case starlark.Indexable:
		if _, ok := starlark.AsString(v); ok {
			break
		}
		for i := range v.Len() {
			if err := add("", v.Index(i)); err != nil {
				return t, fmt.Errorf("a tuple with %w", err)
			}
		}
		t.Fields = nil
		return t, nil
	}
	if err := add("", v); err != nil {
		return t, fmt.Errorf("a list with %w", err)
	}
	t.Fields = nil
	return t, nil
}

// plainText is a text, or that of a number.
func plainText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.Int:
		if err := script.Bits(v.BigInt().BitLen()); err != nil {
			return "", err
		}
		return v.String(), nil
	case starlark.Float, starlark.Bool:
		return v.String(), nil
	}
	return "", fmt.Errorf("%s: a text or a number is needed", v.Type())
}
