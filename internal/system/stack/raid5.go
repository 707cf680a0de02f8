//go:build linux

package stack

import "github.com/ariadne-mc/ariadne/internal/leaf/disk/block"

// parityOf is the part of a RAID5 that has the parity of a row of chunks: the last part of the
// first row, the one before of the second, and so on. at is a place in the row, on each part.
func (d *served) parityOf(at int64) int {
	n := int64(len(d.parts))
	return int(n - 1 - at/d.chunk%n)
}

// reconstruct fills b with the bytes of a part that cannot be read: the parity of all others. It
// fails if one of them cannot be read either.
func (d *served) reconstruct(b []byte, part int, at int64) (ok bool) {
	clear(b)
	other := make([]byte, len(b))
	for n := range d.parts {
		if n == part {
			continue
		}
		if !d.readDisk(other, n, at) {
			return false
		}
		xor(b, other)
	}
	return true
}

// changeRow does a request to a part of a RAID5, and then to the parity of the row. It reads what
// was there before, as md does for a small write: a parity that is wrong stays wrong. It fails if
// two parts fail.
func (d *served) changeRow(o block.Op, part int) (ok bool) {
	parity := d.parityOf(o.Offset)
	change, was := make([]byte, o.Length), make([]byte, o.Length)
	if !d.readPart(change, parity, o.Offset) || !d.readPart(was, part, o.Offset) {
		return false
	}
	xor(change, was)
	xor(change, o.Data)
	return d.changeSpare(o, part) &&
		d.changeSpare(block.Op{Kind: block.Write, Offset: o.Offset, Length: o.Length, Data: change}, parity)
}

// changeSpare does a request to a part of a RAID5. A part that fails is used no more, if all others
// are there.
func (d *served) changeSpare(o block.Op, part int) (ok bool) {
	if d.parts[part].missing || d.changePart(o, part) {
		return true
	}
	for n := range d.parts {
		if d.parts[n].missing {
			return false
		}
	}
	d.drop(part)
	return true
}

// xor adds bytes to others of the same or a greater number, without carry.
func xor(to, from []byte) {
	for i := range from {
		to[i] ^= from[i]
	}
}
