package disk_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/disktest"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

func parsed(t *testing.T, name string) Model {
	m, err := ParseModel(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// workload makes up an operation, and does it.
func workload(t *rapid.T, f *disktest.FS, next *uint64, small bool) (op Op, ok bool) {
	name := func(label string) (uint64, string) {
		dirs := []uint64{disktest.Root}
		for _, ino := range slices.Sorted(maps.Keys(f.Files)) {
			if ino != disktest.Root && f.Files[ino].Dir && f.Links(ino) > 0 {
				dirs = append(dirs, ino)
			}
		}
		return rapid.SampledFrom(dirs).Draw(t, label+" dir"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label)
	}
	empty := func(ino uint64) bool {
		for key := range f.Names {
			if key[0] == ino {
				return false
			}
		}
		return true
	}
	below := func(dir, in uint64) bool { // dir is in, or below it
		for dir != disktest.Root {
			if dir == in {
				return true
			}
			for key, ino := range f.Names {
				if ino == dir {
					dir = key[0].(uint64)
					break
				}
			}
		}
		return false
	}
	kind := func(ino uint64) uint32 {
		if f.Files[ino].Dir {
			return TypeDir | 0o755
		}
		return TypeRegular | 0o644
	}
	var regular, every []uint64
	for _, ino := range slices.Sorted(maps.Keys(f.Files)) {
		every = append(every, ino)
		if !f.Files[ino].Dir {
			regular = append(regular, ino)
		}
	}
	op.Kind = rapid.SampledFrom([]Kind{Write, Write, Write, Write, Truncate, Allocate, Zero, Create, Create, Link,
		Unlink, Rename, Rename, SetAttr, SetXattr, Fsync, Fsync, Fdatasync, Sync, Close}).Draw(t, "kind")
	letter := byte('A' + *next%26)
	switch op.Kind {
	case Write, Truncate, Allocate, Zero, Close, SetAttr, SetXattr:
		if len(regular) == 0 {
			return op, false
		}
		op.Ino = rapid.SampledFrom(regular).Draw(t, "file")
	case Fsync, Fdatasync:
		op.Ino = rapid.SampledFrom(every).Draw(t, "file")
	}
	n := f.Files[op.Ino]
	sizes := []int64{0, 1, 100, 512, 700, 4000, 4096, 4500, 8192}
	if small {
		sizes = []int64{0, 1, 100, 512, 700, 1024}
	}
	if (op.Kind == Fsync || op.Kind == Fdatasync) && !n.Dir && rapid.IntRange(0, 2).Draw(t, "ranged") == 0 {
		op.Flags, op.Offset, op.Length = Ranged, rapid.SampledFrom(sizes).Draw(t, "offset"),
			rapid.SampledFrom(sizes[1:]).Draw(t, "length")
	}
	switch op.Kind {
	case Write:
		op.Offset = rapid.SampledFrom(append(sizes, n.Size)).Draw(t, "offset")
		op.Length = rapid.SampledFrom(sizes[1:]).Draw(t, "length")
		if small {
			op.Length = min(op.Length, 700)
		}
		op.New, op.Old = bytes.Repeat([]byte{letter}, int(op.Length)), n.Get(op.Offset, op.Offset+op.Length)
		op.OldSize, op.Size = n.Size, max(n.Size, op.Offset+op.Length)
		if rapid.IntRange(0, 4).Draw(t, "direct") == 0 {
			op.Flags = Direct
		}
		n.Put(op.Offset, op.New, op.Length)
		n.Size = op.Size
	case Truncate:
		op.OldSize, op.Size = n.Size, rapid.SampledFrom(sizes).Draw(t, "size")
		if op.Size < op.OldSize {
			op.Old = n.Get(op.Size, op.OldSize)
			n.Put(op.Size, nil, op.OldSize-op.Size)
		}
		n.Size = op.Size
	case Allocate:
		op.OldSize, op.Size = n.Size, max(n.Size, rapid.SampledFrom(sizes).Draw(t, "size"))
		n.Size = op.Size
	case Zero:
		op.Offset, op.Length = rapid.SampledFrom(sizes).Draw(t, "offset"),
			rapid.SampledFrom(sizes[1:]).Draw(t, "length")
		op.Old, op.OldSize, op.Size = n.Get(op.Offset, op.Offset+op.Length), n.Size, n.Size
		n.Put(op.Offset, nil, op.Length)
	case SetAttr:
		op.OldAttr = Attr{Mode: n.Mode}
		op.Attr = Attr{Mode: n.Mode&TypeMask | rapid.SampledFrom([]uint32{0o600, 0o644}).Draw(t, "mode")}
		n.Mode = op.Attr.Mode
	case SetXattr:
		op.Xattr = rapid.SampledFrom([]string{"user.a", "user.b"}).Draw(t, "xattr")
		was, had := n.X[op.Xattr]
		op.Old, op.Absent = []byte(was), !had
		if op.Gone = had && rapid.Bool().Draw(t, "gone"); op.Gone {
			delete(n.X, op.Xattr)
		} else {
			op.New = []byte{letter}
			n.X[op.Xattr] = string(op.New)
		}
	case Create:
		op.Dir, op.Name = name("name")
		if f.Names[[2]any{op.Dir, op.Name}] != 0 {
			return op, false
		}
		*next++
		op.Ino, op.Links = *next, 1
		m := &disktest.File{Dir: rapid.IntRange(0, 2).Draw(t, "directory") == 0, X: map[string]string{}}
		f.Files[op.Ino] = m
		m.Mode = kind(op.Ino)
		op.Attr.Mode = m.Mode
		f.Names[[2]any{op.Dir, op.Name}] = op.Ino
	case Link:
		op.Dir, op.Name = name("name")
		fromDir, from := name("from")
		op.Ino = f.Names[[2]any{fromDir, from}]
		if op.Ino == 0 || f.Files[op.Ino].Dir || f.Names[[2]any{op.Dir, op.Name}] != 0 {
			return op, false
		}
		f.Names[[2]any{op.Dir, op.Name}] = op.Ino
		op.Links = f.Links(op.Ino)
	case Unlink:
		op.Dir, op.Name = name("name")
		op.Ino = f.Names[[2]any{op.Dir, op.Name}]
		if op.Ino == 0 || !empty(op.Ino) {
			return op, false
		}
		op.Attr.Mode = kind(op.Ino)
		delete(f.Names, [2]any{op.Dir, op.Name})
		op.Links = f.Links(op.Ino)
	case Rename:
		op.Dir, op.Name = name("name")
		op.ToDir, op.ToName = name("to")
		from, to := [2]any{op.Dir, op.Name}, [2]any{op.ToDir, op.ToName}
		op.Ino, op.Over = f.Names[from], f.Names[to]
		if op.Ino == 0 || op.Ino == op.Over || from == to || below(op.ToDir, op.Ino) {
			return op, false
		}
		op.Attr.Mode = kind(op.Ino)
		exchange := op.Over != 0 && rapid.IntRange(0, 3).Draw(t, "exchange") == 0
		switch {
		case exchange && below(op.Dir, op.Over):
			return op, false
		case exchange:
			op.Flags = Exchange
			f.Names[from], f.Names[to] = op.Over, op.Ino
		case op.Over != 0 && (f.Files[op.Over].Dir != f.Files[op.Ino].Dir || !empty(op.Over)):
			return op, false
		default:
			delete(f.Names, from)
			f.Names[to] = op.Ino
		}
		op.Links, op.OverLinks = f.Links(op.Ino), 0
		if op.Over != 0 {
			op.OverLinks = f.Links(op.Over)
		}
	}
	return op, true
}

// reachable are the inodes that have a name.
func reachable(f *disktest.FS) []uint64 {
	all := []uint64{disktest.Root}
	for n := 0; n < len(all); n++ {
		for key, ino := range f.Names {
			if key[0] == all[n] && !slices.Contains(all, ino) {
				all = append(all, ino)
			}
		}
	}
	return all
}

// sameTime sees to it that an image says which operation set a file's time of modification, and
// returns 1 if that is another one than now.
func sameTime(t *rapid.T, i *Images, n int, image *Image, ino uint64) int {
	now, want := i.SetBy(-1, ino), i.SetBy(n, ino)
	for _, x := range image.Files {
		if x.Ino == ino && x.Retimed {
			if x.Last != want {
				t.Errorf("inode %d: its time is of %v, want %v", ino, x.Last, want)
			}
			return 1
		}
	}
	if now != want {
		t.Errorf("inode %d: its time is of %v as now, want %v", ino, now, want)
	}
	return 0
}

// TestDumb compares the images with those of a model that tries each set of pieces of operations.
func TestDumb(t *testing.T) {
	for _, m := range []Model{Prefix, Ordered, Any, parsed(t, "ordered:512"), parsed(t, "any:512")} {
		t.Run(m.String(), func(t *testing.T) {
			most, images, sets, ended, logs, retimed, among := 0, 0, 0, 0, 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				f := disktest.NewFS()
				f.Files[3] = &disktest.File{Size: 600, Data: bytes.Repeat([]byte{'x'}, 600), Mode: TypeRegular | 0o644,
					X: map[string]string{"user.a": "old"}}
				f.Names[[2]any{uint64(disktest.Root), "a"}] = 3
				before, next := f.Clone(), uint64(3)
				var ops []*Op
				var l, window *Log
				var underWay []Op // syncs that have begun
				enter := func(op Op) {
					ops = append(ops, &op)
					l, window = l.Append(op), window.Append(op)
					if op.Barrier() && window.Durable() {
						window = nil
					}
				}
				n, begun := 0, 0
				for range rapid.IntRange(1, 9).Draw(t, "operations") {
					if len(underWay) > 0 && rapid.IntRange(0, 2).Draw(t, "ends") == 0 {
						i := rapid.IntRange(0, len(underWay)-1).Draw(t, "which")
						enter(underWay[i])
						underWay = slices.Delete(underWay, i, i+1)
						ended++
						continue
					}
					g, was := f.Clone(), next
					op, ok := workload(t, g, &next, strings.HasSuffix(m.String(), ":512"))
					if ok && op.Barrier() && rapid.Bool().Draw(t, "takes time") {
						begun++
						op.Begun = begun
						underWay = append(underWay, op)
						op.Kind, op.Sync = Submit, op.Kind
					}
					more := disktest.Pieces(m, &op)
					if !ok || n+more > 11 {
						next = was
						continue
					}
					n += more
					f = g
					enter(op)
					for ino, made := range f.Files { // those that are not there yet
						if before.Files[ino] == nil {
							before.Files[ino] = &disktest.File{Dir: made.Dir, Mode: op.Attr.Mode,
								X: map[string]string{}}
						}
					}
				}
				want, subsets := disktest.Images(m, before, ops, (*disktest.FS).String)
				i := m.Images(l, Choice{Limit: 1 << 20})
				got := map[string]bool{}
				for k, lost := range i.Lost {
					image := i.Image(k)
					if again := i.Without(lost); again.Digest != image.Digest {
						t.Fatalf("image without %v again: %v", lost, again)
					}
					restored := f.Restore(image)
					for _, ino := range reachable(restored) {
						retimed += sameTime(t, i, k, image, ino)
					}
					s := restored.String()
					if got[s] {
						t.Errorf("twice: %s", s)
					}
					got[s] = true
					if !want[s] {
						t.Errorf("lost %v: %s", lost, s)
					}
				}
				for s := range want {
					if !got[s] {
						t.Errorf("missing: %s", s)
					}
				}
				if l.Durable() && len(want) != 1 {
					t.Errorf("%d images of what is durable", len(want))
				}
				if !i.Exact || int(i.Legal) != subsets || i.Subsets != subsets {
					t.Errorf("%d of %v subsets (exact: %v), want %d", i.Subsets, i.Legal, i.Exact, subsets)
				}
				// A log that begins again whenever all is durable has the same images. By ordered
				// it may matter besides where a file had holes, and that it was cut.
				i = m.Images(window, Choice{Limit: 1 << 20})
				rest := map[string]bool{}
				for k := range i.Lost {
					rest[f.Restore(i.Image(k)).String()] = true
				}
				if len(i.Lost) == 0 {
					rest[f.String()] = true
				}
				if !strings.HasPrefix(m.String(), "ordered") && !maps.Equal(rest, got) {
					t.Errorf("%d images of what is left of the log, want %d", len(rest), len(got))
				}
				if t.Failed() {
					for k, op := range ops {
						t.Logf("%d: %v %+v", k, op, *op)
					}
				}
				// Along the log each image is formed once.
				w := NewWalk(m, Choice{Limit: 1 << 20})
				points, walked := map[string]bool{}, 0
				for k, op := range ops {
					at, _ := disktest.Images(m, before, ops[:k+1], (*disktest.FS).String)
					maps.Copy(points, at)
					walked += len(w.Add(op).Lost)
				}
				if len(ops) > 0 && walked != len(points) {
					t.Errorf("%d images along the log, want %d", walked, len(points))
				}
				// Where much is not durable most images lack few of it: each of them is one that
				// the model allows.
				w = NewWalk(m, Choice{Limit: 4, Seed: uint64(len(ops))})
				w.SetFew(2)
				for _, op := range ops {
					i := w.Add(op)
					for k := range i.Lost {
						if i.Last() < len(ops)-1 { // the files are those behind the last one
							break
						}
						if s := f.Restore(i.Image(k)).String(); !want[s] {
							t.Errorf("among many, lost %v: %s", i.Lost[k], s)
						}
					}
					if w.Saved() {
						among += len(i.Lost)
					}
				}
				most, images, sets, logs = max(most, len(want)), images+len(want), sets+subsets, logs+1
			})
			t.Logf("%d images of %d subsets of %d logs, %d at most; %d syncs that took time", images, sets, logs, most, ended)
			if among == 0 {
				t.Error("not much was unsynced")
			}
			if retimed == 0 {
				t.Error("no file has another time of modification")
			}
			if ended == 0 && logs >= 100 { // with -short few are drawn
				t.Error("no sync took time")
			}
		})
	}
}
