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
// input and goes on with each further one. Nothing else is remembered and nothing can be gone
// back to, but outputs have all that nodes told, their CallTrace and Files too. It is for
// one goroutine, that is locked to its thread.
type Living struct {
	// KeepStarts has nodes frozen behind their first input, and copied where a later execution
	// gives a node the same one: to load programs takes as long as hundreds of other steps.
	KeepStarts bool

	system *world.System
	start  []func() (Instance, error) // by node
	roots  []*Local
	nodes  []Instance // nil before the first input
	at     []*Local
	starts []starts // by node
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
	l := &Living{system: y, start: start, roots: rootsOf(y), nodes: make([]Instance, len(start)),
		starts: make([]starts, len(start)), now: now}
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
	out, err := l.apply(id, in)
	if err != nil {
		return nil, err
	}
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

// apply gives an input to a node, which is booted for its first one.
func (l *Living) apply(id ariadne.NodeID, given world.Input) (ariadne.Output, error) {
	k, in := &l.starts[id], given.Input()
	if l.nodes[id] != nil {
		out, err := l.execute(id, in)
		if k.copied == nil || !errors.Is(err, ariadne.ErrLost) {
			k.copied = nil
			return out, err
		}
		if err := l.startAgain(id); err != nil {
			return out, err
		}
		return l.execute(id, in)
	}
	if s := k.of(&in); s != nil {
		return s.output, l.copyStart(id, s)
	}
	if err := l.boot(id); err != nil {
		return ariadne.Output{}, err
	}
	out, err := l.execute(id, in)
	if err == nil && l.KeepStarts {
		err = l.keepStart(id, given, out)
	}
	return out, err
}

func (l *Living) boot(id ariadne.NodeID) error {
	began := l.now()
	n, err := l.start[id]()
	if err != nil {
		return err
	}
	l.nodes[id] = n
	l.count(func(c *Counts) { c.Boots++; c.Booting += l.now() - began })
	return nil
}

// execute gives an input to a node that lives.
func (l *Living) execute(id ariadne.NodeID, in ariadne.Input) (ariadne.Output, error) {
	began := l.now()
	out, err := l.nodes[id].Apply(in)
	if err != nil {
		return out, err
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
	return out, nil
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
		l.nodes[i], l.at[i], l.starts[i].copied = nil, l.roots[i], nil
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
func (l *Living) Close() error {
	errs := []error{l.Restart()}
	for i := range l.starts {
		errs = append(errs, l.starts[i].drop())
	}
	return errors.Join(errs...)
}
