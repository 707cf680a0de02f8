//go:build linux

package check_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// tellers are programs of two processes or threads that each tell of an event, the first of which
// fails when the other's happens before its own. How they tell is CLIENT, which stands in
// docs/guides/programs.md.
var tellers = []asker{
	{"sh", "sh", "sh ask.sh", `CLIENT
[ -c /dev/ariadne ] || { event '{}' && echo "told 0 0"; exit; }
f=/tmp/ask.$$
(event '{"who": "b", "n": 2}'; echo b >>$f) &
b=$!
event '{"who": "a"}'
! [ -s $f ] || kill -ABRT $$
wait $b
rm $f
echo "told 0 0"
`},
	{"py", "Python", "python3 ask.py", `import os, threading
CLIENT
done = []
def b():
    event('{"who": "b", "n": 2}')
    done.append(1)
if not os.path.exists("/dev/ariadne"): event("{}"); print("told 0 0"); raise SystemExit
t = threading.Thread(target=b)
t.start()
event('{"who": "a"}')
if done: os.abort()
t.join()
print("told 0 0")
`},
	{"c", "C", "./ask", `#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
CLIENT
int done;
void *b(void *x) { event("{\"who\": \"b\", \"n\": 2}"); done = 1; return x; }
int main(void) {
	pthread_t t;
	if (access("/dev/ariadne", F_OK)) { event("{}"); puts("told 0 0"); return 0; }
	pthread_create(&t, NULL, b, NULL);
	event("{\"who\": \"a\"}");
	if (done) abort();
	pthread_join(t, NULL);
	puts("told 0 0");
	return 0;
}
`},
	{"go", "Go", "./ask", `package main
import ("fmt"; "os"; "sync/atomic"; "syscall")
CLIENT
func main() {
	var done atomic.Bool
	over := make(chan bool)
	if _, err := os.Stat("/dev/ariadne"); err != nil { event("{}"); fmt.Println("told 0 0"); return }
	go func() { event("{\"who\": \"b\", \"n\": 2}"); done.Store(true); close(over) }()
	event("{\"who\": \"a\"}")
	if done.Load() { syscall.Kill(os.Getpid(), syscall.SIGABRT) }
	<-over
	fmt.Println("told 0 0")
}
`},
}

// TestProgramsTellOfEvents: both orders of two events of a node are tried by every strategy that is
// exhaustive, one of them fails, and its trace, which has the events' names, replays.
func TestProgramsTellOfEvents(t *testing.T) {
	for _, a := range tellers {
		t.Run(a.name, func(t *testing.T) {
			s := asking(t, a)
			for _, row := range strategy.Rows() {
				if row.Asks || row.Once || a.name != "sh" && row.Name != strategy.DefaultName && row.Name != "random" {
					continue
				}
				o := check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Executions: 1000,
					Workers: 2, KeepGoing: true, Search: check.Search{Strategy: row.Name}}
				if row.Lives {
					o.Workers, o.Executions = 1, 100
				} else {
					o.Search.Audit = 1
				}
				r, err := check.Check(t.Context(), s, o)
				if err != nil || len(r.Bugs) > 0 || len(r.Doubts) > 0 {
					t.Fatalf("%s: %v, %v", row.Name, err, r)
				}
				if r.Outcome != record.Violated || len(r.Violations) != 1 {
					t.Fatalf("%s: %v after %d executions", row.Name, r.Outcome, r.Executions)
				}
				switch row.Name {
				case "depth-first", "breadth-first", "deviations", "dpor", "sleep-sets", "all-paths":
					if !r.Coverage.Exhausted || row.Name != "breadth-first" && r.Executions != 2 {
						t.Errorf("%s: %d executions, exhausted: %v", row.Name, r.Executions, r.Coverage.Exhausted)
					}
				}
				path := r.Violations[0].Trace
				if text := systemtest.Read(t, path); strings.Count(text, " event n1 #") == 0 {
					t.Errorf("the trace:\n%s", text)
				}
				replays(t, row.Name, r)
			}
		})
	}
}

// TestEventsEndWithTheirPrograms: what a program that was killed has told of does not happen to the
// one that is run in its place.
func TestEventsEndWithTheirPrograms(t *testing.T) {
	dir := t.TempDir()
	systemtest.Write(t, filepath.Join(dir, "tell.sh"), `{ echo 'event {"n": 1}' >&3; read -r go <&3; } 3<>/dev/ariadne
[ "$go" = go ] || kill -ABRT $$
`)
	for _, faults := range []string{"crash: {nodes: [n1]}", "stop: {nodes: [n1]}"} {
		systemtest.Write(t, filepath.Join(dir, "spec.yaml"), "faults: {"+faults+"}\nnodes:\n  - name: n1\n    command: sh tell.sh\n    client: true\n")
		s, err := spec.Read(filepath.Join(dir, "spec.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := check.Check(t.Context(), s,
			check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
				Search: check.Search{Strategy: "depth-first", Audit: 1}})
		if err != nil || r.Outcome != record.Nothing || !r.Coverage.Exhausted || r.Executions < 3 {
			t.Errorf("%s: %+v, %v", faults, r, err)
		}
	}
}
