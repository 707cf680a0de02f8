package block

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// PageSize is the unit in which disks share content, in bytes.
const PageSize = 4096

// chunkPages is how many pages a chunk has.
const chunkPages = 256

// owner is the identity of a disk that may change a page or chunk in place.
type owner struct{ _ byte }

type page struct {
	by   *owner
	sum  *Sum // of the content, or nil while it is not known
	data [PageSize]byte
}

type chunk struct {
	by    *owner
	pages [chunkPages]*page // nil: zeros
}

// Disk is the content of a device. Its clones share the pages that neither has changed since. A
// Disk may be used by one goroutine at a time; it and its clones by several.
type Disk struct {
	size   int64
	chunks []*chunk // nil: zeros
	by     *owner
}

// NewDisk returns a disk of a size in bytes, a multiple of PageSize, that has zeros only.
func NewDisk(size int64) (*Disk, error) {
	if size <= 0 || size%PageSize != 0 {
		return nil, fmt.Errorf("the size of a disk is %d bytes, and must be a multiple of %d above 0", size, PageSize)
	}
	n := (size/PageSize + chunkPages - 1) / chunkPages
	return &Disk{size: size, chunks: make([]*chunk, n), by: new(owner)}, nil
}

// Size is the size of the disk in bytes.
func (d *Disk) Size() int64 { return d.size }

// Clone returns a disk with the same content. It copies a pointer for each MB.
func (d *Disk) Clone() *Disk {
	d.by = new(owner) // so nothing that the clone shares is changed in place any more
	return &Disk{size: d.size, chunks: append([]*chunk(nil), d.chunks...), by: new(owner)}
}

// at is the page of a number, or nil if it has zeros only.
func (d *Disk) at(n int64) *page {
	if c := d.chunks[n/chunkPages]; c != nil {
		return c.pages[n%chunkPages]
	}
	return nil
}

// set makes p the page of a number.
func (d *Disk) set(n int64, p *page) {
	c := d.chunks[n/chunkPages]
	switch {
	case c == nil:
		c = &chunk{by: d.by}
		d.chunks[n/chunkPages] = c
	case c.by != d.by:
		copied := &chunk{by: d.by, pages: c.pages}
		c = copied
		d.chunks[n/chunkPages] = c
	}
	c.pages[n%chunkPages] = p
}

// own returns the page of a number so that it can be changed in place.
func (d *Disk) own(n int64) *page {
	p := d.at(n)
	switch {
	case p == nil:
		p = &page{by: d.by}
		d.set(n, p)
	case p.by != d.by:
		p = &page{by: d.by, data: p.data}
		d.set(n, p)
	}
	p.sum = nil
	return p
}

// Read fills b with the bytes at an offset. Beyond the end are zeros.
func (d *Disk) Read(b []byte, offset int64) {
	d.pieces(offset, int64(len(b)), func(n, in, from, length int64) {
		part := b[from : from+length]
		if p := d.at(n); p != nil {
			copy(part, p.data[in:])
		} else {
			clear(part)
		}
	})
	if beyond := offset + int64(len(b)) - d.size; beyond > 0 {
		clear(b[max(int64(len(b))-beyond, 0):])
	}
}

// Write puts bytes at an offset. Bytes beyond the end are ignored.
func (d *Disk) Write(b []byte, offset int64) {
	d.pieces(offset, int64(len(b)), func(n, in, from, length int64) {
		copy(d.own(n).data[in:], b[from:from+length])
	})
}

// Zero puts zeros at an offset.
func (d *Disk) Zero(offset, length int64) {
	d.pieces(offset, length, func(n, in, _, length int64) {
		switch {
		case d.at(n) == nil:
		case length == PageSize:
			d.set(n, nil)
		default:
			clear(d.own(n).data[in : in+length])
		}
	})
}

// pieces divides a range of bytes at pages: the page's number, the offset within the page, the
// offset within the range, and the length. It leaves out bytes that are not on the disk.
func (d *Disk) pieces(offset, length int64, do func(n, in, from, length int64)) {
	end := min(offset+length, d.size)
	for at := max(offset, 0); at < end; {
		n, in := at/PageSize, at%PageSize
		l := min(PageSize-in, end-at)
		do(n, in, at-offset, l)
		at += l
	}
}

// Sum is a hash to which parts are added and from which they are taken, in any order, modulo 2^64
// in each half. A page of zeros adds nothing.
type Sum struct{ a, b uint64 }

func (s *Sum) add(t Sum) { s.a, s.b = s.a+t.a, s.b+t.b }
func (s *Sum) sub(t Sum) { s.a, s.b = s.a-t.a, s.b-t.b }

// sumOf is what the page of a number adds to the sum of a disk.
func (d *Disk) sumOf(n int64) Sum {
	p := d.at(n)
	if p == nil || p.data == [PageSize]byte{} {
		return Sum{}
	}
	if p.sum == nil {
		s := contentSum(p.data[:])
		p.sum = &s
	}
	return p.sum.placed(n)
}

// contentSum is the hash of a page's content, wherever the page is.
func contentSum(b []byte) Sum {
	h := sha256.Sum256(b)
	return Sum{binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:])}
}

// placed is what a content adds at a page's number.
func (s Sum) placed(n int64) Sum {
	k := scramble(uint64(n) + 0x9e3779b97f4a7c15)
	return Sum{scramble(s.a ^ k), scramble(s.b + k)}
}

// scramble is the last part of splitmix64.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Sum is the hash of the whole content.
func (d *Disk) Sum() (s Sum) {
	for n := range d.size / PageSize {
		if d.chunks[n/chunkPages] != nil {
			s.add(d.sumOf(n))
		}
	}
	return s
}

// Pages yields the pages that are not known to have zeros only: the offset in bytes, and the
// content, which must not be changed.
func (d *Disk) Pages(yield func(offset int64, data []byte) bool) {
	for n := range d.size / PageSize {
		if p := d.at(n); p != nil && !yield(n*PageSize, p.data[:]) {
			return
		}
	}
}
