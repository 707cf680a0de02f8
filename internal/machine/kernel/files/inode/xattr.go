package inode

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Xattr is one extended attribute of a file.
type Xattr struct{ Name, Value string }

// Xattrs returns a file's extended attributes in the order in which they were made.
func (f *Table) Xattrs(key Key) []Xattr { return f.xattrs[f.First(key)] }

// Xattr returns the value of one.
func (f *Table) Xattr(key Key, name string) (value string, ok bool) {
	for _, x := range f.Xattrs(key) {
		if x.Name == name {
			return x.Value, true
		}
	}
	return "", false
}

// xattrRoom is what a file's extended attributes may take: ext4 has a block for them, and a
// little room beside the inode itself.
const xattrRoom = 4096 - 32 - 4

// size is the room that an attribute takes.
func (x Xattr) size() int {
	const head = 16
	up := func(n int) int { return (n + 3) &^ 3 }
	return head + up(len(x.Name)) + up(len(x.Value))
}

// SetXattr gives an attribute a value. create and replace say that it must not, or must, be there.
func (f *Table) SetXattr(key Key, name, value string, create, replace bool) unix.Errno {
	key = f.First(key)
	list := slices.Clone(f.xattrs[key])
	i := slices.IndexFunc(list, func(x Xattr) bool { return x.Name == name })
	switch {
	case create && i >= 0:
		return unix.EEXIST
	case replace && i < 0:
		return unix.ENODATA
	case i < 0:
		list = append(list, Xattr{name, value})
	default:
		list[i].Value = value
	}
	room := xattrRoom
	for _, x := range list {
		room -= x.size()
	}
	if room < 0 {
		return unix.ENOSPC
	}
	f.xattrs[key] = list
	return 0
}

// RemoveXattr takes one away.
func (f *Table) RemoveXattr(key Key, name string) unix.Errno {
	key = f.First(key)
	list := f.xattrs[key]
	i := slices.IndexFunc(list, func(x Xattr) bool { return x.Name == name })
	if i < 0 {
		return unix.ENODATA
	}
	f.xattrs[key] = slices.Delete(slices.Clone(list), i, i+1)
	return 0
}
