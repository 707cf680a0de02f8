//go:build linux

package stack

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// joined serves disks of some sizes as a device that joins them.
func joined(t *testing.T, c *Component, to *Recorder, sizes ...int64) (*served, []*block.Disk) {
	t.Helper()
	var parts []part
	var disks []*block.Disk
	for i, size := range sizes {
		d, err := block.NewDisk(size)
		if err != nil {
			t.Fatal(err)
		}
		disks = append(disks, d)
		parts = append(parts, part{disk: d, device: i})
	}
	return newServed(c, parts, to), disks
}

func bytesOf(d *block.Disk) []byte {
	b := make([]byte, d.Size())
	d.Read(b, 0)
	return b
}

// TestJoined compares mirrors and stripes with an array of bytes, and the disks that their log
// makes with the disks that they have changed.
func TestJoined(t *testing.T) {
	const page = block.PageSize
	for _, c := range []Component{{Join: Mirror}, {Join: Stripe, Chunk: page}, {Join: Stripe, Chunk: 2 * page},
		{Join: RAID5, Chunk: page}, {Join: RAID5, Chunk: 2 * page}} {
		to := new(Recorder)
		d, disks := joined(t, &c, to, 7*page, 6*page, 8*page)
		want := map[Join]int64{Mirror: 6 * page, Stripe: 18 * page, RAID5: 12 * page}[c.Join]
		if d.size != want {
			t.Fatalf("%v has %d bytes, and should have %d", c, d.size, want)
		}
		flat := make([]byte, d.size)
		r := rand.New(rand.NewPCG(1, 2))
		for range 500 {
			o := block.Op{Kind: block.Write, Offset: 512 * r.Int64N(d.size/512), Length: 512 * r.Int64N(60)}
			data := bytes.Repeat([]byte{byte(r.IntN(5))}, int(o.Length))
			if o.Data = data; r.IntN(4) == 0 {
				o.Kind, o.Data = block.Zero, nil
				clear(data)
			}
			copy(flat[o.Offset:], data)
			d.change(o)
			got := make([]byte, d.size)
			if d.read(got, 0); !bytes.Equal(got, flat) {
				t.Fatalf("%v differs after %v", c, o)
			}
		}
		if c.Join == Mirror && !bytes.Equal(bytesOf(disks[0])[:d.size], bytesOf(disks[2])[:d.size]) {
			t.Error("the copies of a mirror differ")
		}
		_, again := joined(t, &c, nil, 7*page, 6*page, 8*page)
		for _, o := range to.Ops() {
			o.Do(again[o.Device])
		}
		for i := range again {
			if !bytes.Equal(bytesOf(again[i]), bytesOf(disks[i])) {
				t.Errorf("%v: the log makes another disk %d", c, i)
			}
		}
	}
}

// TestMissing: without any one of its parts, a RAID5 reads and changes as with all of them, and the
// part that is missing gets no request.
func TestMissing(t *testing.T) {
	const page = block.PageSize
	for missing := range 4 {
		to := new(Recorder)
		d, disks := joined(t, &Component{Join: RAID5, Chunk: page}, to, 8*page, 8*page, 8*page, 8*page)
		flat := make([]byte, d.size)
		r := rand.New(rand.NewPCG(3, uint64(missing)))
		var before []byte
		for n := range 400 {
			if n == 200 {
				d.parts[missing].missing, before = true, bytesOf(disks[missing])
				to.ops = nil
			}
			o := block.Op{Kind: block.Write, Offset: r.Int64N(d.size), Length: r.Int64N(6 * page)}
			o.Length = min(o.Length, d.size-o.Offset)
			o.Data = bytes.Repeat([]byte{byte(r.IntN(200))}, int(o.Length))
			copy(flat[o.Offset:], o.Data)
			d.change(o)
			got := make([]byte, d.size)
			if d.read(got, 0); !bytes.Equal(got, flat) {
				t.Fatalf("without part %d: differs after change %d, %v", missing, n, &o)
			}
		}
		d.flush()
		if !bytes.Equal(bytesOf(disks[missing]), before) {
			t.Errorf("part %d changes while it is missing", missing)
		}
		for _, o := range to.Ops() {
			if o.Device == missing {
				t.Fatalf("part %d is missing, and gets %v", missing, &o)
			}
		}
	}
}

// TestJoinedFlush: a flush reaches each disk that does not lie, and none below a join that lies.
func TestJoinedFlush(t *testing.T) {
	for _, c := range []struct {
		join, second bool // which lies
		want         []int
	}{{false, false, []int{0, 1}}, {false, true, []int{0}}, {true, false, nil}} {
		to := new(Recorder)
		d, _ := joined(t, &Component{Join: Stripe, Chunk: block.PageSize, Lies: c.join}, to, 1<<20, 1<<20)
		d.parts[1].lies = c.second
		d.flush()
		var got []int
		for _, o := range to.Ops() {
			got = append(got, o.Device)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("the join lies: %v, the second device: %v: flushes of %v, and should be of %v", c.join, c.second,
				got, c.want)
		}
	}
}
