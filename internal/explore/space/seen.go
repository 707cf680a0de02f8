package space

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// Seen is a global state as properties and scripts see it: an expose.World.
type Seen struct {
	*world.State
	System *world.System
}

// Messages implements expose.World.
func (s Seen) Messages() (all []expose.Message) {
	for i := range s.Flight {
		f := &s.Flight[i]
		if f.Flow.Proto == ariadne.Expiry { // the network's own
			continue
		}
		all = append(all,
			expose.Message{Message: &f.Message, Arrival: f.Arrival, Delayed: f.Delayed, Name: func() string {
				return s.System.Names().Action(world.ArrivalOf(&f.Message))
			}})
	}
	return all
}

// Timer implements expose.World.
func (s Seen) Timer(id ariadne.NodeID) (at ariadne.Time, ok bool) {
	n := &s.Nodes[id]
	return n.Deadline, n.Started && !n.Done
}

// Clock implements expose.World.
func (s Seen) Clock(id ariadne.NodeID) ariadne.Time { return s.Nodes[id].Clock }
