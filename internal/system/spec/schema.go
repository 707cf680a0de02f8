package spec

import "encoding/json"

// Schema returns the JSON schema of a YAML spec, for editors.
func Schema() []byte {
	root := object(specFields)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Ariadne spec"
	root["required"] = []string{"nodes"}
	node := object(nodeFields)
	node["anyOf"] = []schema{{"required": []string{"command"}}, {"required": []string{"workload"}}}
	root["$defs"] = schema{"node": node, "limits": object(limitFields), "workload": object(workloadFields), "faults": object(faultFields), "fail": object(failFields), "preempt": object(preemptFields), "stall": object(stallFields), "outage": object(outageFields), "pause": object(pauseFields), "power": object(powerFields), "cut": object(cutFields), "slow": object(slowFields), "messages": object(hitFields), "jump": object(jumpFields), "drift": object(driftFields), "kill": object(killFields), "growth": object(growthFields), "ready": object(readinessFields),
		"explore": object(exploreFields), "exposed": object(exposeFields), "stage": object(stageFields), "history": object(historyFields), "property": object(propertyFields), "weights": object(weightFields), "bounds": object(boundFields)}
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
