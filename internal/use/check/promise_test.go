//go:build linux

package check_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// promisers write a file, have it written to the disk at SYNC or do not, and promise that it is
// there.
var promisers = []struct {
	asker
	sync string
}{
	{asker{"sh", "sh", "sh ask.sh", `CLIENT
tell begin
echo x >f
SYNC
tell "promise f"
tell end
sleep 1
`}, "sync f ."},
	{asker{"py", "Python", "python3 ask.py", `import os, time
CLIENT
tell("begin")
with open("f", "w") as f: f.write("x")
SYNC
tell("promise f")
tell("end")
time.sleep(1)
`}, "os.sync()"},
	{asker{"c", "C", "./ask", `#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
CLIENT
int main(void) {
	tell("begin");
	int fd = open("f", O_CREAT | O_WRONLY, 0644);
	if (write(fd, "x", 1) != 1) return 1;
	SYNC;
	tell("promise f");
	tell("end");
	sleep(1);
	return 0;
}
`}, "sync()"},
	{asker{"go", "Go", "./ask", `package main
import ("fmt"; "os"; "syscall"; "time")
CLIENT
func main() {
	tell("begin")
	os.WriteFile("f", []byte("x"), 0644)
	SYNC
	tell("promise f")
	tell("end")
	time.Sleep(time.Second)
}
var _ = syscall.Sync
`}, "syscall.Sync()"},
}

// TestPromises: what a program promises is told to who looks at the files after a loss of power, in
// each image. It holds when the file was synced before, and only then.
func TestPromises(t *testing.T) {
	const look = `for p in $ARIADNE_PROMISES; do test -s $p || exit 1; done; [ $ARIADNE_BEGUN$ARIADNE_ENDED != 11 ] || test -s f`
	for _, p := range promisers {
		for _, synced := range []bool{false, true} {
			sync := ""
			if synced {
				sync = p.sync
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "ask."+p.name)
			systemtest.Write(t, file,
				strings.NewReplacer("CLIENT", documented(t, p.asker), "SYNC", sync).Replace(p.source))
			if build := map[string][]string{"c": {"cc", "-O1", "-Wall", "-o"},
				"go": {"go", "build", "-o"}}[p.name]; build != nil {
				if out, err := exec.Command(build[0],
					append(build[1:], filepath.Join(dir, "ask"), file)...).CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", build[0], err, out)
				}
			}
			args := strings.Fields(p.command)
			args[len(args)-1] = filepath.Join(dir, filepath.Base(args[len(args)-1]))
			native := exec.Command(args[0], args[1:]...)
			native.Dir = t.TempDir()
			if out, err := native.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s where nobody searches: %v\n%s", p.name, err, out)
			}
			systemtest.Write(t, filepath.Join(dir, "look.sh"), look)
			systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "faults: {power: {model: any, for: [1s]}}\nnodes:\n  - {command: "+p.command+", restart: 'true', after_crash: sh look.sh}\n")
			s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := check.Check(t.Context(), s,
				check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
					Search: check.Search{Strategy: "deviations", Audit: 1}})
			if err != nil || len(r.Bugs) > 0 || r.Coverage.Nodes.Mismatches > 0 {
				t.Fatal(err, r)
			}
			if want := map[bool]record.Outcome{false: record.Violated,
				true: record.Nothing}[synced]; r.Outcome != want {
				t.Errorf("%s, synced %v: %v after %d losses", p.name, synced, r.Outcome, r.Coverage.Memo.Stopped)
			}
			if !synced {
				replays(t, p.name, r)
			}
		}
	}
}
