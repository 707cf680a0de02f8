package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/run"
	"ariadne/internal/world/worldtest"
)

// killedCheck in the environment makes this program a check in that directory,
// which goes on until somebody kills it.
const killedCheck = "ARIADNE_TEST_KILLED_CHECK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedCheck); dir != "" {
		checkUntilKilled(dir)
	}
	if what := os.Getenv(killedSearch); what != "" {
		searchUntilKilled(what)
	}
	os.Exit(m.Run())
}

func checkUntilKilled(dir string) {
	slow := &fakes{programs: worldtest.LostUpdate, applying: func(ariadne.Input) error {
		time.Sleep(100 * time.Microsecond)
		return nil
	}}
	out := filepath.Join(dir, "out")
	_, err := os.Stat(filepath.Join(out, "report.json"))
	_, err = run.Check(context.Background(), specIn(dir, 3, 2, 1, 2), run.Options{
		Nodes: slow, Out: out, Resume: err == nil, KeepGoing: true, Workers: 2, Executions: 1_000_000})
	panic(fmt.Sprint("it came to an end: ", err))
}

// TestKilledAtAnyMoment: what was found before is there and can be replayed, and
// the check can be resumed.
func TestKilledAtAnyMoment(t *testing.T) {
	s := system(t, 3, 2, 1, 2)
	next := 0
	for round := range 4 {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), killedCheck+"="+s.Dir)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			// However slow the machine is, something is done by then.
			if time.Sleep(10 * time.Millisecond); exists("out/violation-1/timeline.txt") && loadReport(t).Next > 0 {
				break
			}
		}
		time.Sleep(time.Duration(90*round) * time.Millisecond)
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		r := loadReport(t)
		if r.Next < next || r.Stopped != "" {
			t.Errorf("round %d: next %d after %d, stopped %q", round, r.Next, next, r.Stopped)
		}
		next = r.Next
		for _, v := range r.Violations {
			again := replay(t, s, &fakes{programs: worldtest.LostUpdate}, v.Trace)
			if again.Outcome != run.Violated {
				t.Errorf("round %d: %+v", round, again)
			}
		}
		noLitter(t)
	}
	if next == 0 {
		t.Fatal("nothing was done before the first kill")
	}
	rest := check(t, s, &fakes{programs: worldtest.LostUpdate}, run.Options{Out: "out", Resume: true, KeepGoing: true, Executions: 100_000, Time: 300 * time.Millisecond})
	if rest.Next <= next || len(rest.Violations) != 1 || rest.Stopped != "time" {
		t.Errorf("rest: %+v", rest)
	}
}

func loadReport(t *testing.T) *run.Report {
	t.Helper()
	r := &run.Report{}
	if err := json.Unmarshal([]byte(read(t, "out", "report.json")), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// noLitter: there is nothing in the run directory but what belongs there.
func noLitter(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir("out")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), "-")
		if !slices.Contains([]string{"spec.yaml", "report.json", "report.json.new", "execution", "violation"}, name) {
			t.Errorf("litter: %s", e.Name())
		}
	}
}
