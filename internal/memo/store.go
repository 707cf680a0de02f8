package memo

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"ariadne"
	"ariadne/internal/world"

	"go.etcd.io/bbolt"
)

// store keeps transitions in a file: a B+ tree from (local state, input) to what
// the node did. What is put is written in batches; a process that is killed loses
// the last one and nothing else. It does not wait for the disk, so a machine that
// loses power may lose the file; it is a cache, and the next check makes it anew.
type store struct {
	db      *bbolt.DB
	pending []row
}

type row struct{ key, value []byte }

// ErrInUse is wrapped in Open's error when another process has the store.
var ErrInUse = errors.New("in use by another check")

// batch is how many transitions are written at once.
const batch = 256

// format is part of the key: another encoding has another number.
const format = 1

var (
	transitions = []byte("transitions")
	about       = []byte("about")
	keyName     = []byte("key")
)

func openStore(path string, key ariadne.Digest) (*store, error) {
	db, err := bbolt.Open(path, 0o666, &bbolt.Options{Timeout: time.Second, NoSync: true, NoFreelistSync: true})
	if errors.Is(err, bbolt.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	s := &store{db: db}
	if err := db.Update(func(tx *bbolt.Tx) error { return prepare(tx, append(key[:], format)) }); err != nil {
		db.Close()
		return nil, err
	}
	return s, nil
}

// prepare empties a store of another key.
func prepare(tx *bbolt.Tx, key []byte) error {
	b, err := tx.CreateBucketIfNotExists(about)
	if err != nil {
		return err
	}
	if !bytes.Equal(b.Get(keyName), key) && tx.Bucket(transitions) != nil {
		if err := tx.DeleteBucket(transitions); err != nil {
			return err
		}
	}
	if _, err := tx.CreateBucketIfNotExists(transitions); err != nil {
		return err
	}
	return b.Put(keyName, key)
}

// put keeps t from the next flush on.
func (s *store) put(t *Transition) error {
	var e encoder
	e.bytes = append(e.bytes, t.From.Name[:]...)
	e.fixed(t.key.Hi)
	e.fixed(t.key.Lo)
	var v encoder
	v.input(&t.Input)
	v.output(&t.Output)
	s.pending = append(s.pending, row{e.bytes, v.bytes})
	if len(s.pending) < batch {
		return nil
	}
	return s.flush()
}

func (s *store) flush() error {
	if len(s.pending) == 0 {
		return nil
	}
	err := s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(transitions)
		for _, r := range s.pending {
			if err := b.Put(r.key, r.value); err != nil {
				return err
			}
		}
		return nil
	})
	s.pending = s.pending[:0]
	return err
}

// stored is a transition as it is read.
type stored struct {
	in  world.Input
	out ariadne.Output
}

// get reads all transitions of a state.
func (s *store) get(state ariadne.Digest) (rows []stored, err error) {
	add := func(value []byte) error {
		d := decoder{bytes: value}
		r := stored{in: d.input(), out: d.output()}
		if d.failed || len(d.bytes) > 0 {
			return fmt.Errorf("the store of transitions is damaged at state %v", state)
		}
		rows = append(rows, r)
		return nil
	}
	for _, r := range s.pending {
		if bytes.HasPrefix(r.key, state[:]) {
			if err := add(r.value); err != nil {
				return nil, err
			}
		}
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(transitions).Cursor()
		for k, v := c.Seek(state[:]); bytes.HasPrefix(k, state[:]); k, v = c.Next() {
			if err := add(v); err != nil {
				return err
			}
		}
		return nil
	})
	return rows, err
}

func (s *store) close() error {
	err := s.flush()
	if e := s.db.Sync(); err == nil {
		err = e
	}
	if e := s.db.Close(); err == nil {
		err = e
	}
	return err
}
