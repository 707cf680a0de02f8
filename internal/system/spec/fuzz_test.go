package spec

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse: whatever the bytes are, the result is either a spec that is whole, or errors of one
// line each that begin with the file's name; and the same again for the same bytes.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*", "testdata/bad/*"} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			if data, err := os.ReadFile(path); err == nil {
				f.Add(data, filepath.Ext(path))
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, extension string) {
		path := "testdata/good/fuzz"
		if extension == ".yaml" || extension == ".txt" {
			path += extension
		}
		s, err := Parse(path, data)
		again, errAgain := Parse(path, data)
		if !reflect.DeepEqual(s, again) || !reflect.DeepEqual(err, errAgain) {
			t.Fatalf("read twice: %v, %v and %v, %v", s, err, again, errAgain)
		}
		if err != nil {
			checkErrors(t, path, err.(Errors))
			return
		}
		checkWhole(t, s)
	})
}

func checkErrors(t *testing.T, path string, errs Errors) {
	if len(errs) == 0 {
		t.Fatal("an error that says nothing")
	}
	for i, e := range errs {
		line := e.Error()
		if strings.Contains(line, "\n") || !strings.HasPrefix(line, path+":") {
			t.Fatalf("not one line with the file's name: %q", line)
		}
		if i > 0 && e.Line < errs[i-1].Line {
			t.Fatalf("line %d after line %d", e.Line, errs[i-1].Line)
		}
	}
}

func checkWhole(t *testing.T, s *Spec) {
	if len(s.Nodes) == 0 || len(s.Nodes) > MaxNodes {
		t.Fatalf("%d nodes", len(s.Nodes))
	}
	seen := map[string]bool{}
	for i, n := range s.Nodes {
		if int(n.ID) != i || n.Name == "" || seen[n.Name] || len(n.Addrs) == 0 || n.CPUs < 1 || len(n.Commands) == 0 {
			t.Fatalf("bad node %+v", n)
		}
		seen[n.Name] = true
		for _, c := range n.Commands {
			if !filepath.IsAbs(c.Args[0]) {
				t.Fatalf("program %q", c.Args[0])
			}
		}
		if n.Dir != "" && !isDir(n.Dir) {
			t.Fatalf("directory %q", n.Dir)
		}
	}
	if s.Latency < 0 || s.ClockError < 0 || s.Delays < 0 || s.Limits.Steps < 1 || s.Limits.Time < 1 ||
		s.Limits.Calls < 1 || s.Limits.Divergence < 1 {
		t.Fatalf("bad numbers in %+v", s)
	}
}
