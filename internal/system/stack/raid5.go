//go:build linux

package stack

import "github.com/ariadne-mc/ariadne/internal/leaf/disk/block"

// parityOf is the part of a RAID5 that has the parity of a row of chunks: the last part of the
// first row, the one before of the second, and so on. at is a place in the row, on each part.
func (d *served) parityOf(at int64) int {
	n := int64(len(d.parts))
	return int(n - 1 - at/d.chunk%n)
}

// readPart fills b with the bytes of a part. Those of a part that is missing are the parity of all
// others.
func (d *served) readPart(b []byte, part int, at int64) {
	if part != d.missing {
		d.parts[part].disk.Read(b, at)
		return
	}
	clear(b)
	other := make([]byte, len(b))
	for n, p := range d.parts {
		if n != part {
			p.disk.Read(other, at)
			xor(b, other)
		}
	}
}

// changeRow does a request to a part of a RAID5, and then to the parity of the row. It reads what
// was there before, as md does for a small write: a parity that is wrong stays wrong.
func (d *served) changeRow(o block.Op, part int) {
	parity := d.parityOf(o.Offset)
	change, was := make([]byte, o.Length), make([]byte, o.Length)
	d.readPart(change, parity, o.Offset)
	d.readPart(was, part, o.Offset)
	xor(change, was)
	xor(change, o.Data)
	if part != d.missing {
		d.changePart(o, part)
	}
	if parity != d.missing {
		d.changePart(block.Op{Kind: block.Write, Offset: o.Offset, Length: o.Length, Data: change}, parity)
	}
}

// xor adds bytes to others of the same or a greater number, without carry.
func xor(to, from []byte) {
	for i := range from {
		to[i] ^= from[i]
	}
}
