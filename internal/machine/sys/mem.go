package sys

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// maxIO is the most that one read or write moves, as in Linux.
const maxIO = 0x7ffff000

var le = binary.LittleEndian

func callName(nr int) string { return fmt.Sprintf("syscall %d", nr) }

// readBytes reads n bytes of the caller's memory, piece by piece: it may have less. Like the others
// here it reads once in a call (kernel.Thread.ReadOnce).
func readBytes(t *kernel.Thread, addr uint64, n int) ([]byte, kernel.Errno) {
	return readPieces(t.ReadOnce, addr, n)
}

// readLate is readBytes for what Linux reads when it needs it, after it may have waited.
func readLate(t *kernel.Thread, addr uint64, n int) ([]byte, kernel.Errno) {
	return readPieces(t.M.ReadMem, addr, n)
}

func readPieces(read func(addr uint64, b []byte) kernel.Errno, addr uint64, n int) ([]byte, kernel.Errno) {
	const piece = 1 << 18
	b := make([]byte, min(n, piece))
	e := read(addr, b)
	for len(b) < n && e == 0 {
		more := make([]byte, min(n-len(b), piece))
		e = read(addr+uint64(len(b)), more)
		b = append(b, more...)
	}
	return b, e
}

// readString reads a NUL-terminated string of at most max bytes, NUL excluded;
// ENAMETOOLONG when there is no NUL.
func readString(t *kernel.Thread, addr uint64, max int) (string, kernel.Errno) {
	var s []byte
	var page [256]byte
	for len(s) < max {
		// Never read over the end of a page: the next may not be mapped.
		n := min(256-int(addr%256), max-len(s))
		if e := t.ReadOnce(addr, page[:n]); e != 0 {
			return "", e
		}
		if i := bytes.IndexByte(page[:n], 0); i >= 0 {
			return string(append(s, page[:i]...)), 0
		}
		s = append(s, page[:n]...)
		addr += uint64(n)
	}
	return "", unix.ENAMETOOLONG
}

// readPath reads a path name.
func readPath(t *kernel.Thread, addr uint64) (string, kernel.Errno) {
	return readString(t, addr, unix.PathMax)
}

func readU32(t *kernel.Thread, addr uint64) (uint32, kernel.Errno) {
	var b [4]byte
	e := t.ReadOnce(addr, b[:])
	return le.Uint32(b[:]), e
}

func readU64(t *kernel.Thread, addr uint64) (uint64, kernel.Errno) {
	var b [8]byte
	e := t.ReadOnce(addr, b[:])
	return le.Uint64(b[:]), e
}

func writeU32(t *kernel.Thread, addr uint64, v uint32) kernel.Errno {
	return t.M.WriteMem(addr, le.AppendUint32(nil, v))
}

func writeU64(t *kernel.Thread, addr uint64, v uint64) kernel.Errno {
	return t.M.WriteMem(addr, le.AppendUint64(nil, v))
}

// iovec is one element of a readv or writev list.
type iovec struct{ base, len uint64 }

// readIovecs reads a list of n iovecs; EINVAL as readv(2) has it.
func readIovecs(t *kernel.Thread, addr uint64, n uint64) ([]iovec, kernel.Errno) {
	if n > 1024 {
		return nil, unix.EINVAL
	}
	b, e := readBytes(t, addr, int(n)*16)
	if e != 0 {
		return nil, e
	}
	v := make([]iovec, n)
	total := uint64(0)
	for i := range v {
		v[i] = iovec{le.Uint64(b[i*16:]), le.Uint64(b[i*16+8:])}
		if v[i].len > 1<<63-1 {
			return nil, unix.EINVAL
		}
		if total+v[i].len > maxIO {
			v[i].len = maxIO - total
		}
		total += v[i].len
	}
	if t.Call.Part > 0 {
		v = cut(t, v)
	}
	return v, 0
}

// scatter writes b over the iovecs.
func scatter(t *kernel.Thread, v []iovec, b []byte) kernel.Errno {
	for _, x := range v {
		n := min(int(x.len), len(b))
		if n == 0 {
			continue
		}
		if e := t.M.WriteMem(x.base, b[:n]); e != 0 {
			return e
		}
		b = b[n:]
	}
	return 0
}

func iovLen(v []iovec) int {
	n := 0
	for _, x := range v {
		n += int(x.len)
	}
	return n
}

// cut is v without what is behind the part that the call moves.
func cut(t *kernel.Thread, v []iovec) []iovec {
	left := uint64(t.Call.Part)
	for i := range v {
		v[i].len = min(v[i].len, left)
		left -= v[i].len
	}
	return v
}

func intBytes(n int) []byte { return le.AppendUint32(nil, uint32(n)) }
