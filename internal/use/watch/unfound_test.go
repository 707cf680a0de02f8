package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
)

// TestNeverFound: a watch is inconclusive if it has never found a node's process, or a file with
// its lines, and says what it has looked for. A property that the node may keep is then only
// suspected.
func TestNeverFound(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{"pidfile: nowhere", "a process whose id is in DIR/nowhere"},
		{"match: 'no such process [x]'", `a process whose arguments match "no such process [x]"`},
		{"cgroup: nosuch.scope", `a process in a control group "nosuch.scope"`},
		{"start: 'sleep 99', log: nowhere.log", "the log file DIR/nowhere.log"},
	} {
		s := specOf(t, fmt.Sprintf(`
nodes: [{name: n1}, {name: n2}]
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}, error: broken}
properties: {at most one leader: {one: leader}, no leader: {always: 'len(leader) == len(error)'}}
watch:
  nodes:
    n1: {start: 'sleep 0.1; echo leads 1; sleep 9'}
    n2: {%s}
`, c.node))
		r := watchFor(t, s, Options{Time: 600 * time.Millisecond})
		want := "node n2: never found: " + strings.ReplaceAll(c.want, "DIR", filepath.Dir(s.Path))
		if r.Outcome != record.Suspected || !slices.Equal(r.Doubts, []string{want}) || len(r.Findings) != 1 ||
			!slices.Equal(r.Findings[0].Without, []string{"n2"}) ||
			!slices.Contains(r.Notes, "no node has exposed error") {
			t.Errorf("%s: %v, doubts %q, notes %q, findings %+v", c.node, r.Outcome, r.Doubts, r.Notes, r.Findings)
		}
	}
}

// TestFoundLate: what a watch finds late counts from then on, and a violation that was suspected
// without it is certain if the property still does not hold.
func TestFoundLate(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}, {name: n2}]
expose: {leader: {line: 'leads (?P<term>\d+)', until: follows}}
properties: {at most one leader: {one: leader}, no leader: {always: 'len(leader) == 0'}}
watch:
  nodes:
    n1: {start: 'sleep 0.1; echo leads 1; sleep 9'}
    n2: {start: 'sleep 9', log: late.log}
`)
	late := func() {
		if err := os.WriteFile(filepath.Join(filepath.Dir(s.Path), "late.log"), []byte("x\n"), 0o644); err != nil {
			t.Error(err)
		}
	}
	r := watchFor(t, s, Options{Time: time.Second, OnBegin: func() { time.AfterFunc(500*time.Millisecond, late) }})
	if r.Outcome != record.Violated || len(r.Doubts) > 0 || len(r.Findings) != 2 || r.Findings[0].Without == nil ||
		r.Findings[1].Without != nil {
		t.Errorf("%v %q %+v", r.Outcome, r.Doubts, r.Findings)
	}
}
