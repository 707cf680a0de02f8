package disk

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

func mkdir(ino, dir uint64, name string) Op {
	return Op{Kind: Create, Ino: ino, Dir: dir, Name: name, Links: 1, Attr: Attr{Mode: TypeDir | 0o755}}
}

// TestDirectoriesMove: no directory gets below itself, in whatever order moves reach the disk.
func TestDirectoriesMove(t *testing.T) {
	l := logOf(mkdir(3, root, "a"), mkdir(4, 3, "b"), Op{Kind: Sync},
		Op{Kind: Rename, Ino: 4, Dir: 3, Name: "b", ToDir: root, ToName: "b", Links: 1, Attr: Attr{Mode: TypeDir}},
		Op{Kind: Rename, Ino: 3, Dir: root, Name: "a", ToDir: 4, ToName: "a", Links: 1, Attr: Attr{Mode: TypeDir}})
	if i := Any.Images(l, Choice{Limit: 100}); len(i.Lost) != 3 {
		t.Errorf("%d images: %v", len(i.Lost), i.Lost)
	}
}

// TestTemporary: a file without a name is nothing, until it has one.
func TestTemporary(t *testing.T) {
	tmp := Op{Kind: Create, Ino: 3, Attr: Attr{Mode: TypeRegular}}
	data := write(3, 0, "data", "", 0)
	direct := data
	direct.Flags = Direct
	link := Op{Kind: Link, Ino: 3, Dir: root, Name: "a", Links: 1}
	mode := Op{Kind: SetAttr, Ino: 3, OldAttr: tmp.Attr, Attr: Attr{Mode: TypeRegular | 0o600}}
	for name, c := range map[string]struct {
		ops  []Op
		want map[Model]int
	}{
		"no name": {[]Op{tmp, data}, map[Model]int{Prefix: 1, Ordered: 1, Any: 1}},
		// none; empty; zeros; whole
		"named":         {[]Op{tmp, data, link}, map[Model]int{Prefix: 2, Ordered: 3, Any: 4}},
		"synced, named": {[]Op{tmp, data, {Kind: Fsync, Ino: 3}, link}, map[Model]int{Prefix: 2, Ordered: 2, Any: 2}},
		"a synced range": {[]Op{tmp, link, {Kind: Sync}, data, {Kind: Fdatasync, Ino: 3, Flags: Ranged, Length: 2}},
			map[Model]int{Prefix: 1, Ordered: 1, Any: 1}},
		"mode, O_DSYNC": {[]Op{tmp, link, {Kind: Sync}, mode, {Kind: Fdatasync, Ino: 3, Flags: Ranged, Length: 2}},
			map[Model]int{Prefix: 1, Ordered: 2, Any: 2}},
		// A size that grew by what was not synced may stand for blocks that are yet to be
		// allocated; what is written directly has them.
		"cut, a synced range": {[]Op{tmp, link, {Kind: Sync}, data,
			{Kind: Truncate, Ino: 3, OldSize: 4, Old: []byte("data")},
			{Kind: Link, Ino: 3, Dir: root, Name: "b", Links: 2},
			{Kind: Fdatasync, Ino: 3, Flags: Ranged, Offset: 4096, Length: 1}},
			map[Model]int{Prefix: 1, Ordered: 1, Any: 2}},
		"cut, written directly": {[]Op{tmp, link, {Kind: Sync}, direct,
			{Kind: Truncate, Ino: 3, OldSize: 4, Old: []byte("data")},
			{Kind: Link, Ino: 3, Dir: root, Name: "b", Links: 2},
			{Kind: Fdatasync, Ino: 3, Flags: Ranged, Offset: 4096, Length: 1}},
			map[Model]int{Prefix: 1, Ordered: 2, Any: 2}},
		"mode, O_SYNC": {[]Op{tmp, link, {Kind: Sync}, mode, {Kind: Fsync, Ino: 3, Flags: Ranged, Length: 2}},
			map[Model]int{Prefix: 1, Ordered: 1, Any: 1}},
	} {
		for m, want := range c.want {
			if i := m.Images(logOf(c.ops...), Choice{Limit: 100}); len(i.Lost) != want {
				t.Errorf("%s, %v: %d images, want %d: %v", name, m, len(i.Lost), want, i.Lost)
			}
		}
	}
}

// TestRenameOver is the question whether to sync before one renames, by each model.
func TestRenameOver(t *testing.T) {
	replace := func(sync bool, over uint64) (ops []Op) {
		old := create(3, "f")
		if over == 0 {
			old = create(3, "g")
		}
		ops = []Op{old, write(3, 0, "old", "", 0), {Kind: Sync}, create(4, "tmp"), write(4, 0, "new", "", 0)}
		if sync {
			ops = append(ops, Op{Kind: Fsync, Ino: 4})
		}
		return append(ops,
			Op{Kind: Rename, Ino: 4, Over: over, Dir: root, Name: "tmp", ToDir: root, ToName: "f", Links: 1,
				Attr: Attr{Mode: TypeRegular}})
	}
	for _, c := range []struct {
		m          Model
		sync       bool
		over       uint64
		empty, bad bool // whether f can be empty, or of zeros
	}{
		{Prefix, false, 3, false, false},
		{Ordered, false, 3, false, false}, // auto_da_alloc
		{Ordered, false, 0, true, false},  // not where there was no file before
		{Ordered, true, 0, false, false},
		{Any, false, 3, true, true},
		{Any, true, 3, false, false},
	} {
		l := logOf(replace(c.sync, c.over)...)
		i := c.m.Images(l, Choice{Limit: 100})
		empty, bad := false, false
		for k := range i.Lost {
			image := i.Image(k)
			if slices.ContainsFunc(image.Names, func(n Name) bool { return n.Name == "f" }) {
				continue // the old one, or none
			}
			for _, f := range image.Files {
				empty = empty || f.Size == 0
				bad = bad || f.Size == -1 && len(f.Data) > 0
			}
		}
		if empty != c.empty || bad != c.bad {
			t.Errorf("%v, synced %v, over %d: empty %v, zeros %v", c.m, c.sync, c.over, empty, bad)
		}
	}
}

// TestDrawnIsNotAll: sets that were drawn are never told as all, since draws repeat each other.
func TestDrawnIsNotAll(t *testing.T) {
	var ops []Op
	for n := range uint64(9) {
		old := "o"
		if n >= 5 {
			old = "n" // that it is lost changes nothing
		}
		ops = append(ops, write(3+n, 0, strings.Repeat("n", 4096), strings.Repeat(old, 4096), 4096))
	}
	i := Any.Images(logOf(ops...), Choice{Limit: 110, Seed: 1})
	if len(i.Lost) != 32 || i.Legal != 512 || i.LeftOut() == 0 {
		t.Errorf("%d images, %d of %v sets looked at, %d left out", len(i.Lost), i.Subsets, i.Legal, i.LeftOut())
	}
}

// TestFewOfMany: where there are more images than are wanted, those that lose all, nothing, all but
// one and one come first, and it is known that there are more.
func TestFewOfMany(t *testing.T) {
	var ops []Op
	for n := range uint64(40) {
		ops = append(ops, write(3+n, 0, strings.Repeat("n", 4096), strings.Repeat("o", 4096), 4096))
	}
	l := logOf(ops...)
	i := Any.Images(l, Choice{Limit: 500, Seed: 1, Alone: true})
	if len(i.Lost) != 500 || !i.Exact || i.Legal != 1<<40 {
		t.Errorf("%d images of %v (exact: %v)", len(i.Lost), i.Legal, i.Exact)
	}
	for k, lost := range i.Lost {
		want := -1
		switch {
		case k == 0:
			want = 40
		case k == 1:
			want = 0
		case k < 42:
			want = 39
		case k < 82:
			want = 1
		}
		if want >= 0 && len(lost) != want {
			t.Errorf("image %d has lost %v", k, lost)
		}
	}
	again, other := Any.Images(l, Choice{Limit: 500, Seed: 1, Alone: true}),
		Any.Images(l, Choice{Limit: 500, Seed: 2, Alone: true})
	if !slices.Equal(i.Digests(), again.Digests()) || slices.Equal(i.Digests(), other.Digests()) {
		t.Error("the choice depends on something else than the seed")
	}
	for k, lost := range i.Lost {
		if again := i.Without(lost); again.Digest != i.Image(k).Digest {
			t.Errorf("%v: %v", lost, again)
		}
	}
}

// TestEqual: an image that is equal to one of earlier in the log has its digest.
func TestEqual(t *testing.T) {
	seen := map[ariadne.Digest]string{}
	w := NewWalk(Any, Choice{Limit: 100})
	images := 0
	for k, op := range []Op{
		write(3, 0, "new", "old", 3), {Kind: Fsync, Ino: 3}, write(3, 0, "old", "new", 3), {Kind: Fsync, Ino: 3},
		create(4, "tmp"), write(4, 0, "x", "", 0), {Kind: Sync},
		{Kind: Unlink, Ino: 4, Dir: root, Name: "tmp", Attr: Attr{Mode: TypeRegular}},
	} {
		i := w.Add(&op)
		for n, d := range i.Digests() {
			if at := seen[d]; at != "" {
				t.Errorf("%d: %v was there before, %s", k, i.Lost[n], at)
			}
			seen[d] = fmt.Sprint(k, i.Lost[n])
			images++
		}
	}
	// old, new, and tmp: empty, with a zero, whole.
	if images != 5 {
		t.Errorf("%d images: %v", images, seen)
	}
}

func BenchmarkImages(b *testing.B) {
	for _, n := range []uint64{10, 100, 1000} {
		var ops []Op
		for i := range n / 5 {
			ops = append(ops, create(3+i, fmt.Sprint("tmp", i)), write(3+i, 0, strings.Repeat("n", 6000), "", 0),
				Op{Kind: SetAttr, Ino: 3 + i},
				Op{Kind: Rename, Ino: 3 + i, Dir: root, Name: fmt.Sprint("tmp", i), ToDir: root, ToName: fmt.Sprint(i),
					Links: 1, Attr: Attr{Mode: TypeRegular}},
				Op{Kind: Fsync, Ino: 99})
		}
		l := logOf(ops...)
		for _, m := range []Model{Prefix, Ordered, Any} {
			b.Run(fmt.Sprintf("%v/%d", m, n), func(b *testing.B) {
				images := 0
				for b.Loop() {
					i := m.Images(l, Choice{Limit: 1000})
					for k := range i.Lost {
						i.Image(k)
					}
					images += len(i.Lost)
				}
				b.ReportMetric(float64(images)/b.Elapsed().Seconds(), "images/s")
			})
		}
		b.Run(fmt.Sprintf("walk/%d", n), func(b *testing.B) {
			images := 0
			for b.Loop() {
				w := NewWalk(Any, Choice{Limit: 100})
				for k := range ops {
					images += len(w.Add(&ops[k]).Lost)
				}
			}
			b.ReportMetric(float64(images)/b.Elapsed().Seconds(), "images/s")
		})
	}
}

// TestLosses: what is lost of a write is told by its bytes, and so is what is to blame where both
// are of one file.
func TestLosses(t *testing.T) {
	op := write(3, 0, strings.Repeat("x", 3*page), "", 3*page)
	op.Path = "a"
	l := logOf(op)
	i := Any.Images(l, Choice{Limit: 100})
	got := map[string]bool{}
	for n := range i.Lost {
		lost, kept := i.Blame(n)
		got[fmt.Sprint(i.Losses(n), " ", kept, " before ", lost)] = true
	}
	for _, want := range []string{
		"[{0 true []}]  before data of a",
		"[{0 false [[4096 12288]]}] data of a (bytes 0 to 4095) before data of a (bytes 4096 to 8191)",
		"[{0 false [[0 4096] [8192 12288]]}] data of a (bytes 4096 to 8191) before data of a (bytes 0 to 4095)",
		"[] data of a before ",
	} {
		if !got[want] {
			t.Errorf("no %q in %v", want, got)
		}
	}
}
