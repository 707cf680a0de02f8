//go:build linux

package filetree

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func newTree(t *testing.T) (*Tree, string) {
	t.Helper()
	base, err := os.MkdirTemp("/dev/shm", "filetree")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if err := os.Mkdir(filepath.Join(base, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := New(base, []string{"node"}, "store")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tree.Close)
	return tree, filepath.Join(base, "node")
}

// picture is everything that a program can see of the files below dir.
func picture(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintf(&s, "%s %v", p, info.Mode())
		switch {
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(p)
			fmt.Fprintf(&s, " -> %s %v", target, err)
		case info.Mode().IsRegular():
			b, err := os.ReadFile(p)
			fmt.Fprintf(&s, " %d %x %v", len(b), sha256.Sum256(b), err)
		}
		s.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// TestRestoreIsExact: random changes, each state captured, with restores of random states in
// between: every state shows what it showed, and its files are the same ones as far as the tree
// tells.
func TestRestoreIsExact(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { restoreIsExact(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func restoreIsExact(t *testing.T, r *rand.Rand) {
	tree, dir := newTree(t)
	pick := func() string {
		p := dir
		for range 1 + r.IntN(3) {
			p = filepath.Join(p, string(rune('a'+r.IntN(3))))
		}
		return p
	}
	var states []*State
	var pictures []string
	shown := map[digest]string{}
	sum := func(s *State) digest { return s.Digest(func(b []byte, _ File) []byte { return b }) }
	capture := func(changed map[uint64]bool) {
		s, _, err := tree.Capture(changed)
		if err != nil {
			t.Fatal(err)
		}
		if changed != nil { // as if all had been looked at
			full, _, err := tree.Capture(nil)
			if err != nil {
				t.Fatal(err)
			}
			if sum(s) != sum(full) {
				t.Fatalf("with %v changed the digest is another one", changed)
			}
			if !maps.Equal(s.names.entries, full.names.entries) || !maps.Equal(s.files, full.files) {
				t.Fatalf("with %v changed, %v and %v, but really %v and %v", changed, s.names.entries, s.files,
					full.names.entries, full.files)
			}
		}
		states = append(states, s)
		pictures = append(pictures, picture(t, dir))
		if was, known := shown[sum(s)]; known && was != pictures[len(pictures)-1] {
			t.Fatalf("one digest for\n%s\nand\n%s", was, pictures[len(pictures)-1])
		}
		shown[sum(s)] = pictures[len(pictures)-1]
	}
	capture(nil)
	for range 1000 {
		if r.IntN(2) == 0 {
			i := r.IntN(len(states))
			if err := tree.Restore(states[i]); err != nil {
				t.Fatalf("state %d: %v", i, err)
			}
			if got := picture(t, dir); got != pictures[i] {
				t.Fatalf("state %d:\n%s\nwas\n%s", i, got, pictures[i])
			}
			again, _, err := tree.Capture(nil)
			if err != nil {
				t.Fatal(err)
			}
			if sum(again) != sum(states[i]) {
				t.Fatalf("state %d: another digest", i)
			}
			if !maps.Equal(again.names.entries, states[i].names.entries) {
				t.Fatalf("state %d: the names are %v, were %v", i, again.names.entries, states[i].names.entries)
			}
			continue
		}
		p := pick()
		var changed map[uint64]bool // nil: names, too
		var st unix.Stat_t
		if unix.Stat(p, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			changed = map[uint64]bool{st.Ino: true}
		}
		switch r.IntN(9) {
		case 0:
			os.Mkdir(p, 0o755)
		case 1, 2:
			os.WriteFile(p, []byte(fmt.Sprint(r.Uint64())), 0o644)
		case 3:
			if f, err := os.OpenFile(p, os.O_RDWR, 0); err == nil {
				f.WriteAt([]byte("page"), int64(r.IntN(5)*3000))
				f.Close()
			}
		case 4:
			os.RemoveAll(p)
			changed = nil
		case 5:
			os.Rename(p, pick())
			changed = nil
		case 6:
			os.Link(p, pick())
			changed = nil
		case 7:
			os.Symlink(fmt.Sprint(r.IntN(9)), p)
			changed = nil
		case 8:
			os.Truncate(p, int64(r.IntN(9000)))
			os.Chmod(p, os.FileMode(0o700|r.IntN(8)))
		}
		capture(changed)
	}
}

// TestDigestIsKept: a digest costs what has changed: the pages that a state shares with an earlier
// one are not looked at again.
func TestDigestIsKept(t *testing.T) {
	tree, dir := newTree(t)
	name := filepath.Join(dir, "data")
	if err := os.WriteFile(name, []byte(strings.Repeat("0123456789abcdef", 100*pageSize/16)), 0o644); err != nil {
		t.Fatal(err)
	}
	sum := func() (digest, *Content) {
		s, _, err := tree.Capture(nil)
		if err != nil {
			t.Fatal(err)
		}
		var c *Content
		d := s.Digest(func(b []byte, f File) []byte {
			if f.Size == 100*pageSize {
				c = s.files[f.Ino]
			}
			return b
		})
		return d, c
	}
	first, before := sum()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.WriteAt([]byte("x"), 50*pageSize)
	second, after := sum()
	kept := 0
	for p := range after.sums {
		if _, ok := before.sums[p]; ok {
			kept++
		}
	}
	if second == first || kept != 99 {
		t.Errorf("%d pages of 100 are those of before; the same digest: %v", kept, second == first)
	}
	f.WriteAt([]byte("0"), 50*pageSize)
	if third, _ := sum(); third != first {
		t.Error("the same content has another digest")
	}
}

// TestInodesStay: a descriptor opened before a change reads, after the change was undone, what it
// read then: the file is the same one.
func TestInodesStay(t *testing.T) {
	tree, dir := newTree(t)
	name := filepath.Join(dir, "log")
	if err := os.WriteFile(name, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before, fresh, err := tree.Capture(nil)
	if err != nil || len(fresh) != 1 {
		t.Fatal(fresh, err)
	}
	if err := os.WriteFile(name+".new", []byte("two"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		t.Fatal(err)
	}
	after, _, err := tree.Capture(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Restore(before); err != nil {
		t.Fatal(err)
	}
	a, _ := f.Stat()
	b, err := os.Stat(name)
	if err != nil || !os.SameFile(a, b) {
		t.Errorf("the file was replaced by a copy (%v)", err)
	}
	if err := tree.Restore(after); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "two" {
		t.Errorf("content %q, want two", b)
	}
}

// TestUnchangedIsShared: what did not change is not read again and not stored again.
func TestUnchangedIsShared(t *testing.T) {
	tree, dir := newTree(t)
	big := make([]byte, 64*pageSize)
	for i := range big {
		big[i] = byte(i)
	}
	name := filepath.Join(dir, "big")
	if err := os.WriteFile(name, big, 0o644); err != nil {
		t.Fatal(err)
	}
	a, _, err := tree.Capture(nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte{1, 2, 3}, 10*pageSize)
	f.Close()
	b, _, err := tree.Capture(nil)
	if err != nil {
		t.Fatal(err)
	}
	other := 0
	for ino, c := range b.files {
		for n, p := range c.pages {
			if a.files[ino].pages[n] != p {
				other++
			}
		}
	}
	if other != 1 {
		t.Errorf("%d pages are stored anew, want 1", other)
	}
	c, _, err := tree.Capture(map[uint64]bool{})
	if err != nil {
		t.Fatal(err)
	}
	for ino := range b.files {
		if c.files[ino] != b.files[ino] {
			t.Error("an unchanged file was read again")
		}
	}
}

// TestMovedAndBack: what is in a directory is found when only its parent has moved, and moved back.
func TestMovedAndBack(t *testing.T) {
	tree, dir := newTree(t)
	if err := os.MkdirAll(filepath.Join(dir, "a/c"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a/c/f"), []byte("f"), 0o644); err != nil {
		t.Fatal(err)
	}
	capture := func(changed map[uint64]bool) *State {
		t.Helper()
		s, _, err := tree.Capture(changed)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := capture(nil)
	root := map[uint64]bool{first.names.entries["node"].ino: true}
	for _, to := range []string{"b", "a"} {
		from := map[string]string{"a": "b", "b": "a"}[to]
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
		s := capture(root)
		if _, ok := s.names.entries["node/"+to+"/c/f"]; !ok || len(s.files) != 1 {
			t.Errorf("after a move to %s there are %v", to, s.names.sorted)
		}
	}
	if s := capture(root); !maps.Equal(s.names.entries, first.names.entries) {
		t.Errorf("there are %v, want %v", s.names.sorted, first.names.sorted)
	}
}
