// Package systemtest has systems of automata for tests of what executes systems: specs whose
// nodes are programs of worldtest, and factories that start them.
package systemtest

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Fakes starts nodes of a few lines of Go, which live and cannot be frozen.
type Fakes struct {
	Programs func() []worldtest.Program
	Refusals []ariadne.Refusal // of the last node
	Failing  error             // of its Start
	Applying func(ariadne.Input) error
	// Waiting, when not nil, is called before each step of a Freezable node, with the channel that
	// ends the step.
	Waiting func(interrupt <-chan struct{}) error

	mu     sync.Mutex
	made   int
	open   int
	worker map[int]bool
}

// Options are those of a system of these nodes.
func (f *Fakes) Options() system.Options { return options(f) }

func options(f system.Factory) system.Options {
	return system.Options{Nodes: f, CallName: worldtest.CallName, Version: "test"}
}

// Made is how many nodes were started.
func (f *Fakes) Made() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.made
}

// Workers is how many workers started nodes.
func (f *Fakes) Workers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.worker)
}

// Closed wants all nodes closed, and that there were some.
func (f *Fakes) Closed(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open != 0 || f.made == 0 {
		t.Errorf("%d of %d nodes are still open", f.open, f.made)
	}
}

// Enter implements system.Places.
func (f *Fakes) Enter(worker int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.worker == nil {
		f.worker = map[int]bool{}
	}
	f.worker[worker] = true
	return nil
}

// Start implements system.Factory.
func (f *Fakes) Start(c system.NodeConfig) (memo.Instance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, programs := int(c.Node.ID), f.Programs()
	last := id == len(programs)-1
	if last && f.Failing != nil {
		return nil, f.Failing
	}
	f.made++
	f.open++
	n := &fake{Automaton: worldtest.NewAutomaton(c.Node.ID, programs[id]), f: f}
	if last {
		n.refusals = f.Refusals
	}
	return n, nil
}

type fake struct {
	*worldtest.Automaton
	f        *Fakes
	refusals []ariadne.Refusal
}

func (n *fake) Apply(in ariadne.Input) (ariadne.Output, error) {
	if n.f.Applying != nil {
		if err := n.f.Applying(in); err != nil {
			return ariadne.Output{}, err
		}
	}
	out, err := n.Automaton.Apply(in)
	if in.Kind == ariadne.Start {
		out.Refusals = n.refusals
	}
	return out, err
}

func (n *fake) Close() error {
	n.f.mu.Lock()
	defer n.f.mu.Unlock()
	n.f.open--
	return nil
}

// Freezable are Fakes that can be frozen, but for those whose calls are recorded.
type Freezable struct{ *Fakes }

// Options are those of a system of these nodes.
func (f Freezable) Options() system.Options { return options(f) }

// Start implements system.Factory.
func (f Freezable) Start(c system.NodeConfig) (memo.Instance, error) {
	if c.Calls {
		return f.Fakes.Start(c)
	}
	m, err := (&memotest.Instances{Programs: f.Programs}).Boot()[c.Node.ID]()
	if f.Waiting == nil || err != nil {
		return m, err
	}
	return &waiting{m, f.Waiting, c.Interrupt}, nil
}

// waiting is a node whose steps wait before they do something.
type waiting struct {
	memo.Freezable
	wait      func(<-chan struct{}) error
	interrupt func() <-chan struct{}
}

func (n *waiting) Apply(in ariadne.Input) (ariadne.Output, error) {
	if err := n.wait(n.interrupt()); err != nil {
		return ariadne.Output{}, err
	}
	return n.Freezable.Apply(in)
}

func (n *waiting) Freeze() (memo.Frozen, error) {
	f, err := n.Freezable.Freeze()
	return frozen{f, n}, err
}

type frozen struct {
	memo.Frozen
	of *waiting
}

func (f frozen) Thaw() (memo.Freezable, error) {
	m, err := f.Frozen.Thaw()
	return &waiting{m, f.of.wait, f.of.interrupt}, err
}

// Spec is a spec of so many nodes in a directory of its own, which becomes the test's.
func Spec(t *testing.T, nodes, delays int, clients ...int) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	s := SpecIn(dir, nodes, delays, clients...)
	Write(t, s.Path, "name: system\n")
	Write(t, filepath.Join(dir, "program"), "#!/bin/true\n")
	return s
}

// SpecIn is the spec alone.
func SpecIn(dir string, nodes, delays int, clients ...int) *spec.Spec {
	s := &spec.Spec{Path: filepath.Join(dir, "system.yaml"), Dir: dir, Digest: ariadne.Digest{1}, Name: "system",
		Seed: 1, Latency: time.Millisecond, Delays: delays,
		Limits: spec.Limits{Steps: 1000, Time: time.Minute, Calls: 1000}}
	for i := range nodes {
		s.Nodes = append(s.Nodes, spec.Node{
			ID: ariadne.NodeID(i), Name: []string{"n1", "n2", "n3"}[i],
			Addrs:    []netip.Addr{worldtest.Addr(ariadne.NodeID(i))},
			Commands: []spec.Command{{Args: []string{"/spec/program", "-x"}, Line: 1}},
			Client:   slices.Contains(clients, i),
		})
	}
	return s
}

// PingPong are two nodes, of which the first is a client.
func PingPong() []worldtest.Program {
	return []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 3}, worldtest.Pong{}}
}

// Write writes a file.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
}

// Read reads a file, whose path is given in parts.
func Read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Exists reports whether there is a file.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
