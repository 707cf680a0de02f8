package memo

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Instance is a living node of one execution. It goes on from state to state, and never back.
type Instance interface {
	ariadne.Automaton
	// Close ends it and gives back all that it holds.
	Close() error
}

// Living makes transitions for one execution at a time: each node is started by its first
// input and goes on with each further one. Nothing is remembered and nothing can be gone
// back to, but outputs have all that nodes told, their CallTrace and Files too. It is for
// one goroutine, that is locked to its thread.
type Living struct {
	system *world.System
	start  []func() (Instance, error) // by node
	roots  []*Local
	nodes  []Instance // nil before the first input
	at     []*Local
	now    func() time.Duration

	mu     sync.Mutex // of counts, which others may ask for
	counts Counts
}

// NewLiving returns a source whose nodes come from start, by node. now reads a clock, for
// the counters' times; nil: they stay 0. Close must follow.
func NewLiving(y *world.System, start []func() (Instance, error), now func() time.Duration) *Living {
	if now == nil {
		now = func() time.Duration { return 0 }
	}
	l := &Living{system: y, start: start, roots: rootsOf(y), nodes: make([]Instance, len(start)), now: now}
	l.at = append(l.at, l.roots...)
	return l
}

// Root is a node before it is switched on.
func (l *Living) Root(id ariadne.NodeID) *Local { return l.roots[id] }

// Transition gives an input to a node, which stands at from.
func (l *Living) Transition(from *Local, in world.Input) (*Transition, error) {
	id := from.Node
	if l.at[id] != from {
		return nil, fmt.Errorf("node %s has left this state", l.system.Nodes()[id].Name)
	}
	if l.nodes[id] == nil {
		began := l.now()
		n, err := l.start[id]()
		if err != nil {
			return nil, err
		}
		l.nodes[id] = n
		l.count(func(c *Counts) { c.Boots++; c.Booting += l.now() - began })
	}
	began := l.now()
	out, err := l.nodes[id].Apply(in.Input())
	if err != nil {
		return nil, err
	}
	l.count(func(c *Counts) {
		c.Executed++
		if out.Unreplayable {
			c.Unreplayable++
		}
		took := l.now() - began
		c.Stepping += took
		c.Step.enter(took)
	})
	// A variation that was drawn, or that is of a trace of other programs, is what came of it.
	in.VariedBy(out.Variation())
	t, err := transition(l.system, from, in, out)
	if err != nil {
		return nil, err
	}
	// What led here is not kept: nobody comes this way again, and messages may be large.
	t.To.Parent = nil
	l.at[id] = t.To
	return t, nil
}

// Visit calls f with a node, which stands at a state and stays there. One that was not switched on
// yet is not there.
func (l *Living) Visit(at *Local, f func(Instance) error) error {
	switch id := at.Node; {
	case l.at[id] != at:
		return fmt.Errorf("node %s has left this state", l.system.Nodes()[id].Name)
	case l.nodes[id] != nil:
		return f(l.nodes[id])
	}
	return nil
}

func (l *Living) count(f func(*Counts)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.counts)
}

// Counts tells what was done so far.
func (l *Living) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

// Restart ends all nodes; the next execution begins.
func (l *Living) Restart() error {
	var errs []error
	for i, n := range l.nodes {
		l.nodes[i], l.at[i] = nil, l.roots[i]
		if n == nil {
			continue
		}
		began := l.now()
		if err := n.Close(); err != nil {
			errs = append(errs, fmt.Errorf("node %s: close: %w", l.system.Nodes()[i].Name, err))
		}
		l.count(func(c *Counts) { c.Ending += l.now() - began })
	}
	return errors.Join(errs...)
}

// Close ends all nodes.
func (l *Living) Close() error { return l.Restart() }
