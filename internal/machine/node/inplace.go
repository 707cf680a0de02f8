//go:build linux

package node

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// freezePages returns what a checkpoint keeps of the processes: of each its last fork and the pages
// that differ from it, or a new fork. bytes is about how much memory that takes.
func (n *Node) freezePages(procs []*process) (f *forks, in []pages, more []extras, bytes int64) {
	p := &n.paging
	p.compared, p.unchanged = false, true
	same := n.refersTo(procs)
	var all []*fork
	for i, proc := range procs {
		var base pages
		if same {
			base = p.forks.base[i]
		}
		if fresh, ok := n.collectWritten(proc, base); ok {
			t := p.of(proc.pid())
			all, in, more = append(all, t.fork), append(in, t.pages), append(more, t.extras)
			bytes += fresh + pagesBase/int64(len(procs))
			continue
		}
		same = false
		tr, err := proc.fork.tr.ForkProcess()
		must(err)
		bytes += checkpointBase + host.Resident(tr.PID)/checkpointShare
		one := &fork{tr: tr}
		if n.cfg.Pages {
			one.attributes = attributesOf(proc.fork.k.Proc)
			p.of(proc.pid()).differFrom(one, nil, extras{}, proc.hostFiles())
		}
		all, in, more = append(all, one), append(in, nil), append(more, extras{})
	}
	if same {
		p.compared = !n.k.SharesMemory // which was not compared
		return p.forks.use(), in, more, bytes
	}
	f = newForks(all, slices.Clone(in), more).use()
	if n.cfg.Pages {
		p.setForks(f)
		n.followPages(procs, func(t *paged) bool { return t.steady })
	}
	return f, in, more, bytes
}

// refersTo reports whether the node's processes are those of the forks that it refers to.
func (n *Node) refersTo(procs []*process) bool {
	f := n.paging.forks
	return f != nil && slices.EqualFunc(procs, f.procs, func(proc *process, f *fork) bool {
		return n.paging.of(proc.pid()).fork == f
	})
}

const (
	checkpointBase  = 384 << 10 // page tables, pages written in a step, Linux's own objects
	checkpointShare = 64        // one part in so many is taken to be the copy's alone
	pagesBase       = 32 << 10  // registers, lists of pages
)

// mostPages is how many pages of a process a checkpoint lists at most. With more, a fork costs
// less.
const mostPages = 4096

// collectWritten adds to a process's list the pages that it has written since the node last looked.
// Not ok: that is not known, or a fork costs less. The list keeps the pages in base.
func (n *Node) collectWritten(proc *process, base pages) (bytes int64, ok bool) {
	p := &n.paging
	t := p.of(proc.pid())
	had := t.extras
	if !t.followed || !maps.Equal(t.opened, proc.hostFiles()) || !t.lookAtMappings(proc) {
		return 0, false
	}
	written, fresh, ok := n.readWritten(proc, t)
	if !ok || len(t.pages)+len(written) > mostPages {
		return 0, false
	}
	p.unchanged = p.unchanged && had.equal(&t.extras) && t.had(written)
	t.pages = t.pages.merge(written, t.fork.read, base)
	n.home.followingOf(proc).used++
	return int64(fresh) * pageSize, true
}

// readWritten reads the pages that a process has written since the node last looked. fresh is how
// many of them have a content that no checkpoint has had.
func (n *Node) readWritten(proc *process, t *paged) (written pages, fresh int, ok bool) {
	at, ok := t.writtenPages()
	if !ok {
		return nil, 0, false
	}
	to := n.home.contents.space(len(at))
	if tr := proc.threads[0].tr; tr.ReadPages(at, to) != 0 {
		for k, a := range at { // one that the program may not read
			if tr.Peek(a, to[k][:]) != 0 {
				return nil, 0, false
			}
		}
	}
	written = make(pages, len(at))
	for k, a := range at {
		shared, isFresh := n.home.contents.share((*page)(to[k]))
		written[k] = pageAt{a, shared}
		if isFresh {
			fresh++
		}
	}
	return written, fresh, true
}

// writtenPages lists the addresses of the pages that the process has written since the node last
// looked, or which may have lost what they held, in order. Not ok: its stack has grown, which takes
// no system call, or there are more than mostPages. Other changes of mappings are noted when they
// are made.
func (t *paged) writtenPages() (at []uint64, ok bool) {
	size, err := t.follow.Size()
	if must(err); size != t.size {
		return nil, false
	}
	for _, m := range t.scanned {
		must(t.follow.Written(m, func(r tracee.Range) {
			for a := r.Start; a < r.End && len(at) <= mostPages; a += pageSize {
				at = append(at, a)
			}
		}))
	}
	if len(t.again) > 0 {
		at = append(at, t.again...)
		slices.Sort(at)
		at, t.again = slices.Compact(at), nil
	}
	return at, len(at) <= mostPages
}

// had reports whether the process had the content of some pages when the node last looked, so that
// writing them has changed nothing.
func (t *paged) had(written pages) bool {
	var unread []uint64
	var others pages
	more := t.extras.ranges()
	for _, w := range written {
		was := t.fork.read[w.at]
		if k, ok := slices.BinarySearchFunc(t.pages, w.at, pageAt.compare); ok {
			was = t.pages[k].page
		}
		switch {
		case was == nil && lies(w.at, more):
			if *w.page != zeroPage {
				return false
			}
		case was == nil:
			unread, others = append(unread, w.at), append(others, w)
		case *was != *w.page:
			return false
		}
	}
	was, ok := t.fork.pages(unread)
	return ok && slices.EqualFunc(was, others, func(a, b pageAt) bool { return *a.page == *b.page })
}

// forgetWritten has pages that Ariadne has written to the process count as if nobody had. In each
// mapping only what is between the first and the last of them is looked at: the process itself has
// written nothing since writtenPages.
func (t *paged) forgetWritten(written pages) {
	at := make([]uint64, len(written))
	for k := range written {
		at[k] = written[k].at
	}
	slices.Sort(at)
	for _, m := range t.scanned {
		from, _ := slices.BinarySearch(at, m.Start)
		if to, _ := slices.BinarySearch(at, m.End); from < to {
			must(t.follow.Written(tracee.Range{Start: at[from], End: at[to-1] + pageSize}, nil))
		}
	}
}

// hostFiles lists the open host files of the process by descriptor.
func (p *process) hostFiles() map[int]*kernel.OpenFile { return hostFilesOf(p.threads[0].k.Proc) }

// pid is the real id of the process.
func (p *process) pid() int { return p.threads[0].tr.PID }

// followPages begins to follow the written pages of some processes, where this machine can do that.
func (n *Node) followPages(procs []*process, wanted func(*paged) bool) {
	p, fresh, can := &n.paging, false, false
	for i, proc := range procs {
		if i == 0 {
			can = n.canFollow(procs)
		}
		t := p.of(proc.pid())
		if can && t.fork != nil && proc.fork != nil && !t.followed && wanted(t) && n.home.followingOf(proc).pays() {
			n.followProcess(proc, t)
			fresh = fresh || t.followed
		}
	}
	if fresh && n.followsAll() {
		n.noteShared()
	}
}

// followProcess begins to follow the written pages of a process.
func (n *Node) followProcess(proc *process, t *paged) {
	maps := mapsOf(t.fork.tr)
	t.fork.shared = sharedIn(maps)
	f, ranges, err := followMappings(proc.fork, maps, n.ownDevice(), t.fork.shared, t.follow)
	t.follow = nil
	if err != nil {
		if errors.Is(err, tracee.ErrNoPages) {
			cannotFollow.Store(true)
		}
		return
	}
	t.follow, t.fork.mapped = f, ranges
	t.followed = t.setExtras(t.extras)
	for _, r := range t.extras.ranges() {
		must(f.Written(r, nil))
	}
}

// followsAll reports whether all processes of the node are followed.
func (n *Node) followsAll() bool {
	for _, th := range n.threads {
		if t := n.paging.procs[th.tr.PID]; t == nil || !t.followed {
			return false
		}
	}
	return true
}

// sharedMappings lists the shared mappings of a process.
func (n *Node) sharedMappings(p *process) []procmaps.Mapping {
	if f := n.paging.of(p.pid()).fork; f != nil {
		return f.sharedMappings()
	}
	return sharedIn(p.threads[0].maps())
}

// writtenView is a view, and the addresses in it of pages that its process has written since the
// node last looked.
type writtenView struct {
	view
	at []uint64
}

// writtenShared returns all views of shared memory. The processes are followed.
func (n *Node) writtenShared() (all []writtenView) {
	for _, v := range n.views() {
		w := writtenView{view: v}
		must(n.paging.of(v.th.tr.PID).follow.Written(tracee.Range{Start: v.Start, End: v.End}, func(r tracee.Range) {
			for a := r.Start; a < r.End; a += pageSize {
				w.at = append(w.at, a)
			}
		}))
		all = append(all, w)
	}
	return all
}

// knownShared returns what shared memory has held when the node last looked. Not ok: somebody else
// than processes that are followed may have written to it since.
func (n *Node) knownShared() (was sharedMemory, ok bool) {
	return n.paging.shown, n.paging.shown != nil && n.home.sharer == n && n.followsAll()
}

// knowShared notes what shared memory holds, whatever was written to it before.
func (n *Node) knowShared(holds sharedMemory) {
	n.home.sharer, n.home.holds = n, nil
	n.paging.shown = nil
	if n.followsAll() {
		n.writtenShared()
		n.paging.shown = holds
	}
}

// keepKnowingShared notes what shared memory holds since writtenShared was called.
func (n *Node) keepKnowingShared(holds sharedMemory) { n.paging.shown = holds }

// leaveShared notes what shared memory holds, if that is known: processes are about to be killed.
// It is not known if one of them was killed from outside.
func (n *Node) leaveShared() {
	n.home.holds = nil
	if shown, ok := n.knownShared(); ok && n.k.SharesMemory {
		n.home.holds, _ = n.heldShared(shown)
	}
	n.home.sharer, n.paging.shown = nil, nil
}

// heldShared returns what shared memory holds that has held something when the node last looked.
func (n *Node) heldShared(shown sharedMemory) (held *heldMemory, err error) {
	defer recoverTool(n, &err)
	return &heldMemory{n.refreshShared(shown), n.sharedViews()}, nil
}

// following counts how often the pages of a process and its copies began to be followed, and how
// often that has saved a fork or a copy.
type following struct{ begun, used, skipped int }

// Pages are followed as long as that has not been of no use so often, and later on one time in so
// many: what a program does may change.
const (
	uselessFollows = 8
	followsAgain   = 16
)

// pays reports whether pages are to be followed once more, and counts that. For a large process
// that changes its mappings in most steps, a fork costs less.
func (f *following) pays() bool {
	if f.used+uselessFollows <= f.begun {
		if f.skipped++; f.skipped%followsAgain != 0 {
			return false
		}
	}
	f.begun++
	return true
}

// followingOf is that of a process.
func (h *home) followingOf(p *process) *following {
	pid := p.threads[0].k.Proc.PID
	f := h.following[pid]
	if f == nil {
		if h.following == nil {
			h.following = map[int]*following{}
		}
		f = &following{}
		h.following[pid] = f
	}
	return f
}

// cannotFollow is set when Linux cannot tell which pages were written, or does not permit it.
var cannotFollow atomic.Bool

// canFollow reports whether pages may be followed. A table of descriptors that processes share
// could be changed twice, and of memory that they share all copies become the process's own.
func (n *Node) canFollow(procs []*process) bool {
	if n.k.SharesMemory && forgetsWrites() || cannotFollow.Load() {
		return false
	}
	memories := map[int]bool{}
	for _, proc := range procs {
		p := proc.threads[len(proc.threads)-1].k.Proc // the leader may have ended
		if p.FDs.Shared() || memories[p.MM] {
			return false
		}
		memories[p.MM] = true
	}
	return true
}

// forgetsWrites reports whether Linux may forget which process has written memory that several
// share: it has where to swap memory out to, or collapses small pages of such memory to huge ones.
var forgetsWrites = sync.OnceValue(func() bool {
	if hasSwap() {
		return true
	}
	huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
	return err == nil && !bytes.Contains(huge, []byte("[never]")) && !bytes.Contains(huge, []byte("[deny]"))
})

// hasSwap reports whether Linux has where to swap memory out to.
var hasSwap = sync.OnceValue(func() bool {
	swaps, err := os.ReadFile("/proc/swaps")
	return err != nil || bytes.Count(swaps, []byte("\n")) > 1 // behind the heading
})

var errOwnFile = errors.New("a private mapping of a file of the node's own")

// writableRanges lists the private mappings of a process that it can write. errOwnFile: it has some
// that cannot be followed. A page of those that nobody has written shows what the file holds now,
// and that changes. One that was written is gone when the file gets shorter.
func writableRanges(maps string, own uint64) (all []tracee.Range, err error) {
	if len(ownMappings(maps, own)) > 0 {
		return nil, errOwnFile
	}
	for m := range procmaps.All(maps) {
		if !m.Shared() && m.Writable() {
			all = append(all, tracee.Range{Start: m.Start, End: m.End})
		}
	}
	return all, nil
}

// followMappings follows the writable private mappings of a thread's process, which it returns, and
// those of shared memory. f, if not nil, follows some of them already.
func followMappings(th *thread, maps string, own uint64, shared []procmaps.Mapping, f *tracee.Pages) (_ *tracee.Pages,
	mapped []tracee.Range, err error) {
	mapped, err = writableRanges(maps, own)
	if err == nil && f == nil {
		restore := liftLimits(th.tr.PID) // it takes a descriptor
		f, err = th.tr.FollowPages()
		restore()
	}
	all := slices.Clone(mapped)
	for _, m := range shared {
		if !hasPath(m) {
			all = append(all, tracee.Range{Start: m.Start, End: m.End})
		}
	}
	for i := 0; i < len(all) && err == nil; i++ {
		if err = f.Add(all[i]); err == nil {
			err = f.Written(all[i], nil)
		}
	}
	if err != nil && f != nil {
		f.Close()
	}
	return f, mapped, err
}

// writePages writes pages to a process, also to read-only mappings.
func writePages(tr *tracee.Thread, all pages) {
	at, from := make([]uint64, len(all)), make([]*[pageSize]byte, len(all))
	for i, p := range all {
		at[i], from[i] = p.at, (*[pageSize]byte)(p.page)
	}
	if tr.WritePages(at, from) == 0 {
		return
	}
	for i := range at {
		if e := tr.Poke(at[i], from[i][:]); e != 0 {
			must(fmt.Errorf("a page at %#x: %w", at[i], e))
		}
	}
}

// wayBack is how a living process gets back to a checkpoint.
type wayBack struct {
	*process
	paged *paged
	to    pages // what is to be written to it
}

// waysBack returns, by process of a checkpoint, how a living process gets there that differs from
// it in nothing but pages, registers and state; nil: there is none.
func (n *Node) waysBack(c *Checkpoint) (back []*wayBack) {
	living := map[*fork]*process{}
	for _, proc := range n.processes() {
		if t := n.paging.of(proc.pid()); t.followed && proc.fork != nil {
			living[t.fork] = proc
		}
	}
	back = make([]*wayBack, len(c.threads))
	for i, f := range c.forks.procs {
		proc := living[f]
		if proc == nil {
			continue
		}
		t := n.paging.of(proc.pid())
		if sameThreads(proc, c.threads[i]) && stillOpen(proc, t.opened) && t.lookAtMappings(proc) {
			if to, ok := t.pagesToRestore(c.pages[i], &c.extras[i]); ok {
				back[i] = &wayBack{proc, t, to}
				continue
			}
		}
		t.drop() // nobody knows any more what was written
	}
	return back
}

// restoreInPlace brings the node back to a checkpoint. It keeps each process that differs from the
// checkpoint's in nothing but pages, registers and state, and copies the others from their forks.
// inPlace: there were no others.
func (n *Node) restoreInPlace(c *Checkpoint) (inPlace bool) {
	back := n.waysBack(c)
	kept := map[*kernel.Process]bool{}
	for _, b := range back {
		if b != nil {
			kept[b.threads[0].k.Proc] = true
		}
	}
	inPlace = len(kept) == len(back)
	var others []*kernel.Thread
	for k, th := range n.threads {
		if !kept[th.k.Proc] {
			others = append(others, k)
		}
	}
	s := c.state.Copy()
	if !inPlace || len(others) > 0 {
		n.leaveShared()
	}
	if !inPlace || len(others) > 0 || !n.showsFilesOf(s) {
		n.closeHeld(nil)
		n.hideFiles()
	}
	must(n.endAll(others))
	threads := threadsOf(s)
	for i, b := range back {
		if b == nil {
			continue
		}
		b.paged.restore(b.fork.tr, b.to, c.pages[i], c.extras[i])
		wants := attributesOf(threads[c.threads[i].first()].Proc)
		n.changeAttributes(b.fork.tr, attributesOf(b.threads[0].k.Proc), wants)
	}
	n.closeCarried()
	n.setState(c, s)
	for i, b := range back {
		if b == nil {
			n.thawProcess(c, i, threads)
			continue
		}
		for k, th := range b.threads {
			n.loadThread(c.threads[i], k, th.tr, threads)
		}
	}
	n.layout.forget()
	n.settleForks(c, back)
	return inPlace
}

// settleForks notes that the node has just come to a checkpoint: some processes by a way back, the
// others copied from the forks. If a fork was copied before, the node will likely go back there, so
// the pages of its copy are followed.
func (n *Node) settleForks(c *Checkpoint, back []*wayBack) {
	if !n.cfg.Pages {
		return
	}
	n.paging.setForks(c.forks)
	procs := n.processes()
	for i, proc := range procs {
		t := n.paging.of(proc.pid())
		if back != nil && back[i] != nil && t.fork != nil {
			t.opened = proc.hostFiles()
			n.home.followingOf(proc).used++
			continue
		}
		c.forks.procs[i].thawed++
		t.differFrom(c.forks.procs[i], c.pages[i], c.extras[i], proc.hostFiles())
	}
	n.followPages(procs, func(t *paged) bool { return t.fork.thawed > 1 })
}

// restore gives the process, which stands in a call, the pages and extras of a checkpoint.
func (t *paged) restore(tr *tracee.Thread, to, then pages, more extras) {
	if !more.equal(&t.extras) {
		changeMappings(tr, &t.extras, &more)
		if !t.setExtras(more) {
			must(fmt.Errorf("process %d: memory that was mapped again cannot be followed", tr.PID))
		}
	}
	writePages(tr, to)
	t.forgetWritten(to)
	t.pages = then
}

// pagesToRestore lists the pages of the process that differ from those of a checkpoint, which has
// other extras, with the content that they have there. Not ok: that is not known.
func (t *paged) pagesToRestore(then pages, more *extras) (back pages, ok bool) {
	dirty, ok := t.writtenPages()
	if !ok {
		return nil, false
	}
	var ask []uint64 // pages that are not listed: they are as in the fork
	now, empty := t.pages, more.ranges()
	if !more.equal(&t.extras) {
		gone := t.extras.gone(more)
		now = now.without(gone)
		dirty = slices.DeleteFunc(dirty, func(at uint64) bool { return lies(at, gone) })
	}
	for len(dirty)+len(now)+len(then) > 0 {
		at := uint64(math.MaxUint64)
		if len(dirty) > 0 {
			at = dirty[0]
		}
		at = min(at, now.first(), then.first())
		has, written := now.takeAt(at), len(dirty) > 0 && dirty[0] == at
		if written {
			dirty = dirty[1:]
		}
		switch wants := then.takeAt(at); {
		case !written && (has == wants || has != nil && wants != nil && *has == *wants):
		case wants != nil:
			back = append(back, pageAt{at, wants})
		case lies(at, empty):
			back = append(back, pageAt{at, &zeroPage})
		default:
			ask = append(ask, at)
		}
	}
	asIs, ok := t.fork.pages(ask)
	return append(back, asIs...), ok
}

// mostRead is how many pages a fork keeps after they were read.
const mostRead = 512

// pages returns pages of the frozen process. Not ok: one of them is not there.
func (f *fork) pages(at []uint64) (all pages, ok bool) {
	if f.read == nil {
		f.read = map[uint64]*page{}
	}
	var missing []uint64
	for _, a := range at {
		if q := f.read[a]; q != nil {
			all = append(all, pageAt{a, q})
		} else {
			missing = append(missing, a)
		}
	}
	to := newPages(len(missing))
	if e := f.tr.ReadPages(missing, to); e != 0 {
		return nil, false
	}
	for k, a := range missing {
		q := (*page)(to[k])
		if len(f.read) < mostRead {
			f.read[a] = q
		}
		all = append(all, pageAt{a, q})
	}
	return all, true
}

// stillOpen reports whether a process has the open files that it had. It may have opened others.
func stillOpen(p *process, files map[int]*kernel.OpenFile) bool {
	for fd, f := range files {
		if p.threads[0].k.Proc.FDs.Get(fd) != f {
			return false
		}
	}
	return true
}

// sameThreads reports whether a process has the threads of one of a checkpoint.
func sameThreads(p *process, threads frozenThreads) bool {
	return slices.EqualFunc(p.threads, threads, func(th *thread, f frozenThread) bool {
		return th.k.TID == f.tid && (th.k.State == kernel.Dead) == f.dead && !th.k.AskAltStack
	})
}
