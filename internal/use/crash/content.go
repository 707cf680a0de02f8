//go:build linux

package crash

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"os"
	"slices"
	"syscall"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// content is the bytes of a regular file, which does not change: a changed file has another one,
// which shares chunks with it. So images of large files cost what is different in them. nil is an
// empty file.
type content struct {
	size   int64
	chunks *chunks // each of chunkSize bytes but the last
}

const chunkSize = 16 << 10

// chunk is a part of a file, without the zeros at its end. It does not change.
type chunk struct {
	bytes []byte
	known bool // sum is; by who forms images, alone
	sum   tally
}

// newChunk returns a chunk of bytes, or nil when all are zeros.
func newChunk(b []byte) *chunk {
	if b = bytes.TrimRight(b, "\x00"); len(b) == 0 {
		return nil
	}
	return &chunk{bytes: bytes.Clone(b)}
}

// chunks are the chunks of a file by their numbers, or some of them in a row: a tree, of which all
// leaves are as far below the root. It does not change. nil are zeros.
type chunks struct {
	level int          // 0: it has chunks
	parts [fan]*chunk  // of a leaf
	below [fan]*chunks // else
	known bool         // sum is
	sum   tally        // over its chunks, and which they are
}

// fan is how many chunks a leaf has, and how many are below another.
const (
	fanBits = 4
	fan     = 1 << fanBits
)

// room is how many chunks there can be.
func (c *chunks) room() int {
	if c == nil {
		return 0
	}
	return fan << (fanBits * c.level)
}

// get is the chunk of a number, or nil.
func (c *chunks) get(k int) *chunk {
	if k >= c.room() {
		return nil
	}
	for ; c != nil; c = c.below[k>>(fanBits*c.level)%fan] {
		if c.level == 0 {
			return c.parts[k%fan]
		}
	}
	return nil
}

// set returns the chunks with another one at a number.
func (c *chunks) set(k int, part *chunk) *chunks {
	if c == nil {
		c = &chunks{}
	}
	for k >= c.room() {
		c = &chunks{level: c.level + 1, below: [fan]*chunks{c}}
	}
	return c.put(k, part, c.level)
}

func (c *chunks) put(k int, part *chunk, level int) *chunks {
	n := chunks{level: level}
	if c != nil {
		n = *c
		n.known = false
	}
	if level == 0 {
		n.parts[k%fan] = part
		return &n
	}
	at := k >> (fanBits * level) % fan
	n.below[at] = n.below[at].put(k, part, level-1)
	return &n
}

// cut returns the chunks without those from a number on.
func (c *chunks) cut(count int) *chunks {
	if count <= 0 || c == nil {
		return nil
	}
	if count >= c.room() {
		return c
	}
	n := *c
	n.known = false
	if c.level == 0 {
		clear(n.parts[count:])
		return &n
	}
	each := fan << (fanBits * (c.level - 1))
	at := count / each
	n.below[at] = n.below[at].cut(count % each)
	clear(n.below[at+1:])
	return &n
}

// each yields the chunks that are not zeros, with their numbers, which begin at some.
func (c *chunks) each(first int, yield func(int, *chunk) bool) bool {
	if c == nil {
		return true
	}
	for i := range fan {
		if c.level == 0 && c.parts[i] != nil && !yield(first+i, c.parts[i]) {
			return false
		}
		if c.level > 0 && !c.below[i].each(first+i<<(fanBits*c.level), yield) {
			return false
		}
	}
	return true
}

// total is the sum over all chunks, the first of which has a number.
func (c *chunks) total(first int) (t tally) {
	if c == nil {
		return t
	}
	if !c.known {
		for i := range fan {
			if part := c.parts[i]; part != nil {
				if !part.known {
					part.known, part.sum = true, tallyOf(binary.AppendVarint(slices.Clone(part.bytes), int64(first+i)))
				}
				t = t.plus(part.sum)
			}
			t = t.plus(c.below[i].total(first + i<<(fanBits*c.level)))
		}
		c.known, c.sum = true, t
	}
	return c.sum
}

// each yields the chunks that are not zeros, with their numbers.
func (c *content) each(yield func(int, *chunk) bool) {
	if c != nil {
		c.chunks.each(0, yield)
	}
}

// count is how many chunks a file has.
func (c *content) count() int { return int((c.len() + chunkSize - 1) / chunkSize) }

func newContent(b []byte) *content {
	c := &content{size: int64(len(b))}
	c.put(0, c.size, b)
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
	n := &content{size: size}
	if c == nil {
		return n
	}
	n.chunks = c.chunks
	if size < c.size {
		n.chunks = n.chunks.cut(n.count())
		if rest := size % chunkSize; rest > 0 {
			k := n.count() - 1
			if last := n.chunks.get(k); last != nil && int64(len(last.bytes)) > rest {
				n.chunks = n.chunks.set(k, newChunk(last.bytes[:rest]))
			}
		}
	}
	return n
}

// put sets the bytes from lo to hi, none beyond the end, to b and then zeros.
func (c *content) put(lo, hi int64, b []byte) {
	for hi = min(hi, c.size); lo < hi; {
		k := int(lo / chunkSize)
		from := lo % chunkSize
		n := min(hi-lo, chunkSize-from)
		var part []byte // of b
		part, b = b[:min(n, int64(len(b)))], b[min(n, int64(len(b))):]
		old := c.chunks.get(k)
		if n < chunkSize && (len(part) > 0 || old != nil) {
			whole := make([]byte, chunkSize)
			if old != nil {
				copy(whole, old.bytes)
			}
			clear(whole[from : from+n])
			copy(whole[from:], part)
			part = whole
		}
		if next := newChunk(part); next != old {
			c.chunks = c.chunks.set(k, next)
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
	return sha256.Sum256(c.chunks.total(0).append(binary.AppendVarint(nil, c.size)))
}

// write makes a file with the content. Zeros take no room.
func (c *content) write(name string, perm os.FileMode) error {
	// A checker that is started meanwhile would have the descriptor for a moment, and Linux
	// executes no file that is open to be written.
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
	for k, part := range c.each {
		if err == nil {
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

// rewrite makes a file that holds something else hold it. Only what is different is written.
func (c *content) rewrite(name string, old *content) (err error) {
	if err := os.Chmod(name, 0o600); err != nil {
		return err
	}
	syscall.ForkLock.RLock() // as in write
	defer syscall.ForkLock.RUnlock()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if c.len() != old.len() {
		if err := f.Truncate(c.len()); err != nil {
			return err
		}
	}
	unequal(old.tree(), c.tree(), 0, c.count(), func(k int) {
		if err == nil {
			_, err = f.WriteAt(c.bytes(k, k+1), int64(k)*chunkSize)
		}
	})
	return err
}

// tree is its chunks.
func (c *content) tree() *chunks {
	if c == nil {
		return nil
	}
	return c.chunks
}

// zeros reports whether there is nothing else in it.
func (c *content) zeros() bool {
	for range c.each {
		return false
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
		if part := c.chunks.get(k); part != nil {
			copy(b[(k-from)*chunkSize:], part.bytes)
		}
	}
	return b
}

// equal reports whether two chunks are, which have the same number.
func (c *chunk) equal(d *chunk) bool {
	switch {
	case c == d:
		return true
	case c == nil || d == nil:
		return false
	case c.known && d.known:
		return c.sum == d.sum
	}
	return bytes.Equal(c.bytes, d.bytes)
}

// unequal yields the numbers, below a limit, at which there are not the very same chunks in two
// trees of which the first has a number.
func unequal(a, b *chunks, first, limit int, yield func(k int)) {
	if a == b || first >= limit || a != nil && b != nil && a.level == b.level && a.known && b.known && a.sum == b.sum {
		return
	}
	if a.room() < b.room() {
		a, b = b, a
	}
	for i := range fan {
		k := first + i<<(fanBits*a.level)
		switch {
		case a.level == 0:
			if k < limit && a.parts[i] != b.part(i) {
				yield(k)
			}
		case b == nil || b.level == a.level:
			unequal(a.below[i], b.child(i), k, limit, yield)
		case i == 0:
			unequal(a.below[i], b, k, limit, yield)
		default:
			unequal(a.below[i], nil, k, limit, yield)
		}
	}
}

func (c *chunks) part(i int) *chunk {
	if c == nil {
		return nil
	}
	return c.parts[i]
}

func (c *chunks) child(i int) *chunks {
	if c == nil {
		return nil
	}
	return c.below[i]
}

// mostMoved is in how many chunks bytes are looked for at another place. Beyond, chunks are
// compared one by one, which is an upper bound.
const mostMoved = 32

// distance is how much is to be edited to make one content of another.
func (c *content) distance(d *content) int {
	var parts []int // that are different
	common := min(c.count(), d.count())
	if common > 0 {
		unequal(c.chunks, d.chunks, 0, common, func(k int) {
			if !c.chunks.get(k).equal(d.chunks.get(k)) {
				parts = append(parts, k)
			}
		})
	}
	size := min(c.len(), d.len())
	from, toC, toD := int(size/chunkSize), c.count(), d.count()
	if len(parts) > 0 {
		from = min(from, parts[0])
	}
	if c.len() == d.len() {
		if len(parts) == 0 {
			return 0
		}
		toC = parts[len(parts)-1] + 1
		toD = toC
	}
	if toC+toD-2*from <= mostMoved {
		return edits(c.bytes(from, toC), d.bytes(from, toD))
	}
	n := int(max(c.len(), d.len()) - size)
	for _, k := range parts {
		n += c.chunks.get(k).distance(d.chunks.get(k), size-int64(k)*chunkSize)
	}
	return n
}

// distance is how many of the first bytes are different.
func (c *chunk) distance(d *chunk, size int64) (n int) {
	var a, b []byte
	if c != nil {
		a = c.bytes
	}
	if d != nil {
		b = d.bytes
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	for i, x := range b[:min(int64(len(b)), size)] {
		if i < len(a) && x != a[i] || i >= len(a) && x != 0 {
			n++
		}
	}
	return n
}
