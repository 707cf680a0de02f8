package filetree

import "path"

// Name is a name in a tree.
type Name struct {
	Path     string // from the tree's root
	Mode     uint32 // st_mode
	UID, GID uint32
	Size     int64  // of a regular file
	Target   string // of a symbolic link
}

// List lists all names below the directories that can change, parents before what they hold.
func (s *State) List() (all []Name) {
	for _, name := range s.names.sorted {
		if _, inside := s.names.entries[path.Dir(name)]; !inside {
			continue
		}
		e := s.names.entries[name]
		n := Name{Path: name, Mode: e.mode, UID: e.uid, GID: e.gid, Target: e.target}
		if c := s.files[e.ino]; c != nil {
			n.Size = c.Size
		}
		all = append(all, n)
	}
	return all
}

// Each visits all names, of the directories that can change as well, parents before what they hold,
// each with its file's inode number and a digest of what a regular file holds. It costs as much as
// Digest.
func (s *State) Each(visit func(n Name, ino uint64, sum [32]byte)) {
	for _, name := range s.names.sorted {
		e := s.names.entries[name]
		n := Name{Path: name, Mode: e.mode, UID: e.uid, GID: e.gid, Target: e.target}
		var sum digest
		if c := s.files[e.ino]; c != nil {
			n.Size, sum = c.Size, c.digest()
		}
		visit(n, e.ino, sum)
	}
}
