//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// server answers the kernel. A change is in the state at once, and on the disk after a sync.
type server struct {
	fuse.RawFileSystem
	mu      sync.Mutex
	disk    *device
	state   *state
	pending []change
}

// serve mounts the file system and serves it until it is unmounted. It says ready, or what is
// wrong, to descriptor 3.
func serve(name, dir, bug string) error {
	say := os.NewFile(3, "ready")
	s, err := newServer(name, bug)
	if err != nil {
		fmt.Fprintln(say, err)
		return err
	}
	f, err := fuse.NewServer(s, dir, &fuse.MountOptions{DirectMountStrict: true, AllowOther: true, FsName: "smallfs",
		DisableReadDirPlus: true})
	if err != nil {
		fmt.Fprintln(say, err)
		return err
	}
	io.WriteString(say, ready+"\n")
	say.Close()
	f.Serve()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.sync(0); err != nil {
		return err
	}
	return s.disk.checkpoint(s.state)
}

func newServer(name, bug string) (*server, error) {
	d, s, err := mountDevice(name, bug)
	if err != nil {
		return nil, err
	}
	return &server{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d, state: s}, nil
}

func (s *server) String() string { return "smallfs" }

// do makes a change that is not durable yet.
func (s *server) do(c change) {
	s.state.apply(c)
	s.pending = append(s.pending, c)
}

// sync makes changes durable: all of them, in order. of is an inode, or 0.
func (s *server) sync(of uint64) error {
	now, later := s.pending, []change(nil)
	if in := s.state.Inodes[of]; s.disk.bug == "lost-entry" && in != nil && !in.Dir {
		now = nil
		for _, c := range s.pending {
			if c.Name == "" {
				now = append(now, c)
			} else {
				later = append(later, c)
			}
		}
	}
	if len(now) == 0 {
		return s.disk.flush()
	}
	err := s.disk.commit(now)
	if err == unix.ENOSPC { // the journal is full
		err = s.disk.checkpoint(s.state)
		later = nil
	}
	if err == nil {
		s.pending = later
	}
	return err
}

// fill fills in what stat says.
func (s *server) fill(n uint64, in *inode, a *fuse.Attr) {
	a.Ino, a.Blksize = n, page
	if in.Dir {
		a.Mode, a.Nlink = unix.S_IFDIR|0o777, 2
		return
	}
	a.Mode, a.Nlink, a.Size = unix.S_IFREG|0o666, s.state.links(n), uint64(len(in.Data))
}

// entry answers with an inode.
func (s *server) entry(n uint64, out *fuse.EntryOut) fuse.Status {
	in := s.state.Inodes[n]
	if in == nil {
		return fuse.ENOENT
	}
	out.NodeId, out.Generation = n, 1
	s.fill(n, in, &out.Attr)
	return fuse.OK
}

func (s *server) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry(s.state.Inodes[h.NodeId].Entries[name], out)
}

func (s *server) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.state.Inodes[in.NodeId]
	if f == nil {
		return fuse.ENOENT
	}
	s.fill(in.NodeId, f, &out.Attr)
	return fuse.OK
}

func (s *server) SetAttr(c <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	if in.Valid&fuse.FATTR_SIZE != 0 {
		s.mu.Lock()
		s.do(change{Inode: in.NodeId, Size: int64(in.Size)})
		s.mu.Unlock()
	}
	return s.GetAttr(c, &fuse.GetAttrIn{InHeader: in.InHeader}, out)
}

// create makes a file.
func (s *server) create(dir uint64, name string, isDir bool) uint64 {
	n := s.state.Next
	s.do(change{Inode: n, Made: true, Dir: isDir, Size: -1})
	s.do(change{Inode: dir, Name: name, Entry: n})
	return n
}

func (s *server) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry(s.create(in.NodeId, name, true), out)
}

func (s *server) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if in.Mode&unix.S_IFMT != unix.S_IFREG {
		return fuse.EPERM
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entry(s.create(in.NodeId, name, false), out)
}

func (s *server) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out.OpenOut.OpenFlags = fuse.FOPEN_DIRECT_IO
	return s.entry(s.create(in.NodeId, name, false), &out.EntryOut)
}

func (s *server) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do(change{Inode: in.NodeId, Name: name, Entry: in.Oldnodeid})
	return s.entry(in.Oldnodeid, out)
}

func (s *server) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do(change{Inode: h.NodeId, Name: name})
	return fuse.OK
}

func (s *server) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.state.Inodes[h.NodeId].Entries[name]
	if below := s.state.Inodes[n].names(); len(below) > 0 {
		if s.disk.bug == "failed-call" {
			s.do(change{Inode: n, Name: below[0]})
		}
		return fuse.Status(unix.ENOTEMPTY)
	}
	s.do(change{Inode: h.NodeId, Name: name})
	return fuse.OK
}

func (s *server) Rename(_ <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Flags != 0 {
		return fuse.EINVAL
	}
	n := s.state.Inodes[in.NodeId].Entries[old]
	over := s.state.Inodes[s.state.Inodes[in.Newdir].Entries[name]]
	if over != nil && len(over.Entries) > 0 {
		return fuse.Status(unix.ENOTEMPTY)
	}
	s.do(change{Inode: in.Newdir, Name: name, Entry: n})
	s.do(change{Inode: in.NodeId, Name: old})
	return fuse.OK
}

func (s *server) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO
	return fuse.OK
}

func (s *server) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.state.Inodes[in.NodeId].Data
	n := copy(buf, data[min(int(in.Offset), len(data)):])
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

func (s *server) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := change{Inode: in.NodeId, Size: -1, At: int64(in.Offset), Data: append([]byte(nil), data...)}
	c.Append = s.disk.bug == "twice" && int(in.Offset) == len(s.state.Inodes[in.NodeId].Data)
	s.do(c)
	if in.Flags&unix.O_SYNC != 0 {
		return uint32(len(data)), fuse.ToStatus(s.sync(in.NodeId))
	}
	return uint32(len(data)), fuse.OK
}

func (s *server) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fuse.ToStatus(s.sync(in.NodeId))
}

func (s *server) FsyncDir(c <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return s.Fsync(c, in) }

func (s *server) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }

func (s *server) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.state.Inodes[in.NodeId]
	names := d.names()
	for i := int(in.Offset); i < len(names); i++ {
		mode := uint32(unix.S_IFREG)
		if n := d.Entries[names[i]]; s.state.Inodes[n].Dir {
			mode = unix.S_IFDIR
		}
		if !out.AddDirEntry(fuse.DirEntry{Name: names[i], Ino: d.Entries[names[i]], Mode: mode, Off: uint64(i + 1)}) {
			break
		}
	}
	return fuse.OK
}

func (s *server) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.NameLen, out.Blocks, out.Bfree, out.Bavail = page, 255, 256, 200, 200
	return fuse.OK
}

func (s *server) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (s *server) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }
