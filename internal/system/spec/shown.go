package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Listings are the names that directories beside the spec held when somebody first looked
// at them. Nodes find no others for as long as the same Listings are in use: a file that
// somebody makes meanwhile, and that no node asks for by its name, changes nothing.
type Listings struct {
	mu   sync.Mutex
	dirs map[string]map[string]bool // by path on the host
}

// Hold enters what a directory held at another time.
func (l *Listings) Hold(dir string, names []string) {
	held := map[string]bool{}
	for _, n := range names {
		held[n] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dirs == nil {
		l.dirs = map[string]map[string]bool{}
	}
	l.dirs[dir] = held
}

// in returns what a directory held, and looks when nobody has. nil: it cannot be read.
func (l *Listings) in(dir string) map[string]bool {
	if held := l.known(dir); held != nil {
		return held
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	held := map[string]bool{}
	for _, e := range entries {
		held[e.Name()] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if was := l.dirs[dir]; was != nil {
		return was
	}
	if l.dirs == nil {
		l.dirs = map[string]map[string]bool{}
	}
	l.dirs[dir] = held
	return held
}

// known returns what a directory held, or nil when nobody has looked.
func (l *Listings) known(dir string) map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirs[dir]
}

// Shown returns which names nodes find in a directory of the host when they list it or
// have a copy of it. A caller calls it before it reads the directory.
func (s *Spec) Shown(dir string) func(name string) bool {
	if !s.beside(dir) {
		return func(string) bool { return true }
	}
	var held map[string]bool
	if s.Listings != nil {
		held = s.Listings.in(dir)
	}
	return func(name string) bool { return !s.never(dir, name) && (held == nil || held[name]) }
}

// Copied returns which names of a directory of the host a node's copy of it has (Node.Dir,
// Node.Writable): what is Shown, but for the spec itself. So a change of the spec's properties
// is no change of what nodes were given.
func (s *Spec) Copied(dir string) func(name string) bool {
	shown, itself := s.Shown(dir), ""
	if dir == s.Dir {
		itself = filepath.Base(s.Path)
	}
	return func(name string) bool { return name != itself && shown(name) }
}

// Hides reports whether no listing has a path of the host, or a directory that it lies in.
func (s *Spec) Hides(host string) bool {
	for s.beside(host) && host != s.Dir {
		dir, name := filepath.Split(host)
		if host = filepath.Clean(dir); s.never(host, name) {
			return true
		}
	}
	return false
}

// Newer reports whether a path of the host is one that came into its directory after
// that was listed.
func (s *Spec) Newer(host string) bool {
	if s.Listings == nil || host == s.Dir || !s.beside(host) {
		return false
	}
	dir, name := filepath.Split(host)
	held := s.Listings.known(filepath.Clean(dir))
	if held == nil || held[name] || s.never(filepath.Clean(dir), name) {
		return false
	}
	_, err := os.Lstat(host)
	return err == nil
}

// never reports whether no listing has a name.
func (s *Spec) never(dir, name string) bool {
	return ofEditor(name) || slices.Contains(s.Hidden, filepath.Join(dir, name))
}

// beside reports whether a path is that of the spec's directory or lies in it.
func (s *Spec) beside(host string) bool {
	rel, err := filepath.Rel(s.Dir, host)
	return err == nil && filepath.IsLocal(rel)
}

// ofEditor reports whether a name is of those that editors give to backups, locks and
// trials: of Vim, Emacs and others.
func ofEditor(name string) bool {
	dot := strings.HasPrefix(name, ".")
	return strings.HasSuffix(name, "~") && name != "~" ||
		dot && len(name) > len(".swp") && name[len(name)-len(".swp"):len(name)-1] == ".sw" &&
			name[len(name)-1] >= 'a' && name[len(name)-1] <= 'z' ||
		strings.HasPrefix(name, ".#") ||
		len(name) > 2 && strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#") ||
		name == "4913"
}
