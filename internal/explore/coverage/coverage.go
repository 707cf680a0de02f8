// Package coverage measures how much of a system's behaviour a search in memory has
// seen, as it grows: partial-order traces, global states, local states of each node,
// and protocol states, which are what the user's regular expressions find in the
// nodes' logs. It writes the growth as CSV (csv.go) and as a plot (svg.go), and what was
// seen to a file, so that a search that was ended goes on counting (log.go).
//
// It watches and never chooses. It reads no clock; who asks for a sample says what
// time it is.
//
// Read next: internal/explore/search/explore.go, which it watches.
package coverage

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Sample is how much was seen at a moment.
type Sample struct {
	Elapsed  time.Duration `json:"elapsed_ns"`
	Paths    int           `json:"paths"`    // that ended by themselves
	Steps    int           `json:"steps"`    // taken in memory
	Traces   int           `json:"traces"`   // different partial orders of paths
	States   int           `json:"states"`   // different global states
	Locals   int           `json:"locals"`   // different local states, of all nodes together
	Protocol int           `json:"protocol"` // different protocol states of a node
	Global   int           `json:"global"`   // different combinations of the nodes' protocol states
	Executed int           `json:"executed"` // transitions that a living node made
	Known    int           `json:"known"`    // transitions that were looked up
}

// Totals are what all workers of a search have seen together.
type Totals struct {
	states   space.Set
	traces   space.Set
	seen     space.Set // local states
	merging  space.Set // steps by which others come to the same local state
	tuples   space.Set // protocol states of nodes
	combined space.Set // of all nodes
	reported space.Set // local states, as Report was told
	// recent are the combinations that were seen since a log was read; nil: combined.
	recent *space.Set
	locals []atomic.Int64
	paths  atomic.Int64
	next   atomic.Int64 // paths at the next sample
	before int          // steps that were taken before a log was read

	mu      sync.Mutex // of all below
	meters  []*Meter
	samples []Sample
}

// Meter looks at the paths of one worker.
type Meter struct {
	totals   *Totals
	fresh    bool // the last frame's combination was new
	mayBeNew bool // the last frame's local state may be new
	local    bool // it is
	made     bool // or the step to it was not taken before
	state    bool // the last frame's global state is new
	steps    memo.Tally
}

// NewTotals begins to count, for so many nodes. The sets of what was seen take about
// so much memory at most (0: no bound); what does not fit is not counted.
func NewTotals(nodes int, bytes int64) *Totals {
	t := &Totals{locals: make([]atomic.Int64, nodes)}
	// There are more states than anything else, and then traces.
	t.states.Bytes, t.traces.Bytes = bytes*5/10, bytes*3/10
	t.seen.Bytes, t.tuples.Bytes, t.combined.Bytes, t.reported.Bytes, t.merging.Bytes = bytes/10, bytes/50, bytes/50,
		bytes/50, bytes/25
	return t
}

// sets are all of them. The order is that of the kinds of blocks in a Log.
func (t *Totals) sets() []*space.Set {
	return []*space.Set{&t.states, &t.traces, &t.seen, &t.tuples, &t.combined, &t.reported}
}

// Full reports whether there was more than could be counted.
func (t *Totals) Full() bool {
	return t.states.Full() || t.traces.Full() || t.seen.Full() || t.tuples.Full() || t.combined.Full()
}

// Meter returns the meter of a worker. A node's protocol state is what it shows
// (space.Space.Shows); where nothing is shown there are none.
func (t *Totals) Meter() *Meter {
	m := &Meter{totals: t}
	t.mu.Lock()
	t.meters = append(t.meters, m)
	t.mu.Unlock()
	return m
}

// Watch looks at the frame to which a path has come.
func (m *Meter) Watch(p *space.Path) {
	f, t := p.Last(), m.totals
	m.state = !f.Again && t.states.Add(p.Name(f))
	if m.mayBeNew, m.local, m.made = false, false, false; p.Steps() == 0 {
		return
	}
	m.steps.Count()
	if l := f.By.To; !l.Counted.Load() {
		if h := NameOf(l); t.seen.Add(h) {
			t.enterLocal(h)
			m.local = true
		}
		l.Counted.Store(true)
		m.mayBeNew = true
	}
	if f.By.Merges && !f.By.Counted.Swap(true) {
		m.made = t.merging.Add(NameOf(f.By.From).Plus(hash.OfText(f.By.Action + string(f.By.Output.Variation()))))
	}
	m.fresh = (f.Showed || f.Remade) && m.protocol(f)
}

// Done tells the totals of the last steps: the worker will watch no more.
func (m *Meter) Done() { m.steps.Share() }

// NameOf names a local state. Its last bits say which node's it is, so that they can be
// counted by node when only this is known of them.
func NameOf(l *memo.Local) hash.Hash {
	h := hash.Of(binary.LittleEndian.Uint64(l.Name[:]), binary.LittleEndian.Uint64(l.Name[8:]), uint64(l.Node))
	h.Lo = h.Lo&^nodeMask | uint64(l.Node)
	return h
}

const nodeMask = 1<<16 - 1

// enterLocal counts a local state for its node; false when there is no such node.
func (t *Totals) enterLocal(h hash.Hash) bool {
	n := h.Lo & nodeMask
	if n >= uint64(len(t.locals)) {
		return false
	}
	t.locals[n].Add(1)
	return true
}

// Report enters that what led to a local state, which is given by its name (NameOf), is being
// reported, and returns whether it is the first time. The caller holds the lock of the report, with
// which this is saved (Log.Account).
func (t *Totals) Report(state hash.Hash) bool { return t.reported.Add(state) }

// Reported returns whether it was reported.
func (t *Totals) Reported(l *memo.Local) bool { return t.reported.Has(NameOf(l)) }

// protocol enters the protocol states at a frame to which a node has shown something, and
// reports whether their combination is new.
func (m *Meter) protocol(f *space.Frame) (fresh bool) {
	t := m.totals
	if f.Showed {
		t.tuples.Add(f.Shown[f.By.From.Node].Hash())
	}
	if f.Remade {
		t.tuples.Add(f.Made.Hash().Plus(hash.Of(0, 0, 2)))
	}
	all := hash.Of(0, 0, 1)
	for i := range f.Shown {
		all = all.Plus(f.Shown[i].Hash())
	}
	if made := f.Made.Hash(); made != (hash.Hash{}) {
		all = all.Plus(made)
	}
	if fresh = t.combined.Add(all); t.recent != nil {
		fresh = t.recent.Add(all)
	}
	return fresh
}

// Fresh reports whether the frame that was watched last shows a combination of
// protocol states that was not seen before; or not since a log was read, because the
// paths that led to earlier ones are not known any more.
func (m *Meter) Fresh() bool { return m.fresh }

// MayBeNew reports whether the local state of the frame that was watched last may not have
// been met before. It does at least once for each.
func (m *Meter) MayBeNew() bool { return m.mayBeNew }

// New reports whether the local state to which the step led that was watched last, and the global
// state, were not met before. Of a step by which others come to the same local state, the first
// time counts as new: a living node had to make it.
func (m *Meter) New() (local, state bool) { return m.local || m.made, m.state }

// Path enters that a path has ended by itself; due when it is time for a sample: each
// is a hundredth more paths than the one before.
func (t *Totals) Path(p *space.Path) (due bool) {
	n, next := t.paths.Add(1), t.next.Load()
	t.traces.Add(p.Last().State.Trace())
	return n > next && t.next.CompareAndSwap(next, n+n/100)
}

// Traces is how many partial-order traces were seen.
func (t *Totals) Traces() int { return t.traces.Len() }

// Now is how much was seen by now.
func (t *Totals) Now(elapsed time.Duration, c memo.Counts) Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now(elapsed, c)
}

// Sample is Now, kept as one of the Samples.
func (t *Totals) Sample(elapsed time.Duration, c memo.Counts) Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.now(elapsed, c)
	t.samples = append(t.samples, s)
	return s
}

func (t *Totals) now(elapsed time.Duration, c memo.Counts) Sample {
	s := Sample{Elapsed: elapsed, Traces: t.traces.Len(), States: t.states.Len(), Locals: t.seen.Len(),
		Protocol: t.tuples.Len(), Global: t.combined.Len(), Executed: c.Executed, Known: c.Remembered}
	// After the traces: there is none without its path.
	s.Paths, s.Steps = int(t.paths.Load()), t.before
	for _, m := range t.meters {
		s.Steps += m.steps.Read()
	}
	return s
}

// restore enters what a record of a log says.
func (t *Totals) restore(c *record) {
	t.paths.Store(int64(c.Paths))
	t.before = c.Steps
	if t.samples = append(t.samples, c.Samples...); len(t.samples) > 0 {
		n := int64(t.samples[len(t.samples)-1].Paths)
		t.next.Store(n + n/100)
	}
}

// Samples are those that were taken.
func (t *Totals) Samples() []Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.samples
}

// StatesDigest stands for the set of global states, in whatever order they were
// found: two searches with the same one have seen the same states.
func (t *Totals) StatesDigest() string {
	d := t.states.Digest()
	return fmt.Sprintf("%016x%016x", d.Hi, d.Lo)
}

// Locals are the numbers of different local states by node.
func (t *Totals) Locals() []int {
	n := make([]int, len(t.locals))
	for i := range n {
		n[i] = int(t.locals[i].Load())
	}
	return n
}
