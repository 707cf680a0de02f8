package spec

import (
	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// faultFields are those of all kinds of faults.
var faultFields = func() (all []field[world.Faults]) {
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); kind.Fault != "" {
			all = append(all, faultField(k, kind))
		}
	}
	return all
}()

func faultField(k ariadne.ActionKind, kind *world.Kind) field[world.Faults] {
	return field[world.Faults]{kind.Name, kind.Fault + ", at most.", schema{"type": "integer", "minimum": 0, "maximum": world.MaxFaults},
		func(r *reader, into *world.Faults, v *yaml.Node) { into[k] = uint8(r.count(v, 0, world.MaxFaults)) }}
}
