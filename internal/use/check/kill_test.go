package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// killedCheck in the environment makes this program a check in that directory,
// which goes on until somebody kills it.
const killedCheck = "ARIADNE_TEST_KILLED_CHECK"

// killedAnew beside it: the check begins again whatever the directory holds.
const killedAnew = "ARIADNE_TEST_KILLED_ANEW"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedCheck); dir != "" {
		checkUntilKilled(dir)
	}
	if what := os.Getenv(killedSearch); what != "" {
		searchUntilKilled(what)
	}
	if dir := os.Getenv(killedNodes); dir != "" {
		checkNodesUntilKilled(dir)
	}
	if dir := os.Getenv(stuckUntilKilled); dir != "" {
		checkStuck(dir)
	}
	os.Exit(m.Run())
}

func checkUntilKilled(dir string) {
	slow := &systemtest.Fakes{Programs: worldtest.LostUpdate, Applying: func(ariadne.Input) error {
		time.Sleep(100 * time.Microsecond)
		return nil
	}}
	out := filepath.Join(dir, "out")
	_, err := check.Check(context.Background(), systemtest.SpecIn(dir, 3, 2, 1, 2),
		check.Options{System: system.Options{Nodes: slow}, Out: out, Resume: os.Getenv(killedAnew) == "" &&
			systemtest.Exists(out), KeepGoing: true, Workers: 2, Executions: 1_000_000})
	panic(fmt.Sprint("it came to an end: ", err))
}

// TestKilledAtAnyMoment: what was found before is there and can be replayed, and
// the check can be resumed.
func TestKilledAtAnyMoment(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	next := 0
	for round := range 4 {
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), killedCheck+"="+s.Dir)
		killedOnce(t, p, func() bool {
			return systemtest.Exists("out/violation-1/timeline.txt") && loadReport(t).Next > 0
		}, time.Duration(90*round)*time.Millisecond)
		r := loadReport(t)
		if r.Next < next || r.Stopped != "" {
			t.Errorf("round %d: next %d after %d, stopped %q", round, r.Next, next, r.Stopped)
		}
		next = r.Next
		for _, v := range r.Violations {
			again := replay(t, s, &systemtest.Fakes{Programs: worldtest.LostUpdate}, v.Trace)
			if again.Outcome != record.Violated {
				t.Errorf("round %d: %+v", round, again)
			}
		}
		noLitter(t)
	}
	if next == 0 {
		t.Fatal("nothing was done before the first kill")
	}
	if corpus := systemtest.Read(t, "out/corpus.json"); !strings.Contains(corpus, `"violation":true`) {
		t.Errorf("a check that was killed has left for the next one: %s", corpus)
	}
	rest := checked(t, s, &systemtest.Fakes{Programs: worldtest.LostUpdate},
		check.Options{Out: "out", Resume: true, KeepGoing: true, Executions: loadReport(t).Executions + 50})
	if rest.Next <= next || len(rest.Violations) != 1 || rest.Stopped != "executions" {
		t.Errorf("rest: %+v", rest)
	}
}

// killedOnce starts a process, and kills it some time after something has come true, however long
// that takes.
func killedOnce(t *testing.T, p *exec.Cmd, is func() bool, after time.Duration) {
	t.Helper()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	for !is() {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it was killed: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	time.Sleep(after)
	p.Process.Kill()
	<-ended
}

// TestKilledAsItBegins: a check that is killed at once, in a new directory or in one
// with an earlier run, can be begun again and resumed, and takes nothing over from
// that run.
func TestKilledAsItBegins(t *testing.T) {
	rounds := 6
	if os.Getenv("ARIADNE_LONG") != "" {
		rounds = 200
	}
	s := systemtest.Spec(t, 3, 2, 1, 2)
	fresh := func() *systemtest.Fakes { return &systemtest.Fakes{Programs: worldtest.LostUpdate} }
	after := 0 // rounds in which the kill came after the first report
	for round := range rounds {
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		touched := "out"
		if round%2 == 1 { // the directory has an earlier run
			checked(t, s, fresh(), check.Options{Out: "out", KeepGoing: true, Executions: 20})
			systemtest.Write(t, "out/unconfirmed-9", "of the earlier run")
			touched = "out/report.json.new"
		}
		p := exec.Command(os.Args[0])
		p.Env = append(os.Environ(), killedCheck+"="+s.Dir, killedAnew+"=1")
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		for !systemtest.Exists(touched) && (touched == "out" || systemtest.Exists("out/unconfirmed-9")) {
			time.Sleep(10 * time.Microsecond)
		}
		if rand.IntN(2) == 0 {
			time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Millisecond))))
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		p.Wait()
		resume := round%4 < 2
		if systemtest.Exists("out/report.json") {
			after++
			if loadReport(t).Executions == 20 && systemtest.Exists("out/unconfirmed-9") {
				resume = false // it is still that of the earlier run
			}
		}
		r := checked(t, s, fresh(),
			check.Options{Out: "out", Resume: resume, KeepGoing: true, Executions: 30, Workers: 1})
		if r.Executions != 30 || r.Next != 30 || len(r.Violations) != 1 || systemtest.Exists("out/unconfirmed-9") {
			t.Fatalf("round %d: %+v", round, r)
		}
		noLitter(t)
	}
	t.Logf("%d of %d kills were after the first report", after, rounds)
}

// TestBegunAnew: in whatever order the files of a run directory came to be, what a kill
// can leave of them is resumed, and what it cannot is refused.
func TestBegunAnew(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	begin := func(resume bool) (*record.Report, error) {
		return check.Check(t.Context(), s,
			check.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: worldtest.LostUpdate}}, Out: "out",
				Resume: resume, KeepGoing: true, Executions: 20, Workers: 1})
	}
	if _, err := begin(true); err == nil || !strings.Contains(err.Error(), "nothing to resume") {
		t.Errorf("without a directory: %v", err)
	}
	whole, err := begin(false)
	if err != nil {
		t.Fatal(err)
	}
	first := &record.Report{Command: "check", Spec: s.Path, SpecDigest: s.Digest, Seed: s.Seed, Out: "out"}
	text, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		ours  bool
	}{
		{"nothing", nil, true},
		{"half a report", map[string]string{"report.json.new": `{"comm`}, true},
		{"a first report", map[string]string{"report.json": string(text)}, true},
		{"a first report, and an earlier run",
			map[string]string{"report.json": string(text), "spec.yaml": "name: x\n", "coverage.csv": "1",
				"unconfirmed-1": "x"}, true},
		{"something else", map[string]string{"report.json.new": `{"comm`, "notes.txt": "mine"}, false},
	} {
		for _, resume := range []bool{true, false} {
			if err := errors.Join(os.RemoveAll("out"), os.Mkdir("out", 0o777)); err != nil {
				t.Fatal(err)
			}
			for name, text := range c.files {
				systemtest.Write(t, filepath.Join("out", name), text)
			}
			r, err := begin(resume)
			if !c.ours {
				if err == nil || !systemtest.Exists("out/notes.txt") {
					t.Errorf("%s, resume %v: %v", c.name, resume, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, resume %v: %v", c.name, resume, err)
				continue
			}
			if r.Executions != 20 || len(r.Violations) != len(whole.Violations) ||
				systemtest.Exists("out/unconfirmed-1") || !systemtest.Exists("out/spec.yaml") {
				t.Errorf("%s, resume %v: %+v", c.name, resume, r)
			}
			noLitter(t)
		}
	}
}

func loadReport(t *testing.T) *record.Report {
	t.Helper()
	r := &record.Report{}
	if err := json.Unmarshal([]byte(systemtest.Read(t, "out", "report.json")), r); err != nil {
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
		if !slices.Contains([]string{"spec.yaml", "report.json", "report.json.new", "execution", "violation",
			"coverage.csv", "coverage.svg", "coverage.seen", "corpus.json", "corpus.json.new"}, name) {
			t.Errorf("litter: %s", e.Name())
		}
	}
}
