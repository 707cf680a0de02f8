package disk

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"ariadne"
)

// sum is a hash to which parts are added and from which they are taken, in any order, modulo 2^64 in
// each half. What a zero byte adds is nothing. So what no operation has changed need not be known.
type sum struct{ a, b uint64 }

func (s *sum) add(t sum) { s.a, s.b = s.a+t.a, s.b+t.b }
func (s *sum) sub(t sum) { s.a, s.b = s.a-t.a, s.b-t.b }

// scramble is the last part of splitmix64.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// sumOf is of something that is not bytes of a file.
func sumOf(parts ...any) sum {
	d := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return sum{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}
}

// bytesAt is of bytes of a file.
func (in *inode) bytesAt(offset int64, b []byte) (s sum) {
	k, l := scramble(in.ino+0x9e3779b97f4a7c15), scramble(in.ino+0xd1b54a32d192ed03)
	for i, c := range b {
		if c != 0 {
			x := uint64(offset+int64(i))<<8 | uint64(c)
			s.add(sum{scramble(x + k), scramble(x ^ l)})
		}
	}
	return s
}

// content is what an inode is.
type content struct {
	size int64
	data sum // of what operations have changed, less what it was when the log began
	attr *Attr
	x    map[string]value
}

// value is that of an extended attribute.
type value struct {
	bytes []byte
	gone  bool
}

// cell is bytes of a file that the same atoms change.
type cell struct {
	lo, hi int64
	atoms  []int32 // in order
	// was and is are the hashes of its bytes before all atoms and after each; with done.
	was  sum
	is   []sum
	done []bool
}

// now are the bytes from lo to hi after an atom, without the zeros at their end.
func (a *atom) now(lo, hi int64) []byte { return cut(a.op.New, a.op.from(), lo, hi) }

// was are the bytes from lo to hi before an atom.
func (a *atom) was(lo, hi int64) []byte { return cut(a.op.Old, a.op.from(), lo, hi) }

// from is the offset of the operation's bytes.
func (o *Op) from() int64 {
	if o.Kind == Truncate {
		return o.Size
	}
	return o.Offset
}

func cut(b []byte, at, lo, hi int64) []byte {
	return b[min(max(lo-at, 0), int64(len(b))):min(max(hi-at, 0), int64(len(b)))]
}

// divide returns the cells of a file.
func (p *plan) divide(in *inode) []cell {
	if !in.stale {
		return in.cells
	}
	in.stale, in.cells = false, nil
	var ends []int64
	for _, n := range in.atoms {
		if a := &p.atoms[n]; a.hi > a.lo {
			ends = append(ends, a.lo, a.hi)
		}
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i := 1; i < len(ends); i++ {
		in.cells = append(in.cells, cell{lo: ends[i-1], hi: ends[i]})
	}
	for _, n := range in.atoms {
		a := &p.atoms[n]
		if a.hi == a.lo {
			continue
		}
		i, _ := slices.BinarySearch(ends, a.lo)
		for ; i < len(in.cells) && in.cells[i].lo < a.hi; i++ {
			in.cells[i].atoms = append(in.cells[i].atoms, n)
		}
	}
	in.cells = slices.DeleteFunc(in.cells, func(c cell) bool { return len(c.atoms) == 0 })
	for i := range in.cells {
		c := &in.cells[i]
		c.was = p.whole(in, c.atoms[0], c.lo, c.hi, true)
		c.is, c.done = make([]sum, len(c.atoms)), make([]bool, len(c.atoms))
	}
	return in.cells
}

// whole is the hash of bytes before or after an atom. When they are all of it, it is kept.
func (p *plan) whole(in *inode, n int32, lo, hi int64, before bool) sum {
	a := &p.atoms[n]
	kept := &a.after
	b := a.now
	if before {
		kept, b = &a.before, a.was
	}
	if lo != a.lo || hi != a.hi {
		return in.bytesAt(lo, b(lo, hi))
	}
	if *kept == nil {
		s := in.bytesAt(lo, b(lo, hi))
		*kept = &s
	}
	return **kept
}

// state is a set of atoms, and what it makes of the files.
type state struct {
	p    *plan
	from int32  // the atoms before are durable
	kept []bool // by atom, from there on; durable ones are in the set, whatever this says
}

func (s state) has(n int32) bool { return n < s.from || s.kept[n-s.from] || s.p.atoms[n].durable }

func (s state) set(n int32, kept bool) { s.kept[n-s.from] = kept }

// last is the last atom of a list, in order, that is kept, or none.
func (s state) last(atoms []int32, is func(*atom) bool) int32 {
	for i := len(atoms) - 1; i >= 0; i-- {
		if n := atoms[i]; s.has(n) && (is == nil || is(&s.p.atoms[n])) {
			return n
		}
	}
	return none
}

// value is what a name stands for.
func (s state) value(e *entry) *inode {
	n := s.last(e.atoms, nil)
	if n == none {
		return e.base
	}
	for _, set := range s.p.atoms[n].sets {
		if set.entry == e {
			return set.ino
		}
	}
	panic("disk: an atom that does not set its name")
}

// reach finds out which inodes have a name. A directory without one has nothing in it.
type reach struct {
	state
	known  []int8   // by inode: 1 yes, 2 no, 3 is being looked at
	values []*inode // by name, once looked up: each is asked for by all inodes that ever had it
	looked []bool
}

func (s state) reach() *reach {
	names := len(s.p.order)
	return &reach{s, make([]int8, len(s.p.list)), make([]*inode, names), make([]bool, names)}
}

// value is what a name stands for.
func (r *reach) value(e *entry) *inode {
	if !r.looked[e.index] {
		r.looked[e.index], r.values[e.index] = true, r.state.value(e)
	}
	return r.values[e.index]
}

func (r *reach) has(in *inode) bool {
	if k := r.known[in.index]; k != 0 {
		return k == 1
	}
	r.known[in.index] = 3
	named := in.outside > 0
	for i := 0; !named && i < len(in.entries); i++ {
		e := in.entries[i]
		named = r.value(e) == in && r.has(e.in)
	}
	r.known[in.index] = 2
	if named {
		r.known[in.index] = 1
	}
	return named
}

// size is that of a file.
func (s state) size(in *inode) int64 {
	if n := s.last(in.atoms, func(a *atom) bool { return a.size >= 0 }); n != none {
		return s.p.atoms[n].size
	}
	return in.base.size
}

// data is the hash of a file's bytes, relative to those when the log began.
func (s state) data(in *inode, size int64) sum {
	total := in.base.data
	cells := s.p.divide(in)
	for i := range cells {
		c := &cells[i]
		total.sub(c.was)
		if c.lo >= size {
			continue
		}
		v := len(c.atoms) - 1
		for v >= 0 && !s.has(c.atoms[v]) {
			v--
		}
		switch {
		case c.hi > size && v < 0:
			total.add(in.bytesAt(c.lo, s.p.atoms[c.atoms[0]].was(c.lo, size)))
		case c.hi > size:
			total.add(in.bytesAt(c.lo, s.p.atoms[c.atoms[v]].now(c.lo, size)))
		case v < 0:
			total.add(c.was)
		case !c.done[v]:
			c.is[v], c.done[v] = s.p.whole(in, c.atoms[v], c.lo, c.hi, false), true
			fallthrough
		default:
			total.add(c.is[v])
		}
	}
	return total
}

// attributes are those that operations have set, or nil.
func (s state) attributes(in *inode) *Attr {
	if n := s.last(in.atoms, func(a *atom) bool { return a.attr }); n != none {
		return &s.p.atoms[n].op.Attr
	}
	return in.base.attr
}

// xattrs are the extended attributes that operations have set or removed.
func (s state) xattrs(in *inode) map[string]value {
	var x map[string]value
	for _, n := range in.atoms {
		if a := &s.p.atoms[n]; a.xattr && s.has(n) {
			if x == nil {
				x = map[string]value{}
				for name, v := range in.base.x {
					x[name] = v
				}
			}
			x[a.op.Xattr] = value{a.op.New, a.op.Gone}
		}
	}
	if x == nil {
		return in.base.x
	}
	return x
}

// sum is the hash of all that the log has changed, relative to what it was when it began.
func (s state) sum() (total sum) {
	r := s.reach()
	for _, e := range s.p.order {
		is := r.value(e)
		if !r.has(e.in) {
			is = nil
		} else if is == e.start {
			continue
		}
		if is == nil && e.start == nil {
			continue
		}
		number := uint64(0)
		if is != nil {
			number = is.ino
		}
		if e.hash == nil {
			e.hash = map[uint64]sum{}
		}
		h, ok := e.hash[number]
		if !ok {
			h = sumOf("name", e.dir, e.name, number)
			e.hash[number] = h
		}
		total.add(h)
	}
	for _, in := range s.p.list {
		if in.touched && r.has(in) {
			total.add(s.inode(in))
		}
	}
	return total
}

// inode is the hash of what an inode is.
func (s state) inode(in *inode) sum {
	size := s.size(in)
	total := s.data(in, size)
	if size != in.start.size {
		total.add(sum{scramble(uint64(size) + scramble(in.ino)), scramble(uint64(size) ^ scramble(^in.ino))})
	}
	if a := s.attributes(in); a != nil && *a != *in.start.attr {
		total.add(sumOf("attributes", in.ino, *a))
	}
	for name, v := range s.xattrs(in) {
		if w := in.start.x[name]; v.gone != w.gone || !bytes.Equal(v.bytes, w.bytes) {
			total.add(sumOf("xattr", in.ino, name, v.bytes, v.gone))
		}
	}
	return total
}

// bake takes into an inode's base what its atoms do, which are all durable, and forgets them.
func (p *plan) bake(in *inode) {
	s := p.nothing()
	size := s.size(in)
	in.base = content{size, s.data(in, size), s.attributes(in), s.xattrs(in)}
	in.atoms, in.cells, in.stale = nil, nil, false
	clear(in.sector)
	in.spans = nil
}

func digest(s sum) ariadne.Digest {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte("image"), s.a), s.b))
}

// image says what is other in a state than now.
func (s state) image() *Image {
	i := &Image{Digest: digest(s.sum())}
	r := s.reach()
	for _, e := range s.p.order {
		if is := r.value(e); is != e.now && r.has(e.in) {
			n := Name{Dir: e.dir, Name: e.name}
			if is != nil {
				n.Ino = is.ino
			}
			i.Names = append(i.Names, n)
		}
	}
	slices.SortFunc(i.Names, func(a, b Name) int { return cmp.Or(cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Name, b.Name)) })
	for _, in := range s.p.list {
		if in.touched && r.has(in) {
			if f, differs := s.file(in); differs {
				i.Files = append(i.Files, f)
			}
		}
	}
	slices.SortFunc(i.Files, func(a, b File) int { return cmp.Compare(a.Ino, b.Ino) })
	return i
}

// file says what an inode is in a state, and whether that is other than now.
func (s state) file(in *inode) (f File, differs bool) {
	size := s.size(in)
	f = File{Ino: in.ino, Size: -1}
	if differs = size != in.size && in.sized; differs {
		f.Size = size
	}
	cells := s.p.divide(in)
	for i := range cells {
		c := &cells[i]
		v := len(c.atoms) - 1
		for v >= 0 && !s.has(c.atoms[v]) {
			v--
		}
		hi := min(c.hi, size)
		// Where the file is longer than now, what was cut off is to be put back.
		if hi <= c.lo || v == len(c.atoms)-1 && size <= in.size {
			continue
		}
		b := make([]byte, hi-c.lo)
		if v < 0 {
			copy(b, s.p.atoms[c.atoms[0]].was(c.lo, hi))
		} else {
			copy(b, s.p.atoms[c.atoms[v]].now(c.lo, hi))
		}
		differs = true
		if n := len(f.Data); n > 0 && f.Data[n-1].Offset+int64(len(f.Data[n-1].Bytes)) == c.lo {
			f.Data[n-1].Bytes = append(f.Data[n-1].Bytes, b...)
		} else {
			f.Data = append(f.Data, Extent{c.lo, b})
		}
	}
	if last := s.p.lastOf(in, func(a *atom) bool { return a.attr }); last != nil {
		if a := s.attributes(in); a == nil {
			f.Attr, differs = in.start.attr, true
		} else if *a != last.op.Attr {
			f.Attr, differs = a, true
		}
	}
	var now map[string]value
	if len(in.lastX) > 0 {
		now = s.p.everything().xattrs(in)
	}
	was := s.xattrs(in)
	for name, v := range now {
		w, ok := was[name]
		if !ok {
			w = in.start.x[name]
		}
		if w.gone != v.gone || !bytes.Equal(w.bytes, v.bytes) {
			f.Xattrs, differs = append(f.Xattrs, Xattr{name, w.bytes, w.gone}), true
		}
	}
	slices.SortFunc(f.Xattrs, func(a, b Xattr) int { return cmp.Compare(a.Name, b.Name) })
	return f, differs
}

// lastOf is the last atom of an inode of some sort, kept or not, or nil.
func (p *plan) lastOf(in *inode, is func(*atom) bool) *atom {
	for i := len(in.atoms) - 1; i >= 0; i-- {
		if a := &p.atoms[in.atoms[i]]; is(a) {
			return a
		}
	}
	return nil
}
