//go:build linux

package crash

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"golang.org/x/sys/unix"
)

// all are the bytes of the file.
func (c *content) all() []byte { return c.bytes(0, c.count()) }

// TestContent: files in chunks are what operations make of bytes, and equal bytes are known by the
// same hash.
func TestContent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const most = 20*chunkSize + 100
	at := func() int64 { // often where chunks meet
		if r.IntN(2) == 0 {
			return int64(r.IntN(21) * chunkSize)
		}
		return r.Int64N(most)
	}
	for range 200 {
		var c *content
		var b []byte
		for range 10 {
			op := disk.Op{Kind: disk.Write, Offset: at(), OldSize: int64(len(b)), Size: int64(len(b))}
			switch r.IntN(4) {
			case 0:
				op.Kind, op.Offset, op.Size = disk.Truncate, 0, at()
			case 1:
				op.Kind, op.Length = disk.Zero, at()
			default:
				op.Length = r.Int64N(2 * chunkSize)
				op.New = bytes.Repeat([]byte{0, byte(r.IntN(2))}, int(op.Length)/2)
				op.Size = max(op.Size, op.Offset+op.Length)
			}
			was, before := c, c.all()
			c, b = c.apply(&op), op.Apply(b)
			if !bytes.Equal(c.all(), b) || c.hash() != newContent(b).hash() ||
				c.zeros() != (len(bytes.Trim(b, "\x00")) == 0) {
				t.Fatalf("%v: %d bytes, want %d", &op, c.len(), len(b))
			}
			if !bytes.Equal(was.all(), before) {
				t.Fatalf("%v changes what was before", &op)
			}
			if n, exact := was.distance(c), edits(before, b); n != exact &&
				(n < exact || was.count()+c.count() <= mostMoved) {
				t.Fatalf("%v: %d edits, want %d", &op, n, exact)
			}
		}
		name := filepath.Join(t.TempDir(), "f")
		if err := c.write(name, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%d bytes are written of %d: %v", len(got), len(b), err)
		}
	}
	if c, d := newContent(make([]byte, 5)), newContent(make([]byte, 6)); c.hash() == d.hash() {
		t.Error("the size does not count")
	}
}

// TestLarge: a file of 64 MB of which little is written takes little, in memory and where it is
// written.
func TestLarge(t *testing.T) {
	var c *content
	c = c.apply(&disk.Op{Kind: disk.Allocate, Size: 64 << 20})
	c = c.apply(&disk.Op{Kind: disk.Write, Offset: 1 << 20, Length: 5, New: []byte("hello"), OldSize: 64 << 20,
		Size: 64 << 20})
	if n := testing.AllocsPerRun(10, func() {
		c.apply(&disk.Op{Kind: disk.Write, Offset: 2 << 20, Length: 5, New: []byte("again"), OldSize: 64 << 20,
			Size: 64 << 20}).hash()
	}); n > 50 {
		t.Errorf("%v allocations", n)
	}
	name := filepath.Join(t.TempDir(), "f")
	if err := c.write(name, 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(name, &st); err != nil || st.Size != 64<<20 || st.Blocks*512 > 1<<20 {
		t.Errorf("%d bytes in %d blocks: %v", st.Size, st.Blocks, err)
	}
}
