//go:build linux

package check_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// makes creates files, one after the other. It looks whether the last one is there and the third
// one is not.
const makes = `import os, sys, time
if sys.argv[1:] == ["look"]:
    sys.exit(3 if os.path.exists("f4") and not os.path.exists("f2") else 0)
for i in range(5):
    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY, 0o644))
time.sleep(3)
`

// TestLosesLess: what is found with many operations lost is shrunk to what has to be lost.
func TestLosesLess(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "spec.yaml")
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	systemtest.Write(t, filepath.Join(dir, "makes.py"), makes)
	systemtest.Write(t, path, "faults: {power: {count: 1, model: any, for: [1s]}}\nnodes:\n  - name: n1\n    dir: data\n"+
		"    command: python3 -IS /spec/makes.py\n    after_crash: ['true', python3 -IS /spec/makes.py look]\n")
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	r, err := check.Check(t.Context(), s,
		check.Options{System: version, Out: out, Workers: 1, Shrink: time.Minute,
			Search: check.Search{Strategy: "deviations"}})
	if err != nil || r.Outcome != record.Violated {
		t.Fatalf("%v, %+v", err, r)
	}
	v := r.Violations[0]
	if v.Shrunk == nil || v.Size.Lost < 2 || v.Shrunk.From != *v.Size || v.Shrunk.To.Lost != 1 ||
		v.Shrunk.To.Faults != 1 || v.Shrunk.To.Deviations != 0 {
		t.Errorf("%+v, shrunk: %+v", v.Size, v.Shrunk)
	}
}
