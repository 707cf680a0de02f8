package block

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// flat is a disk in the simplest form.
type flat []byte

func (f flat) write(b []byte, offset int64) {
	if offset < int64(len(f)) {
		copy(f[offset:], b)
	}
}

func content(d *Disk) []byte {
	b := make([]byte, d.Size())
	d.Read(b, 0)
	return b
}

func newDisk(t *testing.T, size int64) *Disk {
	t.Helper()
	d, err := NewDisk(size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDiskSize(t *testing.T) {
	for _, size := range []int64{0, -4096, 1, 4095} {
		if _, err := NewDisk(size); err == nil {
			t.Errorf("a disk of %d bytes is made", size)
		}
	}
}

// TestDisk compares disks and their clones with arrays of bytes.
func TestDisk(t *testing.T) {
	const size = 5 * PageSize
	r := rand.New(rand.NewPCG(1, 2))
	disks, flats := []*Disk{newDisk(t, size)}, []flat{make(flat, size)}
	for range 700 {
		k := r.IntN(len(disks))
		offset, length := r.Int64N(size), r.Int64N(3*PageSize)
		switch r.IntN(4) {
		case 0:
			b := bytes.Repeat([]byte{byte(r.IntN(3))}, int(length))
			disks[k].Write(b, offset)
			flats[k].write(b, offset)
		case 1:
			disks[k].Zero(offset, length)
			flats[k].write(make([]byte, length), offset)
		case 2:
			if len(disks) < 6 {
				disks, flats = append(disks, disks[k].Clone()), append(flats, slices.Clone(flats[k]))
			} else {
				disks, flats = slices.Delete(disks, k, k+1), slices.Delete(flats, k, k+1)
			}
		case 3:
			b := make([]byte, length)
			for i := range b {
				b[i] = 9
			}
			disks[k].Read(b, offset)
			want := make([]byte, length)
			copy(want, flats[k][offset:])
			if !bytes.Equal(b, want) {
				t.Fatalf("a read of %d bytes at %d differs", length, offset)
			}
		}
		for i := range disks {
			if !bytes.Equal(content(disks[i]), flats[i]) {
				t.Fatalf("disk %d differs", i)
			}
			for j := range disks {
				if bytes.Equal(flats[i], flats[j]) != (disks[i].Sum() == disks[j].Sum()) {
					t.Fatalf("the sums of disks %d and %d do not tell whether their contents are equal", i, j)
				}
			}
		}
	}
}

// randomLog is a short log on small devices, with many requests at the same places.
func randomLog(r *rand.Rand, devices int, size int64) (ops []Op) {
	for i := range 3 + r.IntN(6) {
		o := Op{Kind: Write, Device: r.IntN(devices), FUA: r.IntN(6) == 0}
		o.Offset = 512 * r.Int64N(size/512)
		o.Length = min(512*(1+r.Int64N(3)), size-o.Offset)
		if size > PageSize && r.IntN(3) == 0 { // whole pages
			o.Offset = PageSize * r.Int64N(size/PageSize)
			o.Length = min(PageSize*(1+r.Int64N(2)), size-o.Offset)
		}
		switch n := r.IntN(10); {
		case n < 2:
			o = Op{Kind: Flush, Device: o.Device}
		case n == 2:
			o = Op{Kind: Mark, Text: fmt.Sprint("mark ", i)}
		case n == 3:
			o.Kind = Zero
		default:
			o.Data = bytes.Repeat([]byte{byte(1 + r.IntN(3))}, int(o.Length))
		}
		ops = append(ops, o)
	}
	return ops
}

// naive is all contents that a loss before a position may leave, one after the other.
func naive(base []flat, ops []Op, at int, tear int64) map[string]bool {
	type part struct {
		o      *Op
		lo, hi int64
		kept   bool
	}
	var parts []part
	for i := range ops[:at] {
		o := &ops[i]
		if !o.Changes() {
			continue
		}
		kept := o.FUA ||
			slices.ContainsFunc(ops[i+1:at], func(f Op) bool { return f.Kind == Flush && f.Device == o.Device })
		lo := o.Offset
		for x := lo; x <= o.Offset+o.Length; x++ {
			end := x == o.Offset+o.Length
			if x > lo && (end || tear > 0 && x%tear == 0 && o.Kind == Write) {
				parts = append(parts, part{o, lo, x, kept})
				lo = x
			}
		}
	}
	all := map[string]bool{}
	var choose func(k int, disks []flat)
	choose = func(k int, disks []flat) {
		if k == len(parts) {
			var b strings.Builder
			for _, d := range disks {
				b.Write(d)
			}
			all[b.String()] = true
			return
		}
		p := parts[k]
		if !p.kept {
			choose(k+1, disks)
		}
		with := slices.Clone(disks)
		with[p.o.Device] = slices.Clone(with[p.o.Device])
		b := make([]byte, p.hi-p.lo)
		if p.o.Kind == Write {
			b = p.o.Data[p.lo-p.o.Offset : p.hi-p.o.Offset]
		}
		with[p.o.Device].write(b, p.lo)
		choose(k+1, with)
	}
	choose(0, base)
	return all
}

// TestImages compares the images of each point of random logs with those of a simple
// implementation.
func TestImages(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 0))
		devices, tear := 1+r.IntN(2), []int64{0, 512, 4096}[r.IntN(3)]
		size := int64(2 * PageSize)
		if tear == 512 {
			size = PageSize
		}
		var base []*Disk
		var flats []flat
		for range devices {
			d := newDisk(t, size)
			d.Write([]byte("before"), 500)
			base, flats = append(base, d), append(flats, content(d))
		}
		ops := randomLog(r, devices, size)
		walk := NewWalk(base, ops, tear)
		for at := range len(ops) + 1 {
			walk.To(at)
			compareImages(t, walk, naive(flats, ops, at, tear), at, seed)
		}
		for i, d := range base {
			if !bytes.Equal(content(d), flats[i]) {
				t.Fatalf("seed %d: the walk has changed its base", seed)
			}
		}
	}
}

func compareImages(t *testing.T, walk *Walk, want map[string]bool, at int, seed uint64) {
	t.Helper()
	p := walk.Images(1<<20, seed)
	if p.LeftOut() != 0 {
		t.Fatalf("seed %d, point %d: %v subsets are left out", seed, at, p.LeftOut())
	}
	found, sums := map[string]bool{}, map[Sum]string{}
	for n := range p.Len() {
		disks, sum := p.Form(n)
		var b strings.Builder
		var fresh Sum
		for i, d := range disks {
			b.Write(content(d))
			fresh.add(d.Sum().device(i))
		}
		if fresh != sum {
			t.Fatalf("seed %d, point %d, image %d: the sum is %v, and should be %v", seed, at, n, sum, fresh)
		}
		if other, ok := sums[sum]; ok && other != b.String() {
			t.Fatalf("seed %d, point %d: two contents have one sum", seed, at)
		}
		found[b.String()], sums[sum] = true, b.String()
		if again := p.Without(p.Lost(n)); again != p.Len()-1 {
			t.Fatalf("seed %d: Without returns %d", seed, again)
		} else if _, s := p.Form(again); s != sum {
			t.Fatalf("seed %d, point %d, image %d: its losses form another image", seed, at, n)
		}
	}
	for c := range found {
		if !want[c] {
			t.Fatalf("seed %d, point %d: an image should not be there", seed, at)
		}
	}
	if len(found) != len(want) {
		t.Fatalf("seed %d, point %d: %d contents, and should be %d", seed, at, len(found), len(want))
	}
}

// TestBounded: where there are more subsets than images, the images are legal, different subsets,
// the same for the same seed, and begin with everything lost, and nothing.
func TestBounded(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		base := []*Disk{newDisk(t, PageSize)}
		ops := randomLog(r, 1, PageSize)
		all := naive([]flat{content(base[0])}, ops, len(ops), 512)
		const most = 12
		var first []Sum
		for range 2 {
			walk := NewWalk(base, ops, 512)
			walk.To(len(ops))
			p := walk.Images(most, seed)
			if p.Len() > most || p.LeftOut() != p.Subsets-float64(p.Len()) || p.Len() < most && p.LeftOut() > 0 {
				t.Fatalf("seed %d: %d images, %v left out of %v", seed, p.Len(), p.LeftOut(), p.Subsets)
			}
			var sums []Sum
			for n := range p.Len() {
				disks, sum := p.Form(n)
				sums = append(sums, sum)
				if !all[string(content(disks[0]))] {
					t.Fatalf("seed %d: image %d should not be there", seed, n)
				}
			}
			if lost := p.Lost(0); len(lost) == 0 && p.Subsets > 1 {
				t.Fatalf("seed %d: the first image lacks nothing", seed)
			}
			if p.Len() > 1 && len(p.Lost(1)) > 0 {
				t.Fatalf("seed %d: the second image lacks %v", seed, p.Lost(1))
			}
			if first == nil {
				first = sums
			} else if !slices.Equal(first, sums) {
				t.Fatalf("seed %d: other images the second time", seed)
			}
		}
	}
}

// TestPoints lists the points of a log by hand.
func TestPoints(t *testing.T) {
	ops := []Op{{Kind: Write}, {Kind: Flush}, {Kind: Mark, Text: "promise x"}, {Kind: Write},
		{Kind: Mark, Text: "crash now"}}
	asks := func(text string) bool { return text == "crash now" }
	for when, want := range map[Moments][]int{Barriers: {1, 2, 4, 5}, Requests: {0, 1, 2, 3, 4, 5}, Said: {4}} {
		if got := Points(ops, when, asks); !slices.Equal(got, want) {
			t.Errorf("%d: %v, and should be %v", when, got, want)
		}
	}
}

// TestWords says losses in words.
func TestWords(t *testing.T) {
	ops := []Op{{Kind: Write, Offset: 512, Length: 1024, Data: make([]byte, 1024)},
		{Kind: Zero, Offset: 0, Length: 4096, Device: 1}}
	walk := NewWalk([]*Disk{newDisk(t, PageSize), newDisk(t, PageSize)}, ops, 512)
	walk.To(2)
	p := walk.Images(8, 0)
	var words []string
	for _, l := range p.Lost(0) {
		words = append(words, l.Words(ops))
	}
	if want := []string{"write of 1024 bytes at 512", "zeros for 4096 bytes at 0 of device 2"}; !slices.Equal(words,
		want) {
		t.Errorf("%q, and should be %q", words, want)
	}
	n := p.Without([]Loss{{Op: 0, Lo: 1024, Hi: 1536}})
	if got, want := p.Lost(n)[0].Words(ops), "bytes 1024 to 1535 of the write of 1024 bytes at 512"; got != want {
		t.Errorf("%q, and should be %q", got, want)
	}
}
