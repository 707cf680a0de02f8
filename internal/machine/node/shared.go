//go:build linux

package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// Memory that processes share without a file is shared by the copies of a node
// too. Like the file tree it shows the state of one of them at a time.

const pageSize = 4096

type page [pageSize]byte

// segment names memory by what it is mapped from (proc(5)).
type segment struct{ dev, inode uint64 }

// sharedMemory is what segments hold, by page number; absent pages are zero. Maps
// and pages are not changed once made.
type sharedMemory map[segment]map[uint64]*page

// view is one mapping of a segment in one process.
type view struct {
	procmaps.Mapping
	th *thread
}

func (v view) segment() segment { return segment{v.Dev, v.Inode} }

// number is which page of the segment a view shows at an address. address is the opposite, and shows
// reports whether there is one.
func (v view) number(addr uint64) uint64 { return (addr - v.Start + v.Offset) / pageSize }

func (v view) address(no uint64) uint64 { return v.Start + no*pageSize - v.Offset }

func (v view) shows(no uint64) bool {
	return no*pageSize >= v.Offset && v.address(no) < v.End
}

// sharedViews lists the writable mappings of shared memory, by process and address, and leaves out
// those that show no more than one before: processes inherit them.
func (n *Node) sharedViews() []view {
	var list []view
	type beginning struct {
		segment
		offset uint64
	}
	shown := map[beginning]uint64{} // how much of it
	for _, p := range n.processes() {
		th := p.fork
		if th == nil {
			continue
		}
		for m := range procmaps.All(th.maps()) {
			// A file has a name that is a path; these have none, or say what they are.
			named := strings.HasPrefix(m.Name, "/") && m.Name != "/dev/zero (deleted)" &&
				!strings.HasPrefix(m.Name, "/SYSV")
			if !m.Shared() || named {
				continue
			}
			v := view{m, th}
			from := beginning{v.segment(), v.Offset}
			if size := v.End - v.Start; size > shown[from] {
				shown[from] = size
				list = append(list, v)
			}
		}
	}
	return list
}

// captureShared notes what shared memory holds.
func (n *Node) captureShared() {
	if !n.k.SharesMemory {
		return
	}
	now := sharedMemory{}
	for _, v := range n.sharedViews() {
		pages := now[v.segment()]
		if pages == nil {
			pages = map[uint64]*page{}
			now[v.segment()] = pages
		}
		n.readShared(v, func(no uint64) bool { return pages[no] == nil }, func(no uint64, p *page) {
			pages[no], _ = n.home.contents.share(p)
		})
	}
	n.shared = now
}

// readShared calls f with those pages that a view shows which are wanted and have content, by their
// number in the segment. f must not keep them.
func (n *Node) readShared(v view, wanted func(no uint64) bool, f func(no uint64, p *page)) {
	var at []uint64
	for _, addr := range n.resident(v) {
		if wanted(v.number(addr)) {
			at = append(at, addr)
		}
	}
	for some := range slices.Chunk(at, mostPages) {
		to := n.home.contents.space(len(some))
		if e := v.th.tr.ReadPages(some, to); e != 0 {
			for i, addr := range some { // one that the program may not read
				if e := v.th.tr.Peek(addr, to[i][:]); e != 0 {
					must(fmt.Errorf("shared memory at %#x: %w", addr, e))
				}
			}
		}
		for i, addr := range some {
			f(v.number(addr), (*page)(to[i]))
		}
	}
}

// resident lists the pages of a mapping that have content.
func (n *Node) resident(v view) []uint64 {
	const chunk = area.ScratchSize
	var list []uint64
	for at := v.Start; at < v.End; at += chunk * pageSize {
		end := min(v.End, at+chunk*pageSize)
		n.inject(v.th, unix.SYS_MINCORE, at, end-at, area.Scratch)
		b := make([]byte, (end-at+pageSize-1)/pageSize)
		if e := v.th.ReadMem(area.Scratch, b); e != 0 {
			must(fmt.Errorf("scratch memory: %w", e))
		}
		for i, in := range b {
			if in&1 != 0 {
				list = append(list, at+uint64(i)*pageSize)
			}
		}
	}
	return list
}

// restoreShared brings shared memory to what n knows of it. Its present content is not known: the
// process that changed it last may have ended.
func (n *Node) restoreShared() {
	if !n.k.SharesMemory {
		return
	}
	seen := map[segment]map[uint64]bool{} // by the number of a page
	for _, v := range n.sharedViews() {
		want, done := n.shared[v.segment()], seen[v.segment()]
		if done == nil {
			done = map[uint64]bool{}
			seen[v.segment()] = done
		}
		var zero page
		n.readShared(v, func(no uint64) bool { return !done[no] }, func(no uint64, have *page) {
			done[no] = true
			p := want[no]
			if p == nil {
				p = &zero
			}
			if *have != *p {
				n.putPage(v, v.address(no), p)
			}
		})
		for no, p := range want {
			if !done[no] && v.shows(no) {
				done[no] = true
				n.putPage(v, v.address(no), p)
			}
		}
	}
}

// keepSegments notes what is in the System V segments of a node whose processes are about to be
// killed: nobody has them mapped then, and other copies of the node write to them.
func (n *Node) keepSegments() {
	if !n.k.SharesMemory {
		return
	}
	n.captureShared()
	kept := sharedMemory{}
	for _, shm := range ipc.ShmsOf(n.k).All() {
		for s, pages := range n.shared {
			if s.inode == uint64(shm.Real) { // so Linux numbers it in maps
				kept[s] = pages
			}
		}
	}
	for s, pages := range n.orphans { // of an earlier crash, not attached since
		if kept[s] == nil {
			kept[s] = pages
		}
	}
	n.orphans = kept
}

// hasOrphans reports whether there are segments that adoptSegment may bring back.
func (n *Node) hasOrphans() bool { return len(n.orphans) > 0 }

// forgetShared forgets what was in shared memory: the machine is off.
func (n *Node) forgetShared() { n.orphans, n.shared = nil, nil }

// adoptSegment brings back what was in a segment that th is the first to attach, at addr, since
// those who had it were killed.
func (n *Node) adoptSegment(th *thread, addr uint64) {
	for m := range procmaps.All(th.maps()) {
		s := segment{m.Dev, m.Inode}
		pages, ok := n.orphans[s]
		if m.Start != addr || !ok {
			continue
		}
		v := view{m, th}
		for no := uint64(0); no < (m.End-m.Start)/pageSize; no++ {
			p := pages[no]
			if p == nil {
				p = new(page)
			}
			n.putPage(v, m.Start+no*pageSize, p)
		}
		n.orphans = maps.Clone(n.orphans)
		delete(n.orphans, s)
	}
}

func (n *Node) putPage(v view, addr uint64, p *page) {
	if e := v.th.tr.Poke(addr, p[:]); e != 0 {
		must(fmt.Errorf("shared memory at %#x: %w", addr, e))
	}
}
