package world

import (
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// The numbers of the kinds of faults that take nodes down.
const (
	Crash ariadne.ActionKind = 7
	Stop  ariadne.ActionKind = 8
	Pause ariadne.ActionKind = 13
	Power ariadne.ActionKind = 19
)

// A node may go down at any time, between two of its steps, and within one at its visible
// operations. It comes back after a time that there is a choice of. The node itself says what it
// leaves to others: its kernel closes connections, or nobody does.
//
// A pause is one step of the node, with its clock at the end of the pause and all timers expired
// that were due meanwhile. The node gets messages that arrive before that afterwards, by its clock,
// in their order: nobody can distinguish that from a wait.
func init() {
	register(Crash, outageKind(Crash, ariadne.Crashed, "a node whose programs are killed", "Crashes: nodes all of whose programs are killed, and run again later", "a crash"))
	register(Pause, outageKind(Pause, ariadne.Paused, "a node that is paused", "Pauses: nodes of which nothing runs for some time, while their clocks go on", "a pause"))
	register(Stop, outageKind(Stop, ariadne.Stopped, "a machine that stops", "Machines that stop, with nothing left but their disks, and are switched on again later", "a stop"))
	register(Power, outageKind(Power, ariadne.PowerLost, "a machine that loses power", "Losses of power: machines that stop, and lose of their disks what was not synced", "a power loss"))
}

func outageKind(k ariadne.ActionKind, down ariadne.Down, doc, fault, once string) Kind {
	return nodeFaultKind(k, "for",
		Kind{Name: down.String(), Doc: doc, Fault: fault, Once: once, Within: true, Halts: down != ariadne.Paused})
}

// Outages are the faults that take nodes down, or pause them, for one of these times each.
func Outages(down ariadne.Down, nodes []ariadne.NodeID, lengths ...time.Duration) NodeFaults {
	f := NodeFaults{Nodes: nodes}
	for _, length := range lengths {
		f.Faults = append(f.Faults, ariadne.Outage{Down: down, For: length})
	}
	return f
}

// mayFall: there is something on the node that a fault of a kind can take down. One that was paused
// goes on first: till then its clock is ahead. A machine on which no process is left may still have
// to write to its disk what they have written.
func (s *State) mayFall(id ariadne.NodeID, kind ariadne.ActionKind) bool {
	n := &s.Nodes[id]
	return n.Started && n.Awake == 0 && (!n.Done || kind == Power && n.Down == ariadne.Up)
}

// enterInput enters what a node is given. One that was paused is awake when it comes after that.
func (s *State) enterInput(id ariadne.NodeID, in *Input) {
	if n := &s.Nodes[id]; n.Awake == 0 || in.At >= n.Awake {
		s.enterPause(id, 0)
		n.Told = max(n.Clock, in.At)
	}
}

// enterPause enters until when a node is paused, or 0.
func (s *State) enterPause(id ariadne.NodeID, until ariadne.Time) {
	n := &s.Nodes[id]
	s.sum.Sub(n.hashPause(id))
	n.Awake = until
	s.sum.Add(n.hashPause(id))
}

// hashPause is the part of a global state's hash of a pause. A state that is named by its content
// does not tell until when it lasts, nor since when.
func (n *NodeState) hashPause(id ariadne.NodeID) hash.Hash {
	if n.Awake == 0 {
		return hash.Hash{}
	}
	return hash.Of(uint64(n.Awake), uint64(n.Told), 20).Plus(hash.Of(uint64(id), 0, 20))
}

// toldTime is the time that the node's clock tells to others. While it is paused, that is the
// beginning of the pause.
func (n *NodeState) toldTime() ariadne.Time {
	if n.Awake != 0 {
		return n.Told
	}
	return n.Clock
}

// untimedNow is the time of what has no time of its own: the last full second on the clock of any
// machine that runs. To a node whose clock is later it happens by that. So what other nodes do
// meanwhile seldom matters to it, and no clock is more than a second behind the others.
func (y *System) untimedNow(s *State) ariadne.Time {
	latest := ariadne.Time(0)
	for i := range s.Nodes {
		if s.Nodes[i].Started {
			latest = max(latest, s.Nodes[i].toldTime())
		}
	}
	return y.rules.OnGrid(latest)
}

// takeDown enters that a fault has taken down a node at time at.
func (y *System) takeDown(s *State, id ariadne.NodeID, e *Effect, at ariadne.Time) {
	n := &s.Nodes[id]
	if e.Down == ariadne.Paused {
		s.enterPause(id, e.Back)
		return
	}
	n.Down, n.Start = e.Down, e.Back
	s.dropEvents(id, e.Down)
	if !e.Down.Off() {
		return
	}
	n.Started, n.Limits = false, nil
	s.enterPause(id, 0)
	s.setProcesses(id, nil)
	s.sum.Sub(y.onHash(id, n.On))
	n.On = e.Back
	s.sum.Add(y.onHash(id, n.On))
	for i := 0; i < len(s.Flight); {
		f := &s.Flight[i]
		switch {
		case f.Flow.Proto == ariadne.Expiry && f.To == id:
			s.takeFromFlight(i)
		case f.To != id || f.Arrival >= n.On:
			i++
		case f.Unrepeated():
			s.takeFromFlight(i)
		default:
			s.sum.Sub(f.hash())
			f.Arrival = n.On
			s.sum.Add(f.hash())
			i++
		}
	}
	y.awaitEndsOfMachine(s, id, at)
}

// onHash is the part of a global state's hash of when a machine was or is to be switched on again:
// what is sent by others whose clocks are behind may arrive before that.
func (y *System) onHash(id ariadne.NodeID, on ariadne.Time) hash.Hash {
	if on == y.nodes[id].Start {
		return hash.Hash{}
	}
	return hash.Of(uint64(id), uint64(on), 12)
}

// Unrepeated reports whether the message is sent once, and lost with whom it was for: a datagram,
// a connection's end, and what opens a connection, which its sender itself tries again.
func (p *Packet) Unrepeated() bool { return Unrepeated(&p.Message) }

// Unrepeated is Packet.Unrepeated of a message.
func Unrepeated(m *ariadne.Message) bool { return m.Flow.Proto == ariadne.UDP || isOpening(m) }

// isOpening: it asks for a TCP connection.
func (p *Packet) isOpening() bool { return isOpening(&p.Message) }

func isOpening(m *ariadne.Message) bool {
	return m.Flow.Proto == ariadne.TCP && m.Flags&(ariadne.SYN|ariadne.ACK) == ariadne.SYN
}

// AnyAway reports whether a node is down, or was paused and nothing later has happened to it.
func (s *State) AnyAway() bool {
	return slices.ContainsFunc(s.Nodes, func(n NodeState) bool { return n.Down != ariadne.Up || n.Awake != 0 })
}

// GoneForGood reports whether a node is down and does not come back, or the network parted for
// ever.
func (s *State) GoneForGood() bool {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Down != ariadne.Up && n.Start == ariadne.Never {
			return true
		}
	}
	return slices.ContainsFunc(s.Cuts, func(c Standing) bool { return c.Until == ariadne.Never })
}
