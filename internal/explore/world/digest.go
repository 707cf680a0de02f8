package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Named is the name of a node's local state, with its part of a global state's hash.
type Named struct {
	Name ariadne.Digest
	part hash.Hash
}

// NameOf is the name of a local state of a node.
func NameOf(id ariadne.NodeID, name ariadne.Digest) Named {
	return Named{name, hash.Of(binary.LittleEndian.Uint64(name[:]), binary.LittleEndian.Uint64(name[8:]), uint64(id))}
}

// Key stands for the local state among those of all nodes.
func (n *Named) Key() hash.Hash { return n.part }

// NameReached names the local state that a node reaches from the state named parent by an input: by
// its history, unless the node says that all of it is in its content. Then states with different
// histories may have the same name: what is Left of the node is in it, and nothing else of the
// output.
func (y *System) NameReached(id ariadne.NodeID, parent ariadne.Digest, in Input, out *ariadne.Output) ariadne.Digest {
	if out.Content == (ariadne.Digest{}) {
		return Succeed(parent, in)
	}
	b := append([]byte("content"), y.nodes[id].Initial[:]...)
	b, _ = out.Left.AppendBinary(b) // never fails
	return sha256.Sum256(b)
}

// Succeed names the local state that a node reaches from the state named parent
// by an input, by its history. A node is a function of its inputs, so the name determines the
// state.
func Succeed(parent ariadne.Digest, in Input) ariadne.Digest {
	b, _ := in.AppendBinary(parent[:]) // never fails
	return sha256.Sum256(b)
}

// SucceedBy names a way to a state by its inputs and by what the node did on it.
func SucceedBy(way ariadne.Digest, in Input, out *ariadne.Output) ariadne.Digest {
	way = Succeed(way, in)
	return sha256.Sum256(append(way[:], out.Digest[:]...))
}

// AppendBinary appends the encoding of what the node is given.
func (in *Input) AppendBinary(b []byte) ([]byte, error) {
	i := ariadne.Input{Kind: in.Kind, At: in.At, Fault: in.Varied.Fault(), Vary: in.Varied.Variation(),
		Draw: in.Varied.Draw()}
	if in.Packet != nil {
		i.Message = &in.Packet.Message
	}
	return i.AppendBinary(b)
}

// Digest names the global state: the nodes' local states, the messages in
// flight, the budget. It does not depend on the order of independent actions.
func (s *State) Digest() ariadne.Digest {
	var b []byte
	for _, n := range s.Nodes {
		b = append(b, n.Local.Name[:]...)
		if n.Ready != ariadne.Never {
			b = fmt.Appendf(b, "ready at %d", n.Ready)
		}
		if n.Falls != nil {
			b = fmt.Appendf(b, "falls at %d for %s", n.FallsAt, n.Falls.what)
		}
	}
	flight := slices.Clone(s.Flight)
	slices.SortFunc(flight, func(a, b Flying) int {
		return cmp.Or(CompareFlows(&a.Flow, &b.Flow), cmp.Compare(a.To, b.To), cmp.Compare(a.Seq, b.Seq))
	})
	b = binary.AppendUvarint(b, uint64(len(flight)))
	for _, f := range flight {
		b, _ = f.Message.AppendBinary(b)
		b = binary.AppendVarint(b, int64(f.Arrival))
		if b = append(b, 0); f.Delayed {
			b[len(b)-1] = 1
			b = binary.AppendVarint(b, int64(f.Due))
		}
	}
	b = binary.AppendVarint(b, int64(s.Delays))
	for _, c := range slices.Concat(s.Cuts, s.Slow) {
		b = fmt.Appendf(b, "%s from %d until %d", c.describe(), c.Since, c.Until)
	}
	b = append(b, s.Faults[:32]...)
	for k, n := range s.Faults[32:] { // of kinds that came later, those that there are
		if n > 0 {
			b = append(b, byte(32+k), n)
		}
	}
	return sha256.Sum256(b)
}
