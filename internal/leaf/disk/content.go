package disk

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// sum is a hash to which parts are added and from which they are taken, in any order, modulo 2^64
// in each half. A zero byte adds nothing. So bytes that no operation has changed need not be known.
type sum struct{ a, b uint64 }

func (s *sum) add(t sum) { s.a, s.b = s.a+t.a, s.b+t.b }
func (s *sum) sub(t sum) { s.a, s.b = s.a-t.a, s.b-t.b }

// scramble is the last part of splitmix64.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sumOf is of something that is not bytes of a file.
func sumOf(parts ...any) sum {
	d := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return sum{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}
}

// bytesAt is of bytes of a file.
func (in *inode) bytesAt(offset int64, b []byte) (s sum) {
	k, l := scramble(in.ino+0x9e3779b97f4a7c15), scramble(in.ino+0xd1b54a32d192ed03)
	for i, c := range b {
		if c != 0 {
			x := uint64(offset+int64(i))<<8 | uint64(c)
			s.add(sum{scramble(x + k), scramble(x ^ l)})
		}
	}
	return s
}

// content is what an inode is.
type content struct {
	size int64
	data sum // of what operations have changed, less what it was when the log began
	attr *Attr
	x    map[string]value
}

// value is that of an extended attribute.
type value struct {
	bytes []byte
	gone  bool
}

// now are the bytes from lo to hi after an atom, without the zeros at their end.
func (a *atom) now(lo, hi int64) []byte { return cut(a.op.New, a.op.from(), lo, hi) }

// was are the bytes from lo to hi before an atom.
func (a *atom) was(lo, hi int64) []byte { return cut(a.op.Old, a.op.from(), lo, hi) }

// from is the offset of the operation's bytes.
func (o *Op) from() int64 {
	if o.Kind == Truncate {
		return o.Size
	}
	return o.Offset
}

func cut(b []byte, at, lo, hi int64) []byte {
	return b[min(max(lo-at, 0), int64(len(b))):min(max(hi-at, 0), int64(len(b)))]
}

func digest(s sum) ariadne.Digest {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte("image"), s.a), s.b))
}
