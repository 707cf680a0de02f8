//go:build linux

// Package hostfiles keeps what nodes were first shown of the host's files: what a name stands for,
// what a directory holds, what small files contain. While a check runs others install packages, add
// users and edit files. Nodes are shown what was there first, so each execution sees the same host.
//
// It looks at no file by itself: its caller does, and tells it the result. It is no copy of the
// host either. It does not keep large files, or too many, and says of these only that they have
// changed.
//
// Invariants: what is first stays first. Any number of goroutines may use a Seen.
//
// Read next: internal/machine/node/asked.go, which shows; internal/system/files.go, which names
// what was shown by digests.
package hostfiles

import (
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

const (
	// MaxContent is the largest content that is kept of one file, in bytes.
	MaxContent = 256 << 10
	// maxContents bounds all that is kept.
	maxContents = 32 << 20
	// maxNames bounds how many names are known, and how many stand in all listings.
	maxNames = 1 << 17
)

// Name is what a name stood for when a node was first shown it. It does not change.
type Name struct {
	Path   string      // as nodes see it, without links
	Stat   unix.Stat_t // Mode 0: nothing was there
	Target string      // of a link
}

// Same reports whether a name stands for what it did: for the same file or directory, which looks
// the same. The content of a directory does not matter here, nor does the time of its change.
func (n *Name) Same(st *unix.Stat_t, target string) bool {
	return n.SameFile(st, target) && (st.Mode&unix.S_IFMT != unix.S_IFREG || n.Stat.Nlink == st.Nlink)
}

// SameFile is Same, except that a file may have got further names, or have lost some, elsewhere.
// Only stat(2) shows that.
func (n *Name) SameFile(st *unix.Stat_t, target string) bool {
	was := &n.Stat
	if was.Mode == 0 || st.Mode == 0 {
		return was.Mode == st.Mode
	}
	same := was.Dev == st.Dev && was.Ino == st.Ino && was.Mode == st.Mode && was.Uid == st.Uid && was.Gid == st.Gid &&
		n.Target == target
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK: // another link may have the number of the one that went
		return same && was.Mtim == st.Mtim
	case unix.S_IFREG:
	default:
		return same
	}
	return same && was.Size == st.Size && was.Mtim == st.Mtim
}

// Entry is a name in a directory.
type Entry struct {
	Ino  uint64
	Type uint8 // DT_REG and the like
	Name string
}

// Seen is what the nodes of a system were first shown.
type Seen struct {
	mu    sync.Mutex
	names map[string]*Name
	files map[string]*file
	lists map[string][]Entry
	room  int // taken by contents
	count int // of names in listings
}

// file is a file that a node has opened.
type file struct {
	content []byte // nil: not kept
	digest  ariadne.Digest
	// held: a node has it open between two steps, or mapped. A write to the file then changes
	// what the node reads.
	held bool
}

// New returns what nodes were shown who were shown nothing yet.
func New() *Seen {
	return &Seen{names: map[string]*Name{}, files: map[string]*file{}, lists: map[string][]Entry{}}
}

// Show returns what a name stood for when a node was first shown it. If none was, that is now.
// nil: there are too many names.
func (s *Seen) Show(path string, now *unix.Stat_t, target string) *Name {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.names[path]; first != nil {
		return first
	}
	if len(s.names) >= maxNames {
		return nil
	}
	first := &Name{Path: path, Stat: *now, Target: target}
	s.names[path] = first
	return first
}

// Known returns what a name stood for when a node was first shown it, or nil: none was.
func (s *Seen) Known(path string) *Name {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[path]
}

// Opened enters that a node has opened the file of a known name. read, which may be called, returns
// the content of the file, or nil when it is another one by now. more: nobody had opened it.
func (s *Seen) Opened(n *Name, read func() []byte) (more bool) {
	s.mu.Lock()
	f := s.files[n.Path]
	full := s.room+int(n.Stat.Size) > maxContents
	s.mu.Unlock()
	if f != nil {
		return false
	}
	f = &file{}
	if n.Stat.Size <= MaxContent && !full {
		if f.content = read(); f.content != nil {
			f.digest = sha256.Sum256(f.content)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[n.Path] != nil {
		return false
	}
	s.files[n.Path] = f
	s.room += len(f.content)
	return true
}

// Content returns what a file contained, if that was kept.
func (s *Seen) Content(path string) (content []byte, digest ariadne.Digest, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil && f.content != nil {
		return f.content, f.digest, true
	}
	return nil, digest, false
}

// Hold enters that a node reads a file without opening it again.
func (s *Seen) Hold(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[path]; f != nil {
		f.held = true
	}
}

// List returns what a directory held first: what it holds now when no node was shown it yet. kept:
// it is known from now on.
func (s *Seen) List(path string, now []Entry) (first []Entry, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first, kept = s.lists[path]; kept {
		return first, true
	}
	if s.count+len(now) > maxNames {
		return now, false
	}
	s.count += len(now)
	s.lists[path] = slices.Clone(now)
	return s.lists[path], true
}

// Listing returns what a directory held when a node was first shown it.
func (s *Seen) Listing(path string) (entries []Entry, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, ok = s.lists[path]
	return entries, ok
}

// Safe reports whether a change of a file is none to the nodes: whenever one asks, it is shown what
// was there first, or its step fails. look is lstat of a path.
func (s *Seen) Safe(of ariadne.File, look func(path string) (unix.Stat_t, error)) bool {
	s.mu.Lock()
	n, f := s.names[of.Path], s.files[of.Path]
	_, listed := s.lists[of.Path]
	kept := f != nil && f.content != nil && !f.held
	s.mu.Unlock()
	switch of.Use {
	case ariadne.FileList:
		return listed
	case ariadne.FileRead, ariadne.FileCode:
		if n == nil || f == nil {
			return false
		}
		if kept && of.Use == ariadne.FileRead {
			return true
		}
		// A file that has taken the place of another one changes nothing for those who have that
		// open.
		st, err := look(of.Path)
		return err != nil || st.Dev != n.Stat.Dev || st.Ino != n.Stat.Ino
	}
	return n != nil
}

// Leaked returns the files whose content nodes may have read after it was changed, in order.
func (s *Seen) Leaked(look func(path string) (unix.Stat_t, error)) (paths []string) {
	s.mu.Lock()
	var open []*Name
	for path, f := range s.files {
		if n := s.names[path]; n != nil && (f.content == nil || f.held) {
			open = append(open, n)
		}
	}
	s.mu.Unlock()
	for _, n := range open {
		st, err := look(n.Path)
		if err == nil && st.Dev == n.Stat.Dev && st.Ino == n.Stat.Ino &&
			(st.Size != n.Stat.Size || st.Mtim != n.Stat.Mtim) {
			paths = append(paths, n.Path)
		}
	}
	slices.Sort(paths)
	return paths
}
