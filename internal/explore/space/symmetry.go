package space

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Symmetry are the ways to exchange interchangeable nodes. Two states are the same up
// to symmetry when one is the other with nodes exchanged.
//
// A state's contents cannot be renamed: messages and local states have the nodes'
// names baked in. But the origins of steps can be renamed. Each step of a path is
// determined by its node, by the node's step before, and by what it was given: a
// delivery by the step that sent the message, by the message's place among what that
// step sent there, and by the timer that held it up, if any; a fault by which one it is
// and when it strikes or is over. So each step has a hash for every way to exchange
// nodes, made of those of the steps that it comes from, and each state has one, made of
// those of its nodes' last steps and of the messages in flight. Its class is the least
// of them.
//
// Interchangeable means that with nodes exchanged everything else is exchanged: who
// does what, and what is due before what. The former is the user's word, of which is
// looked at what shows: two steps that are the same with nodes exchanged must send as
// many messages to as many nodes (Err). The latter is looked at: states are of one class
// only if what is pending in them is due in the same order. How much time lies between
// is not looked at, so that it does not matter by microseconds in which order a node
// sends to the others.
//
// A Symmetry is for one path.
type Symmetry struct {
	// Audit is the share of states, from 0 to 1, that are of no class but their own, so
	// that what comes of them is compared too. With any, the sizes of messages must be
	// the same as well.
	Audit float64

	// ways are permutations: by node, who takes its place. The first exchanges nothing.
	ways  [][]ariadne.NodeID
	looks map[hash.Hash]look // by the least hash of a step
	err   error
	nodes []hash.Hash // scratch memory
}

// look is what of a step must be the same with nodes exchanged.
type look struct {
	hash     hash.Hash
	node     ariadne.NodeID // whose step it was
	messages int
	bytes    int
	done     bool
	timer    bool
}

// NewSymmetry returns the ways to exchange nodes within groups, of a system of n.
func NewSymmetry(n int, groups [][]ariadne.NodeID) *Symmetry {
	same := make([]ariadne.NodeID, n)
	for i := range same {
		same[i] = ariadne.NodeID(i)
	}
	y := &Symmetry{ways: [][]ariadne.NodeID{same}, looks: map[hash.Hash]look{}}
	for _, g := range groups {
		for k := 1; k < len(g); k++ {
			// Every way so far, with the k-th node exchanged with each before it.
			for _, w := range slices.Clone(y.ways) {
				for i := range k {
					v := slices.Clone(w)
					v[g[k]], v[g[i]] = w[g[i]], w[g[k]]
					y.ways = append(y.ways, v)
				}
			}
		}
	}
	return y
}

// Ways is the number of ways to exchange nodes, that of exchanging none included.
func (y *Symmetry) Ways() int { return len(y.ways) }

// origins are where the things of a frame come from. Steps are named by their frame's
// index; 0 is no step.
type origins struct {
	step   []hash.Hash // of the step that led here, by way
	last   []int32     // by node, its last step
	flight []origin    // of State.Flight
}

// origin is where a message in flight comes from.
type origin struct {
	step int32 // that sent it
	nth  int32 // among what that step sent to the same node
	held int32 // the timer that it arrives with, because that held it up, or what has made it late
	// peer, of what the network tells a node of one of its connections, is the other end's node:
	// the step did not send it. Else it is NoNode.
	peer ariadne.NodeID
}

// hashStep of step i of the path; of a node that has taken none it is who the node is.
func (y *Symmetry) hashStep(p *Path, i int32, node ariadne.NodeID, way int) hash.Hash {
	if i == 0 {
		return hash.Of(uint64(y.ways[way][node]), 0, 0)
	}
	return p.frames[i].origins.step[way]
}

// hashMessage is a hash of where a message comes from.
func (y *Symmetry) hashMessage(p *Path, o *origin, way int) hash.Hash {
	from := p.frames[o.step].origins.step[way]
	h := hash.Of(from.Hi, from.Lo, uint64(o.nth))
	if o.peer != ariadne.NoNode {
		h = h.Plus(hash.Of(uint64(y.ways[way][o.peer]), 0, 2))
	}
	if o.held > 0 {
		h = h.Plus(p.frames[o.held].origins.step[way])
	}
	return h
}

// beginPath makes the origins of the first frame.
func (y *Symmetry) beginPath(f *Frame) {
	f.origins.last = make([]int32, len(f.State.Nodes))
}

// followStep makes the origins of the last frame. A path with a symmetry keeps all of its frames.
func (y *Symmetry) followStep(p *Path, from, to *Frame) {
	n, e := p.n-1, &from.Enabled[from.Taken]
	a, b := &from.origins, &to.origins
	b.step = b.step[:0]
	var given []*origin
	for i := range from.State.Flight {
		if e.Delivers(from.State.Flight[i].Packet) {
			given = append(given, &a.flight[i])
		}
	}
	at := to.timeGiven(from, e.Node)
	for way := range y.ways {
		h := y.hashStep(p, a.last[e.Node], e.Node, way).Plus(hash.Of(uint64(e.Kind), uint64(at), 1))
		for _, o := range given {
			h = h.Plus(y.hashMessage(p, o, way))
		}
		if slow, ok := e.SlowsBetween(y.ways[way]); ok {
			h = h.Plus(slow)
		}
		if e.Kind == world.Split {
			h = h.Plus(hash.OfText(e.Varied.What()))
		}
		b.step = append(b.step, e.Varied.Onto(h))
	}
	y.compareStep(p, n)
	b.last = append(b.last[:0], a.last...)
	b.last[e.Node] = int32(n)
	y.updateFlying(p, n)
}

// compareStep compares what step n showed with those that are the same with nodes
// exchanged.
func (y *Symmetry) compareStep(p *Path, n int) {
	f := &p.frames[n]
	var least, now hash.Hash
	for way, h := range f.origins.step {
		if way > 0 && least.Less(h) {
			continue
		}
		g := y.hashShown(f.By, way)
		if way == 0 || h.Less(least) || h == least && g.Less(now) {
			least, now = h, g
		}
	}
	s := look{hash: now, node: f.By.From.Node, messages: len(f.By.Effect.Packets), done: f.By.Effect.Done,
		timer: f.By.Effect.Deadline != ariadne.Never}
	for _, q := range f.By.Effect.Packets {
		s.bytes += len(q.Data)
	}
	before, known := y.looks[least]
	switch {
	case !known && len(y.looks) < maxLooks:
		y.looks[least] = s
	case known && before.hash != now && y.err == nil:
		names := p.System().Names()
		y.err = fmt.Errorf("the nodes are not interchangeable: at step %d (%s) node %s %s; in the same place node %s %s",
			n, names.Action(p.Taken(n).Action()), names.Node(s.node), s, names.Node(before.node), before)
	}
}

func (s look) String() string {
	waits := "waits for messages alone"
	switch {
	case s.done:
		waits = "has ended"
	case s.timer:
		waits = "has a timer"
	}
	plural := "s"
	if s.messages == 1 {
		plural = ""
	}
	return fmt.Sprintf("has sent %d message%s of %d bytes and %s", s.messages, plural, s.bytes, waits)
}

// maxLooks bounds what is kept for comparison.
const maxLooks = 1 << 20

// hashShown is a hash of what a transition shows with nodes exchanged.
func (y *Symmetry) hashShown(t *memo.Transition, way int) hash.Hash {
	kind := uint64(0)
	if t.Effect.Done {
		kind = 1
	} else if t.Effect.Deadline == ariadne.Never {
		kind = 2
	}
	sum := hash.Of(kind, 0, 0)
	for _, q := range t.Effect.Packets {
		size := uint64(0)
		if y.Audit > 0 {
			size = uint64(len(q.Data))
		}
		h := hash.Of(uint64(y.ways[way][q.To]), size, uint64(q.Flags))
		sum.Hi, sum.Lo = sum.Hi+h.Hi, sum.Lo+h.Lo
	}
	return sum
}

// Err is what speaks against the user's word, or nil.
func (y *Symmetry) Err() error { return y.err }

// updateFlying makes the origins of the messages in flight: those that stay, in their order,
// and behind them those that were sent.
func (y *Symmetry) updateFlying(p *Path, n int) {
	from, to := &p.frames[n-1], &p.frames[n]
	b := &to.origins
	b.flight = b.flight[:0]
	k := 0
	for i := range to.State.Flight {
		f := &to.State.Flight[i]
		for k < len(from.State.Flight) && from.State.Flight[k].Packet != f.Packet &&
			!isRestOf(&from.State.Flight[k], f) {
			k++
		}
		if k == len(from.State.Flight) {
			b.flight = append(b.flight, y.originOfSent(p, n, i))
			continue
		}
		o := from.origins.flight[k]
		if f.Arrival > from.State.Flight[k].Arrival || f.Packet != from.State.Flight[k].Packet {
			o.held = int32(n)
		}
		b.flight = append(b.flight, o)
		k++
	}
}

// isRestOf reports whether a message is what is left of another of which a piece has arrived.
func isRestOf(whole, f *world.Flying) bool {
	return f.Flow.Proto == ariadne.TCP && len(f.Data) < len(whole.Data) && f.SameDelivery(whole.Packet)
}

// originOfSent is the origin of the message at place i in flight, which step n has sent.
func (y *Symmetry) originOfSent(p *Path, n, i int) origin {
	to := &p.frames[n]
	f := &to.State.Flight[i]
	o := origin{step: int32(n), peer: ariadne.NoNode}
	if f.Flow.Proto == ariadne.Expiry {
		o.peer = p.System().Names().Owner(f.Flow.Dst.Addr())
		for j := range i {
			g, h := &to.State.Flight[j], &to.origins.flight[j]
			if g.To == f.To && h.step == o.step && h.peer == o.peer {
				o.nth++
			}
		}
		return o
	}
	for _, q := range to.By.Effect.Packets {
		if q == f.Packet {
			break
		}
		if q.To == f.To {
			o.nth++
		}
	}
	if f.Arrival == p.System().Rules().Arrival(f.Packet, p.Taken(n).At) {
		return o
	}
	// It waits for what is before it on its connection, or the network is slow.
	for j := range i {
		if g := &to.State.Flight[j]; g.SameFlow(f.Packet) && g.To == f.To && g.Arrival == f.Arrival {
			o.held = to.origins.flight[j].held
			return o
		}
	}
	for k := n - 1; k > 0; k-- {
		if world.KindOf(p.frames[k-1].Enabled[p.frames[k-1].Taken].Kind).Slows() {
			o.held = int32(k)
			break
		}
	}
	return o
}

// timeGiven is the time in a step of a node, or of the network, that does not follow from what the
// step comes from, or 0: when it is over what a fault has begun, and when one without end befell a
// node whose clock had not come so far. How much time lies between steps is no matter, but this is:
// others may notice.
func (f *Frame) timeGiven(from *Frame, id ariadne.NodeID) ariadne.Time {
	before, after := &from.State.Nodes[id], &f.State.Nodes[id]
	switch in := &f.By.Input; {
	case after.Down != ariadne.Up && before.Start != after.Start:
		return after.Start
	case after.Awake != before.Awake:
		return after.Awake
	case len(f.State.Cuts) > len(from.State.Cuts):
		return newStanding(from.State.Cuts, f.State.Cuts).Until
	case in.Kind == ariadne.Fault && in.At > before.Clock:
		return in.At
	}
	return 0
}

// newStanding is the one of all that is not among those before, which are as many but for it.
func newStanding(before, all []world.Standing) world.Standing {
	i := 0
	for i < len(before) && all[i] == before[i] {
		i++
	}
	return all[i]
}

// hashClass is the hash of the state at the end of the path up to symmetry.
func (y *Symmetry) hashClass(p *Path) hash.Hash {
	f := p.Last()
	s := &f.State
	own := s.Hash()
	if float64(own.Hi>>11)/(1<<53) < y.Audit {
		return own
	}
	// Which nodes are parted is not in what is compared, nor who sends late messages, what arrives
	// before a node is awake, whose connections are to end, nor who waits for whom.
	if len(s.Cuts) > 0 || len(s.Slow) > 0 || s.AnyAway() || s.AwaitsEnds() || p.System().AnyWaits(&s.State) {
		return own
	}
	d := p.System().Due(&s.State)
	y.nodes = y.nodes[:0]
	for i := range s.Nodes {
		y.nodes = append(y.nodes, d.HashNode(p.System(), &s.State, ariadne.NodeID(i)))
	}
	var least hash.Hash
	for way, to := range y.ways {
		var sum hash.Hash
		add := func(h hash.Hash) { sum.Hi, sum.Lo = sum.Hi+h.Hi, sum.Lo+h.Lo }
		for i, n := range y.nodes {
			h := y.hashStep(p, f.origins.last[i], ariadne.NodeID(i), way)
			add(h.Plus(n).Plus(hash.Of(uint64(to[i]), 0, 0)))
		}
		for i := range s.Flight {
			g := &s.Flight[i]
			late := uint64(0)
			if g.Delayed {
				late = 1
			}
			add(y.hashMessage(p, &f.origins.flight[i],
				way).Plus(d.HashUntil(g.Arrival)).Plus(d.HashLatest(p.System(), g)).Plus(hash.Of(uint64(to[g.To]), late,
				1)))
		}
		if way == 0 || sum.Less(least) {
			least = sum
		}
	}
	return least.Plus(s.Budget())
}

// copyLists copies nothing: a path with a symmetry is not forked. A state's name has no origins, so
// hashPast and hashReads are empty. Path.HashClass has the origins.
func (y *Symmetry) copyLists(f, _ *Frame)      { f.origins = origins{} }
func (y *Symmetry) hashPast(*Frame) hash.Hash  { return hash.Hash{} }
func (y *Symmetry) hashReads(*Frame) hash.Hash { return hash.Hash{} }
