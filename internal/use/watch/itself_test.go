package watch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// TestUnderItself: ariadne watch and its agents, as programs that a check runs. With faults of
// their machines and network they are never certain of what is not so. Without faults they judge,
// and find what is wrong.
func TestUnderItself(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../../examples/watch")); err != nil {
		t.Fatal(err)
	}
	for program, from := range map[string]string{"baton": dir, "ariadne": "../../../cmd/ariadne"} {
		cmd := exec.Command("go", "build", "-pgo=off", "-buildvcs=false", "-ldflags=-E main.start", "-o",
			filepath.Join(dir, "bin", program), ".")
		if program == "baton" {
			cmd.Args = []string{"go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "bin", program), "."}
		}
		cmd.Dir = from
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	natural := func(name string) (lines []string, violations int) {
		s, err := spec.Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Run(t.Context(), s, run.Options{System: system.Options{Version: "test"},
			Out: filepath.Join(t.TempDir(), "out"), OnStep: func(s ariadne.Step) {
				for _, l := range s.Output.Logs {
					lines = append(lines, l.Text)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		return lines, len(r.Violations)
	}
	judged := 0
	lines, violations := natural("watched.yaml")
	for _, l := range lines {
		if strings.HasPrefix(l, "at most one leader: ") && !strings.Contains(l, " 0 moments") {
			judged++
		}
	}
	if judged != 2 || violations != 0 {
		t.Errorf("%d processes have judged, %d violations:\n%s", judged, violations, strings.Join(lines, "\n"))
	}
	if lines, violations := natural("watched-bug.yaml"); violations != 1 {
		t.Errorf("the watch does not find the bug:\n%s", strings.Join(lines, "\n"))
	}
	s, err := spec.Read(filepath.Join(dir, "watched.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	executions := 6
	if os.Getenv("ARIADNE_LONG") != "" {
		executions = 200
	}
	r, err := check.Check(t.Context(), s, check.Options{System: system.Options{Version: "test"},
		Out: filepath.Join(t.TempDir(), "out"), Workers: 2, Executions: executions, Time: time.Hour})
	if err != nil || len(r.Violations) > 0 || r.Executions < executions {
		t.Errorf("%v %+v", err, r)
	}
}
