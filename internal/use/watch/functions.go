package watch

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Calls of functions are seen only in programs that have probes. The programs that the commands of
// nodes name have them before they begin, and so have those that run when the watch finds them. A
// node may begin another program, from a script for example. The kernel tells of it, and the watch
// reads its file. Until that is done, no moment after the begin is judged. If the program has the
// functions, its calls before the probes were set are missing. If no program of a node has a
// function, it is unknown what the node exposes by its calls.

// sight is what is known of a node's functions: which of them have probes in programs that it runs.
type sight struct {
	// missing are the functions without probes so far, by query. The node may not have begun the
	// program that has them.
	missing map[int]bool
	begun   ariadne.Time // when it began, by the machine's clock
	certain bool         // the program that its command names has all of them
	unseen  []string     // what is missing, in words, as far as verifiers were told
	said    bool         // a person was told, too
}

// needs reports whether a node should have what a probe reads. A client need not have what servers
// have, unless it is named.
func (n *watched) needs(p *spec.Probe) bool {
	return p.At(n.def.ID) && (!n.def.Client || p.Nodes != nil)
}

// beginSight is called when a process of a node begins, or when the functions have changed.
func (a *Agent) beginSight(n *watched) {
	n.sight = sight{missing: map[int]bool{}, begun: native.Now()}
	for i, p := range a.of {
		if p.Function != "" && n.needs(p) {
			n.sight.missing[i] = true
		}
	}
	remove := func(from map[int]bool, path string) {
		if id, err := native.IdentifyPath(path); err == nil && a.programs[id] != nil {
			a.programs[id].removeFrom(from)
		}
	}
	for _, path := range runningIn(n) {
		remove(n.sight.missing, path)
	}
	missing := maps.Clone(n.sight.missing)
	if n.isStarted() {
		for _, args := range n.commands() {
			for _, path := range a.programsIn(args[:1]) {
				remove(missing, path)
			}
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

// removeFrom removes those functions that have probes in the program.
func (p *program) removeFrom(missing map[int]bool) {
	for _, i := range p.functions {
		delete(missing, i)
	}
}

// dropWritten takes the probes out of program files to which somebody writes. Nobody runs them
// then. But one that runs may get another time of its last change (touch): it is read again.
func (a *Agent) dropWritten() {
	for id, p := range a.programs {
		if p.probes == nil || !p.probes.IsWritten() {
			continue
		}
		since := a.now()
		delete(a.programs, id)
		if err := p.probes.Close(); err != nil {
			a.failed = cmp.Or(a.failed, err)
		}
		for _, n := range a.nodes {
			a.begunUnseen(n, since)
		}
	}
}

// begun is a program that a node has begun, and that was not read yet.
type begun struct {
	node *watched
	at   ariadne.Time // it has called nothing before
	id   native.FileID
	main bool // the node's own process runs it
}

// hasFunctions reports whether calls of a node's functions are watched.
func (a *Agent) hasFunctions(n *watched) bool {
	return slices.ContainsFunc(a.of, func(p *spec.Probe) bool { return p.Function != "" && p.At(n.def.ID) })
}

// hearBegun enters a program that a node has begun.
func (a *Agent) hearBegun(b probe.Begun) {
	n, at := a.watchedAs(ariadne.NodeID(b.Node)), native.FromKernel(b.At)-a.base
	if n == nil || !a.hasFunctions(n) {
		return
	}
	id := b.File
	if other, ok := a.others[id]; ok {
		id = other
	}
	if a.programs[id] == nil {
		f, is, ok := openBegun(n, &b)
		if !ok {
			n.unreadable = cmp.Or(n.unreadable, b.Path)
			a.lose(n, at, a.now(), a.namesByCalls(n),
				"it began a program that could not be read, such as "+n.unreadable)
			return
		}
		if is != id {
			a.others[id] = is
		}
		id = is
		a.learn(f, id)
	}
	a.begun = append(a.begun, begun{n, at, id, n.process != nil && n.process.PID == b.PID})
}

// openBegun opens the file of a program that a node has begun. The process may have ended.
func openBegun(n *watched, b *probe.Begun) (f *os.File, id native.FileID, ok bool) {
	paths := []string{fmt.Sprintf("/proc/%d/exe", b.PID)}
	pids := []int{b.PID}
	if n.process != nil {
		pids = append(pids, n.process.PID)
	}
	for _, pid := range pids {
		from := "cwd"
		if filepath.IsAbs(b.Path) {
			from = "root"
		}
		paths = append(paths, fmt.Sprintf("/proc/%d/%s/%s", pid, from, b.Path))
	}
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		id, err := native.IdentifyFile(f)
		same := id
		same.Device = b.File.Device // some file systems show another one
		if i == 0 {
			same.Inode = b.File.Inode // likewise; but the process may have begun a third program
		}
		if err == nil && same == b.File {
			return f, id, true
		}
		f.Close()
	}
	return nil, id, false
}

// begunUnseen enters the programs that a node runs, when it has begun some of which nobody has told
// since a time.
func (a *Agent) begunUnseen(n *watched, since ariadne.Time) {
	if n.process == nil || !a.hasFunctions(n) {
		return
	}
	for _, path := range runningIn(n) {
		f, err := os.Open(path)
		if err != nil {
			continue // it has ended
		}
		id, err := native.IdentifyFile(f)
		if known := a.programs[id]; err != nil || known != nil && known.ready {
			f.Close()
			continue
		}
		a.learn(f, id)
		a.begun = append(a.begun, begun{n, since, id, false})
	}
}

// settle enters what programs have that were read since.
func (a *Agent) settle() {
	a.begun = slices.DeleteFunc(a.begun, func(b begun) bool {
		p := a.programs[b.id]
		switch {
		case p == nil: // it was written to
			a.lose(b.node, b.at, a.now(), a.namesByCalls(b.node), "a program that it began was changed at once")
			return true
		case p.ready:
			a.meet(b, p)
			return true
		case a.now() < b.at.Add(readWithin) && (!a.ending || a.now() < a.settleBy):
			return false
		}
		a.lose(b.node, b.at, a.now(), a.namesByCalls(b.node), "a program that it began was not read in time")
		return true
	})
}

// meet enters that a node has begun a program that was read.
func (a *Agent) meet(b begun, p *program) {
	n := b.node
	if p.probed-a.base > b.at {
		a.lose(n, b.at, a.now(), a.namesOf(n, p.functions), "it ran before its functions were watched")
	}
	a.lose(n, b.at, a.now(), a.namesOf(n, p.unprobed), p.wrong)
	switch {
	case n.process == nil:
		return
	case b.main:
		// It does not run any more what it has run before.
		said := n.sight.said
		a.beginSight(n)
		n.sight.said = said
	case len(n.sight.missing) == 0:
		return
	}
	p.removeFrom(n.sight.missing)
	if len(n.sight.missing) > 0 {
		n.sight.certain = false
	}
	a.tellSight(n)
}

// namesOf are those of the tuples that a node may expose by some functions.
func (a *Agent) namesOf(n *watched, functions []int) (names []string) {
	for _, i := range functions {
		if name := a.of[i].Name; a.of[i].At(n.def.ID) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n.process == nil {
		return a.staying(names)
	}
	return names
}

// unread is the time from which on it is unknown whether calls of a node are seen, because it has
// begun a program that was not read yet; Never: there is none.
func (a *Agent) unread(n *watched) ariadne.Time {
	first := ariadne.Never
	for i := range a.begun {
		if b := &a.begun[i]; b.node == n {
			first = min(first, b.at)
		}
	}
	return first
}

// seekFunctions tells again of functions that are not seen so far.
func (a *Agent) seekFunctions(n *watched) {
	if n.process != nil && len(n.sight.missing) > 0 {
		a.tellSight(n)
	}
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

const (
	// readWithin is how long a program may take to be read. Nothing that its node does later is
	// judged meanwhile.
	readWithin = 30 * time.Second
	// settleWithin is the same at the end of a watch. It is shorter than others wait for the agent.
	settleWithin = endWithin / 2
)
