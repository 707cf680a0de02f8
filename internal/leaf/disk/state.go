package disk

import (
	"bytes"
	"cmp"
	"math"
	"slices"
)

// state is a set of atoms: all but those that are lost, which are not durable.
type state struct {
	p    *plan
	lost atomSet
}

func (s state) has(n int32) bool { return !s.lost.has(n) }

// last is the place in a list of atoms, in order, of the last one that is kept, or -1.
func (s state) last(atoms []int32) int {
	i := len(atoms) - 1
	for i >= 0 && !s.has(atoms[i]) {
		i--
	}
	return i
}

// value is what a name stands for.
func (s state) value(e *entry) *inode {
	i := s.last(e.atoms)
	if i < 0 {
		return e.base
	}
	return s.p.atoms[e.atoms[i]].stands(e)
}

// size is that of a file.
func (s state) size(in *inode) int64 {
	i := s.last(in.sizes)
	if i < 0 {
		return in.base.size
	}
	return s.p.atoms[in.sizes[i]].size
}

// attributes are those that operations have set, or nil.
func (s state) attributes(in *inode) *Attr {
	i := s.last(in.attrs)
	if i < 0 {
		return in.base.attr
	}
	return &s.p.atoms[in.attrs[i]].op.Attr
}

// setBy is the last operation that set a time of modification, or nil.
func (s state) setBy(in *inode) *Op {
	i := s.last(in.timed)
	if i < 0 {
		return in.setBy
	}
	return s.p.atoms[in.timed[i]].op
}

// xattr is the value of an extended attribute that operations have set or removed.
func (s state) xattr(in *inode, name string) value {
	atoms := in.xattrs[name]
	if i := s.last(atoms); i >= 0 {
		op := s.p.atoms[atoms[i]].op
		return value{op.New, op.Gone}
	}
	if v, ok := in.base.x[name]; ok {
		return v
	}
	return in.start.x[name]
}

// xattrs are the values of all that operations have set or removed.
func (s state) xattrs(in *inode) map[string]value {
	var x map[string]value
	for name := range in.start.x {
		if x == nil {
			x = make(map[string]value, len(in.start.x))
		}
		x[name] = s.xattr(in, name)
	}
	return x
}

// computeTotals computes what the last operation adds to the plan's totals of names and inodes.
func (p *plan) computeTotals() {
	look := &p.looked
	for i := 0; i < len(look.inodes); i++ { // there may be more
		in := look.inodes[i]
		if reached := in.outside > 0 ||
			slices.ContainsFunc(in.named, func(e *entry) bool { return e.in.reached }); reached != in.reached {
			in.reached = reached
			for _, e := range in.entries {
				look.entries = append(look.entries, e)
				if e.now != nil {
					look.inodes = append(look.inodes, e.now)
				}
			}
		}
	}
	all := state{p: p}
	for _, in := range look.inodes {
		if in.touched {
			size := all.size(in)
			for _, stretch := range [][2]int64{{in.from, in.to}, {min(size, in.size), max(size, in.size)}} {
				if stretch[0] >= stretch[1] {
					continue
				}
				from, to := in.cellsIn(stretch[0], stretch[1])
				for _, c := range in.cells[from:to] {
					in.data.sub(c.adds)
					c.adds = p.added(in, c, len(c.atoms)-1, size)
					in.data.add(c.adds)
				}
			}
			in.size, in.from, in.to = size, math.MaxInt64, 0
		}
		p.total.sub(in.adds)
		in.adds = sum{}
		if in.touched && in.reached {
			in.adds = all.inode(in, in.size, in.data)
		}
		p.total.add(in.adds)
	}
	for _, e := range look.entries {
		p.total.sub(e.adds)
		e.adds = e.of(e.now, e.in.reached)
		p.total.add(e.adds)
	}
	look.entries, look.inodes = look.entries[:0], look.inodes[:0]
}

// of is what a name adds to the total that stands for an inode, or nil, in a directory that has a
// name or has none.
func (e *entry) of(is *inode, reached bool) sum {
	if !reached {
		is = nil
	} else if is == e.start {
		return sum{}
	}
	if is == nil && e.start == nil {
		return sum{}
	}
	number := uint64(0)
	if is != nil {
		number = is.ino
	}
	h, ok := e.hash[number]
	if !ok {
		h = sumOf("name", e.dir, e.name, number)
		if e.hash == nil {
			e.hash = map[uint64]sum{}
		}
		e.hash[number] = h
	}
	return h
}

// inode is what an inode adds to the total, of some size, and some hash of its bytes.
func (s state) inode(in *inode, size int64, data sum) sum {
	if size != in.start.size {
		data.add(sum{scramble(uint64(size) + scramble(in.ino)), scramble(uint64(size) ^ scramble(^in.ino))})
	}
	if a := s.attributes(in); a != nil && *a != *in.start.attr {
		data.add(sumOf("attributes", in.ino, *a))
	}
	for name, w := range in.start.x {
		if v := s.xattr(in, name); v.gone != w.gone || !bytes.Equal(v.bytes, w.bytes) {
			data.add(sumOf("xattr", in.ino, name, v.bytes, v.gone))
		}
	}
	return data
}

// difference is what may be other in a state than when nothing is lost: the cost of finding it out
// grows with what is lost, and not with what there is.
type difference struct {
	state
	entries []*entry // each with its value
	inodes  []*inode
}

// difference of a state. It holds until that of another one is asked for.
func (s state) difference() *difference {
	s.p.view++
	d := &difference{state: s}
	for n := range s.lost.all {
		a := &s.p.atoms[n]
		if a.ino != nil {
			d.inode(a.ino)
			a.ino.lost = append(a.ino.lost, n)
		}
		for _, set := range a.sets {
			d.entry(set.entry)
		}
	}
	lost := d.entries
	for _, e := range lost {
		if e.value != e.now && e.value != nil {
			d.inode(e.value)
			e.value.gains = append(e.value.gains, e)
		}
	}
	for _, e := range lost {
		if e.value != e.now {
			d.check(e.now)
			d.check(e.value)
		}
	}
	return d
}

func (d *difference) entry(e *entry) {
	if e.view != d.p.view {
		e.view, e.value = d.p.view, d.state.value(e)
		d.entries = append(d.entries, e)
	}
}

func (d *difference) inode(in *inode) {
	if in.view != d.p.view {
		in.view, in.lost, in.gains = d.p.view, in.lost[:0], in.gains[:0]
		d.inodes = append(d.inodes, in)
	}
}

// check looks whether an inode has a name where it has none when nothing is lost, or the other way
// about. Then all in it is different.
func (d *difference) check(in *inode) {
	if in == nil || in.check == d.p.view {
		return
	}
	in.check = d.p.view
	if d.reached(in) == in.reached {
		return
	}
	d.inode(in)
	for _, e := range in.entries {
		d.entry(e)
		d.check(e.now)
		d.check(e.value)
	}
}

// value is what a name stands for.
func (d *difference) value(e *entry) *inode {
	if e.view == d.p.view {
		return e.value
	}
	return e.now
}

// reached reports whether an inode has a name. A directory without one has nothing in it.
func (d *difference) reached(in *inode) bool {
	if in.climb == d.p.view {
		return in.reach == 1
	}
	in.climb, in.reach = d.p.view, 3
	named := func(e *entry) bool { return d.value(e) == in && d.reached(e.in) }
	if in.outside > 0 || slices.ContainsFunc(in.named, named) || in.view == d.p.view &&
		slices.ContainsFunc(in.gains, named) {
		in.reach = 1
	} else {
		in.reach = 2
	}
	return in.reach == 1
}

// cells are those of a file that may have other bytes in the state, in which it has a size: their
// places in the list.
func (d *difference) cells(in *inode, size int64) (at []int) {
	next := 0
	add := func(lo, hi int64) {
		from, to := next, next+1
		// else it is the one behind the last
		if next == len(in.cells) || in.cells[next].lo != lo || in.cells[next].hi != hi {
			from, to = in.cellsIn(lo, hi)
		}
		for next = from; next < to; next++ {
			at = append(at, next)
		}
	}
	if in.view == d.p.view {
		for _, n := range in.lost {
			if a := &d.p.atoms[n]; a.hi > a.lo {
				add(a.lo, a.hi)
			}
		}
	}
	if size != in.size {
		add(min(size, in.size), max(size, in.size))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// sum is the hash of all that the log has changed, relative to what it was when it began.
func (d *difference) sum() sum {
	total := d.p.total
	for _, e := range d.entries {
		total.sub(e.adds)
		total.add(e.of(e.value, d.reached(e.in)))
	}
	for _, in := range d.inodes {
		total.sub(in.adds)
		if !in.touched || !d.reached(in) {
			continue
		}
		size, data := d.size(in), in.data
		for _, i := range d.cells(in, size) {
			c := in.cells[i]
			data.sub(c.adds)
			data.add(d.p.added(in, c, d.last(c.atoms), size))
		}
		total.add(d.state.inode(in, size, data))
	}
	return total
}

// image says what is other in a state than now.
func (s state) image() *Image {
	d := s.difference()
	i := &Image{Digest: digest(d.sum())}
	for _, e := range d.entries {
		if e.value != e.now && d.reached(e.in) {
			n := Name{Dir: e.dir, Name: e.name}
			if e.value != nil {
				n.Ino = e.value.ino
			}
			i.Names = append(i.Names, n)
		}
	}
	slices.SortFunc(i.Names, func(a, b Name) int {
		return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name))
	})
	for _, e := range d.entries { // what is lost of names had set the time of the directory
		d.inode(e.in)
	}
	for _, in := range d.inodes {
		if (in.touched || len(in.timed) > 0) && d.reached(in) {
			if f, differs := d.file(in); differs {
				i.Files = append(i.Files, f)
			}
		}
	}
	slices.SortFunc(i.Files, func(a, b File) int { return cmp.Compare(a.Ino, b.Ino) })
	return i
}

// file says what an inode is in a state, and whether that is other than now.
func (d *difference) file(in *inode) (f File, differs bool) {
	size := d.size(in)
	f = File{Ino: in.ino, Size: -1}
	if differs = size != in.size && in.sized; differs {
		f.Size = size
	}
	for _, i := range d.cells(in, size) {
		c := in.cells[i]
		last := d.last(c.atoms)
		hi := min(c.hi, size)
		// Where the file is longer than now, what was cut off is to be put back.
		if hi <= c.lo || last == len(c.atoms)-1 && size <= in.size {
			continue
		}
		b := make([]byte, hi-c.lo)
		copy(b, d.p.bytes(c, last, hi))
		differs = true
		if n := len(f.Data); n > 0 && f.Data[n-1].Offset+int64(len(f.Data[n-1].Bytes)) == c.lo {
			f.Data[n-1].Bytes = append(f.Data[n-1].Bytes, b...)
		} else {
			f.Data = append(f.Data, Extent{c.lo, b})
		}
	}
	all := state{p: d.p}
	if len(in.attrs) > 0 {
		if a := d.attributes(in); a == nil {
			f.Attr, differs = in.start.attr, true
		} else if *a != *all.attributes(in) {
			f.Attr, differs = a, true
		}
	}
	for name := range in.xattrs {
		w, v := d.xattr(in, name), all.xattr(in, name)
		if w.gone != v.gone || !bytes.Equal(w.bytes, v.bytes) {
			f.Xattrs, differs = append(f.Xattrs, Xattr{name, w.bytes, w.gone}), true
		}
	}
	slices.SortFunc(f.Xattrs, func(a, b Xattr) int { return cmp.Compare(a.Name, b.Name) })
	if by := d.setBy(in); by != all.setBy(in) {
		f.Retimed, f.Last, differs = true, by, true
	}
	return f, differs
}
