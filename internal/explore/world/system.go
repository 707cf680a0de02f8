package world

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// System is what all executions have in common, and the rules: functions of a
// State. It does not change.
type System struct {
	nodes   []Node
	initial []Named // local states, by node
	rules   Rules
	names   Names
	// onNodes are the faults that hit nodes, by kind, but for their time.
	onNodes    [MaxKinds][]Event
	partitions []Event // likewise
	// The kinds that have events here, in order: for those of which there is no budget no state is
	// looked at. starts are those that wait for Clock.Start (Kind.Starts), only those for which all
	// else waits (Kind.Only).
	starts, timed, aside, only []possible
	faulty                     bool // there is any budget
	clients                    []ariadne.NodeID
	// by node, which others wait for it (Node.After); nil: none waits for any
	awaited [][]ariadne.NodeID
	within  []ariadne.ActionKind
}

// possible is a kind of which there may be events.
type possible struct {
	enabled func(*System, *State, Clock, []Event) []Event
	kind    ariadne.ActionKind
	fault   bool
}

// NewSystem returns the system of these nodes.
func NewSystem(r Rules, nodes []Node) *System {
	y := &System{faulty: !r.Faults.None(), nodes: nodes, rules: r, names: NewNames(nodes, r.Partitions),
		onNodes: newNodeFaults(r), partitions: newPartitions(r)}
	for _, k := range withEvents {
		if kinds[k].With != 0 {
			continue
		}
		p, list := possible{kinds[k].Enabled, k, kinds[k].Fault != ""}, &y.timed
		switch {
		case kinds[k].Only:
			list = &y.only
		case kinds[k].Untimed:
			list = &y.aside
		case kinds[k].Starts:
			list = &y.starts
		}
		of := kinds[k].Of
		if p.fault {
			of = []ariadne.ActionKind{k}
		}
		if of == nil || slices.ContainsFunc(of, func(k ariadne.ActionKind) bool { return r.Faults[k] > 0 }) {
			*list = append(*list, p)
		}
	}
	for _, k := range within {
		if r.Faults[k] > 0 {
			y.within = append(y.within, k)
		}
	}
	for i := range nodes {
		y.initial = append(y.initial, NameOf(ariadne.NodeID(i), nodes[i].Initial))
		for _, id := range nodes[i].After {
			if y.awaited == nil {
				y.awaited = make([][]ariadne.NodeID, len(nodes))
			}
			y.awaited[id] = append(y.awaited[id], ariadne.NodeID(i))
		}
		if nodes[i].Client {
			y.clients = append(y.clients, ariadne.NodeID(i))
		}
	}
	return y
}

// Nodes are the system's nodes, by NodeID; not to be changed.
func (y *System) Nodes() []Node { return y.nodes }

// Rules are the system's.
func (y *System) Rules() *Rules { return &y.rules }

// Names translates between actions and their stable names.
func (y *System) Names() Names { return y.names }

// Faulty reports whether the rules have a budget for any kind of fault.
func (y *System) Faulty() bool { return y.faulty }

// Within are the kinds of faults within steps for which the rules have a budget, in order.
func (y *System) Within() []ariadne.ActionKind { return y.within }

// State is the global state: plain data, without the automata.
type State struct {
	Nodes  []NodeState // by NodeID
	Flight []Flying    // in the order in which they were sent
	Delays int         // what is left of the budget
	Faults Faults      // likewise
	Steps  int         // actions applied
	Now    ariadne.Time
	Cuts   []Standing // how the network is parted, in order; not to be changed in place
	Slow   []Standing // parts of it that are slow, likewise

	// sum is the sum of the hashes of the nodes' local states and of Flight.
	sum hash.Hash
}

// NodeState is what the world knows of one node. Fields that do not follow from the node's history
// or local state are in Due.HashNode, too.
type NodeState struct {
	Started bool         // the machine runs
	Down    ariadne.Down // what a fault has done to it since its commands were run last
	Done    bool         // no process is left
	Ended   bool         // none of its commands is left
	Spared  bool         // no fault hits it
	Said    Said         // lines that must come before faults
	// when it became what others wait for before they are switched on, or Never
	Ready     ariadne.Time
	Clock     ariadne.Time
	Deadline  ariadne.Time     // earliest pending timer, or Never
	Local     *Named           // of its local state (digest.go)
	Calm      ariadne.Time     // as in ariadne.Output
	Limits    *[]ariadne.Limit // likewise; nil: there are none
	Processes *Processes       // which may be killed alone, and how; nil: none
	Start     ariadne.Time     // when its commands are to be run, or Never
	// On is when the machine was or is to be switched on: what arrives before that finds nobody.
	On ariadne.Time
	// Awake, when it is not 0: a fault has paused the node until then, and nothing has happened to
	// it that is later. Told is when it was given something last, before that.
	Awake, Told ariadne.Time
	// Falls, when not nil, is the loss of power that hits the node next, at FallsAt or, when its
	// clock is later, by that.
	Falls   *Varied
	FallsAt ariadne.Time
}

// Flying is a message in flight.
type Flying struct {
	*Packet
	Arrival ariadne.Time
	// Due is when it should have arrived, with Delayed.
	Due     ariadne.Time
	Delayed bool // a timer has passed it
	Head    bool // no earlier message of its TCP direction is in flight
}

// FirstState is the state in which nothing is switched on yet.
func (y *System) FirstState() State {
	s := State{Delays: y.rules.Delays, Faults: y.rules.Faults}
	for i, n := range y.nodes {
		start := n.Start
		if n.After != nil {
			start = ariadne.Never
		}
		s.Nodes = append(s.Nodes,
			NodeState{Deadline: ariadne.Never, Ready: ariadne.Never, Local: &y.initial[i], Start: start, On: start})
		s.sum.Add(y.initial[i].part)
		s.sum.Add(y.onHash(ariadne.NodeID(i), start))
	}
	return s
}

// CopyFrom makes s a copy of another state, in the memory that it has.
func (s *State) CopyFrom(t *State) {
	nodes, flight := append(s.Nodes[:0], t.Nodes...), append(s.Flight[:0], t.Flight...)
	*s = *t
	s.Nodes, s.Flight = nodes, flight
}

// ClientsDone reports whether there are clients and the commands of all of them have ended.
func (y *System) ClientsDone(s *State) bool {
	for _, id := range y.clients {
		if !s.Nodes[id].Ended {
			return false
		}
	}
	return len(y.clients) > 0
}

// Input is an input with the packet that it delivers.
type Input struct {
	Kind   ariadne.InputKind
	At     ariadne.Time
	Packet *Packet // with Deliver
	Varied *Varied
}

// Input is what the node is given.
func (in Input) Input() ariadne.Input {
	i := ariadne.Input{Kind: in.Kind, At: in.At, Fault: in.Varied.Fault(), Vary: in.Varied.Variation(),
		Draw: in.Varied.Draw()}
	if in.Packet != nil {
		m := in.Packet.Message
		i.Message = &m
	}
	return i
}

// InputOf is the inverse of Input.Input, but for what was to be drawn.
func InputOf(given *ariadne.Input) Input {
	in := Input{Kind: given.Kind, At: given.At, Varied: VariedBy(given.Vary)}
	if given.Fault != nil {
		in.Varied = variedByFault(given.Fault).withVariation(given.Vary)
	}
	if given.Message != nil {
		in.Packet = NewPacket(given.Message)
	}
	return in
}

// Action is what happens to a node with the input. The input does not say which kind of event gave
// it: a message that arrives once more is delivered.
func (in Input) Action(id ariadne.NodeID) ariadne.Action {
	a := ariadne.Action{Node: id, Vary: in.Varied.Variation()}
	switch in.Kind {
	case ariadne.Start:
		a.Kind = ariadne.ActStart
	case ariadne.Deliver:
		a.Kind, a.Flow, a.Seq = ArrivalKind(in.Packet.Flow.Proto), in.Packet.Flow, in.Packet.Seq
		if in.Packet.IsProbe() {
			a.Kind = Probe
		}
	case ariadne.Fire:
		a.Kind = ariadne.ActFire
	case ariadne.Fault:
		a.Kind, _ = KindNamed(in.Varied.Fault().Kind())
		a.What = in.Varied.What()
	}
	return a
}

// TakeInput turns an enabled event into the input that it means and takes that input
// out of what is pending.
func (y *System) TakeInput(s *State, e *Event) Input {
	if y.faulty && e.IsFault() {
		s.payCosts(e.Costs())
	}
	in := kinds[e.Kind].Take(y, s, e)
	if in.Varied = e.Varied; in.Varied != nil && kinds[e.Kind].Alike {
		in.Varied = e.Varied.unnamed()
	}
	if y.faulty && !kinds[e.Kind].World {
		s.enterInput(e.Node, &in)
	}
	s.Steps++
	s.Now = max(s.Now, in.At)
	return in
}

// clockBefore is what the node's clock shows when a message arrives at t, before its next
// timer has fired. If that is due by then the clock is slow, as it may be: it has not
// come to the deadline.
func (n *NodeState) clockBefore(t ariadne.Time) ariadne.Time {
	if d := n.Timer(); d <= t {
		return max(n.Clock, d-1)
	}
	return t
}

// takeFromFlight takes a message out of flight; the next of its connection is the head.
func (s *State) takeFromFlight(i int) {
	f := &s.Flight[i]
	s.sum.Sub(f.hash())
	p := f.Packet
	s.Flight = slices.Delete(s.Flight, i, i+1)
	for j := range s.Flight {
		if f := &s.Flight[j]; !f.Head && f.SameFlow(p) {
			f.Head = true
			break
		}
	}
}

// delayUntil holds back all that should have arrived by now.
func (s *State) delayUntil(t ariadne.Time, ends bool) {
	for i := range s.Flight {
		f := &s.Flight[i]
		if f.Arrival > t || !s.holdsBack(f, t, ends) {
			continue
		}
		if f.costsDelay() {
			s.Delays--
		}
		s.sum.Sub(f.hash())
		f.Arrival, f.Due, f.Delayed = t, f.due(), true
		s.sum.Add(f.hash())
	}
}

// costsDelay reports whether it costs one of the delays to hold the message back: it is delayed for
// the first time, and does not stand behind another one.
func (f *Flying) costsDelay() bool { return f.Head && !f.Delayed }

// mayHoldBack reports whether something may happen at t, as far as the messages go that it holds
// back: there are delays left for them, and none comes later than the rules allow.
func (y *System) mayHoldBack(s *State, t ariadne.Time, ends bool) bool {
	left, most := s.Delays, ariadne.Time(y.rules.MaxDelay)
	for i := range s.Flight {
		f := &s.Flight[i]
		if f.Arrival > t {
			continue
		}
		costs, tooLate := f.costsDelay(), most > 0 && t-f.due() > most
		if !costs && !tooLate || !s.holdsBack(f, t, ends) {
			continue // most messages: what holds them back is not asked
		}
		if costs {
			left--
		}
		if left < 0 || tooLate {
			return false
		}
	}
	return left >= 0
}

// due is when a message should arrive, or should have.
func (f *Flying) due() ariadne.Time {
	if f.Delayed {
		return f.Due
	}
	return f.Arrival
}

// Late is how much later a message arrives than it should.
func (f *Flying) Late() ariadne.Time { return f.Arrival - f.due() }

// Lateness is how late a message would be at least after an event that holds some back; 0: it holds
// back none.
func (s *State) Lateness(e *Event) ariadne.Time {
	if !KindOf(e.Kind).Overtakes {
		return 0
	}
	late := ariadne.Time(0)
	for i := range s.Flight {
		if f := &s.Flight[i]; s.holdsBack(f, e.At, e.Kind == Expire) {
			late = max(late, e.At-f.due())
		}
	}
	return late
}

// holdsBack reports whether what happens at t holds a message back. A connection's end (ends) does
// not hold back others at the same time.
func (s *State) holdsBack(f *Flying, t ariadne.Time, ends bool) bool {
	return f.Arrival <= t && !(ends && f.Arrival == t && f.Flow.Proto == ariadne.Expiry) && s.Nodes[f.To].Started &&
		!s.blocks(f.From, f.To) && !(f.IsProbe() && s.silentUntil(f.To, f.From) > 0)
}

// Effect is what a node did in a step, as the world sees it. It is a function of
// the node's local state and the input.
type Effect struct {
	Clock, Deadline ariadne.Time
	Done, Ended     bool
	Spared          bool
	Ready           bool
	Said            Said
	Down            ariadne.Down
	Back            ariadne.Time // with Down
	// what takes other machines down, too (ariadne.Outage.With), or nil
	With      *ariadne.Outage
	Calm      ariadne.Time
	Limits    *[]ariadne.Limit // nil: they are as they were
	Processes *Processes       // likewise
	Packets   []*Packet
}

// Effect checks that a node, whose clock stood at clock, may have done what it
// did.
func (y *System) Effect(id ariadne.NodeID, clock ariadne.Time, in Input, out *ariadne.Output) (Effect, error) {
	e := Effect{Clock: out.Clock, Deadline: out.Deadline, Done: out.Done, Ended: out.Ended, Spared: out.Spared,
		Ready: out.Ready, Down: out.Down, Back: out.Back, Calm: out.Calm, Limits: out.Limits,
		Processes: newProcesses(out.Processes), Said: y.linesSaid(id, out)}
	if f := in.Varied.outage(); f.With != "" {
		e.With = &f
	}
	if in.Varied.takesDown() != (out.Down != ariadne.Up) && !out.Unreplayable && out.Cut == "" {
		return e, fmt.Errorf("after %q it is %s", in.Varied.What()+string(in.Varied.Variation()), out.Down)
	}
	if out.Down == ariadne.Paused && out.Back > out.Clock {
		return e, fmt.Errorf("it was paused until %v, and its clock shows %v", out.Back, out.Clock)
	}
	if out.Down != ariadne.Up && out.Down != ariadne.Paused && out.Back < out.Clock {
		return e, fmt.Errorf("it went down at %v and is to come back at %v", out.Clock, out.Back)
	}
	if out.Clock < clock || out.Clock < in.At {
		return e, fmt.Errorf("its clock ran backwards: %v at the end of a step at %v, which found it at %v", out.Clock, in.At, clock)
	}
	for i := range out.Messages {
		m := &out.Messages[i]
		switch {
		case m.From != id:
			return e, fmt.Errorf("it sent a message as node %d: %s", m.From, describeMessage(m))
		case (m.To == id) != m.Flow.Proto.Own() || m.To < 0 || int(m.To) >= len(y.nodes):
			return e, fmt.Errorf("it sent a message to node %d: %s", m.To, describeMessage(m))
		case m.Sent < in.At || m.Sent > out.Clock:
			return e, fmt.Errorf("it sent a message at %v, outside its step from %v to %v: %s", m.Sent, in.At, out.Clock, describeMessage(m))
		}
		e.Packets = append(e.Packets, NewPacket(m))
	}
	return e, nil
}

// Absorb enters into the state what a node did in an event at time at, and the local state that
// it reached by it.
func (y *System) Absorb(s *State, id ariadne.NodeID, at ariadne.Time, reached *Named, e *Effect) error {
	n := &s.Nodes[id]
	if e.Limits != nil {
		n.Limits = e.Limits
	}
	for _, p := range e.Packets {
		if err := y.sendPacket(s, p, at); err != nil {
			return err
		}
	}
	began := max(n.Clock, at)
	s.sum.Sub(n.Local.part)
	s.sum.Add(reached.part)
	n.Clock, n.Deadline, n.Done, n.Local = e.Clock, e.Deadline, e.Done, reached
	n.Ended, n.Calm, n.Spared = e.Ended, e.Calm, e.Spared
	if said := n.Said | e.Said; said != n.Said {
		s.sum.Sub(n.Said.hash(id))
		n.Said = said
		s.sum.Add(said.hash(id))
	}
	if y.Frees(n, id, e) != nil {
		y.becomeReady(s, id, e.Clock)
	}
	if e.Processes != nil {
		s.setProcesses(id, e.Processes)
	}
	if y.faulty {
		y.awaitEnds(s, id, e)
		s.dropPastSlowness()
	}
	if e.Down != ariadne.Up {
		y.takeDown(s, id, e, began)
	}
	if e.With != nil {
		y.takeDownOthers(s, e.With, began)
	}
	return nil
}

// Arrival is when a message arrives that was sent in an event at time at, if nothing
// keeps it. The sender's clock may be slow, and what it does has its cause all the same.
func (r *Rules) Arrival(p *Packet, at ariadne.Time) ariadne.Time {
	at = max(p.Sent, at)
	if p.Flow.Proto.Own() {
		return at.Add(p.After())
	}
	return at.Add(r.Latency)
}

// sendPacket puts a message into flight that was sent in an event at time at.
func (y *System) sendPacket(s *State, p *Packet, at ariadne.Time) error {
	f := Flying{Packet: p, Arrival: y.slowedArrival(s, p, max(p.Sent, at), y.rules.Arrival(p, at)), Head: true}
	if to := &s.Nodes[p.To]; f.Arrival < to.On {
		if f.Arrival < y.firstOn(s, p.To) || p.Unrepeated() && !to.Started {
			return nil
		}
		// It is sent again and again; or the machine is back, and it is the sender's clock that is
		// behind. In the other order of the two what is sent once is lost.
		f.Arrival = to.On
	}
	if s.blocks(p.From, p.To) && p.Unrepeated() {
		return nil
	}
	for i := range s.Flight {
		e := &s.Flight[i]
		if !e.SameFlow(p) || e.To != p.To {
			continue
		}
		if e.Seq >= p.Seq {
			return fmt.Errorf("it sent number %d after number %d: %s", p.Seq, e.Seq, describeMessage(&p.Message))
		}
		if p.Flow.Proto == ariadne.TCP {
			f.Arrival, f.Head = max(f.Arrival, e.Arrival), false
		}
	}
	s.Flight = append(s.Flight, f)
	s.sum.Add(f.hash())
	return nil
}

func describeMessage(m *ariadne.Message) string {
	return fmt.Sprintf("%s %s>%s #%d %s, %d bytes", m.Flow.Proto, m.Flow.Src, m.Flow.Dst, m.Seq, m.Flags, len(m.Data))
}
