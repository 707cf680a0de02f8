//go:build linux

package node

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// What a node does depends not only on the files that it opens: that there is none of a
// name, where a link leads and what a directory holds are answers of the host too. So
// each path that a call names is followed here component by component, as Linux does,
// and each step on the way is told once. That costs nothing when the path was followed
// before, because what a node cannot write does not change under it.

// hostView is what the copies of a node know of their file tree in common.
type hostView struct {
	root    int    // the node's root directory
	private uint64 // the device of its own files
	own     []string
	// links: there may be symbolic links among its own files, which lead to the host's.
	links bool
	names map[string]named  // what the node cannot write, by path without links
	asked map[askedPath]way // paths that were followed and go nowhere else
	needs map[string]string // programs to the interpreter that they name, or ""
	sought
}

// maxAsked bounds hostView.asked: programs may make up names.
const maxAsked = 1 << 17

type askedPath struct {
	name string
	stat bool
}

// named is what a name stands for.
type named struct {
	mode   uint32 // 0: nothing
	dev    uint64
	target string // of a link
	own    bool
	first  *hostfiles.Name // as nodes were first shown it; nil: it is the node's own, or not known
}

// ownDirs are the directories of every node that tell nothing of the host's.
var ownDirs = []string{"/node", "/tmp", "/run", "/var/tmp", "/dev", "/proc", "/sys", "/.ariadne"}

// learnt is what a step has learnt of the host's files.
type learnt struct {
	files  []ariadne.File  // that were not told before
	opened map[string]bool // by path, that it has opened or run so far
	// that the call under way is about, and that is no longer what nodes were first shown
	changed *way
	read    []string // paths of those that it has opened, and that Linux reads
}

// openedFiles is how many files it has opened or run so far.
func (l *learnt) openedFiles() int { return len(l.opened) }

// learns adds what a step of a copy has learnt.
func (l *learnt) learns(of *learnt) { l.files = append(l.files, of.files...) }

// openView looks at the tree that the process pid has built.
func (n *Node) openView(pid int) error {
	if n.home.view != nil {
		return nil
	}
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the root directory: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(root, &st); err != nil {
		unix.Close(root)
		return fmt.Errorf("look at the root directory: %w", err)
	}
	v := &hostView{root: root, private: st.Dev, names: map[string]named{}, asked: map[askedPath]way{},
		needs: map[string]string{}}
	n.home.view = v
	v.own = slices.Concat(ownDirs, n.cfg.Writable)
	for i, dir := range v.own {
		v.own[i] = path.Clean(dir)
	}
	for _, dir := range v.own {
		if at, _, _ := n.follow(dir); at != dir { // by links on the way
			v.own = append(v.own, at)
		}
	}
	n.copied()
	return nil
}

// isOwn reports whether a path without links lies in what the node may write, or is made
// by Ariadne.
func (v *hostView) isOwn(name string) bool {
	for _, dir := range v.own {
		if strings.HasPrefix(name, dir) && (len(name) == len(dir) || name[len(dir)] == '/') {
			return true
		}
	}
	return false
}

// ask notes what the node learns by looking up a path. stat: of its size and links too.
func (n *Node) ask(name string, stat bool) {
	v := n.home.view
	n.seek(name)
	if !v.links && v.isOwn(name) && !strings.Contains(name, "..") {
		return
	}
	key := askedPath{name, stat}
	w, known := v.asked[key]
	if !known {
		w = n.walk(name)
		if w.fixed {
			if len(v.asked) > maxAsked {
				clear(v.asked)
			}
			v.asked[key] = w
		}
		if e := &w.e; stat && e.mode != 0 && !e.own && !(e.dev == v.private && e.mode&unix.S_IFMT == unix.S_IFREG) {
			n.reportFile(ariadne.File{Path: w.at, Use: ariadne.FileStat})
		}
	}
	n.compare(&w)
}

// way is where a path leads.
type way struct {
	at    string // without links
	e     named
	fixed bool              // the node cannot change that
	on    []*hostfiles.Name // what of the host's lies on it: the links, and the end
	link  *hostfiles.Name   // what its last name is, when that is a link of the host's
	// which of these names is not what nodes were first shown (Node.compare)
	other string
}

// follow tells of each name on the way of a path, and returns where it ends, without
// links, or what is missing.
func (n *Node) follow(name string) (at string, e named, fixed bool) {
	w := n.walk(name)
	return w.at, w.e, w.fixed
}

// walk is follow with all of the way.
func (n *Node) walk(name string) (w way) {
	w = way{at: "/", e: named{mode: unix.S_IFDIR, dev: n.home.view.private}, fixed: true}
	ended := func() way {
		if w.e.first != nil {
			w.on = append(w.on, w.e.first)
		}
		return w
	}
	for links := 0; ; {
		name = strings.TrimLeft(name, "/")
		if name == "" {
			return ended()
		}
		part, rest, _ := strings.Cut(name, "/")
		name = rest
		switch part {
		case ".":
			continue
		case "..":
			w.at = path.Dir(w.at)
			continue
		}
		next := w.at + "/" + part
		if w.at == "/" {
			next = "/" + part
		}
		w.e = n.lookAt(next)
		w.fixed = w.fixed && !w.e.own
		switch {
		case w.e.mode == 0:
			w.at = next
			return ended()
		case w.e.mode&unix.S_IFMT == unix.S_IFLNK:
			if links++; links > 40 {
				w.at = next
				return ended()
			}
			if f := w.e.first; f != nil {
				w.on = append(w.on, f)
				if strings.Trim(rest, "/") == "" && w.link == nil {
					w.link = f
				}
			}
			if path.IsAbs(w.e.target) {
				w.at = "/"
			}
			name = w.e.target + "/" + name
			continue
		}
		w.at = next
	}
}

// lookAt looks at a name whose directory is given without links.
func (n *Node) lookAt(name string) named {
	v := n.home.view
	e, known := v.names[name]
	if known {
		return e
	}
	var st unix.Stat_t
	e.own = v.isOwn(name)
	if unix.Fstatat(v.root, name[1:], &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		e.mode, e.dev = st.Mode, st.Dev
	}
	if e.mode&unix.S_IFMT == unix.S_IFLNK {
		var b [unix.PathMax]byte
		if l, err := unix.Readlinkat(v.root, name[1:], b[:]); err == nil {
			e.target = string(b[:l])
		}
	}
	if e.own {
		n.looksAt(ariadne.LookName, name)
	} else {
		if n.cfg.Seen != nil && !(e.mode != 0 && e.dev == v.private) {
			if e.first = n.cfg.Seen.Show(name, &st, e.target); e.first != nil {
				e.mode, e.dev, e.target = e.first.Stat.Mode, e.first.Stat.Dev, e.first.Target
			}
		}
		v.names[name] = e
		n.reportFile(ariadne.File{Path: name, Use: ariadne.FileName})
	}
	return e
}

// reportFile enters an answer of the host's files into the step's output, once.
func (n *Node) reportFile(f ariadne.File) {
	if len(n.home.told) > maxAsked {
		clear(n.home.told) // what is told twice does no harm
	}
	if !n.home.told[f] {
		n.home.told[f] = true
		n.step.files = append(n.step.files, f)
	}
}

// askCall notes what the call that th stands in is about to look up.
func (n *Node) askCall(th *thread) {
	nr := th.k.Call.NR
	if n.disk != nil {
		n.lookCall(th)
	}
	if !sys.NamesFiles(nr) {
		return
	}
	switch nr {
	case unix.SYS_SYMLINK, unix.SYS_SYMLINKAT:
		n.home.view.links = true
	case unix.SYS_EXECVE, unix.SYS_EXECVEAT:
		sys.Paths(th.k, func(name string, _ bool) { n.askProgram(name) })
		return
	}
	sys.Paths(th.k, n.ask)
}

// askProgram notes what Linux looks up to execute a program: its interpreter, and what
// that one needs.
func (n *Node) askProgram(name string) {
	v := n.home.view
	for range 5 { // as many as Linux follows
		w := n.walk(name)
		n.compare(&w)
		at, e := w.at, w.e
		if e.mode&unix.S_IFMT != unix.S_IFREG {
			return
		}
		needs, known := v.needs[at]
		if !known {
			needs = n.interpreter(at)
			if !e.own {
				v.needs[at] = needs
				n.reportFile(ariadne.File{Path: at, Use: ariadne.FileRead})
			}
		}
		if needs == "" {
			return
		}
		name = needs
	}
}

// interpreter is the program by which Linux runs another one, if there is any: that of a
// script, or the loader.
func (n *Node) interpreter(name string) string {
	fd, err := unix.Openat(n.home.view.root, name[1:], unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	head := make([]byte, 256) // as much as Linux looks at
	k, _ := f.ReadAt(head, 0)
	if line, ok := bytes.CutPrefix(head[:k], []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		if words := strings.Fields(string(line)); len(words) > 0 && path.IsAbs(words[0]) {
			return words[0]
		}
		return ""
	}
	p, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	for _, s := range p.Progs {
		if s.Type == elf.PT_INTERP && s.Filesz < unix.PathMax {
			b := make([]byte, s.Filesz)
			if _, err := s.ReadAt(b, 0); err == nil {
				return string(bytes.TrimRight(b, "\x00"))
			}
		}
	}
	return ""
}

// copied tells of all that the node was given a copy of: its directory, and what it may
// write besides.
func (n *Node) copied() {
	if n.cfg.WorkDir != "" {
		n.copiedFrom(n.cfg.WorkDir)
	}
	for _, w := range n.cfg.Writable {
		n.copiedFrom(w)
	}
}

func (n *Node) copiedFrom(dir string) {
	// What cannot be read was not copied either.
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		shown := p
		if rel, err := filepath.Rel(n.cfg.SpecDir, p); err == nil && filepath.IsLocal(rel) {
			shown = path.Join("/spec", rel)
		}
		if p != dir && !n.cfg.Beside.Copied(filepath.Dir(p))(filepath.Base(p)) {
			if d != nil && d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		n.reportFile(ariadne.File{Path: shown, Use: ariadne.FileName})
		n.copiedNow(shown)
		switch {
		case d == nil:
		case d.IsDir():
			n.reportFile(ariadne.File{Path: shown, Use: ariadne.FileList})
		case d.Type().IsRegular():
			n.reportFile(ariadne.File{Path: shown, Use: ariadne.FileCode})
		case d.Type()&os.ModeSymlink != 0:
			n.home.view.links = true
		}
		return nil
	})
}

// takeUsed takes what the handler of a call has used and asked, as far as it is the
// host's.
func (n *Node) takeUsed() {
	v, k := n.home.view, n.k
	for _, name := range k.Asked {
		n.ask(name, false)
		n.lookUp(name, ariadne.LookStat)
	}
	if w := n.step.changed; w != nil {
		n.failChanged(w.at)
	}
	for _, u := range k.Used {
		if u.Held {
			n.holds(u.Path)
			continue
		}
		first := n.opened(u)
		if u.Use == ariadne.FileRead || u.Use == ariadne.FileCode {
			if n.step.opened == nil {
				n.step.opened = map[string]bool{}
			}
			n.step.opened[u.Path] = true
		}
		if u.Use == ariadne.FileList {
			n.seekIn(u.Path)
		}
		f := ariadne.File{Path: u.Path, Use: u.Use}
		if n.home.told[f] || !path.IsAbs(u.Path) || v.isOwn(u.Path) {
			continue
		}
		var st unix.Stat_t
		if first != nil && k.Instead != nil {
			n.reportFile(f)
			continue
		}
		// A directory that is shown entry by entry is listed as the host's all the same.
		if u.Use == ariadne.FileList || unix.Stat(n.hostPath(u.Path), &st) == nil && u.Key.Dev == st.Dev &&
			u.Key.Ino == st.Ino {
			n.reportFile(f)
		}
	}
	k.Used, k.Asked = k.Used[:0], k.Asked[:0]
}

// Shows implements sys.DirectoryAsker: files beside the spec show as the spec says. Directories
// that the node may write show all that the node makes there.
func (th *thread) Shows(dir string) func(string) bool {
	m := th.n.cfg.Machine
	rel, ok := strings.CutPrefix(dir, "/spec")
	ok = ok && (rel == "" || rel[0] == '/')
	for _, w := range m.Writable {
		w = path.Clean(w)
		ok = ok && dir != w && !strings.HasPrefix(dir, w+"/")
	}
	if !ok {
		return func(string) bool { return true }
	}
	return m.Beside.Shown(filepath.Join(m.SpecDir, rel))
}

// hostPath is where a file lies that the node sees at name.
func (n *Node) hostPath(name string) string {
	if rel, ok := strings.CutPrefix(name, "/spec"); ok && (rel == "" || rel[0] == '/') {
		return filepath.Join(n.cfg.SpecDir, rel)
	}
	return name
}
