package world

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Hash stands for the global state, as Digest does. It is kept up to date step by
// step and costs nothing.
func (s *State) Hash() hash.Hash {
	h := s.Budget()
	h.Add(s.sum)
	return h
}

// Trace stands for the order in which each node got its inputs, and nothing else:
// two executions with the same one are the same partial order of events.
func (s *State) Trace() hash.Hash {
	h := hash.Hash{}
	for i := range s.Nodes {
		h.Add(s.Nodes[i].Local.part)
	}
	return h
}

// Packet is a message with what hashes and comparisons need of it.
type Packet struct {
	// Fields that each step reads come first.
	content hash.Hash // of all of it
	flow    uint64    // of Flow
	size    int64     // about how many bytes it takes while it is on its way
	ariadne.Message
	said hash.Hash // of all of it but when it was sent and as which one of its Flow
}

// NewPacket hashes a message.
func NewPacket(m *ariadne.Message) *Packet {
	said := *m
	said.Seq, said.Sent = 0, 0
	b, _ := said.AppendBinary(nil) // never fails
	d := sha256.Sum256(b)
	b, _ = m.Flow.AppendBinary(b[:0])
	f := sha256.Sum256(b)
	p := &Packet{Message: *m, flow: binary.LittleEndian.Uint64(f[:]), size: int64(len(m.Data)) + inTransit,
		said: hash.Hash{Hi: binary.LittleEndian.Uint64(d[:]), Lo: binary.LittleEndian.Uint64(d[8:])}}
	p.content = p.said.Plus(hash.Of(uint64(m.Seq), uint64(m.Sent), 3))
	return p
}

// SameFlow reports whether both are of one direction of one connection.
func (p *Packet) SameFlow(q *Packet) bool { return p.flow == q.flow && p.Flow == q.Flow }

// hash is the message's part of a global state's hash.
func (f *Flying) hash() hash.Hash {
	if f.Delayed {
		return hash.Of(f.content.Hi^uint64(f.Due), f.content.Lo, uint64(f.Arrival)<<1|1)
	}
	return hash.Of(f.content.Hi, f.content.Lo, uint64(f.Arrival)<<1)
}

// Key stands for an input among all inputs.
func (in Input) Key() hash.Hash {
	var key hash.Hash
	if in.Packet != nil {
		key = hash.Of(in.Packet.content.Hi, in.Packet.content.Lo, uint64(in.At))
	} else {
		key = hash.Of(uint64(in.Kind), uint64(in.At), 0)
	}
	return in.Varied.Onto(key)
}

// Onto adds to a hash all by which an input is given otherwise: variation, fault and draw.
// Everything that distinguishes two events of a kind goes in here, for remembered inputs and for
// classes of states.
func (v *Varied) Onto(key hash.Hash) hash.Hash {
	if v == nil {
		return key
	}
	if v.vary != "" {
		key = key.Plus(hash.OfText(string(v.vary)))
	}
	key = key.Plus(v.key)
	if d := v.draw; d != nil { // nobody is to take another's for it
		key = key.Plus(hash.Of(d.Seed, uint64(d.From), 1))
		for i, after := range d.After {
			kind := hash.OfText(d.Kinds[i])
			for j, n := range after {
				key = key.Plus(hash.Of(kind.Lo, uint64(j), uint64(n)))
			}
		}
	}
	return key
}

// SameDelivery reports whether the delivery of both to one node is the same action.
func (p *Packet) SameDelivery(q *Packet) bool { return p.Seq == q.Seq && p.SameFlow(q) }

// Chain stands for the direction of the connection that the message is of.
func (p *Packet) Chain() uint64 { return p.flow }
