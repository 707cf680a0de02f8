package check_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// files are all files below a directory with what they hold.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	if err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var b []byte
			b, err = os.ReadFile(p)
			all[p] = string(b)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestOutInUse: a command that finds its run directory in use takes nothing from it.
func TestOutInUse(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	o := check.Options{Out: "out", KeepGoing: true, Executions: 20, Workers: 1}
	var before, after map[string]string
	f := &systemtest.Fakes{Programs: worldtest.LostUpdate}
	f.Applying = func(ariadne.Input) error {
		if before != nil {
			return nil
		}
		before = files(t, "out")
		second := o
		second.System.Nodes = &systemtest.Fakes{Programs: worldtest.LostUpdate}
		for name, start := range map[string]func() (*record.Report, error){
			"check": func() (*record.Report, error) { return check.Check(t.Context(), s, second) },
			"resume": func() (*record.Report, error) {
				r := second
				r.Resume = true
				return check.Check(t.Context(), s, r)
			},
			"run": func() (*record.Report, error) {
				return run.Run(t.Context(), s, run.Options{System: second.System, Out: second.Out})
			},
		} {
			if _, err := start(); err == nil ||
				!strings.Contains(err.Error(), "out: another ariadne that is still running uses it") {
				t.Errorf("%s: %v", name, err)
			}
		}
		after = files(t, "out")
		return nil
	}
	first := o
	first.System.Nodes = f
	if _, err := check.Check(t.Context(), s, first); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(before) != fmt.Sprint(after) || len(before) == 0 {
		t.Errorf("it had\n%v\nand then\n%v", before, after)
	}
	first.System.Nodes = &systemtest.Fakes{Programs: worldtest.LostUpdate}
	if _, err := check.Check(t.Context(), s, first); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOutOfAnotherCommand: one kind of command does not take the place of another one's results.
func TestOutOfAnotherCommand(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	o := check.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: worldtest.LostUpdate},
		Version: "test"}, KeepGoing: true, Executions: 20, Workers: 1}
	alone := func(dir string) run.Options { return run.Options{System: o.System, Out: dir} }
	out := func(dir string) check.Options { p := o; p.Out = dir; return p }
	checked, err := check.Check(t.Context(), s, out("check"))
	if err != nil || len(checked.Violations) == 0 {
		t.Fatalf("%v, %+v", err, checked)
	}
	ran, err := run.Run(t.Context(), s, alone("run"))
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, ".")
	for name, start := range map[string]func() (*record.Report, error){
		"check has the results of a check, which a run does not": func() (*record.Report, error) {
			return run.Run(t.Context(), s, alone("check"))
		},
		"check has the results of a check, which a replay does not": func() (*record.Report, error) {
			return run.Replay(t.Context(), s, ran.Trace, alone("check"))
		},
		"run has the results of a run, which a check does not": func() (*record.Report, error) {
			return check.Check(t.Context(), s, out("run"))
		},
		"run has the results of a run, which a replay does not": func() (*record.Report, error) {
			return run.Replay(t.Context(), s, checked.Violations[0].Trace, alone("run"))
		},
	} {
		if _, err := start(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if fmt.Sprint(before) != fmt.Sprint(files(t, ".")) {
		t.Error("files have changed")
	}
	for name, start := range map[string]func() (*record.Report, error){
		"check": func() (*record.Report, error) { return check.Check(t.Context(), s, out("check")) },
		"run":   func() (*record.Report, error) { return run.Run(t.Context(), s, alone("run")) },
	} {
		if _, err := start(); err != nil {
			t.Errorf("%s again: %v", name, err)
		}
	}
}

// TestDamagedRunDirectory: whatever has happened to the files of a run directory: a check that is
// resumed there refuses, or comes to what it would have come to, and a replay refuses, or follows
// the trace.
func TestDamagedRunDirectory(t *testing.T) {
	s := systemtest.Spec(t, 3, 2, 1, 2)
	times := 40
	if os.Getenv("ARIADNE_LONG") != "" {
		times = 300
	}
	for _, strategy := range []string{"walks", "depth-first", ""} {
		out := "out-" + strategy
		o := check.Options{System: system.Options{Version: "test"}, Out: out, KeepGoing: true, Executions: 10,
			Workers: 1, Search: check.Search{Strategy: strategy}}
		search := func(executions int, resume bool) (*record.Report, error) {
			o := o
			o.System.Nodes, o.Executions, o.Resume, o.System.CallName = systemtest.Freezable{Fakes: &systemtest.Fakes{Programs: worldtest.LostUpdate}}, executions, resume, worldtest.CallName
			return check.Check(t.Context(), s, o)
		}
		first, err := search(10, false)
		if err != nil {
			t.Fatal(err)
		}
		good := files(t, out)
		whole, err := search(30, true)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range good {
			names = append(names, name)
		}
		refused := 0
		for i := range times {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			name := names[r.IntN(len(names))]
			if i%2 == 0 { // those that are read
				name = filepath.Join(out, []string{"report.json", "coverage.seen", "memo.db"}[i/2%3])
			}
			if len(good[name]) == 0 {
				continue
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
			for name, text := range good {
				if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
					t.Fatal(err)
				}
				systemtest.Write(t, name, text)
			}
			systemtest.Write(t, name, string(damaged(r, []byte(good[name]))))
			what := fmt.Sprintf("%q: damage %d of %s", strategy, i, name)
			got, err := search(30, true)
			switch {
			case err != nil:
				refused++
				if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "panic") {
					t.Errorf("%s: %v", what, err)
				}
			case got.Outcome != whole.Outcome || len(got.Bugs) > 0:
				t.Errorf("%s: %v, bugs %q", what, got.Outcome, got.Bugs)
			case len(got.Violations) < len(first.Violations):
				t.Errorf("%s: %d violations of %d", what, len(got.Violations), len(first.Violations))
			}
			for _, v := range first.Violations {
				p, err := run.Replay(t.Context(), s, v.Trace,
					run.Options{System: system.Options{Nodes: &systemtest.Fakes{Programs: worldtest.LostUpdate},
						Version: "test", CallName: worldtest.CallName}})
				if err == nil && p.Outcome != record.Violated {
					t.Errorf("%s: the replay of %s: %v, %q %q", what, v.Trace, p.Outcome, p.Bugs, p.Doubts)
				}
			}
		}
		if refused == 0 {
			t.Errorf("%q: nothing was refused", strategy)
		}
	}
}

// damaged is data with something done to it.
func damaged(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	switch r.IntN(4) {
	case 0:
		return data[:r.IntN(len(data))]
	case 1:
		at := r.IntN(len(data))
		for i := range data[at:min(len(data), at+100)] {
			data[at+i] = byte(r.Uint32())
		}
	default:
		for range 1 + r.IntN(3) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
	}
	return data
}
