package world

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"ariadne"
)

// Hash stands for a value in a search in memory: 128 bits, computed fast. Two
// different states of a search have the same one with a probability of about
// n²/2^129 among n states; a Digest is what names them for good.
type Hash struct{ Hi, Lo uint64 }

// Hash stands for the global state, as Digest does. It is kept up to date step by
// step and costs nothing.
func (s *State) Hash() Hash {
	h := s.Budget()
	h.add(s.sum)
	return h
}

// Trace stands for the order in which each node got its inputs, and nothing else:
// two executions with the same one are the same partial order of events.
func (s *State) Trace() Hash {
	h := Hash{}
	for i := range s.Nodes {
		h.add(s.Nodes[i].Local.part)
	}
	return h
}

// add and sub count modulo 2^64 in each half, so that what was added can be taken
// out again in any order.
func (h *Hash) add(g Hash) { h.Hi, h.Lo = h.Hi+g.Hi, h.Lo+g.Lo }
func (h *Hash) sub(g Hash) { h.Hi, h.Lo = h.Hi-g.Hi, h.Lo-g.Lo }

// Plus is the hash of a pair whose halves are never exchanged.
func (h Hash) Plus(g Hash) Hash { return mix(h.Hi, h.Lo, g.Hi^bits.RotateLeft64(g.Lo, 32)) }

// Less orders hashes.
func (h Hash) Less(g Hash) bool { return h.Hi < g.Hi || h.Hi == g.Hi && h.Lo < g.Lo }

// HashOf hashes three numbers.
func HashOf(a, b, c uint64) Hash { return mix(a, b, c) }

// mix hashes three numbers: two folded products, as wyhash has them, with
// different keys for the two halves.
func mix(a, b, c uint64) Hash {
	return Hash{
		Hi: fold(fold(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db), c^0x8ebc6af09c88c6e3),
		Lo: fold(fold(a^0x589965cc75374cc3, b^0x1d8e4e27c47d124f), c^0x9e3779b97f4a7c15),
	}
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Packet is a message with what hashes and comparisons need of it.
type Packet struct {
	// What each step looks at comes first.
	content Hash   // of all of it
	flow    uint64 // of Flow
	ariadne.Message
	said Hash // of all of it but when it was sent and as which one of its Flow
}

// NewPacket hashes a message.
func NewPacket(m *ariadne.Message) *Packet {
	said := *m
	said.Seq, said.Sent = 0, 0
	b, _ := said.AppendBinary(nil) // never fails
	d := sha256.Sum256(b)
	b, _ = m.Flow.AppendBinary(b[:0])
	f := sha256.Sum256(b)
	p := &Packet{Message: *m, flow: binary.LittleEndian.Uint64(f[:]),
		said: Hash{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}}
	p.content = p.said.Plus(HashOf(uint64(m.Seq), uint64(m.Sent), 3))
	return p
}

// SameFlow reports whether both are of one direction of one connection.
func (p *Packet) SameFlow(q *Packet) bool { return p.flow == q.flow && p.Flow == q.Flow }

// hash is the message's part of a global state's hash.
func (f *Flying) hash() Hash {
	if f.Delayed {
		return mix(f.content.Hi^uint64(f.Due), f.content.Lo, uint64(f.Arrival)<<1|1)
	}
	return mix(f.content.Hi, f.content.Lo, uint64(f.Arrival)<<1)
}

// Key stands for an input among all inputs.
func (in Input) Key() Hash {
	var key Hash
	if in.Packet != nil {
		key = mix(in.Packet.content.Hi, in.Packet.content.Lo, uint64(in.At))
	} else {
		key = mix(uint64(in.Kind), uint64(in.At), 0)
	}
	return in.Varied.Onto(key)
}

// Onto adds to a hash all by which an input is given otherwise: variation, fault and draw. What is to
// tell two events of a kind apart goes in here, for those who remember inputs as for classes of states.
func (v *Varied) Onto(key Hash) Hash {
	if v == nil {
		return key
	}
	if v.vary != "" {
		key = key.Plus(HashOfText(string(v.vary)))
	}
	if f := v.fault; f != (ariadne.NodeFault{}) {
		key = key.Plus(HashOf(uint64(f.Down), uint64(f.For), 9)).Plus(HashOf(uint64(f.Jump), 0, 15))
		if f.Kill != "" || f.With != "" || f.Drift != 0 {
			key = key.Plus(HashOfText(f.Alternative()))
		}
	}
	if d := v.draw; d != nil { // nobody is to take another's for it
		key = key.Plus(HashOf(d.Seed, uint64(d.From), 1))
		for i, after := range d.After {
			kind := HashOfText(d.Kinds[i])
			for j, n := range after {
				key = key.Plus(HashOf(kind.Lo, uint64(j), uint64(n)))
			}
		}
	}
	return key
}

// HashOfText hashes a text.
func HashOfText(s string) Hash {
	d := sha256.Sum256([]byte(s))
	return Hash{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}
}

// SameDelivery reports whether the delivery of both to one node is the same action.
func (p *Packet) SameDelivery(q *Packet) bool { return p.Seq == q.Seq && p.SameFlow(q) }

// Chain stands for the direction of the connection that the message is of.
func (p *Packet) Chain() uint64 { return p.flow }
