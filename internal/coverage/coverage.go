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
	"regexp"
	"time"

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

// Meter measures one search.
type Meter struct {
	// Rules say what of the log lines is part of a node's protocol state: for each, the
	// last text that it matched, or that its groups did. Without rules there are no
	// protocol states.
	rules    []*regexp.Regexp
	now      Sample
	samples  []Sample
	next     int // paths at the next sample
	locals   []int
	seen     space.Set // local states
	tuples   space.Set // protocol states of nodes
	combined space.Set // of all nodes
	frames   [][]node  // by step of the path
	fresh    bool      // the last frame's combination was new
}

// node is a node's protocol state.
type node struct {
	texts []uint64 // by rule, a hash of what it found last; not to be changed
	hash  world.Hash
}

// NewMeter returns a meter of a search of so many nodes.
func NewMeter(nodes int, rules []*regexp.Regexp) *Meter {
	first := make([]node, nodes)
	for i := range first {
		first[i].texts = make([]uint64, len(rules))
	}
	return &Meter{rules: rules, locals: make([]int, nodes), frames: [][]node{first}}
}

// Watch looks at the frame to which a path has come.
func (m *Meter) Watch(p *space.Path) {
	n, f := p.Len(), p.Last()
	if !f.Seen {
		m.now.States++
	}
	if n == 0 {
		return
	}
	m.now.Steps++
	id := p.Event(n).Node
	name := &f.By.To.Name
	if m.seen.Add(world.HashOf(binary.LittleEndian.Uint64(name[:]), binary.LittleEndian.Uint64(name[8:]), uint64(id))) {
		m.locals[id]++
		m.now.Locals++
	}
	if len(m.rules) > 0 {
		m.protocol(p, n, int(id))
	}
}

// protocol computes the protocol states at a frame from those at the one before.
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
	for i, t := range v.texts {
		v.hash = v.hash.Plus(world.HashOf(t, uint64(i), 0))
	}
	if m.tuples.Add(v.hash) {
		m.now.Protocol++
	}
	all := world.HashOf(0, 0, 1)
	for i := range m.frames[n] {
		all = all.Plus(m.frames[n][i].hash)
	}
	if m.fresh = m.combined.Add(all); m.fresh {
		m.now.Global++
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
// one: each is a hundredth more paths than the one before.
func (m *Meter) Path(s Sample) {
	m.now.Paths++
	m.fill(s)
	if m.now.Paths > m.next {
		m.samples = append(m.samples, m.now)
		m.next = m.now.Paths + m.now.Paths/100
	}
}

// fill takes over what others count.
func (m *Meter) fill(s Sample) {
	m.now.Elapsed, m.now.Traces, m.now.Executed, m.now.Known = s.Elapsed, s.Traces, s.Executed, s.Known
}

// End takes the last sample and returns all.
func (m *Meter) End(s Sample) []Sample {
	m.fill(s)
	if n := len(m.samples); n == 0 || m.samples[n-1] != m.now {
		m.samples = append(m.samples, m.now)
	}
	return m.samples
}

// Now is how much was seen so far.
func (m *Meter) Now() Sample { return m.now }

// Locals are the numbers of different local states by node.
func (m *Meter) Locals() []int { return m.locals }
