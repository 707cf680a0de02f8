// Package deepcopy copies graphs of plain values: pointers keep their identity
// (two that were equal are equal in the copy), cycles are fine, unexported fields
// are copied too. It is how a node's emulated kernel becomes part of a
// checkpoint. A channel or a function in the graph is a defect of the graph
// and panics.
package deepcopy

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// Of returns a copy of what p points at. Interface values of the types in
// without become nil in the copy; types in shared are copied by assignment.
func Of[T any](p *T, without, shared []reflect.Type) *T {
	c := copier{seen: map[visit]reflect.Value{}, without: without, shared: shared}
	dst := reflect.New(reflect.TypeFor[*T]()).Elem()
	c.copy(dst, reflect.ValueOf(p))
	return dst.Interface().(*T)
}

type visit struct {
	at unsafe.Pointer
	t  reflect.Type
}

type copier struct {
	seen            map[visit]reflect.Value
	without, shared []reflect.Type
}

// copy makes dst, which is settable, a copy of src.
func (c *copier) copy(dst, src reflect.Value) {
	t := src.Type()
	if flat(t) || contains(c.shared, t) {
		dst.Set(src)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		c.pointer(dst, src)
	case reflect.Interface:
		if src.IsNil() || contains(c.without, t) {
			return
		}
		v := reflect.New(src.Elem().Type()).Elem()
		c.copy(v, addressable(src.Elem()))
		dst.Set(v)
	case reflect.Slice:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeSlice(t, src.Len(), src.Len()))
		if flat(t.Elem()) {
			reflect.Copy(dst, src)
			return
		}
		for i := range src.Len() {
			c.copy(dst.Index(i), src.Index(i))
		}
	case reflect.Array:
		for i := range src.Len() {
			c.copy(dst.Index(i), src.Index(i))
		}
	case reflect.Map:
		c.mapping(dst, src)
	case reflect.Struct:
		for i := range src.NumField() {
			c.copy(open(dst.Field(i)), open(src.Field(i)))
		}
	default:
		panic(fmt.Sprintf("deepcopy: a %v cannot be copied", t))
	}
}

func (c *copier) pointer(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	key := visit{src.UnsafePointer(), src.Type()}
	if v, ok := c.seen[key]; ok {
		dst.Set(v)
		return
	}
	v := reflect.New(src.Type().Elem())
	c.seen[key] = v
	dst.Set(v)
	c.copy(v.Elem(), src.Elem())
}

func (c *copier) mapping(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	t := src.Type()
	dst.Set(reflect.MakeMapWithSize(t, src.Len()))
	for it := src.MapRange(); it.Next(); {
		k, v := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		c.copy(k, addressable(it.Key()))
		c.copy(v, addressable(it.Value()))
		dst.SetMapIndex(k, v)
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

func contains(ts []reflect.Type, t reflect.Type) bool {
	for _, x := range ts {
		if x == t {
			return true
		}
	}
	return false
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
