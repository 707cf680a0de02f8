package judge

import (
	"fmt"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/script"

	"go.starlark.net/starlark"
)

// claim makes a property of what is claimed of clients' operations: on data that history knows, or
// on those of a function model(state, op, value, result) of the definitions. It returns what an
// operation makes of a state, or None when it cannot have come to this result; a result of None is
// not known. The first state is a string.
func (p *Properties) claim(c history.Claim, known starlark.StringDict) (history.Property, error) {
	fail := func(text string) error {
		return &script.Error{Pos: fmt.Sprintf("%s:%d", p.Path, c.Line),
			Text: fmt.Sprintf("property %q: %s", c.Name, text)}
	}
	data := history.Named(c.Of)
	if data == nil {
		fn, ok := known[c.Of].(*starlark.Function)
		if !ok {
			return history.Property{},
				fail(fmt.Sprintf("%q is neither one of %s nor a function of definitions", c.Of,
					strings.Join(history.Names(), ", ")))
		}
		if fn.NumParams() != 4 || fn.HasVarargs() || fn.HasKwargs() {
			return history.Property{}, fail(fmt.Sprintf("%s must have the parameters state, op, value, result", c.Of))
		}
		first := starlark.String(c.Initial)
		c.Initial = first.String()
		data = history.Model(c.Of, p.model(fn, first, fail))
	}
	h, err := data.New(c)
	if err != nil {
		return h, fail(err.Error())
	}
	return h, nil
}

// model is a step of data by a function, that hold first at first. Goroutines may call it at the
// same time. Then p.wrong has the errors of the function.
func (p *Properties) model(fn *starlark.Function, first starlark.String, fail func(text string) error) func(state, op,
	value, result string, pending bool) (next string, ok bool) {
	var states sync.Map // by their texts
	states.Store(first.String(), first)
	return func(state, op, value, result string, pending bool) (next string, ok bool) {
		from, _ := states.Load(state)
		var came starlark.Value = starlark.String(result)
		if pending {
			came = starlark.None
		}
		thread := script.NewThread(p.Definitions, nil)
		to, err := starlark.Call(thread, fn,
			starlark.Tuple{from.(starlark.Value), starlark.String(op), starlark.String(value), came}, nil)
		if err != nil {
			at := script.Located(p.Definitions, err)
			err := fail(at.Text)
			p.wrong.CompareAndSwap(nil, &err)
			return state, false
		}
		if to == starlark.None {
			return state, false
		}
		to.Freeze()
		next = to.String()
		states.Store(next, to)
		return next, true
	}
}
