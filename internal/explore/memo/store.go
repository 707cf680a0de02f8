package memo

import (
	"encoding/binary"
	"errors"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Store keeps transitions beyond the memory, and beyond the process, of those who make
// them. It is a cache: it may lose what it was given, and never gives back anything
// else. It is for any number of goroutines. internal/explore/memo/bolt has one in a file.
type Store interface {
	// Depend enters files that the transitions to come depend on, before they are put.
	Depend(on []Dependency) error
	// Put keeps a transition, which Get finds at once.
	Put(from ariadne.Digest, input hash.Hash, transition []byte) error
	// Get passes all transitions from a state to read, some of them perhaps twice. The bytes are
	// valid only until read returns. read returns false for a damaged transition.
	Get(from ariadne.Digest, read func(transition []byte) bool) error
	// Flush waits until all that was put outlives this process.
	Flush() error
	// Damaged says what was wrong with the store, or "". It has lost what was in it, or
	// will when it is closed.
	Damaged() string
	// Close flushes and gives up the store; with forget all of it is lost.
	Close(forget bool) error
}

// OpenStore opens a store of a key; what was put with another one is lost. recall is told
// the files that what is left depends on, and reports whether that may be kept.
type OpenStore func(key []byte, recall func([]Dependency) (keep bool)) (Store, error)

// format is part of a store's key: another encoding has another number.
const format = 14

// openStore opens the memo's store, and remembers what it depends on.
func (m *Memo) openStore(o Options) (err error) {
	m.store, err = o.Store(append(o.Key[:], format), func(known []Dependency) bool {
		clear(m.depends.known)
		for _, d := range known {
			m.depends.known[d.File] = d.Digest
		}
		if m.stale = m.Changed(); len(m.stale) > 0 {
			clear(m.depends.known)
		}
		return len(m.stale) == 0
	})
	return err
}

// put brings t to the store: the encodings of what the node was given and of what it did,
// the first with its length before it.
func (m *Memo) put(t *Transition) error {
	in, _ := t.Input.AppendBinary(nil) // never fails
	b := append(binary.AppendUvarint(nil, uint64(len(in))), in...)
	b, _ = t.Output.AppendBinary(b)
	return m.store.Put(t.From.Name, t.key, b)
}

// decode reads what put has written.
func decode(b []byte) (in ariadne.Input, out ariadne.Output, err error) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return in, out, errors.New("it ends too early")
	}
	given, did := b[n:n+int(length)], b[n+int(length):]
	return in, out, errors.Join(in.UnmarshalBinary(given), out.UnmarshalBinary(did))
}

// read takes from the store all transitions of a state.
func (m *Memo) read(l *Local) (all []*Transition, err error) {
	var broken error
	err = m.store.Get(l.Name, func(b []byte) bool {
		given, out, err := decode(b)
		if err != nil {
			return false
		}
		t, err := m.transition(l, world.InputOf(&given), out)
		if err != nil {
			broken = err
			return true
		}
		t.stored = true
		all = append(all, t)
		return true
	})
	if err == nil {
		err = broken
	}
	return all, err
}
