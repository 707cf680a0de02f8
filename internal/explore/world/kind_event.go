package world

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// AppEvent is the number of its kind.
const AppEvent ariadne.ActionKind = 15

// A program may tell of an event of its own (/dev/ariadne) and wait until that happens.
func init() {
	register(AppEvent,
		itselfKind(AppEvent, ariadne.App, Kind{Name: "event", Doc: "an event that a program has told of"}))
}

// itselfKind completes a kind of event by which a message of a node to itself arrives. Its order
// with all else, what holds it back and what scripts see of it are those of messages. The network
// has nothing to do with it.
func itselfKind(k ariadne.ActionKind, p ariadne.Protocol, kind Kind) Kind {
	kind.With = ariadne.ActDeliver
	kind.Pending = func(y *System, s *State, e *Event) bool { return kinds[ariadne.ActDeliver].Pending(y, s, e) }
	kind.Take = func(y *System, s *State, e *Event) Input { return kinds[ariadne.ActDeliver].Take(y, s, e) }
	kind.Footprint = func(y *System, e *Event, f Footprint) Footprint {
		return kinds[ariadne.ActDeliver].Footprint(y, e, f)
	}
	kind.Format = func(n Names, a ariadne.Action) string {
		name := n.Node(a.Node)
		if a.Flow.Epoch > 0 {
			name += "@" + strconv.Itoa(a.Flow.Epoch)
		}
		return name + " #" + strconv.Itoa(a.Seq)
	}
	kind.Parse = func(n Names, rest string) (a ariadne.Action, err error) {
		name, number, ok := strings.Cut(rest, " #")
		if !ok {
			return a, fmt.Errorf("want %s NODE #NUMBER", kind.Name)
		}
		name, epoch, again := strings.Cut(name, "@")
		if a, err = n.ofNode(k, name); err != nil {
			return a, err
		}
		a.Flow = ariadne.OwnFlow(p, n.addrs[a.Node], 0)
		if again {
			if a.Flow.Epoch, err = strconv.Atoi(epoch); err != nil {
				return a, fmt.Errorf("bad epoch %q", epoch)
			}
		}
		if a.Seq, err = strconv.Atoi(number); err != nil {
			return a, fmt.Errorf("bad number %q", number)
		}
		return a, nil
	}
	return kind
}

// ArrivalKind is the kind of event by which a message of a protocol arrives.
func ArrivalKind(p ariadne.Protocol) ariadne.ActionKind {
	switch p {
	case ariadne.App:
		return AppEvent
	case ariadne.Disk:
		return Synced
	case ariadne.Expiry:
		return Expire
	}
	return ariadne.ActDeliver
}

// ArrivalOf is the action by which a message arrives.
func ArrivalOf(m *ariadne.Message) ariadne.Action {
	return ariadne.Action{Kind: ArrivalKind(m.Flow.Proto), Node: m.To, Flow: m.Flow, Seq: m.Seq}
}

// dropEvents takes out of flight the events that programs of a node have told of, which are no
// more. With the machine what its disks were at ends, too.
func (s *State) dropEvents(id ariadne.NodeID, down ariadne.Down) {
	for i := 0; i < len(s.Flight); {
		if f := &s.Flight[i]; f.To == id &&
			(f.Flow.Proto == ariadne.App || f.Flow.Proto == ariadne.Disk && down.Off()) {
			s.takeFromFlight(i)
		} else {
			i++
		}
	}
}
