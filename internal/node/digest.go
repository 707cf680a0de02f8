//go:build linux

package node

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"ariadne"
)

// stream is a running digest of a step: calls, signals, and at the end outputs.
// Calls are mixed into one word, because there are thousands.
type stream struct{ sum uint64 }

func (s *stream) mix(v uint64) {
	s.sum = (s.sum ^ v) * 0x9fb21c651e98df25
	s.sum ^= s.sum >> 29
}

func (s *stream) call(tid, nr int, v int64) {
	s.mix(uint64(tid)<<32 | uint64(uint32(nr)))
	s.mix(uint64(v))
}

// memoryHash is a digest of what the handlers of one call read and wrote of the
// program's memory (FNV-1a), for CallRecord. It is computed only when calls are
// recorded.
type memoryHash struct {
	on  bool
	sum uint64
}

func (m *memoryHash) note(b []byte) {
	if !m.on {
		return
	}
	for _, x := range b {
		m.sum = (m.sum ^ uint64(x)) * 0x100000001b3
	}
}

// take returns the hash of the call that ends.
func (m *memoryHash) take() uint64 {
	h := m.sum
	m.sum = 0
	return h
}

func (s *stream) message(m *ariadne.Message) {
	h := sha256.New()
	hashMessage(h, m)
	s.mix(binary.LittleEndian.Uint64(h.Sum(nil)))
}

func hashMessage(h hash.Hash, m *ariadne.Message) {
	put(h, uint64(m.From), uint64(m.To), uint64(m.Flow.Proto), uint64(m.Flow.Epoch), uint64(m.Seq),
		uint64(m.Flags), uint64(m.Window), uint64(m.Sent), uint64(len(m.Data)))
	h.Write([]byte(m.Flow.Src.String()))
	h.Write([]byte(m.Flow.Dst.String()))
	h.Write(m.Data)
}

func put(h hash.Hash, vs ...uint64) {
	var b [8]byte
	for _, v := range vs {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
}

// digest is over the outputs and the call stream.
func (s *stream) digest(o *ariadne.Output) (d ariadne.Digest) {
	h := sha256.New()
	put(h, s.sum, uint64(o.Clock), uint64(o.Deadline), uint64(o.Calls), uint64(len(o.Messages)), uint64(len(o.Logs)), uint64(len(o.Exits)))
	for i := range o.Messages {
		hashMessage(h, &o.Messages[i])
	}
	for _, l := range o.Logs {
		put(h, uint64(l.At), uint64(l.Stream), uint64(l.PID), uint64(len(l.Text)))
		h.Write([]byte(l.Text))
	}
	for _, e := range o.Exits {
		put(h, uint64(e.At), uint64(e.Command), uint64(e.Status), uint64(e.Signal))
	}
	h.Sum(d[:0])
	return d
}
