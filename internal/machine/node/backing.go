//go:build linux

package node

import (
	"fmt"
	"os"
	"slices"
	"sort"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// layout is the mappings of a process that has not run since they were read.
type layout struct {
	pid  int // real; 0: none
	all  []procmaps.Mapping
	read int // how often they were, for tests
}

// forget is called when a thread has run or makes a call of Ariadne's: the mappings may have
// changed.
func (l *layout) forget() { l.pid = 0 }

func (l *layout) of(th *thread) []procmaps.Mapping {
	if l.pid == th.tr.PID {
		return l.all
	}
	l.pid, l.all = th.tr.PID, l.all[:0]
	l.read++
	l.all = slices.AppendSeq(l.all, procmaps.All(th.maps()))
	return l.all
}

// Backing implements kernel.Backer: what memory at addr is mapped from, so that
// processes which share it meet at the same futex. ok is false for private
// memory.
func (th *thread) Backing(addr uint64) (key [2]uint64, off uint64, ok bool) {
	all := th.n.layout.of(th) // in the order of addresses
	i := sort.Search(len(all), func(i int) bool { return addr < all[i].End })
	if i == len(all) || addr < all[i].Start {
		return key, 0, false
	}
	m := all[i]
	return [2]uint64{m.Dev, m.Inode}, m.Offset + addr - m.Start, m.Shared()
}

// maps is what Linux says of the memory of the thread (proc(5)).
func (th *thread) maps() string { return mapsOf(th.tr) }

func mapsOf(tr *tracee.Thread) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", tr.TID))
	must(err)
	return string(b)
}
