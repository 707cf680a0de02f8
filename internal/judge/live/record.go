// Package live judges systems that nobody steers: it orders what agents tell of running nodes,
// makes consistent snapshots of it, and judges these by a spec's properties.
//
// It reads no clock, file or process. A Verifier is a function of the records that it takes, so a
// verifier that is lost is replaced by one that takes the same records again.
//
// Invariants: each snapshot that is judged was the state of the system at some moment, whatever the
// order of events was that the records leave open. A moment of which the records do not say enough
// is not judged, and is counted.
//
// Read next: verifier.go, order.go, clock.go; then internal/use/watch, which takes records from
// programs.
package live

import (
	"net/netip"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// Kind is the kind of a record.
type Kind uint8

// The kinds of records.
const (
	Beat Kind = iota // nothing else has happened up to the record's time
	Show             // what the node exposes has changed
	Up               // the node's program runs, and exposes nothing yet
	Down             // the node's program has ended
	// Lost: records of the node are missing, or nobody saw what it exposed before. From here on it
	// is unknown what it exposes by some names.
	Lost
	// Passed says that the common time is not before At. It is of no node, and has no number. By
	// it, verifiers learn that agents say nothing.
	Passed
	// Turned: the records before it say everything known of the node. It is the end of what an
	// agent tells first after the properties have changed.
	Turned
	// Missed is a Show of an agent that judged by earlier properties when others did not any more.
	// It has no number, and is only counted.
	Missed
	// Sought: the node's process, or a file with its lines, was never found, and Text says which. A
	// record without a text says that all was found.
	Sought
)

// Channel is a way by which an agent learns what a node exposes. By one channel it learns that in
// the order in which it happened. Between channels only times tell.
type Channel uint8

// The channels.
const (
	Lines Channel = iota
	Functions
	// Polls are of values that are read now and then. A change was seen at the second of two reads,
	// so it happened after the first one began.
	Polls
)

// Record is what an agent tells of one node. Records of a node are numbered from 1 without gaps.
// The events of one channel are in this order. Up, Down, Lost, Turned and Sought come after all
// records before them, and before all records after them.
type Record struct {
	Node    ariadne.NodeID
	Seq     uint64
	Kind    Kind
	Channel // of Show
	// The event of the record happened not before After and not after At, both by the agent's
	// clock. All events up to the At of a Beat are in records before it, but for those of Polls:
	// of these all up to Polled are.
	After, At ariadne.Time
	Polled    ariadne.Time    // with Beat; 0: At
	Changes   []expose.Change // with Show
	// with Show, the line or call that showed it; with Lost, what is missing
	Text  string
	Names []string // with Lost: of tuples; nil: all
	// Missing is how many events are missing, with Lost; 0: nobody knows.
	Missing uint64
	// Positions are those of all of the node's TCP streams, read not before At and not after Read;
	// nil: they were not read. Those of an event bound what the node had done when it happened: by
	// At it had written no more than Sent, and by After it had read no less than Got.
	Positions *Positions
	Read      ariadne.Time // with Beat also when it was told
}

// Stream is one direction of a TCP connection.
type Stream struct{ From, To netip.AddrPort }

// Positions are how far programs of a node have come in TCP streams, as sequence numbers of TCP: up
// to where they have written streams that begin at the node, and read those that end there.
type Positions struct {
	Sent, Got map[Stream]uint32
	// Counted: they count the bytes since the connection began, and are no sequence numbers. The
	// two kinds cannot be compared with each other.
	Counted bool
}

// ahead reports whether a position in a stream is behind another one. Sequence numbers wrap around.
func ahead(a, b uint32) bool { return int32(a-b) > 0 }

// Stamp is the time of a hybrid logical clock: an agent's clock, moved on by what the event has
// certainly come after.
type Stamp struct {
	Wall  ariadne.Time
	Count uint32 // of events at the same Wall
}

// After returns the stamp of an event at a time of the agent's clock that follows one with stamp s.
func (s Stamp) After(wall ariadne.Time) Stamp {
	if wall > s.Wall {
		return Stamp{Wall: wall}
	}
	return Stamp{s.Wall, s.Count + 1}
}

// Before reports whether s is earlier than o.
func (s Stamp) Before(o Stamp) bool { return s.Wall < o.Wall || s.Wall == o.Wall && s.Count < o.Count }
