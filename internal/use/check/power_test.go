//go:build linux

package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// save is a program that replaces a file, as an editor may do it; what is synced in between
// differs.
const save = `import os, sys
def write(name, text, *sync):
    fd = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
    os.write(fd, text)
    if "file" in sync: os.fsync(fd)
    os.close(fd)
def sync(name):
    fd = os.open(name, os.O_RDONLY); os.fsync(fd); os.close(fd)
size = int(sys.argv[1])
how = sys.argv[2:]
if how == ["look"]:
    b = open("f", "rb").read()
    sys.exit(0 if b in (b"o" * size, b"n" * size) else "f has %d bytes, %r" % (len(b), b[:3]))
if not os.path.exists("f"):
    sys.exit()
write("new", b"n" * size, *how)
os.rename("new", "f")
if "dir" in how: sync(".")
`

// TestPower: a file that is replaced by a rename is whole after every loss of power if it was
// synced before, and by default with ext4's help also if it was not; losses within recovery change
// nothing of that. Steps with losses are the same when they are executed again; what is found was
// replayed.
func TestPower(t *testing.T) {
	size, most := 5000, 1 // two blocks, one loss
	if os.Getenv("ARIADNE_LONG") != "" {
		size, most = 9000, 2
	}
	for _, c := range []struct {
		name, how, model string
		size, count      int
		broken           bool
	}{
		{"synced", "file dir", "any", size, most, false},
		// at most so many sectors that no image is left out
		{"synced, torn", "file", "any:512", 1500, 1, false},
		{"unsynced", "", "any", size, 1, true},
		{"unsynced, with a journal", "", "ordered", size, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "spec.yaml")
			if err := os.Mkdir(filepath.Join(dir, "data"), 0o777); err != nil {
				t.Fatal(err)
			}
			systemtest.Write(t, filepath.Join(dir, "save.py"), save)
			systemtest.Write(t, filepath.Join(dir, "data", "f"), strings.Repeat("o", c.size))
			systemtest.Write(t, path, fmt.Sprintf("faults: {power: {count: %d, model: %q, for: [1s]}}\nnodes:\n  - name: n1\n    dir: data\n"+
				"    command: python3 -IS /spec/save.py %d %s\n    after_crash: ['true', python3 -IS /spec/save.py %d look]\n", c.count, c.model, c.size, c.how, c.size))
			s, err := spec.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out")
			r, err := check.Check(t.Context(), s,
				check.Options{System: version, Out: out, Workers: 1,
					Search: check.Search{Strategy: "deviations", Audit: 0.3}})
			if err != nil || len(r.Bugs) > 0 || r.Coverage.Exhausted == c.broken || r.Coverage.Nodes.Mismatches > 0 ||
				r.Coverage.Memo.LeftOut > 0 {
				t.Fatalf("%v, %+v", err, r)
			}
			t.Logf("%d states, %d losses, %d disks, %d violations", r.Coverage.States, r.Coverage.Memo.Stopped,
				r.Coverage.Memo.Disks, len(r.Violations))
			if broken := r.Outcome == record.Violated; broken != c.broken || r.Coverage.Memo.Stopped < 3 {
				t.Fatalf("%v after %d losses", r.Outcome, r.Coverage.Memo.Stopped)
			}
		})
	}
}
