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
