package spec

import (
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
	if k == world.Fail {
		f.schema, f.set = schema{"anyOf": []schema{f.schema, {"$ref": "#/$defs/fail"}}}, setFail
	}
	return f
}
