package system

import (
	"slices"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/insn"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// A program that executes what cannot be trapped, such as the processor's random numbers,
// does not do the same twice. That is no bug of anybody's, and no verdict.

// code are the files whose code nodes have run, by node, as nodes see their paths.
type code struct {
	mu    sync.Mutex
	files map[ariadne.NodeID]map[string]bool
}

// learn notes what a node has learnt of files.
func (c *code) learn(id ariadne.NodeID, files []ariadne.File) {
	for _, f := range files {
		if f.Use != ariadne.FileCode {
			continue
		}
		c.mu.Lock()
		if c.files == nil {
			c.files = map[ariadne.NodeID]map[string]bool{}
		}
		if c.files[id] == nil {
			c.files[id] = map[string]bool{}
		}
		c.files[id][f.Path] = true
		c.mu.Unlock()
	}
}

// of are the files of a node; those that its commands name come first.
func (c *code) of(id ariadne.NodeID, commands []string) (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range c.files[id] {
		paths = append(paths, p)
	}
	slices.SortFunc(paths, func(a, b string) int {
		if first := slices.Contains(commands, a); first != slices.Contains(commands, b) {
			if first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return paths
}

// Uncontrolled names the instructions in what a node has run for which it may not do the same
// twice, as the end of a text; or it is "". A program that asks with cpuid was told that they do
// not exist, where cpuid can be trapped. Most such libraries ask, so they count as no excuse.
func (y *System) Uncontrolled(id ariadne.NodeID) string {
	def := &y.Spec.Nodes[id]
	var commands, lines []string
	for _, c := range def.Programs() {
		commands = append(commands, c.Args[0])
	}
	for _, file := range y.ran.of(id, commands) {
		// What cannot be read explains nothing.
		found, err := insn.Scan(hostPath(y.Spec, file))
		if err != nil {
			continue
		}
		trapsClock, err := tracee.CanTrapTSC()
		trapsClock = trapsClock || err != nil
		var places []string
		for _, p := range found.Doubtful { // at all others there are breakpoints
			if p.ReadsClock() && trapsClock || !p.ReadsClock() && found.CPUID && tracee.CanTrapCPUID() {
				continue
			}
			places = append(places, p.String())
		}
		if len(places) == 0 {
			continue
		}
		lines = append(lines, file+": "+strings.Join(places, ", "))
	}
	if len(lines) == 0 {
		return ""
	}
	return "\n" + Listed("node "+def.Name+" runs code with instructions that Ariadne cannot control (docs/internals/limits.md)", lines)
}

// UncontrolledBy is Uncontrolled of the node of that name, or of all when there is none:
// a replay may leave its trace where no node has done anything.
func (y *System) UncontrolledBy(name string) (text string) {
	for i := range y.Spec.Nodes {
		if n := &y.Spec.Nodes[i]; name == "" || n.Name == name {
			text += y.Uncontrolled(n.ID)
		}
	}
	return text
}
