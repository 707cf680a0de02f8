//go:build linux

package node

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// Losses of power leave many images of a disk, and what is switched on again looks at a part of
// what is there. So each step says at what it has looked (ariadne.Look), and the machine that is
// down what there is to be seen: on two disks that are the same at these places it does the same,
// and memo lets one of them have the other's transitions.
//
// Paths are looked up as they lead at the time, and noted by where they end, without links. Places
// stand for what was there when the machine was switched on: what the node has done to its files
// since follows from what it has seen. A file that is opened counts as read as a whole, a directory
// as listed. What is renamed or linked counts as seen with all that is below, so it may be looked
// at by its new name. After anything that is not known here all has been seen.

// mostHeld bounds how many files the disks may hold of which this is known.
const mostHeld = 4096

// diskView is an ariadne.Disks. Those of one node share what is the same.
type diskView struct {
	rest ariadne.Digest
	dirs []string         // below which it knows all, as programs see them
	base map[string]*held // by path; not to be changed
	over map[string]*held // what is other than in base; nil: not there
}

// held is what there is to be seen of a name.
type held struct {
	name, stat, data, tree ariadne.Digest
}

// newDisk is what the machine's disks hold, which has just been switched off; nil: there is too
// much, or what it does may depend on how much room is left.
func (n *Node) newDisk() *diskView {
	k := n.k
	if d := &k.Files.Disk; d.Given || d.Full || d.Used() > d.Limit/4 {
		return nil
	}
	v := &diskView{rest: n.rest(sha256.Sum256(binary.AppendUvarint(nil, k.Files.Last()))), dirs: []string{"/node"}}
	for _, w := range n.cfg.Writable {
		v.dirs = append(v.dirs, path.Clean(w))
	}
	all := map[string]*held{}
	below := map[string][]string{} // names in directories, in order
	var names []string
	first := map[uint64]string{} // the first name of each file
	links, dirs := map[uint64]int{}, map[string]int{}
	n.files.Each(func(f filetree.Name, ino uint64, _ [32]byte) {
		if links[ino]++; f.Mode&unix.S_IFMT == unix.S_IFDIR {
			dirs["/"+path.Dir(f.Path)]++
		}
	})
	n.files.Each(func(f filetree.Name, ino uint64, sum [32]byte) {
		name := "/" + f.Path
		if !v.knows(name) || len(all) > mostHeld {
			return
		}
		key := inode.Key{Dev: k.Files.Private, Ino: ino}
		uid, gid := sys.Owner(&k.Files, key, f.UID, f.GID)
		h := &held{name: sha256.Sum256(fmt.Appendf(nil, "%o %d %d %q", f.Mode, uid, gid, f.Target)), data: sum}
		b := binary.AppendVarint(binary.AppendVarint(h.name[:], f.Size), int64(links[ino]))
		h.stat = sha256.Sum256(k.Files.Append(b, key))
		if f.Mode&unix.S_IFMT == unix.S_IFDIR {
			h.data = ariadne.Digest{}
		} else if links[ino] > 1 { // a change by one name is seen by the other
			if first[ino] == "" {
				first[ino] = name
			}
			h.data = sha256.Sum256(fmt.Appendf(h.data[:], "as %q", first[ino]))
		}
		all[name] = h
		dir := path.Dir(name)
		below[dir] = append(below[dir],
			fmt.Sprintf("%q %o %d", path.Base(name), f.Mode&unix.S_IFMT, k.Files.Number(key)))
		names = append(names, name)
	})
	if len(all) > mostHeld {
		return nil
	}
	for dir, list := range below {
		if h := all[dir]; h != nil {
			h.data = sha256.Sum256([]byte(strings.Join(list, "\n")))
			h.stat = sha256.Sum256(fmt.Appendf(h.stat[:], "%d", dirs[dir]))
		}
	}
	slices.Sort(names)
	for _, name := range slices.Backward(names) { // what is below comes behind
		h := all[name]
		h.tree = sha256.Sum256(fmt.Appendf(h.tree[:], "%x %x", h.stat, h.data))
		if up := all[path.Dir(name)]; up != nil {
			up.tree = sha256.Sum256(fmt.Appendf(up.tree[:], "%q %x", name, h.tree))
		}
	}
	n.home.shareDisk(v, all)
	return v
}

// shareDisk has v share what is as in an earlier view of the node.
func (h *home) shareDisk(v *diskView, all map[string]*held) {
	if h.disk != nil {
		v.base, v.over = h.disk, map[string]*held{}
		for name, now := range all {
			if was := v.base[name]; was == nil || *was != *now {
				v.over[name] = now
			}
		}
		for name := range v.base {
			if all[name] == nil {
				v.over[name] = nil
			}
		}
		if len(v.over) <= len(all)/4 {
			return
		}
	}
	v.base, v.over = maps.Clone(all), nil
	h.disk = v.base
}

// knows reports whether all is known that a path without links may lead to.
func (v *diskView) knows(name string) bool {
	for _, dir := range v.dirs {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// Rest implements ariadne.Disks.
func (v *diskView) Rest() ariadne.Digest { return v.rest }

// At implements ariadne.Disks.
func (v *diskView) At(l ariadne.Look) ariadne.Digest {
	h, changed := v.over[l.Path]
	if !changed {
		h = v.base[l.Path]
	}
	switch {
	case h == nil:
		return ariadne.Digest{}
	case l.Kind == ariadne.LookName:
		return h.name
	case l.Kind == ariadne.LookStat:
		return h.stat
	case l.Kind == ariadne.LookData:
		return h.data
	}
	return h.tree
}

// lookedAt is Output.Looks of the step that ends.
func (n *Node) lookedAt() []ariadne.Look {
	if n.step.looks == nil || n.disk == nil {
		return nil
	}
	if d := &n.k.Files.Disk; d.Used() > d.Limit/2 { // soon it may come to the end
		n.disk = nil
		return nil
	}
	all := make([]ariadne.Look, 0, len(n.step.looks))
	for l := range n.step.looks {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b ariadne.Look) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return int(a.Kind) - int(b.Kind)
	})
	return all
}

// looksAll notes that from here on all may have been seen.
func (n *Node) looksAll() { n.disk = nil }

// elsewhere are the directories of the node's own that are the same on all disks.
var elsewhere = []string{"/tmp", "/run", "/dev", "/proc", "/sys"}

// looksAt notes that something is seen of what a path without links stood for when the machine was
// switched on.
func (n *Node) looksAt(kind ariadne.LookKind, name string) {
	if n.disk == nil || n.step.looks == nil {
		return
	}
	if n.disk.knows(name) {
		n.step.looks[ariadne.Look{Kind: kind, Path: name}] = true
		return
	}
	for _, dir := range elsewhere {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			return
		}
	}
	if n.home.view.isOwn(name) && name != "/var/tmp" {
		n.looksAll()
	}
}

// lookUp notes that a path is looked up, and what is seen of where it ends: of a link that it
// names, and of what that leads to.
func (n *Node) lookUp(name string, kinds ...ariadne.LookKind) {
	if n.disk == nil {
		return
	}
	at, e, _ := n.follow(name)
	n.sees(at, e, kinds)
	name = strings.TrimRight(name, "/")
	if base := path.Base(name); name != "" && base != "." && base != ".." {
		dir, _, _ := n.follow(path.Dir(name))
		if place := path.Join(dir, base); place != at {
			n.sees(place, n.lookAt(place), kinds)
		}
	}
}

func (n *Node) sees(at string, e named, kinds []ariadne.LookKind) {
	if !n.home.view.isOwn(at) {
		return
	}
	for _, kind := range kinds {
		n.looksAt(kind, at)
	}
}

// lookProgram notes what Linux reads to execute a program.
func (n *Node) lookProgram(name string) {
	for range 5 { // as many as Linux follows
		if n.disk == nil {
			return
		}
		n.lookUp(name, ariadne.LookStat, ariadne.LookData)
		at, e, _ := n.follow(name)
		if e.mode&unix.S_IFMT != unix.S_IFREG {
			return
		}
		if name = n.interpreter(at); name == "" {
			if e.own && n.isScript(at) { // its interpreter is looked up from the working directory
				n.looksAll()
			}
			return
		}
	}
}

// isScript reports whether a file names an interpreter.
func (n *Node) isScript(name string) bool {
	fd, err := unix.Openat(n.home.view.root, name[1:], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var head [2]byte
	k, _ := unix.Pread(fd, head[:], 0)
	return k == 2 && head == [2]byte{'#', '!'}
}

// lookCall notes what the call that th stands in is about to look at.
func (n *Node) lookCall(th *thread) {
	nr, a := th.k.Call.NR, &th.k.Call.Args
	see := func(kinds ...ariadne.LookKind) {
		sys.Paths(th.k, func(name string, _ bool) { n.lookUp(name, kinds...) })
	}
	opened := func(flags uint64) {
		if flags&unix.O_TRUNC != 0 && flags&unix.O_PATH == 0 {
			see(ariadne.LookStat)
			return
		}
		see(ariadne.LookStat, ariadne.LookData)
	}
	switch nr {
	case unix.SYS_OPEN:
		opened(a[1])
	case unix.SYS_CREAT:
		opened(unix.O_TRUNC)
	case unix.SYS_OPENAT:
		opened(a[2])
	case unix.SYS_OPENAT2, unix.SYS_TRUNCATE, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_UNLINKAT:
		see(ariadne.LookStat, ariadne.LookData)
	case unix.SYS_EXECVE, unix.SYS_EXECVEAT:
		sys.Paths(th.k, func(name string, _ bool) { n.lookProgram(name) })
		if nr == unix.SYS_EXECVEAT && a[4]&unix.AT_EMPTY_PATH != 0 {
			n.looksAll()
		}
	case unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINK:
		see(ariadne.LookTree)
	case unix.SYS_LINKAT:
		if a[4] != 0 { // of what is open, perhaps
			n.looksAll()
		}
		see(ariadne.LookTree)
	case unix.SYS_CHROOT, unix.SYS_PIVOT_ROOT, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_QUOTACTL, unix.SYS_SETNS:
		n.looksAll()
	case unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR,
		// Which file changes others see by another name that it has.
		unix.SYS_CHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT,
		unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_UTIMENSAT:
		see(ariadne.LookStat)
	case unix.SYS_ACCESS, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_CHDIR, unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_MKNOD, unix.SYS_MKNODAT,
		unix.SYS_SYMLINK, unix.SYS_SYMLINKAT, unix.SYS_READLINK, unix.SYS_READLINKAT, unix.SYS_STATFS:
		see(ariadne.LookName)
	default:
		if sys.NamesFiles(nr) {
			see(ariadne.LookStat, ariadne.LookData)
		}
	}
}

// rest is over what is left of the machine besides its files, and a digest of these.
func (n *Node) rest(disk ariadne.Digest) ariadne.Digest {
	k := n.k
	if k.Drift != (kernel.Drift{}) {
		disk = sha256.Sum256(fmt.Appendf(disk[:], "%+v", k.Drift))
	}
	d := &k.Files.Disk
	return sha256.Sum256(fmt.Appendf(disk[:], "%d %d %d %d %d %v %v %q", k.Said, k.Boots, k.MonoBase, k.RealBase,
		d.Limit, d.Full, k.Files.Owned(), dialog.EpochOf(k).Env()))
}
