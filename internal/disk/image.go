package disk

import "ariadne"

// Image is the files of a node as a power loss may leave them: what is other in them than after
// the last operation of the log.
type Image struct {
	// Digest is over all names, contents and attributes in so far as operations of the log have changed
	// them: equal for equal files, whatever was lost, and at any point of the log.
	Digest ariadne.Digest
	// Names are those that stand for something else than now, in order.
	Names []Name
	// Files are the inodes that have a name in the image and are other than now, in order of their numbers. What
	// has lost its last name is now what those make of it who have it open.
	Files []File
}

// Name is an entry of a directory.
type Name struct {
	Dir  uint64
	Name string
	Ino  uint64 // 0: there is none
}

// File is an inode of an image.
type File struct {
	Ino  uint64
	Size int64 // -1: as now
	// Data are the bytes that differ, in order of offsets, none beyond the end. To bring the file to what
	// it is in the image: set its size, then write these. They may be as they are.
	Data []Extent
	// Attr are its attributes when they differ, or nil.
	Attr *Attr
	// Xattrs are the extended attributes that differ, by name.
	Xattrs []Xattr
	// Retimed says that its time of modification is another one than now: that of Last (Op.Time), the last operation of the image
	// that sets it, or without one that of before the log.
	Retimed bool
	Last    *Op
}

// Extent is bytes of a file.
type Extent struct {
	Offset int64
	Bytes  []byte
}

// Xattr is an extended attribute of an inode of an image.
type Xattr struct {
	Name  string
	Value []byte
	Gone  bool // there is none
}
