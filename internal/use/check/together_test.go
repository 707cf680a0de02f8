//go:build linux

package check_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestTwoChecksAtOnce: checks of real nodes in one process, of different systems and of the
// same one, come to what each comes to alone.
func TestTwoChecksAtOnce(t *testing.T) {
	if out, err := exec.Command("../../../examples/planted/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	for _, strategy := range []string{"default", "random"} {
		for _, names := range [][2]string{{"commit-bug", "election"}, {"commit", "commit"}} {
			one := func(name string) string {
				s, err := spec.Read(filepath.Join("../../../examples/planted", name+".yaml"))
				if err != nil {
					return err.Error()
				}
				r, err := check.Check(t.Context(), s,
					check.Options{System: system.Options{Version: "test"}, Out: filepath.Join(t.TempDir(), "out"),
						KeepGoing: true, Executions: 25, Workers: 1,
						Search: check.Search{Strategy: strategy, Memory: 200 << 20}})
				if err != nil {
					return err.Error()
				}
				return summary(r)
			}
			alone := [2]string{one(names[0]), one(names[1])}
			var together [2]string
			var both sync.WaitGroup
			for i, name := range names {
				both.Go(func() { together[i] = one(name) })
			}
			both.Wait()
			if together != alone {
				t.Errorf("%s %v: together\n%s\nalone\n%s", strategy, names, together, alone)
			}
		}
	}
}

// summary is all of a report that does not depend on real time.
func summary(r *record.Report) string {
	text := fmt.Sprintf("%v %q %v %q %q\n%d steps, %d calls, %d messages, %d executions in %v, until %v\n", r.Outcome, r.Stopped, r.Ends, r.Doubts, r.Bugs,
		r.Steps, r.Calls, r.Messages, r.Executions, r.Ends, r.VirtualTime)
	for _, v := range r.Violations {
		text += fmt.Sprintf("%+v in execution %d, %d times\n", v.Violation, v.Execution, v.Count)
	}
	c := r.Coverage
	return text + fmt.Sprintf("%s: %d states %s, %d paths, %d traces, locals %v", c.Strategy, c.States, c.StatesDigest,
		c.Paths, c.Traces, c.LocalStates)
}
