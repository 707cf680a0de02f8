//go:build linux

package check_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// leaseSpec is a spec of the server of testdata/lease.c that learns in such a way what time it is,
// and its client.
func leaseSpec(t *testing.T, how, more string, nodes ...string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-o", filepath.Join(dir, "lease"),
		"testdata/lease.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	path := filepath.Join(dir, "spec.yaml")
	systemtest.Write(t, path, more+fmt.Sprintf("nodes:\n  - {name: server, address: 10.0.0.1, command: ./lease server %s}\n  - {name: client, command: ./lease client, client: true}\n", how)+strings.Join(nodes, ""))
	s, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestExploredAtTimes: a search in which a node has learnt what time it is says that it explored
// everything at the times at which events happened, and names the node. It also says so after it
// was resumed, and does not where nobody looks at a clock.
func TestExploredAtTimes(t *testing.T) {
	for how, want := range map[string][]string{"clock": {"server"}, "remains": {"server"}, "blind": nil} {
		for _, strategy := range []string{"dpor", "depth-first"} {
			t.Run(how+" "+strategy, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				o := check.Options{System: version, Out: out, Workers: 1, Search: check.Search{Strategy: strategy}}
				r, err := check.Check(t.Context(), leaseSpec(t, how, "delays: 0\n"), o)
				if err != nil {
					t.Fatal(err)
				}
				stopped := check.StopExplored
				if want != nil {
					stopped = check.StopExploredAtTimes
				}
				if c := r.Coverage; r.Outcome != record.Nothing || r.Outcome.ExitStatus() != 0 || !c.Exhausted ||
					r.Stopped != stopped || !slices.Equal(c.ReadClock, want) {
					t.Errorf("%v, %q, clock read by %q: %v, %v", r.Outcome, r.Stopped, c.ReadClock,
						strings.Join(r.Doubts, "; "), c.Missed)
				}
			})
		}
	}
}
