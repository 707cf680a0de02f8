package watch

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
)

// Calls of functions are seen only in programs that have probes. The programs that the commands of
// nodes name have them before they begin, and so have those that run when the watch finds them.
// A node may run another program: one without debug information, or one that a script begins. Then
// what the node exposes by calls is unknown, and the watch looks for the functions.

// sight is in which programs of a node functions are seen.
type sight struct {
	// lacking are the functions, by query, that no program has had which the node was seen to run
	// since it began.
	lacking  map[int]bool
	begun    ariadne.Time    // when it began
	looked   ariadne.Time    // when its programs were looked at last
	expected bool            // programs that it should run have all of them
	late     bool            // probes may have been set in a program after it began
	unseen   []string        // what is lacking, in words, as far as it was told
	ran      map[string]bool // paths of programs with some, which it may run again
}

// seekLater is how often programs of a node are looked at that has long been without a function.
const seekLater = time.Second

// beginSight is called when a process of a node begins, or when the functions have changed.
func (a *Agent) beginSight(n *watched) {
	n.sight = sight{lacking: map[int]bool{}, begun: a.now(), expected: true, ran: n.sight.ran}
	if n.sight.ran == nil {
		n.sight.ran = map[string]bool{}
	}
	for i, p := range a.of {
		// A client need not have the functions of servers.
		if p.Function != "" && p.At(n.def.ID) && !n.def.Client {
			n.sight.lacking[i] = true
		}
	}
	missing := maps.Clone(n.sight.lacking)
	paths := slices.Collect(maps.Keys(n.sight.ran))
	if n.isStarted() {
		for _, args := range n.commands() {
			paths = append(paths, a.programsIn(args)...)
		}
	}
	for _, path := range slices.Concat(paths, runningIn(n)) {
		if id, err := native.IdentifyFile(path); err == nil {
			a.removeFunctions(missing, id)
		}
	}
	n.sight.expected = len(missing) == 0
	a.tellSight(n, lacksAfter)
}

// runningIn are the files of the programs that a node runs.
func runningIn(n *watched) (paths []string) {
	for _, pid := range native.Programs(n.process.PID) {
		if tid, ok := native.Living(pid); ok {
			paths = append(paths, fmt.Sprintf("/proc/%d/exe", tid))
		}
	}
	return paths
}

// removeFunctions removes those functions that have probes in a program.
func (a *Agent) removeFunctions(from map[int]bool, id native.FileID) {
	if p := a.programs[id]; p != nil && p.ready {
		for _, i := range p.functions {
			delete(from, i)
		}
	}
}

// seekFunctions looks at the programs that a node runs, as long as one lacks a function. wait is
// for how long the node may take to begin the program that it should run.
func (a *Agent) seekFunctions(n *watched, wait time.Duration) {
	s := &n.sight
	seldom := wait > 0 && a.now() >= s.begun.Add(lacksAfter)
	if n.process == nil || len(s.lacking) == 0 || seldom && a.now() < s.looked.Add(seekLater) {
		return
	}
	s.looked = a.now()
	lacked, running := len(s.lacking), runningIn(n)
	for _, path := range running {
		id, err := native.IdentifyFile(path)
		if err != nil {
			continue // it has ended
		}
		switch p := a.programs[id]; {
		case p == nil:
			a.learn(path, id)
			s.late = true
		case !p.ready:
			s.late = true
		case len(p.functions) > 0:
			a.removeFunctions(s.lacking, id)
			if file, err := os.Readlink(path); err == nil {
				s.ran[file] = true
			}
		}
	}
	if len(s.lacking) < lacked && (!s.expected || s.late) {
		at := a.now()
		a.lose(n, at, at, a.namesByCalls(n), "it ran before its functions were watched")
	}
	if len(running) > 0 {
		a.tellSight(n, wait)
	}
}

// tellSight tells which functions are not seen. Those of a program that the node should run are
// missed after a time.
func (a *Agent) tellSight(n *watched, wait time.Duration) {
	s := &n.sight
	s.unseen = nil
	if len(s.lacking) > 0 && (!s.expected || a.now() >= s.begun.Add(wait)) {
		all := mapped(slices.Sorted(maps.Keys(s.lacking)), func(i int) string { return a.of[i].What() })
		s.unseen = []string{strings.Join(all, ", ") + " in a program with debug information"}
	}
	a.tellLacking(n)
}
