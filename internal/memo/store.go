package memo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"ariadne"
	"ariadne/internal/world"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// store keeps transitions in a file: a B+ tree from (local state, input) to what
// the node did. What is put is written in batches, by a goroutine of the store's; a
// process that is killed loses what is younger than writeEvery and nothing else. It
// does not wait for the disk, so a machine that loses power may lose the file; it is a
// cache, and the next check makes it anew.
type store struct {
	path string
	db   *bbolt.DB
	wake chan struct{} // a batch is full, or closed: no more will come
	ends sync.WaitGroup

	mu      sync.Mutex // of all below
	written sync.Cond  // what was in writing is in the file
	pending rows
	writing rows
	n       int   // in pending
	err     error // the first
}

// rows are transitions as they are stored, by the state where they begin.
type rows map[ariadne.Digest][]row

type row struct{ key, value []byte }

// ErrInUse is wrapped in Open's error when another process has the store.
var ErrInUse = errors.New("in use by another check")

const (
	// batch is how many transitions are written at once when they come fast, and
	// writeEvery how long they wait for each other when they do not.
	batch      = 1024
	writeEvery = 200 * time.Millisecond
	// behind is how many may wait to be written before those who put more wait too.
	behind = 64 * batch
)

// format is part of the key: another encoding has another number.
const format = 7

var (
	transitions = []byte("transitions")
	files       = []byte("files") // that they depend on: use and path to digest
	about       = []byte("about")
	keyName     = []byte("key")
)

// openStore opens the store of m, whose dependencies it reads.
func openStore(path string, key ariadne.Digest, m *Memo) (*store, error) {
	if err := mend(path); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(path, 0o666, &bbolt.Options{Timeout: time.Second, NoSync: true, NoFreelistSync: true})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	s := &store{path: path, db: db, wake: make(chan struct{}, 1), pending: rows{}}
	s.written.L = &s.mu
	if err := db.Update(func(tx *bbolt.Tx) error { return m.prepare(tx, append(key[:], format)) }); err != nil {
		db.Close()
		return nil, err
	}
	s.ends.Go(s.write)
	return s, nil
}

// mend empties a file that a killed process has only begun to make: bbolt writes four
// pages at first, and would read beyond the end of a file that has fewer.
func mend(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil // somebody has it, and may be making it
	}
	st, err := f.Stat()
	if err == nil && st.Size() < 4*int64(os.Getpagesize()) {
		err = f.Truncate(0)
	}
	return err
}

// prepare empties a store of another key, or of files that have changed.
func (m *Memo) prepare(tx *bbolt.Tx, key []byte) error {
	b, err := tx.CreateBucketIfNotExists(about)
	if err != nil {
		return err
	}
	stale := !bytes.Equal(b.Get(keyName), key)
	if !stale {
		m.recall(tx.Bucket(files))
		m.stale = m.Changed()
		stale = len(m.stale) > 0
	}
	if stale {
		clear(m.depends.known)
	}
	for _, name := range [][]byte{transitions, files} {
		if stale && tx.Bucket(name) != nil {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return b.Put(keyName, key)
}

// recall reads the dependencies of what is in the store.
func (m *Memo) recall(b *bbolt.Bucket) {
	if b == nil {
		return
	}
	c := b.Cursor()
	for k, was := c.First(); len(k) > 0; k, was = c.Next() {
		f := ariadne.File{Use: ariadne.FileUse(k[0]), Path: string(k[1:])}
		m.depends.known[f] = ariadne.Digest{}
		if len(was) == len(ariadne.Digest{}) {
			m.depends.known[f] = ariadne.Digest(was)
		}
	}
}

// depend enters files that the transitions to come depend on, before they are put.
func (s *store) depend(on []Dependency) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(files)
		for _, f := range on {
			if err := b.Put(append([]byte{byte(f.Use)}, f.Path...), f.Digest[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

// put keeps t, which get finds at once.
func (s *store) put(t *Transition) error {
	var e encoder
	e.bytes = append(e.bytes, t.From.Name[:]...)
	e.fixed(t.key.Hi)
	e.fixed(t.key.Lo)
	var v encoder
	v.input(&t.Input)
	v.output(&t.Output)
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n >= behind && s.err == nil {
		s.written.Wait()
	}
	s.pending[t.From.Name] = append(s.pending[t.From.Name], row{e.bytes, v.bytes})
	if s.n++; s.n%batch == 0 {
		s.hurry()
	}
	return s.err
}

// hurry tells the writer not to wait any longer.
func (s *store) hurry() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// write is the writer.
func (s *store) write() {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case _, open = <-s.wake:
		case <-tick.C:
		}
		s.mu.Lock()
		s.writing, s.pending, s.n = s.pending, rows{}, 0
		writing := s.writing
		s.mu.Unlock()
		err := errors.Join(s.save(writing), s.release())
		s.mu.Lock()
		s.writing = nil
		if s.err == nil {
			s.err = err
		}
		s.written.Broadcast()
		s.mu.Unlock()
	}
}

func (s *store) save(all rows) error {
	if len(all) == 0 {
		return nil
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(transitions)
		for _, of := range all {
			for _, r := range of {
				if err := b.Put(r.key, r.value); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// release takes the file's pages out of this process's memory, where all of it would
// be in the end. They stay in Linux's cache as long as there is room, and come back
// when they are looked at.
func (s *store) release() error {
	return s.db.View(func(tx *bbolt.Tx) error {
		_, _, errno := unix.Syscall(unix.SYS_MADVISE, s.db.Info().Data, uintptr(tx.Size()), unix.MADV_DONTNEED)
		if errno != 0 {
			return fmt.Errorf("madvise: %w", errno)
		}
		return nil
	})
}

// flush waits until all that was put is in the file.
func (s *store) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n+len(s.writing) > 0 && s.err == nil {
		s.hurry()
		s.written.Wait()
	}
	return s.err
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
	for _, value := range s.unwritten(state) {
		if err := add(value); err != nil {
			return nil, err
		}
	}
	// What was written meanwhile comes twice, which does no harm.
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

// unwritten are the transitions of a state that are not in the file yet.
func (s *store) unwritten(state ariadne.Digest) (values [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, of := range [][]row{s.pending[state], s.writing[state]} {
		for _, r := range of {
			values = append(values, r.value)
		}
	}
	return values
}

func (s *store) close() error {
	err := s.flush()
	close(s.wake)
	s.ends.Wait()
	return errors.Join(err, s.db.Sync(), s.db.Close())
}
