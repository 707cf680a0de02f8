package random

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// read returns the next bytes that a node with this id and seed reads, in pieces of these sizes.
func read(t *testing.T, id ariadne.NodeID, seed uint64, sizes ...int) (all []byte) {
	t.Helper()
	th := kerneltest.Caller(kernel.NewNode(id, "n", seed))
	f := &File{Minor: 9}
	for _, size := range sizes {
		b := make([]byte, size)
		if n, e := f.Read(th, b); n != size || e != 0 {
			t.Fatalf("read of %d bytes: %d %v", size, n, e)
		}
		all = append(all, b...)
	}
	return all
}

// TestBytes: the seed decides a node's bytes, and no bytes come twice.
func TestBytes(t *testing.T) {
	want := read(t, 1, 7, 16, 16)
	if got := read(t, 1, 7, 16, 16); !bytes.Equal(got, want) {
		t.Errorf("the same seed: %x, then %x", want, got)
	}
	if got := read(t, 1, 8, 16, 16); bytes.Equal(got, want) {
		t.Errorf("another seed: %x again", got)
	}
	if bytes.Equal(want[:16], want[16:]) {
		t.Errorf("the same bytes twice: %x", want)
	}
}

func TestIoctl(t *testing.T) {
	th := kerneltest.Caller(kernel.NewNode(1, "n", 1))
	f := &File{Minor: 8}
	if _, e := f.Ioctl(th, unix.RNDGETENTCNT, kerneltest.Base); e != 0 {
		t.Fatal(e)
	}
	b := make([]byte, 4)
	th.M.ReadMem(kerneltest.Base, b)
	if bits := binary.LittleEndian.Uint32(b); bits != 256 {
		t.Errorf("%d bits of entropy", bits)
	}
	if _, e := f.Ioctl(th, unix.RNDADDENTROPY, kerneltest.Base); e != unix.ENOTTY {
		t.Errorf("another request: %v", e)
	}
}
