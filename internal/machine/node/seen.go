//go:build linux

package node

import (
	"fmt"
	"os"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// Others change the host while nodes run. A call that names a file of the host's is compared with
// what nodes were first shown by that name (internal/machine/hostfiles), just before Linux makes
// it. Where it is another one, the call is answered by what was there first, or the step fails with
// an ariadne.ChangedError.

// lstat is what a name of the node's tree stands for now.
func (n *Node) lstat(name string) (st unix.Stat_t) {
	if unix.Fstatat(n.home.view.root, name[1:], &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		st = unix.Stat_t{}
	}
	return st
}

// isAsFirst reports whether a name stands for what nodes were first shown. A link that is the same
// file leads to the same place.
func (n *Node) isAsFirst(f *hostfiles.Name) bool {
	st := n.lstat(f.Path)
	return f.Same(&st, f.Target)
}

// compare notes a way that is not what nodes were first shown.
func (n *Node) compare(w *way) {
	if n.step.changed != nil {
		return
	}
	for _, f := range w.on {
		if !n.isAsFirst(f) {
			changed := *w
			changed.other = f.Path
			n.step.changed = &changed
			return
		}
	}
}

// showInstead has the call that th stands in answered by what was there first, where its path is no
// longer what nodes were shown.
func (n *Node) showInstead(th *thread) {
	w := n.step.changed
	if w == nil {
		return
	}
	n.step.changed = nil
	first := w.e.first
	if first == nil { // what it leads to is the node's own, or a file that Ariadne has made
		n.failChanged(w.other)
	}
	now := n.lstat(first.Path)
	x := &kernel.Instead{Path: w.at, Stat: first.Stat, SameFile: w.other == first.Path &&
		first.SameFile(&now, first.Target), Link: w.link != nil, SameLink: w.link != nil && n.isAsFirst(w.link)}
	x.Content, _, _ = n.cfg.Seen.Content(w.at)
	switch sys.Instead(th.k, x) {
	case sys.ShowsFirst:
		n.k.Instead = x
	case sys.ShowsNow:
		n.failChanged(w.other)
	}
}

// failIfChanged ends the step when what it is about to use is no longer what nodes were first
// shown.
func (n *Node) failIfChanged() {
	if w := n.step.changed; w != nil {
		n.failChanged(w.at)
	}
}

// failChanged ends the step.
func (n *Node) failChanged(path string) {
	panic(toolError{&ariadne.ChangedError{Err: fmt.Errorf("file %s of the host has changed while the nodes were running, and what it was is not kept: begin again", path)}})
}

// opened looks at a file that a call has opened, and returns what nodes were first shown by its
// name; nil: it is none of the host's, or that is not known.
func (n *Node) opened(u kernel.UsedFile) *hostfiles.Name {
	if n.cfg.Seen == nil || u.Use != ariadne.FileRead && u.Use != ariadne.FileCode || len(u.Path) == 0 ||
		u.Path[0] != '/' || n.home.view.isOwn(u.Path) {
		return nil
	}
	first := n.walk(u.Path).e.first // the name of a program may lead through links
	if first == nil || u.Key.Dev == n.home.view.private {
		return nil
	}
	if u.Key.Dev != first.Stat.Dev || u.Key.Ino != first.Stat.Ino { // it has just changed
		n.failChanged(u.Path)
	}
	if n.k.Instead != nil {
		return first
	}
	n.cfg.Seen.Opened(first, func() []byte { return n.contentOf(first) })
	n.step.read = append(n.step.read, first.Path)
	return first
}

// contentOf reads a file of the host's; nil: it is not what nodes were first shown.
func (n *Node) contentOf(f *hostfiles.Name) []byte {
	fd, err := unix.Openat(n.home.view.root, f.Path[1:], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	file := os.NewFile(uintptr(fd), f.Path)
	defer file.Close()
	b := make([]byte, f.Stat.Size+1)
	k := 0
	for k < len(b) {
		m, err := file.ReadAt(b[k:], int64(k))
		if k += m; err != nil {
			break
		}
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || !f.SameFile(&st, "") || int64(k) != f.Stat.Size {
		return nil
	}
	return b[:k:k]
}

// holds notes that a program has mapped a file, or has it open when the step ends.
func (n *Node) holds(path string) {
	if n.cfg.Seen != nil {
		n.cfg.Seen.Hold(path)
	}
}

// compareRead looks, at the end of a step, at the files of the host's that it has opened: somebody
// may have written to them while the node read.
func (n *Node) compareRead() {
	if len(n.step.read) == 0 {
		return
	}
	for _, path := range n.step.read {
		first := n.cfg.Seen.Known(path)
		if st := n.lstat(path); first != nil && st.Dev == first.Stat.Dev && st.Ino == first.Stat.Ino &&
			(st.Size != first.Stat.Size || st.Mtim != first.Stat.Mtim) {
			n.failChanged(path)
		}
	}
	for _, p := range n.hostFiles() {
		if p.file.First == nil && p.file.Mode&unix.S_IFMT == unix.S_IFREG {
			n.holds(p.file.Path)
		}
	}
}

// copiedNow looks at a file of the host's of which the node has just been given a copy.
func (n *Node) copiedNow(shown string) {
	if n.cfg.Seen == nil {
		return
	}
	var st unix.Stat_t
	target, host := "", n.hostPath(shown)
	if unix.Lstat(host, &st) != nil {
		st = unix.Stat_t{}
	} else if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		target, _ = os.Readlink(host)
	}
	if first := n.cfg.Seen.Show(shown, &st, target); first != nil && !first.Same(&st, target) {
		n.failChanged(shown)
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		n.cfg.Seen.Opened(&hostfiles.Name{Path: shown, Stat: st}, func() []byte { return nil })
	}
}

// Lists implements sys.DirectoryAsker.
func (th *thread) Lists(dir string, dev uint64, now []kernel.Dirent) []kernel.Dirent {
	seen, view := th.n.cfg.Seen, th.n.home.view
	if seen == nil || view == nil || view.isOwn(dir) || dir == "/" {
		return now
	}
	entries := make([]hostfiles.Entry, len(now))
	for i, d := range now {
		entries[i] = hostfiles.Entry{Ino: d.Ino, Type: d.Type, Name: d.Name}
	}
	first, kept := seen.List(dir, entries)
	if !kept {
		return now
	}
	if dev == view.private { // it was put together for this node, and its files are numbered there
		return among(dir, now, first)
	}
	shown := make([]kernel.Dirent, len(first))
	for i, e := range first {
		shown[i] = kernel.Dirent{Ino: e.Ino, Type: e.Type, Name: e.Name}
	}
	return shown
}

// among are the entries that have the names of others.
func among(dir string, now []kernel.Dirent, first []hostfiles.Entry) (shown []kernel.Dirent) {
	have := map[string]kernel.Dirent{}
	for _, d := range now {
		have[d.Name] = d
	}
	for _, e := range first {
		d, ok := have[e.Name]
		if !ok {
			panic(toolError{&ariadne.ChangedError{Err: fmt.Errorf("file %s of the host is gone, of which a node was given a place of its own: begin again", strconv.Quote(dir+"/"+e.Name))}})
		}
		shown = append(shown, d)
	}
	return shown
}
