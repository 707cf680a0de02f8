package deepcopy

import (
	"reflect"
	"unsafe"
)

// An Edit changes all values of one type that are in an image.
type Edit struct {
	t      reflect.Type
	change func(unsafe.Pointer)
}

// EditOf is an edit of the values of type E. Keys of maps must stay different from each other.
func EditOf[E any](change func(*E)) Edit {
	return Edit{reflect.TypeFor[E](), func(p unsafe.Pointer) { change((*E)(p)) }}
}

// Edited returns an image of the same graph in which each edit has changed each value of its type:
// also those that are elements, fields, and keys or values of maps. A value that an interface holds
// without a pointer is not changed, nor are values that copies share. References stay what they
// are: an edit may change pointers only to values that copies share.
func (i *Image[T]) Edited(edits ...Edit) *Image[T] {
	m := i.image
	m.blocks = make([]block, len(i.blocks))
	for k, b := range i.blocks {
		n := b.values.Len()
		values := reflect.MakeSlice(b.l.slice, n, n)
		reflect.Copy(values, b.values)
		m.blocks[k] = block{values, b.l}
		for _, e := range edits {
			for _, at := range b.l.places(e.t) {
				for v := range n {
					e.change(unsafe.Add(values.UnsafePointer(), uintptr(v)*b.l.size+at))
				}
			}
		}
	}
	return &Image[T]{m}
}

// places are the offsets of the values of type t in a value of the layout.
func (l *layout) places(t reflect.Type) []uintptr {
	if all, ok := l.within.Load(t); ok {
		return all.([]uintptr)
	}
	all := placesOf(t, l.t, 0, nil)
	l.within.Store(t, all)
	return all
}

// placesOf appends the offsets of the values of type t in a value of type in, which has an offset
// itself.
func placesOf(t, in reflect.Type, offset uintptr, all []uintptr) []uintptr {
	if in == t {
		return append(all, offset)
	}
	switch in.Kind() {
	case reflect.Array:
		for i := range in.Len() {
			all = placesOf(t, in.Elem(), offset+uintptr(i)*in.Elem().Size(), all)
		}
	case reflect.Struct:
		for i := range in.NumField() {
			f := in.Field(i)
			all = placesOf(t, f.Type, offset+f.Offset, all)
		}
	}
	return all
}
