//go:build linux

package node

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// A program may map a file of the node's own privately and write to the mapping. When the file gets
// shorter, Linux takes the pages behind its new end from all who have mapped it, with what was
// written to them. All copies of a node have the same file mapped. So what is to be a copy's own is
// kept beside it, like what shared memory holds.

// privateMemory is what processes have written to private mappings of files of the node's own, by
// the process's virtual id and address. It is not changed once made.
type privateMemory map[int]pages

// ownDevice is the device of the node's own files, also when they were never captured.
func (n *Node) ownDevice() uint64 {
	if n.home.device == 0 {
		base, _ := n.ownFiles()
		var st unix.Stat_t
		must(unix.Stat(base, &st))
		n.home.device = st.Dev
	}
	return n.home.device
}

// noteOwnFile notes that th is about to map a file of the node's own privately.
func (n *Node) noteOwnFile(th *thread, h *kernel.HostFile) {
	if h.Dev == n.ownDevice() || strings.HasPrefix(h.Path, "/memfd:") {
		th.k.Proc.MapsOwn = true
	}
}

// noteOwnImage notes whether a new program, or what loads it, is a file of the node's own.
func (n *Node) noteOwnImage(th *thread, maps string) {
	if n.home.treeFD != nil {
		th.k.Proc.MapsOwn = len(ownMappings(maps, n.ownDevice())) > 0
	}
}

// ownMappings lists the private mappings of files that are on a device, or are in memory.
func ownMappings(maps string, own uint64) (all []procmaps.Mapping) {
	for m := range procmaps.All(maps) {
		if !m.Shared() && m.Inode != 0 && (m.Dev == own || strings.HasPrefix(m.Name, "/memfd:")) {
			all = append(all, m)
		}
	}
	return all
}

// Bits of an entry of /proc/PID/pagemap.
const (
	pagePresent   = 1 << 63
	pageSwapped   = 1 << 62
	pageOfFile    = 1 << 61
	pageProtected = 1 << 57 // by a userfaultfd
)

// ownWritten lists the pages that a process has written to private mappings of files of the node's
// own, by address.
func (n *Node) ownWritten(th *thread) (at []uint64) {
	mappings := ownMappings(th.maps(), n.ownDevice())
	if len(mappings) == 0 {
		return nil
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/pagemap", th.tr.TID))
	must(err)
	defer f.Close()
	const chunk = 4096
	for _, m := range mappings {
		for from := m.Start; from < m.End; from += chunk * pageSize {
			entries := make([]byte, 8*min(chunk, (m.End-from)/pageSize))
			_, err := f.ReadAt(entries, int64(from/pageSize*8))
			must(err)
			for i := range len(entries) / 8 {
				e := binary.LittleEndian.Uint64(entries[8*i:])
				if e&pageSwapped != 0 || e&pagePresent != 0 && e&pageOfFile == 0 {
					at = append(at, from+uint64(i)*pageSize)
				}
			}
		}
	}
	return at
}

// keepsPrivate reports whether the node's state has pages of private mappings of its own files.
func (n *Node) keepsPrivate() bool { return len(n.private) > 0 }

// mapsOwn calls f for each process that may have mapped files of the node's own privately.
func (n *Node) mapsOwn(f func(p *process, th *thread)) {
	for _, p := range n.processes() {
		if th := p.threads[len(p.threads)-1]; th.k.Proc.MapsOwn { // the leader may have ended
			f(p, th)
		}
	}
}

// capturePrivate notes what is in private mappings of files of the node's own.
func (n *Node) capturePrivate() {
	var all privateMemory
	n.mapsOwn(func(p *process, th *thread) {
		at := n.ownWritten(th)
		if len(at) == 0 {
			return
		}
		to := newPages(len(at))
		if e := th.tr.ReadPages(at, to); e != 0 {
			for i, a := range at { // one that the program may not read
				if e := th.tr.Peek(a, to[i][:]); e != 0 {
					must(fmt.Errorf("a private page at %#x: %w", a, e))
				}
			}
		}
		var fresh pages
		for i, a := range at {
			fresh = append(fresh, pageAt{a, (*page)(to[i])})
		}
		if all == nil {
			all = privateMemory{}
		}
		pid := th.k.Proc.PID
		all[pid] = fresh.shareEqual(n.private[pid])
	})
	n.private = all
}

// shareEqual takes those pages from an earlier list that have the same content.
func (p pages) shareEqual(old pages) pages {
	for i := range p {
		for old.first() < p[i].at {
			old = old[1:]
		}
		if was := old.takeAt(p[i].at); was != nil && *was == *p[i].page {
			p[i].page = was
		}
	}
	return p
}

// restorePrivate gives the processes back the pages that they have lost because a file was shorter
// in another copy. The files are those of n again.
func (n *Node) restorePrivate() {
	n.mapsOwn(func(p *process, th *thread) {
		kept := n.private[th.k.Proc.PID]
		if len(kept) == 0 {
			return
		}
		have := n.ownWritten(th)
		for _, w := range kept {
			if _, there := slices.BinarySearch(have, w.at); there {
				continue
			}
			if e := th.tr.Poke(w.at, w.page[:]); e != 0 {
				must(fmt.Errorf("%w: a private page at %#x: %w", ariadne.ErrLost, w.at, e))
			}
		}
	})
}
