//go:build linux

package node

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/ariadne-mc/ariadne"
)

// stream is a running hash of a step: the message that arrived, calls, signals. They are mixed into
// one word, because there are thousands.
type stream struct{ sum uint64 }

func (s *stream) mix(v uint64) {
	s.sum = (s.sum ^ v) * 0x9fb21c651e98df25
	s.sum ^= s.sum >> 29
}

// value is the hash so far.
func (s *stream) value() uint64 { return s.sum }

func (s *stream) addCall(tid, nr int, v int64) {
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

// hashMemory returns one of nothing.
func hashMemory(on bool) memoryHash { return memoryHash{on: on} }

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
	b, _ := m.AppendBinary(nil) // never fails
	d := sha256.Sum256(b)
	s.mix(binary.LittleEndian.Uint64(d[:]))
}
