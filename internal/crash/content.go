//go:build linux

package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"syscall"

	"ariadne/internal/disk"
)

// content is the bytes of a regular file, which does not change: a changed file has another one, which shares chunks
// with it. So images of large files cost what is different in them. nil is an empty file.
type content struct {
	size   int64
	chunks []*chunk // each of chunkSize bytes but the last; nil: zeros
	known  bool     // sum is; by who forms images, alone
	sum    sum
}

const chunkSize = 16 << 10

// chunk is a part of a file, without the zeros at its end. It does not change.
type chunk struct {
	bytes []byte
	known bool
	sum   sum
}

// newChunk returns a chunk of bytes, or nil when all are zeros.
func newChunk(b []byte) *chunk {
	if b = bytes.TrimRight(b, "\x00"); len(b) == 0 {
		return nil
	}
	return &chunk{bytes: bytes.Clone(b)}
}

func newContent(b []byte) *content {
	c := &content{size: int64(len(b))}
	for len(b) > 0 {
		n := min(len(b), chunkSize)
		c.chunks = append(c.chunks, newChunk(b[:n]))
		b = b[n:]
	}
	return c
}

func (c *content) len() int64 {
	if c == nil {
		return 0
	}
	return c.size
}

// resized returns the content with another size, which put may change until somebody else has it.
func (c *content) resized(size int64) *content {
	n := &content{size: size, chunks: make([]*chunk, (size+chunkSize-1)/chunkSize)}
	if c == nil {
		return n
	}
	copy(n.chunks, c.chunks)
	if rest := size % chunkSize; rest > 0 && size < c.size {
		if last := &n.chunks[len(n.chunks)-1]; *last != nil && int64(len((*last).bytes)) > rest {
			*last = newChunk((*last).bytes[:rest])
		}
	}
	return n
}

// put sets the bytes from lo to hi, none beyond the end, to b and then zeros.
func (c *content) put(lo, hi int64, b []byte) {
	for hi = min(hi, c.size); lo < hi; {
		k := lo / chunkSize
		from := lo - k*chunkSize
		n := min(hi-lo, chunkSize-from)
		var part []byte // of b
		part, b = b[:min(n, int64(len(b)))], b[min(n, int64(len(b))):]
		if n == chunkSize || len(part) == 0 && c.chunks[k] == nil {
			c.chunks[k] = newChunk(part)
		} else {
			whole := make([]byte, chunkSize)
			if old := c.chunks[k]; old != nil {
				copy(whole, old.bytes)
			}
			clear(whole[from : from+n])
			copy(whole[from:], part)
			c.chunks[k] = newChunk(whole)
		}
		lo += n
	}
}

// apply returns what a file holds after an operation on its content.
func (c *content) apply(op *disk.Op) *content {
	n := c.resized(op.Size)
	switch op.Kind {
	case disk.Write, disk.Zero, disk.Shift:
		n.put(op.Offset, op.Offset+op.Length, op.New)
	}
	return n
}

// hash is equal for equal contents alone.
func (c *content) hash() sum {
	if !c.known {
		b := binary.AppendVarint(nil, c.size)
		for k, part := range c.chunks {
			if part == nil {
				continue
			}
			if !part.known {
				part.known, part.sum = true, sha256.Sum256(part.bytes)
			}
			b = append(binary.AppendVarint(b, int64(k)), part.sum[:]...)
		}
		c.known, c.sum = true, sha256.Sum256(b)
	}
	return c.sum
}

// write makes a file that holds it. What is zero takes no room.
func (c *content) write(name string, perm os.FileMode) error {
	// A checker that is started meanwhile would have the descriptor for a moment, and Linux executes no file that is open to be written.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil || c == nil {
		if err == nil {
			err = f.Close()
		}
		return err
	}
	end := int64(0)
	for k, part := range c.chunks {
		if part != nil && err == nil {
			at := int64(k) * chunkSize
			_, err = f.WriteAt(part.bytes, at)
			end = at + int64(len(part.bytes))
		}
	}
	if end < c.size && err == nil {
		err = f.Truncate(c.size)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// zeros reports whether there is nothing else in it.
func (c *content) zeros() bool {
	for _, part := range c.chunks {
		if part != nil {
			return false
		}
	}
	return true
}

// bytes are those of the chunks from one to another.
func (c *content) bytes(from, to int) []byte {
	if c == nil {
		return nil
	}
	lo := int64(from) * chunkSize
	b := make([]byte, min(int64(to)*chunkSize, c.size)-lo)
	for k := from; k < to; k++ {
		if part := c.chunks[k]; part != nil {
			copy(b[(k-from)*chunkSize:], part.bytes)
		}
	}
	return b
}

func (c *chunk) equal(d *chunk) bool {
	return c == d || c != nil && d != nil && bytes.Equal(c.bytes, d.bytes)
}

// different are the bytes of two files between whole chunks that are the same, from the beginning and, in files of one size, up to the
// end.
func different(c, d *content) (a, b []byte) {
	if c == nil || d == nil {
		return c.all(), d.all()
	}
	from, toC, toD := 0, len(c.chunks), len(d.chunks)
	for from < int(min(c.size, d.size)/chunkSize) && c.chunks[from].equal(d.chunks[from]) {
		from++
	}
	for c.size == d.size && toC > from && c.chunks[toC-1].equal(d.chunks[toD-1]) {
		toC, toD = toC-1, toD-1
	}
	return c.bytes(from, toC), d.bytes(from, toD)
}

// all are the bytes of the file.
func (c *content) all() []byte {
	if c == nil {
		return nil
	}
	return c.bytes(0, len(c.chunks))
}
