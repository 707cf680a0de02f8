//go:build linux

package crash

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system/checker"
)

// shown is all that stat and reading show of what is in a directory, but what depends on the
// moment.
func shown(t *testing.T, dir string) (all []string) {
	t.Helper()
	first := map[uint64]string{}
	var walk func(name string)
	walk = func(name string) {
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(dir, name)
		line := fmt.Sprintf("%s %o %d %d modified %d", rel, st.Mode, st.Uid, st.Gid, st.Mtim.Nano())
		if first[st.Ino] == "" { // else it was read just now
			line += fmt.Sprintf(" read %d", st.Atim.Nano())
		}
		b := make([]byte, 4096)
		n, _ := unix.Llistxattr(name, b)
		for x := range strings.SplitSeq(string(b[:max(n, 0)]), "\x00") {
			if strings.HasPrefix(x, "user.") {
				v := make([]byte, 4096)
				k, _ := unix.Lgetxattr(name, x, v)
				line += fmt.Sprintf(" %s=%q", x, v[:k])
			}
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %d %d %x", st.Nlink, len(b), sha256.Sum256(b))
			if other, ok := first[st.Ino]; ok {
				line += " is " + other
			}
			first[st.Ino] = rel
		case unix.S_IFLNK:
			target, _ := os.Readlink(name)
			line += " -> " + target
			first[st.Ino] = rel
		case unix.S_IFDIR:
			list, err := namesIn(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, line)
			slices.Sort(list)
			for _, n := range list {
				walk(filepath.Join(name, n))
			}
			return
		}
		all = append(all, line)
	}
	walk(dir)
	return all
}

// drawnImages are images that are mostly the same: one of many files, and versions of it.
func drawnImages(r *rand.Rand) (all []*tree) {
	root := draftDirectory()
	node := draftDirectory()
	root.names[home[1:]] = node
	dirs := []*draft{node}
	for i := range 3 {
		d := draftDirectory()
		node.names[fmt.Sprint("d", i)] = d
		dirs = append(dirs, d)
	}
	file := func(n int) *draft {
		b := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, n)
		return &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | []uint32{0o644, 0o600, 0o444}[r.IntN(3)],
			Modify: int64(r.IntN(1000)) * 1e9}, data: newContent(b)}}
	}
	for i := range 12 {
		d := dirs[r.IntN(len(dirs))]
		d.names[fmt.Sprint("f", i)] = file([]int{0, 5, 5000, 100_000}[r.IntN(4)])
	}
	node.names["one"] = file(5)
	node.names["two"] = node.names["one"]
	node.names["link"] = &draft{file: symbolic("f1")}
	base := newTree(root)
	all = append(all, base)
	ids := slices.Sorted(maps.Keys(base.files))
	for range 3 {
		e := base.edit()
		for range 1 + r.IntN(4) {
			f := base.files[ids[r.IntN(len(ids))]]
			switch {
			case f.id == 0 || f == base.find(home):
			case r.IntN(5) == 0 && len(f.links) > 0:
				e.unlink(f.links[0].dir, f.links[0].name)
			case r.IntN(4) == 0 && !f.directory():
				e.link(base.find(home).id, fmt.Sprint("new", r.IntN(3)), f.id)
			case r.IntN(4) == 0 && f.attr.Mode&unix.S_IFMT != unix.S_IFLNK:
				e.change(f.id).setXattr("user.a", []byte{byte('a' + r.IntN(26))}, false)
			case f.regular():
				c := f.data.resized(int64(r.IntN(120_000)))
				at := int64(r.IntN(100_000))
				c.put(at, at+3, []byte("new"))
				e.change(f.id).data = c
			default:
				e.change(f.id).attr.Modify = int64(r.IntN(1000)) * 1e9
			}
		}
		all = append(all, &tree{root: e.done()})
	}
	return all
}

func symbolic(target string) file {
	return file{attr: disk.Attr{Mode: unix.S_IFLNK | 0o777}, target: target}
}

// tampering is what checkers may do to an image. Each command is given a path of a file, and a
// number.
var tampering = map[string]string{
	"write":      `printf x >> "$f"`,
	"overwrite":  `printf x | dd of="$f" conv=notrunc 2>/dev/null; touch -r /proc/self/exe "$f"`,
	"same size":  `m=$(stat -c %y "$f"); printf y | dd of="$f" conv=notrunc 2>/dev/null; touch -d "$m" "$f"`,
	"cut":        `: > "$f"`,
	"remove":     `rm -rf "$f"`,
	"rename":     `mv "$f" "$f.old"; : > "$f"`,
	"swap":       `mv "$f" ../swap; cp ../swap "$f"; rm -rf ../swap`,
	"mode":       `chmod 777 "$f"`,
	"times":      `touch "$f"`,
	"read":       `cat "$f" > /dev/null; ls "$f" > /dev/null`,
	"more":       `mkdir -p more/below; : > more/below/x; ln -s x more/link`,
	"link":       `ln "$f" linked; printf z >> linked`,
	"link away":  `ln "$f" ../away; printf z >> ../away; rm ../away`,
	"root":       `chmod 0 .`,
	"attributes": `python3 -c 'import os, sys; os.setxattr(sys.argv[1], "user.b", b"1")' "$f"`,
	"root attr":  `python3 -c 'import os; os.setxattr(".", "user.b", b"1")'`,
	"mapping": `python3 -c 'import os, sys, mmap
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOATIME)
m = mmap.mmap(fd, 1)
m[0] # else the store changes the time of modification
os.close(fd)
m[0:1] = b"m"' "$f"`,
	"leaves a mapping": `python3 -c 'import os, sys, mmap, time
fd = os.open(sys.argv[1], os.O_RDWR)
m = mmap.mmap(fd, 1)
m[0] # else the store changes the time of modification
os.close(fd)
if os.fork(): sys.exit()
os.setsid(); os.close(1); os.close(2)
m[0]
open("../left", "w").write(str(os.getpid()))
os.rename("../left", "../leaves")
while os.path.exists("../leaves"): m[0:1] = b"m"; time.sleep(0.0001)' "$f"; for i in 1 2 3 4 5 6 7 8 9; do test -e ../leaves && break; sleep 0.1; done`,
}

// TestNothingLeaks: whatever a checker does to an image, the next one is what it is in a directory
// of its own.
func TestNothingLeaks(t *testing.T) {
	commands := slices.Sorted(maps.Keys(tampering))
	replaced, kept := 0, 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		top, alone := inMemory(t), filepath.Join(t.TempDir(), "alone")
		dir := filepath.Join(top, "node")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		images := drawnImages(r)
		s := newSlot(dir)
		defer s.close()
		var before map[string]uint64
		for round := range 6 {
			image := images[r.IntN(len(images))]
			if err := s.put(image); err != nil {
				t.Fatal(err)
			}
			if s.notify < 0 || s.root == nil {
				t.Skip("nobody tells of files here")
			}
			if err := os.Mkdir(alone, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := newSlot(alone).fill(image); err != nil {
				t.Fatal(err)
			}
			got, want := shown(t, dir), shown(t, alone)
			now := inodes(t, dir)
			for name, ino := range before {
				if now[name] == ino {
					kept++
				} else {
					replaced++
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d: there is\n%s\nwant\n%s", seed, round, strings.Join(got, "\n"),
					strings.Join(want, "\n"))
			}
			os.RemoveAll(alone)
			before = now
			paths := slices.DeleteFunc(slices.Sorted(maps.Keys(now)), func(name string) bool { return name == dir })
			for range r.IntN(3) {
				name := commands[r.IntN(len(commands))]
				cmd := exec.Command("/bin/sh", "-c", tampering[name])
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "f="+paths[r.IntN(len(paths))])
				cmd.Run() // it may fail, as when there is no such file any more
			}
		}
		os.Remove(filepath.Join(top, "leaves"))
	}
	t.Logf("%d files stayed, %d were replaced or gone", kept, replaced)
	if kept < 200 || replaced < 50 {
		t.Errorf("%d files stayed, %d were replaced or gone", kept, replaced)
	}
}

// TestEachTampering: likewise, one thing that a checker may do after the other, to a file and to a
// directory.
func TestEachTampering(t *testing.T) {
	root, node, sub := draftDirectory(), draftDirectory(), draftDirectory()
	root.names[home[1:]], node.names["sub"] = node, sub
	regular := file{attr: disk.Attr{Mode: unix.S_IFREG | 0o644, Modify: 5e9},
		data: newContent(bytes.Repeat([]byte{'a'}, 5000))}
	node.names["file"], sub.names["file"] = &draft{file: regular}, &draft{file: regular}
	image := newTree(root)
	alone := t.TempDir()
	if err := newSlot(alone).fill(image); err != nil {
		t.Fatal(err)
	}
	want := shown(t, alone)
	for _, command := range slices.Sorted(maps.Keys(tampering)) {
		for _, name := range []string{"file", "sub"} {
			top := inMemory(t)
			dir := filepath.Join(top, "node")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s := newSlot(dir)
			defer s.close()
			for round := range 3 {
				if err := s.put(image); err != nil {
					t.Fatal(err)
				}
				if s.notify < 0 {
					t.Skip("nobody tells of files here")
				}
				if got := shown(t, dir); !slices.Equal(got, want) {
					t.Errorf("%s, %s, round %d: there is\n%s\nwant\n%s", command, name, round, strings.Join(got, "\n"),
						strings.Join(want, "\n"))
				}
				cmd := exec.Command("/bin/sh", "-c", tampering[command])
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "f="+name)
				cmd.Run()
			}
			os.Remove(filepath.Join(top, "leaves"))
		}
	}
}

// inMemory makes a directory where images are put if they can be: stores through a mapping that was
// read before do not change a file's times there.
func inMemory(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "ariadne-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { checker.Remove(dir) })
	return dir
}

// inodes are those of all files in a directory, by their paths.
func inodes(t *testing.T, dir string) map[string]uint64 {
	all := map[string]uint64{}
	filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		s, e := statOfFile(name)
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		all[name] = s.ino
		return nil
	})
	return all
}

// written is how many bytes this process has written so far.
func written(t *testing.T) (n int64) {
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip(err)
	}
	if _, err := fmt.Sscanf(string(b[bytes.Index(b, []byte("wchar:")):]), "wchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSlotCost: the next image costs no more calls than there are files, and writes no more than is
// different.
func TestSlotCost(t *testing.T) {
	root, node := draftDirectory(), draftDirectory()
	root.names[home[1:]] = node
	const size = 8 << 20
	node.names["large"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o644},
		data: newContent(bytes.Repeat([]byte{'a'}, size))}}
	images := []*tree{newTree(root)}
	e := images[0].edit()
	id := images[0].find(home + "/large").id
	c := e.file(id).data.resized(size)
	c.put(4096, 4099, []byte("new"))
	e.change(id).data = c
	images = append(images, &tree{root: e.done()})
	dir := t.TempDir()
	s := newSlot(dir)
	defer s.close()
	for round := range 5 {
		before := written(t)
		if err := s.put(images[round%2]); err != nil {
			t.Fatal(err)
		}
		if n := written(t) - before; round > 0 && n > 4*chunkSize {
			t.Errorf("round %d: %d bytes were written for one that is different in 3", round, n)
		}
		// as a checker does
		if b, err := os.ReadFile(filepath.Join(dir, "large")); err != nil || len(b) != size {
			t.Fatal(len(b), err)
		}
	}
}

// TestSlotLooks: the next image costs as many looks at files however many there are that nobody has
// opened, and one for each that somebody has.
func TestSlotLooks(t *testing.T) {
	const opened = 3
	looks := map[int]int{}
	for _, files := range []int{10, 1000} {
		root, node, sub := draftDirectory(), draftDirectory(), draftDirectory()
		root.names[home[1:]], node.names["sub"] = node, sub
		for i := range files {
			d := []*draft{node, sub}[i%2]
			d.names[fmt.Sprint("f", i)] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o644},
				data: newContent(fmt.Append(nil, i))}}
		}
		images := []*tree{newTree(root)}
		e := images[0].edit()
		e.unlink(images[0].find(home+"/sub").id, "f1")
		images = append(images, &tree{root: e.done()})
		dir, alone := t.TempDir(), t.TempDir()
		s := newSlot(dir)
		defer s.close()
		for round := range 6 {
			before := s.looks
			if err := s.put(images[round%2]); err != nil {
				t.Fatal(err)
			}
			if s.notify < 0 {
				t.Skip("nobody tells of files here")
			}
			if looks[files] = s.looks - before; round >= 2 && looks[files] > 2*opened+8 {
				t.Errorf("%d files, round %d: %d looks, for images that differ in one file", files, round, looks[files])
			}
			for i := range opened { // as a checker does
				if _, err := os.ReadFile(filepath.Join(dir, fmt.Sprint("f", 2*i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.put(images[0]); err != nil {
			t.Fatal(err)
		}
		if err := newSlot(alone).fill(images[0]); err != nil {
			t.Fatal(err)
		}
		if got, want := shown(t, dir), shown(t, alone); !slices.Equal(got, want) {
			t.Errorf("%d files: there is\n%s\nwant\n%s", files, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if looks[10] != looks[1000] {
		t.Errorf("among 10 files %d looks, among 1000 %d", looks[10], looks[1000])
	}
}
