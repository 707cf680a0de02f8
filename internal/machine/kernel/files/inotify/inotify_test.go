package inotify

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// How calls of programs become events is compared with Linux in internal/machine/sys. These tests
// are about instances alone.

// dir and file are two files that can be watched.
var dir, file = inode.Key{Dev: 1, Ino: 11}, inode.Key{Dev: 1, Ino: 12}

func newInstance(t *testing.T) (*kernel.Node, *Instance) {
	t.Helper()
	n := kerneltest.Network(1)[0]
	f, e := New(n)
	if e != 0 {
		t.Fatal(e)
	}
	return n, f
}

func add(t *testing.T, f *Instance, key inode.Key, mask uint32) int {
	t.Helper()
	wd, e := f.Add(key, mask)
	if e != 0 {
		t.Fatal(e)
	}
	return wd
}

// read is what a read with a buffer of some size returns.
func read(f *Instance, size int) (all []string) {
	b := make([]byte, size)
	n, e := f.Read(nil, b)
	if e != 0 {
		return []string{unix.ErrnoName(e)}
	}
	for b = b[:n]; len(b) > 0; {
		le := binary.LittleEndian
		end := unix.SizeofInotifyEvent + int(le.Uint32(b[12:]))
		name := unix.ByteSliceToString(b[unix.SizeofInotifyEvent:end])
		all = append(all, fmt.Sprintf("%d %#x %d %s", int32(le.Uint32(b)), le.Uint32(b[4:]), le.Uint32(b[8:]), name))
		b = b[end:]
	}
	return all
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("read %q, not %q", got, want)
	}
}

// TestBuffers: events are read whole, as many as fit, and a buffer that is too small for the first
// is an error that loses nothing.
func TestBuffers(t *testing.T) {
	n, f := newInstance(t)
	add(t, f, dir, unix.IN_CREATE)
	expect(t, read(f, 100), "EAGAIN")
	TellName(n, dir, "a", unix.IN_CREATE, 0)
	TellName(n, dir, "a-name-of-16-char", unix.IN_CREATE, 0)
	if f.Ready()&kernel.In == 0 || f.buffered() != 32+48 {
		t.Errorf("ready for %v, with %d bytes", f.Ready(), f.buffered())
	}
	for _, small := range []int{0, 15, 16, 31} {
		expect(t, read(f, small), "EINVAL")
	}
	expect(t, read(f, 79), "1 0x100 0 a")
	expect(t, read(f, 80), "1 0x100 0 a-name-of-16-char")
	if f.Ready() != 0 || f.buffered() != 0 {
		t.Errorf("ready for %v, with %d bytes, when all was read", f.Ready(), f.buffered())
	}
}

// TestSameEvents: an event that says the same as the last one is left out, and one that differs in
// anything but the cookie is not.
func TestSameEvents(t *testing.T) {
	n, f := newInstance(t)
	add(t, f, dir, unix.IN_ALL_EVENTS)
	for range 3 {
		TellName(n, dir, "a", unix.IN_MODIFY, 0)
	}
	TellName(n, dir, "b", unix.IN_MODIFY, 0)
	TellName(n, dir, "a", unix.IN_MODIFY, 0)
	TellName(n, dir, "a", unix.IN_ATTRIB, 0)
	expect(t, read(f, 1000), "1 0x2 0 a", "1 0x2 0 b", "1 0x2 0 a", "1 0x4 0 a")
}

// TestMasks: a watch tells of the events that it has asked for. Adding the same file again changes
// its watch, adds to it, or fails, as the flags say; one that was removed says so once.
func TestMasks(t *testing.T) {
	n, f := newInstance(t)
	wd := add(t, f, file, unix.IN_OPEN)
	if other := add(t, f, dir, unix.IN_OPEN); other == wd {
		t.Errorf("two files have the watch %d", wd)
	}
	if again := add(t, f, file, unix.IN_ATTRIB|unix.IN_MASK_ADD); again != wd {
		t.Errorf("the same file has the watches %d and %d", wd, again)
	}
	if _, e := f.Add(file, unix.IN_OPEN|unix.IN_MASK_CREATE); e != unix.EEXIST {
		t.Errorf("IN_MASK_CREATE of a watched file: %v", e)
	}
	all := func() {
		for _, mask := range []uint32{unix.IN_OPEN, unix.IN_ATTRIB, unix.IN_MODIFY} {
			TellInode(n, file, mask)
		}
	}
	all()
	expect(t, read(f, 1000), "1 0x20 0 ", "1 0x4 0 ")
	add(t, f, file, unix.IN_MODIFY)
	all()
	expect(t, read(f, 1000), "1 0x2 0 ")
	if e := f.Remove(wd); e != 0 {
		t.Error(e)
	}
	if e := f.Remove(wd); e != unix.EINVAL {
		t.Errorf("removed twice: %v", e)
	}
	all()
	expect(t, read(f, 1000), "1 0x8000 0 ")
	if next := add(t, f, file, unix.IN_OPEN); next != 3 {
		t.Errorf("the next watch is %d: numbers are not given twice", next)
	}
}

// TestOneshot: such a watch ends with its first event.
func TestOneshot(t *testing.T) {
	n, f := newInstance(t)
	add(t, f, file, unix.IN_MODIFY|unix.IN_ONESHOT)
	TellInode(n, file, unix.IN_OPEN)
	for range 2 {
		TellInode(n, file, unix.IN_MODIFY)
	}
	expect(t, read(f, 1000), "1 0x2 0 ", "1 0x8000 0 ")
	if Watched(n) {
		t.Error("something is watched still")
	}
}

// TestOverflow: a full queue ends with one event that says so, and takes further ones when it was
// read.
func TestOverflow(t *testing.T) {
	n, f := newInstance(t)
	const most = 5
	maxQueued.Set(n, most)
	add(t, f, dir, unix.IN_ALL_EVENTS)
	for i := range 2 * most {
		TellName(n, dir, fmt.Sprint(i), unix.IN_CREATE, 0)
	}
	expect(t, read(f, 1000), "1 0x100 0 0", "1 0x100 0 1", "1 0x100 0 2", "1 0x100 0 3", "1 0x100 0 4", "-1 0x4000 0 ")
	TellName(n, dir, "later", unix.IN_CREATE, 0)
	expect(t, read(f, 1000), "1 0x100 0 later")
}

// TestLimits: there are no more instances and watches than the settings say, and those that ended
// count no more.
func TestLimits(t *testing.T) {
	n, f := newInstance(t)
	maxInstances.Set(n, 2)
	maxWatches.Set(n, 1)
	g, e := New(n)
	if e != 0 {
		t.Fatal(e)
	}
	if _, e := New(n); e != unix.EMFILE {
		t.Errorf("a third instance: %v", e)
	}
	add(t, g, dir, unix.IN_OPEN)
	if _, e := f.Add(file, unix.IN_OPEN); e != unix.ENOSPC {
		t.Errorf("a second watch: %v", e)
	}
	g.Release(n)
	add(t, f, file, unix.IN_OPEN)
	if _, e := New(n); e != 0 {
		t.Errorf("one instance has ended: %v", e)
	}
}
