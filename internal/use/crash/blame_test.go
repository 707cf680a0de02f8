//go:build linux

package crash

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// saves are the operations of a program that saves n files, one after the other: each is created
// and written under a temporary name, and renamed. Nothing is synced.
func saves(n int) (ops []*disk.Op) {
	regular := disk.Attr{Mode: unix.S_IFREG | 0o644}
	for k := range n {
		ino, tmp, name := uint64(20+k), fmt.Sprint("tmp", k), fmt.Sprint("file", k)
		ops = append(ops,
			&disk.Op{Kind: disk.Create, Ino: ino, Dir: 11, Name: tmp, Links: 1, Attr: regular, Path: "/node/" + tmp},
			&disk.Op{Kind: disk.Write, Ino: ino, Length: 4, New: []byte("new\n"), Size: 4, Path: "/node/" + tmp},
			&disk.Op{Kind: disk.Rename, Ino: ino, Dir: 11, Name: tmp, ToDir: 11, ToName: name, Links: 1, Attr: regular,
				Path: "/node/" + tmp, ToPath: "/node/" + name})
	}
	return ops
}

// TestBlame: of an image that lacks many operations those are to blame without which it would be
// accepted, as early as it fails.
func TestBlame(t *testing.T) {
	for name, c := range map[string]struct {
		model  disk.Model
		images int
		log    []*disk.Op
		check  string
		groups []string
	}{
		// The last file was renamed when the third one was not.
		"one rename": {disk.Any, 8, saves(8), "test ! -e file7 || test -e file2",
			[]string{"rename of tmp7 to file7 before rename of tmp2 to file2: "}},
		// a kill leaves the same
		"in order": {disk.Prefix, 64, saves(4), "test ! -e tmp2 || test -s tmp2", nil},
		"data": {disk.Ordered, 20, saves(6), "for i in 0 1 2 3 4 5; do test ! -e file$i || test -s file$i || exit 1; done",
			[]string{"rename of tmp0 to file0 before size of tmp0 (and 5 similar): "}},
		"two renames": {disk.Any, 30, saves(5), "test ! -e file4 || test -e file1 || test -e file2", []string{"rename of tmp4 to file4 before rename of tmp1 to file1 and 1 more: "}},
		"a kill": {disk.Any, 20, saves(4), "test ! -e file1 || test -e file3",
			[]string{"rename of tmp1 to file1, and nothing after it: "}},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Judge(t.Context(),
				Options{Log: c.log, Check: []string{"/bin/sh", "-c", c.check}, Models: []disk.Model{c.model},
					Images: c.images, Workers: 2, Timeout: 10 * time.Second, Temp: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			r := all[1]
			var got []string
			for _, g := range r.Groups {
				got = append(got, fmt.Sprintf("%s%s: %d", &g, g.others(), g.Images))
			}
			t.Log(got, r.Shrunk, r.Shortest)
			if r.Uncertain > 0 || len(got) != len(c.groups) {
				t.Fatalf("%q, %d uncertain", got, r.Uncertain)
			}
			for i, want := range c.groups {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}

// TestMinimal: nothing that the examples of groups lack can be put back: they would be accepted.
func TestMinimal(t *testing.T) {
	shown := 0
	rapid.Check(t, func(rt *rapid.T) {
		const files = 5
		// A condition holds unless a file is there and all of some others are not.
		type condition struct {
			there int
			lost  []int
		}
		conditions := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) condition {
			there := rapid.IntRange(1, files-1).Draw(rt, "there")
			return condition{there, rapid.SliceOfNDistinct(rapid.IntRange(0, there-1), 1, 3, rapid.ID).Draw(rt, "lost")}
		}), 1, 3).Draw(rt, "conditions")
		script := ""
		for _, c := range conditions {
			script += fmt.Sprintf("if test -e file%d", c.there)
			for _, k := range c.lost {
				script += fmt.Sprintf(" && test ! -e file%d", k)
			}
			script += "; then exit 1; fi\n"
		}
		accepts := func(done int, lost []int) bool { // files whose renames are not there
			for _, c := range conditions {
				there := func(k int) bool { return k < done && !slices.Contains(lost, k) }
				if there(c.there) && !slices.ContainsFunc(c.lost, there) {
					return false
				}
			}
			return true
		}
		temp, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		m := rapid.SampledFrom([]disk.Model{disk.Prefix, disk.Ordered, disk.Any}).Draw(rt, "model")
		all, err := Judge(t.Context(),
			Options{Log: saves(files), Check: []string{"/bin/sh", "-c", script + ":"}, Models: []disk.Model{m},
				Images: 12, Workers: 2, Timeout: 10 * time.Second, Temp: temp})
		if err != nil {
			rt.Fatal(err)
		}
		r, images := all[1], 0
		for _, g := range r.Groups {
			images += g.Images
			var renames []int
			for _, p := range g.Example.missing {
				if p.Op%3 != 2 {
					rt.Fatalf("%v is lost, and no rename", g.Example.Lost)
				}
				renames = append(renames, p.Op/3)
			}
			shown += len(renames)
			done := g.Example.Operation / 3
			if accepts(done, renames) {
				rt.Errorf("%v is accepted", g.Example.Lost)
			}
			for i := range renames {
				if !accepts(done, slices.Delete(slices.Clone(renames), i, i+1)) {
					rt.Errorf("%v fails without %v", script, g.Example.Lost)
				}
			}
		}
		if r.Uncertain > 0 || images != r.Failed-r.Killed {
			rt.Errorf("%d images in groups, of %d; %d uncertain", images, r.Failed-r.Killed, r.Uncertain)
		}
	})
	if shown == 0 {
		t.Error("nothing failed")
	}
}
