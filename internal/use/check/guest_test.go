//go:build linux

package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// checkGuest checks a spec of examples/guest. executions: at most so many, or 0.
func checkGuest(t *testing.T, name string, executions int) *record.Report {
	t.Helper()
	s, err := spec.Read(filepath.Join("../../../examples/guest", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := check.Check(t.Context(), s, check.Options{System: system.Options{Version: "test"},
		Out: filepath.Join(t.TempDir(), "out"), Executions: executions, Workers: 1,
		Search: check.Search{Strategy: "deviations"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestGuestKernel: a guest kernel in QEMU loses files that it has synced if QEMU ignores its
// flushes. With ARIADNE_LONG, ext4 loses none if QEMU passes the flushes on, and a disk that tears
// ext4's superblock makes it unusable.
func TestGuestKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("a guest boots, and each execution takes seconds")
	}
	for _, program := range []string{"qemu-system-x86_64", "busybox"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if out, err := exec.Command("../../../examples/guest/fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	expect := func(name, message string) {
		r := checkGuest(t, name, 40)
		if r.Outcome != record.Violated || !strings.HasPrefix(r.Violations[0].Message, message) {
			t.Errorf("%s: %v after %d executions, %q", name, r.Outcome, r.Executions, append(r.Doubts, r.Bugs...))
		}
	}
	expect("ext4-unsafe", "what was synced is there")
	if os.Getenv("ARIADNE_LONG") == "" {
		return
	}
	expect("ext4-torn", "the file system recovers")
	if r := checkGuest(t, "ext4", 0); r.Outcome != record.Nothing || !r.Coverage.Exhausted {
		t.Errorf("ext4: %v, stopped: %s, %q", r.Outcome, r.Stopped, append(r.Doubts, r.Bugs...))
	}
}
