package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ariadne/internal/spec"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ariadne": main})
}

// Each file below testdata/script is a session on the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"status": status, "jsonlines": jsonLines},
	})
}

// status runs a command and wants the exit status that it is given first, or one
// of several: status 0,3 command.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if !slices.Contains(strings.Split(args[0], ","), got) {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// jsonLines wants each line of a file, or of stdout, to be a JSON value.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonlines file")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("not JSON: %s", line)
		}
	}
}

// The generated pages say what the code says; go generate ./cmd/ariadne renews them.
func TestPagesAreFresh(t *testing.T) {
	for name, want := range (&app{}).pages() {
		got, err := os.ReadFile(filepath.Join("../../docs", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is stale: run go generate ./cmd/ariadne", name)
		}
	}
}

// The spec that init writes is valid, and says something of every field.
func TestTemplate(t *testing.T) {
	s, err := spec.Parse("template.yaml", template)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 3 || !s.Nodes[2].Client {
		t.Errorf("nodes: %+v", s.Nodes)
	}
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(spec.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	fields := []map[string]any{schema.Properties, schema.Defs["node"].Properties, schema.Defs["limits"].Properties}
	for _, properties := range fields {
		for name := range properties {
			if name != "addresses" && !bytes.Contains(template, []byte(name+":")) {
				t.Errorf("nothing of %s", name)
			}
		}
	}
}
