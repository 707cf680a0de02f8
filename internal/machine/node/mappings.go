//go:build linux

package node

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A process maps memory and gives it back, in some programs in most steps. What it has mapped
// besides the mappings of its fork can be undone and made again: private memory without a file, and
// a longer heap. All other changes of mappings take a new fork.

// extras are what a process has mapped besides the mappings of its fork. They are not changed once
// made.
type extras struct {
	extents []extent // by address
	heap    heapEnd
}

// heapEnd is where the heap ends, and where that of the fork does, as brk(2) has it. Zeros: there
// is no difference.
type heapEnd struct{ now, forked uint64 }

// extent is private memory without a file.
type extent struct {
	tracee.Range
	prot uint64
}

func (e *extras) equal(f *extras) bool { return e.heap == f.heap && slices.Equal(e.extents, f.extents) }

// ranges lists the memory of the extras, by address.
func (e *extras) ranges() (all []tracee.Range) {
	if from, to := pageUp(e.heap.forked), pageUp(e.heap.now); from < to {
		all = append(all, tracee.Range{Start: from, End: to})
	}
	for _, x := range e.extents {
		all = append(all, x.Range)
	}
	slices.SortFunc(all, compareRanges)
	return all
}

func compareRanges(a, b tracee.Range) int { return cmp.Compare(a.Start, b.Start) }

func pageUp(at uint64) uint64 { return (at + pageSize - 1) &^ (pageSize - 1) }

// region is memory of one kind. Regions that adjoin have different kinds: whether Linux joins
// mappings depends on which pages are followed.
type region struct {
	tracee.Range
	of procmaps.Mapping // the first mapping in it
}

// follows reports whether a mapping goes on where the region ends, and is of the same kind.
func (r *region) follows(m procmaps.Mapping) bool {
	return r.End == m.Start && r.of.Perms == m.Perms && r.of.Dev == m.Dev && r.of.Inode == m.Inode &&
		plainName(r.of) == plainName(m) && (m.Inode == 0 || m.Offset-m.Start == r.of.Offset-r.of.Start)
}

// like reports whether two regions are of the same kind, where both are.
func (r *region) like(s *region) bool {
	return r.of.Perms == s.of.Perms && r.of.Dev == s.of.Dev && r.of.Inode == s.of.Inode &&
		plainName(r.of) == plainName(s.of) && (r.of.Inode == 0 || r.of.Offset-r.of.Start == s.of.Offset-s.of.Start)
}

// plainName is the name of a mapping. Linux calls the mapping the heap in which the heap begins.
func plainName(m procmaps.Mapping) string { return strings.TrimSuffix(m.Name, "[heap]") }

// regionsIn lists the regions of a process's memory, by address.
func regionsIn(maps string) (all []region) {
	for m := range procmaps.All(maps) {
		if last := len(all) - 1; last >= 0 && all[last].follows(m) {
			all[last].End = m.End
		} else {
			all = append(all, region{tracee.Range{Start: m.Start, End: m.End}, m})
		}
	}
	return all
}

// besides returns what regions have that others do not have. Not ok: some of the others are not
// among them as they were.
func besides(regions, others []region) (more []region, ok bool) {
	var size, covered uint64
	for _, o := range others {
		size += o.End - o.Start
	}
	for _, r := range regions {
		for at := r.Start; at < r.End; {
			for len(others) > 0 && others[0].End <= at {
				others = others[1:]
			}
			end := r.End
			switch {
			case len(others) == 0 || others[0].Start >= end:
				more = append(more, region{tracee.Range{Start: at, End: end}, r.of})
			case others[0].Start > at:
				end = others[0].Start
				more = append(more, region{tracee.Range{Start: at, End: end}, r.of})
			case !r.like(&others[0]):
				return nil, false
			default:
				end = min(end, others[0].End)
				covered += end - at
			}
			at = end
		}
	}
	return more, covered == size
}

// regions are those of the frozen process's memory.
func (f *fork) regions() []region {
	if f.laidOut == nil {
		f.laidOut = regionsIn(mapsOf(f.tr))
	}
	return f.laidOut
}

// overlaps reports whether some of a range is mapped in the frozen process.
func (f *fork) overlaps(r tracee.Range) bool {
	i, _ := slices.BinarySearchFunc(f.regions(), r.Start, func(of region, at uint64) int {
		if of.End <= at {
			return -1
		}
		return 1
	})
	return i < len(f.regions()) && f.regions()[i].Start < r.End
}

// heapEnd is the end of the frozen process's heap.
func (f *fork) heapEnd() uint64 {
	if f.heap == 0 {
		f.heap = uint64(injected(f.tr, unix.SYS_BRK, 0))
	}
	return f.heap
}

// plainFlags are those of mmap(2) with which memory is as an extent is made again.
const plainFlags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_STACK | unix.MAP_FIXED | unix.MAP_FIXED_NOREPLACE

const (
	anyProt   = unix.PROT_READ | unix.PROT_WRITE | unix.PROT_EXEC
	addressed = 1 << 47 // no address of a program is beyond
)

// extends reports whether a call that changes mappings leaves those of the fork as they are. The
// process is followed, and about to make it.
func (t *paged) extends(nr int, args []uint64) bool {
	if args[0] >= addressed || nr != unix.SYS_BRK && args[1] >= addressed {
		return false
	}
	in := tracee.Range{Start: args[0] &^ (pageSize - 1), End: pageUp(args[0] + args[1])}
	switch nr {
	case unix.SYS_MMAP:
		if args[3]&^plainFlags != 0 || args[3]&(unix.MAP_ANONYMOUS|unix.MAP_SHARED) != unix.MAP_ANONYMOUS ||
			args[2]&^anyProt != 0 {
			return false
		}
		if args[3]&unix.MAP_FIXED == 0 {
			t.remapped = true
			return true
		}
	case unix.SYS_MUNMAP:
	case unix.SYS_MPROTECT:
		if args[2]&^anyProt != 0 {
			return false
		}
	case unix.SYS_MADVISE:
		if args[2] != unix.MADV_DONTNEED {
			return false
		}
	case unix.SYS_BRK:
		heap := t.fork.heapEnd()
		if args[0] == 0 || args[0] < heap {
			return args[0] == 0
		}
		t.remapped, t.movedHeap = true, true
		t.mayLose(tracee.Range{Start: pageUp(args[0]), End: pageUp(t.extras.heap.now)})
		return true
	default:
		return false
	}
	if t.fork.overlaps(in) {
		return false
	}
	t.remapped = true
	if nr != unix.SYS_MPROTECT {
		t.mayLose(in)
	}
	return true
}

// mostLost is how many parts of memory are told apart that may have lost their content.
const mostLost = 32

// mayLose notes that some of the extras may lose its content, unless Linux refuses the call. The
// content that is there instead does not count as written.
func (t *paged) mayLose(r tracee.Range) {
	switch last := len(t.lost) - 1; {
	case r.Start >= r.End:
	case last+1 < mostLost:
		t.lost = append(t.lost, r)
	default:
		t.lost[last] = tracee.Range{Start: min(t.lost[last].Start, r.Start), End: max(t.lost[last].End, r.End)}
	}
}

// settleLost has those listed pages looked at again whose content may be lost, and takes those out
// of the list that are mapped no more. The extras become others.
func (t *paged) settleLost(now *extras) {
	had, has := t.extras.ranges(), now.ranges()
	t.pages = slices.DeleteFunc(slices.Clone(t.pages), func(p pageAt) bool {
		return lies(p.at, had) && !lies(p.at, has)
	})
	for _, p := range t.pages {
		lost := func(r tracee.Range) bool { return r.Start <= p.at && p.at < r.End }
		if lies(p.at, had) && slices.ContainsFunc(t.lost, lost) {
			t.again = append(t.again, p.at)
		}
	}
	t.lost = nil
}

// lookAtMappings finds out what a process has mapped besides the mappings of its fork, if that may
// have changed, and begins to follow what is new. Not ok: it cannot be undone.
func (t *paged) lookAtMappings(proc *process) (ok bool) {
	if !t.remapped {
		return true
	}
	more, ok := besides(regionsIn(proc.fork.maps()), t.fork.regions())
	now := extras{heap: t.extras.heap}
	if t.movedHeap {
		now.heap = heapEnd{uint64(injected(proc.fork.tr, unix.SYS_BRK, 0)), t.fork.heapEnd()}
		if now.heap.now == now.heap.forked {
			now.heap = heapEnd{}
		}
	}
	heap := tracee.Range{Start: pageUp(now.heap.forked), End: pageUp(now.heap.now)}
	for i := 0; ok && i < len(more); i++ {
		m := more[i]
		if plainName(m.of) != "" || m.of.Inode != 0 || m.of.Shared() {
			return false
		}
		if m.Start == heap.Start && heap.Start < heap.End {
			if ok = m.End >= heap.End && protection(m.of) == unix.PROT_READ|unix.PROT_WRITE; !ok {
				return false
			}
			m.Start, heap.Start = heap.End, heap.End
		}
		if m.Start < m.End {
			now.extents = append(now.extents, extent{m.Range, protection(m.of)})
		}
	}
	if !ok || heap.Start < heap.End {
		return false
	}
	t.settleLost(&now)
	return t.setExtras(now)
}

// setExtras notes what a process has mapped besides the mappings of its fork, and follows the pages
// of that. Not ok: they cannot be followed.
func (t *paged) setExtras(now extras) (ok bool) {
	t.extras, t.remapped, t.movedHeap = now, false, false
	t.scanned = t.fork.mapped
	if all := now.ranges(); len(all) > 0 {
		for _, r := range all {
			if t.follow.Add(r) != nil {
				return false
			}
		}
		t.scanned = append(slices.Clone(t.scanned), all...)
		slices.SortFunc(t.scanned, compareRanges)
	}
	size, err := t.follow.Size()
	must(err)
	t.size = size
	return true
}

// keep reports whether an extent can stay when the extras become others. Linux makes no heap longer
// if something is mapped where it would end.
func (e *extras) keep(x extent, wants *extras) bool {
	return slices.Contains(wants.extents, x) && (x.Start != pageUp(wants.heap.now) || e.heap == wants.heap)
}

// gone lists the memory that a process loses when its extras become others: what it has, and what
// it would have with other rights.
func (e *extras) gone(wants *extras) (all []tracee.Range) {
	for _, x := range e.extents {
		if !e.keep(x, wants) {
			all = append(all, x.Range)
		}
	}
	if to := pageUp(cmp.Or(wants.heap.now, e.heap.forked)); to < pageUp(e.heap.now) {
		all = append(all, tracee.Range{Start: to, End: pageUp(e.heap.now)})
	}
	slices.SortFunc(all, compareRanges)
	return all
}

// changeMappings gives a process that stands in a call other extras than it has.
func changeMappings(tr *tracee.Thread, has, wants *extras) {
	if has.equal(wants) {
		return
	}
	restore := liftLimits(tr.PID)
	defer restore()
	for _, x := range has.extents {
		if !has.keep(x, wants) {
			injected(tr, unix.SYS_MUNMAP, x.Start, x.End-x.Start)
		}
	}
	if has.heap != wants.heap {
		want := cmp.Or(wants.heap.now, has.heap.forked)
		if got := uint64(injected(tr, unix.SYS_BRK, want)); got != want {
			must(fmt.Errorf("process %d: the heap ends at %#x and not at %#x", tr.PID, got, want))
		}
	}
	for _, x := range wants.extents {
		if !slices.Contains(has.extents, x) || !has.keep(x, wants) {
			injected(tr, unix.SYS_MMAP, x.Start, x.End-x.Start, x.prot,
				unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED_NOREPLACE, math.MaxUint64, 0)
		}
	}
}

// protection is what a process may do with a mapping.
func protection(m procmaps.Mapping) (prot uint64) {
	if m.Readable() {
		prot |= unix.PROT_READ
	}
	if m.Writable() {
		prot |= unix.PROT_WRITE
	}
	if m.Executable() {
		prot |= unix.PROT_EXEC
	}
	return prot
}
