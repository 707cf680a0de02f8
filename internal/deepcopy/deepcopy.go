// Package deepcopy copies graphs of plain values: pointers keep their identity
// (two that were equal are equal in the copy), also those into the middle of a
// struct or a slice; cycles are fine, unexported fields are copied too. It is how a
// node's emulated kernel becomes part of a checkpoint. A channel or a function
// in the graph is a defect of the graph and panics.
package deepcopy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"sync"
	"unsafe"
)

// Of returns a copy of what p points at. Interface values of the types in
// without become nil in the copy; types in shared are copied by assignment.
func Of[T any](p *T, without, shared []reflect.Type) *T {
	c := copier{known: map[visit]bool{}, without: without, shared: shared}
	src := reflect.ValueOf(&p).Elem()
	c.scan(src)
	c.settle()
	dst := reflect.New(src.Type()).Elem()
	c.copy(dst, src)
	return dst.Interface().(*T)
}

// copier works in two passes: scan finds what pointers and slices refer to, so
// that copy knows for each pointer which whole object it points into.
type copier struct {
	known           map[visit]bool
	objects         []object // sorted by address once settled; none overlaps another
	without, shared []reflect.Type
}

type visit struct {
	at unsafe.Pointer
	t  reflect.Type
	n  int
}

// object is a piece of memory: n values of type elem.
type object struct {
	at   uintptr
	elem reflect.Type
	n    int
	src  reflect.Value // a slice of the n values
	dst  reflect.Value // its copy, or invalid
}

func (o *object) size() uintptr { return o.elem.Size() * uintptr(o.n) }

// opaque reports types whose values are copied by assignment.
func (c *copier) opaque(t reflect.Type) bool { return flat(t) || slices.Contains(c.shared, t) }

// scan enters everything that v refers to.
func (c *copier) scan(v reflect.Value) {
	t := v.Type()
	if c.opaque(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.meet(v.UnsafePointer(), t.Elem(), 1)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.meet(v.UnsafePointer(), t.Elem(), v.Cap())
		}
	case reflect.Interface:
		if !v.IsNil() && !slices.Contains(c.without, t) {
			c.scan(addressable(v.Elem()))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			c.scan(addressable(it.Key()))
			c.scan(addressable(it.Value()))
		}
	case reflect.Array:
		for i := range v.Len() {
			c.scan(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.scan(open(v.Field(i)))
		}
	default:
		panic(fmt.Sprintf("deepcopy: a %v cannot be copied", t))
	}
}

// meet enters an object and what it refers to.
func (c *copier) meet(at unsafe.Pointer, elem reflect.Type, n int) {
	k := visit{at, elem, n}
	if elem.Size() == 0 || n == 0 || c.known[k] {
		return
	}
	c.known[k] = true
	o := object{at: uintptr(at), elem: elem, n: n, src: reflect.SliceAt(elem, at, n)}
	c.objects = append(c.objects, o)
	if c.opaque(elem) {
		return
	}
	for i := range n {
		c.scan(o.src.Index(i))
	}
}

// settle keeps the outermost objects.
func (c *copier) settle() {
	slices.SortStableFunc(c.objects, func(a, b object) int {
		if d := cmp.Compare(a.at, b.at); d != 0 {
			return d
		}
		if d := cmp.Compare(b.size(), a.size()); d != 0 {
			return d
		}
		return depth(b.elem) - depth(a.elem) // a struct before its only field
	})
	outer := c.objects[:0]
	end := uintptr(0)
	for _, o := range c.objects {
		if o.at+o.size() <= end {
			continue
		}
		if o.at < end {
			panic(fmt.Sprintf("deepcopy: slices of %v overlap", o.elem))
		}
		end = o.at + o.size()
		outer = append(outer, o)
	}
	c.objects = outer
}

// depth is how often a type can be entered by its first field or element.
func depth(t reflect.Type) int {
	switch {
	case t.Kind() == reflect.Struct && t.NumField() > 0:
		return 1 + depth(t.Field(0).Type)
	case t.Kind() == reflect.Array:
		return 1 + depth(t.Elem())
	}
	return 0
}

// address returns where in the copy the memory at p is.
func (c *copier) address(p unsafe.Pointer) unsafe.Pointer {
	i := sort.Search(len(c.objects), func(i int) bool { return c.objects[i].at > uintptr(p) }) - 1
	o := &c.objects[i]
	if !o.dst.IsValid() {
		o.dst = reflect.MakeSlice(reflect.SliceOf(o.elem), o.n, o.n)
		if c.opaque(o.elem) {
			reflect.Copy(o.dst, o.src)
		} else {
			for j := range o.n {
				c.copy(o.dst.Index(j), o.src.Index(j))
			}
		}
	}
	return unsafe.Add(o.dst.UnsafePointer(), uintptr(p)-o.at)
}

// copy makes dst, which is settable, a copy of src.
func (c *copier) copy(dst, src reflect.Value) {
	t := src.Type()
	if c.opaque(t) {
		dst.Set(src)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		switch {
		case src.IsNil():
		case t.Elem().Size() == 0:
			dst.Set(src)
		default:
			dst.Set(reflect.NewAt(t.Elem(), c.address(src.UnsafePointer())))
		}
	case reflect.Slice:
		switch {
		case src.IsNil():
		case src.Cap() == 0 || t.Elem().Size() == 0:
			dst.Set(src)
		default:
			dst.Set(reflect.SliceAt(t.Elem(), c.address(src.UnsafePointer()), src.Cap()).Slice(0, src.Len()).Convert(t))
		}
	case reflect.Interface:
		if src.IsNil() || slices.Contains(c.without, t) {
			return
		}
		v := reflect.New(src.Elem().Type()).Elem()
		c.copy(v, addressable(src.Elem()))
		dst.Set(v)
	case reflect.Array:
		for i := range src.Len() {
			c.copy(dst.Index(i), src.Index(i))
		}
	case reflect.Map:
		if src.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(t, src.Len())
		dst.Set(m)
		for it := src.MapRange(); it.Next(); {
			k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			c.copy(k, addressable(it.Key()))
			c.copy(v, addressable(it.Value()))
			m.SetMapIndex(k, v)
		}
	case reflect.Struct:
		for i := range src.NumField() {
			c.copy(open(dst.Field(i)), open(src.Field(i)))
		}
	}
}

// addressable returns v in a place of its own, so that its fields can be opened.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// open makes an unexported field readable and settable.
func open(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}

var flatTypes sync.Map // reflect.Type -> bool

// flat reports whether values of t hold no references but strings.
func flat(t reflect.Type) bool {
	if v, ok := flatTypes.Load(t); ok {
		return v.(bool)
	}
	f := false
	switch t.Kind() {
	case reflect.Array:
		f = flat(t.Elem())
	case reflect.Struct:
		f = true
		for i := range t.NumField() {
			f = f && flat(t.Field(i).Type)
		}
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
	default:
		f = true
	}
	flatTypes.Store(t, f)
	return f
}
