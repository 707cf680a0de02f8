// Package memotest has instances of a few lines of Go (internal/explore/world/worldtest),
// which can be frozen and count what is done with them, so that memo, space and
// search are tested without Linux.
package memotest

import (
	"fmt"
	"net/netip"
	"reflect"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
)

// Instances makes the instances of a system.
type Instances struct {
	// Programs returns the system's programs, in their first state.
	Programs func() []worldtest.Program
	// Unfreezable, when not nil, says which steps of a node (0: not switched on)
	// leave it in a state that cannot be frozen.
	Unfreezable func(steps int) bool
	// Lost, when not nil, says that an instance which has come so far is lost when another
	// one from the same boot, that ran since, has come to furthest.
	Lost func(steps, furthest int) bool
	// Instant: the programs' actions take no time.
	Instant bool
	// Outages and Grid are those of the nodes (worldtest.Automaton).
	Outages func(ariadne.NodeID) []ariadne.Outage
	Grid    ariadne.Time

	// Amend, when not nil, may change the output of a step. boots counts the instances
	// that were booted so far.
	Amend func(boots, steps int, out *ariadne.Output)

	Alive  int // instances that are not closed
	Frozen int // checkpoints that are not dropped
	Steps  int // inputs given
	Boots  int
}

// Boot returns the way to make each node.
func (m *Instances) Boot() []memo.Boot {
	var boots []memo.Boot
	for i := range m.Programs() {
		boots = append(boots, func() (memo.Freezable, error) {
			m.Alive++
			m.Boots++
			return &instance{owner: m, automaton: m.automaton(i), home: &home{}}, nil
		})
	}
	return boots
}

// automaton is node i before it is switched on.
func (m *Instances) automaton(i int) *worldtest.Automaton {
	a := worldtest.NewAutomaton(ariadne.NodeID(i), m.Programs()[i])
	a.Instant, a.Grid = m.Instant, m.Grid
	if m.Outages != nil {
		a.Outages = m.Outages(a.ID)
	}
	return a
}

// home is what all instances from the same boot have in common.
type home struct {
	shows    *instance // the last that ran
	furthest int       // steps of any of them
	// base is the checkpoint on which all others rest, and its name.
	base  *frozen
	label memo.Reached
}

type instance struct {
	owner     *Instances
	home      *home
	automaton *worldtest.Automaton
	steps     int
	closed    bool
}

func (m *instance) Apply(in ariadne.Input) (ariadne.Output, error) {
	if m.closed {
		return ariadne.Output{}, fmt.Errorf("a closed instance is used")
	}
	if f := m.owner.Lost; f != nil && m.home.shows != nil && m.home.shows != m && f(m.steps, m.home.furthest) {
		return ariadne.Output{}, fmt.Errorf("%w: after %d steps", ariadne.ErrLost, m.steps)
	}
	m.steps++
	m.owner.Steps++
	m.home.shows, m.home.furthest = m, max(m.home.furthest, m.steps)
	out, err := m.automaton.Apply(in)
	if f := m.owner.Amend; f != nil {
		f(m.owner.Boots, m.steps, &out)
	}
	return out, err
}

func (m *instance) Freeze() (memo.Frozen, error) {
	if f := m.owner.Unfreezable; f != nil && f(m.steps) {
		return nil, fmt.Errorf("%w: after %d steps", ariadne.ErrNotFreezable, m.steps)
	}
	m.owner.Frozen++
	return &frozen{owner: m.owner, home: m.home, automaton: images.Image(m.automaton), steps: m.steps}, nil
}

// CanRestore implements memo.Restorable. Where copies are lost they are what a test is about.
func (m *instance) CanRestore(to memo.Frozen) bool {
	return to.(*frozen).home == m.home && m.owner.Lost == nil
}

// Restore implements memo.Restorable.
func (m *instance) Restore(to memo.Frozen) (inPlace bool, err error) {
	f := to.(*frozen)
	if m.closed || f.home != m.home || f.moved {
		return false, fmt.Errorf("a closed instance is restored, or one to another boot or what was moved")
	}
	m.automaton, m.steps = f.automaton.Copy(), f.steps
	return true, nil
}

func (m *instance) Ahead(bool) {}

// Memory implements memo.MemoryReader for programs that have a page of memory.
func (m *instance) Memory(int) ([]ariadne.MemoryPage, error) {
	if p, ok := m.automaton.Program.(interface{ Memory() (b []byte, ok bool) }); ok {
		if b, ok := p.Memory(); ok {
			return []ariadne.MemoryPage{{Data: b}}, nil
		}
	}
	return nil, nil
}

func (m *instance) RecordCalls(on bool) { m.automaton.Calls = on }

func (m *instance) Close() error {
	if m.closed {
		return fmt.Errorf("an instance is closed twice")
	}
	m.closed = true
	m.owner.Alive--
	return nil
}

type frozen struct {
	owner     *Instances
	home      *home
	automaton *deepcopy.Image[worldtest.Automaton]
	steps     int
	// moved: a part of it is at a place of pages, and it cannot be used.
	moved bool
	pages memo.Pages
	place int64
}

// Move implements memo.Movable.
func (f *frozen) Move(to memo.Pages) bool {
	if f.home.base == f || f.moved {
		return false
	}
	f.place, f.moved = to.Store([]byte{byte(f.steps)})
	f.pages = to
	return f.moved
}

// Return implements memo.Movable.
func (f *frozen) Return() error {
	if !f.moved {
		return fmt.Errorf("a checkpoint comes back that was not moved")
	}
	b := make([]byte, 1)
	if err := f.pages.Load(f.place, b); err != nil || b[0] != byte(f.steps) {
		return fmt.Errorf("a checkpoint comes back as one after %d steps, and was after %d: %w", b[0], f.steps, err)
	}
	f.pages.Free(f.place)
	f.moved = false
	return nil
}

func (f *frozen) Thaw() (memo.Freezable, error) {
	if f.moved {
		return nil, fmt.Errorf("a checkpoint is thawed that was moved")
	}
	f.owner.Alive++
	return &instance{owner: f.owner, home: f.home, automaton: f.automaton.Copy(), steps: f.steps}, nil
}

// Label implements memo.Portable: all checkpoints of a boot rest on the first one.
func (f *frozen) Label(at memo.Reached) (base memo.Reached) {
	if f.home.base == nil {
		f.home.base, f.home.label = f, at
	}
	return f.home.label
}

// data is a checkpoint as others have it.
type data struct {
	frozen *frozen
	base   int // steps
}

// Data implements memo.Portable.
func (f *frozen) Data() any {
	if f.home.base == f || f.owner.Lost != nil {
		return nil
	}
	return data{f, f.home.base.steps}
}

// Adopt implements memo.Portable.
func (f *frozen) Adopt(from any) (memo.Frozen, error) {
	d := from.(data)
	if d.base != f.steps {
		return nil, fmt.Errorf("what rests on a checkpoint after %d steps is put on one after %d", d.base, f.steps)
	}
	if g := f.owner.Unfreezable; g != nil && g(d.frozen.steps) {
		return nil, fmt.Errorf("%w: after %d steps", ariadne.ErrNotFreezable, d.frozen.steps)
	}
	f.owner.Frozen++
	return &frozen{owner: f.owner, home: f.home, automaton: d.frozen.automaton, steps: d.frozen.steps}, nil
}

func (f *frozen) Drop() error {
	if f.moved {
		f.pages.Free(f.place)
	}
	f.owner.Frozen--
	return nil
}

// Bytes is a round number, so that tests can count.
func (f *frozen) Bytes() int64 {
	if f.moved {
		return 100
	}
	return 1000
}

var images = deepcopy.New[worldtest.Automaton](nil, []reflect.Type{reflect.TypeFor[netip.AddrPort]()})
