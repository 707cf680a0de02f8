//go:build linux

package node

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/leaf/host"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A checkpoint needs no fork where little has happened since the last one that has: the pages that
// were written since, and the threads' registers, say it all. And a living node goes back to such a
// checkpoint in place: the pages that differ are written back. Both hold as long as nothing else of
// what Linux has of the processes has changed: mappings, descriptors, threads. That is told from
// the calls that Linux was given, all of which pass here. Where it has changed, or written pages
// cannot be followed on this machine, checkpoints are forks.

// forks are the frozen processes of a checkpoint, each with one thread that is stopped for ever.
// Checkpoints that say what is different from them share them.
type forks struct {
	procs []*tracee.Thread
	// maps is how Linux shows the mappings of each process, and mapped are the private ones that
	// can be written, if its written pages were followed from then on.
	maps   []string
	mapped [][]tracee.Range
	// standIns are the descriptors of each process that stand in for files of its kernel, and are
	// all alike.
	standIns []standIns
	thawed   int // how often they were copied
	users    int // checkpoints and living nodes
}

// use and leave count those who need the forks; the last one ends them.
func (f *forks) use() *forks {
	f.users++
	return f
}

func (f *forks) leave() (first error) {
	if f == nil {
		return nil
	}
	if f.users--; f.users > 0 {
		return nil
	}
	for _, tr := range f.procs {
		if err := tracee.Kill([]*tracee.Thread{tr}); err != nil && first == nil {
			first = err
		}
		tr.Release()
	}
	f.procs = nil
	return first
}

// pageAt is what a page of a process holds.
type pageAt struct {
	at   uint64
	page *page // never changed
}

// pages are those of one process that may be different from its fork's, by address.
type pages []pageAt

// paging is what a living node knows of its processes' pages.
type paging struct {
	// forks are those of the checkpoint that the node was last frozen to or has come from, as long
	// as it differs from them in nothing but pages, registers and state; else nil.
	forks *forks
	pages []pages // by process: those in which it does, as of when they were last looked at
	// follow tells of each process which pages were written since then. It is kept for the next
	// forks.
	follow []*tracee.Pages
	// followed: all that were written since then are told.
	followed bool
	// steady: in the last step nothing else has changed. So it may pay to follow pages.
	steady bool
	// moved: descriptors may stand elsewhere in their files, or files hold something else, than was
	// told last.
	moved bool
	// standIn is the thread that is about to close a descriptor that stands in for a file.
	standIn *kernel.Thread
}

// begins is called when a step begins.
func (p *paging) begins() { p.steady = true }

// unsteady is called when something else than pages, registers and state has changed.
func (p *paging) unsteady() {
	p.steady, p.moved = false, true
	p.forget()
}

// forget has the node be told from nothing.
func (p *paging) forget() {
	must(p.forks.leave())
	p.forks, p.pages, p.followed = nil, nil, false
}

// close ends all that is followed.
func (p *paging) close() {
	closeAll(p.follow)
	p.follow = nil
	p.forget()
}

// effect is what a call changes of what Linux has of a process.
type effect uint8

const (
	anything effect = iota
	// nothing but where descriptors stand in files, what files hold, and memory that is mapped
	position
	answer // nothing but memory that is mapped
)

// effects are those of the calls that change little. All others may change anything. What files
// hold, and where descriptors stand in them, is told otherwise (files.go).
var effects = func() (of [512]effect) {
	for _, nr := range []int{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV,
		unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_LSEEK,
		unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
		unix.SYS_FADVISE64,
	} {
		of[nr] = position
	}
	for _, nr := range []int{
		unix.SYS_STAT, unix.SYS_FSTAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_ACCESS,
		unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_GETCWD,
	} {
		of[nr] = answer
	}
	return of
}()

// gives notes that Linux is given a call.
func (p *paging) gives(th *thread, nr int, args []uint64) {
	of := anything
	if nr >= 0 && nr < len(effects) {
		of = effects[nr]
	}
	switch {
	case of == answer:
		return
	case of == position:
		p.moved = true
		return
	}
	switch nr {
	case unix.SYS_EVENTFD2: // a descriptor that stands in for a file of the kernel
		return
	case unix.SYS_CLOSE:
		if p.standIn != nil && p.standIn == th.k {
			p.standIn = nil
			return
		}
	case unix.SYS_FCNTL, unix.SYS_DUP:
		if of := th.k.FDs().Get(int(int32(args[0]))); of != nil && of.StandIn {
			return
		}
	}
	p.unsteady()
}

// hasMoved reports whether files may be otherwise than was told last. moves says that they may be,
// hasTold that they are not.
func (p *paging) hasMoved() bool { return p.moved }
func (p *paging) moves()         { p.moved = true }
func (p *paging) hasTold()       { p.moved = false }

// closes notes what a thread is about to close, before its kernel forgets it.
func (p *paging) closes(k *kernel.Thread) {
	p.standIn = nil
	if of := k.FDs().Get(int(int32(k.Call.Args[0]))); of != nil && of.StandIn {
		p.standIn = k
	}
}

// freezePages makes what a checkpoint has of processes: the pages in which they differ from the
// last forks, if that can be told, else forks. bytes is about how much memory it takes.
func (n *Node) freezePages(procs []*process) (f *forks, in []pages, bytes int64) {
	p := &n.paging
	if fresh, ok := n.written(procs); ok {
		return p.forks.use(), slices.Clone(p.pages), fresh + pagesBase
	}
	f = (&forks{}).use()
	for _, proc := range procs {
		tr, err := proc.fork.tr.ForkProcess()
		must(err)
		f.procs = append(f.procs, tr)
		if n.cfg.Pages {
			f.standIns = append(f.standIns, standInsOf(proc.fork.k.Proc))
		}
		bytes += checkpointBase + host.Resident(tr.PID)/checkpointShare
	}
	n.tellFrom(f, make([]pages, len(procs)))
	if p.steady {
		n.followPages()
	}
	return f, make([]pages, len(procs)), bytes
}

// comesFrom says that the node's processes are copies of a checkpoint's. Where they are not the
// first, it is likely that the node will go back there.
func (n *Node) comesFrom(c *Checkpoint) {
	n.tellFrom(c.forks, slices.Clone(c.pages))
	if c.forks.thawed++; c.forks.thawed > 1 {
		n.followPages()
	}
}

const (
	checkpointBase  = 384 << 10 // page tables, pages written in a step, Linux's own objects
	checkpointShare = 64        // one part in so many is taken to be the copy's alone
	pagesBase       = 32 << 10  // registers, lists of pages
)

// mostPages is how many pages a checkpoint says at most to be different, of a process: with more, a
// fork costs less.
const mostPages = 4096

// written tells of all processes what their pages hold; not ok: that cannot be told.
func (n *Node) written(procs []*process) (bytes int64, ok bool) {
	p := &n.paging
	if !p.followed || len(procs) != len(p.pages) {
		return 0, false
	}
	for i, proc := range procs {
		fresh, ok := n.writtenOf(i, proc)
		if !ok || len(p.pages[i])+len(fresh) > mostPages {
			return 0, false
		}
		bytes += int64(len(fresh)) * pageSize
		p.pages[i] = p.pages[i].with(fresh)
	}
	return bytes, true
}

// writtenOf are the pages of process i that were written since it was last asked.
func (n *Node) writtenOf(i int, proc *process) (fresh pages, ok bool) {
	at, ok := n.paging.dirty(i, proc.threads[0])
	if !ok {
		return nil, false
	}
	to := newPages(len(at))
	if e := proc.threads[0].tr.ReadPages(at, to); e != 0 {
		return nil, false
	}
	for k, a := range at {
		fresh = append(fresh, pageAt{a, (*page)(to[k])})
	}
	return fresh, true
}

// dirty are the addresses of the pages of process i that were written since it was last asked, in
// order. Not ok: its stack has grown, or there are more than a checkpoint says.
func (p *paging) dirty(i int, th *thread) (at []uint64, ok bool) {
	if th.maps() != p.forks.maps[i] {
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

// mappingCalls are those of which most run without a stop elsewhere.
var mappingCalls = []int{
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_PKEY_MPROTECT, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_MADVISE,
}

// mapsQuietly notes a call that stops for no other reason than that it may change mappings, or what
// they hold. Its program notices nothing of the stop.
func (n *Node) mapsQuietly(th *thread) bool {
	nr := th.tr.Number()
	if !th.tr.Is64() || !slices.Contains(mappingCalls, nr) {
		return false
	}
	mark, err := th.tr.Mark()
	if must(err); mark != sandbox.Quiet {
		return false
	}
	if nr == unix.SYS_MREMAP {
		// Linux joins no mapping that is followed with one that is not, and moves one at a time.
		n.paging.close()
	}
	n.paging.unsteady()
	th.used-- // it is none of the calls of its turn
	return true
}

// newPages makes pages to be filled.
func newPages(n int) []*[pageSize]byte {
	to := make([]*[pageSize]byte, n)
	for i := range to {
		to[i] = new([pageSize]byte) // each by itself: some will be kept for long
	}
	return to
}

// with are the pages with fresh ones in the place of old ones. A page that holds what it held is
// the old one.
func (old pages) with(fresh pages) pages {
	if len(fresh) == 0 {
		return old
	}
	all := make(pages, 0, len(old)+len(fresh))
	for len(old) > 0 || len(fresh) > 0 {
		switch {
		case len(fresh) == 0 || len(old) > 0 && old[0].at < fresh[0].at:
			all, old = append(all, old[0]), old[1:]
			continue
		case len(old) > 0 && old[0].at == fresh[0].at:
			if *old[0].page == *fresh[0].page {
				fresh[0].page = old[0].page
			}
			old = old[1:]
		}
		all, fresh = append(all, fresh[0]), fresh[1:]
	}
	return all
}

// first is the address of the first page.
func (p pages) first() uint64 {
	if len(p) == 0 {
		return math.MaxUint64
	}
	return p[0].at
}

// take takes the first page from the list and returns what it holds, if it is the one at an
// address; else nil.
func (p *pages) take(at uint64) *page {
	if p.first() != at {
		return nil
	}
	q := (*p)[0].page
	*p = (*p)[1:]
	return q
}

// tellFrom says from which forks the node differs, and in what.
func (n *Node) tellFrom(f *forks, in []pages) {
	n.paging.forget()
	if n.cfg.Pages {
		n.paging.forks, n.paging.pages = f.use(), in
	}
}

// followPages has the written pages of the node's processes followed, if this machine can.
func (n *Node) followPages() {
	p := &n.paging
	if p.forks == nil || !n.follows() {
		return
	}
	was := p.follow
	p.follow = nil
	var maps []string
	var mapped [][]tracee.Range
	for i, proc := range n.processes() {
		var f *tracee.Pages
		if proc.fork == nil {
			break
		}
		if i < len(was) && was[i] != nil && was[i].PID() == proc.fork.tr.PID {
			f, was[i] = was[i], nil
		}
		f, ranges, err := followMappings(proc.fork, n.ownDevice(), f)
		if err != nil {
			if errors.Is(err, tracee.ErrNoPages) {
				cannotFollow.Store(true)
			}
			break
		}
		p.follow, maps, mapped = append(p.follow, f), append(maps, proc.fork.maps()), append(mapped, ranges)
	}
	closeAll(was)
	if p.followed = len(p.follow) == len(p.pages); p.followed {
		p.forks.maps, p.forks.mapped = maps, mapped
	}
}

// cannotFollow: this machine cannot tell which pages are written, or does not let us.
var cannotFollow atomic.Bool

func closeAll(all []*tracee.Pages) {
	for _, f := range all {
		if f != nil {
			f.Close()
		}
	}
}

// follows reports whether pages may be followed. Memory that processes share is told otherwise
// (shared.go).
func (n *Node) follows() bool {
	if n.k.SharesMemory || cannotFollow.Load() {
		return false
	}
	for th := range n.threads {
		if th.State != kernel.Dead && th.Proc.FDs.Shared() {
			return false
		}
	}
	return true
}

var errOwnFile = errors.New("a private mapping of a file of the node's own")

// ownDevice is the device of the node's own files, as maps shows it.
func (n *Node) ownDevice() uint64 {
	dev := n.k.Files.Private
	return uint64(unix.Major(dev))<<32 | uint64(unix.Minor(dev))
}

// followMappings follows the private mappings of a thread's process that it can write, by what
// follows some of them already or anew.
func followMappings(th *thread, own uint64, f *tracee.Pages) (_ *tracee.Pages, mapped []tracee.Range, err error) {
	if f == nil {
		restore := liftLimits(th.tr.PID) // it takes a descriptor
		f, err = th.tr.FollowPages()
		restore()
		if err != nil {
			return nil, nil, err
		}
	}
	for line := range bytes.Lines([]byte(th.maps())) {
		m, ok := parseMapping(line)
		if !ok || m.shared || !m.writable {
			continue
		}
		if own != 0 && m.dev == own {
			// What it holds where nobody has written to it is what the file does, which changes.
			err = errOwnFile
			break
		}
		r := tracee.Range{Start: m.start, End: m.end}
		if err = f.Add(r); err == nil {
			err = f.Written(r, nil)
		}
		if err != nil {
			break
		}
		mapped = append(mapped, r)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, mapped, nil
}

// put writes pages to a process, those of read-only mappings as well.
func put(tr *tracee.Thread, all pages) {
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

// restoreInPlace makes a node go on from a checkpoint, if it differs from it in nothing but pages,
// registers and state. Else the node is as it was.
func (n *Node) restoreInPlace(c *Checkpoint) bool {
	p := &n.paging
	procs := n.processes()
	if !p.followed || p.forks != c.forks || len(procs) != len(c.threads) {
		return false
	}
	back := make([]pages, len(procs))
	for i, proc := range procs {
		ok := proc.fork != nil && sameThreads(proc, c.threads[i])
		if ok {
			back[i], ok = n.differs(i, proc.threads[0], c)
		}
		if !ok {
			p.forget() // nobody knows any more what was written
			return false
		}
	}
	s := c.state.Copy()
	if !n.hasFilesOf(s) {
		n.letGo(nil)
		n.hide()
	}
	threads := threadsOf(s)
	for i, proc := range procs {
		put(proc.threads[0].tr, back[i])
		for _, m := range p.forks.mapped[i] {
			must(p.follow[i].Written(m, nil))
		}
		wants := standInsOf(threads[c.threads[i].first()].Proc)
		exchange(proc.fork.tr, standInsOf(proc.threads[0].k.Proc), wants)
	}
	p.pages = slices.Clone(c.pages)
	n.closeCarried()
	n.assume(c, s)
	for i, proc := range procs {
		for k, th := range proc.threads {
			n.loadThread(c.threads[i], k, th.tr, threads)
		}
	}
	n.layout.forget()
	return true
}

// differs are the pages of process i that hold something else than in a checkpoint, as they are
// there.
func (n *Node) differs(i int, th *thread, c *Checkpoint) (back pages, ok bool) {
	dirty, ok := n.paging.dirty(i, th)
	if !ok {
		return nil, false
	}
	var ask []uint64 // what the fork has to tell
	now, then := n.paging.pages[i], c.pages[i]
	for len(dirty)+len(now)+len(then) > 0 {
		at := uint64(math.MaxUint64)
		if len(dirty) > 0 {
			at = dirty[0]
		}
		at = min(at, now.first(), then.first())
		has, written := now.take(at), len(dirty) > 0 && dirty[0] == at
		if written {
			dirty = dirty[1:]
		}
		switch wants := then.take(at); {
		case !written && has == wants:
		case wants != nil:
			back = append(back, pageAt{at, wants})
		default:
			ask = append(ask, at)
		}
	}
	to := newPages(len(ask))
	if e := c.forks.procs[i].ReadPages(ask, to); e != 0 {
		return nil, false
	}
	for k, at := range ask {
		back = append(back, pageAt{at, (*page)(to[k])})
	}
	return back, true
}

// sameThreads reports whether a process has the threads of one of a checkpoint.
func sameThreads(p *process, threads frozenThreads) bool {
	return slices.EqualFunc(p.threads, threads, func(th *thread, f frozenThread) bool {
		return th.k.TID == f.tid && (th.k.State == kernel.Dead) == f.dead && !th.k.AskAltStack
	})
}

// standIns are the numbers of descriptors, and whether exec closes them.
type standIns map[int]bool

// standInsOf are those that a process has by its kernel, as Linux has them.
func standInsOf(p *kernel.Process) standIns {
	all := standIns{}
	for _, fd := range p.FDs.Numbers() {
		if p.FDs.Get(fd).StandIn {
			all[fd] = p.FDs.CloseOnExec(fd)
		}
	}
	return all
}

// exchange has a process whose descriptors stand in for some files have those that stand in for
// others.
func exchange(tr *tracee.Thread, has, wants standIns) {
	if maps.Equal(has, wants) {
		return
	}
	restore := liftLimits(tr.PID)
	defer restore()
	for _, fd := range slices.Sorted(maps.Keys(has)) {
		if _, ok := wants[fd]; !ok {
			injected(tr, unix.SYS_CLOSE, uint64(fd))
		}
	}
	for _, fd := range slices.Sorted(maps.Keys(wants)) {
		cloexec, have := has[fd]
		switch {
		case !have:
			standAt(tr, fd, wants[fd])
		case cloexec != wants[fd]:
			var flags uint64
			if wants[fd] {
				flags = unix.FD_CLOEXEC
			}
			injected(tr, unix.SYS_FCNTL, uint64(fd), unix.F_SETFD, flags)
		}
	}
}

// standAt makes a descriptor of a number.
func standAt(tr *tracee.Thread, fd int, cloexec bool) {
	var flags uint64
	if cloexec {
		flags = unix.EFD_CLOEXEC
	}
	got := injected(tr, unix.SYS_EVENTFD2, 0, flags)
	if got == int64(fd) {
		return
	}
	injected(tr, unix.SYS_DUP3, uint64(got), uint64(fd), flags) // as O_CLOEXEC, which is the same
	injected(tr, unix.SYS_CLOSE, uint64(got))
}

// injected runs a call that cannot fail unless the tool is wrong.
func injected(tr *tracee.Thread, nr int, args ...uint64) int64 {
	v, err := tr.Inject(nr, args...)
	if err == nil && v < 0 {
		err = fmt.Errorf("process %d: injected %s: %w", tr.PID, callName(nr), unix.Errno(-v))
	}
	must(err)
	return v
}
