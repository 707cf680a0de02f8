//go:build linux

package node

import (
	"bytes"
	"fmt"
	"os"
	"sort"
	"strconv"
)

// layout is the mappings of a process that has not run since they were read.
type layout struct {
	pid  int // real; 0: none
	all  []mapping
	read int // how often they were, for tests
}

// forget is called when a thread has run or makes a call of Ariadne's: the mappings may have
// changed.
func (l *layout) forget() { l.pid = 0 }

func (l *layout) of(th *thread) []mapping {
	if l.pid == th.tr.PID {
		return l.all
	}
	l.pid, l.all = th.tr.PID, l.all[:0]
	l.read++
	for line := range bytes.Lines([]byte(th.maps())) {
		if m, ok := parseMapping(line); ok {
			l.all = append(l.all, m)
		}
	}
	return l.all
}

// Backing implements kernel.Backer: what memory at addr is mapped from, so that
// processes which share it meet at the same futex. ok is false for private
// memory.
func (th *thread) Backing(addr uint64) (key [2]uint64, off uint64, ok bool) {
	all := th.n.layout.of(th) // in the order of addresses
	i := sort.Search(len(all), func(i int) bool { return addr < all[i].end })
	if i == len(all) || addr < all[i].start {
		return key, 0, false
	}
	m := all[i]
	return [2]uint64{m.dev, m.inode}, m.offset + addr - m.start, m.shared
}

// mapping is one line of /proc/<pid>/maps (proc(5)).
type mapping struct {
	start, end, offset, dev, inode uint64
	shared, writable               bool
}

func parseMapping(line []byte) (m mapping, ok bool) {
	f := bytes.Fields(line)
	if len(f) < 5 || len(f[1]) != 4 {
		return m, false
	}
	lo, hi, found := bytes.Cut(f[0], []byte("-"))
	major, minor, found2 := bytes.Cut(f[3], []byte(":"))
	if !found || !found2 {
		return m, false
	}
	hex := func(b []byte) uint64 {
		v, err := strconv.ParseUint(string(b), 16, 64)
		ok = ok && err == nil
		return v
	}
	ok = true
	m.start, m.end, m.offset = hex(lo), hex(hi), hex(f[2])
	m.dev = hex(major)<<32 | hex(minor)
	inode, err := strconv.ParseUint(string(f[4]), 10, 64)
	m.inode = inode
	m.shared, m.writable = f[1][3] == 's', f[1][1] == 'w'
	return m, ok && err == nil
}

// maps is what Linux says of the memory of the thread (proc(5)).
func (th *thread) maps() string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", th.tr.TID))
	must(err)
	return string(b)
}
