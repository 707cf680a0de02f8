//go:build linux

package stack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

const page = block.PageSize

// filled is a request that fills a range.
func filled(offset, length int64, b byte) block.Op {
	return block.Op{Kind: block.Write, Offset: offset, Length: length, Data: bytes.Repeat([]byte{b}, int(length))}
}

// TestRequests: the request of a number fails, once, and only while requests are counted. A part of
// a write that may continue another one is no request.
func TestRequests(t *testing.T) {
	d, _ := joined(t, &Component{}, nil, 16*page)
	d.requests = NewRequests(FailWrite, 3, 0, 0)
	do := func(offset, length int64, ok bool) {
		t.Helper()
		if got := d.change(filled(offset, length, 1)); got != ok {
			t.Errorf("write at %d: %v", offset, got)
		}
	}
	for range 3 {
		do(0, page, true)
	}
	d.flush()
	d.requests.Count(true)
	do(1024, page-1024, true)
	do(page, page, true) // one
	d.read(make([]byte, page), 0)
	do(4*page, page, true)
	do(page, page, true)         // it may continue the first
	do(5*page, page, true)       // and this one the second
	do(8*page+1024, 1024, false) // the third
	do(9*page, page, true)       // once
	if !d.flush() || d.requests.Struck() != "write of 1024 bytes at 33792" {
		t.Error(d.requests.Struck())
	}
	do(page, page, true) // no more a part of the first
	for f, want := range map[Fault]int{FailWrite: 5, FailFlush: 1, FailRead: 1, Vanish: 7, LostWrite: 8,
		GarbledRead: 1} {
		if got := d.requests.Counts(f); got != want {
			t.Errorf("%s: %d, and should be %d", f, got, want)
		}
	}
}

// TestVanish: from one request on all fail, but for the rest of one that was begun. A device that
// has vanished stays away when requests are counted no more.
func TestVanish(t *testing.T) {
	d, _ := joined(t, &Component{}, nil, 16*page)
	d.requests = NewRequests(Vanish, 2, 0, 0)
	d.requests.Count(true)
	got := []bool{d.change(filled(1024, page-1024, 1)), d.flush(), d.change(filled(page, page, 1)),
		d.change(filled(2*page, page, 1)), d.change(filled(8*page, page, 1)), d.read(make([]byte, page), 0)}
	d.requests.Count(false)
	got = append(got, d.change(filled(0, page, 1)), d.flush(), d.read(make([]byte, page), 0))
	if want := []bool{true, false, true, true, false, false, false, false, false}; !slices.Equal(got, want) {
		t.Errorf("%v, and should be %v", got, want)
	}
}

// TestSilent: what silent faults leave on the disk, in the log, and in what is read.
func TestSilent(t *testing.T) {
	for f, want := range map[Fault]struct {
		log  string
		disk int // pages of the disk that differ from those written
		read int // pages that are read and differ from the disk's
	}{
		LostWrite:    {"flush, write of 4096 bytes at 32768, flush", 3, 0},
		GarbledWrite: {"write of 12288 bytes at 0, flush, write of 4096 bytes at 32768, flush", 1, 0},
		GarbledRead:  {"write of 12288 bytes at 0, flush, write of 4096 bytes at 32768, flush", 0, 1},
		LostFlush:    {"write of 12288 bytes at 0, write of 4096 bytes at 32768, flush", 0, 0},
	} {
		to := new(Recorder)
		d, disks := joined(t, &Component{}, to, 16*page)
		d.requests = NewRequests(f, 1, page, 7)
		d.requests.Count(true)
		data := slices.Concat(bytes.Repeat([]byte{1}, 3*page), make([]byte, 5*page), bytes.Repeat([]byte{2}, page),
			make([]byte, 7*page))
		ok := d.change(filled(0, 3*page, 1)) && d.flush() && d.change(filled(8*page, page, 2)) && d.flush()
		read := make([]byte, 16*page)
		if ok = d.read(read, 0) && ok; !ok || d.requests.Struck() == "" {
			t.Errorf("%s: a request fails: %v, %q", f, !ok, d.requests.Struck())
		}
		var log string
		for i, o := range to.Ops() {
			if i > 0 {
				log += ", "
			}
			log += o.String()
		}
		is := bytesOf(disks[0])
		on, in := pagesThatDiffer(is, data), pagesThatDiffer(read, is)
		if log != want.log || on != want.disk || in != want.read {
			t.Errorf("%s: %d and %d pages differ, %s", f, on, in, log)
		}
	}
}

func pagesThatDiffer(a, b []byte) (n int) {
	for at := 0; at < len(a); at += page {
		if !bytes.Equal(a[at:at+page], b[at:at+page]) {
			n++
		}
	}
	return n
}

// TestSpare: whatever request of one of its disks fails, a mirror and a RAID 5 do each request, and
// read what was written. With what the log says of disks that are used no more, the disks have it
// after a loss of power, too.
func TestSpare(t *testing.T) {
	for _, c := range []Component{{Join: Mirror}, {Join: RAID5, Chunk: page}} {
		for _, f := range []Fault{FailWrite, FailFlush, FailRead, Vanish} {
			dropped := 0
			for at := 1; at < 140; at += 7 {
				name := fmt.Sprint(c.Join, " ", f, " ", at)
				to := new(Recorder)
				sizes := []int64{8 * page, 8 * page, 8 * page}
				d, _ := joined(t, &c, to, sizes...)
				d.requests = NewRequests(f, at, 0, 0)
				d.requests.Count(true)
				flat := make([]byte, d.size)
				r := rand.New(rand.NewPCG(3, uint64(at)))
				for range 200 {
					o := filled(512*r.Int64N(d.size/512), 512*r.Int64N(20), byte(r.IntN(200)))
					o.Length = min(o.Length, d.size-o.Offset)
					o.Data = o.Data[:o.Length]
					copy(flat[o.Offset:], o.Data)
					got := make([]byte, d.size)
					if !d.change(o) || r.IntN(3) == 0 && !d.flush() || !d.read(got, 0) || !bytes.Equal(got, flat) {
						t.Fatalf("%s: a request fails or reads something else", name)
					}
				}
				if d.requests.Struck() == "" {
					t.Fatalf("%s: nothing fails", name)
				}
				again, disks := joined(t, &c, nil, sizes...)
				for _, o := range to.Ops() {
					if o.Kind == block.Drop {
						again.parts[o.Device].missing = true
						dropped++
					} else if again.parts[o.Device].missing {
						t.Fatalf("%s: a disk that is used no more gets %s", name, &o)
					}
					o.Do(disks[o.Device])
				}
				got := make([]byte, d.size)
				if !again.read(got, 0) || !bytes.Equal(got, flat) {
					t.Fatalf("%s: the log makes something else", name)
				}
			}
			if (f == FailRead) != (dropped == 0) {
				t.Errorf("%s %s: %d disks are used no more", c.Join, f, dropped)
			}
		}
	}
}

// TestNoSpare: a request fails if it fails on the only disk that there is.
func TestNoSpare(t *testing.T) {
	for _, c := range []Component{{}, {Join: Stripe, Chunk: page}, {Join: Mirror}, {Join: RAID5, Chunk: page}} {
		d, _ := joined(t, &c, nil, 8*page, 8*page, 8*page)
		for n := range d.parts[1:] {
			d.parts[n+1].missing = c.Join == Mirror || c.Join == RAID5 && n == 0
		}
		d.requests = NewRequests(Vanish, 1, 0, 0)
		d.requests.Count(true)
		if d.change(filled(0, page, 1)) || d.read(make([]byte, d.size), 0) || d.flush() {
			t.Errorf("%+v: a request does not fail", c)
		}
	}
}
