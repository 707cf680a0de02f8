package spec

import (
	"slices"

	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// faultFields are those of all kinds of faults.
var faultFields = func() (all []field[specText]) {
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); kind.Fault != "" {
			all = append(all, faultField(k, kind))
		}
	}
	return all
}()

// faultField is a number, or that with more to say.
func faultField(k ariadne.ActionKind, kind *world.Kind) field[specText] {
	f := field[specText]{kind.Name, kind.Fault + ", at most.", schema{"type": "integer", "minimum": 0, "maximum": world.MaxFaults},
		func(r *reader, into *specText, v *yaml.Node) { into.Faults[k] = uint8(r.count(v, 0, world.MaxFaults)) }}
	if kind.Messages {
		f.schema, f.set = orMore(f.schema, "messages"), setHit(k)
	}
	switch k {
	case world.Fail:
		f.schema, f.set = orMore(f.schema, kind.Name), setFail
	case world.Preempt:
		f.schema, f.set = orMore(f.schema, kind.Name), setPreempt
	case world.Kill:
		f.schema, f.set = orMore(f.schema, kind.Name), setKill
	case world.Jump:
		f.schema, f.set = orMore(f.schema, kind.Name), setJump
	case world.Cut:
		f.schema, f.set = orMore(f.schema, kind.Name), setCut
	}
	if _, ok := downBy(k); ok {
		definition := "outage"
		if k == world.Power {
			definition = kind.Name
		}
		f.schema, f.set = orMore(f.schema, definition), setOutage(k)
	}
	set := f.set
	f.set = func(r *reader, into *specText, v *yaml.Node) {
		into.faultLines[k] = v.Line
		set(r, into, v)
	}
	return f
}

// orMore is the schema of what is a number, or says more by a definition.
func orMore(number schema, definition string) schema {
	return schema{"anyOf": []schema{number, {"$ref": "#/$defs/" + definition}}}
}

// faultyNodes are the nodes that are named somewhere within faults.
func (r *reader) faultyNodes(where string, written []text, nodes []Node) (all []ariadne.NodeID) {
	for _, t := range written {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == t.string })
		if i < 0 {
			r.fail(t.line, "faults: %s: no node %q", where, t.string)
			continue
		}
		all = append(all, nodes[i].ID)
	}
	return all
}
