package kernel

import (
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// File is what an open file description refers to: a socket, a pipe end, an
// epoll set, a host file. A file that can be read also implements Reader, and
// so on. All of them answer EAGAIN for "not now"; whether that blocks is decided
// by the handler, from OpenFile.Flags.
type File interface {
	// Ready returns the poll events that hold now.
	Ready() Events
	// Changed returns the queue notified when Ready may have changed, or nil
	// when it never does.
	Changed() *Queue
	// Release is called once, when the last descriptor is closed.
	Release(n *Node)
}

// Reader is a File for read(2), readv(2).
type Reader interface {
	Read(t *Thread, b []byte) (int, Errno)
}

// Sized is a Reader that knows how many bytes a read would find, so that no
// larger buffer is made for it.
type Sized interface{ Buffered() int }

// Writer is a File for write(2), writev(2). A short count is a partial write.
type Writer interface {
	Write(t *Thread, b []byte) (int, Errno)
}

// Ioctler is a File with its own ioctls; ENOTTY means not one of them.
type Ioctler interface {
	Ioctl(t *Thread, cmd, arg uint64) (int64, Errno)
}

// Timeouter is a File with SO_RCVTIMEO and SO_SNDTIMEO; 0 means none.
type Timeouter interface {
	Timeouts() (rcv, snd ariadne.Time)
}

// Moder is a File that knows its st_mode; others are taken for anonymous inodes.
type Moder interface{ StatMode() uint32 }

// Describer names a file as /proc/self/fd shows it: "socket:[7]".
type Describer interface{ Describe() string }

// IOSignaler is a File that O_ASYNC works on.
type IOSignaler interface{ SignalsIO() }

// AlwaysReady is a File that there is nothing to wait for: a regular file or a directory.
type AlwaysReady interface{ AlwaysReady() }

// Keyed is a File that knows which one it is among the node's, or those that lie in none of
// its directories (EmulatedKey).
type Keyed interface{ Key() inode.Key }

// Named is a File that may be reached by a name in the file tree, though what it holds is
// not there: a named pipe. Not ok: this one is not.
type Named interface {
	NamedBy() (key inode.Key, ok bool)
}

// EmulatedKey is a key that no file of the file tree has.
func EmulatedKey(dev, ino uint64) inode.Key { return inode.Key{Dev: dev | 1<<63, Ino: ino} }

// DescribedInode is the number in "socket:[7]", or 0.
func DescribedInode(s string) (n uint64) {
	_, s, _ = strings.Cut(s, "[")
	for _, c := range s {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + uint64(c-'0')
	}
	return n
}

// OpenFile is an open file description: shared by dup and fork.
type OpenFile struct {
	File  File
	Flags int // O_* status flags and access mode
	Refs  int // descriptors that refer to it, over all tables
	Owner int // F_SETOWN
	Sig   int // F_SETSIG
	// OwnerThread: F_SETOWN_EX named a thread, and F_GETOWN_EX says so.
	OwnerThread bool
	// StandIn: its descriptors are Linux's for nothing but their numbers (Thread.InstallFD).
	StandIn bool

	async    *asyncFile // with O_ASYNC, or nil
	watchers []CloseWatcher
}

// CloseWatcher is told when an open file description goes away (epoll sets).
type CloseWatcher interface{ FileClosed(*OpenFile) }

// WatchClose registers w; UnwatchClose takes it out.
func (f *OpenFile) WatchClose(w CloseWatcher) { f.watchers = append(f.watchers, w) }
func (f *OpenFile) UnwatchClose(w CloseWatcher) {
	for i, x := range f.watchers {
		if x == w {
			f.watchers = append(f.watchers[:i:i], f.watchers[i+1:]...)
			return
		}
	}
}

// Reads and Writes report whether it was opened for that; with access mode 3 it is for
// neither (open(2)).
func (f *OpenFile) Reads() bool {
	mode := f.Flags & unix.O_ACCMODE
	return mode == unix.O_RDONLY || mode == unix.O_RDWR
}

func (f *OpenFile) Writes() bool {
	mode := f.Flags & unix.O_ACCMODE
	return mode == unix.O_WRONLY || mode == unix.O_RDWR
}

// NonBlocking reports O_NONBLOCK.
func (f *OpenFile) NonBlocking() bool { return f.Flags&unix.O_NONBLOCK != 0 }

// Hold adds a reference that is not a descriptor's (SCM_RIGHTS in flight).
func (f *OpenFile) Hold() { f.Refs++ }

// Drop takes a reference away and releases the file with the last one.
func (f *OpenFile) Drop(n *Node) {
	if f.Refs--; f.Refs == 0 {
		for _, w := range append([]CloseWatcher(nil), f.watchers...) {
			w.FileClosed(f)
		}
		for i := range hooks {
			if h := hooks[i].FileClosed; h != nil {
				h(n, f)
			}
		}
		if f.async != nil {
			f.SetAsync(n, 0, false)
		}
		if f.File != nil {
			f.File.Release(n)
		}
	}
}

// HostFile is a file of the node's own file tree, or of the host's read-only
// one: Linux reads and writes it.
type HostFile struct {
	Path string // as the node sees it, absolute; at the time it was opened
	Dev  uint64 // real device and inode: they find it, and are never shown
	Ino  uint64
	Mode uint32 // st_mode
	// Synthetic: the content of a file of /proc, made when it was opened.
	Synthetic bool
	// First, when not nil, is what the file was when a node was first shown it: Linux has a copy
	// open.
	First *unix.Stat_t
	// Entry is where it has its name, as far as that is known: it is while something is
	// watched (inotify.Watched).
	Entry *Entry
	// Mapped: it has been mapped by a descriptor.
	Mapped bool
	// Dir is the state of getdents64: entries not yet returned, sorted by name.
	Dir *DirStream
}

// Entry says where a file that is open, or was looked up, has its name: what happens to
// it is also told to who watches that directory.
type Entry struct {
	Dir     inode.Key // its directory; zero when that is not known
	Name    string
	Removed bool // the directory no longer has it
}

// DirStream is an open directory being listed.
type DirStream struct {
	Entries []Dirent
	Pos     int
}

// Dirent is one directory entry.
type Dirent struct {
	Ino  uint64
	Type uint8
	Name string
}

func (*HostFile) Ready() Events      { return In | Out | RdNorm | WrNorm }
func (*HostFile) Changed() *Queue    { return nil }
func (*HostFile) Release(n *Node)    {}
func (h *HostFile) Describe() string { return h.Path }
func (h *HostFile) AlwaysReady()     {}

// Key implements Keyed.
func (h *HostFile) Key() inode.Key { return inode.Key{Dev: h.Dev, Ino: h.Ino} }
