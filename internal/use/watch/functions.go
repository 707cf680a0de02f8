package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Calls of functions are seen only in programs that have probes. The programs that the commands of
// nodes name have them before they begin, and so have those that run when the watch finds them.
// A node may run another program: one without debug information, or one that a script begins. Then
// what the node exposes by calls is unknown, and the watch looks for the functions.

// sight is what is known of a node's functions: which of them have probes in programs that it runs.
type sight struct {
	// missing are the functions without probes so far, by query. The node may not have begun the
	// program that has them.
	missing map[int]bool
	some    bool                   // the node should have functions
	begun   ariadne.Time           // when it began, by the machine's clock
	looked  ariadne.Time           // when its programs were looked at last, likewise
	certain bool                   // the program that its command names has all of them
	told    map[native.FileID]bool // programs of which nothing more is to be told as lost
	unseen  []string               // what is missing, in words, as far as verifiers were told
	said    bool                   // a person was told, too
}

// seekLater is how often a node's programs are looked at when it has run for a while.
const seekLater = time.Second

// needs reports whether a node should have what a probe reads. A client need not have what servers
// have, unless it is named.
func (n *watched) needs(p *spec.Probe) bool {
	return p.At(n.def.ID) && (!n.def.Client || p.Nodes != nil)
}

// beginSight is called when a process of a node begins, or when the functions have changed.
func (a *Agent) beginSight(n *watched) {
	n.sight = sight{missing: map[int]bool{}, begun: native.Now(), told: map[native.FileID]bool{}}
	for i, p := range a.of {
		if p.Function != "" && n.needs(p) {
			n.sight.missing[i], n.sight.some = true, true
		}
	}
	if !n.sight.some {
		a.tellSight(n)
		return
	}
	missing := maps.Clone(n.sight.missing)
	if n.isStarted() {
		for _, args := range n.commands() {
			for _, path := range a.programsIn(args[:1]) {
				a.removeFunctions(missing, path)
			}
		}
	}
	for _, path := range runningIn(n) {
		if id, ok := a.removeFunctions(missing, path); ok {
			n.sight.told[id] = true // enterProcess and tellKnown say what it may have called before
		}
	}
	n.sight.certain = len(missing) == 0
	a.tellSight(n)
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

// removeFunctions removes those functions that have probes in a program's file. ok: the file was
// read.
func (a *Agent) removeFunctions(from map[int]bool, path string) (id native.FileID, ok bool) {
	id, err := native.IdentifyPath(path)
	p := a.programs[id]
	if err != nil || p == nil || !p.ready {
		return id, false
	}
	for _, i := range p.functions {
		delete(from, i)
	}
	return id, true
}

// seekFunctions looks now and then at the programs that a node runs.
func (a *Agent) seekFunctions(n *watched) {
	s := &n.sight
	if n.process == nil || !s.some {
		return
	}
	now := native.Now()
	if (len(s.missing) == 0 || now >= s.begun.Add(lacksAfter)) && now < s.looked.Add(seekLater) && !a.ending {
		return
	}
	s.looked = now
	reads := false
	for _, path := range runningIn(n) {
		id, ok := a.removeFunctions(s.missing, path)
		if !ok {
			reads = true
			if a.programs[id] == nil && id != (native.FileID{}) {
				a.learn(path, id)
			}
			continue
		}
		if p := a.programs[id]; len(p.functions) > 0 && p.probed > s.begun && !s.told[id] {
			at := a.now()
			a.lose(n, at, at, a.namesByCalls(n), "it ran before its functions were watched")
			s.told[id] = true
		}
	}
	if reads && len(s.missing) > 0 {
		s.certain = false
	}
	a.tellSight(n)
}

// tellSight tells which functions are not seen. Those of the program that the command names are
// missed after a time.
func (a *Agent) tellSight(n *watched) {
	s := &n.sight
	s.unseen = nil
	late := native.Now() >= s.begun.Add(lacksAfter)
	if len(s.missing) > 0 && (!s.certain || late) {
		all := mapped(slices.Sorted(maps.Keys(s.missing)), func(i int) string { return a.of[i].What() })
		s.unseen = []string{strings.Join(all, ", ") + " in a program with debug information"}
	}
	a.seek(n)
	if s.unseen != nil && late && !s.said && a.onWait != nil && !a.ending {
		s.said = true
		a.onWait(fmt.Sprintf("node %s: not found yet: %s", n.def.Name, n.sought))
	}
}
