package memo

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
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
// does not wait for the disk, so a machine that loses power may damage the file; it is a
// cache, and the next check makes it again (sound.go).
type store struct {
	path string
	db   *bbolt.DB
	// damaged is told what is wrong with the file, when that comes out.
	damaged func(*damage)
	wake    chan struct{} // a batch is full, or closed: no more will come
	ends    sync.WaitGroup

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
const format = 8

var (
	transitions = []byte("transitions")
	files       = []byte("files") // that they depend on: use and path to digest
	about       = []byte("about")
	keyName     = []byte("key")
	sumName     = []byte("sum of files")
)

// openStore opens the store of m, whose dependencies it reads. One that is damaged is made
// again.
func openStore(path string, key ariadne.Digest, m *Memo) (*store, error) {
	if err := m.clear(path); err != nil {
		return nil, err
	}
	s, err := m.tryStore(path, key)
	var broken *damage
	if errors.As(err, &broken) {
		m.damage(broken)
		if err := os.Truncate(path, 0); err != nil {
			return nil, err
		}
		s, err = m.tryStore(path, key)
	}
	return s, err
}

func (m *Memo) tryStore(path string, key ariadne.Digest) (s *store, err error) {
	s = &store{path: path, wake: make(chan struct{}, 1), pending: rows{}}
	s.damaged = func(d *damage) { m.damage(d); m.Forget() }
	err = guard(func() (err error) {
		s.db, err = bbolt.Open(path, 0o666, &bbolt.Options{Timeout: time.Second, NoSync: true})
		return err
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return nil, ErrInUse
	}
	if err != nil {
		return nil, err
	}
	s.written.L = &s.mu
	if err := s.update(func(tx *bbolt.Tx) error { return m.prepare(tx, append(key[:], format)) }); err != nil {
		var errno unix.Errno
		if !errors.As(err, &errno) { // not the disk's doing
			err = &damage{err.Error()}
		}
		return nil, errors.Join(err, s.db.Close())
	}
	s.ends.Go(s.write)
	return s, nil
}

// damage is what is wrong with the file of a store.
type damage struct{ what string }

func (d *damage) Error() string { return "damaged: " + d.what }

// guard runs f, in which bbolt may come to what cannot be in its file.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the file is mapped
	defer func() {
		if p := recover(); p != nil {
			err = &damage{fmt.Sprint(p)}
		}
	}()
	return f()
}

func (s *store) update(f func(*bbolt.Tx) error) error {
	return guard(func() error { return s.db.Update(f) })
}

func (s *store) view(f func(*bbolt.Tx) error) error {
	return guard(func() error { return s.db.View(f) })
}

// clear empties a file that is no sound store, unless somebody has it: he may be making
// it.
func (m *Memo) clear(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return nil
	}
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return err
	}
	wrong := sound(f)
	if wrong == nil {
		return nil
	}
	// A process that is killed in the beginning leaves less than the four pages that
	// bbolt writes at first, which is no damage.
	if st.Size() >= 4*int64(os.Getpagesize()) || !begun(f, st.Size()) {
		m.damage(&damage{wrong.Error()})
	}
	return f.Truncate(0)
}

// begun reports whether a file of less than four pages may be the beginning of a store.
func begun(f *os.File, size int64) bool {
	b := make([]byte, min(size, pageHead+4))
	f.ReadAt(b, 0)
	return len(b) < pageHead+4 || le32(b[pageHead:]) == boltMagic
}

// prepare empties a store of another key, or of files that have changed.
func (m *Memo) prepare(tx *bbolt.Tx, key []byte) error {
	b, err := tx.CreateBucketIfNotExists(about)
	if err != nil {
		return err
	}
	stale := !bytes.Equal(b.Get(keyName), key)
	if !stale {
		if err := m.recall(tx.Bucket(files), b.Get(sumName)); err != nil {
			return err
		}
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
	if stale {
		if err := b.Delete(sumName); err != nil {
			return err
		}
	}
	return b.Put(keyName, key)
}

// recall reads the dependencies of what is in the store. None may be missing.
func (m *Memo) recall(b *bbolt.Bucket, sum []byte) error {
	if b == nil {
		return &damage{"what it depends on is missing"}
	}
	var all fileSum
	c := b.Cursor()
	for k, was := c.First(); k != nil; k, was = c.Next() {
		if len(k) == 0 || len(was) != len(ariadne.Digest{}) {
			return &damage{"what it depends on cannot be read"}
		}
		all.add(k, was)
		m.depends.known[ariadne.File{Use: ariadne.FileUse(k[0]), Path: string(k[1:])}] = ariadne.Digest(was)
	}
	if len(m.depends.known) > 0 && !bytes.Equal(sum, all[:]) || len(m.depends.known) == 0 && sum != nil {
		return &damage{"what it depends on is not what it was"}
	}
	return nil
}

// fileSum is over all rows of files, in any order.
type fileSum [sha256.Size]byte

func (s *fileSum) add(key, value []byte) {
	for i, x := range sha256.Sum256(slices.Concat(key, value)) {
		s[i] ^= x
	}
}

// depend enters files that the transitions to come depend on, before they are put.
func (s *store) depend(on []Dependency) error {
	err := s.update(func(tx *bbolt.Tx) error {
		b, notes := tx.Bucket(files), tx.Bucket(about)
		var sum fileSum
		copy(sum[:], notes.Get(sumName))
		for _, f := range on {
			key := append([]byte{byte(f.Use)}, f.Path...)
			if err := b.Put(key, f.Digest[:]); err != nil {
				return err
			}
			sum.add(key, f.Digest[:])
		}
		return notes.Put(sumName, sum[:])
	})
	var broken *damage
	if errors.As(err, &broken) {
		s.damaged(broken)
		return nil
	}
	return err
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
	v.bytes = binary.LittleEndian.AppendUint32(v.bytes, rowSum(e.bytes, v.bytes))
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
		var broken *damage
		if errors.As(err, &broken) {
			s.damaged(broken)
			err = nil // what is lost is executed again
		}
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
	return s.update(func(tx *bbolt.Tx) error {
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
	return s.view(func(tx *bbolt.Tx) error {
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

// rowSum is over a row.
func rowSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// get reads all transitions of a state. Those that are damaged are as if they had never
// been stored.
func (s *store) get(state ariadne.Digest) (rows []stored, err error) {
	add := func(key, value []byte) {
		if n := len(value) - 4; n >= 0 && rowSum(key, value[:n]) == le32(value[n:]) {
			d := decoder{bytes: value[:n]}
			r := stored{in: d.input(), out: d.output()}
			if !d.failed && len(d.bytes) == 0 {
				rows = append(rows, r)
				return
			}
		}
		s.damaged(&damage{"a row is not what it was"})
	}
	for _, r := range s.unwritten(state) {
		add(r.key, r.value)
	}
	// What was written meanwhile comes twice, which does no harm.
	before := len(rows)
	err = s.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(transitions).Cursor()
		for k, v := c.Seek(state[:]); bytes.HasPrefix(k, state[:]); k, v = c.Next() {
			add(k, v)
		}
		return nil
	})
	var broken *damage
	if errors.As(err, &broken) {
		s.damaged(broken)
		return rows[:before], nil
	}
	return rows, err
}

// unwritten are the transitions of a state that are not in the file yet.
func (s *store) unwritten(state ariadne.Digest) []row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.pending[state], s.writing[state])
}

func (s *store) close() error {
	err := s.flush()
	close(s.wake)
	s.ends.Wait()
	return errors.Join(err, s.db.Sync(), s.db.Close())
}
