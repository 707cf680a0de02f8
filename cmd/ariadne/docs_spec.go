package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// object is a schema of JSON, as far as specs have it.
type object struct {
	Ref         string            `json:"$ref"`
	Description string            `json:"description"`
	Type        any               `json:"type"`
	Pattern     string            `json:"pattern"`
	Enum        []any             `json:"enum"`
	Const       any               `json:"const"`
	Items       *object           `json:"items"`
	AnyOf       []object          `json:"anyOf"`
	OneOf       []object          `json:"oneOf"`
	Properties  map[string]object `json:"properties"`
	Required    []string          `json:"required"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Defs        map[string]object `json:"$defs"`
}

// specPage is the page on the fields of a spec, from its schema.
func specPage() []byte {
	var schema object
	if err := json.Unmarshal(spec.Schema(), &schema); err != nil {
		panic(err) // it is ours
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Fields of a spec

This page lists every field of a spec, with its values and its meaning. %s
[The guide to specs](../guides/specs.md) shows how to use them. Editors complete a spec by
[spec.schema.json](spec.schema.json), which has the same fields.

Contents: [the whole spec](#the-whole-spec)`, generated)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(schema.Defs)), func(name string) bool {
		return len(schema.Defs[name].Properties) == 0
	})
	for _, name := range names {
		fmt.Fprintf(&b, ",\n[%s](#%s)", name, name)
	}
	b.WriteString(".\n")
	writeSpecFields(&b, "The whole spec", schema)
	for _, name := range names {
		writeSpecFields(&b, name, schema.Defs[name])
	}
	return b.Bytes()
}

// writeSpecFields writes the section of an object of a spec.
func writeSpecFields(b *bytes.Buffer, title string, o object) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if o.Description != "" {
		fmt.Fprintf(b, "%s\n\n", o.Description)
	}
	b.WriteString("| field | value | meaning |\n| --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(o.Properties)) {
		field := o.Properties[name]
		shown := "`" + name + "`"
		if slices.Contains(o.Required, name) {
			shown += " (required)"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", shown, cell(field.values()), cell(field.Description))
	}
}

// cell is a text in a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}

// values says which values a field may have.
func (o object) values() string {
	either := append(slices.Clone(o.AnyOf), o.OneOf...)
	switch name := strings.TrimPrefix(o.Ref, "#/$defs/"); {
	case o.Ref != "":
		return fmt.Sprintf("[%s](#%s)", name, name)
	case len(o.Enum) > 0:
		var all []string
		for _, v := range o.Enum {
			all = append(all, fmt.Sprintf("`%v`", v))
		}
		return strings.Join(all, ", ")
	case o.Const != nil:
		return fmt.Sprintf("`%v`", o.Const)
	case len(either) > 0:
		var all []string
		for _, one := range either {
			if v := one.values(); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
		return strings.Join(all, " or ")
	case o.Type == "array" && o.Items != nil:
		return "list of " + o.Items.values()
	case o.Type == "object":
		var of object
		if len(o.Properties) == 0 && json.Unmarshal(o.Additional, &of) == nil {
			return "names with " + of.values()
		}
		return "object"
	}
	switch t := o.Type.(type) {
	case string:
		return t
	case []any:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(t), "[]"), " ", " or ")
	}
	return "any"
}
