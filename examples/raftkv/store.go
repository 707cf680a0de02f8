package main

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// command is one entry of the replicated log.
type command struct {
	Client     string
	Seq        uint64 // of the client's command, from 1
	Key, Value string
}

// store is what the log describes: raft applies each committed command to it,
// in the same order on every node.
type store struct {
	mu     sync.Mutex
	Values map[string]string
	// Seen is the last command of each client. A client that got no answer
	// sends its command again; the copy that comes late must change nothing.
	Seen map[string]uint64
}

func newStore() *store {
	return &store{Values: map[string]string{}, Seen: map[string]uint64{}}
}

func (s *store) get(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Values[key]
}

// Apply implements raft.FSM.
func (s *store) Apply(entry *raft.Log) any {
	var c command
	if err := json.Unmarshal(entry.Data, &c); err != nil {
		panic(err) // only commands enter the log
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Seq > s.Seen[c.Client] {
		s.Seen[c.Client] = c.Seq
		s.Values[c.Key] = c.Value
	}
	return nil
}

// Snapshot implements raft.FSM.
func (s *store) Snapshot() (raft.FSMSnapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := json.Marshal(s)
	return snapshot(data), err
}

// Restore implements raft.FSM.
func (s *store) Restore(r io.ReadCloser) error {
	defer r.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewDecoder(r).Decode(s)
}

type snapshot []byte

func (s snapshot) Persist(sink raft.SnapshotSink) error {
	if _, err := sink.Write(s); err != nil {
		sink.Cancel()
		return err
	}
	return sink.Close()
}

func (s snapshot) Release() {}
