//go:build linux

package node

import (
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// Of each process a checkpoint has a fork, or the pages in which the process differs from an
// earlier fork. The second kind needs no new process, and a living process goes back to it in
// place: Ariadne writes the pages that differ. That is right as long as nothing else has changed
// that Linux holds for the process: mappings, descriptors, threads. The node sees every system
// call that could change these, and then makes a fork again. It also makes forks where Linux
// cannot tell which pages were written.

// fork is a frozen process: it has one thread, which is stopped for ever. All checkpoints that only
// list the pages in which the process differs from it share it.
type fork struct {
	tr *tracee.Thread
	// mapped lists its writable private mappings. It is set while the pages of these mappings are
	// followed in a living process.
	mapped []tracee.Range
	// shared lists its shared mappings; nil: nobody has looked yet.
	shared []procmaps.Mapping
	// laidOut are its regions, and heap is the end of its heap, if somebody has looked.
	laidOut []region
	heap    uint64
	// read holds, by address, pages that were read from it to be written to living processes: the
	// same ones are needed again and again. There are no more than mostRead.
	read       map[uint64]*page
	attributes attributes
	thawed     int // how often it was copied
	users      int // sets of forks, and living processes
}

func (f *fork) use() *fork {
	f.users++
	return f
}

func (f *fork) leave() error {
	if f.users--; f.users > 0 {
		return nil
	}
	err := tracee.Kill([]*tracee.Thread{f.tr})
	f.tr.Release()
	return err
}

// sharedMappings lists the shared mappings of the frozen process, and of all that differ from it
// only in pages.
func (f *fork) sharedMappings() []procmaps.Mapping {
	if f.shared == nil {
		f.shared = sharedIn(mapsOf(f.tr))
	}
	return f.shared
}

// sharedIn lists the shared mappings among those of a process, which are not nil.
func sharedIn(maps string) (all []procmaps.Mapping) {
	all = []procmaps.Mapping{}
	for m := range procmaps.All(maps) {
		if m.Shared() {
			all = append(all, m)
		}
	}
	return all
}

// hasPath reports whether a shared mapping is of a file: its name is a path. Others have none, or
// say what they are.
func hasPath(m procmaps.Mapping) bool {
	return strings.HasPrefix(m.Name, "/") && m.Name != "/dev/zero (deleted)" && !strings.HasPrefix(m.Name, "/SYSV")
}

// forks are those of a checkpoint's processes. All checkpoints that refer to the same ones share
// them.
type forks struct {
	procs []*fork
	// base lists, by process, the pages in which it differed from its fork when the last of the
	// forks was made.
	base []pages
	// extras lists what each had mapped then besides the mappings of its fork.
	extras []extras
	// origin is that moment; nil: nobody has looked yet.
	origin *origin
	users  int // checkpoints and living nodes that need them
}

// newForks uses each of some forks.
func newForks(procs []*fork, base []pages, more []extras) *forks {
	for _, f := range procs {
		f.use()
	}
	return &forks{procs: procs, base: base, extras: more}
}

// use counts one more user of the forks. leave counts one less, and the last one leaves each.
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
	for _, one := range f.procs {
		if err := one.leave(); err != nil && first == nil {
			first = err
		}
	}
	f.procs = nil
	return first
}

// threads are the only ones of the frozen processes.
func (f *forks) threads() (all []*tracee.Thread) {
	for _, one := range f.procs {
		all = append(all, one.tr)
	}
	return all
}

// paging is what a living node knows of its processes' pages.
type paging struct {
	// forks are those of the last checkpoint that the node made or came from. Processes may differ
	// from them in more than pages by now.
	forks *forks
	procs map[int]*paged // by the real id of the process
	// compared: the last checkpoint lists pages, and unchanged: they are those of the one before.
	compared, unchanged bool
	// moved: the content of files, or the position of a descriptor in a file, may have changed
	// since the node last recorded it (files.go).
	moved bool
	// shown is what shared memory has held when the node last looked, if its processes are followed
	// and nobody else has written to it since; else nil.
	shown sharedMemory
}

// paged is what is known of a living process.
type paged struct {
	fork  *fork // nil: something else than pages, registers and the node's state differs by now
	pages pages // the differences from fork when the node last looked
	// extras is what the process had mapped then besides the mappings of its fork. remapped: that
	// may have changed, and movedHeap: the end of the heap, too.
	extras              extras
	remapped, movedHeap bool
	// lost lists memory that may have lost what it held since the node last looked, and again the
	// pages that are to be looked at for that.
	lost  []tracee.Range
	again []uint64
	// scanned lists the memory in which writes are followed, by address.
	scanned []tracee.Range
	// follow tells which pages were written since then. It is kept when fork changes, because the
	// mappings mostly stay the same.
	follow *tracee.Pages
	// size is that of all mappings, in pages, when they began to be followed.
	size int64
	// followed: follow covers all pages since the node last looked.
	followed bool
	// steady: nothing else than pages, registers and state has changed in this step. It is then
	// likely to stay so, and worth the cost of following pages.
	steady bool
	// opened lists, by descriptor, the host files that were open when fork was made. The
	// descriptions live in the node's kernel.
	opened map[int]*kernel.OpenFile
}

// of is what is known of a process.
func (p *paging) of(pid int) *paged {
	t := p.procs[pid]
	if t == nil {
		if p.procs == nil {
			p.procs = map[int]*paged{}
		}
		t = &paged{}
		p.procs[pid] = t
	}
	return t
}

// comparison reports whether the last checkpoint has the content of the one before. Not known: they
// were not compared.
func (p *paging) comparison() (unchanged, known bool) { return p.compared && p.unchanged, p.compared }

// beginStep is called when a step begins.
func (p *paging) beginStep() {
	for _, t := range p.procs {
		t.steady = true
	}
}

// noteChange notes that something else than pages, registers and state of a process changes. The
// next checkpoint has a fork of it.
func (p *paging) noteChange(pid int) {
	p.moved, p.shown = true, nil
	if t := p.procs[pid]; t != nil {
		t.steady = false
		t.drop()
	}
}

// noteChanges notes that something else changes, of which processes is not known.
func (p *paging) noteChanges() {
	for pid := range p.procs {
		p.noteChange(pid)
	}
}

// noteProcess notes that a process was made.
func (p *paging) noteProcess() { p.moved, p.shown = true, nil }

// drop forgets from which fork the process differs only in pages.
func (t *paged) drop() {
	if t.fork != nil {
		must(t.fork.leave())
	}
	t.fork, t.pages, t.opened, t.followed, t.scanned = nil, nil, nil, false, nil
	t.extras, t.remapped, t.movedHeap, t.lost, t.again = extras{}, false, false, nil, nil
}

// differFrom notes that the process differs from a fork in no more than some pages and extras.
func (t *paged) differFrom(f *fork, in pages, more extras, opened map[int]*kernel.OpenFile) {
	f.use()
	t.drop()
	t.fork, t.pages, t.extras, t.opened = f, in, more, opened
}

// stopFollowing closes the process's userfaultfd. Something else than pages changes.
func (p *paging) stopFollowing(pid int) {
	if t := p.procs[pid]; t != nil && t.follow != nil {
		t.follow.Close()
		t.follow = nil
	}
	p.noteChange(pid)
}

// forget forgets a process that has ended.
func (p *paging) forget(pid int) {
	p.stopFollowing(pid)
	delete(p.procs, pid)
}

// setForks notes the forks of the checkpoint that the node has made or come to.
func (p *paging) setForks(f *forks) {
	f.use()
	must(p.forks.leave())
	p.forks = f
}

// leave forgets all processes.
func (p *paging) leave() {
	for pid := range p.procs {
		p.forget(pid)
	}
	must(p.forks.leave())
	p.forks, p.moved = nil, true
}

// effect says how much of what Linux holds for a process a system call may change.
type effect uint8

const (
	anything       effect = iota
	memoryAndFiles        // memory, files, descriptors, and positions
	memoryOnly            // only memory that is mapped
)

// effects are those of system calls by number. A call that is not listed may change anything. The
// node records files and positions in them elsewhere (files.go), and compares descriptors when it
// makes a checkpoint or goes back to one.
var effects = func() (of [512]effect) {
	for _, nr := range []int{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_PREAD64, unix.SYS_PWRITE64, unix.SYS_READV, unix.SYS_WRITEV,
		unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_LSEEK,
		unix.SYS_GETDENTS, unix.SYS_GETDENTS64, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE,
		unix.SYS_FADVISE64, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE,
		unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_UNLINKAT,
		unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT,
		unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_CREAT, unix.SYS_MEMFD_CREATE,
		unix.SYS_CLOSE, unix.SYS_DUP, unix.SYS_DUP2, unix.SYS_DUP3, unix.SYS_EVENTFD2,
		unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT,
		unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE, unix.SYS_SETXATTR, unix.SYS_FSETXATTR,
	} {
		of[nr] = memoryAndFiles
	}
	for _, nr := range []int{
		unix.SYS_STAT, unix.SYS_FSTAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_ACCESS,
		unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_GETCWD,
		unix.SYS_STATFS, unix.SYS_FSTATFS, unix.SYS_GETXATTR, unix.SYS_FGETXATTR, unix.SYS_MINCORE,
		unix.SYS_RT_SIGRETURN,
	} {
		of[nr] = memoryOnly
	}
	return of
}()

// noteCall notes that Linux is about to execute a system call of a process.
func (p *paging) noteCall(pid, nr int, args []uint64) {
	of := anything
	if nr >= 0 && nr < len(effects) {
		of = effects[nr]
	}
	switch {
	case of == memoryOnly:
		return
	case of == memoryAndFiles:
		p.moved = true
		return
	}
	switch {
	case nr == unix.SYS_RT_SIGACTION || nr == unix.SYS_UMASK: // changeAttributes changes it back
		return
	case nr == unix.SYS_FCNTL && slices.Contains(descriptorCommands, args[1]):
		p.moved = true
		return
	}
	p.noteChange(pid)
}

// descriptorCommands are commands of fcntl that change descriptors or flags of open files at most.
var descriptorCommands = []uint64{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL,
	unix.F_SETFL}

// filesMayDiffer reports whether files or positions in them may differ from the node's record.
// noteFileUse notes that they may from now on, and filesAreKnown that they do not.
func (p *paging) filesMayDiffer() bool { return p.moved }

func (p *paging) noteFileUse() { p.moved = true }

func (p *paging) filesAreKnown() { p.moved = false }

// mappingCalls may change mappings or their content. Most of them run without a stop by default.
var mappingCalls = []int{
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_PKEY_MPROTECT, unix.SYS_MREMAP, unix.SYS_BRK,
	unix.SYS_MADVISE,
}

// noteMappingCall notes a mapping call that stops only with Config.Pages, and reports whether the
// thread stands at one. Linux then executes it, and the program notices nothing of the stop.
func (n *Node) noteMappingCall(th *thread) bool {
	nr := th.tr.Number()
	if !th.tr.Is64() || !slices.Contains(mappingCalls, nr) {
		return false
	}
	n.noteProtect(th)
	if nr == unix.SYS_MMAP && th.tr.Args()[3]&unix.MAP_GROWSDOWN != 0 {
		n.home.growsDown = true
	}
	mark, err := th.tr.Mark()
	if must(err); mark != sandbox.Quiet {
		return false
	}
	switch {
	case nr == unix.SYS_MREMAP:
		// Linux merges no followed mapping with one that is not, and mremap moves only one mapping.
		n.paging.stopFollowing(th.tr.PID)
	case n.home.growsDown:
		n.paging.noteChange(th.tr.PID) // what has grown since the fork would be taken for an extent
	default:
		n.paging.noteRemapping(th.tr.PID, nr, th.tr.Args())
	}
	th.used-- // the call does not count for the thread's turn
	return true
}

// noteRemapping notes a call that changes mappings of a process.
func (p *paging) noteRemapping(pid, nr int, args [6]uint64) {
	t := p.procs[pid]
	if t == nil || t.followed && !t.extends(nr, args[:]) {
		p.noteChange(pid)
	} else if !t.followed {
		p.shown = nil
		t.drop() // it is steady: the next such call may be undone
	}
}

// noteProtect notes the files into which a process can store once th's call has made their mappings
// writable, or which the call changes through mappings. It is called before the call is.
func (n *Node) noteProtect(th *thread) {
	files := &n.k.Files
	nr, args := th.tr.Number(), th.tr.Args()
	protects := (nr == unix.SYS_MPROTECT || nr == unix.SYS_PKEY_MPROTECT) && args[2]&unix.PROT_WRITE != 0
	// Since Linux 6.7, MADV_REMOVE needs a mapping that could become writable, not one that is.
	removes := nr == unix.SYS_MADVISE && int32(args[2]) == unix.MADV_REMOVE
	if !protects && !removes || len(files.Mapped) == len(files.Writable) {
		return
	}
	start, end := args[0], args[0]+args[1]
	for m := range procmaps.All(th.maps()) {
		key := inode.Key{Dev: m.Dev, Ino: m.Inode}
		if m.Shared() && m.Start < end && start < m.End && files.Mapped[key] {
			files.Writable[key] = true
		}
	}
}
