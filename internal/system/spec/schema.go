package spec

import (
	"encoding/json"

	"github.com/ariadne-mc/ariadne"
)

// Schema returns the JSON schema of a YAML spec, for editors.
func Schema() []byte {
	root := object(specFields)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Ariadne spec"
	root["required"] = []string{"nodes"}
	node := object(nodeFields)
	root["$defs"] = schema{"node": node, "limits": object(limitFields), "workload": object(workloadFields),
		"faults": object(faultFields()), "growth": object(growthFields), "ready": object(readinessFields),
		"explore": object(exploreFields), "exposed": object(exposeFields), "stage": object(stageFields),
		"history": object(historyFields), "property": object(propertyFields), "weights": object(weightFields),
		"bounds": object(boundFields), "watch": object(watchFields), "watched": object(watchedFields)}
	eachFault(func(k ariadne.ActionKind, row *fault) { root["$defs"].(schema)[row.definedBy(k)] = row.fields() })
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // the rows are constants
	}
	return append(out, '\n')
}

func object[T any](fields []field[T]) schema {
	properties := schema{}
	for _, f := range fields {
		p := schema{"description": f.doc}
		for k, v := range f.schema {
			p[k] = v
		}
		properties[f.name] = p
	}
	return schema{"type": "object", "additionalProperties": false, "properties": properties}
}
