// Package coverage measures how much of a system's behaviour a search in memory has
// seen, as it grows: partial-order traces, global states, local states of each node,
// and protocol states, which are what the user's regular expressions find in the
// nodes' logs. It writes the growth as CSV (csv.go) and as a plot (svg.go).
//
// It watches and never chooses. It reads no clock; who asks for a sample says what
// time it is.
//
// Read next: internal/search/explore.go, which it watches.
package coverage

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"sync"
	"time"

	"ariadne/internal/memo"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// Sample is how much was seen at a moment.
type Sample struct {
	Elapsed  time.Duration
	Paths    int // that ended by themselves
	Steps    int // taken in memory
	Traces   int // different partial orders of paths
	States   int // different global states
	Locals   int // different local states, of all nodes together
	Protocol int // different protocol states of a node
	Global   int // different combinations of the nodes' protocol states
	Executed int // transitions that a living node made
	Known    int // transitions that were looked up
}

// Totals are what all workers of a search have seen together.
type Totals struct {
	mu       sync.Mutex
	now      Sample
	samples  []Sample
	next     int // paths at the next sample
	locals   []int
	states   space.Set
	digest   world.Hash // the sum of the states' hashes
	traces   space.Set
	seen     space.Set // local states
	tuples   space.Set // protocol states of nodes
	combined space.Set // of all nodes
}

// Meter looks at the paths of one worker.
type Meter struct {
	totals *Totals
	rules  []*regexp.Regexp
	frames [][]node // by step of the path
	fresh  bool     // the last frame's combination was new
}

// node is a node's protocol state.
type node struct {
	texts []uint64 // by rule, a hash of what it found last; not to be changed
	hash  world.Hash
}

// NewTotals begins to count, for so many nodes.
func NewTotals(nodes int) *Totals { return &Totals{locals: make([]int, nodes)} }

// Meter returns the meter of a worker. The rules say what of the log lines is part of
// a node's protocol state: for each, the last text that it matched, or that its groups
// did. Without rules there are no protocol states.
func (t *Totals) Meter(rules []*regexp.Regexp) *Meter {
	first := make([]node, len(t.locals))
	for i := range first {
		first[i].texts = make([]uint64, len(rules))
	}
	return &Meter{totals: t, rules: rules, frames: [][]node{first}}
}

// Watch looks at the frame to which a path has come.
func (m *Meter) Watch(p *space.Path) {
	n, f := p.Steps(), p.Last()
	t := m.totals
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := f.State.Hash(); t.states.Add(h) {
		t.now.States++
		t.digest.Hi, t.digest.Lo = t.digest.Hi+h.Hi, t.digest.Lo+h.Lo
	}
	if n == 0 {
		return
	}
	t.now.Steps++
	id := f.By.From.Node
	name := &f.By.To.Name
	if t.seen.Add(world.HashOf(binary.LittleEndian.Uint64(name[:]), binary.LittleEndian.Uint64(name[8:]), uint64(id))) {
		t.locals[id]++
		t.now.Locals++
	}
	if len(m.rules) > 0 {
		m.protocol(p, n, int(id))
	}
}

// protocol computes the protocol states at a frame from those at the one before. The
// totals are locked.
func (m *Meter) protocol(p *space.Path, n, id int) {
	if n == len(m.frames) {
		m.frames = append(m.frames, nil)
	}
	m.frames[n] = append(m.frames[n][:0], m.frames[n-1]...)
	v := &m.frames[n][id]
	changed := false
	for _, l := range p.Last().By.Output.Logs {
		for i, r := range m.rules {
			if text, ok := match(r, l.Text); ok {
				if !changed {
					v.texts, changed = append([]uint64(nil), v.texts...), true
				}
				v.texts[i] = text
			}
		}
	}
	m.fresh = false
	if !changed {
		return
	}
	v.hash = world.HashOf(0, 0, 0)
	for i, text := range v.texts {
		v.hash = v.hash.Plus(world.HashOf(text, uint64(i), 0))
	}
	t := m.totals
	if t.tuples.Add(v.hash) {
		t.now.Protocol++
	}
	all := world.HashOf(0, 0, 1)
	for i := range m.frames[n] {
		all = all.Plus(m.frames[n][i].hash)
	}
	if m.fresh = t.combined.Add(all); m.fresh {
		t.now.Global++
	}
}

// match is a hash of what a rule finds in a line: its groups, or all of the match
// when it has none.
func match(r *regexp.Regexp, line string) (uint64, bool) {
	found := r.FindStringSubmatch(line)
	if found == nil {
		return 0, false
	}
	if len(found) > 1 {
		found = found[1:]
	}
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for _, s := range found {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 0x100000001b3
		}
		h = (h ^ 0x100) * 0x100000001b3
	}
	return h, true
}

// Fresh reports whether the frame that was watched last shows a combination of
// protocol states that was not seen before.
func (m *Meter) Fresh() bool { return m.fresh }

// Path enters that a path has ended by itself, and takes a sample when it is time for
// one: each is a hundredth more paths than the one before. It returns those that were
// taken.
func (t *Totals) Path(p *space.Path, elapsed time.Duration, c memo.Counts) []Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Paths++
	if t.traces.Add(p.Last().State.Trace()) {
		t.now.Traces++
	}
	if t.now.Paths <= t.next {
		return nil
	}
	t.next = t.now.Paths + t.now.Paths/100
	return t.sample(elapsed, c)
}

func (t *Totals) sample(elapsed time.Duration, c memo.Counts) []Sample {
	t.now.Elapsed, t.now.Executed, t.now.Known = elapsed, c.Executed, c.Remembered
	t.samples = append(t.samples, t.now)
	return t.samples[len(t.samples)-1:]
}

// End takes the last sample and returns all.
func (t *Totals) End(elapsed time.Duration, c memo.Counts) []Sample {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sample(elapsed, c)
	return t.samples
}

// StatesDigest stands for the set of global states, in whatever order they were
// found: two searches with the same one have seen the same states.
func (t *Totals) StatesDigest() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprintf("%016x%016x", t.digest.Hi, t.digest.Lo)
}

// Locals are the numbers of different local states by node.
func (t *Totals) Locals() []int { return t.locals }
