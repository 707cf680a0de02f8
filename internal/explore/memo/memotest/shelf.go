package memotest

import (
	"bytes"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Shelf is a store that ends with the test. Its Open opens it.
type Shelf struct {
	mu    sync.Mutex
	key   []byte
	files []memo.Dependency
	rows  map[ariadne.Digest]map[hash.Hash][]byte
	bad   string
}

// Open is a memo.OpenStore.
func (s *Shelf) Open(key []byte, recall func([]memo.Dependency) bool) (memo.Store, error) {
	if !bytes.Equal(s.key, key) {
		s.files, s.rows = nil, nil
	}
	if !recall(s.files) || s.rows == nil {
		s.files, s.rows = nil, map[ariadne.Digest]map[hash.Hash][]byte{}
	}
	s.key = bytes.Clone(key)
	return s, nil
}

func (s *Shelf) Depend(on []memo.Dependency) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, on...)
	return nil
}

func (s *Shelf) Put(from ariadne.Digest, input hash.Hash, transition []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[from] == nil {
		s.rows[from] = map[hash.Hash][]byte{}
	}
	s.rows[from][input] = bytes.Clone(transition)
	return nil
}

func (s *Shelf) Get(from ariadne.Digest, read func(transition []byte) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.rows[from] {
		if !read(b) {
			s.bad = "a row cannot be read"
		}
	}
	return nil
}

func (s *Shelf) Flush() error { return nil }

func (s *Shelf) Damaged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

func (s *Shelf) Close(forget bool) error {
	if forget || s.bad != "" {
		s.rows, s.bad = nil, ""
	}
	return nil
}
