package kernel

import (
	"testing"

	"golang.org/x/sys/unix"
)

// lockModel holds the same locks byte by byte.
type lockModel [3][24]byte // 'r', 'w' or 0, by owner

// blocked reports whether x of owner meets another's lock.
func (m *lockModel) blocked(owner int, x RecordLock) bool {
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
	rand := NewRand(7)
	n := func(max int) int { return int(rand.Uint64() % uint64(max)) }
	key := FileKey{1, 2}
	for round := 0; round < 300; round++ {
		node := NewNode(0, "n0", 1)
		var model lockModel
		var owners [3]LockOwner
		for i := range owners {
			owners[i].Table = NewFDTable()
		}
		for step := 0; step < 60; step++ {
			o, s := n(3), n(24)
			x := RecordLock{Owner: owners[o], Start: int64(s), End: int64(s + n(24-s)), Write: n(2) == 0}
			blocked := model.blocked(o, x)
			mark := byte('r')
			if x.Write {
				mark = 'w'
			}
			if n(3) == 0 {
				LocksOf(node).Unlock(key, x)
				mark, blocked = 0, false
			} else if e := LocksOf(node).Lock(key, x); (e == unix.EAGAIN) != blocked {
				t.Fatalf("round %d step %d: lock %+v: %v, model says blocked %v", round, step, x, e, blocked)
			}
			for i := x.Start; !blocked && i <= x.End; i++ {
				model[o][i] = mark
			}
			checkTidy(t, LocksOf(node).files[key])
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
			if a.Start <= b.End && b.Start <= a.End || a.Write == b.Write && (a.End+1 == b.Start || b.End+1 == a.Start) {
				t.Fatalf("locks %+v and %+v should be one", a, b)
			}
		}
	}
}

func TestLocksUntilEndOfFile(t *testing.T) {
	node := NewNode(0, "n0", 1)
	a, b := LockOwner{Table: NewFDTable()}, LockOwner{File: &OpenFile{}}
	key := FileKey{1, 2}
	LocksOf(node).Lock(key, RecordLock{Owner: a, Start: 0, End: EndOfFile, Write: true})
	LocksOf(node).Unlock(key, RecordLock{Owner: a, Start: 10, End: 19})
	for _, c := range []struct {
		start, end int64
		free       bool
	}{{10, 19, true}, {9, 10, false}, {19, 20, false}, {1 << 40, EndOfFile, false}} {
		_, conflict := LocksOf(node).Conflict(key, RecordLock{Owner: b, Start: c.start, End: c.end})
		if conflict == c.free {
			t.Errorf("%d to %d: conflict %v", c.start, c.end, conflict)
		}
	}
}

func TestFlock(t *testing.T) {
	node := NewNode(0, "n0", 1)
	key := FileKey{1, 2}
	file := func() *OpenFile { return &OpenFile{File: &HostFile{Dev: 1, Ino: 2}, Refs: 1} }
	a, b := file(), file()
	set := func(what string, f *OpenFile, exclusive, ok bool) {
		t.Helper()
		if wait := LocksOf(node).Flock(key, f, exclusive); (wait == nil) != ok {
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
	if len(LocksOf(node).files) != 0 {
		t.Errorf("left: %v", LocksOf(node).files)
	}
}

func TestClosingAnyDescriptorDropsPOSIXLocks(t *testing.T) {
	node := NewNode(0, "n0", 1)
	key := FileKey{1, 2}
	table := NewFDTable()
	open := func(fd int) *OpenFile {
		f := &OpenFile{File: &HostFile{Dev: 1, Ino: 2}}
		table.Set(fd, f, false)
		return f
	}
	posix, ofd := LockOwner{Table: table}, LockOwner{File: open(3)}
	open(4)
	LocksOf(node).Lock(key, RecordLock{Owner: posix, End: 9, Write: true})
	LocksOf(node).Lock(key, RecordLock{Owner: ofd, Start: 20, End: 29, Write: true})
	table.Close(node, 4)
	other := RecordLock{Owner: LockOwner{Table: NewFDTable()}, End: EndOfFile}
	if r, ok := LocksOf(node).Conflict(key, other); !ok || r.Owner != ofd {
		t.Errorf("after the first close: %+v %v", r, ok)
	}
	table.Close(node, 3)
	if r, ok := LocksOf(node).Conflict(key, other); ok {
		t.Errorf("after the last close: %+v", r)
	}
}
