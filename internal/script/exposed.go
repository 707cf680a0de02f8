package script

import (
	"maps"
	"slices"

	"ariadne"
	"ariadne/internal/expose"
	"ariadne/internal/history"
	"ariadne/internal/world"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// exposures are something of what nodes expose, by the names of the spec as attributes.
type exposures struct {
	view
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
		return tuplesValue(made), err
	}
	if !slices.ContainsFunc(e.r.Sources, func(s expose.Source) bool { return s.Name == name }) {
		return nil, nil // the interpreter knows what to say
	}
	return frozen(e.of(name)), nil
}

// tuples are those of a name that a node exposes.
func (s *state) tuples(id ariadne.NodeID, name string) (all []starlark.Value) {
	for _, t := range s.p.Last().Told[id].Named(name) {
		all = append(all, &tuple{node: s.r.names.Node(id), Tuple: t})
	}
	return all
}

// changes are those of tuples of a name that came of an action.
func (a *action) changes(name string) []expose.Change {
	if a.by == nil {
		return nil
	}
	return slices.DeleteFunc(a.r.Sources.Changes(a.by.From.Node, &a.by.Output), func(c expose.Change) bool { return c.Name != name })
}

// decoders take apart what a message says, which has no other message's bytes; nil: it does not say such a thing.
var decoders = map[string]func(text []byte) starlark.Value{
	"json": func(text []byte) starlark.Value {
		thread := &starlark.Thread{}
		thread.SetMaxExecutionSteps(MaxSteps)
		thread.SetLocal(budgetKey, &budget{left: memory})
		given := starlark.Tuple{starlark.String(text)}
		if chargeJSON(thread, given) != nil {
			return nil
		}
		v, err := starlark.Call(thread, json.Module.Members["decode"], given, nil)
		if err != nil {
			return nil
		}
		v.Freeze()
		return v
	},
	"resp": func(text []byte) starlark.Value {
		all, ok := history.Values(text)
		if !ok {
			return nil
		}
		return textsValue(history.Texts{List: all, Many: true})
	},
	"http": func(text []byte) starlark.Value {
		all, ok := history.Parts(text)
		if !ok {
			return nil
		}
		var values []starlark.Value
		for _, p := range all {
			fields := starlark.StringDict{"method": starlark.None, "target": starlark.None, "status": starlark.None, "body": starlark.String(p.Body)}
			if p.Method != "" {
				fields["method"], fields["target"] = starlark.String(p.Method), starlark.String(p.Target)
			} else {
				fields["status"] = starlark.MakeInt(p.Status)
			}
			values = append(values, starlarkstruct.FromStringDict(starlarkstruct.Default, fields))
		}
		return frozen(values)
	},
}

func decoderNames() []string { return slices.Sorted(maps.Keys(decoders)) }

// decoded is what a packet says by a decoder, or None.
func decoded(p *world.Packet, by func([]byte) starlark.Value) starlark.Value {
	if p == nil || len(p.Data) == 0 {
		return starlark.None
	}
	if v := by(p.Data); v != nil {
		return v
	}
	return starlark.None
}

func textsValue(t history.Texts) starlark.Value {
	if !t.Many {
		return starlark.String(t.Text)
	}
	var values []starlark.Value
	for _, e := range t.List {
		values = append(values, textsValue(e))
	}
	return frozen(values)
}
