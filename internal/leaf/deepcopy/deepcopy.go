// Package deepcopy copies graphs of plain values: pointers keep their identity
// (two that were equal are equal in the copy), also those into the middle of a
// struct or a slice; cycles are fine, unexported fields are copied too. It is how a
// node's emulated kernel becomes part of a checkpoint. A channel or a function
// in the graph is a defect of the graph and panics.
//
// An Image is a copy at rest, from which any number of copies are made. The values
// of each type lie side by side in it, and its references are numbers in a list, so
// to copy an image is to copy a few blocks of memory and to write the list's
// pointers; only maps are built entry by entry. Taking the image is what follows
// the graph; it does so by the layouts of its types (layout.go), not by reflection.
//
// A Codec turns such graphs into bytes and back (encode.go).
package deepcopy

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// Copier copies graphs that begin with a T. It is for any number of goroutines.
type Copier[T any] struct{ rules rules }

// New returns a copier. Interface values of the types in without become nil in
// copies; types in shared are copied by assignment.
func New[T any](without, shared []reflect.Type) *Copier[T] {
	return &Copier[T]{rules{without: without, shared: shared, layouts: map[reflect.Type]*layout{}}}
}

// Image is a copy at rest. It does not change.
type Image[T any] struct{ image }

type image struct {
	blocks []block
	refs   []ref
	maps   []mapImage
	root   place
	bytes  int64
}

// block is all values of one type.
type block struct {
	values reflect.Value // a slice of them
	l      *layout
}

// place is a place in the blocks.
type place struct{ block, offset uint32 }

// ref is a pointer: where it stands and where it points to.
type ref struct{ at, to place }

// mapImage is a map: its keys and values lie in the blocks.
type mapImage struct {
	t            reflect.Type
	keys, values place
	n            int
	at           []place // where it is referred to
}

// Image returns an image of what p points at.
func (c *Copier[T]) Image(p *T) *Image[T] {
	w := c.follow(p, walks.Get().(*walk))
	defer w.free()
	w.settle(func(o *object) { panic(fmt.Sprintf("deepcopy: slices of %v overlap", o.l.t)) })
	return &Image[T]{w.image(0)}
}

// follow finds everything to which p refers, by a walk that has not begun. Object 0 is the value at
// which p points.
func (c *Copier[T]) follow(p *T, w *walk) *walk {
	w.rules = &c.rules
	w.meet(unsafe.Pointer(p), c.rules.layout(reflect.TypeFor[T]()), 1)
	for w.next < len(w.objects) {
		w.scan(int32(w.next))
		w.next++
	}
	return w
}

// Bytes is about how much memory what p points at holds: what an image of it would hold, and the
// bytes of its strings. Memory in front of a slice does not count, nor what lies behind its
// capacity.
func (c *Copier[T]) Bytes(p *T) (n int64) {
	w := c.follow(p, &walk{counts: true, maps: map[unsafe.Pointer]int32{}})
	w.settle(func(*object) {})
	for _, i := range w.order {
		n += int64(w.objects[i].size())
	}
	for i := range w.objects {
		o := &w.objects[i]
		if o.outer != int32(i) {
			continue
		}
		for k := range o.n * len(o.l.strings) {
			at := uintptr(k/len(o.l.strings))*o.l.size + o.l.strings[k%len(o.l.strings)]
			n += int64(len(*(*string)(unsafe.Add(o.at, at))))
		}
	}
	return n
}

// Bytes is about how much memory the image holds.
func (i *Image[T]) Bytes() int64 { return i.bytes }

// Copy returns a copy.
func (i *Image[T]) Copy() *T { return (*T)(i.copy()) }

// copy returns the root of a copy.
func (i *image) copy() unsafe.Pointer {
	bases := make([]unsafe.Pointer, len(i.blocks))
	for k, b := range i.blocks {
		n := b.values.Len()
		v := reflect.MakeSlice(b.l.slice, n, n)
		reflect.Copy(v, b.values)
		bases[k] = v.UnsafePointer()
	}
	at := func(p place) unsafe.Pointer { return unsafe.Add(bases[p.block], p.offset) }
	for _, r := range i.refs {
		*(*unsafe.Pointer)(at(r.at)) = at(r.to)
	}
	// All maps first: the values of one may hold another.
	maps := make([]reflect.Value, len(i.maps))
	for k := range i.maps {
		m := &i.maps[k]
		maps[k] = reflect.MakeMapWithSize(m.t, m.n)
		for _, a := range m.at {
			*(*unsafe.Pointer)(at(a)) = maps[k].UnsafePointer()
		}
	}
	for k := range i.maps {
		m := &i.maps[k]
		if m.n == 0 {
			continue
		}
		keys := reflect.SliceAt(m.t.Key(), at(m.keys), m.n)
		values := reflect.SliceAt(m.t.Elem(), at(m.values), m.n)
		for j := range m.n {
			maps[k].SetMapIndex(keys.Index(j), values.Index(j))
		}
	}
	return at(i.root)
}

// walk is the way through a graph, of which an image is being taken.
type walk struct {
	rules   *rules
	counts  bool // no image is taken: who refers to what is not kept
	objects []object
	next    int // those before were scanned
	table   []int32
	edges   []edge
	kept    []keep
	maps    map[unsafe.Pointer]int32 // index in found
	found   []foundMap
	order   []int32
	blocks  []int32 // by id of layout, index in the image's blocks, or -1
}

// object is a piece of memory: n values of a layout.
type object struct {
	at    unsafe.Pointer
	l     *layout
	n     int
	outer int32   // the object that it is a part of, or itself
	delta uintptr // where in that
	place place   // in the image
}

func (o *object) size() uintptr { return o.l.size * uintptr(o.n) }

// edge is a reference: at an offset in an object there is a pointer to another.
type edge struct {
	from   int32
	offset uint32
	to     int32
}

// keep is a pointer that stays as it is.
type keep struct {
	from   int32
	offset uint32
	p      unsafe.Pointer
}

// foundMap is a map: its keys and values were put into slices, that are objects.
type foundMap struct {
	t            reflect.Type
	keys, values int32
	n            int
	at           []mapEdge
}

type mapEdge struct {
	from   int32
	offset uint32
}

var walks = sync.Pool{New: func() any { return &walk{maps: map[unsafe.Pointer]int32{}} }}

// free gives the walk's memory back.
func (w *walk) free() {
	clear(w.objects)
	clear(w.kept)
	clear(w.found)
	clear(w.maps)
	clear(w.table)
	w.objects, w.edges, w.kept, w.found, w.next, w.rules = w.objects[:0], w.edges[:0], w.kept[:0], w.found[:0], 0, nil
	walks.Put(w)
}

// meet enters an object and returns its index.
func (w *walk) meet(at unsafe.Pointer, l *layout, n int) int32 {
	if len(w.objects)*2 >= len(w.table) {
		w.grow()
	}
	e := w.find(at, l, n)
	if *e == 0 {
		i := int32(len(w.objects))
		w.objects = append(w.objects, object{at: at, l: l, n: n, outer: i})
		*e = i + 1
	}
	return *e - 1
}

// find returns the table's entry of an object, 1 more than its index, or where it
// belongs: 0.
func (w *walk) find(at unsafe.Pointer, l *layout, n int) *int32 {
	mask := uint64(len(w.table) - 1)
	for i := uint64(uintptr(at)) * 0x9e3779b97f4a7c15 >> 32; ; i++ {
		e := &w.table[i&mask]
		if *e == 0 {
			return e
		}
		if o := &w.objects[*e-1]; o.at == at && o.l == l && o.n == n {
			return e
		}
	}
}

func (w *walk) grow() {
	w.table = make([]int32, max(1024, 2*len(w.table)))
	for i := range w.objects {
		o := &w.objects[i]
		*w.find(o.at, o.l, o.n) = int32(i) + 1
	}
}

// scan enters what an object refers to.
func (w *walk) scan(i int32) {
	o := w.objects[i]
	if o.size() > math.MaxUint32 {
		panic(fmt.Sprintf("deepcopy: %d bytes of %v", o.size(), o.l.t))
	}
	if o.l.flat() {
		return
	}
	for k := range o.n {
		offset := uintptr(k) * o.l.size
		w.slots(i, o.l, unsafe.Add(o.at, offset), offset)
	}
}

// slots enters what the value at p, of layout l, refers to; it stands at an offset in
// object i.
func (w *walk) slots(i int32, l *layout, p unsafe.Pointer, offset uintptr) {
	for k := range l.slots {
		s := &l.slots[k]
		at := unsafe.Add(p, s.offset)
		first := *(*unsafe.Pointer)(at)
		if first == nil {
			continue
		}
		offset := offset + s.offset
		switch s.kind {
		case pointerSlot:
			w.refers(i, offset, w.meet(first, s.elem, 1))
		case sliceSlot:
			if n := *(*int)(unsafe.Add(at, 2*word)); n > 0 {
				w.refers(i, offset, w.meet(first, s.elem, n))
			} else {
				w.keeps(i, offset, first)
			}
		case interfaceSlot:
			w.inside(i, s.t, at, offset)
		case mapSlot:
			m := &w.found[w.entries(s.t, at)]
			m.at = append(m.at, mapEdge{i, uint32(offset)})
		}
	}
}

// refers enters a pointer in an object to another.
func (w *walk) refers(from int32, offset uintptr, to int32) {
	if !w.counts {
		w.edges = append(w.edges, edge{from, uint32(offset), to})
	}
}

// keeps enters a pointer in an object that stays as it is.
func (w *walk) keeps(from int32, offset uintptr, p unsafe.Pointer) {
	if !w.counts {
		w.kept = append(w.kept, keep{from, uint32(offset), p})
	}
}

// inside enters what the interface at p, which is not nil, refers to.
func (w *walk) inside(i int32, t reflect.Type, p unsafe.Pointer, offset uintptr) {
	d := w.rules.inside(t, p)
	p, offset = unsafe.Add(p, word), offset+word
	value := *(*unsafe.Pointer)(p)
	switch {
	case d.layout.flat():
		w.keeps(i, offset, value)
	case d.direct:
		w.slots(i, d.layout, p, offset)
	default:
		w.refers(i, offset, w.meet(value, d.layout, 1))
	}
}

// entries enters the map at p and returns its index.
func (w *walk) entries(t reflect.Type, p unsafe.Pointer) int32 {
	id := *(*unsafe.Pointer)(p)
	if i, ok := w.maps[id]; ok {
		return i
	}
	i := int32(len(w.found))
	w.maps[id] = i
	m := reflect.NewAt(t, p).Elem()
	n := m.Len()
	w.found = append(w.found, foundMap{t: t, n: n})
	if n == 0 {
		return i
	}
	kl, vl := w.rules.layout(t.Key()), w.rules.layout(t.Elem())
	keys, values := reflect.MakeSlice(kl.slice, n, n), reflect.MakeSlice(vl.slice, n, n)
	for it, k := m.MapRange(), 0; it.Next(); k++ {
		keys.Index(k).SetIterKey(it)
		values.Index(k).SetIterValue(it)
	}
	if w.rules.encodes {
		keys, values = w.rules.inOrder(keys, values, kl)
	}
	if kl.size > 0 {
		w.found[i].keys = w.meet(keys.UnsafePointer(), kl, n)
	}
	if vl.size > 0 {
		w.found[i].values = w.meet(values.UnsafePointer(), vl, n)
	}
	return i
}

// settle finds the outermost objects, and where in them the others are. overlaps is called with an
// object that begins in another and ends behind it.
func (w *walk) settle(overlaps func(*object)) {
	w.order = w.order[:0]
	for i := range w.objects {
		w.order = append(w.order, int32(i))
	}
	slices.SortFunc(w.order, func(i, j int32) int {
		a, b := &w.objects[i], &w.objects[j]
		if d := cmp.Compare(uintptr(a.at), uintptr(b.at)); d != 0 {
			return d
		}
		if d := cmp.Compare(b.size(), a.size()); d != 0 {
			return d
		}
		return b.l.depth - a.l.depth // a struct before its only field
	})
	outermost := w.order[:0]
	end := uintptr(0)
	for _, i := range w.order {
		o := &w.objects[i]
		at := uintptr(o.at)
		if at+o.size() <= end {
			o.outer = outermost[len(outermost)-1]
			o.delta = at - uintptr(w.objects[o.outer].at)
			continue
		}
		if at < end {
			overlaps(o)
		}
		end = at + o.size()
		outermost = append(outermost, i)
	}
	w.order = outermost
}

// image copies what was found.
func (w *walk) image(root int32) image {
	m := image{}
	counts := w.place(&m)
	for k, n := range counts {
		b := &m.blocks[k]
		b.values = reflect.MakeSlice(b.l.slice, n, n)
		m.bytes += int64(uintptr(n) * b.l.size)
	}
	bases := make([]unsafe.Pointer, len(m.blocks))
	for k := range m.blocks {
		bases[k] = m.blocks[k].values.UnsafePointer()
	}
	for _, i := range w.order {
		o := &w.objects[i]
		o.l.shallow(unsafe.Add(bases[o.place.block], o.place.offset), o.at, o.n)
	}
	for _, k := range w.kept {
		if o := &w.objects[k.from]; o.outer == k.from {
			*(*unsafe.Pointer)(unsafe.Add(bases[o.place.block], o.place.offset+k.offset)) = k.p
		}
	}
	m.refs = make([]ref, 0, len(w.edges))
	for _, l := range w.edges {
		if o := &w.objects[l.from]; o.outer == l.from {
			m.refs = append(m.refs, ref{at: place{o.place.block, o.place.offset + l.offset}, to: w.at(l.to)})
		}
	}
	for i := range w.found {
		f := &w.found[i]
		mi := mapImage{t: f.t, n: f.n}
		if f.n > 0 {
			mi.keys, mi.values = w.at(f.keys), w.at(f.values)
		}
		for _, a := range f.at {
			if o := &w.objects[a.from]; o.outer == a.from {
				mi.at = append(mi.at, place{o.place.block, o.place.offset + a.offset})
			}
		}
		m.maps = append(m.maps, mi)
	}
	m.root = w.at(root)
	m.bytes += int64(len(m.refs)) * int64(unsafe.Sizeof(ref{}))
	return m
}

// place gives each outermost object its place, and returns the number of values of
// each block.
func (w *walk) place(m *image) (counts []int) {
	w.blocks = w.blocks[:0]
	for _, i := range w.order {
		o := &w.objects[i]
		for len(w.blocks) <= o.l.id {
			w.blocks = append(w.blocks, -1)
		}
		k := w.blocks[o.l.id]
		if k < 0 {
			k = int32(len(m.blocks))
			w.blocks[o.l.id] = k
			m.blocks = append(m.blocks, block{l: o.l})
			counts = append(counts, 0)
		}
		o.place = place{uint32(k), uint32(uintptr(counts[k]) * o.l.size)}
		counts[k] += o.n
		if uintptr(counts[k])*o.l.size > math.MaxUint32 {
			panic(fmt.Sprintf("deepcopy: too many %v", o.l.t))
		}
	}
	return counts
}

// at is where in the image an object is.
func (w *walk) at(i int32) place {
	o := &w.objects[i]
	p := w.objects[o.outer].place
	return place{p.block, p.offset + uint32(o.delta)}
}

// shallow copies n values from src to dst, without what they refer to. Pointers are
// written as such, so that the garbage collector learns of them.
func (l *layout) shallow(dst, src unsafe.Pointer, n int) {
	if l.plain {
		copyBytes(dst, src, l.size*uintptr(n))
		return
	}
	for k := range uintptr(n) {
		for _, p := range l.pieces {
			at := k*l.size + p.offset
			if p.size == 0 {
				*(*unsafe.Pointer)(unsafe.Add(dst, at)) = *(*unsafe.Pointer)(unsafe.Add(src, at))
			} else {
				copyBytes(unsafe.Add(dst, at), unsafe.Add(src, at), p.size)
			}
		}
	}
}

func copyBytes(dst, src unsafe.Pointer, n uintptr) {
	copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
}
