//go:build linux

package main

import (
	"maps"
	"slices"
)

// root is the number of the root directory's inode.
const root = 1

// inode is a file.
type inode struct {
	Dir     bool
	Entries map[string]uint64 // of a directory
	Data    []byte
}

// state is all files.
type state struct {
	Inodes map[uint64]*inode
	Next   uint64 // number of an inode
}

func newState() *state {
	return &state{map[uint64]*inode{root: {Dir: true, Entries: map[string]uint64{}}}, root + 1}
}

// change is one change of a state, of one inode. Its fields are what the inode is afterwards.
type change struct {
	Inode uint64
	Made  bool   // it is new
	Dir   bool   // of a new one
	Name  string // entry of the directory Inode
	Entry uint64 // for which it stands now, or 0: for none
	Size  int64  // of a file, or -1
	At    int64  // where Data is
	Data  []byte
	// Append says that Data is put behind what is there. Such a change is not to be applied twice.
	Append bool
}

// apply makes a change.
func (s *state) apply(c change) {
	if c.Made {
		s.Inodes[c.Inode] = &inode{Dir: c.Dir, Entries: map[string]uint64{}}
		s.Next = max(s.Next, c.Inode+1)
	}
	in := s.Inodes[c.Inode]
	if in == nil {
		return
	}
	switch {
	case c.Name != "" && c.Entry == 0:
		delete(in.Entries, c.Name)
	case c.Name != "":
		in.Entries[c.Name] = c.Entry
	case c.Append:
		in.Data = append(in.Data, c.Data...)
	case c.Data != nil:
		in.resize(max(int64(len(in.Data)), c.At+int64(len(c.Data))))
		copy(in.Data[c.At:], c.Data)
	case c.Size >= 0 && !in.Dir:
		in.resize(c.Size)
	}
}

func (in *inode) resize(size int64) {
	if size <= int64(len(in.Data)) {
		in.Data = slices.Clone(in.Data[:size])
		return
	}
	in.Data = append(in.Data, make([]byte, size-int64(len(in.Data)))...)
}

// links counts the names of a file.
func (s *state) links(n uint64) (links uint32) {
	for _, in := range s.Inodes {
		for _, e := range in.Entries {
			if e == n {
				links++
			}
		}
	}
	return links
}

// names are those of a directory, in order.
func (in *inode) names() []string { return slices.Sorted(maps.Keys(in.Entries)) }
