package disk

import "github.com/ariadne-mc/ariadne"

// Image is the files of a node as a power loss may leave them: what is other in them than after
// the last operation of the log.
type Image struct {
	// Digest is over all names, contents and attributes in so far as operations of the log have
	// changed them: equal for equal files, whatever was lost, and at any point of the log.
	Digest ariadne.Digest
	// Names are those that stand for something else than now, in order.
	Names []Name
	// Files are the inodes that have a name in the image and are other than now, in order of their
	// numbers. A file without a name has the content that programs give it that have it open.
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
	// Data are the bytes that differ, in order of offsets, none beyond the end. To bring the file
	// to what it is in the image: set its size, then write these. They may be as they are.
	Data []Extent
	// Attr are its attributes when they differ, or nil.
	Attr *Attr
	// Xattrs are the extended attributes that differ, by name.
	Xattrs []Xattr
	// Retimed says that its time of modification is another one than now: that of Last (Op.Time),
	// the last operation of the image that sets it, or without one that of before the log.
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

// Files are those of a machine to which an image is applied. They are as they were behind the last
// operation of the log, and inodes go by their numbers there.
type Files interface {
	// Unname takes a name away, if it stands for anything. The inode is kept until the
	// image is applied.
	Unname(dir uint64, name string) error
	// Name gives an inode a name, which stands for nothing.
	Name(dir uint64, name string, ino uint64) error
	// SetContent gives a file a size, unless it is -1, and then bytes.
	SetContent(ino uint64, size int64, data []Extent) error
	// SetAttr gives an inode all attributes but its time of modification.
	SetAttr(ino uint64, a Attr) error
	SetXattr(ino uint64, x Xattr) error
	// SetModified gives an inode the time of modification that an operation gave it, or with nil
	// that of before the log.
	SetModified(ino uint64, by *Op) error
}

// Apply makes files what they are in an image. All names are taken away first: so no directory
// comes to be below itself, and names change places.
func (i *Image) Apply(files Files) error {
	for _, x := range i.Names {
		if err := files.Unname(x.Dir, x.Name); err != nil {
			return err
		}
	}
	for _, x := range i.Names {
		if x.Ino == 0 {
			continue
		}
		if err := files.Name(x.Dir, x.Name, x.Ino); err != nil {
			return err
		}
	}
	for k := range i.Files {
		if err := i.Files[k].apply(files); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) apply(files Files) error {
	if f.Size >= 0 || len(f.Data) > 0 {
		if err := files.SetContent(f.Ino, f.Size, f.Data); err != nil {
			return err
		}
	}
	if f.Attr != nil {
		if err := files.SetAttr(f.Ino, *f.Attr); err != nil {
			return err
		}
	}
	for _, x := range f.Xattrs {
		if err := files.SetXattr(f.Ino, x); err != nil {
			return err
		}
	}
	if f.Retimed { // last of all: what was done above may have set it
		return files.SetModified(f.Ino, f.Last)
	}
	return nil
}
