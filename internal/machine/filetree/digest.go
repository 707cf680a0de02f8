//go:build linux

package filetree

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

type digest = [sha256.Size]byte

// A File is what Digest asks about and Files lists.
type File struct {
	Ino      uint64
	Mode     uint32 // st_mode
	UID, GID uint32
	Size     int64 // of a regular file
}

// Files lists the files and directories that have a name in the tree, by the first of their names.
func (s *State) Files() (all []File) {
	seen := map[uint64]bool{}
	for _, name := range s.names.sorted {
		if e := s.names.entries[name]; !seen[e.ino] {
			seen[e.ino] = true
			all = append(all, s.file(e))
		}
	}
	return all
}

func (s *State) file(e entry) File {
	f := File{Ino: e.ino, Mode: e.mode, UID: e.uid, GID: e.gid}
	if c := s.files[e.ino]; c != nil {
		f.Size = c.Size
	}
	return f
}

// Digest is over names, which of them are of the same file, modes, targets of links, what regular
// files hold, and what seen appends of each file: owners and inode numbers, which are not in it,
// are the caller's to translate. Pages of zeros are as good as holes. It costs what has changed
// since the last digest of a state that this one comes from.
func (s *State) Digest(seen func(b []byte, f File) []byte) digest {
	h := sha256.New()
	first := map[uint64]int{}
	for i, name := range s.names.sorted {
		e := s.names.entries[name]
		b := fmt.Appendf(nil, "%q %o %q ", name, e.mode, e.target)
		if j, known := first[e.ino]; known {
			h.Write(fmt.Appendf(b, "is %d\n", j))
			continue
		}
		first[e.ino] = i
		if c := s.files[e.ino]; c != nil {
			sum := c.digest()
			b = append(b, sum[:]...)
		}
		extra := seen(nil, s.file(e))
		b = binary.AppendUvarint(b, uint64(len(extra)))
		h.Write(append(b, extra...))
	}
	return digest(h.Sum(nil))
}

// digest is over size and pages. It is kept, with those of the pages.
func (c *Content) digest() digest {
	if c.sum != nil {
		return *c.sum
	}
	if c.sums == nil {
		c.sums = make(map[*page]digest, len(c.pages))
	}
	h := sha256.New()
	h.Write(binary.AppendVarint(nil, c.Size))
	for _, n := range slices.Sorted(maps.Keys(c.pages)) {
		p := c.pages[n]
		if *p == (page{}) {
			continue
		}
		sum, known := c.sums[p]
		if !known {
			sum = sha256.Sum256(p[:])
			c.sums[p] = sum
		}
		h.Write(append(binary.AppendVarint(nil, n), sum[:]...))
	}
	sum := digest(h.Sum(nil))
	c.sum = &sum
	return sum
}

// inherit takes over the digests of the pages that c shares with an earlier content.
func (c *Content) inherit(old *Content) {
	if old.sums == nil {
		return
	}
	c.sums = make(map[*page]digest, len(c.pages))
	for n, p := range c.pages {
		if sum, known := old.sums[p]; known && old.pages[n] == p {
			c.sums[p] = sum
		}
	}
}
