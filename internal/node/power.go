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

	"ariadne"
	"ariadne/internal/disk"
	"ariadne/internal/filetree"
	"ariadne/internal/kernel/dialog"
	"ariadne/internal/kernel/inode"
	"ariadne/internal/sys"

	"golang.org/x/sys/unix"
)

// What is on the disk is a part of what differs between two places, so before each sync the power may go, if
// there is something then that it would take. Nothing else can: a crash or a stop takes nothing with it.

// lossPoint is a place at which the power could go, or the beginning of a step.
type lossPoint struct {
	log *disk.Log
	// seen: since then something has happened that others can see, or that stays.
	seen bool
}

// LosesPower implements sys.PowerAsker: a sync is a place of the step, in the midst of the call that makes it.
func (th *thread) LosesPower(file string) bool {
	n, log := th.n, th.n.k.Files.Log
	n.hearStaying()
	if s := &n.step; log.Durable() || !s.since.seen && s.since.log == log || s.over() || s.down == ariadne.Paused || dialog.Spared(n.k) {
		return false
	}
	losses := slices.DeleteFunc(slices.Clone(n.outages), func(a string) bool { return ariadne.KindOf(a) != ariadne.PowerLost.String() })
	if losses = n.possibleNow(losses); len(losses) == 0 {
		return false
	}
	n.step.since = lossPoint{log: log}
	taken := n.step.course.At(th.k.TID, callName(th.k.Call.NR)+"/sync", file, losses)
	if taken == "" {
		return false
	}
	n.happens(taken)
	return true
}

// stored reports whether something was stored through mappings, where nothing else has happened in the
// step yet.
func (n *Node) stored() bool {
	files := &n.k.Files
	return len(files.Stored) > 0 && files.Log != n.step.since.log && !files.Log.Durable()
}

// losePower leaves on the machine's disks what a loss of power may leave of what was not synced.
// Which of the images that is, is a place of the step.
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
			n.foresee(l, others, which)
		}
	}
	n.comeTo(l, which)
}

// loss is one of power: what it may leave.
type loss struct {
	log    *disk.Log
	images *disk.Images
}

// comeTo leaves on the disks what is in an image, and says what that is.
func (n *Node) comeTo(l *loss, which int) {
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

// foresee finds out what each of the images but the first would have come to, of which one was asked for. Who explores takes the others
// next, and to come here once more may take as long as all that the program has done.
func (n *Node) foresee(l *loss, others []string, asked int) {
	k := n.k
	messages, logs, exits, refusals := k.Out, k.Logs, k.Exits, k.Refusals
	k.Out, k.Logs, k.Exits, k.Refusals = nil, nil, nil, nil
	n.captureFiles()
	before, then := k.Image(), n.files
	for i, taken := range others {
		if i+1 == asked {
			continue
		}
		n.comeTo(l, i+1)
		n.step.ways = append(n.step.ways, otherwise{taken, n.step.content, n.step.lost, n.disk})
		must(n.home.tree.Restore(then))
		n.files, k.Files = then, before.Copy().Files
		k.Files.Recreated = n.home.tree.Recreated()
	}
	k.Out, k.Logs, k.Exits, k.Refusals = messages, logs, exits, refusals
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
		as.Digest = as.Sum(n.step.stream.sum)
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
	a := &image{n: n, log: log, stash: openPlace(unix.AT_FDCWD, path.Join(base, stash)), at: map[uint64]int{}, moved: map[uint64]bool{}}
	defer func() {
		for _, fd := range a.at {
			unix.Close(fd)
		}
		unix.Close(a.stash)
		must(os.RemoveAll(path.Join(base, stash)))
	}()
	a.find(base, dirs, img)
	for _, x := range img.Names {
		a.take(x)
	}
	for _, x := range img.Names {
		if x.Ino != 0 {
			a.put(x)
		}
	}
	for i := range img.Files {
		a.change(&img.Files[i])
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
func (a *image) touch(fd int) (st unix.Stat_t) {
	if err := unix.Fstat(fd, &st); err != nil {
		must(fmt.Errorf("stat of a file of an image: %w", err))
	}
	a.n.k.Files.Dirty[inode.Key{Dev: st.Dev, Ino: st.Ino}] = true
	return st
}

// take takes the name away, if it stands for anything.
func (a *image) take(x disk.Name) {
	dir, ok := a.at[x.Dir]
	if !ok {
		return
	}
	fd := openPlace(dir, x.Name)
	if fd < 0 {
		return
	}
	defer unix.Close(fd)
	a.touch(dir)
	st := a.touch(fd)
	number := a.n.k.Files.Number(inode.Key{Dev: st.Dev, Ino: st.Ino})
	var err error
	if a.moved[number] {
		err = unix.Unlinkat(dir, x.Name, 0)
	} else {
		err = unix.Renameat(dir, x.Name, a.stash, strconv.FormatUint(number, 10))
	}
	if err != nil {
		must(fmt.Errorf("image: take away %q: %w", x.Name, err))
	}
	a.moved[number] = true
}

// put makes the name stand for its inode.
func (a *image) put(x disk.Name) {
	fd := a.revived(x.Ino)
	dir := a.revived(x.Dir)
	st := a.touch(fd)
	a.touch(dir)
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = moveDir(fd, dir, x.Name)
	} else {
		err = unix.Linkat(unix.AT_FDCWD, fdName(fd), dir, x.Name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		must(fmt.Errorf("image: name %q: %w", x.Name, err))
	}
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

// revived is an inode of the image; when it is gone it is made again, as it was when the power went.
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
	st := a.touch(fd)
	a.n.k.Files.Revive(number, inode.Key{Dev: st.Dev, Ino: st.Ino})
	a.setAttr(fd, &st, attr)
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		a.write(fd, size, []disk.Extent{{Bytes: data}})
	}
	return fd
}

// lastOf is what an inode without a name was at the end of the log: what it was when it lost its last
// name, and what was done to it afterwards by those who had it open.
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

// change gives a file its content and its attributes. The log does not say of all files that they have lost
// their last name: some did so before it began. What has its name of the image alone was put there.
func (a *image) change(f *disk.File) {
	fd, ok := a.at[f.Ino]
	if !ok {
		return
	}
	st := a.touch(fd)
	files, key := &a.n.k.Files, inode.Key{Dev: st.Dev, Ino: st.Ino}
	if st.Mode&unix.S_IFMT == unix.S_IFREG && (f.Size >= 0 || len(f.Data) > 0) {
		a.write(fd, f.Size, f.Data)
	}
	if f.Attr != nil {
		a.setAttr(fd, &st, *f.Attr)
		t := files.Times(key)
		t.Access, t.Modify = f.Attr.Access, f.Attr.Modify
		files.SetTimes(key, t)
	}
	for _, x := range f.Xattrs {
		if x.Gone {
			files.RemoveXattr(key, x.Name)
		} else {
			files.SetXattr(key, x.Name, string(x.Value), false, false)
		}
	}
}

func (a *image) write(fd int, size int64, data []disk.Extent) {
	f, err := filetree.Open(fdName(fd))
	must(err)
	defer f.Close()
	if size >= 0 {
		must(f.Truncate(size))
	}
	for _, x := range data {
		if _, err := f.WriteAt(x.Bytes, x.Offset); err != nil {
			must(err)
		}
	}
	st := a.touch(fd)
	a.n.k.Files.Disk.Holds(inode.Key{Dev: st.Dev, Ino: st.Ino}, st.Size)
}

// setAttr gives a file its mode and its owner.
func (a *image) setAttr(fd int, st *unix.Stat_t, attr disk.Attr) {
	files, key := &a.n.k.Files, inode.Key{Dev: st.Dev, Ino: st.Ino}
	owned := func() bool {
		uid, gid := sys.Owner(files, key, st.Uid, st.Gid)
		return uid == attr.UID && gid == attr.GID
	}
	if os.Geteuid() == 0 && !owned() {
		must(unix.Fchownat(fd, "", int(attr.UID), int(attr.GID), unix.AT_EMPTY_PATH))
		*st = a.touch(fd)
	}
	if !owned() {
		files.SetOwner(key, int(attr.UID), int(attr.GID))
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		must(unix.Chmod(fdName(fd), attr.Mode&0o7777))
		files.NoteMode(key, attr.Mode)
	}
}

// Log is all that has been done to the files on the machine's disks, when it was asked for (Config.Logs).
func (n *Node) Log() *disk.Log {
	sys.EnterStores(n.k)
	return n.k.Files.Log
}
