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

// segment names memory by what it is mapped from (proc(5)).
type segment struct{ dev, inode uint64 }

// sharedMemory is what segments hold. It is not changed once made.
type sharedMemory map[segment]segmentPages

// segmentPages are the pages of a segment, by number; absent pages are zero.
type segmentPages map[uint64]*page

// heldMemory is what segments hold where some views have shown them. Nobody has looked elsewhere.
type heldMemory struct {
	sharedMemory
	views []view
}

// covers reports whether views show nothing else.
func (h *heldMemory) covers(views []view) bool {
	return !slices.ContainsFunc(views, func(v view) bool { return !slices.ContainsFunc(h.views, v.within) })
}

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

// within reports whether a view shows all that v shows.
func (v view) within(w view) bool {
	return v.segment() == w.segment() && w.Offset <= v.Offset && v.Offset+(v.End-v.Start) <= w.Offset+(w.End-w.Start)
}

// number is which page of the segment a view shows at an address. address is the opposite, and
// shows reports whether there is one.
func (v view) number(addr uint64) uint64 { return (addr - v.Start + v.Offset) / pageSize }

func (v view) address(no uint64) uint64 { return v.Start + no*pageSize - v.Offset }

func (v view) shows(no uint64) bool {
	return no*pageSize >= v.Offset && v.address(no) < v.End
}

// views lists the mappings of shared memory, by process and address.
func (n *Node) views() (all []view) {
	for _, p := range n.processes() {
		for _, m := range n.sharedMappings(p) {
			if !hasPath(m) {
				// the leader may have ended
				all = append(all, view{m, cmp.Or(p.fork, p.threads[len(p.threads)-1])})
			}
		}
	}
	return all
}

// sharedViews lists the mappings of shared memory, first those to which their process may write, by
// process and address. It leaves out those that show no more than one before: processes inherit
// them.
func (n *Node) sharedViews() []view {
	all := n.views()
	slices.SortStableFunc(all, view.compareWritable)
	type beginning struct {
		segment
		offset uint64
	}
	shown := map[beginning]uint64{} // how much of it
	return slices.DeleteFunc(all, func(v view) bool {
		from, size := beginning{v.segment(), v.Offset}, v.End-v.Start
		if size <= shown[from] {
			return true
		}
		shown[from] = size
		return false
	})
}

// compareWritable has views come first to which their process may write.
func (v view) compareWritable(w view) int {
	switch {
	case v.Writable() == w.Writable():
		return 0
	case v.Writable():
		return -1
	}
	return 1
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
	changed := sharedMemory{}
	for _, v := range n.writtenShared() {
		if len(v.at) == 0 {
			continue
		}
		pages := changed[v.segment()]
		if pages == nil {
			pages = segmentPages{}
			maps.Copy(pages, was[v.segment()])
			changed[v.segment()] = pages
		}
		n.readShared(v.view, v.at, func(no uint64, p *page) { pages[no], _ = n.home.contents.share(p) })
	}
	if len(changed) == 0 {
		return was
	}
	now = maps.Clone(was)
	maps.Copy(now, changed)
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
		n.home.sharer, n.home.holds = n, nil // it may attach a segment that another copy knows
		return
	}
	if h := n.home.holds; h != nil && h.covers(n.views()) {
		n.writeChangedShared(h.sharedMemory, n.unwrittenViews())
	} else if shown, ok := n.knownShared(); ok {
		n.writeChangedShared(shown, n.writtenShared())
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
		var put pages
		n.readShared(v, at, func(no uint64, have *page) {
			if p := want.or(no); *have != *p {
				put = append(put, pageAt{v.address(no), p})
			}
		})
		for no, p := range want {
			if !done[no] && v.shows(no) {
				done[no] = true
				put = append(put, pageAt{v.address(no), p})
			}
		}
		n.writeShared(v, put)
	}
}

// unwrittenViews returns all views of shared memory, to which nobody has written since it was last
// looked at.
func (n *Node) unwrittenViews() (all []writtenView) {
	for _, v := range n.views() {
		all = append(all, writtenView{view: v})
	}
	return all
}

// writeChangedShared is restoreShared where it is known what shared memory has held, and where
// processes have written since.
func (n *Node) writeChangedShared(shown sharedMemory, views []writtenView) {
	slices.SortStableFunc(views, func(a, b writtenView) int { return a.compareWritable(b.view) })
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
		n.writeShared(v.view, put)
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

// adoptSegment brings back what was in a segment that th has attached at addr, if it is the first
// to do so since those who had it were killed.
func (n *Node) adoptSegment(th *thread, addr uint64) {
	if shm := ipc.AttachedAt(th.k.Proc, addr); shm == nil || shm.Attachments(n.k) > 1 {
		return
	}
	for m := range procmaps.All(th.maps()) {
		s := segment{m.Dev, m.Inode}
		kept, ok := n.orphans[s]
		if m.Start != addr || !ok {
			continue
		}
		v := view{m, th}
		var put pages
		for no := v.number(m.Start); v.shows(no); no++ {
			put = append(put, pageAt{v.address(no), kept.or(no)})
		}
		n.writeShared(v, put)
		n.orphans = maps.Clone(n.orphans)
		delete(n.orphans, s)
	}
}

// writeShared writes pages to a view. If its process may not write there, Linux does not do it for
// anybody else either. So the process may for a moment.
func (n *Node) writeShared(v view, all pages) {
	if len(all) == 0 {
		return
	}
	slices.SortFunc(all, func(a, b pageAt) int { return cmp.Compare(a.at, b.at) })
	size := v.End - v.Start
	switch {
	case v.Writable():
		writePages(v.th.tr, all)
	case strings.HasPrefix(v.Name, "/SYSV"): // attached for reading, it can never become writable
		other := uint64(n.inject(v.th, unix.SYS_SHMAT, v.Inode, 0, 0))
		for i := range all {
			all[i].at += other + v.Offset - v.Start
		}
		writePages(v.th.tr, all)
		n.inject(v.th, unix.SYS_SHMDT, other)
	default:
		n.inject(v.th, unix.SYS_MPROTECT, v.Start, size, unix.PROT_READ|unix.PROT_WRITE)
		writePages(v.th.tr, all)
		n.inject(v.th, unix.SYS_MPROTECT, v.Start, size, protection(v.Mapping))
	}
}
