//go:build linux

package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// A store whose file was damaged is made again. bbolt trusts its file: it maps the file, follows
// its references, and ends the process when a reference is wrong or leads in a circle. So this code
// examines the file first. Each page that can be reached must exist, and be reached once. The
// content of a page must lie within the page. The rows have checksums of their own.

const (
	pageHead  = 16 // id uint64, flags uint16, count uint16, overflow uint32
	element   = 16
	boltMagic = 0xED0CDAED
	noPage    = 1<<64 - 1

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	isBucket     = 0x01 // a flag of an element
	deepest      = 64
)

// soundness is one look through a file.
type soundness struct {
	f    io.ReaderAt
	size int64 // of a page
	high uint64
	seen []uint64 // bits
}

// sound says in a few words what is wrong with a store's file, or "".
func sound(f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	s := &soundness{f: f, size: int64(os.Getpagesize())}
	var roots [2]struct{ root, freelist, high, tx uint64 }
	for i := range roots {
		b := make([]byte, pageHead+64)
		if _, err := f.ReadAt(b, int64(i)*s.size); err != nil {
			return errors.New("it ends too early")
		}
		m := b[pageHead:]
		sum := fnv.New64a()
		sum.Write(m[:56])
		if le32(m) != boltMagic || le32(m[4:]) != 2 || int64(le32(m[8:])) != s.size || le64(m[56:]) != sum.Sum64() {
			return errors.New("it is no store of transitions")
		}
		r := &roots[i]
		r.root, r.freelist, r.high, r.tx = le64(m[16:]), le64(m[32:]), le64(m[40:]), le64(m[48:])
	}
	r := roots[0]
	if roots[1].tx > r.tx {
		r = roots[1]
	}
	if r.high > uint64(st.Size()/s.size) {
		return errors.New("it was cut short")
	}
	s.high, s.seen = r.high, make([]uint64, r.high/64+1)
	if r.freelist != noPage {
		if err := s.freelist(r.freelist); err != nil {
			return err
		}
	}
	return s.walk(r.root, nil, nil, 0)
}

var le32, le64 = binary.LittleEndian.Uint32, binary.LittleEndian.Uint64

// page reads a page with those that belong to it, and marks them as reached.
func (s *soundness) page(id uint64) ([]byte, error) {
	if id < 2 || id >= s.high {
		return nil, fmt.Errorf("page %d is not in it", id)
	}
	b := make([]byte, s.size)
	if _, err := s.f.ReadAt(b, int64(id)*s.size); err != nil {
		return nil, fmt.Errorf("page %d cannot be read", id)
	}
	more := uint64(le32(b[12:]))
	if le64(b) != id || id+more >= s.high {
		return nil, fmt.Errorf("page %d is another", id)
	}
	if more > 0 {
		b = make([]byte, int64(more+1)*s.size)
		if _, err := s.f.ReadAt(b, int64(id)*s.size); err != nil {
			return nil, fmt.Errorf("page %d cannot be read", id)
		}
	}
	for i := id; i <= id+more; i++ {
		if s.seen[i/64]&(1<<(i%64)) != 0 {
			return nil, fmt.Errorf("page %d is in two places", i)
		}
		s.seen[i/64] |= 1 << (i % 64)
	}
	return b, nil
}

// freelist looks at the list of pages that are not in use.
func (s *soundness) freelist(id uint64) error {
	b, err := s.page(id)
	if err != nil {
		return err
	}
	n, at := uint64(flagsCount(b)), uint64(pageHead)
	if n == 0xffff {
		n, at = le64(b[pageHead:]), pageHead+8
	}
	if flagsOf(b) != freelistPage || n > (uint64(len(b))-at)/8 {
		return fmt.Errorf("page %d is no list of free pages", id)
	}
	for i := range n {
		p := le64(b[at+8*i:])
		if p < 2 || p >= s.high || s.seen[p/64]&(1<<(p%64)) != 0 {
			return fmt.Errorf("page %d is free and is not", p)
		}
		s.seen[p/64] |= 1 << (p % 64)
	}
	return nil
}

func flagsOf(page []byte) uint16    { return binary.LittleEndian.Uint16(page[8:]) }
func flagsCount(page []byte) uint16 { return binary.LittleEndian.Uint16(page[10:]) }

// walk looks at a page and all below it, whose keys are from low on, in their order, and
// below high, if that is not nil.
func (s *soundness) walk(id uint64, low, high []byte, depth int) error {
	b, err := s.page(id)
	if err != nil {
		return err
	}
	bad := fmt.Errorf("page %d is damaged", id)
	flags, count := flagsOf(b), int(flagsCount(b))
	switch {
	case depth > deepest, pageHead+count*element > len(b):
		return bad
	case flags == leafPage:
		return s.leaf(b, count, low, high, bad, depth)
	case flags != branchPage || count == 0:
		return bad
	}
	for i := range count {
		e := b[pageHead+i*element:]
		key, ok := keyOf(e, uint64(le32(e)), uint64(le32(e[4:])))
		if !ok || bytes.Compare(key, low) < 0 || i > 0 && bytes.Equal(key, low) || high != nil &&
			bytes.Compare(key, high) >= 0 {
			return bad
		}
		low = key
		next := high
		if i < count-1 {
			e := b[pageHead+(i+1)*element:]
			if next, ok = keyOf(e, uint64(le32(e)), uint64(le32(e[4:]))); !ok {
				return bad
			}
		}
		if err := s.walk(le64(e[8:]), key, next, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf looks at the rows of a leaf, and into those that are buckets.
func (s *soundness) leaf(b []byte, count int, low, high []byte, bad error, depth int) error {
	for i := range count {
		e := b[pageHead+i*element:]
		flags, pos, size, value := le32(e), uint64(le32(e[4:])), uint64(le32(e[8:])), uint64(le32(e[12:]))
		key, ok := keyOf(e, pos, size)
		switch {
		case !ok || flags > isBucket || pos+size+value > uint64(len(e)),
			bytes.Compare(key, low) < 0, i > 0 && bytes.Equal(key, low), high != nil && bytes.Compare(key, high) >= 0:
			return bad
		}
		low = key
		if flags != isBucket {
			continue
		}
		v := e[pos+size : pos+size+value]
		if len(v) < 16 {
			return bad
		}
		if root := le64(v); root != 0 {
			if err := s.walk(root, nil, nil, depth+1); err != nil {
				return err
			}
			continue
		}
		// A small bucket lies in the row itself, and holds no further ones.
		in := v[16:]
		if len(in) < pageHead || flagsOf(in) != leafPage || pageHead+int(flagsCount(in))*element > len(in) ||
			depth > deepest {
			return bad
		}
		if err := s.leaf(in, int(flagsCount(in)), nil, nil, bad, deepest+1); err != nil {
			return err
		}
	}
	return nil
}

// keyOf is the key of the element that e begins with, which lies behind it.
func keyOf(e []byte, pos, size uint64) (key []byte, ok bool) {
	if pos < element || size == 0 || pos+size > uint64(len(e)) {
		return nil, false
	}
	return e[pos : pos+size], true
}
