package disk

import "slices"

// cell is bytes of a file that the same atoms change. Cells do not overlap.
type cell struct {
	lo, hi int64
	atoms  []int32 // in order
	// hashes are those of its bytes before all atoms and after each of them, in so far as they are
	// known.
	hashes []hashed
	// adds is what it adds to the hash of the file's bytes, when nothing is lost.
	adds sum
}

type hashed struct {
	known bool
	sum   sum
}

func newCell(lo, hi int64, atoms ...int32) *cell {
	return &cell{lo: lo, hi: hi, atoms: atoms, hashes: make([]hashed, len(atoms)+1)}
}

// cellsIn are the places in the list of the first cell that reaches beyond lo and of the first one
// behind it that begins at hi or later.
func (in *inode) cellsIn(lo, hi int64) (from, to int) {
	from = search(in.cells, func(c *cell) bool { return c.hi > lo })
	return from, from + search(in.cells[from:], func(c *cell) bool { return c.lo >= hi })
}

// placeAtom puts the next atom of a file on its cells.
func (p *plan) placeAtom(in *inode, n int32) {
	lo, hi := p.atoms[n].lo, p.atoms[n].hi
	in.splitAt(p, lo)
	in.splitAt(p, hi)
	from, to := in.cellsIn(lo, hi)
	var with []*cell
	for _, c := range in.cells[from:to] {
		if lo < c.lo {
			with = append(with, newCell(lo, c.lo, n))
		}
		c.atoms, c.hashes = append(c.atoms, n), append(c.hashes, hashed{})
		with, lo = append(with, c), c.hi
	}
	if lo < hi {
		with = append(with, newCell(lo, hi, n))
	}
	if len(with) > to-from {
		in.cells = slices.Replace(in.cells, from, to, with...)
	}
}

// splitAt divides the cell within which a place lies.
func (in *inode) splitAt(p *plan, at int64) {
	i, _ := in.cellsIn(at, at)
	if i == len(in.cells) || in.cells[i].lo >= at {
		return
	}
	c := in.cells[i]
	a, b := newCell(c.lo, at, slices.Clone(c.atoms)...), newCell(at, c.hi, slices.Clone(c.atoms)...)
	last := len(c.atoms) - 1
	a.adds, b.adds = p.added(in, a, last, in.size), p.added(in, b, last, in.size)
	in.cells = slices.Replace(in.cells, i, i+1, a, b)
}

// added is what a cell adds to the hash of a file of some size, where the atom at a place of its
// list is the last on it, or -1.
func (p *plan) added(in *inode, c *cell, last int, size int64) (s sum) {
	switch {
	case last < 0 && c.hi <= size:
		return s
	case c.lo >= size:
	case c.hi > size:
		s = in.bytesAt(c.lo, p.bytes(c, last, size))
	default:
		s = p.hash(in, c, last)
	}
	s.sub(p.hash(in, c, -1))
	return s
}

// bytes are those of a cell after the atom at a place of its list, or -1 before all, up to an
// offset, without the zeros at their end.
func (p *plan) bytes(c *cell, last int, hi int64) []byte {
	if last < 0 {
		return p.atoms[c.atoms[0]].was(c.lo, min(c.hi, hi))
	}
	return p.atoms[c.atoms[last]].now(c.lo, min(c.hi, hi))
}

func (p *plan) hash(in *inode, c *cell, last int) sum {
	h := &c.hashes[last+1]
	if !h.known {
		h.known, h.sum = true, in.bytesAt(c.lo, p.bytes(c, last, c.hi))
	}
	return h.sum
}

// bake takes into an inode's base what its atoms do, which are all durable, and forgets them.
func (in *inode) bake(p *plan) {
	s := state{p: p}
	in.base = content{in.size, in.data, s.attributes(in), s.xattrs(in)}
	in.sizes, in.attrs, in.xattrs, in.cells, in.last = nil, nil, nil, nil, nil
}
