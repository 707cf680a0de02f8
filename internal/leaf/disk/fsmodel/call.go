package fsmodel

import (
	"fmt"
	"strings"
)

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

	Symlink     Kind = "symlink"
	Fallocate   Kind = "fallocate"  // of mode 0
	PunchHole   Kind = "punch hole" // fallocate that leaves zeros
	Setxattr    Kind = "setxattr"
	Removexattr Kind = "removexattr"

	// WriteBack has the kernel write the dirty pages of a file to the device (sync_file_range), as
	// its flusher threads do at times of their own. Nothing becomes durable.
	WriteBack Kind = "write back"
)

// Call is a call on files. Paths are from the top of the file system, which is "".
type Call struct {
	Kind   Kind
	Path   string
	To     string `json:",omitempty"` // of Link and Rename
	Offset int64  `json:",omitempty"` // bytes
	Length int64  `json:",omitempty"` // bytes of the range or value, or the size of Truncate
	Byte   byte   `json:",omitempty"` // with which a write or Setxattr fills
	// Text is the target of Symlink, or the name of the attribute of Setxattr and Removexattr.
	Text string `json:",omitempty"`
}

// Value is the value that Setxattr gives an attribute.
func (c Call) Value() string { return strings.Repeat(string(c.Byte), int(c.Length)) }

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
	case Fallocate, PunchHole:
		return fmt.Sprintf("%s of %d bytes at %d of %s", c.Kind, c.Length, c.Offset, path)
	case Symlink:
		return fmt.Sprintf("symlink %s to %s", path, c.Text)
	case Setxattr:
		return fmt.Sprintf("setxattr %s of %s to %d bytes", c.Text, path, c.Length)
	case Removexattr:
		return fmt.Sprintf("removexattr %s of %s", c.Text, path)
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
	Link string `json:",omitempty"` // target of a symbolic link
	// Attrs are the extended attributes of the namespace user.
	Attrs map[string]string `json:",omitempty"`
	// Odd says why the file is none of a directory, a symbolic link, and a regular file that can be
	// read, or is "".
	Odd string `json:",omitempty"`
}
