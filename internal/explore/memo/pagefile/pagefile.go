//go:build linux

// Package pagefile keeps pages of checkpoints on disk: in a file that has no name, so that nothing
// is left of it when its process ends, however it ends. Equal pages are stored once.
//
// It is a memo.Pages, for any number of goroutines. It knows nothing of checkpoints.
package pagefile

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// PageSize is the size of a page, in bytes.
const PageSize = 4096

// File is such a file.
type File struct {
	f    *os.File
	most int64 // pages

	mu    sync.Mutex       // of all below
	end   int64            // pages that the file has room for so far
	free  []int64          // places in it where nothing is
	known map[uint64]int64 // places by the hashes of pages
	held  map[int64]*held  // by place
	page  [PageSize]byte   // to read a page that is compared
}

// held is a stored page.
type held struct {
	hash  uint64
	users int
}

// seed is that of all hashes. Pages with equal hashes are compared.
var seed = maphash.MakeSeed()

// Open makes a file on the disk of a directory, that takes no more than so many bytes, and no more
// than half of what is free there.
func Open(dir string, most int64) (*File, error) {
	f, err := openNameless(dir)
	if err != nil {
		return nil, fmt.Errorf("pages of checkpoints: %w", err)
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		f.Close()
		return nil, fmt.Errorf("pages of checkpoints: %w", err)
	}
	most = min(most, int64(fs.Bavail)*fs.Bsize/2)
	return &File{f: f, most: most / PageSize, known: map[uint64]int64{}, held: map[int64]*held{}}, nil
}

// openNameless makes a file without a name. Not all file systems can do that at once.
func openNameless(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return os.NewFile(uintptr(fd), dir), nil
	}
	f, err := os.CreateTemp(dir, "pages-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Store keeps a page, and returns where. Not ok: there is no room.
func (f *File) Store(page []byte) (at int64, ok bool) {
	h := maphash.Bytes(seed, page)
	f.mu.Lock()
	defer f.mu.Unlock()
	at, known := f.known[h]
	if known && f.has(at, page) {
		f.held[at].users++
		return at, true
	}
	at = f.end
	if n := len(f.free); n > 0 {
		at = f.free[n-1]
	} else if at >= f.most {
		return 0, false
	}
	if _, err := f.f.WriteAt(page, at*PageSize); err != nil {
		return 0, false // the disk is full, say
	}
	if at == f.end {
		f.end++
	} else {
		f.free = f.free[:len(f.free)-1]
	}
	if !known {
		f.known[h] = at
	}
	f.held[at] = &held{hash: h, users: 1}
	return at, true
}

// has reports whether a page is stored at a place.
func (f *File) has(at int64, page []byte) bool {
	_, err := f.f.ReadAt(f.page[:], at*PageSize)
	return err == nil && bytes.Equal(f.page[:], page)
}

// Load reads a page that is stored somewhere.
func (f *File) Load(at int64, page []byte) error {
	if _, err := f.f.ReadAt(page, at*PageSize); err != nil {
		return fmt.Errorf("pages of checkpoints: %w", err)
	}
	return nil
}

// Free gives up a page: as often as it was stored.
func (f *File) Free(at int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.held[at]
	if h.users--; h.users > 0 {
		return
	}
	if f.known[h.hash] == at {
		delete(f.known, h.hash)
	}
	delete(f.held, at)
	f.free = append(f.free, at)
}

// Held is how many different pages are stored.
func (f *File) Held() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

// Close ends the file.
func (f *File) Close() error { return f.f.Close() }
