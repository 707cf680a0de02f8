package spec

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// TestSchema: the schema takes the specs that there are, and not those with mistakes in their form.
func TestSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("spec.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("spec.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, pattern := range []string{"testdata/good/*.yaml", "../../../examples/*/*.yaml",
		"../../../cmd/ariadne/template.yaml", "../../../cmd/ariadne/short.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			// lists of bugs, and stacks for ariadne disk
			if filepath.Base(path) == "list.yaml" || filepath.Base(filepath.Dir(path)) == "disk" {
				continue
			}
			good++
			if err := s.Validate(value(t, path)); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if good < 5 {
		t.Errorf("only %d specs", good)
	}
	for _, name := range []string{"fields", "values", "nonodes", "emptynodes", "list"} {
		path := "testdata/bad/" + name + ".yaml"
		if s.Validate(value(t, path)) == nil {
			t.Errorf("%s: valid", path)
		}
	}
}

// value is what the file at path says, for the schema to judge. Of a field that
// is written twice the first counts.
func value(t *testing.T, path string) any {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return plain(t, doc.Content[0])
}

func plain(t *testing.T, v *yaml.Node) any {
	switch v.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(v.Content); i += 2 {
			if _, twice := m[v.Content[i].Value]; !twice {
				m[v.Content[i].Value] = plain(t, v.Content[i+1])
			}
		}
		return m
	case yaml.SequenceNode:
		var s []any
		for _, item := range v.Content {
			s = append(s, plain(t, item))
		}
		return s
	}
	if v.Tag == "!!timestamp" { // JSON has none
		return v.Value
	}
	var out any
	if err := v.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}
