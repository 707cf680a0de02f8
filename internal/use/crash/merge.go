//go:build linux

package crash

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// placeKind says what of a file a checker has seen.
type placeKind uint8

const (
	// nameOf is what a name stands for: its type, mode, owner and target, or that it is none
	nameOf placeKind = iota
	// statOf is what else stat says: of the times only that of modification, and not of a
	// directory; no numbers
	statOf
	dataOf // the bytes of a file
	listOf // the names in a directory, and of which type each is
	treeOf // all of it, with all that is below
)

// place is something of an image that a checker may look at, by a path from the home without links.
type place struct {
	kind placeKind
	name string
}

// sight is an image that is asked for what is at places.
type sight struct {
	tree  *tree
	seen  map[place]string
	links map[uint64][]string // all names of files that have several
}

func newSight(t *tree) *sight { return &sight{tree: t, seen: map[place]string{}} }

// at is what is at a place: the same text for the same.
func (s *sight) at(p place) string {
	text, ok := s.seen[p]
	if !ok {
		text = s.look(p)
		s.seen[p] = text
	}
	return text
}

func (s *sight) look(p place) string {
	f := s.tree.find(home + "/" + p.name)
	if f == nil {
		return ""
	}
	switch p.kind {
	case nameOf:
		return fmt.Sprintf("%o %d %d %d %q", f.attr.Mode, f.attr.UID, f.attr.GID, f.attr.Rdev, f.target)
	case statOf:
		if f.directory() { // its size and its links
			return fmt.Sprintf("%d %d %q", f.names.len(), f.names.directories(), f.xattrs)
		}
		return fmt.Sprintf("%d %d %q %q", f.data.len(), f.attr.Modify, s.linked()[f.id], f.xattrs)
	case dataOf:
		if f.data.len() == 0 {
			return "."
		}
		sum := f.data.hash() // it is known since the image is
		return string(sum[:])
	case listOf:
		_, listed := f.names.sums() // likewise
		return string(listed.append([]byte(".")))
	}
	sum := f.sum()
	modified := sha256.Sum256(f.modified(nil))
	text := string(sum[:]) + string(modified[:])
	var links []string // also from elsewhere
	for _, names := range s.linked() {
		if slices.ContainsFunc(names, func(name string) bool {
			return name == "/"+p.name || strings.HasPrefix(name, "/"+p.name+"/")
		}) {
			links = append(links, fmt.Sprintf("%q", names))
		}
	}
	slices.Sort(links)
	return text + strings.Join(links, " ")
}

// modified appends the times of modification of a file and of what is below it, but of directories.
func (f *file) modified(b []byte) []byte {
	if !f.directory() {
		return binary.AppendVarint(b, f.attr.Modify)
	}
	for _, g := range f.names.each() {
		b = g.modified(b)
	}
	return b
}

// linked are the names of files that have several.
func (s *sight) linked() map[uint64][]string {
	if s.links == nil {
		s.links = s.tree.find(home).linked()
	}
	return s.links
}

// merged are runs of a checker by what they have seen, so that an image is known that another one
// was like wherever the checker has looked. A node is what has been seen so far; most have one
// place that is looked at next.
type merged struct {
	mu    sync.Mutex
	roots map[string]*branch // by what the checker is told
	runs  int
	found int
	off   bool
}

type branch struct {
	verdict *verdict
	next    []*fork
}

type fork struct {
	place place
	to    map[string]*branch // by what is there
}

// worthwhile is how many runs are watched before it counts whether images are known.
const worthwhile = 64

// watching reports whether runs are to be watched: they take longer then. It is given up when few
// images are known by it.
func (m *merged) watching() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.off && (m.runs < worthwhile || m.found*8 >= m.runs)
}

// stop has no further run watched.
func (m *merged) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.off = true
}

// find is the verdict on an image that is the same wherever a run has looked, or nil.
func (m *merged) find(told string, s *sight) *verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.roots[told].find(s)
	if v != nil {
		m.found++
	}
	return v
}

func (b *branch) find(s *sight) *verdict {
	if b == nil || b.verdict != nil {
		if b == nil {
			return nil
		}
		return b.verdict
	}
	for _, f := range b.next {
		if v := f.to[s.at(f.place)].find(s); v != nil {
			return v
		}
	}
	return nil
}

// add enters what a run has seen of an image, and its verdict.
func (m *merged) add(told string, s *sight, places []place, v *verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs++
	if m.roots == nil {
		m.roots = map[string]*branch{}
	}
	b := m.roots[told]
	if b == nil {
		b = &branch{}
		m.roots[told] = b
	}
	for _, p := range places {
		i := slices.IndexFunc(b.next, func(f *fork) bool { return f.place == p })
		if i < 0 {
			i = len(b.next)
			b.next = append(b.next, &fork{p, map[string]*branch{}})
		}
		at := s.at(p)
		if b.next[i].to[at] == nil {
			b.next[i].to[at] = &branch{}
		}
		b = b.next[i].to[at]
	}
	b.verdict = v
}
