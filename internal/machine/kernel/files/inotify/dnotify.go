package inotify

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// Signals about directories are older than inotify, and sent for the same events (fcntl(2), "File
// and directory change notification"). One is asked for by a process, as far as that is a table of
// descriptors, and an open directory; it goes with any descriptor of that which the process closes.

// Bits of F_NOTIFY's argument.
const (
	dnAccess    = 1 << 0
	dnModify    = 1 << 1
	dnCreate    = 1 << 2
	dnDelete    = 1 << 3
	dnRename    = 1 << 4
	dnAttrib    = 1 << 5
	dnMultishot = 1 << 31
)

// directory is who wants signals about one.
type directory struct {
	watch
	of     *kernel.OpenFile
	table  *kernel.FDTable
	fd     int
	rename bool // within the directory, which is no event of inotify's
	stays  bool
}

func init() {
	kernel.Register("inotify", kernel.Hooks{DescriptorClosed: EndSignals})
}

// SignalDirectory asks for signals about a directory that t has open by fd; what was asked for
// before stays.
func SignalDirectory(t *kernel.Thread, of *kernel.OpenFile, key inode.Key, fd int, arg uint32) {
	n := t.Node()
	if of.Owner == 0 {
		of.Owner = t.Proc.PID
	}
	s := states.Of(n)
	i := slices.IndexFunc(s.directories, func(d *directory) bool { return d.of == of && d.table == t.FDs() })
	if i < 0 {
		// The last one who has asked is the first to be told.
		s.directories, i = slices.Insert(s.directories, 0,
			&directory{watch: watch{key: n.Files.First(key)}, of: of, table: t.FDs()}), 0
		s.watches++
	}
	d := s.directories[i]
	d.fd = fd
	d.rename = d.rename || arg&dnRename != 0
	d.stays = d.stays || arg&dnMultishot != 0
	for bit, mask := range map[uint32]uint32{dnAccess: unix.IN_ACCESS, dnModify: unix.IN_MODIFY,
		dnAttrib: unix.IN_ATTRIB,
		dnCreate: unix.IN_CREATE | unix.IN_MOVED_TO, dnDelete: unix.IN_DELETE | unix.IN_MOVED_FROM} {
		if arg&bit != 0 {
			d.mask |= mask
		}
	}
}

// EndSignals ends those of an open directory that a table has lost a descriptor of.
func EndSignals(n *kernel.Node, table *kernel.FDTable, of *kernel.OpenFile) {
	s := states.Peek(n)
	if s == nil || len(s.directories) == 0 {
		return
	}
	before := len(s.directories)
	s.directories = slices.DeleteFunc(s.directories, func(d *directory) bool { return d.of == of && d.table == table })
	s.watches -= before - len(s.directories)
}

// signal tells who wants a signal of an event at a directory.
func signal(n *kernel.Node, key inode.Key, wanted func(*directory) bool) {
	const pollMsg, epollMsg = 3, 0x400
	s := states.Of(n)
	for _, d := range slices.Clone(s.directories) {
		if d.key != key || !wanted(d) {
			continue
		}
		if !d.stays {
			s.directories = slices.DeleteFunc(s.directories, func(x *directory) bool { return x == d })
			s.watches--
		}
		d.of.Signal(n, d.fd, pollMsg, kernel.In|kernel.RdNorm|epollMsg)
	}
}

func signalEvent(n *kernel.Node, key inode.Key, mask uint32) {
	signal(n, key, func(d *directory) bool { return d.mask&mask != 0 })
}

// TellRenamed tells that a name has been changed within a directory.
func TellRenamed(n *kernel.Node, dir inode.Key) {
	signal(n, n.Files.First(dir), func(d *directory) bool { return d.rename })
}
