//go:build linux

package node

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// What is on the disk is a part of what differs between two places, so before each sync the power
// may go, if there is something then that it would take. Nothing else can: a crash or a stop takes
// nothing with it.

// lossPoint is a place at which the power could go, or the beginning of a step.
type lossPoint struct {
	log *disk.Log
	// seen: since then something has happened that others can see, or that stays.
	seen bool
}

// LosesPower implements sys.PowerAsker: a sync is a place of the step, in the midst of the call
// that makes it.
func (th *thread) LosesPower(file string) bool {
	n, log := th.n, th.n.k.Files.Log
	n.hearStaying()
	if s := &n.step; log.Durable() || !s.since.seen && s.since.log == log || s.over() || s.down == ariadne.Paused ||
		dialog.Spared(n.k) {
		return false
	}
	losses := n.among(func(f ariadne.NodeFault) bool { return ariadne.OutageOf(f).Down == ariadne.PowerLost })
	if losses = n.possibleNow(losses); len(losses) == 0 {
		return false
	}
	n.step.since = lossPoint{log: log}
	taken := n.step.course.At(th.k.TID, callName(th.k.Call.NR)+"/sync", file, losses)
	if taken == "" {
		return false
	}
	n.applyAlternative(taken)
	return true
}

// stored reports whether something was stored through mappings, where nothing else has happened in
// the step yet.
func (n *Node) stored() bool {
	files := &n.k.Files
	return len(files.Stored) > 0 && files.Log != n.step.since.log && !files.Log.Durable()
}

// losePower leaves on the machine's disks what a loss of power may leave of what was not synced.
// The choice of the image is a place of the step.
func (n *Node) losePower() {
	files, how := &n.k.Files, n.cfg.Faults.Power
	l := &loss{log: files.Lose()}
	l.images = how.Model.Images(l.log, disk.Choice{Limit: how.Images, Alone: how.Alone})
	which := 0
	if len(l.images.Lost) > 1 {
		var others []string
		for i := 2; i <= len(l.images.Lost); i++ {
			others = append(others, ariadne.DiskImage+":"+strconv.Itoa(i))
		}
		taken := n.step.course.At(0, ariadne.DiskImage, "", others)
		if which = slices.Index(others, taken) + 1; which > 0 && n.ahead && !n.step.drawn {
			n.formOtherImages(l, others, which)
		}
	}
	n.comeToImage(l, which)
}

// loss is one of power: what it may leave.
type loss struct {
	log    *disk.Log
	images *disk.Images
}

// comeToImage leaves on the disks what is in an image, and says what that is.
func (n *Node) comeToImage(l *loss, which int) {
	n.step.lost = l.images.Words(which)
	n.step.left = l.images.LeftOut()
	if len(l.images.Lost) > 0 {
		n.applyImage(l.log, l.images.Image(which))
	}
	n.settleDisk()
}

// otherwise is what the step would have come to with another image.
type otherwise struct {
	taken   string
	content ariadne.Digest
	lost    []string
	disks   *diskView
}

// formOtherImages reports what the step would have led to with each image but the first, when an
// image was asked for. A search takes the other images next. To reach this place once more may take
// as long as everything that the program has done.
func (n *Node) formOtherImages(l *loss, others []string, asked int) {
	k := n.k
	messages, told, exits, refusals := k.Out, k.Told, k.Exits, k.Refusals
	k.Out, k.Told, k.Exits, k.Refusals = nil, kernel.Told{}, nil, nil
	n.captureFiles()
	before, then := k.Image(), n.files
	for i, taken := range others {
		if i+1 == asked {
			continue
		}
		n.comeToImage(l, i+1)
		n.step.ways = append(n.step.ways, otherwise{taken, n.step.content, n.step.lost, n.disk})
		must(n.home.tree.Restore(then))
		n.files, k.Files = then, before.Copy().Files
		k.Files.Recreated = n.home.tree.Recreated()
	}
	k.Out, k.Told, k.Exits, k.Refusals = messages, told, exits, refusals
}

// othersOf are outputs of the step that ends had it taken another image.
func (n *Node) othersOf(out *ariadne.Output) (all []ariadne.Output) {
	for _, o := range n.step.ways {
		as := *out
		as.Places = slices.Clone(out.Places)
		as.Places[len(as.Places)-1].Taken = o.taken
		as.Content, as.Lost = o.content, o.lost
		if as.Disks = nil; o.disks != nil {
			as.Disks = o.disks
		}
		as.Digest = as.Sum(n.step.stream.value())
		all = append(all, as)
	}
	return all
}

// image is what an image is applied to: the files of the node's own on its machine's disks.
type image struct {
	n     *Node
	log   *disk.Log
	stash int             // a directory for what has no name for the moment
	at    map[uint64]int  // inodes of the image, by number, as places that are open
	moved map[uint64]bool // those that are in the stash
}

// applyImage makes the node's files what they are in an image. No process of the node lives.
func (n *Node) applyImage(log *disk.Log, img *disk.Image) {
	base, dirs := n.ownFiles()
	const stash = ".ariadne/stash"
	must(os.MkdirAll(path.Join(base, stash), 0o700))
	a := &image{n: n, log: log, stash: openPlace(unix.AT_FDCWD, path.Join(base, stash)), at: map[uint64]int{},
		moved: map[uint64]bool{}}
	defer func() {
		for _, fd := range a.at {
			unix.Close(fd)
		}
		unix.Close(a.stash)
		must(os.RemoveAll(path.Join(base, stash)))
	}()
	a.find(base, dirs, img)
	if err := img.Apply(a); err != nil {
		must(fmt.Errorf("image: %w", err))
	}
}

// openPlace opens what a name stands for as a place; -1: there is no such name.
func openPlace(dir int, name string) int {
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return -1
	}
	if err != nil {
		must(&fs.PathError{Op: "open", Path: name, Err: err})
	}
	return fd
}

// find opens the inodes of the image that are there. It does so before any name is taken away: then
// paths lead elsewhere, since whole directories move.
func (a *image) find(base string, dirs []string, img *disk.Image) {
	wanted := map[uint64]bool{}
	for _, x := range img.Names {
		wanted[x.Dir], wanted[x.Ino] = true, true
	}
	for i := range img.Files {
		wanted[img.Files[i].Ino] = true
	}
	delete(wanted, 0)
	files := &a.n.k.Files
	for _, dir := range dirs {
		must(filepath.WalkDir(path.Join(base, dir), func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st unix.Stat_t
			if err := unix.Lstat(name, &st); err != nil {
				return &fs.PathError{Op: "lstat", Path: name, Err: err}
			}
			number := files.Number(inode.Key{Dev: st.Dev, Ino: st.Ino})
			if wanted[number] {
				a.at[number] = openPlace(unix.AT_FDCWD, name)
				delete(wanted, number)
			}
			return nil
		}))
	}
}

// touch looks at an open place, and marks it as changed.
func (a *image) touch(fd int) (st unix.Stat_t, key inode.Key) {
	if err := unix.Fstat(fd, &st); err != nil {
		must(fmt.Errorf("stat of a file of an image: %w", err))
	}
	key = inode.Key{Dev: st.Dev, Ino: st.Ino}
	a.n.k.Files.Dirty[key] = true
	return st, key
}

// Unname implements disk.Files.
func (a *image) Unname(in uint64, name string) error {
	dir, ok := a.at[in]
	if !ok {
		return nil
	}
	fd := openPlace(dir, name)
	if fd < 0 {
		return nil
	}
	defer unix.Close(fd)
	a.touch(dir)
	_, key := a.touch(fd)
	number := a.n.k.Files.Number(key)
	var err error
	if a.moved[number] {
		err = unix.Unlinkat(dir, name, 0)
	} else {
		err = unix.Renameat(dir, name, a.stash, strconv.FormatUint(number, 10))
	}
	if err != nil {
		return fmt.Errorf("take away %q: %w", name, err)
	}
	a.moved[number] = true
	return nil
}

// Name implements disk.Files.
func (a *image) Name(in uint64, name string, ino uint64) error {
	fd := a.revived(ino)
	dir := a.revived(in)
	st, _ := a.touch(fd)
	a.touch(dir)
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = moveDir(fd, dir, name)
	} else {
		err = unix.Linkat(unix.AT_FDCWD, fdName(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		return fmt.Errorf("name %q: %w", name, err)
	}
	return nil
}

// moveDir gives a directory another name, wherever it is.
func moveDir(fd, dir int, name string) error {
	above, err := os.Open(fdName(fd) + "/..")
	if err != nil {
		return err
	}
	defer above.Close()
	var st, at unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	list, err := above.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, old := range list {
		if unix.Fstatat(int(above.Fd()), old, &at, unix.AT_SYMLINK_NOFOLLOW) == nil && at.Ino == st.Ino {
			return unix.Renameat(int(above.Fd()), old, dir, name)
		}
	}
	return unix.ENOENT
}

func fdName(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// revived is an inode of the image; when it is gone it is made again, as it was when the power
// went.
func (a *image) revived(number uint64) int {
	if fd, ok := a.at[number]; ok {
		return fd
	}
	attr, size, data, target := lastOf(a.log, number)
	name := strconv.FormatUint(number, 10)
	var err error
	switch kind := attr.Mode & unix.S_IFMT; kind {
	case unix.S_IFDIR:
		err = unix.Mkdirat(a.stash, name, 0o700)
	case unix.S_IFLNK:
		err = unix.Symlinkat(target, a.stash, name)
	case unix.S_IFREG, unix.S_IFIFO, unix.S_IFSOCK:
		err = unix.Mknodat(a.stash, name, kind|0o600, 0)
	default:
		err = fmt.Errorf("no operation says what inode %d was", number)
	}
	if err != nil {
		must(fmt.Errorf("image: make inode %d: %w", number, err))
	}
	fd := openPlace(a.stash, name)
	a.at[number], a.moved[number] = fd, true
	st, key := a.touch(fd)
	a.n.k.Files.Revive(number, key)
	must(a.SetAttr(number, attr))
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		must(a.SetContent(number, size, []disk.Extent{{Bytes: data}}))
	}
	return fd
}

// lastOf is what an inode without a name was at the end of the log: what it was when it lost its
// last name, and what was done to it afterwards by those who had it open.
func lastOf(l *disk.Log, number uint64) (attr disk.Attr, size int64, data []byte, target string) {
	for _, op := range l.Ops() {
		switch {
		case op.Kind == disk.Unlink && op.Ino == number && op.Links == 0 ||
			op.Kind == disk.Rename && op.Over == number && op.OverLinks == 0:
			attr, size, data, target = op.OldAttr, op.OldSize, op.Old, op.Target
		case op.Ino != number || attr.Mode == 0:
		case op.Kind == disk.SetAttr:
			attr = op.Attr
		case op.Kind < disk.Create:
			data = op.Apply(data)
			size = int64(len(data))
		}
	}
	return
}

// SetContent implements disk.Files. The log does not say of all files that they have lost their
// last name: some did so before it began. They are not there, and nothing is done to them here or
// below.
func (a *image) SetContent(ino uint64, size int64, data []disk.Extent) error {
	fd, ok := a.at[ino]
	if !ok {
		return nil
	}
	f, err := filetree.Open(fdName(fd))
	if err != nil {
		return err
	}
	defer f.Close()
	if size >= 0 {
		if err := f.Truncate(size); err != nil {
			return err
		}
	}
	for _, x := range data {
		if _, err := f.WriteAt(x.Bytes, x.Offset); err != nil {
			return err
		}
	}
	st, key := a.touch(fd)
	a.n.k.Files.Disk.Holds(key, st.Size)
	return nil
}

// SetAttr implements disk.Files.
func (a *image) SetAttr(ino uint64, attr disk.Attr) error {
	fd, ok := a.at[ino]
	if !ok {
		return nil
	}
	st, key := a.touch(fd)
	files := &a.n.k.Files
	owned := func() bool {
		uid, gid := sys.Owner(files, key, st.Uid, st.Gid)
		return uid == attr.UID && gid == attr.GID
	}
	if os.Geteuid() == 0 && !owned() {
		if err := unix.Fchownat(fd, "", int(attr.UID), int(attr.GID), unix.AT_EMPTY_PATH); err != nil {
			return fmt.Errorf("owner: %w", err)
		}
		st, _ = a.touch(fd)
	}
	if !owned() {
		files.SetOwner(key, int(attr.UID), int(attr.GID))
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		if err := unix.Chmod(fdName(fd), attr.Mode&0o7777); err != nil {
			return fmt.Errorf("mode: %w", err)
		}
		files.NoteMode(key, attr.Mode)
	}
	t := files.Times(key)
	t.Access = attr.Access
	files.SetTimes(key, t)
	return nil
}

// SetXattr implements disk.Files.
func (a *image) SetXattr(ino uint64, x disk.Xattr) error {
	fd, ok := a.at[ino]
	if !ok {
		return nil
	}
	_, key := a.touch(fd)
	if x.Gone {
		a.n.k.Files.RemoveXattr(key, x.Name)
	} else {
		a.n.k.Files.SetXattr(key, x.Name, string(x.Value), false, false)
	}
	return nil
}

// SetModified implements disk.Files.
func (a *image) SetModified(ino uint64, by *disk.Op) error {
	if fd, ok := a.at[ino]; ok {
		_, key := a.touch(fd)
		a.n.k.Files.Retime(key, by)
	}
	return nil
}

// Log is all that has been done to the files on the machine's disks, when it was asked for
// (Config.Logs).
func (n *Node) Log() *disk.Log {
	sys.EnterStores(n.k)
	return n.k.Files.Log
}
