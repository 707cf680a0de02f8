//go:build linux

package check_test

import (
	"path/filepath"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestStopsLeaveDisks: machines that stop with the same files are one state from which a search
// goes on once, and executes recovery once; with other files each is a state of its own. Executed a
// second time, all transitions are the same.
func TestStopsLeaveDisks(t *testing.T) {
	for name, c := range map[string]struct {
		do     string
		shared bool
	}{"memory": {":", true}, "files": {"echo x >>log", false}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spec.yaml")
			systemtest.Write(t, path, "faults: {stop: {nodes: [n1], between: true, for: [1s]}}\nnodes:\n  - name: n1\n"+
				"    command: sh -c 'echo start >>log; while sleep 0.1; do "+c.do+"; done'\n"+
				"  - name: client\n    command: sleep 3.45\n    client: true\n")
			s, err := spec.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			var before *record.Report
			for _, workers := range []int{1, 2} {
				r, err := check.Check(t.Context(), s,
					check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: workers,
						KeepGoing: true,
						Search:    check.Search{Strategy: "deviations", Audit: 1}})
				if err != nil || len(r.Bugs) > 0 || r.Outcome != record.Nothing || !r.Coverage.Exhausted {
					t.Fatalf("%v, %+v", err, r)
				}
				n, m := r.Coverage.Nodes, r.Coverage.Memo
				t.Logf("%d states, %d transitions, %d stops, %d disks", r.Coverage.States, n.Executed, m.Stopped,
					m.Disks)
				if n.Mismatches > 0 || m.Stopped < 20 {
					t.Errorf("%d mismatches, %d stops", n.Mismatches, m.Stopped)
				}
				// It may stop in any of four seconds. Without a stop there are 36 further
				// transitions, and 21 after stops in the first or the second.
				if c.shared && (m.Disks != 4 || n.Executed != m.Stopped+57) || !c.shared && m.Disks != m.Stopped {
					t.Errorf("%d stops leave %d disks; %d transitions", m.Stopped, m.Disks, n.Executed)
				}
				if before != nil &&
					(before.Coverage.StatesDigest != r.Coverage.StatesDigest ||
						before.Coverage.States != r.Coverage.States) {
					t.Errorf("%d workers come to %d states, one to %d", workers, r.Coverage.States,
						before.Coverage.States)
				}
				before = r
			}
		})
	}
}
