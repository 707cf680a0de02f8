//go:build linux

package node

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"golang.org/x/sys/unix"
)

// rules are those of docs/guides/storage.md: for each program of testdata/rules.c the images that a
// loss of power may leave by the models prefix, ordered and any (with :512 behind the name, by
// these with small sectors), as the page says, and not as the code does. "=" is the same as by the
// model before. An image lists the files (described); "-" is the empty one.
var rules = []struct{ name, prefix, ordered, any string }{
	{"overwrite", "f=a8192 | f=b4096a4096 | f=b8192", "f=a8192 | f=b4096a4096 | f=a4096b4096 | f=b8192", "="},
	{"overwrite twice", "f=a1 | f=b1 | f=c1", "=", "="},
	{"overwrite two files", "f=a1 g=b1 | f=c1 g=b1 | f=c1 g=d1", "f=a1 g=b1 | f=c1 g=b1 | f=a1 g=d1 | f=c1 g=d1", "="},
	{"sectors", "f=a1024 | f=b1024", "=", "="},
	{"sectors:512", "f=a1024 | f=b512a512 | f=b1024", "f=a1024 | f=b512a512 | f=a512b512 | f=b1024", "="},
	{"append", "f=a1 | f=a1b2", "=", "f=a1 | f=a102 | f=a1b2"},
	{"append pages", "f= | f=a4096 | f=a8192", "=", "f= | f=04096 | f=a4096 | f=08192 | f=a409604096 | f=04096a4096 | f=a8192"},
	// The close of a file that was not cut promises nothing, and its size is no part of the order
	// of metadata.
	{"append, mkdir", "f=a1 | f=a1b1 | d/ f=a1b1", "f=a1 | f=a1b1 | d/ f=a1 | d/ f=a1b1",
		"f=a1 | f=a101 | f=a1b1 | d/ f=a1 | d/ f=a101 | d/ f=a1b1"},
	{"write vectors", "f=b1c1a4094 | f=b1c1b1c1a4092", "=", "="},

	{"truncate down", "f=a8192 | f=a4096", "=", "="},
	{"truncate up", "f=a1 | f=a104", "=", "="},
	{"truncate down, up", "f=a2 | f=a1 | f=a101", "=", "="},
	{"O_TRUNC, write", "f=a1 | f= | f=b1", "=", "f=a1 | f= | f=01 | f=b1"},
	{"O_TRUNC, write, close, mkdir", "f=a1 | f= | f=b1 | d/ f=b1", "=", "f=a1 | f= | f=01 | f=b1 | d/ f=a1 | d/ f= | d/ f=01 | d/ f=b1"},
	{"write into a hole", "f= | d/ f= | d/ f=04096 | d/ f=a4096", "=",
		"f= | f=04096 | f=a4096 | d/ f= | d/ f=04096 | d/ f=a4096"},

	{"fallocate", "f=a1 | f=a104095", "=", "="},
	{"fallocate, size kept", "f=a1", "=", "="},
	{"punch", "f=a8192 | f=04096a4096", "=", "="},
	{"punch, write", "f=a4096 | f=04096 | f=b4096", "=", "="},
	{"zero", "f=a8192 | f=a409604096", "=", "="},
	{"zero beyond the end", "f=a1 | f=04096", "=", "="},
	{"zero, size kept", "f=a1 | f=01", "=", "="},
	{"collapse", "f=a4096b4096 | f=b4096", "=", "="},
	{"insert", "f=a4096b4096 | f=a409604096b4096", "=", "="},

	{"create", "- | f=", "=", "="},
	{"create, write", "- | f= | f=a1", "=", "- | f= | f=01 | f=a1"},
	{"create, write, fsync", "f=a1", "=", "- | f=a1"},
	{"create, write, fsync, fsync of directory", "f=a1", "=", "="},
	{"create, write, fsync of directory", "f=a1", "f= | f=a1", "f= | f=01 | f=a1"},
	{"create, fdatasync of directory", "f=", "=", "="},

	{"rename", "f=a1 | h=a1", "=", "="},
	{"rename NOREPLACE", "f=a1 | h=a1", "=", "="},
	{"rename over", "f=a1 g=b1 | g=a1", "=", "="},
	{"rename EXCHANGE", "f=a1 g=b1 | f=b1 g=a1", "=", "="},
	{"rename two", "f=a1 g=b1 | g=b1 h=a1 | h=a1 i=b1", "=", "f=a1 g=b1 | g=b1 h=a1 | f=a1 i=b1 | h=a1 i=b1"},
	{"replace", "g=b1 | f= g=b1 | f=a1 g=b1 | g=a1", "=", "g=b1 | f= g=b1 | f=01 g=b1 | f=a1 g=b1 | g= | g=01 | g=a1"},
	{"replace, synced", "f=a1 g=b1 | g=a1", "=", "g=b1 | f=a1 g=b1 | g=a1"},
	{"rename, fsync", "h=a1", "=", "f=a1 | h=a1"},
	{"rename, fdatasync", "h=a1", "f=a1 | h=a1", "="},
	{"rename directories", "d/ e/ k/ | e/ e/d/ k/ | e/ e/d/ e/d/k/", "=", "="},
	{"rename over a directory", "d/ e/ | e/", "=", "="},

	{"link", "f=a1 | f=a1 h==f", "=", "="},
	{"link, unlink", "f=a1 | f=a1 h==f | h=a1", "=", "f=a1 | f=a1 h==f | h=a1 | -"},
	{"unlink", "f=a1 | -", "=", "="},
	{"mkdir", "- | d/", "=", "="},
	{"mkdir, create", "- | d/ | d/ d/x=", "=", "="},
	{"rmdir", "d/ | -", "=", "="},
	{"unlink, rmdir", "d/ d/x=x1 | d/ | -", "=", "="},
	{"symlink", "- | s->f", "=", "="},
	{"mknod", "- | p|", "=", "="},
	{"bind", "- | s@", "=", "="},

	{"chmod", "f=a1 | f=a1(600)", "=", "="},
	{"chmod, fsync", "f=a1(600)", "=", "="},
	{"chmod, fdatasync", "f=a1(600)", "f=a1 | f=a1(600)", "="},
	{"chown", "f=a1 | f=a1(1:2)", "=", "="},
	{"utimensat", "f=a1 | f=a1(5s,6s)", "=", "="},
	{"setxattr", "f=a1 | f=a1(user.a=1)", "=", "="},
	{"setxattr twice", "f=a1 | f=a1(user.a=1) | f=a1(user.a=2)", "=", "="},
	{"removexattr", "f=a1(user.a=1) | f=a1", "=", "="},

	{"O_SYNC", "f=a1", "=", "- | f=a1"},
	{"chmod, O_SYNC", "f=b1(600)", "=", "="},
	{"chmod, O_DSYNC", "f=b1(600)", "f=b1 | f=b1(600)", "="},
	{"O_DSYNC, another page", "f=b8192", "f=b4096a4096 | f=b8192", "="},
	{"O_DIRECT, mkdir", "f=a4096 | f=a4096b4096 | d/ f=a4096b4096", "=", "f=a4096 | f=a409604096 | f=a4096b4096 | d/ f=a4096 | d/ f=a409604096 | d/ f=a4096b4096"},
	{"append a page, mkdir", "f=a4096 | f=a4096b4096 | d/ f=a4096b4096", "f=a4096 | f=a4096b4096 | d/ f=a4096 | d/ f=a4096b4096", "f=a4096 | f=a409604096 | f=a4096b4096 | d/ f=a4096 | d/ f=a409604096 | d/ f=a4096b4096"},

	{"sync_file_range", "f=a1 | f=b1", "=", "="},
	{"append, fdatasync", "f=a1b1", "=", "="},
	// It has grown within a block that it had: the sync allocates nothing.
	{"append, mkdir, fdatasync", "d/ f=a1b1", "f=a1b1 | d/ f=a1b1", "="},
	{"mkdir, overwrite, fsync", "d/ f=b1", "f=b1 | d/ f=b1", "="},
	{"mkdir, append, fsync", "d/ f=a1", "=", "f=a1 | d/ f=a1"},
	{"syncfs", "d/ f=a1", "=", "="},
	{"syncfs of memory", "- | f= | f=a1", "=", "- | f= | f=01 | f=a1"},
	{"sync", "d/ f=a1", "=", "="},

	{"copy_file_range", "f=a1 g=b1 | f=b1 g=b1", "=", "="},
	{"sendfile", "f=a1 g=b1 | f=b1 g=b1", "=", "="},
	{"splice", "f=a1 | f=b1", "=", "="},
	{"io_submit", "f=a1 | f=b1", "=", "="},
	{"io_submit FSYNC", "f=b1", "=", "="},
	{"io_submit FDSYNC", "f=b1", "=", "="},

	{"removed while open", "f=a1 | -", "f=a1 | f=b1 | -", "="},
	{"renamed over while open", "f=a1 g=b1 | g=a1", "f=a1 g=b1 | f=a1 g=c1 | g=a1", "="},
	{"O_TMPFILE, linkat", "- | f=a1", "- | f= | f=a1", "- | f= | f=01 | f=a1"},
	{"O_TMPFILE, fsync, linkat", "- | f=a1", "=", "="},

	{"mmap", "f=a8192 | f=b4096a4096 | f=b8192", "f=a8192 | f=b4096a4096 | f=a4096b4096 | f=b8192", "="},
	{"mmap, msync", "f=b8192", "f=b4096a4096 | f=b8192", "="},
	{"mmap, msync MS_ASYNC", "f=a8192 | f=b4096a4096 | f=b8192", "f=a8192 | f=b4096a4096 | f=a4096b4096 | f=b8192",
		"="},
	{"mmap, fsync", "f=b8192", "=", "="},
}

// TestRules: what is left of each operation is what docs/guides/storage.md says. The whole log,
// applied to the files that the program found, makes of them what it leaves, and what it leaves on
// Linux.
func TestRules(t *testing.T) {
	program := filepath.Join(t.TempDir(), "rules")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program,
		"testdata/rules.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	list, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range rules {
		name, sector, torn := strings.Cut(r.name, ":")
		if !torn {
			names = append(names, name)
		}
		t.Run(r.name, func(t *testing.T) {
			n, out := runRule(t, program, name)
			log := n.Log()
			frozen, err := n.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			for i, text := range []string{r.prefix, r.ordered, r.any} {
				if text != "=" {
					want = text
				}
				model := []disk.Model{disk.Prefix, disk.Ordered, disk.Any}[i]
				if torn {
					model, _ = disk.ParseModel(model.String() + ":" + sector)
				}
				if got, want := left(t, frozen, model, out.Clock),
					strings.Split(want, " | "); !slices.Equal(slices.Sorted(maps.Keys(got)),
					slices.Sorted(slices.Values(want))) {
					t.Errorf("%v leaves of\n%s%q\nwant\n%q", model, listed(log), slices.Sorted(maps.Keys(got)), want)
				}
			}
			if err := frozen.Drop(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := strings.Split(strings.TrimSpace(string(list)), "\n"); !slices.Equal(got, names) {
		t.Errorf("testdata/rules.c has\n%q, the table\n%q", got, names)
	}
}

// runRule runs a program on a node up to where it waits, and compares its files with those of Linux
// and those that its log makes.
func runRule(t *testing.T, program, name string) (*Node, ariadne.Output) {
	n, apply := downOf(t, world.Power, filepath.Dir(program), "/spec/rules", name)
	n.k.Files.Whole = true
	out := apply(ariadne.Input{Kind: ariadne.Start})
	m := newMemory(t, n)
	if got := lines(&out); !slices.Equal(got, []string{"done"}) {
		t.Fatal(got)
	}
	dir := t.TempDir()
	native := exec.Command(program, name, "natively")
	native.Dir = dir
	if out, err := native.CombinedOutput(); err != nil {
		t.Fatalf("natively: %v\n%s", err, out)
	}
	base, _ := n.ownFiles()
	emulated := n.described(t)
	if linux := described(t, dir, func(_ string, st *unix.Stat_t, x string) marks {
		return marks{st.Uid, st.Gid, st.Atim.Nano(), st.Mtim.Nano(), x}
	}); linux != emulated {
		t.Errorf("on Linux there is\n%s\nin the node\n%s", linux, emulated)
	}
	ops := n.Log().Ops()
	for _, op := range ops {
		m.apply(op)
	}
	if got, want := snapshot(t, n), m.snapshot(); !slices.Equal(got, want) {
		t.Fatalf("by the log there is\n%s\nin %s there is\n%s", strings.Join(want, "\n"), base, strings.Join(got, "\n"))
	}
	n.k.Files.Whole, n.k.Files.Log = false, nil
	for _, op := range ops {
		n.k.Files.Enter(*op)
	}
	return n, out
}

// left are the images of a loss of power, as they are found on the node.
func left(t *testing.T, f *Checkpoint, model disk.Model, now ariadne.Time) map[string]bool {
	images := map[string]bool{}
	for k, of := 1, 1; k <= of; k++ {
		c, err := f.Thaw()
		if err != nil {
			t.Fatal(err)
		}
		c.cfg.Faults.Power.Model, c.cfg.Faults.Power.Images = model, 64
		in := ariadne.Input{Kind: ariadne.Fault, At: now,
			Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}}
		if k > 1 {
			in.Vary = ariadne.Variation(fmt.Sprintf("disk:%d@0/disk#1", k))
		}
		out, err := c.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Places) > 0 {
			of = 1 + len(out.Places[0].Alternatives)
		}
		if out.LeftOut != 0 {
			t.Errorf("%d images are left out", out.LeftOut)
		}
		d := c.described(t)
		if images[d] {
			t.Errorf("two images are %s", d)
		}
		images[d] = true
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return images
}

// marks are what a file has besides its content.
type marks struct {
	uid, gid       uint32
	access, modify int64
	x              string // user.a=1
}

// described lists what is below the node's /node.
func (n *Node) described(t *testing.T) string {
	base, _ := n.ownFiles()
	return described(t, filepath.Join(base, "node"), func(_ string, st *unix.Stat_t, _ string) marks {
		key := keyOfStat(st)
		m := marks{uid: st.Uid, gid: st.Gid}
		if times := n.k.Files.Times(key); times.Modify != 0 {
			m.access, m.modify = times.Access, times.Modify
		}
		for _, x := range n.k.Files.Xattrs(key) {
			m.x += x.Name + "=" + x.Value
		}
		return m
	})
}

// described lists the files below a directory: name=content, as runs of a byte and how often it
// comes, 0 for zero bytes; name==other for another name of a file, name/ for a directory,
// name->target for a symbolic link, name| for a pipe, name@ for a socket. In brackets is what is
// not as usual: the mode, the owner, times that were set to the first minute of 1970, an extended
// attribute.
func described(t *testing.T, dir string, more func(name string, st *unix.Stat_t, x string) marks) string {
	var all []string
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || name == dir {
			return err
		}
		if err := unix.Lstat(name, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if other, ok := first[st.Ino]; ok {
			all = append(all, rel+"=="+other)
			return nil
		}
		first[st.Ino] = rel
		usual := uint32(0o644)
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			usual = 0o755
			rel += "/"
		case unix.S_IFLNK:
			usual = 0o777
			target, _ := os.Readlink(name)
			rel += "->" + target
		case unix.S_IFIFO:
			rel += "|"
		case unix.S_IFSOCK:
			usual = 0o777
			rel += "@"
		default:
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel += "=" + shortened(b)
		}
		var value [16]byte
		x := ""
		if k, _ := unix.Lgetxattr(name, "user.a", value[:]); k > 0 {
			x = "user.a=" + string(value[:k])
		}
		m := more(name, &st, x)
		var marked []string
		if mode := st.Mode &^ unix.S_IFMT; mode != usual {
			marked = append(marked, fmt.Sprintf("%o", mode))
		}
		if m.uid != 0 || m.gid != 0 {
			marked = append(marked, fmt.Sprintf("%d:%d", m.uid, m.gid))
		}
		if early := int64(time.Minute); m.access > 0 && m.access < early && m.modify < early {
			marked = append(marked, fmt.Sprintf("%v,%v", time.Duration(m.access), time.Duration(m.modify)))
		}
		if m.x != "" {
			marked = append(marked, m.x)
		}
		if len(marked) > 0 {
			rel += "(" + strings.Join(marked, " ") + ")"
		}
		all = append(all, rel)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return "-"
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// shortened says of which runs some bytes consist.
func shortened(b []byte) string {
	var s strings.Builder
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		c := b[0]
		if c == 0 {
			c = '0'
		}
		fmt.Fprintf(&s, "%c%d", c, n)
		b = b[n:]
	}
	return s.String()
}
