package filelock

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// lockModel holds the same locks byte by byte.
type lockModel [3][24]byte // 'r', 'w' or 0, by owner

// blocked reports whether x of owner meets another's lock.
func (m *lockModel) blocked(owner int, x Record) bool {
	for o := range m {
		for i := x.Start; o != owner && i <= x.End; i++ {
			if m[o][i] == 'w' || m[o][i] == 'r' && x.Write {
				return true
			}
		}
	}
	return false
}

func TestRecordLocksAgainstBytes(t *testing.T) {
	rand := kernel.NewRand(7)
	n := func(max int) int { return int(rand.Uint64() % uint64(max)) }
	key := inode.Key{Dev: 1, Ino: 2}
	for round := 0; round < 300; round++ {
		node := kernel.NewNode(0, "n0", 1)
		var model lockModel
		var owners [3]Owner
		for i := range owners {
			owners[i].Table = kernel.NewFDTable()
		}
		for step := 0; step < 60; step++ {
			o, s := n(3), n(24)
			x := Record{Owner: owners[o], Start: int64(s), End: int64(s + n(24-s)), Write: n(2) == 0}
			blocked := model.blocked(o, x)
			mark := byte('r')
			if x.Write {
				mark = 'w'
			}
			if n(3) == 0 {
				Of(node).Unlock(key, x)
				mark, blocked = 0, false
			} else if e := Of(node).Lock(key, x); (e == unix.EAGAIN) != blocked {
				t.Fatalf("round %d step %d: lock %+v: %v, model says blocked %v", round, step, x, e, blocked)
			}
			for i := x.Start; !blocked && i <= x.End; i++ {
				model[o][i] = mark
			}
			checkTidy(t, Of(node).files[key])
		}
	}
}

// checkTidy: no two locks of an owner overlap, or touch and are alike.
func checkTidy(t *testing.T, f *fileLocks) {
	t.Helper()
	if f == nil {
		return
	}
	for i, a := range f.records {
		if a.Start > a.End {
			t.Fatalf("empty lock %+v", a)
		}
		for _, b := range f.records[:i] {
			if a.Owner != b.Owner {
				continue
			}
			if a.Start <= b.End && b.Start <= a.End || a.Write == b.Write &&
				(a.End+1 == b.Start || b.End+1 == a.Start) {
				t.Fatalf("locks %+v and %+v should be one", a, b)
			}
		}
	}
}

func TestLocksUntilEndOfFile(t *testing.T) {
	node := kernel.NewNode(0, "n0", 1)
	a, b := Owner{Table: kernel.NewFDTable()}, Owner{File: &kernel.OpenFile{}}
	key := inode.Key{Dev: 1, Ino: 2}
	Of(node).Lock(key, Record{Owner: a, Start: 0, End: EndOfFile, Write: true})
	Of(node).Unlock(key, Record{Owner: a, Start: 10, End: 19})
	for _, c := range []struct {
		start, end int64
		free       bool
	}{{10, 19, true}, {9, 10, false}, {19, 20, false}, {1 << 40, EndOfFile, false}} {
		_, conflict := Of(node).Conflict(key, Record{Owner: b, Start: c.start, End: c.end})
		if conflict == c.free {
			t.Errorf("%d to %d: conflict %v", c.start, c.end, conflict)
		}
	}
}

func TestFlock(t *testing.T) {
	node := kernel.NewNode(0, "n0", 1)
	key := inode.Key{Dev: 1, Ino: 2}
	file := func() *kernel.OpenFile { return &kernel.OpenFile{File: &kernel.HostFile{Dev: 1, Ino: 2}, Refs: 1} }
	a, b := file(), file()
	set := func(what string, f *kernel.OpenFile, exclusive, ok bool) {
		t.Helper()
		if wait := Of(node).Flock(key, f, exclusive); (wait == nil) != ok {
			t.Errorf("%s: got it: %v", what, wait == nil)
		}
	}
	set("first shared", a, false, true)
	set("second shared", b, false, true)
	set("exclusive beside shared", a, true, false) // and gives the shared one up
	set("exclusive alone", b, true, true)
	set("shared beside exclusive", a, false, false)
	b.Drop(node)
	set("after the other was closed", a, false, true)
	a.Drop(node)
	if len(Of(node).files) != 0 {
		t.Errorf("left: %v", Of(node).files)
	}
}

func TestClosingAnyDescriptorDropsPOSIXLocks(t *testing.T) {
	node := kernel.NewNode(0, "n0", 1)
	key := inode.Key{Dev: 1, Ino: 2}
	table := kernel.NewFDTable()
	open := func(fd int) *kernel.OpenFile {
		f := &kernel.OpenFile{File: &kernel.HostFile{Dev: 1, Ino: 2}}
		table.Set(fd, f, false)
		return f
	}
	posix, ofd := Owner{Table: table}, Owner{File: open(3)}
	open(4)
	Of(node).Lock(key, Record{Owner: posix, End: 9, Write: true})
	Of(node).Lock(key, Record{Owner: ofd, Start: 20, End: 29, Write: true})
	table.Close(node, 4)
	other := Record{Owner: Owner{Table: kernel.NewFDTable()}, End: EndOfFile}
	if r, ok := Of(node).Conflict(key, other); !ok || r.Owner != ofd {
		t.Errorf("after the first close: %+v %v", r, ok)
	}
	table.Close(node, 3)
	if r, ok := Of(node).Conflict(key, other); ok {
		t.Errorf("after the last close: %+v", r)
	}
}
