package world

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"ariadne"
)

// Succeed names the local state that a node reaches from the state named parent
// by an input. A node is a function of its inputs, so the name determines the
// state.
func Succeed(parent ariadne.Digest, in Input) ariadne.Digest {
	e := encoder(parent[:])
	e.int(int64(in.Kind))
	e.int(int64(in.At))
	if in.Packet != nil {
		e.message(&in.Packet.Message)
	}
	return sha256.Sum256(e)
}

// Digest names the global state: the nodes' local states, the messages in
// flight, the budget. It does not depend on the order of independent actions.
func (w *World) Digest() ariadne.Digest { return w.state.Digest() }

// Digest names the global state.
func (s *State) Digest() ariadne.Digest {
	var e encoder
	for _, n := range s.Nodes {
		e = append(e, n.Digest[:]...)
	}
	flight := slices.Clone(s.Flight)
	slices.SortFunc(flight, func(a, b Flying) int {
		return cmp.Or(CompareFlows(&a.Flow, &b.Flow), cmp.Compare(a.To, b.To), cmp.Compare(a.Seq, b.Seq))
	})
	e.int(int64(len(flight)))
	for _, f := range flight {
		e.message(&f.Message)
		e.int(int64(f.Arrival))
		e.bool(f.Delayed)
	}
	e.int(int64(s.Delays))
	return sha256.Sum256(e)
}

// encoder appends values so that different sequences have different bytes.
type encoder []byte

func (e *encoder) int(v int64) { *e = binary.BigEndian.AppendUint64(*e, uint64(v)) }

func (e *encoder) bool(v bool) {
	if v {
		e.int(1)
	} else {
		e.int(0)
	}
}

func (e *encoder) bytes(b []byte) {
	e.int(int64(len(b)))
	*e = append(*e, b...)
}

func (e *encoder) message(m *ariadne.Message) {
	e.int(int64(m.From))
	e.int(int64(m.To))
	e.flow(&m.Flow)
	e.int(int64(m.Seq))
	e.int(int64(m.Flags))
	e.int(int64(m.Window))
	e.bytes(m.Data)
	e.int(int64(m.Sent))
}

func (e *encoder) flow(f *ariadne.Flow) {
	e.int(int64(f.Proto))
	e.bytes([]byte(f.Src.String()))
	e.bytes([]byte(f.Dst.String()))
	e.int(int64(f.Epoch))
}
