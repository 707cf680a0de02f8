//go:build linux

package node

import (
	"bytes"
	"cmp"
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

// pageAt is a page of a process, and its content.
type pageAt struct {
	at   uint64
	page *page // never changed
}

// pages lists the pages in which a process may differ from its fork, by address.
type pages []pageAt

// freezePages returns what a checkpoint keeps of the processes: the last forks and the pages that
// differ from them, or new forks. bytes is about how much memory that takes.
func (n *Node) freezePages(procs []*process) (f *forks, in []pages, bytes int64) {
	p := &n.paging
	if fresh, ok := n.collectWritten(procs); ok {
		p.compared = !n.k.SharesMemory // which was not compared
		return p.forks.use(), slices.Clone(p.pages), fresh + pagesBase
	}
	p.compared = false
	f = (&forks{}).use()
	for _, proc := range procs {
		tr, err := proc.fork.tr.ForkProcess()
		must(err)
		f.procs = append(f.procs, tr)
		if n.cfg.Pages {
			f.attributes = append(f.attributes, attributesOf(proc.fork.k.Proc))
		}
		bytes += checkpointBase + host.Resident(tr.PID)/checkpointShare
	}
	n.setForks(f, make([]pages, len(procs)))
	if p.steady {
		n.followPages()
	}
	return f, make([]pages, len(procs)), bytes
}

// setForksOf notes that the node's processes were just copied from a checkpoint. If its forks were
// copied before, the node will likely go back there, so its pages are followed.
func (n *Node) setForksOf(c *Checkpoint) {
	n.setForks(c.forks, slices.Clone(c.pages))
	if c.forks.thawed++; c.forks.thawed > 1 {
		n.followPages()
	}
}

const (
	checkpointBase  = 384 << 10 // page tables, pages written in a step, Linux's own objects
	checkpointShare = 64        // one part in so many is taken to be the copy's alone
	pagesBase       = 32 << 10  // registers, lists of pages
)

// mostPages is how many pages of a process a checkpoint lists at most. With more, a fork costs
// less.
const mostPages = 4096

// collectWritten adds to each process's list the pages that it has written since the node last
// looked. Not ok: that is not known, or a fork costs less.
func (n *Node) collectWritten(procs []*process) (bytes int64, ok bool) {
	p := &n.paging
	if !p.followed || len(procs) != len(p.pages) {
		return 0, false
	}
	p.unchanged = true
	for i, proc := range procs {
		if !maps.Equal(p.opened[i], hostFilesOf(proc.threads[0].k.Proc)) {
			return 0, false
		}
		written, fresh, ok := n.readWritten(i, proc)
		if !ok || len(p.pages[i])+len(written) > mostPages {
			return 0, false
		}
		p.unchanged = p.unchanged && p.had(i, written)
		p.pages[i] = p.pages[i].merge(written, p.forks.known(i))
		bytes += int64(fresh) * pageSize
	}
	n.home.following.used++
	return bytes, true
}

// readWritten reads the pages that process i has written since the node last looked. fresh is how
// many of them have a content that no checkpoint has had.
func (n *Node) readWritten(i int, proc *process) (written pages, fresh int, ok bool) {
	at, ok := n.paging.writtenPages(i)
	if !ok {
		return nil, 0, false
	}
	to := n.home.contents.space(len(at))
	if e := proc.threads[0].tr.ReadPages(at, to); e != 0 {
		return nil, 0, false
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

// writtenPages lists the addresses of the pages that process i has written since the node last
// looked, in order. Not ok: the process's stack has grown, which takes no system call, or there are
// more than mostPages. Other changes of mappings are noted when they are made.
func (p *paging) writtenPages(i int) (at []uint64, ok bool) {
	size, err := p.follow[i].Size()
	if must(err); size != p.sizes[i] {
		return nil, false
	}
	for _, m := range p.forks.mapped[i] {
		must(p.follow[i].Written(m, func(r tracee.Range) {
			for a := r.Start; a < r.End && len(at) <= mostPages; a += pageSize {
				at = append(at, a)
			}
		}))
	}
	return at, len(at) <= mostPages
}

// had reports whether process i had the content of some pages when the node last looked, so that
// writing them has changed nothing.
func (p *paging) had(i int, written pages) bool {
	var unread []uint64
	var others pages
	for _, w := range written {
		was := p.forks.known(i)[w.at]
		if k, ok := slices.BinarySearchFunc(p.pages[i], w.at, pageAt.compare); ok {
			was = p.pages[i][k].page
		}
		switch {
		case was == nil:
			unread, others = append(unread, w.at), append(others, w)
		case *was != *w.page:
			return false
		}
	}
	was, ok := p.forks.pages(i, unread)
	return ok && slices.EqualFunc(was, others, func(a, b pageAt) bool { return *a.page == *b.page })
}

// forgetWritten has pages that Ariadne has written to process i count as if nobody had. In each
// mapping only what is between the first and the last of them is looked at: the process itself has
// written nothing since writtenPages.
func (p *paging) forgetWritten(i int, written pages) {
	at := make([]uint64, len(written))
	for k := range written {
		at[k] = written[k].at
	}
	slices.Sort(at)
	for _, m := range p.forks.mapped[i] {
		from, _ := slices.BinarySearch(at, m.Start)
		if to, _ := slices.BinarySearch(at, m.End); from < to {
			must(p.follow[i].Written(tracee.Range{Start: at[from], End: at[to-1] + pageSize}, nil))
		}
	}
}

// newPages allocates pages, each by itself: some are kept much longer than others.
func newPages(n int) []*[pageSize]byte {
	to := make([]*[pageSize]byte, n)
	for i := range to {
		to[i] = new([pageSize]byte)
	}
	return to
}

// merge returns the list with fresh pages in the place of old ones. A fresh page with the old
// content becomes the old page, so that a comparison of pointers finds them equal. One with the
// content that it has in the fork, as far as that is known, is left out.
func (old pages) merge(fresh pages, fork map[uint64]*page) (all pages) {
	if len(fresh) == 0 {
		return old
	}
	all = make(pages, 0, len(old)+len(fresh))
	for len(old) > 0 || len(fresh) > 0 {
		if len(fresh) == 0 || old.first() < fresh[0].at {
			all, old = append(all, old[0]), old[1:]
			continue
		}
		f := fresh[0]
		fresh = fresh[1:]
		was, base := old.takeAt(f.at), fork[f.at]
		switch {
		case base != nil && *base == *f.page:
			continue
		case was != nil && *was == *f.page:
			f.page = was
		}
		all = append(all, f)
	}
	return all
}

// compare compares the page's address with another.
func (p pageAt) compare(at uint64) int { return cmp.Compare(p.at, at) }

// first is the address of the first page, or the highest one if the list is empty.
func (p pages) first() uint64 {
	if len(p) == 0 {
		return math.MaxUint64
	}
	return p[0].at
}

// takeAt removes the first page from the list and returns its content, if it is at that address;
// else nil.
func (p *pages) takeAt(at uint64) *page {
	if p.first() != at {
		return nil
	}
	q := (*p)[0].page
	*p = (*p)[1:]
	return q
}

// setForks notes that the node differs from some forks in no more than some pages.
func (n *Node) setForks(f *forks, in []pages) {
	n.paging.dropForks()
	if n.cfg.Pages {
		n.paging.forks, n.paging.pages, n.paging.opened = f.use(), in, n.openHostFiles()
	}
}

// openHostFiles lists the open host files of each process.
func (n *Node) openHostFiles() (all []map[int]*kernel.OpenFile) {
	for _, proc := range n.processes() {
		all = append(all, hostFilesOf(proc.threads[0].k.Proc))
	}
	return all
}

// followPages begins to follow the written pages of all processes, where this machine can do that.
func (n *Node) followPages() {
	p := &n.paging
	if p.forks == nil || !n.canFollow() || !n.home.following.pays() {
		return
	}
	was := p.follow
	p.follow, p.sizes = nil, nil
	var mapped [][]tracee.Range
	var views [][]view
	for i, proc := range n.processes() {
		var f *tracee.Pages
		if proc.fork == nil {
			break
		}
		if i < len(was) && was[i] != nil && was[i].PID() == proc.fork.tr.PID {
			f, was[i] = was[i], nil
		}
		maps := proc.fork.maps()
		shared := viewsIn(maps, proc.fork)
		f, ranges, err := followMappings(proc.fork, maps, n.ownDevice(), shared, f)
		if err != nil {
			if errors.Is(err, tracee.ErrNoPages) {
				cannotFollow.Store(true)
			}
			break
		}
		size, err := f.Size()
		must(err)
		p.follow, p.sizes, mapped = append(p.follow, f), append(p.sizes, size), append(mapped, ranges)
		views = append(views, shared)
	}
	closeAll(was)
	if p.followed = len(p.follow) == len(p.pages); p.followed {
		p.forks.mapped, p.forks.views = mapped, views
		n.noteShared()
	}
}

// writtenView is a view, and the addresses in it of pages that its process has written since the
// node last looked.
type writtenView struct {
	view
	at []uint64
}

// writtenShared returns all views of shared memory. The processes are followed.
func (n *Node) writtenShared() (all []writtenView) {
	for i, proc := range n.processes() {
		for _, v := range n.paging.forks.views[i] {
			// the leader may have ended
			w := writtenView{view: view{v.Mapping, cmp.Or(proc.fork, proc.threads[len(proc.threads)-1])}}
			must(n.paging.follow[i].Written(tracee.Range{Start: v.Start, End: v.End}, func(r tracee.Range) {
				for a := r.Start; a < r.End; a += pageSize {
					w.at = append(w.at, a)
				}
			}))
			all = append(all, w)
		}
	}
	return all
}

// knownShared returns what shared memory has held when the node last looked. Not ok: somebody else
// than processes that are followed may have written to it since.
func (n *Node) knownShared() (was sharedMemory, ok bool) {
	p := &n.paging
	return p.shown, p.shown != nil && p.followed && n.home.sharer == n
}

// knowShared notes what shared memory holds, whatever was written to it before.
func (n *Node) knowShared(holds sharedMemory) {
	n.home.sharer = n
	n.paging.shown = nil
	if n.paging.followed {
		n.writtenShared()
		n.paging.shown = holds
	}
}

// keepKnowingShared notes what shared memory holds since writtenShared was called.
func (n *Node) keepKnowingShared(holds sharedMemory) { n.paging.shown = holds }

// following counts how often the pages of a node and its copies began to be followed, and how often
// that has saved a fork or a copy.
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

// cannotFollow is set when Linux cannot tell which pages were written, or does not permit it.
var cannotFollow atomic.Bool

// canFollow reports whether pages may be followed. A table of descriptors that processes share
// could be changed twice.
func (n *Node) canFollow() bool {
	if n.k.SharesMemory && forgetsWrites() || cannotFollow.Load() {
		return false
	}
	for th := range n.threads {
		if th.State != kernel.Dead && th.Proc.FDs.Shared() {
			return false
		}
	}
	return true
}

// forgetsWrites reports whether Linux may forget which process has written memory that several
// share: it has where to swap memory out to, or collapses small pages of such memory to huge ones.
var forgetsWrites = sync.OnceValue(func() bool {
	swaps, err := os.ReadFile("/proc/swaps")
	if err != nil || bytes.Count(swaps, []byte("\n")) > 1 { // behind the heading
		return true
	}
	huge, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
	return err == nil && !bytes.Contains(huge, []byte("[never]")) && !bytes.Contains(huge, []byte("[deny]"))
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
func followMappings(th *thread, maps string, own uint64, shared []view, f *tracee.Pages) (_ *tracee.Pages,
	mapped []tracee.Range, err error) {
	mapped, err = writableRanges(maps, own)
	if err == nil && f == nil {
		restore := liftLimits(th.tr.PID) // it takes a descriptor
		f, err = th.tr.FollowPages()
		restore()
	}
	all := slices.Clone(mapped)
	for _, v := range shared {
		all = append(all, tracee.Range{Start: v.Start, End: v.End})
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

// restoreInPlace brings the node back to a checkpoint and keeps its processes. It returns false,
// and leaves the node as it is, if more than pages, registers and state differ.
func (n *Node) restoreInPlace(c *Checkpoint) bool {
	p := &n.paging
	procs := n.processes()
	if !p.followed || p.forks != c.forks || len(procs) != len(c.threads) {
		return false
	}
	back := make([]pages, len(procs))
	for i, proc := range procs {
		ok := proc.fork != nil && sameThreads(proc, c.threads[i]) && stillOpen(proc, p.opened[i])
		if ok {
			back[i], ok = n.pagesToRestore(i, c)
		}
		if !ok {
			p.dropForks() // nobody knows any more what was written
			return false
		}
	}
	s := c.state.Copy()
	if !n.showsFilesOf(s) {
		n.closeHeld(nil)
		n.hideFiles()
	}
	threads := threadsOf(s)
	for i, proc := range procs {
		writePages(proc.threads[0].tr, back[i])
		p.forgetWritten(i, back[i])
		wants := attributesOf(threads[c.threads[i].first()].Proc)
		n.changeAttributes(proc.fork.tr, attributesOf(proc.threads[0].k.Proc), wants)
	}
	p.pages = slices.Clone(c.pages)
	n.closeCarried()
	n.setState(c, s)
	for i, proc := range procs {
		for k, th := range proc.threads {
			n.loadThread(c.threads[i], k, th.tr, threads)
		}
	}
	p.opened = n.openHostFiles()
	n.layout.forget()
	n.home.following.used++
	return true
}

// pagesToRestore lists the pages of process i that differ from a checkpoint, with the content that
// they have there. Not ok: that is not known.
func (n *Node) pagesToRestore(i int, c *Checkpoint) (back pages, ok bool) {
	dirty, ok := n.paging.writtenPages(i)
	if !ok {
		return nil, false
	}
	var ask []uint64 // pages that the checkpoint does not list: they are as in the fork
	now, then := n.paging.pages[i], c.pages[i]
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
		default:
			ask = append(ask, at)
		}
	}
	asIs, ok := c.forks.pages(i, ask)
	return append(back, asIs...), ok
}

// mostRead is how many pages of a process forks keep after they were read.
const mostRead = 512

// known lists, by address, the pages of process i that were read before.
func (f *forks) known(i int) map[uint64]*page {
	if f.read == nil {
		return nil
	}
	return f.read[i]
}

// pages returns pages of process i. Not ok: one of them is not there.
func (f *forks) pages(i int, at []uint64) (all pages, ok bool) {
	if f.read == nil {
		f.read = make([]map[uint64]*page, len(f.procs))
		for i := range f.read {
			f.read[i] = map[uint64]*page{}
		}
	}
	var missing []uint64
	for _, a := range at {
		if q := f.read[i][a]; q != nil {
			all = append(all, pageAt{a, q})
		} else {
			missing = append(missing, a)
		}
	}
	to := newPages(len(missing))
	if e := f.procs[i].ReadPages(missing, to); e != 0 {
		return nil, false
	}
	for k, a := range missing {
		q := (*page)(to[k])
		if len(f.read[i]) < mostRead {
			f.read[i][a] = q
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
