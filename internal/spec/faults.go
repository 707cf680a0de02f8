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
	switch k {
	case world.Fail:
		f.schema, f.set = orMore(f.schema, kind), setFail
	case world.Preempt:
		f.schema, f.set = orMore(f.schema, kind), setPreempt
	case world.Cut:
		f.schema, f.set = orMore(f.schema, kind), setCut
	}
	if _, ok := downs[k]; ok {
		f.schema, f.set = schema{"anyOf": []schema{f.schema, {"$ref": "#/$defs/outage"}}}, setOutage(k)
	}
	set := f.set
	f.set = func(r *reader, into *specText, v *yaml.Node) {
		into.faultLines[k] = v.Line
		set(r, into, v)
	}
	return f
}

// orMore is the schema of what is that of a number or says more.
func orMore(number schema, kind *world.Kind) schema {
	return schema{"anyOf": []schema{number, {"$ref": "#/$defs/" + kind.Name}}}
}

// faultyNodes are the nodes that a kind of fault names.
func (r *reader) faultyNodes(kind string, written []text, nodes []Node) (all []ariadne.NodeID) {
	for _, t := range written {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == t.string })
		if i < 0 {
			r.fail(t.line, "faults: %s: nodes: no node %q", kind, t.string)
			continue
		}
		all = append(all, nodes[i].ID)
	}
	return all
}
