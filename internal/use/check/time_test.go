//go:build linux

package check_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// inTime is how long a check may take that is to take a second or two. Other work of the machine is
// allowed for.
const inTime = 4 * time.Second

// TestTimeIsKept: a check whose nodes compute for long ends when its time is up, in the middle of a
// step if need be.
func TestTimeIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds of real time")
	}
	const spin = "spin() { i=0; while [ $i -lt $1 ]; do i=$((i+1)); done; }; "
	for name, command := range map[string]string{
		"long start": spin + "spin 100000000",
		"long steps": spin + "while :; do spin 100000; sleep 0.1; done",
	} {
		for _, strategy := range []string{"default", "deviations", "random"} {
			t.Run(name+"/"+strategy, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "spec.yaml")
				systemtest.Write(t, path, "limits: {divergence: 1m}\nfaults: {crash: 1}\nnodes:\n  - name: n1\n    command: sh -c '"+command+"'\n"+
					"  - name: client\n    command: sleep 50\n    client: true\n")
				s, err := spec.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				r, err := check.Check(t.Context(), s,
					check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"),
						Time: time.Second, Search: check.Search{Strategy: strategy}})
				took := time.Since(began)
				if err != nil || len(r.Bugs) > 0 || r.Stopped != "time" || r.Executions > 0 {
					t.Fatalf("%v, %+v", err, r)
				}
				if t.Logf("%v", took); took > inTime {
					t.Errorf("a check of one second took %v", took)
				}
			})
		}
	}
}

// TestTimeIsKeptByShrinking: what was found is confirmed and shrunk within what is left of the
// time.
func TestTimeIsKeptByShrinking(t *testing.T) {
	const step = 20 * time.Millisecond
	s := systemtest.Spec(t, 3, 2, 1, 2)
	s.Faults = worldtest.Faults("duplicate", 2)
	f := &systemtest.Fakes{Programs: worldtest.LostUpdate, Applying: func(ariadne.Input) error {
		time.Sleep(step)
		return nil
	}}
	began := time.Now()
	r := checked(t, s, f,
		check.Options{Workers: 1, Time: 2 * time.Second, Shrink: time.Minute, Search: check.Search{Strategy: "random"}})
	took := time.Since(began)
	if r.Outcome != record.Violated || len(r.Violations) != 1 {
		t.Fatalf("%+v", r)
	}
	if t.Logf("%v, %+v", took, r.Violations[0].Shrunk); took > inTime {
		t.Errorf("a check of two seconds took %v", took)
	}
	if again := replay(t, s, f, r.Violations[0].Trace); again.Outcome != record.Violated {
		t.Errorf("replay: %+v", again)
	}
}
