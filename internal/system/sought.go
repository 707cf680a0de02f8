package system

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// A node sees no file of the spec's directory in /node unless its commands name it, and nothing
// of the host's /tmp. A program that looks there in vain says so in its own words, if at all.

// Sought is where the programs of one node have looked for what only the host has.
type Sought struct {
	mu     sync.Mutex
	names  map[string]bool // as the node sees them
	listed map[string]bool // directories of the node's own
	busy   map[string]bool // where threads have computed for long
	fallen map[string]bool // how workers ended that failed
}

// seek enters what the node has noted.
func (s *Sought) seek(more *node.Sought) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names, s.listed, s.busy, s.fallen = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	for _, all := range []struct {
		of  map[string]bool
		new []string
	}{{s.names, more.Names}, {s.listed, more.Listed}, {s.busy, more.Busy}, {s.fallen, more.Fallen}} {
		for _, x := range all.new {
			all.of[x] = true
		}
	}
}

// advice says which files the node's programs have missed, and how the node gets them; said are
// lines that they wrote. Of a directory that a program has listed nobody knows which name it was
// looking for: a name counts when a line has it in quotes or behind "named", with or without its
// ending, or with its ending as a word.
func (s *Sought) advice(sp *spec.Spec, def *spec.Node, said []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var beside, temporary, own []string
	for name := range s.names {
		rel, err := filepath.Rel(sp.Dir, name)
		switch name, ok := strings.CutPrefix(name, "/node/"); {
		case ok:
			beside = append(beside, name)
		case err == nil && filepath.IsLocal(rel):
			own = append(own, name)
		default:
			temporary = append(temporary, name)
		}
	}
	for dir := range s.listed {
		beside = append(beside, unlisted(sp, def, dir, said)...)
	}
	var lines []string
	if l := s.workers(def); l != "" {
		lines = append(lines, l)
	}
	if places := slices.Sorted(maps.Keys(s.busy)); len(places) > 0 {
		if n := len(places) - maxNames; n > 0 {
			places = append(places[:maxNames], fmt.Sprintf("%d more places", n))
		}
		lines = append(lines, "threads computed for seconds without a system call: "+strings.Join(places, "; ")+
			"; if programs make keys or the like at each start, make them once, beside the spec (dir); if they measure the machine, switch that off")
	}
	if len(beside) > 0 {
		how := "add `dir: .` to the node, which makes its working directory a copy of the spec's"
		if def.Dir != "" {
			how = "put it into " + filepath.Base(def.Dir) + " (dir), or name it as /spec/" + slices.Min(beside)
		}
		lines = append(lines, fmt.Sprintf("%s in the spec's directory but not in /node, where the program looked: %s", theseAre(beside), how))
	}
	if len(own) > 0 {
		rel, _ := filepath.Rel(sp.Dir, slices.Min(own))
		lines = append(lines, fmt.Sprintf("%s in the spec's directory, which the node sees as /spec and nowhere else: name it as /spec/%s", theseAre(own), rel))
	}
	if len(temporary) > 0 {
		lines = append(lines, fmt.Sprintf("%s on this machine but not in the node, whose /tmp and /var/tmp are its own and empty at first: put it beside the spec and name it as /spec/%s", theseAre(temporary), path.Base(slices.Min(temporary))))
	}
	return lines
}

// workers says how processes failed that a server started, or is "". s.mu is held.
func (s *Sought) workers(def *spec.Node) string {
	if len(s.fallen) == 0 || def.Client {
		return ""
	}
	return "processes that a server started failed: " + strings.Join(slices.Sorted(maps.Keys(s.fallen)), "; ") +
		"; look for the reason in the node's log"
}

// FailedWorkers says of which servers processes have failed that they started, a line for each.
func (y *System) FailedWorkers() (lines []string) {
	for i := range y.Spec.Nodes {
		def, s := &y.Spec.Nodes[i], &y.sought[i]
		s.mu.Lock()
		if l := s.workers(def); l != "" {
			lines = append(lines, "node "+def.Name+": "+l)
		}
		s.mu.Unlock()
	}
	return lines
}

// quoted are names in quotes, or behind a word that says so ("No module named app").
var quoted = regexp.MustCompile("'([^']+)'|\"([^\"]+)\"|`([^`]+)`|\\bnamed ([\\w.+-]+)")

// endings are words that look like the name of a file: without an ending a word says too little.
var endings = regexp.MustCompile(`[\w+-][\w.+-]*\.\w*[A-Za-z]\w*`)

// unlisted are names of the spec's directory that a program did not find when it listed the
// directory of the node's own that stands for it, and that lines have in quotes, behind "named" or
// as a word with an ending.
func unlisted(sp *spec.Spec, def *spec.Node, dir string, said []string) (names []string) {
	wanted := map[string]bool{}
	for _, line := range said {
		for _, m := range quoted.FindAllStringSubmatch(line, -1) {
			word := cmp.Or(m[1:]...)
			wanted[word] = true
			module, _, _ := strings.Cut(word, ".")
			wanted[module] = true
		}
		for _, word := range endings.FindAllString(line, -1) {
			wanted[word] = true
		}
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(dir, "/node"), "/")
	host := filepath.Join(sp.Dir, rel)
	entries, err := os.ReadDir(host)
	if err != nil || def.Dir != "" || len(wanted) == 0 {
		return nil
	}
	for _, e := range entries {
		name := filepath.Join(rel, e.Name())
		stem := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		linked := func(l string) bool { return l == name || strings.HasPrefix(l, name+"/") }
		if (wanted[e.Name()] || wanted[stem]) && !slices.ContainsFunc(def.Links, linked) &&
			!sp.Hides(filepath.Join(host, e.Name())) {
			names = append(names, name)
		}
	}
	return names
}

// theseAre is as in "a and b are"; some of them when they are many.
func theseAre(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 1 {
		return names[0] + " is"
	}
	if len(names) > maxNames {
		names = append(names[:maxNames:maxNames], fmt.Sprintf("%d more", len(names)-maxNames))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}

// Missed says which files the nodes' programs have looked for in vain although the host has them,
// one line each. said are the last lines that a node wrote.
func (y *System) Missed(said func(ariadne.NodeID) []string) []string {
	var lines []string
	nodes := map[string][]string{}
	for i := range y.Spec.Nodes {
		def := &y.Spec.Nodes[i]
		for _, l := range y.sought[i].advice(y.Spec, def, said(def.ID)) {
			if nodes[l] == nil {
				lines = append(lines, l)
			}
			nodes[l] = append(nodes[l], def.Name)
		}
	}
	for i, l := range lines {
		of := "node "
		if len(nodes[l]) > 1 {
			of = "nodes "
		}
		lines[i] = of + strings.Join(nodes[l], ", ") + ": " + l
	}
	return lines
}
