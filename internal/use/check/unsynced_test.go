//go:build linux

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// unsynced are the programs of testdata/unsynced.c, what they find, and what must hold of what is
// left.
var unsynced = []struct {
	program string
	files   map[string]string
	serves  bool
	// of a server, when an execution has ended; else whenever the machine starts again
	holds string
}{
	{"write", map[string]string{"data": "-"}, true, "[ ! -e client/files/node/acked ] || grep -q x server/files/node/data"},
	{"rename", map[string]string{"data": "-", "old": "x"}, true, "[ ! -e client/files/node/acked ] || grep -q x server/files/node/data"},
	{"replace", map[string]string{"data": strings.Repeat("o", 4096)}, false, "case $(tr -s on <data) in o|n) [ $(stat -c %s data) = 4096 ];; *) exit 1; esac"},
	{"torn", map[string]string{"data": strings.Repeat("o", 8192)}, false, `case $(tr -s on <data) in o|n|no) [ "$1" = 1 ] || [ "$(tr -s on <data)" != no ];; *) exit 1; esac`},
}

// TestUnsynced: every strategy finds that a program, in one step, says or shows something before it
// is durable: that it acknowledges a write or a rename before the sync, syncs a file behind its
// rename, or writes more at once than a sector with O_DSYNC. It finds nothing where the program has
// the order right.
func TestUnsynced(t *testing.T) {
	program := filepath.Join(t.TempDir(), "unsynced")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program,
		"testdata/unsynced.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for _, u := range unsynced {
		for _, good := range []int{0, 1} {
			dir := t.TempDir()
			if err := os.Link(program, filepath.Join(dir, "unsynced")); err != nil {
				t.Fatal(err)
			}
			data := filepath.Join(dir, "data")
			if err := os.Mkdir(data, 0o777); err != nil {
				t.Fatal(err)
			}
			for name, text := range u.files {
				systemtest.Write(t, filepath.Join(data, name), text)
			}
			systemtest.Write(t, filepath.Join(dir, "holds"), u.holds+"\n")
			text := fmt.Sprintf("faults: {power: {nodes: [server], model: any, for: [1s]}}\nnodes:\n  - {name: server, dir: data, command: ./unsynced %s %d, restart: sleep 1", u.program, good)
			if u.serves {
				text += "}\n  - {name: client, command: ./unsynced client, client: true}\nfinally: sh holds\n"
			} else {
				text += fmt.Sprintf(", after_crash: sh /spec/holds %d}\n", good)
			}
			path := filepath.Join(dir, "spec.yaml")
			systemtest.Write(t, path, text)
			s, err := spec.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range strategy.Rows() {
				all := os.Getenv("ARIADNE_LONG") != "" || r.Name == "deviations" || r.Name == "dpor"
				if r.Once || r.Name == strategy.LateName || r.Asks || good == 1 && !all {
					continue
				}
				t.Run(fmt.Sprint(u.program, good, r.Name), func(t *testing.T) {
					o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
						Executions: 2000, Search: check.Search{Strategy: r.Name}}
					if good == 1 {
						o.Executions = 100
					}
					got, err := check.Check(t.Context(), s, o)
					if err != nil || len(got.Bugs)+len(got.Doubts) > 0 {
						t.Fatal(err, got)
					}
					if want := [2]record.Outcome{record.Violated, record.Nothing}[good]; got.Outcome != want {
						t.Fatalf("%v after %d executions, stopped by %q", got.Outcome, got.Executions, got.Stopped)
					}
					if good == 0 {
						replays(t, u.program, got)
					}
				})
			}
		}
	}
}
