//go:build linux

package node

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
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

// shuffle is a program that does a few things to a few files, which ones its seed says. It changes
// files also by descriptors that it has from before, when they have other names or none.
const shuffle = prelude + `
import random
r = random.Random(%d)
dirs, names, fds = [".", "a", "b", "a/c", "b/a", "b/c"], ["a", "b", "c", "f", "g"], []
def name(): return os.path.join(r.choice(dirs), r.choice(names))
def create():
    if len(fds) < 40: fds.append(os.open(name(), os.O_RDWR | os.O_CREAT, 0o600 + r.randrange(8)))
def nameless():
    fd = os.open(r.choice(dirs), os.O_TMPFILE | os.O_RDWR, 0o600)
    fds.append(fd)
    os.write(fd, b"tmp%%d" %% fd)
    check(c.linkat(-100, b"/proc/self/fd/%%d" %% fd, -100, name().encode(), 0x400))
def write(): os.pwrite(r.choice(fds), bytes([r.randrange(97, 123)]) * r.choice([1, 5, 5000]), r.choice([0, 3, 4096]))
def cut(): os.ftruncate(r.choice(fds), r.choice([0, 2, 4100]))
def move(): os.rename(name(), name())
def swap(): renameat2(name().encode(), name().encode(), 2)
def sync(): os.fsync(r.choice(fds))
def syncdir():
    fd = os.open(r.choice(dirs), os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(fd)
    os.close(fd)
def attr(): os.setxattr(r.choice(fds), "user.a", bytes([r.randrange(97, 123)]))
calls = [create, create, create, write, write, cut, move, move, move, move, nameless, swap, sync, syncdir, attr,
    lambda: os.mkdir(name()), lambda: os.mkdir(name()), lambda: os.mkdir(name()), lambda: os.link(name(), name()), lambda: os.symlink(r.choice(names), name()),
    lambda: os.unlink(name()), lambda: os.unlink(name()), lambda: os.rmdir(name()), lambda: os.chmod(name(), 0o700 + r.randrange(8)), lambda: os.fchmod(r.choice(fds), 0o640)]
def some(n):
    done = 0
    for i in range(20 * n):
        try:
            r.choice(calls)()
            done += 1
        except (OSError, IndexError): pass
        if done == n: break
for d in dirs[1:4]: os.mkdir(d)
some(10)
if r.randrange(2): os.sync()
time.sleep(1)
some(12)
print("done", flush=True)
time.sleep(1000)
`

// TestImages: the files of a node are after a loss of power what the image says, whatever was done
// to them. The test works out the image from the operations alone, in memory.
func TestImages(t *testing.T) {
	const sayDone = "\nprint('done', flush=True)\ntime.sleep(1000)"
	for name, program := range map[string]string{
		"out of a directory":        `os.mkdir("d"); put("t", b"x"); os.rename("t", "d/f"); os.rename("d", "e")`,
		"changed without a name":    `fd = put("f", b"old"); os.sync(); time.sleep(1); os.unlink("f"); os.write(fd, b"new" * 2000); os.fchmod(fd, 0o600)`,
		"replaced, then changed":    `fd = put("f", b"old"); put("g", b"g"); os.sync(); time.sleep(1); os.rename("g", "f"); os.ftruncate(fd, 1); os.fchmod(fd, 0o600)`,
		"without a name from then":  `fd = put("f", b"old"); os.unlink("f"); os.sync(); os.write(fd, b"new"); put("g", b"g")`,
		"directories in each other": `os.makedirs("a/b"); put("a/b/f", b"f"); os.sync(); os.rename("a/b", "b"); os.rename("a", "b/a"); os.rename("b/f", "b/a/f")`,
	} {
		t.Run(name, func(t *testing.T) { everyImage(t, prelude+program+sayDone) })
	}
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { everyImage(t, fmt.Sprintf(shuffle, seed)) })
	}
}

// untilDone brings a node to where its program says that it is done. whole: all that it did is in
// its log.
func untilDone(t *testing.T, program string, whole bool) (*Node, ariadne.Output) {
	n, apply := downOf(t, world.Power, t.TempDir(), "/usr/bin/python3", "-c", program)
	n.k.Files.Whole = whole
	out := apply(ariadne.Input{Kind: ariadne.Start})
	if len(lines(&out)) == 0 { // what it has by now is frozen, so its files outlive their names
		before, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { before.Drop() })
		if n, err = before.Thaw(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Close() })
		if out, err = n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}); err != nil {
			t.Fatal(err)
		}
	}
	if got := lines(&out); !slices.Equal(got, []string{"done"}) {
		t.Fatal(got)
	}
	return n, out
}

// everyImage compares images of what a program has done by each model.
func everyImage(t *testing.T, program string) {
	n, _ := untilDone(t, program, true)
	m, began := newMemory(t, n), newMemory(t, n)
	ops := n.Log().Ops()
	for _, op := range ops {
		m.apply(op)
	}
	if got, want := snapshot(t, n), m.snapshot(); !slices.Equal(got, want) {
		t.Fatalf("by the log there is\n%s\nbut there is\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	// As it is for searches: the log begins again when nothing in it can be lost any more.
	n, out := untilDone(t, program, false)
	log := n.Log()
	for _, op := range ops[:len(ops)-log.Len()] {
		began.apply(op)
	}
	frozen, err := n.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	applied := 0
	for _, model := range []disk.Model{disk.Prefix, disk.Ordered, disk.Any} {
		all := model.Images(log, disk.Choice{Limit: 16})
		for k := range all.Lost {
			c, err := frozen.Thaw()
			if err != nil {
				t.Fatal(err)
			}
			c.cfg.Faults.Power.Model, c.cfg.Faults.Power.Images = model, 16
			in := ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
				Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}}
			if k > 0 {
				in.Vary = ariadne.Variation(fmt.Sprintf("disk:%d@0/disk#1", k+1))
			}
			if _, err := c.Apply(in); err != nil {
				t.Errorf("model %v, without %v of\n%s%v", model, all.Lost[k], listed(log), err)
			} else if got, want := snapshot(t, c), m.with(all.Image(k), began).snapshot(); !slices.Equal(got, want) {
				t.Errorf("model %v, without %v of\n%sthere is\n%s\nwant\n%s", model, all.Lost[k], listed(log),
					strings.Join(got, "\n"), strings.Join(want, "\n"))
			} else if got, want := dated(t, c), m.with(all.Image(k), began).dated(); !slices.Equal(got, want) {
				t.Errorf("model %v, without %v of\n%sfiles were modified\n%s\nwant\n%s", model, all.Lost[k], listed(log), strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			applied++
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if t.Failed() {
				break
			}
		}
	}
	if applied == 0 {
		t.Error("no image")
	}
	if err := frozen.Drop(); err != nil {
		t.Error(err)
	}
}

// TestOperationsTellTimes: by what operations say of times of modification all files have those
// that the node sees.
func TestOperationsTellTimes(t *testing.T) {
	for seed := range 6 {
		n, apply := downOf(t, world.Power, t.TempDir(), "/usr/bin/python3", "-c", fmt.Sprintf(shuffle, seed))
		n.k.Files.Whole = true
		out := apply(ariadne.Input{Kind: ariadne.Start})
		apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		m := newMemory(t, n)
		for _, op := range n.Log().Ops() {
			m.apply(op)
		}
		got, want := dated(t, n), m.dated()
		if !slices.Equal(got, want) || len(got) < 3 {
			t.Errorf("seed %d: files were modified\n%s\nby the log\n%s", seed, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
	}
}

// dated lists the files of a node with the times at which they were modified, by its clock.
func dated(t *testing.T, n *Node) (all []string) {
	base, _ := n.ownFiles()
	dir := filepath.Join(base, "node")
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		all = append(all, fmt.Sprint(rel, " ", n.k.Files.Times(keyOfStat(&st)).Modify))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// memory is the files of a node, in memory.
type memory struct {
	root  uint64
	names map[uint64]map[string]uint64 // by directory
	files map[uint64]memoryFile
}

type memoryFile struct {
	mode   uint32
	modify int64
	data   string
	target string
	x      string // the one extended attribute
}

// newMemory finds the files of a node before all that is in its log.
func newMemory(t *testing.T, n *Node) *memory {
	base, _ := n.ownFiles()
	number := func(name string) uint64 {
		var st unix.Stat_t
		if err := unix.Lstat(name, &st); err != nil {
			t.Fatal(err)
		}
		return n.k.Files.Number(keyOfStat(&st))
	}
	return &memory{root: number(filepath.Join(base, "node")), names: map[uint64]map[string]uint64{},
		files: map[uint64]memoryFile{}}
}

func (m *memory) name(dir uint64, name string, ino uint64) {
	if m.names[dir] == nil {
		m.names[dir] = map[string]uint64{}
	}
	if m.names[dir][name] = ino; ino == 0 {
		delete(m.names[dir], name)
	}
}

func (m *memory) apply(op *disk.Op) {
	f := m.files[op.Ino]
	switch op.Kind {
	case disk.Create:
		f.mode, f.target = op.Attr.Mode, op.Target
		if op.Dir != 0 {
			m.name(op.Dir, op.Name, op.Ino)
		}
	case disk.Link:
		m.name(op.Dir, op.Name, op.Ino)
	case disk.Unlink:
		m.name(op.Dir, op.Name, 0)
	case disk.Rename:
		m.name(op.Dir, op.Name, 0)
		if op.Flags&disk.Exchange != 0 {
			m.name(op.Dir, op.Name, op.Over)
		}
		m.name(op.ToDir, op.ToName, op.Ino)
	case disk.Write, disk.Truncate, disk.Allocate, disk.Zero, disk.Shift:
		b := append([]byte(f.data), make([]byte, max(0, int(op.Size)-len(f.data)))...)[:op.Size]
		if hi := min(op.Offset+op.Length, op.Size); op.Kind != disk.Allocate && op.Offset < hi {
			clear(b[op.Offset:hi])
			copy(b[op.Offset:hi], op.New)
		}
		f.data = string(b)
	case disk.SetAttr:
		f.mode = op.Attr.Mode
	case disk.SetXattr:
		f.x = string(op.New)
	default:
		return
	}
	if op.Kind <= disk.Create || op.Kind == disk.SetAttr {
		f.modify = op.Time
	}
	m.files[op.Ino] = f
	for _, dir := range []uint64{op.Dir, op.ToDir} {
		f := m.files[dir]
		f.modify = op.Time
		m.files[dir] = f
	}
}

// with is the files as they are in an image, where began is those with which the log began.
func (m *memory) with(img *disk.Image, began *memory) *memory {
	c := &memory{root: m.root, names: map[uint64]map[string]uint64{}, files: maps.Clone(m.files)}
	for dir, names := range m.names {
		c.names[dir] = maps.Clone(names)
	}
	for _, x := range img.Names {
		c.name(x.Dir, x.Name, x.Ino)
	}
	for _, x := range img.Files {
		f := c.files[x.Ino]
		if x.Size >= 0 {
			f.data = (f.data + strings.Repeat("\x00", int(x.Size)))[:x.Size]
		}
		for _, e := range x.Data {
			f.data = f.data[:e.Offset] + string(e.Bytes) + f.data[int(e.Offset)+len(e.Bytes):]
		}
		if x.Attr != nil {
			f.mode = x.Attr.Mode
		}
		if x.Retimed {
			if f.modify = began.files[x.Ino].modify; x.Last != nil {
				f.modify = x.Last.Time
			}
		}
		for _, v := range x.Xattrs {
			f.x = string(v.Value)
		}
		c.files[x.Ino] = f
	}
	return c
}

// snapshot lists the files as snapshot does those of a node.
func (m *memory) snapshot() (all []string) {
	first := map[uint64]string{}
	var walk func(dir uint64, at string)
	walk = func(dir uint64, at string) {
		for _, name := range slices.Sorted(maps.Keys(m.names[dir])) {
			ino, rel := m.names[dir][name], path.Join(at, name)
			f := m.files[ino]
			line := fmt.Sprintf("%s %o %d", rel, f.mode, ino)
			switch f.mode & unix.S_IFMT {
			case unix.S_IFREG:
				line += fmt.Sprintf(" %q", f.data)
			case unix.S_IFLNK:
				line += " -> " + f.target
			}
			if other, ok := first[ino]; ok {
				line += " is " + other
			}
			first[ino] = rel
			if f.x != "" {
				line += " user.a=" + f.x
			}
			all = append(all, line)
			walk(ino, rel)
		}
	}
	walk(m.root, "")
	return all
}

// dated lists the files as dated does those of a node.
func (m *memory) dated() (all []string) {
	var walk func(dir uint64, at string)
	walk = func(dir uint64, at string) {
		for _, name := range slices.Sorted(maps.Keys(m.names[dir])) {
			rel := path.Join(at, name)
			all = append(all, fmt.Sprint(rel, " ", m.files[m.names[dir][name]].modify))
			walk(m.names[dir][name], rel)
		}
	}
	walk(m.root, "")
	return all
}

func listed(l *disk.Log) string {
	var b strings.Builder
	for i, op := range l.Ops() {
		fmt.Fprintf(&b, "%d: %v (%d)\n", i, op, op.Ino)
	}
	return b.String()
}
