package inode

import (
	"bytes"
	"testing"
)

// TestRestart: of files that are not on a disk nothing is left, their numbers are free, and what is
// left of others shows in Append.
func TestRestart(t *testing.T) {
	a, b, c := Key{1, 1}, Key{1, 2}, Key{2, 1}
	table := func(keys ...Key) *Table {
		f := &Table{Private: 1}
		f.Init()
		for _, k := range keys {
			f.Inode(k)
		}
		return f
	}
	f, g := table(a, c, b), table(a)
	f.SetTimes(b, Times{1, 2, 3, 4})
	f.SetOwner(c, 5, 6)
	f.SetXattr(b, "user.x", "y", false, false)
	f.Restart(map[Key]bool{a: true})
	g.Restart(map[Key]bool{a: true})
	if f.Written(b) || f.Owned() || len(f.Xattrs(b)) > 0 || f.Inode(c) != freshInodes+1 || g.Inode(b) != freshInodes+1 {
		t.Errorf("%+v", f)
	}
	if !bytes.Equal(f.Append(nil, a), g.Append(nil, a)) {
		t.Error("the same file looks different")
	}
	for what, change := range map[string]func(){
		"times":    func() { g.SetTimes(a, Times{Epoch, Epoch, Epoch, Epoch + 1}) },
		"xattr":    func() { g.SetXattr(a, "user.x", "y", false, false) },
		"set-id":   func() { g.NoteMode(a, 0o104755) },
		"disk use": func() { g.Disk.Write(a, 1) },
	} {
		before := g.Append(nil, a)
		if change(); bytes.Equal(before, g.Append(nil, a)) {
			t.Errorf("%s does not show", what)
		}
	}
}
