package fsmodel

import "fmt"

// Kind is which call a Call is.
type Kind string

// The kinds of calls.
const (
	Creat     Kind = "creat" // exclusive
	Mkdir     Kind = "mkdir"
	Link      Kind = "link"
	Unlink    Kind = "unlink"
	Rmdir     Kind = "rmdir"
	Rename    Kind = "rename"
	Write     Kind = "write"      // pwrite
	SyncWrite Kind = "sync write" // pwrite with O_SYNC
	Truncate  Kind = "truncate"
	Fsync     Kind = "fsync"
	Fdatasync Kind = "fdatasync"
	Sync      Kind = "sync"
)

// Call is a call on files. Paths are from the top of the file system, which is "".
type Call struct {
	Kind   Kind
	Path   string
	To     string `json:",omitempty"` // of Link and Rename
	Offset int64  `json:",omitempty"` // bytes
	Length int64  `json:",omitempty"` // bytes that are written, or the size of Truncate
	Byte   byte   `json:",omitempty"` // with which a write fills
}

// Persists reports whether the call is there to make something durable.
func (c Call) Persists() bool { return c.Kind == Fsync || c.Kind == Fdatasync || c.Kind == Sync }

// String is the call in words.
func (c Call) String() string {
	path := c.Path
	if path == "" {
		path = "/"
	}
	switch c.Kind {
	case Link, Rename:
		return fmt.Sprintf("%s %s to %s", c.Kind, path, c.To)
	case Write, SyncWrite:
		return fmt.Sprintf("%s of %d bytes at %d to %s", c.Kind, c.Length, c.Offset, path)
	case Truncate:
		return fmt.Sprintf("truncate %s to %d bytes", path, c.Length)
	case Sync:
		return "sync"
	}
	return string(c.Kind) + " " + path
}

// Entry is a file that was found in a file tree.
type Entry struct {
	Path string
	Dir  bool   `json:",omitempty"`
	Ino  uint64 // the same for hard links
	Size int64  `json:",omitempty"` // bytes, of a regular file
	// Data are the bytes of a file, without the zeros at the end.
	Data []byte `json:",omitempty"`
	// Odd says why the file is neither a directory nor a regular file that can be read, or is "".
	Odd string `json:",omitempty"`
}
