//go:build linux

package node

import (
	"cmp"
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

// sharedMemory is what segments hold. It is not changed once made.
type sharedMemory map[segment]segmentPages

// segmentPages are the pages of a segment, by number; absent pages are zero.
type segmentPages map[uint64]*page

var zeroPage page

// or is a page, or one of zeros.
func (s segmentPages) or(no uint64) *page {
	if p := s[no]; p != nil {
		return p
	}
	return &zeroPage
}

// view is one mapping of a segment in one process.
type view struct {
	procmaps.Mapping
	th *thread
}

func (v view) segment() segment { return segment{v.Dev, v.Inode} }

// number is which page of the segment a view shows at an address. address is the opposite, and
// shows reports whether there is one.
func (v view) number(addr uint64) uint64 { return (addr - v.Start + v.Offset) / pageSize }

func (v view) address(no uint64) uint64 { return v.Start + no*pageSize - v.Offset }

func (v view) shows(no uint64) bool {
	return no*pageSize >= v.Offset && v.address(no) < v.End
}

// viewsIn lists the mappings of shared memory among those of a thread's process.
func viewsIn(maps string, th *thread) (all []view) {
	for m := range procmaps.All(maps) {
		// A file has a name that is a path; these have none, or say what they are.
		named := strings.HasPrefix(m.Name, "/") && m.Name != "/dev/zero (deleted)" &&
			!strings.HasPrefix(m.Name, "/SYSV")
		if m.Shared() && !named {
			all = append(all, view{m, th})
		}
	}
	return all
}

// sharedViews lists the mappings of shared memory, by process and address, and leaves out those
// that show no more than one before: processes inherit them.
func (n *Node) sharedViews() []view {
	var list []view
	type beginning struct {
		segment
		offset uint64
	}
	shown := map[beginning]uint64{} // how much of it
	for _, p := range n.processes() {
		if p.fork == nil {
			continue
		}
		for _, v := range viewsIn(p.fork.maps(), p.fork) {
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
	if shown, ok := n.knownShared(); ok {
		n.shared = n.refreshShared(shown)
		n.keepKnowingShared(n.shared)
	} else {
		n.shared = n.readAllShared()
		n.knowShared(n.shared)
	}
}

// noteShared is called when the node's processes begin to be followed. If the node was the last to
// look at shared memory, it has just done so.
func (n *Node) noteShared() {
	if n.home.shows == n && n.home.sharer == n {
		n.knowShared(n.shared)
	}
}

func (n *Node) readAllShared() sharedMemory {
	now := sharedMemory{}
	for _, v := range n.sharedViews() {
		pages := now[v.segment()]
		if pages == nil {
			pages = segmentPages{}
			now[v.segment()] = pages
		}
		var at []uint64
		for _, addr := range n.resident(v) {
			if pages[v.number(addr)] == nil {
				at = append(at, addr)
			}
		}
		n.readShared(v, at, func(no uint64, p *page) { pages[no], _ = n.home.contents.share(p) })
	}
	return now
}

// refreshShared returns what shared memory holds that has held something when the node last looked.
func (n *Node) refreshShared(was sharedMemory) (now sharedMemory) {
	now = was
	for _, v := range n.writtenShared() {
		if len(v.at) == 0 {
			continue
		}
		pages := maps.Clone(now[v.segment()])
		if pages == nil {
			pages = segmentPages{}
		}
		n.readShared(v.view, v.at, func(no uint64, p *page) { pages[no], _ = n.home.contents.share(p) })
		now = maps.Clone(now)
		now[v.segment()] = pages
	}
	return now
}

// readShared calls f with the pages that a view shows at some addresses, by their number in the
// segment. f must not keep them.
func (n *Node) readShared(v view, at []uint64, f func(no uint64, p *page)) {
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

// restoreShared brings shared memory to what n knows of it.
func (n *Node) restoreShared() {
	if !n.k.SharesMemory {
		return
	}
	if shown, ok := n.knownShared(); ok {
		n.writeChangedShared(shown)
	} else {
		n.writeAllShared()
	}
	n.knowShared(n.shared)
}

// writeAllShared is restoreShared where the present content is not known: the process that changed
// it last may have ended.
func (n *Node) writeAllShared() {
	seen := map[segment]map[uint64]bool{} // by the number of a page
	for _, v := range n.sharedViews() {
		want, done := n.shared[v.segment()], seen[v.segment()]
		if done == nil {
			done = map[uint64]bool{}
			seen[v.segment()] = done
		}
		var at []uint64
		for _, addr := range n.resident(v) {
			if no := v.number(addr); !done[no] {
				done[no] = true
				at = append(at, addr)
			}
		}
		n.readShared(v, at, func(no uint64, have *page) {
			if p := want.or(no); *have != *p {
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

// writeChangedShared is restoreShared where it is known what shared memory has held when the node
// last looked.
func (n *Node) writeChangedShared(shown sharedMemory) {
	views := n.writtenShared()
	differ := map[segment]map[uint64]bool{} // by the number of a page
	for _, v := range views {
		s := v.segment()
		if differ[s] == nil {
			differ[s] = map[uint64]bool{}
			for no, p := range n.shared[s] {
				if shown[s][no] != p {
					differ[s][no] = true
				}
			}
			for no := range shown[s] {
				if n.shared[s][no] == nil {
					differ[s][no] = true
				}
			}
		}
		for _, addr := range v.at {
			differ[s][v.number(addr)] = true
		}
	}
	for _, v := range views {
		s := v.segment()
		var put pages
		for no := range differ[s] {
			if v.shows(no) {
				put = append(put, pageAt{v.address(no), n.shared[s].or(no)})
				delete(differ[s], no)
			}
		}
		slices.SortFunc(put, func(a, b pageAt) int { return cmp.Compare(a.at, b.at) })
		writePages(v.th.tr, put)
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
