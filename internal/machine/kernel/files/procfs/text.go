package procfs

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Text is a file that can be read from any place and written: its text is made when it is first
// read, and anew each time that it is read from its beginning, as Linux's seq_file makes it.
type Text struct {
	Content string // as it was then
	At      int64  // where the next read begins
}

// Texter is a File that is a Text.
type Texter interface {
	kernel.File
	ReadAt(n *kernel.Node, b []byte, at int64) int
	Position() *int64
}

// Position implements Texter.
func (x *Text) Position() *int64 { return &x.At }

// readAt reads at the place at; now makes the text.
func (x *Text) readAt(b []byte, at int64, now func() string) int {
	if at == 0 || x.Content == "" {
		x.Content = now()
	}
	return copy(b, x.Content[min(at, int64(len(x.Content))):])
}

// Seek moves to a place; nobody knows where the end is.
func Seek(f Texter, offset int64, whence int) (int64, kernel.Errno) {
	at := f.Position()
	if whence == unix.SEEK_CUR {
		offset += *at
	} else if whence != unix.SEEK_SET {
		return 0, unix.EINVAL
	}
	if offset < 0 {
		return 0, unix.EINVAL
	}
	*at = offset
	return offset, 0
}
