//go:build linux

package stack

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Recorder logs the requests of some devices, and the lines that programs write to /dev/ariadne.
type Recorder struct {
	mu  sync.Mutex
	ops []block.Op
}

// Ops are the requests so far.
func (r *Recorder) Ops() []block.Op {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ops[:len(r.ops):len(r.ops)]
}

// add logs a request. A nil Recorder logs nothing.
func (r *Recorder) add(o block.Op) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.ops = append(r.ops, o)
	r.mu.Unlock()
}

// Numbers of inodes of the server. Each disk has a number of its own from firstDisk on, which is
// never used again: so no page that the kernel holds is of another disk.
const (
	rootNode  = fuse.FUSE_ROOT_ID
	sayNode   = 2
	firstDisk = 3
)

// sayName is the name of the file by which programs speak.
const sayName = "say"

// server is a file system with one file for each disk.
type server struct {
	fuse.RawFileSystem
	// flushes says that the kernel is to send flushes. Without, it has been told that there are
	// none.
	flushes bool
	mu      sync.Mutex
	disks   map[uint64]*served
	last    uint64
	// hear takes a line that a program has written to /dev/ariadne, and returns the answer, or why
	// the line is wrong.
	hear    func(line string) (answer, why string)
	answers map[uint64][]byte // by handle
	handles uint64
}

func newServer(flushes bool) *server {
	return &server{flushes: flushes, RawFileSystem: fuse.NewDefaultRawFileSystem(), disks: map[uint64]*served{},
		last:    firstDisk - 1,
		answers: map[uint64][]byte{}}
}

// add serves a disk, and returns the number of its inode, which is its name too.
func (s *server) add(d *served) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	s.disks[s.last] = d
	return s.last
}

// remove serves a disk no more.
func (s *server) remove(node uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.disks, node)
}

func (s *server) find(node uint64) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.disks[node]
}

// setHear says who takes the lines that programs write.
func (s *server) setHear(hear func(line string) (answer, why string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hear = hear
}

// forever is how long the kernel may keep names and attributes, in seconds.
const forever = 1 << 30

func (s *server) String() string { return "ariadne" }

// attributes fills in what stat says, and reports whether there is such an inode.
func (s *server) attributes(node uint64, a *fuse.Attr) bool {
	a.Ino, a.Nlink, a.Blksize = node, 1, block.PageSize
	switch d := s.find(node); {
	case node == rootNode:
		a.Mode, a.Nlink = unix.S_IFDIR|0o755, 2
	case node == sayNode:
		a.Mode = unix.S_IFREG | 0o666
	case d != nil:
		a.Mode, a.Size = unix.S_IFREG|0o600, uint64(d.size)
		a.Blocks = a.Size / 512
	default:
		return false
	}
	return true
}

func (s *server) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	node, err := strconv.ParseUint(name, 10, 64)
	if name == sayName {
		node, err = sayNode, nil
	}
	if err != nil || node < sayNode || !s.attributes(node, &out.Attr) {
		return fuse.ENOENT
	}
	out.NodeId, out.Generation, out.EntryValid, out.AttrValid = node, 1, forever, forever
	return fuse.OK
}

func (s *server) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	if !s.attributes(in.NodeId, &out.Attr) {
		return fuse.ENOENT
	}
	out.AttrValid = forever
	return fuse.OK
}

func (s *server) SetAttr(c <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	return s.GetAttr(c, &fuse.GetAttrIn{InHeader: in.InHeader}, out)
}

func (s *server) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if in.NodeId == sayNode {
		s.mu.Lock()
		s.handles++
		out.Fh, out.OpenFlags = s.handles, fuse.FOPEN_DIRECT_IO
		s.mu.Unlock()
	}
	return fuse.OK
}

func (s *server) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	if in.NodeId == sayNode {
		s.mu.Lock()
		delete(s.answers, in.Fh)
		s.mu.Unlock()
	}
}

func (s *server) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	if in.NodeId == sayNode {
		return fuse.ReadResultData(s.answer(in.Fh, len(buf))), fuse.OK
	}
	d := s.find(in.NodeId)
	if d == nil {
		return nil, fuse.EIO
	}
	buf = buf[:max(min(int64(len(buf)), d.size-int64(in.Offset)), 0)]
	if !d.read(buf, int64(in.Offset)) {
		return nil, fuse.EIO
	}
	return fuse.ReadResultData(buf), fuse.OK
}

// answer takes up to n bytes of what a handle has not read yet.
func (s *server) answer(handle uint64, n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answers[handle]
	n = min(n, len(a))
	s.answers[handle] = a[n:]
	return a[:n]
}

func (s *server) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if in.NodeId == sayNode {
		return uint32(len(data)), s.takeLines(in.Fh, string(data))
	}
	d := s.find(in.NodeId)
	if d == nil ||
		!d.change(block.Op{Kind: block.Write, Offset: int64(in.Offset), Length: int64(len(data)), Data: data}) {
		return 0, fuse.EIO
	}
	return uint32(len(data)), fuse.OK
}

// takeLines takes lines that a program writes. The end of the last one may be left out.
func (s *server) takeLines(handle uint64, text string) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hear == nil {
		return fuse.OK
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		answer, why := s.hear(strings.TrimSpace(line))
		if why != "" {
			return fuse.EINVAL
		}
		if answer != "" {
			s.answers[handle] = append(s.answers[handle], answer+"\n"...)
		}
	}
	return fuse.OK
}

func (s *server) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	if !s.flushes {
		return fuse.ENOSYS // the kernel does not ask again
	}
	d := s.find(in.NodeId)
	if d == nil || !d.flush() {
		return fuse.EIO
	}
	return fuse.OK
}

func (s *server) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	d := s.find(in.NodeId)
	if d == nil {
		return fuse.EIO
	}
	if in.Mode&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) == 0 {
		return fuse.Status(unix.EOPNOTSUPP)
	}
	if !d.change(block.Op{Kind: block.Zero, Offset: int64(in.Offset), Length: int64(in.Length)}) {
		return fuse.EIO
	}
	return fuse.OK
}

func (s *server) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.NameLen = block.PageSize, 255
	return fuse.OK
}

// Flush is what the kernel sends when a file is closed, and does not send again.
func (s *server) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

func (s *server) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }
func (s *server) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status               { return fuse.OK }

// serve serves the file system that is, or is about to be, mounted by a descriptor of /dev/fuse. It
// returns when it is unmounted.
func (s *server) serve(fd int) error {
	f, err := fuse.NewServer(s, fmt.Sprintf("/dev/fd/%d", fd), &fuse.MountOptions{MaxWrite: 1 << 20, MaxBackground: 64})
	if err != nil {
		return err
	}
	f.Serve()
	return nil
}
