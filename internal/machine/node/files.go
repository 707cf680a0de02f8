//go:build linux

package node

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// The file tree shows the state of one copy of the node at a time, home.shows.
// Before another copy runs, what the first one changed is captured and the other's
// state restored. A node that is never copied pays nothing.

// versions are what a node holds that its copies show by turns, as of when it was last captured.
type versions struct {
	files   *filetree.State // nil: it never was
	offsets []offset        // of open host files
	shared  sharedMemory
	// orphans are System V segments whose processes were killed, by what they hold.
	orphans sharedMemory
	// private is what is in private mappings of files of the node's own.
	private privateMemory
}

// showFiles makes the tree show n's files.
func (n *Node) showFiles() {
	h := n.home
	if h.shows == n {
		return
	}
	if h.shows != nil {
		h.shows.captureFiles()
		h.shows = nil // should n be lost, it shows no one's
	}
	if n.files != nil {
		must(h.tree.Restore(n.files))
		n.enterRecreated()
		n.restoreShared()
		n.restorePrivate()
		n.restoreOffsets()
	}
	h.shows = n
}

// showsFilesOf reports whether the file tree shows the node's files, and these and all positions in
// them are the same as in another state of the node. Of shared memory that is not known.
func (n *Node) showsFilesOf(s *state) bool {
	files := &n.k.Files
	return n.home.shows == n && !n.k.SharesMemory && !n.paging.filesMayDiffer() &&
		n.files != nil && n.files == s.files && slices.Equal(n.offsets, s.offsets) &&
		len(files.Dirty) == 0 && len(n.storable()) == 0 && !n.holdsMapped()
}

// enterRecreated brings n's processes into the directories that were made anew, for
// those that the program removed after n was frozen.
func (n *Node) enterRecreated() {
	n.k.Files.Recreated = n.home.tree.Recreated()
	if len(n.k.Files.Recreated) == 0 {
		return
	}
	gone := map[uint64]string{} // what the removed ones are called in this state
	for _, ino := range n.k.Files.Recreated {
		if name, ok := n.files.Name(ino); ok {
			gone[ino] = "/" + name
		}
	}
	for _, p := range n.processes() {
		var st unix.Stat_t
		must(unix.Stat(fmt.Sprintf("/proc/%d/cwd", p.threads[0].tr.TID), &st))
		name := gone[st.Ino]
		if root := p.threads[0].k.Proc.Root; root != "" {
			must(n.sameRoot(p.threads[0], gone))
			name = strings.TrimPrefix(name, root)
		}
		if name == "" || st.Dev != n.k.Files.Private {
			continue
		}
		if p.fork == nil {
			must(fmt.Errorf("%w: %s was removed while a process that stands in no call works there, and cannot be brought back", ariadne.ErrLost, name))
		}
		if e := p.fork.WriteMem(area.Scratch, append([]byte(name), 0)); e != 0 {
			must(fmt.Errorf("scratch memory: %w", e))
		}
		n.inject(p.fork, unix.SYS_CHDIR, area.Scratch)
	}
	for _, p := range n.hostFiles() {
		if name := gone[p.file.Ino]; name != "" && p.file.Dev == n.k.Files.Private {
			must(fmt.Errorf("%w: %s was removed while it is open here, and cannot be brought back", ariadne.ErrLost, name))
		}
	}
}

// sameRoot sees that the root directory of a process is none of those that were removed.
func (n *Node) sameRoot(th *thread, gone map[uint64]string) error {
	var st unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/root", th.tr.TID), &st); err != nil {
		return err
	}
	if name := gone[st.Ino]; name != "" && st.Dev == n.k.Files.Private {
		return fmt.Errorf("%w: %s was removed while it is the root directory of a process, and cannot be brought back", ariadne.ErrLost, name)
	}
	return nil
}

// captureFiles notes the state of n's files, which the tree shows, and of what is shown with them.
func (n *Node) captureFiles() {
	n.captureTree()
	n.captureShared()
	n.capturePrivate()
	if n.paging.filesMayDiffer() {
		n.saveOffsets()
	}
}

// captureTree notes what the tree shows.
func (n *Node) captureTree() {
	h := n.home
	if h.tree == nil {
		n.openTree()
	}
	files := &n.k.Files
	if n.files != nil && len(files.Dirty) == 0 && len(n.storable()) == 0 && !n.holdsMapped() {
		return
	}
	n.adoptNameless()
	n.adoptMapped()
	var changed map[uint64]bool
	if n.files != nil {
		changed = map[uint64]bool{}
		for _, set := range []map[inode.Key]bool{files.Dirty, n.storable()} {
			for key := range set {
				changed[n.treeID(key)] = true
			}
		}
	}
	s, fresh, err := h.tree.Capture(changed)
	must(err)
	for _, ino := range fresh {
		files.Hidden[inode.Key{Dev: files.Private, Ino: ino}] = true
	}
	n.files = s
	clear(files.Dirty)
}

// openTree finds the directories that are the node's own.
func (n *Node) openTree() {
	n.findPrivate()
	base, dirs := n.ownFiles()
	var err error
	n.home.tree, err = filetree.New(base, dirs, path.Join(".ariadne", hiddenNames))
	must(err)
}

// findPrivate finds out on which device the node's own files are.
func (n *Node) findPrivate() {
	base, _ := n.ownFiles()
	var st unix.Stat_t
	must(unix.Stat(base, &st))
	n.k.Files.Private = st.Dev
}

// countCopies enters what the node was given copies of as used room on its disk.
func (n *Node) countCopies() {
	if n.cfg.WorkDir == "" && len(n.cfg.Writable) == 0 {
		return
	}
	base, dirs := n.ownFiles()
	for _, dir := range dirs {
		must(filepath.WalkDir(path.Join(base, dir), func(_ string, e os.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			if err == nil {
				st := info.Sys().(*syscall.Stat_t)
				n.k.Files.Disk.Keep(inode.Key{Dev: st.Dev, Ino: st.Ino}, st.Size, false)
			}
			return err
		}))
	}
}

// ownCopies notes who owns what the node was given copies of. With root they really belong to the
// owners of the originals; an ordinary user cannot give files away.
func (n *Node) ownCopies() {
	if os.Geteuid() == 0 || n.cfg.User != 0 {
		return
	}
	for _, w := range n.cfg.Writable {
		from, err := filepath.EvalSymlinks(w)
		if err != nil {
			continue // the host has none
		}
		// What cannot be read was not copied either.
		_ = filepath.WalkDir(from, func(name string, _ os.DirEntry, err error) error {
			if err != nil {
				return nil
			}
			var host, own unix.Stat_t
			if unix.Lstat(name, &host) != nil ||
				unix.Fstatat(n.home.view.root, name[1:], &own, unix.AT_SYMLINK_NOFOLLOW) != nil {
				return nil
			}
			uid, gid := int(host.Uid), int(host.Gid)
			if uid == os.Geteuid() {
				uid = 0
			}
			if gid == os.Getegid() {
				gid = 0
			}
			if uid != 0 || gid != 0 {
				n.k.Files.SetOwner(inode.Key{Dev: own.Dev, Ino: own.Ino}, uid, gid)
			}
			return nil
		})
	}
}

// fixedFiles are the inode numbers of those of the node's own files that it cannot change, as
// /etc/hosts, by name.
func (n *Node) fixedFiles() map[string]uint64 {
	if n.home.fixed != nil {
		return n.home.fixed
	}
	base, dirs := n.ownFiles()
	n.home.fixed = map[string]uint64{}
	must(filepath.WalkDir(base+"/.", func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return &os.PathError{Op: "lstat", Path: name, Err: err}
		}
		name = path.Clean(name)[len(base):]
		if n.home.fixed[name] = st.Ino; name == "" {
			return nil
		}
		if own := name[1:]; slices.Contains(dirs, own) || own == path.Join(".ariadne", hiddenNames) {
			return fs.SkipDir
		}
		return nil
	}))
	return n.home.fixed
}

// hiddenNames is the directory of names that the node does not see, which keep files for earlier
// states. The content of a file there belongs to no state.
const hiddenNames = "hidden"

// ownFiles returns the root of the node's own files and the directories below it that
// the node may write.
func (n *Node) ownFiles() (base string, dirs []string) {
	// The descriptor keeps the mount when the processes are gone.
	base = fmt.Sprintf("/proc/self/fd/%d", n.home.treeFD.Fd())
	dirs = []string{"node", "tmp", "run", "dev/shm"}
	over, err := os.ReadDir(path.Join(base, ".ariadne"))
	must(err)
	for _, d := range over {
		if d.IsDir() && d.Name() != "tree" && d.Name() != hiddenNames {
			dirs = append(dirs, path.Join(".ariadne", d.Name()))
		}
	}
	for _, w := range n.cfg.Writable {
		w = strings.Trim(path.Clean(w), "/")
		if info, err := os.Lstat(path.Join(base, w)); err == nil && info.IsDir() && !below(w, dirs) {
			dirs = append(dirs, w)
		}
	}
	return base, dirs
}

// below reports whether the path lies in one of dirs.
func below(name string, dirs []string) bool {
	for _, d := range dirs {
		if name == d || strings.HasPrefix(name, d+"/") {
			return true
		}
	}
	return false
}

// place says through which thread an open host file is reached.
type place struct {
	th    *thread
	fd    int
	file  *kernel.HostFile
	flags int // of the open file
}

// hostFiles lists the node's open host files, each open file description once.
func (n *Node) hostFiles() []place {
	seen := map[*kernel.OpenFile]bool{}
	tables := map[*kernel.FDTable]bool{}
	var list []place
	for _, p := range n.processes() {
		th := p.threads[0]
		fds := th.k.Proc.FDs
		if th.k.Proc.Dead || tables[fds] {
			continue
		}
		tables[fds] = true
		for _, fd := range fds.Numbers() {
			of := fds.Get(fd)
			h, ok := of.File.(*kernel.HostFile)
			if ok && !seen[of] && of.Flags&unix.O_PATH == 0 {
				seen[of] = true
				list = append(list, place{th, fd, h, of.Flags})
			}
		}
	}
	return list
}

// adoptNameless lets the tree follow files that are open and have no name in it:
// deleted ones, memory files.
func (n *Node) adoptNameless() {
	for _, p := range n.hostFiles() {
		key := p.file.Key()
		id := n.treeID(key)
		if p.file.Mode&unix.S_IFMT != unix.S_IFREG || n.home.tree.Follows(id) || n.readOnly(key) {
			continue
		}
		fd, e := p.th.HostFD(p.fd)
		if e != 0 {
			must(fmt.Errorf("descriptor %d: %w", p.fd, e))
		}
		var st unix.Stat_t
		must(unix.Fstat(fd, &st))
		if key.Dev != n.k.Files.Private || st.Nlink == 0 { // else Capture will find its name
			f, err := openAgain(fd)
			must(err)
			n.home.tree.Adopt(id, f)
		}
		unix.Close(fd)
	}
}

// treeID is how the tree knows a file: files of its own by their inode number,
// memory files, whose numbers are their own, by one that no tmpfs gives.
func (n *Node) treeID(key inode.Key) uint64 {
	if key.Dev == n.k.Files.Private {
		return key.Ino
	}
	return key.Ino | inMemory
}

// inMemory is set in the numbers by which the tree knows memory files.
const inMemory = 1 << 63

// readOnly reports whether a file is the host's.
func (n *Node) readOnly(key inode.Key) bool {
	return key.Dev != n.k.Files.Private && !n.k.Files.Written(key) && !n.k.Files.Mapped[key]
}

// offset is where an open file stands, and its status flags.
type offset struct {
	pid, fd int
	at      int64
	flags   int
}

// saveOffsets notes the position of each open host file: copies share them.
func (n *Node) saveOffsets() {
	n.offsets = n.offsets[:0:0]
	for _, p := range n.hostFiles() {
		fd, e := p.th.HostFD(p.fd)
		if e != 0 {
			must(fmt.Errorf("descriptor %d: %w", p.fd, e))
		}
		at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		if err != nil {
			at = -1
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		unix.Close(fd)
		must(err)
		n.offsets = append(n.offsets, offset{p.th.k.Proc.PID, p.fd, at, flags})
	}
	sort.Slice(n.offsets, func(i, j int) bool {
		a, b := n.offsets[i], n.offsets[j]
		return a.pid < b.pid || a.pid == b.pid && a.fd < b.fd
	})
	n.paging.filesAreKnown()
}

// restoreOffsets brings the open host files back to where they stood.
func (n *Node) restoreOffsets() {
	byPID := map[int]*thread{}
	for _, p := range n.processes() {
		byPID[p.threads[0].k.Proc.PID] = p.threads[0]
	}
	for _, o := range n.offsets {
		th := byPID[o.pid]
		fd, e := th.HostFD(o.fd)
		if e != 0 {
			must(fmt.Errorf("descriptor %d: %w", o.fd, e))
		}
		if o.at >= 0 {
			_, err := unix.Seek(fd, o.at, unix.SEEK_SET)
			must(err)
		}
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, o.flags)
		unix.Close(fd)
		must(err)
	}
	n.paging.filesAreKnown()
}

// hideFiles leaves the file tree to others if it shows n's files. n's state is about to be lost.
func (n *Node) hideFiles() {
	if n.home.shows != n {
		return
	}
	if n.home.users > 1 {
		n.captureTree() // the others' states are told from this one
	}
	n.home.shows = nil
}
