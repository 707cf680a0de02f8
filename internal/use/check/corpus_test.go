package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestCorpus: a check begins with what the one before has found, unless it is to be fresh. Its
// findings replay without the one before, and with one worker and the same corpus the same seed
// gives the same. Of other programs nothing is found that is not there.
func TestCorpus(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	s.Faults = worldtest.Faults("duplicate", 1)
	programs := worldtest.LostUpdate
	f := &systemtest.Fakes{Programs: programs}
	o := check.Options{Out: filepath.Join(t.TempDir(), "out"), Executions: 400, Workers: 1,
		Search: check.Search{Strategy: "default"}}
	path := filepath.Join(o.Out, "corpus.json")

	fresh := o
	fresh.Search.Fresh = true
	first := inMemory(t, s, programs, fresh)
	if _, err := os.Stat(path); err == nil {
		t.Fatal("a fresh check has left something")
	}
	if again := inMemory(t, s, programs, o); again.Executions != first.Executions || first.Outcome != record.Violated {
		t.Fatalf("%v after %d executions, and %d with nothing to begin with", first.Outcome, first.Executions,
			again.Executions)
	}
	corpus := systemtest.Read(t, path)
	begins := 0
	for i := range 2 {
		if err := os.WriteFile(path, []byte(corpus), 0o666); err != nil {
			t.Fatal(err)
		}
		next := inMemory(t, s, programs, o)
		if next.Outcome != record.Violated || next.Executions > 3 || next.Executions >= first.Executions {
			t.Errorf("%v after %d executions; after %d before", next.Outcome, next.Executions, first.Executions)
		}
		if i > 0 && next.Executions != begins {
			t.Errorf("%d executions, %d before", next.Executions, begins)
		}
		begins = next.Executions
		t.Logf("%d executions, %d the first time", next.Executions, first.Executions)
		if again := replay(t, s, f, next.Violations[0].Trace); again.Outcome != record.Violated ||
			again.Violations[0].Message != first.Violations[0].Message {
			t.Errorf("replay: %+v", again)
		}
	}
	if got := inMemory(t, s, programs, fresh); got.Executions != first.Executions {
		t.Errorf("a fresh check takes %d executions, %d before", got.Executions, first.Executions)
	}

	right := func() []worldtest.Program { return []worldtest.Program{worldtest.Pong{}, &sender{}, &sender{}} }
	other := o // whose nodes nobody remembers
	other.Out = filepath.Join(t.TempDir(), "other")
	inMemory(t, s, right, other)
	if err := os.WriteFile(filepath.Join(other.Out, "corpus.json"), []byte(corpus), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := inMemory(t, s, right, other); len(got.Violations)+len(got.Bugs) > 0 {
		t.Errorf("other programs: %+v", got)
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := inMemory(t, s, programs, o); got.Outcome != record.Violated ||
		!strings.Contains(strings.Join(got.Notes, "\n"), "corpus.json could not be read, and is written again") {
		t.Errorf("a damaged corpus: %v, %q", got.Outcome, got.Notes)
	}
}

// TestCorpusIsBounded: what many checks leave stays small, and what they have not tried again
// stays.
func TestCorpusIsBounded(t *testing.T) {
	s := systemtest.Spec(t, 3, 2)
	s.Faults = worldtest.Faults("duplicate", 2)
	programs := func() (all []worldtest.Program) {
		for range 3 {
			all = append(all, &worldtest.Chaos{Nodes: 3, Seed: 1, Acts: 12, Exits: 1000, Speaks: true})
		}
		return all
	}
	out := filepath.Join(t.TempDir(), "out")
	for seed := range uint64(3) {
		s.Seed = seed
		inMemory(t, s, programs,
			check.Options{Out: out, Executions: 60, Workers: 2, KeepGoing: true,
				Search: check.Search{Strategy: "default"}})
		text := systemtest.Read(t, filepath.Join(out, "corpus.json"))
		if n := strings.Count(text, `"steps"`); n < 8 || n > 64 {
			t.Errorf("%d prefixes", n)
		}
	}
}

// TestCorpusOfRandom: what random executions have found is where the next check begins, though its
// nodes are frozen. The corpus of the check before stays there.
func TestCorpusOfRandom(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	s.Faults = worldtest.Faults("duplicate", 1)
	programs := worldtest.LostUpdate
	f := &systemtest.Fakes{Programs: programs}
	out := filepath.Join(t.TempDir(), "out")
	o := check.Options{Out: out, Executions: 400, Workers: 1, Search: check.Search{Strategy: "random"},
		System: system.Options{Nodes: f, CallName: worldtest.CallName}}
	found, err := check.Check(t.Context(), s, o)
	if err != nil || found.Outcome != record.Violated {
		t.Fatalf("%v, %+v", err, found)
	}
	corpus := systemtest.Read(t, filepath.Join(out, "corpus.json"))
	if !strings.Contains(corpus, `"violation":true`) {
		t.Fatalf("the corpus has no violation: %s", corpus)
	}
	next := inMemory(t, s, programs,
		check.Options{Out: out, Executions: 400, Workers: 1, Search: check.Search{Strategy: "default"}})
	if next.Outcome != record.Violated || next.Executions > 3 ||
		next.Violations[0].Message != found.Violations[0].Message {
		t.Errorf("%v after %d executions", next.Outcome, next.Executions)
	}
}
