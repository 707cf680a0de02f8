// Package causal finds what of an execution could have had an influence on one of its steps: the
// happens-before relation (Lamport 1978), with the faults of the network in it. All inputs of the
// step's node follow from the step's causal past. Steps outside that past could have gone
// otherwise, and the step would be the same.
//
// Words has each step in words, with what its message carries.
//
// It looks at steps alone: it reads nothing, and decides nothing. Invariants: a
// cause has a lower index than what it causes; a step's causes and its node's state determine its
// input.
//
// Read next: internal/use/explain, internal/record/graph.
package causal

import (
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Kind says why one step comes before another.
type Kind uint8

const (
	Program Kind = iota // both are of one node, and nothing of that node is between them
	Message             // the one sent what the other delivers
	Fault               // the one is a fault that may have kept something from the other's node
	Ready               // the other's node was switched on when the one's was ready
)

// Cause is a step that comes immediately before another one.
type Cause struct {
	Step int // index, from 1
	Kind Kind
	// Message is what it sent, with Message; else nil.
	Message *ariadne.Message
}

// Graph is the happens-before relation of an execution.
type Graph struct {
	steps  []ariadne.Step
	causes [][]Cause
}

// Steps are those of the execution, which must not be changed.
func (g *Graph) Steps() []ariadne.Step { return g.steps }

// Causes are the immediate causes of a step, by its index from 1, without repetitions. Program
// order comes first.
func (g *Graph) Causes(step int) []Cause { return g.causes[step-1] }

// Past are the steps that come before one of some steps, by index from 1, and these.
func (g *Graph) Past(of ...int) []bool {
	past := make([]bool, len(g.steps)+1)
	for open := slices.Clone(of); len(open) > 0; {
		step := open[len(open)-1]
		open = open[:len(open)-1]
		if past[step] {
			continue
		}
		past[step] = true
		for _, c := range g.causes[step-1] {
			open = append(open, c.Step)
		}
	}
	return past
}

// New returns the relation of an execution's steps, from its first one. waits are by node those
// that must be ready before it is switched on; it may be nil.
func New(steps []ariadne.Step, names world.Names, waits [][]ariadne.NodeID) *Graph {
	b := builder{
		Graph: Graph{steps: steps, causes: make([][]Cause, len(steps))}, names: names, waits: waits,
		last: map[ariadne.NodeID]int{}, hit: map[ariadne.NodeID][]int{}, sent: map[parcel]sending{},
		ready: map[ariadne.NodeID]int{}, down: map[ariadne.NodeID]int{}, parted: map[string]int{},
	}
	for i := range steps {
		b.step(i)
	}
	return &b.Graph
}

// parcel names a message among those of an execution.
type parcel struct {
	flow ariadne.Flow
	to   ariadne.NodeID
	seq  int
}

// sending is where a message was sent last.
type sending struct {
	step    int // index, from 1
	message *ariadne.Message
}

// builder goes through an execution once. All steps are indices from 1.
type builder struct {
	Graph
	names  world.Names
	waits  [][]ariadne.NodeID
	last   map[ariadne.NodeID]int // its last step
	hit    map[ariadne.NodeID][]int
	sent   map[parcel]sending
	ready  map[ariadne.NodeID]int // its first step behind which it was ready
	down   map[ariadne.NodeID]int // the last that took it down
	parted map[string]int         // what began a part of the network's trouble, by name
}

func (b *builder) step(i int) {
	s := &b.steps[i]
	id := s.Action.Node
	if id == ariadne.NoNode {
		b.network(i)
	} else {
		if last := b.last[id]; last > 0 {
			b.add(i, Cause{Step: last, Kind: Program})
		}
		for _, f := range b.hit[id] {
			b.add(i, Cause{Step: f, Kind: Fault})
		}
		b.given(i)
		delete(b.hit, id)
		b.last[id] = i + 1
	}
	o := &s.Output
	for j := range o.Messages {
		m := &o.Messages[j]
		b.sent[parcel{m.Flow, m.To, m.Seq}] = sending{i + 1, m}
	}
	if o.Ready && b.ready[id] == 0 {
		b.ready[id] = i + 1
	}
	if o.Down != ariadne.Up {
		b.down[id] = i + 1
	}
}

// given enters where the input of a node's step comes from.
func (b *builder) given(i int) {
	a := &b.steps[i].Action
	switch {
	case a.Flow.Proto == ariadne.Expiry:
		// Nobody answers any more: the peer is down, or the network is parted, which hits the node.
		if down := b.down[b.names.Owner(a.Flow.Dst.Addr())]; down > 0 {
			b.add(i, Cause{Step: down, Kind: Fault})
		}
		if down := b.down[b.names.Owner(a.Flow.Src.Addr())]; down > 0 {
			b.add(i, Cause{Step: down, Kind: Fault})
		}
	case a.Flow.Proto != 0:
		b.delivered(i, a.Node)
	case a.Kind == ariadne.ActStart && int(a.Node) < len(b.waits):
		for _, other := range b.waits[a.Node] {
			if ready := b.ready[other]; ready > 0 {
				b.add(i, Cause{Step: ready, Kind: Ready})
			}
		}
	case i > 0 && strings.HasSuffix(world.KindOf(a.Kind).Name, together):
		b.add(i, Cause{Step: i, Kind: Fault}) // nothing else happens between these
	}
}

// together ends the names of the kinds of events by which a node goes down with another one.
const together = "-too"

// delivered enters the senders of the bytes that a step delivers to a node. Several steps may have
// sent bytes that arrive together.
func (b *builder) delivered(i int, to ariadne.NodeID) (from []ariadne.NodeID) {
	a := &b.steps[i].Action
	last := a.Seq
	if a.Kind == world.Join {
		last = max(last, number(a.What))
	}
	for seq := a.Seq; seq <= last; seq++ {
		if s := b.sent[parcel{a.Flow, to, seq}]; s.step > 0 {
			b.add(i, Cause{s.step, Message, s.message})
			from = append(from, s.message.From)
		}
	}
	return from
}

// number reads a whole number; of other texts it is 0.
func number(text string) (n int) {
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<40 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// network enters a step that happens to the network. It may have an influence on the next step of
// each node that it hits.
func (b *builder) network(i int) {
	a := &b.steps[i].Action
	if a.Flow.Proto != 0 {
		for id := ariadne.NodeID(0); b.names.Node(id) != ""; id++ {
			s := b.sent[parcel{a.Flow, id, a.Seq}]
			if s.step == 0 || s.message.Group.IsValid() &&
				!strings.HasSuffix(b.steps[i].Name, " to "+b.names.Node(id)) {
				continue
			}
			from := b.delivered(i, id)
			b.hits(i, id)
			if a.Kind != world.Lose { // of which the sender hears nothing
				for _, f := range from {
					b.hits(i, f)
				}
			}
		}
		return
	}
	if began := b.parted[a.What]; began > 0 {
		b.add(i, Cause{Step: began, Kind: Fault})
	}
	b.parted[a.What] = i + 1
	for _, id := range Parted(a.What, b.names) {
		b.hits(i, id)
	}
}

func (b *builder) hits(i int, id ariadne.NodeID) { b.hit[id] = append(b.hit[id], i+1) }

func (b *builder) add(i int, c Cause) {
	for _, known := range b.causes[i] {
		if known.Step == c.Step && known.Message == c.Message && (known.Kind == c.Kind || known.Kind == Program) {
			return
		}
	}
	b.causes[i] = append(b.causes[i], c)
}

// Parted are the nodes in the name of a partition of the network, or of a part of it that is slow,
// as in n1|n2+n3 for 15s.
func Parted(what string, names world.Names) (all []ariadne.NodeID) {
	what, _, _ = strings.Cut(what, " ")
	parted := strings.FieldsFunc(what, func(r rune) bool { return strings.ContainsRune("|>+", r) })
	for id := ariadne.NodeID(0); names.Node(id) != ""; id++ {
		if slices.Contains(parted, names.Node(id)) {
			all = append(all, id)
		}
	}
	return all
}
