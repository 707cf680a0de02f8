package filetree

// Name is a name in a tree.
type Name struct {
	Path     string // from the tree's root
	Mode     uint32 // st_mode
	UID, GID uint32
	Size     int64  // of a regular file
	Target   string // of a symbolic link
}

// List lists all names, parents before what they hold.
func (s *State) List() (all []Name) {
	for _, path := range s.names.sorted {
		e := s.names.entries[path]
		n := Name{Path: path, Mode: e.mode, UID: e.uid, GID: e.gid, Target: e.target}
		if c := s.files[e.ino]; c != nil {
			n.Size = c.Size
		}
		all = append(all, n)
	}
	return all
}
