package watch

import (
	"sync"

	"github.com/ariadne-mc/ariadne/internal/judge/live"
)

// Log takes records in the order in which an agent makes them: a Memory of this process, or a
// stream.Writer, for verifiers on several machines.
type Log interface {
	// Append adds records. It does not wait for readers.
	Append(all []live.Record)
	// Behind returns how many records wait to be read, or to be written where they are kept.
	Behind() int
}

// Reader reads the records of a log from the beginning. It is for one goroutine.
type Reader interface {
	// Next returns further records, and waits for them. ok: there are more to come.
	Next() (all []live.Record, ok bool)
	// Turned reports whether the records have ended because the properties have changed.
	Turned() bool
}

// Memory is a Log in this process. It forgets what all of its readers have read.
type Memory struct {
	mu      sync.Mutex
	more    sync.Cond
	records []live.Record
	first   int // how many were forgotten
	readers []*memoryReader
	closed  bool
	turned  bool
}

// NewMemory returns an empty log.
func NewMemory() *Memory {
	m := &Memory{}
	m.more.L = &m.mu
	return m
}

// Append implements Log.
func (m *Memory) Append(all []live.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records = append(m.records, all...)
	m.more.Broadcast()
}

// Close says that nothing more comes.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.more.Broadcast()
}

// Turn says that nothing more comes, because the properties have changed.
func (m *Memory) Turn() {
	m.mu.Lock()
	m.turned = true
	m.mu.Unlock()
	m.Close()
}

// Reader returns a reader of all records. Readers are made before the first record is added.
func (m *Memory) Reader() Reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &memoryReader{log: m, next: m.first}
	m.readers = append(m.readers, r)
	return r
}

func (m *Memory) forget() {
	least := m.first + len(m.records)
	for _, r := range m.readers {
		least = min(least, r.next)
	}
	if n := least - m.first; n > len(m.records)/2 && n > 0 {
		m.records = append([]live.Record(nil), m.records[n:]...)
		m.first = least
	}
}

type memoryReader struct {
	log  *Memory
	next int
}

// Next implements Reader.
func (r *memoryReader) Next() (all []live.Record, ok bool) {
	m := r.log
	m.mu.Lock()
	defer m.mu.Unlock()
	for r.next == m.first+len(m.records) && !m.closed {
		m.more.Wait()
	}
	all = m.records[r.next-m.first:]
	r.next += len(all)
	m.forget()
	return all, len(all) > 0 || !m.closed
}

// Turned implements Reader.
func (r *memoryReader) Turned() bool {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return r.log.turned
}

// Behind implements Log: it is how many records the slowest reader has not read.
func (m *Memory) Behind() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.readers {
		n = max(n, m.first+len(m.records)-r.next)
	}
	return n
}
