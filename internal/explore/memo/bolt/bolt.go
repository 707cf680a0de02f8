//go:build linux

// Package bolt keeps the transitions of a memo in a file.
//
// The file is a B+ tree (bbolt) from (local state, input) to what the node did. A goroutine of the
// store writes in batches. A process that is killed loses only transitions that are younger than
// writeEvery. It does not wait for the disk, so a machine that loses power may damage the file; it
// is a cache, and the next check makes it again (sound.go).
package bolt

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
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sys/unix"
)

// store implements memo.Store.
type store struct {
	path string
	db   *bbolt.DB
	wake chan struct{} // a batch is full, or closed: no more will come
	ends sync.WaitGroup

	damaged atomic.Pointer[damage] // the first that was found
	forget  atomic.Bool            // the file is to be removed: it is damaged

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

// ErrInUse is wrapped in the error of opening a store that another process has.
var ErrInUse = errors.New("in use by another check")

const (
	// batch is how many transitions are written at once when they come fast, and
	// writeEvery how long they wait for each other when they do not.
	batch      = 1024
	writeEvery = 200 * time.Millisecond
	// behind is how many may wait to be written before those who put more wait too.
	behind = 64 * batch
)

var (
	transitions = []byte("transitions")
	files       = []byte("files") // that they depend on: use and path to digest
	about       = []byte("about")
	keyName     = []byte("key")
	sumName     = []byte("sum of files")
)

// At opens the store in the file at path. One that is damaged is made again.
func At(path string) memo.OpenStore {
	return func(key []byte, recall func([]memo.Dependency) bool) (memo.Store, error) {
		s := &store{path: path, wake: make(chan struct{}, 1), pending: rows{}}
		s.written.L = &s.mu
		if err := s.open(key, recall); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		s.ends.Go(s.write)
		return s, nil
	}
}

func (s *store) open(key []byte, recall func([]memo.Dependency) bool) error {
	if err := s.begin(); err != nil {
		return err
	}
	if err := s.clear(); err != nil {
		return err
	}
	err := s.tryOpen(key, recall)
	if broken, ok := errors.AsType[*damage](err); ok {
		s.damaged.CompareAndSwap(nil, broken)
		if err := os.Truncate(s.path, 0); err != nil {
			return err
		}
		err = s.tryOpen(key, recall)
	}
	return err
}

func (s *store) tryOpen(key []byte, recall func([]memo.Dependency) bool) error {
	err := guard(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0o666, &bbolt.Options{Timeout: time.Second, NoSync: true})
		return err
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return ErrInUse
	}
	if err != nil {
		return err
	}
	if err := s.update(func(tx *bbolt.Tx) error { return prepare(tx, key, recall) }); err != nil {
		var errno unix.Errno
		if !errors.As(err, &errno) { // not the disk's doing
			err = &damage{err.Error()}
		}
		return errors.Join(err, s.db.Close())
	}
	return nil
}

// damage is what is wrong with the file of a store.
type damage struct{ what string }

func (d *damage) Error() string { return "damaged: " + d.what }

// isDamaged notes that the file is damaged: it is removed when it is closed.
func (s *store) isDamaged(d *damage) {
	s.damaged.CompareAndSwap(nil, d)
	s.forget.Store(true)
}

// Damaged implements memo.Store.
func (s *store) Damaged() string {
	if d := s.damaged.Load(); d != nil {
		return d.what
	}
	return ""
}

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
func (s *store) clear() error {
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
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
	wrong := sound(f)
	if wrong == nil {
		return nil
	}
	s.damaged.CompareAndSwap(nil, &damage{wrong.Error()})
	return f.Truncate(0)
}

// begin makes an empty store where there is no file, under another name first: who is killed while
// he writes the first pages leaves none, and what is too short was cut short.
func (s *store) begin() error {
	if _, err := os.Lstat(s.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	fresh := s.path + newSuffix
	os.Remove(fresh) // what somebody has left who was killed
	err := guard(func() error {
		db, err := bbolt.Open(fresh, 0o666, &bbolt.Options{Timeout: time.Second, NoSync: true})
		if err != nil {
			return err
		}
		return errors.Join(db.Close(), os.Link(fresh, s.path))
	})
	os.Remove(fresh)
	if _, broken := errors.AsType[*damage](err); broken {
		return err
	}
	return nil // another check may be making one as well; else it is made where it belongs
}

// newSuffix is what the name of a store has behind it that is being made.
const newSuffix = ".new"

// prepare empties a store of another key, or of what recall does not want kept.
func prepare(tx *bbolt.Tx, key []byte, recall func([]memo.Dependency) bool) error {
	b, err := tx.CreateBucketIfNotExists(about)
	if err != nil {
		return err
	}
	var known []memo.Dependency
	same := bytes.Equal(b.Get(keyName), key)
	if same {
		if known, err = dependencies(tx.Bucket(files), b.Get(sumName)); err != nil {
			return err
		}
	}
	keep := recall(known) && same
	for _, name := range [][]byte{transitions, files} {
		if !keep && tx.Bucket(name) != nil {
			if err := tx.DeleteBucket(name); err != nil {
				return err
			}
		}
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	if !keep {
		if err := b.Delete(sumName); err != nil {
			return err
		}
	}
	return b.Put(keyName, key)
}

// dependencies reads what the transitions in the store depend on. None may be missing.
func dependencies(b *bbolt.Bucket, sum []byte) (known []memo.Dependency, err error) {
	if b == nil {
		return nil, &damage{"what it depends on is missing"}
	}
	var all fileSum
	c := b.Cursor()
	for k, was := c.First(); k != nil; k, was = c.Next() {
		if len(k) == 0 || len(was) != len(ariadne.Digest{}) {
			return nil, &damage{"what it depends on cannot be read"}
		}
		all.add(k, was)
		f := ariadne.File{Use: ariadne.FileUse(k[0]), Path: string(k[1:])}
		known = append(known, memo.Dependency{File: f, Digest: ariadne.Digest(was)})
	}
	if len(known) > 0 && !bytes.Equal(sum, all[:]) || len(known) == 0 && sum != nil {
		return nil, &damage{"what it depends on is not what it was"}
	}
	return known, nil
}

// fileSum is over all rows of files, in any order.
type fileSum [sha256.Size]byte

func (s *fileSum) add(key, value []byte) {
	for i, x := range sha256.Sum256(slices.Concat(key, value)) {
		s[i] ^= x
	}
}

// Depend implements memo.Store.
func (s *store) Depend(on []memo.Dependency) error {
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
	if broken, ok := errors.AsType[*damage](err); ok {
		s.isDamaged(broken)
		return nil
	}
	return err
}

// Put implements memo.Store.
func (s *store) Put(from ariadne.Digest, input hash.Hash, transition []byte) error {
	key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(from[:], input.Hi), input.Lo)
	value := append(make([]byte, 0, len(transition)+4), transition...)
	value = binary.LittleEndian.AppendUint32(value, rowSum(key, transition))
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n >= behind && s.err == nil {
		s.written.Wait()
	}
	s.pending[from] = append(s.pending[from], row{key, value})
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
		if broken, ok := errors.AsType[*damage](err); ok {
			s.isDamaged(broken)
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

// Flush implements memo.Store.
func (s *store) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n+len(s.writing) > 0 && s.err == nil {
		s.hurry()
		s.written.Wait()
	}
	return s.err
}

// rowSum is over a row.
func rowSum(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Get implements memo.Store. Rows that are damaged are as if they had never been put.
func (s *store) Get(from ariadne.Digest, read func(transition []byte) bool) error {
	add := func(key, value []byte) {
		n := len(value) - 4
		if n < 0 || rowSum(key, value[:n]) != le32(value[n:]) || !read(value[:n]) {
			s.isDamaged(&damage{"a row is not what it was"})
		}
	}
	for _, r := range s.unwritten(from) {
		add(r.key, r.value)
	}
	err := s.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(transitions).Cursor()
		for k, v := c.Seek(from[:]); bytes.HasPrefix(k, from[:]); k, v = c.Next() {
			add(k, v)
		}
		return nil
	})
	if broken, ok := errors.AsType[*damage](err); ok {
		s.isDamaged(broken)
		return nil
	}
	return err
}

// unwritten are the transitions of a state that are not in the file yet.
func (s *store) unwritten(state ariadne.Digest) []row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Concat(s.pending[state], s.writing[state])
}

// Close implements memo.Store.
func (s *store) Close(forget bool) error {
	err := s.Flush()
	close(s.wake)
	s.ends.Wait()
	err = errors.Join(err, s.db.Sync(), s.db.Close())
	if forget || s.forget.Load() {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
