//go:build linux

package check_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestEtcdctl: what etcdctl, as it is, and etcd say to each other is understood. By it alone a
// version is found to lose what it has acknowledged; the one in which that is repaired is not, and
// neither are three members, whose followers also answer reads by themselves.
func TestEtcdctl(t *testing.T) {
	if _, err := exec.LookPath("etcd"); err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command("../../../examples/bugs/etcd-single/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	for _, c := range []struct {
		spec       string
		executions int
		found      string // "": nothing
	}{
		{"bugs/etcd-single/wire-3.5.4", 2000, `get -> ""`},
		{"bugs/etcd-single/wire-3.5.18", 30, ""},
		{"etcd/wire", 2, ""},
		{"etcd/gateway", 2, ""},
	} {
		s, err := spec.Read(filepath.Join("../../../examples", c.spec+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Check(t.Context(), s,
			check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"),
				Executions: c.executions, Workers: 1,
				Search: check.Search{Strategy: "default"}})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.found == "" && r.Outcome != record.Nothing:
			t.Errorf("%s: %v, %q", c.spec, r.Outcome, append(r.Doubts, r.Bugs...))
		case c.found != "" && (r.Outcome != record.Violated || !strings.Contains(r.Violations[0].Message, c.found)):
			t.Errorf("%s: %v after %d executions, %q", c.spec, r.Outcome, r.Executions, append(r.Doubts, r.Bugs...))
		}
		t.Logf("%s: %d executions", c.spec, r.Executions)
	}
}
