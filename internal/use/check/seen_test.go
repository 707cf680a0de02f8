package check_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// hostDir is a directory of the host's that nodes see where it is.
func hostDir(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(here, "host-of-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// watched are real nodes of which each step is counted.
type watched struct {
	system.Processes
	watch func([]ariadne.File)
}

func (w watched) Start(c system.NodeConfig) (memo.Instance, error) {
	learnt := c.Learnt
	c.Learnt = func(files []ariadne.File) {
		learnt(files)
		w.watch(files)
	}
	return w.Processes.Start(c)
}

// TestHostChangesUnderNodes: others change the host in the midst of a check. Where all that nodes
// ask for is known as it was first, they are shown that, and the check ends as if nothing had
// changed; else it ends soon, and says which file it was.
func TestHostChangesUnderNodes(t *testing.T) {
	if testing.Short() {
		t.Skip("each check takes seconds")
	}
	for i, c := range []struct{ name, asks, changes, file string }{
		{"a file is replaced", `[ "$(cat $D/small)" = 1 ]`, `echo 2 >new; mv new small`, ""},
		{"a file is written to", `[ "$(cat $D/small)" = 1 ]`, `echo 22 >small`, ""},
		{"a file goes", `[ -s $D/small ] && [ "$(cat $D/small)" = 1 ]`, `rm small`, ""},
		{"a file grows that is looked at", `[ $(stat -c %s $D/small) = 2 ] && cat $D/small`, `echo more >>small`, ""},
		{"a file comes", `[ ! -e $D/none ] && ! cat $D/none`, `echo 1 >none`, ""},
		{"a program comes", `PATH=$D/dir:$PATH; ! tool`, `printf '#!/bin/sh\nexit 0\n' >dir/tool; chmod +x dir/tool`,
			""},
		{"names come", `[ "$(ls $D/dir)" = one ]`, `touch dir/two dir/three`, ""},
		{"names go", `[ "$(ls $D/dir)" = one ]`, `rm dir/one; touch dir/other`, ""},
		{"nobody asks", `[ "$(cat $D/small)" = 1 ]`, `echo 1 >beside; rm -r dir`, ""},
		{"a file is opened by another name", `cd $D/dir; [ "$(cat ../small)" = 1 ] && exec 3<../small && read x <&3 && [ "$x" = 1 ] && [ "$(readlink /proc/self/fd/3)" = $D/small ]`, `echo 2 >new; mv new small`, ""},
		{"a large file is replaced", `cat $D/large >/dev/null`, `cp large new; echo 1 >>new; mv new large`, "large"},
		{"a large file is written to", `cat $D/large >/dev/null`, `echo 1 >>large`, "large"},
		{"a large file has another name", `cat $D/large >/dev/null`, `ln large other`, ""},
		{"links are counted", `[ $(stat -c %h $D/large) = 1 ]`, `ln large other`, ""},
		{"a mode changes", `test -x $D/dir && [ "$(stat -c %a $D/dir)" = 755 ]`, `chmod 700 dir`, "dir"},
		{"a link leads elsewhere", `[ "$(cat $D/link/one)" = 1 ]`, `mkdir d2; echo 2 >d2/one; rm link; ln -s d2 link`,
			""},
		{"a directory is another", `[ -d $D/dir ] && cd $D/dir && ls`, `mv dir old; mkdir dir`, "dir"},
	} {
		for _, way := range []struct {
			name     string
			strategy string
			audit    float64
			memo     bool
		}{{"audit", "default", 1, false}, {"living", "random", 0, false}, {"walks", "walks", 0, true}} {
			if way.audit == 0 && i%3 != 0 {
				continue
			}
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				host, dir := hostDir(t), t.TempDir()
				sh(t, host, `echo 1 >small; mkdir dir; echo 1 >dir/one; ln -s dir link; head -c 400000 /dev/zero >large`)
				path := filepath.Join(dir, "s.yaml")
				systemtest.Write(t, path, fmt.Sprintf("faults: {crash: {count: 1, nodes: [a, b]}}\nnodes:\n"+
					"  - name: a\n    client: true\n    env: {D: %s}\n    command: |\n      for i in 1 2; do sleep 0.$i; { %s; } || exit 1; done\n      exit 0\n"+
					"  - {name: b, client: true, command: sleep 0.2}\n", host, c.asks))
				s, err := spec.Read(path)
				if err != nil {
					t.Fatal(err)
				}
				steps, changed := 0, false // steps since a node has asked for the first time
				nodes := watched{watch: func(files []ariadne.File) {
					asks := slices.ContainsFunc(files, func(f ariadne.File) bool {
						return strings.HasPrefix(f.Path, host+"/")
					})
					if steps > 0 || asks {
						steps++
					}
					if steps == 2 && !changed {
						sh(t, host, c.changes)
						changed = true
					}
				}}
				r, err := check.Check(t.Context(), s,
					check.Options{System: system.Options{Version: "test", Nodes: nodes}, Out: filepath.Join(dir, "out"),
						Workers:    1,
						Executions: 5,
						Search:     check.Search{Strategy: way.strategy, Audit: way.audit, NoMemo: !way.memo}})
				var setup *ariadne.SetupError
				if errors.As(err, &setup) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				doubts := strings.Join(r.Doubts, "\n")
				switch {
				case !changed:
					t.Fatalf("the check ended before anything was changed: %d executions, %s, doubts %q, bugs %q", r.Executions, r.Stopped, r.Doubts, r.Bugs)
				case len(r.Bugs) > 0 || len(r.Violations) > 0:
					t.Errorf("bugs %q, violations %+v", r.Bugs, r.Violations)
				case c.file == "" && (len(r.Doubts) > 0 || steps < 5):
					t.Errorf("%v after %d executions, %d steps: %s", r.Outcome, r.Executions, steps, doubts)
				case c.file != "" && way.memo && r.Outcome == record.Nothing && !strings.Contains(c.name, "written"):
					// What is remembered is not asked again.
				case c.file != "" &&
					(r.Outcome != record.Inconclusive || !strings.Contains(doubts, filepath.Join(host, c.file))):
					t.Errorf("%v, doubts %q do not name %s", r.Outcome, doubts, c.file)
				}
			})
		}
	}
}
