//go:build linux

package node

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Backing implements kernel.Backer: what memory at addr is mapped from, so that
// processes which share it meet at the same futex. ok is false for private
// memory.
func (th *thread) Backing(addr uint64) (key [2]uint64, off uint64, ok bool) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", th.tr.TID))
	must(err)
	for len(maps) > 0 {
		line := maps
		if i := bytes.IndexByte(maps, '\n'); i >= 0 {
			line, maps = maps[:i], maps[i+1:]
		} else {
			maps = nil
		}
		m, good := parseMapping(line)
		if !good || addr < m.start || addr >= m.end {
			continue
		}
		return [2]uint64{m.dev, m.inode}, m.offset + addr - m.start, m.shared
	}
	return key, 0, false
}

// mapping is one line of /proc/<pid>/maps (proc(5)).
type mapping struct {
	start, end, offset, dev, inode uint64
	shared                         bool
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
	m.shared = f[1][3] == 's'
	return m, ok && err == nil
}
