//go:build linux

package explain_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/explain"
)

// TestExplainLease: of a message that comes when a lease is over, the explanation says where the
// server decides that, and by which values.
func TestExplainLease(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-g", "-O0", "-o", filepath.Join(dir, "lease"),
		"../check/testdata/lease.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	path := filepath.Join(dir, "spec.yaml")
	systemtest.Write(t, path, "max_delay: 15s\nnodes:\n"+
		"  - {name: server, address: 10.0.0.1, command: ./lease server clock}\n"+
		"  - {name: client, command: ./lease client, client: true}\n")
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	version := system.Options{Version: "test"}
	r, err := check.Check(t.Context(), s, check.Options{System: version, Out: filepath.Join(dir, "out"), Workers: 1,
		Shrink: time.Minute, Search: check.Search{Strategy: "deviations", ProbeClocks: check.ProbeAll}})
	if err != nil || len(r.Violations) != 1 {
		t.Fatalf("%v, %+v", err, r)
	}
	trace := r.Violations[0].Trace
	if v := r.Violations[0].Shrunk; v != nil {
		trace = v.Trace
	}
	x, err := explain.Explain(t.Context(), s, trace, explain.Options{System: version, Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range x.Story {
		b := m.Boundary
		if b == nil {
			continue
		}
		found = true
		if !m.Needed || b.Node != "server" || b.After > m.At || b.Branch == nil || !b.Branch.Confirmed ||
			b.Branch.Stack[0].Function != "server" || !strings.Contains(b.Branch.Compares(), "10000000000") {
			t.Errorf("%+v, %+v", b, b.Branch)
		}
	}
	if !found {
		t.Errorf("%+v", x.Story)
	}
}
