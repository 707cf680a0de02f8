//go:build linux

package node

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A checkpoint is a set of forks, or the pages in which the processes differ from the last forks.
// The second kind needs no new process, and a living node goes back to it in place: Ariadne writes
// the pages that differ. That is right as long as nothing else has changed that Linux holds for the
// processes: mappings, descriptors, threads. The node sees every system call that could change
// these, and then makes forks again. It also makes forks where Linux cannot tell which pages were
// written.

// forks are the frozen processes of a checkpoint, each with one thread that is stopped for ever.
// All checkpoints that only list differences from them share them.
type forks struct {
	procs []*tracee.Thread
	// mapped lists the writable private mappings of each process. It is set while the pages of
	// these mappings are followed.
	mapped [][]tracee.Range
	// views lists the mappings of shared memory of each process. They are followed, too.
	views [][]view
	// read holds, by process and address, pages that were read from it to be written to living
	// nodes: the same ones are needed again and again. There are no more than mostRead of a
	// process.
	read []map[uint64]*page
	// attributes are those of each process.
	attributes []attributes
	// origin is the moment at which they were made; nil: nobody has looked yet.
	origin *origin
	thawed int // how often they were copied
	users  int // checkpoints and living nodes that need them
}

// use counts one more user of the forks. leave counts one less, and the last one ends them.
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

// paging is what a living node knows of its processes' pages.
type paging struct {
	// forks are those of the last checkpoint that the node made or came from. nil: something else
	// than pages, registers and the node's state differs from them by now.
	forks *forks
	pages []pages // by process: the differences from forks when the node last looked
	// follow tells which pages of each process were written since then. It is kept when forks
	// changes, because its mappings mostly stay the same.
	follow []*tracee.Pages
	// sizes are those of all mappings of each process, in pages, when it began to be followed.
	sizes []int64
	// followed: follow covers all processes since the node last looked.
	followed bool
	// steady: nothing else than pages, registers and state has changed in this step. It is then
	// likely to stay so, and worth the cost of following pages.
	steady bool
	// compared: the last checkpoint lists pages, and unchanged: they are those of the one before.
	compared, unchanged bool
	// moved: the content of files, or the position of a descriptor in a file, may have changed
	// since the node last recorded it (files.go).
	moved bool
	// shown is what shared memory has held when the node last looked, if its processes are followed
	// and nobody else has written to it since; else nil.
	shown sharedMemory
	// opened lists, by process and descriptor, the host files that were open when forks was made.
	// The descriptions live in the node's kernel.
	opened []map[int]*kernel.OpenFile
}

// comparison reports whether the last checkpoint has the content of the one before. Not known: they
// were not compared.
func (p *paging) comparison() (unchanged, known bool) { return p.compared && p.unchanged, p.compared }

// beginStep is called when a step begins.
func (p *paging) beginStep() { p.steady = true }

// noteChange notes that something else than pages, registers and state changes. The next checkpoint
// is a set of forks.
func (p *paging) noteChange() {
	p.steady, p.moved = false, true
	p.dropForks()
}

// dropForks forgets from which forks the node differs only in pages.
func (p *paging) dropForks() {
	must(p.forks.leave())
	p.forks, p.pages, p.opened, p.followed, p.shown = nil, nil, nil, false, nil
}

// stopFollowing closes all userfaultfds. Something else than pages changes.
func (p *paging) stopFollowing() {
	closeAll(p.follow)
	p.follow = nil
	p.noteChange()
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

// noteCall notes that Linux is about to execute a system call.
func (p *paging) noteCall(nr int, args []uint64) {
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
	case nr == unix.SYS_RT_SIGACTION: // changeAttributes changes it back
		return
	case nr == unix.SYS_FCNTL && slices.Contains(descriptorCommands, args[1]):
		p.moved = true
		return
	}
	p.noteChange()
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
	mark, err := th.tr.Mark()
	if must(err); mark != sandbox.Quiet {
		return false
	}
	if nr == unix.SYS_MREMAP {
		// Linux merges no followed mapping with one that is not, and mremap moves only one mapping.
		n.paging.stopFollowing()
	} else {
		n.paging.noteChange()
	}
	th.used-- // the call does not count for the thread's turn
	return true
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

func closeAll(all []*tracee.Pages) {
	for _, f := range all {
		if f != nil {
			f.Close()
		}
	}
}
