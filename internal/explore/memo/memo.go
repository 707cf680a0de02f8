// Package memo remembers what nodes do. A node is a function (local state, input) -> (local state,
// output). A living node computes each value of this function once. Later uses look it up.
//
// A Local is a node's local state. Its name is a digest over the state before and the input
// between. So the local states of a node form a tree, whose root is the node before it is switched
// on, and each state knows how it was reached. A node may say that a state is nothing but its
// content (ariadne.Output.Content). The name of such a state is its content. Several histories may
// lead there, and the state keeps the first one.
//
// The Memo holds the known transitions, within a bound on memory. Others are in a store (store.go,
// bolt), so a check with the store of an earlier check finds them there. An Executor (executor.go)
// makes missing transitions, with living nodes and checkpoints of them. Each worker of a search has
// an executor, and all of them share a Pool (pool.go).
//
// Any number of goroutines may use a Memo or a Pool. An Executor or a Worker belongs to one
// goroutine, which is locked to its thread.
//
// Invariants: a remembered transition is never executed again while it is in memory or in the
// store. Two executions of a transition that differ are reported. A forgotten transition costs
// time, and never changes results.
//
// States may differ only in parts of a disk that no program has read. Such states share their
// transitions (share.go). A Living (living.go) makes transitions, too: of nodes that go one way,
// and that nothing remembers.
//
// Read next: executor.go, then internal/explore/space.
package memo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Local is a local state of a node. Fields that each step reads come first.
type Local struct {
	world.Named

	// known are the transitions in memory. A reader needs no lock: a writer
	// replaces the whole.
	known  atomic.Pointer[[]row]
	used   atomic.Uint32 // when it was last looked at, in ticks of the Memo
	loaded atomic.Bool   // what the store has of it is in known

	// Counted is for those who count: they have counted it.
	Counted atomic.Bool

	Node   ariadne.NodeID
	Clock  ariadne.Time
	Parent *Local      // the state before on the way by which it was reached first, or nil
	Input  world.Input // what led from there to here
	// StepDigest is that of what the node did on its way from Parent to here. Unreplayable:
	// it may do something else there the next time (ariadne.Output).
	StepDigest   ariadne.Digest
	Unreplayable bool
	Depth        int // inputs from the root

	// disks are what the machine's disks held when it was last switched on, or hold while it is
	// down, where that is known. related are states whose transitions it may use. shared: it was
	// reached by such a transition.
	disks   ariadne.Disks
	related *relatives
	shared  bool
}

// row is a transition with its key beside it: who looks for one touches no other.
type row struct {
	key hash.Hash
	t   *Transition
}

// Transition is one value of the function. Fields that each step reads come first.
type Transition struct {
	From, To *Local
	// Judged: who judges steps one by one has found nothing wrong with this one.
	Judged atomic.Bool
	// Found is what properties read of it, once that was looked for.
	Found atomic.Pointer[expose.Found]
	// Features are what who steers a search tells it by, once that was looked for.
	Features atomic.Pointer[[]uint64]
	// Counted is for those who count: they have counted it.
	Counted atomic.Bool
	// Turns are the times at which the node would do something else with the message, once that was
	// looked for (internal/explore/space).
	Turns atomic.Pointer[[]ariadne.Time]
	// Merges: To is named by its content, so others may lead to it (ariadne.Output.Content).
	Merges bool
	stored bool // it was read from the store
	Effect world.Effect
	Output ariadne.Output // without its CallTrace and Files, unless it comes from a Living
	Input  world.Input
	Action string // the name of what happened

	key hash.Hash // of Input
}

// Memo remembers transitions.
type Memo struct {
	system *world.System
	max    int64
	off    bool
	roots  []*Local
	tick   atomic.Uint32

	depends dependencies
	stale   []Dependency // see Stale
	forget  atomic.Bool
	store   Store // or nil

	meeting sync.Mutex
	met     map[ariadne.Digest]*Local // states to which several histories may lead, by name
	// of those, by the name that they have but for what is on their disks
	related map[ariadne.Digest]*relatives

	mu       sync.Mutex
	bytes    int64
	withRows []*Local // that have known transitions
	count    Counters
}

// Options of a Memo.
type Options struct {
	// Bytes is about how much memory may be used for transitions; 0: no bound.
	Bytes int64
	// Store opens the store; nil: what does not fit into memory is forgotten, and so
	// is everything in the end.
	Store OpenStore
	// Key is over all that the transitions depend on besides the names of the local
	// states: programs, spec, Ariadne's version. A store with another key is emptied.
	Key ariadne.Digest
	// File returns the digest of what nodes have learnt of a file (ariadne.Output). A store
	// in which one is remembered with another digest is emptied. nil: files do not matter.
	File func(ariadne.File) (ariadne.Digest, error)
	// Now returns the digest of what nodes would learn of a file if nobody had been shown it; nil:
	// as File.
	Now func(ariadne.File) (ariadne.Digest, error)
	// Off remembers nothing: every transition is executed whenever it is needed.
	Off bool
}

// Counters of a Memo.
type Counters struct {
	Transitions int   `json:"transitions"` // entered since it was opened
	Loaded      int   `json:"loaded"`      // read from the store
	Forgotten   int   `json:"forgotten"`   // taken out of memory
	Bytes       int64 `json:"bytes"`       // in memory now, about
	// Stopped counts the transitions, entered or read, that left of a node nothing but its content,
	// and Disks the different states to which they led.
	Stopped int `json:"stopped"`
	Disks   int `json:"disks"`
	// LeftOut is how many images of disks losses of power could have left, at least, besides those
	// that there was a choice among.
	LeftOut int `json:"left_out"`
}

// left counts a transition that leaves of its node nothing but its content.
func (c *Counters) left(t *Transition) {
	if !t.Merges {
		return
	}
	c.Stopped++
	for _, p := range t.Output.Places {
		if p.Kind() == ariadne.DiskImage && p.Taken != "" {
			return // another image of a loss that is counted
		}
	}
	c.LeftOut += t.Output.LeftOut
}

// Open returns a memo of the system's nodes. Close must follow.
func Open(y *world.System, o Options) (*Memo, error) {
	m := &Memo{system: y, max: o.Bytes, off: o.Off, roots: rootsOf(y), met: map[ariadne.Digest]*Local{},
		related: map[ariadne.Digest]*relatives{},
		depends: dependencies{digest: o.File, now: o.Now, known: map[ariadne.File]ariadne.Digest{}}}
	if o.Now == nil {
		m.depends.now = o.File
	}
	if o.Store == nil || o.Off {
		return m, nil
	}
	if err := m.openStore(o); err != nil {
		return nil, err
	}
	return m, nil
}

func rootsOf(y *world.System) (roots []*Local) {
	for i, n := range y.Nodes() {
		roots = append(roots, &Local{Named: world.NameOf(ariadne.NodeID(i), n.Initial), Node: ariadne.NodeID(i)})
	}
	return roots
}

// Root is a node before it is switched on.
func (m *Memo) Root(id ariadne.NodeID) *Local { return m.roots[id] }

// Lookup returns what is known of an input in a local state, or nil.
func (m *Memo) Lookup(l *Local, in world.Input) (*Transition, error) {
	if m.off {
		return nil, nil
	}
	key := in.Key()
	if now := m.tick.Load(); l.used.Load() != now {
		l.used.Store(now)
	}
	if t := l.find(key); t != nil || m.store == nil || l.loaded.Load() {
		return t, nil
	}
	if err := m.load(l); err != nil {
		return nil, err
	}
	return l.find(key), nil
}

func (l *Local) find(key hash.Hash) *Transition {
	rows := l.known.Load()
	if rows == nil {
		return nil
	}
	for i := range *rows {
		if r := &(*rows)[i]; r.key == key {
			return r.t
		}
	}
	return nil
}

// Add enters a transition that was executed. When another executor was faster, its
// is returned; when that one did something else, the error is a *Mismatch.
func (m *Memo) Add(l *Local, in world.Input, out *ariadne.Output) (*Transition, error) {
	t, err := m.transition(l, in, *out)
	if err != nil {
		return t, err
	}
	return m.add(t)
}

// add enters a transition, unless it is known.
func (m *Memo) add(t *Transition) (*Transition, error) {
	if m.off {
		return t, nil
	}
	l, out := t.From, &t.Output
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := l.find(t.key); known != nil {
		if known.Output.Digest != out.Digest && !known.Output.Unreplayable && !out.Unreplayable {
			return known, &Mismatch{State: l, Input: t.Input, First: known.Output, Second: *out}
		}
		return known, nil
	}
	if !t.Merges {
		// what leads there is not in the store: nothing from there is either
		t.To.loaded.Store(true)
	}
	m.enter(l, t)
	m.count.Transitions++
	m.count.left(t)
	if m.store != nil && out.Cut == "" { // the next check may have more time
		if err := m.put(t); err != nil {
			return nil, err
		}
	}
	return t, m.shrink()
}

// transition is the value as it is remembered.
func (m *Memo) transition(l *Local, in world.Input, out ariadne.Output) (*Transition, error) {
	out.CallTrace, out.Files, out.Others = nil, nil, nil
	t, err := transition(m.system, l, in, out)
	if err != nil || m.off {
		return t, err
	}
	m.relate(t)
	if t.Merges {
		t.To = m.meet(t.To)
	}
	return t, nil
}

// meet is the state of a name to which several histories lead: the one that was reached first
// by a way that leads there again. It stands for all of them, and is reached again by that way.
func (m *Memo) meet(l *Local) *Local {
	if l.Unreplayable {
		return l
	}
	m.meeting.Lock()
	defer m.meeting.Unlock()
	if first := m.met[l.Name]; first != nil {
		return first
	}
	m.met[l.Name] = l
	return l
}

// ErrElsewhere is the error of a transition in which a node has not come to the places of its
// variation. A caller that follows another state's places must expect it. Elsewhere it is a
// contradiction.
var ErrElsewhere = errors.New("it did not come to the places of its variation")

// transition makes the value; it must keep to the world's contract.
func transition(y *world.System, l *Local, in world.Input, out ariadne.Output) (*Transition, error) {
	if in.Varied.Variation() != out.Variation() && !out.Unreplayable {
		return nil, fmt.Errorf("node %s broke its contract: %w: its step was to be varied by %q, and was by %q", y.Nodes()[l.Node].Name, ErrElsewhere, in.Varied.Variation(), out.Variation())
	}
	effect, err := y.Effect(l.Node, l.Clock, in, &out)
	if err != nil {
		return nil, fmt.Errorf("node %s broke its contract: %w", y.Nodes()[l.Node].Name, err)
	}
	to := &Local{Named: world.NameOf(l.Node, y.NameReached(l.Node, l.Name, in, &out)), Node: l.Node,
		Clock:  effect.Clock,
		Parent: l, Input: in, StepDigest: out.Digest, Unreplayable: out.Unreplayable, Depth: l.Depth + 1}
	return &Transition{From: l, To: to, Input: in, Output: out, Effect: effect,
		Action: y.Names().Action(in.Action(l.Node)), key: in.Key(), Merges: out.Content != ariadne.Digest{}}, nil
}

// enter makes t known in memory. m.mu is held.
func (m *Memo) enter(l *Local, t *Transition) {
	var rows []row
	if known := l.known.Load(); known != nil {
		rows = *known
	} else {
		m.withRows = append(m.withRows, l)
	}
	rows = append(slices.Clone(rows), row{t.key, t})
	l.known.Store(&rows)
	l.used.Store(m.tick.Load())
	m.bytes += t.bytes()
}

// bytes is about what a transition costs in memory.
func (t *Transition) bytes() int64 {
	n := int64(700) // the structs and their places in tables
	for i := range t.Output.Messages {
		n += 500 + int64(len(t.Output.Messages[i].Data)) // with its packet, which shares the data
	}
	for i := range t.Output.Logs {
		n += 48 + int64(len(t.Output.Logs[i].Text))
	}
	for i := range t.Output.Exposures {
		e := &t.Output.Exposures[i]
		n += 96 + int64(len(e.Name)+len(e.Key))
		for _, v := range e.Values {
			n += 16 + int64(len(v))
		}
	}
	for i := range t.Output.Notices {
		n += 40 + int64(len(t.Output.Notices[i].Found))
	}
	for i := range t.Output.Places {
		p := &t.Output.Places[i]
		n += 64 + int64(len(p.Name)) + 24*int64(len(p.Alternatives))
	}
	// of the paths there is one of each for many steps
	return n + 40*int64(len(t.Output.Exits)) + 24*int64(len(t.Output.Looks))
}

// load takes into memory what the store has of a state.
// Others may do the same at the same time: to read costs more than to enter.
func (m *Memo) load(l *Local) error {
	tick := m.tick.Load()
	all, err := m.read(l)
	if err != nil {
		return fmt.Errorf("the store of transitions: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.loaded.Load() {
		return nil
	}
	for _, t := range all {
		if l.find(t.key) == nil {
			m.enter(l, t)
			m.count.Loaded++
			m.count.left(t)
		}
	}
	// What was added since it was read may have been forgotten since.
	l.loaded.Store(m.tick.Load() == tick)
	return m.shrink()
}

// shrink forgets the transitions of the states that were not looked at for the
// longest, down to three quarters of the bound. m.mu is held.
func (m *Memo) shrink() error {
	if m.max == 0 || m.bytes <= m.max {
		return nil
	}
	age := map[*Local]uint32{} // as it is now: others go on looking
	for _, l := range m.withRows {
		age[l] = l.used.Load()
	}
	slices.SortStableFunc(m.withRows, func(a, b *Local) int { return cmp.Compare(age[a], age[b]) })
	n := 0
	for ; n < len(m.withRows) && m.bytes > m.max/4*3; n++ {
		l := m.withRows[n]
		for _, r := range *l.known.Load() {
			m.bytes -= r.t.bytes()
			m.count.Forgotten++
		}
		l.loaded.Store(false)
		l.known.Store(nil)
	}
	m.withRows = slices.Delete(m.withRows, 0, n)
	m.tick.Add(1)
	return nil
}

// Counters tells how much is remembered.
func (m *Memo) Counters() Counters {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.count
	c.Bytes = m.bytes
	m.meeting.Lock()
	c.Disks = len(m.met)
	m.meeting.Unlock()
	return c
}

// Save brings to the store what is not there yet, so that it outlives this
// process.
func (m *Memo) Save() error {
	if m.store == nil {
		return nil
	}
	return m.store.Flush()
}

// Close saves and gives up the store.
func (m *Memo) Close() error {
	if m.store == nil {
		return nil
	}
	return m.store.Close(m.forget.Load())
}

// Damaged says what was wrong with the store, or "".
func (m *Memo) Damaged() string {
	if m.store == nil {
		return ""
	}
	return m.store.Damaged()
}

// Forget has all that the store has lost when the memo is closed.
func (m *Memo) Forget() { m.forget.Store(true) }
