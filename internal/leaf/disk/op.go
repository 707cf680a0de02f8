// Package disk says what a power loss may leave of a node's files. It keeps the operations
// on them (Log), and by a persistence model (Model) forms the images of which a machine may find
// one when it comes back.
//
// It is pure. It knows no Linux and touches no file: package node records the operations, and
// applies an image to the files.
//
// Invariants: an image has every operation that is durable by the model; an operation's
// effect on a place (a name, a sector, a size) is there only when the earlier ones on that place
// are; equal images have equal digests, at whatever point of the log they were formed.
//
// Read next: log.go, then model.go. docs/guides/storage.md has the rules and their sources.
package disk

import (
	"fmt"
	"strings"
)

// Kind is what an operation does.
type Kind uint8

const (
	// Write changes bytes: all calls of the write family, copies between files, stores through a
	// shared mapping. The file may grow by it (OldSize, Size).
	Write Kind = iota + 1
	// Truncate sets the size. Old has the bytes that are cut off.
	Truncate
	// Allocate reserves room: fallocate without a mode or with KEEP_SIZE. No byte changes; the size
	// may.
	Allocate
	// Zero is fallocate with PUNCH_HOLE or ZERO_RANGE. Old has the earlier bytes.
	Zero
	// Shift is fallocate with COLLAPSE_RANGE or INSERT_RANGE: from Offset on the file held Old and
	// holds New.
	Shift

	// Create makes an inode: a regular file, a directory, a symbolic link, a device, a socket or a
	// pipe, by Attr.Mode. Without a name (Dir is 0) it is O_TMPFILE's.
	Create
	Link   // one more name
	Unlink // takes a name, also of a directory
	Rename // by Flags also with Exchange or Whiteout

	SetAttr  // mode, owner or times, by a call of their own
	SetXattr // one extended attribute; Gone: it is removed

	Fsync     // of a file or a directory; also O_SYNC (a range)
	Fdatasync // also O_DSYNC and msync with MS_SYNC (a range)
	SyncRange // sync_file_range
	Sync      // sync, syncfs: everything
	// Close is that of a descriptor which could write. It promises nothing, but ext4 allocates what
	// was written to a file that had been cut to nothing.
	Close
	// Mark changes nothing: the program has said something of its work, which is in Target (Epoch).
	Mark
	// Submit is the beginning of a sync that takes time (Sync says of which kind, Begun which one
	// it is). Its end is an operation of that kind, with the same number: durable is then what was
	// done before the beginning.
	Submit
)

var kinds = [...]string{Write: "write", Truncate: "truncate", Allocate: "allocate", Zero: "zero", Shift: "shift",
	Create: "create", Link: "link", Unlink: "unlink",
	Rename: "rename", SetAttr: "attributes", SetXattr: "xattr", Fsync: "fsync", Fdatasync: "fdatasync",
	SyncRange: "sync_file_range", Sync: "sync", Close: "close", Mark: "mark", Submit: "begin of sync"}

func (k Kind) String() string {
	if int(k) < len(kinds) && kinds[k] != "" {
		return kinds[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// syncs reports whether it makes anything durable.
func (k Kind) syncs() bool { return k == Fsync || k == Fdatasync || k == Sync }

// Flags of an operation.
type Flags uint8

const (
	Exchange Flags = 1 << iota // Rename: the two names change places
	Whiteout                   // Rename: Left stays under the old name
	Direct                     // Write: O_DIRECT; the size is set when the call ends
	Mapped                     // Write: stores through a mapping, found when the next call was made
	Ranged                     // Fsync, Fdatasync, SyncRange: of Length bytes from Offset, 0: to the end
)

// S_IFMT and the kinds of inode, as Linux has them in a mode.
const (
	TypeMask    = 0o170000
	TypeDir     = 0o040000
	TypeRegular = 0o100000
)

// Op is one operation on a node's files, as it was completed. Inodes are known by a number of the
// node's, which means the same file in all ops of a log; 0 is none.
type Op struct {
	Kind  Kind
	Flags Flags

	// Ino is the inode that changes or is synced. With operations on names it is what the name
	// stands for, or stood for (Unlink), or what gets another name (Rename).
	Ino uint64
	// Dir and Name are the name; of Rename the old one, ToDir and ToName the new one.
	Dir, ToDir   uint64
	Name, ToName string
	// Over is what ToName stood for before Rename, or 0. With Exchange it gets the old name.
	Over uint64
	// Left is the inode that Rename with Whiteout leaves under the old name.
	Left uint64
	// Links is how many names Ino has after the operation; OverLinks the same of Over. Of a
	// directory its names alone count: 1, or 0 when it is gone.
	Links, OverLinks int

	// Offset and Length are the bytes that change, New what they are now, Old what they were. Bytes
	// beyond the end of New or Old are zero.
	Offset, Length int64
	New, Old       []byte
	// OldSize and Size are those of the file before and after.
	OldSize, Size int64

	// OldAttr and Attr are the attributes before and after. Create has Attr alone; of what Unlink
	// and Rename are about Attr.Mode has the type.
	OldAttr, Attr Attr
	// Time is the time of modification that the operation gives, in ns since the epoch: to the file
	// that it changes or makes, and to the directories whose names it changes.
	Time int64
	// Target is what a new symbolic link says, or a Mark.
	Target string

	// Xattr is the name of an extended attribute, in New and Old its values. Absent and Gone say
	// that there was none before, and that there is none after.
	Xattr        string
	Absent, Gone bool

	// Sync is of which kind a sync is that begins (Submit). Begun is its own number, from 1, also
	// at its end; of one that takes no time it is 0.
	Sync  Kind
	Begun int

	// For words: the path by which the file was reached, the path of the new name (of Link, a path
	// that it had before), the system call, the thread that made it and the node's step.
	Path, ToPath string
	Call         string
	Thread       int
	Step         int
}

// Attr are an inode's attributes.
type Attr struct {
	Mode     uint32 // with the type
	UID, GID uint32
	Rdev     uint64
	// Access and Modify are times in ns since the epoch, as set by a call of their own. Times that
	// other operations set belong to these and are no operations.
	Access, Modify int64
}

// end is where the changed bytes end.
func (o *Op) end() int64 { return o.Offset + o.Length }

// sets reports whether the operation sets the time of modification of its own inode. Operations on
// names set that of directories.
func (o *Op) sets() bool {
	return o.Kind < Create || o.Kind == SetAttr && o.Attr.Modify != o.OldAttr.Modify
}

// Apply returns what a file holds after an operation on its content, of what it held before. It
// leaves data as they are.
func (o *Op) Apply(data []byte) []byte {
	after := make([]byte, o.Size)
	copy(after, data)
	switch o.Kind {
	case Write, Zero, Shift:
		if to := min(o.end(), o.Size); o.Offset < to {
			clear(after[o.Offset:to])
			copy(after[o.Offset:to], o.New)
		}
	}
	return after
}

// directory reports whether the op makes or moves a directory.
func (o *Op) directory() bool { return o.Attr.Mode&TypeMask == TypeDir }

// String says in words what the operation does.
func (o *Op) String() string {
	name := func(path, name string) string {
		if path != "" {
			return path
		}
		return name
	}
	file := name(o.Path, o.Name)
	if file == "" {
		file = fmt.Sprintf("inode %d", o.Ino)
	}
	var b strings.Builder
	switch o.Kind {
	case Write:
		fmt.Fprintf(&b, "write of %d bytes at %d to %s", o.Length, o.Offset, file)
		if o.Flags&Mapped != 0 {
			b.WriteString(" (mapping)")
		}
	case Truncate:
		fmt.Fprintf(&b, "truncate of %s from %d to %d bytes", file, o.OldSize, o.Size)
	case Allocate:
		fmt.Fprintf(&b, "fallocate of %s, %d to %d bytes", file, o.OldSize, o.Size)
	case Zero:
		fmt.Fprintf(&b, "zeros for %d bytes at %d of %s", o.Length, o.Offset, file)
	case Shift:
		fmt.Fprintf(&b, "shift of %s at %d, %d to %d bytes", file, o.Offset, o.OldSize, o.Size)
	case Create:
		verb := "creation"
		if o.directory() {
			verb = "mkdir"
		} else if o.Target != "" {
			verb = "symlink"
		}
		fmt.Fprintf(&b, "%s of %s", verb, file)
	case Link:
		fmt.Fprintf(&b, "link to %s", file)
	case Unlink:
		verb := "unlink"
		if o.directory() {
			verb = "rmdir"
		}
		fmt.Fprintf(&b, "%s of %s", verb, file)
	case Rename:
		verb := "rename of %s to %s"
		if o.Flags&Exchange != 0 {
			verb = "exchange of %s and %s"
		}
		fmt.Fprintf(&b, verb, file, name(o.ToPath, o.ToName))
	case SetAttr:
		fmt.Fprintf(&b, "attributes of %s", file)
	case SetXattr:
		fmt.Fprintf(&b, "extended attribute %s of %s", o.Xattr, file)
	case Sync:
		b.WriteString("sync")
	case Submit:
		end := *o
		end.Kind = o.Sync
		fmt.Fprintf(&b, "begin of %s", end.String())
	case Mark:
		b.WriteString(o.Target)
	default:
		fmt.Fprintf(&b, "%s of %s", o.Kind, file)
	}
	return b.String()
}
