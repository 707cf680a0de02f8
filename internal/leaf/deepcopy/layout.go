package deepcopy

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// rules say what is copied how, and hold the layouts of the types met so far.
type rules struct {
	without, shared []reflect.Type
	// encodes: fields with the tag `encode:"-"` are left out, and maps are met in the order of
	// their keys.
	encodes bool

	mu      sync.Mutex // of all below
	layouts map[reflect.Type]*layout
	// dynamic are the types inside of interfaces, by the first word of these.
	dynamic sync.Map // unsafe.Pointer -> *dynamic
}

// layout is what copying needs to know of a type: it is made once.
type layout struct {
	t     reflect.Type
	slice reflect.Type // of t
	id    int          // from 0, in order of their making
	size  uintptr
	depth int // how often the type can be entered by its first field or element
	// plain: a value is bytes only, and all of them are copied.
	plain bool
	// pieces are what is copied as it stands, in order of offset; slots what refers to
	// something that is copied too.
	pieces []piece
	slots  []slot
	// strings are the offsets of strings, whose bytes are shared.
	strings []uintptr
	// within are the offsets of values of a type in a value, as far as they were asked for.
	within sync.Map // reflect.Type -> []uintptr
}

// flat: a value is copied as it stands.
func (l *layout) flat() bool { return len(l.slots) == 0 }

// piece is a part of a value: a pointer when size is 0, otherwise so many bytes.
type piece struct{ offset, size uintptr }

type slotKind uint8

const (
	pointerSlot slotKind = iota
	sliceSlot
	interfaceSlot
	mapSlot
)

// slot is a reference in a value. Its first word (of an interface, the second) is
// where the copy's reference goes.
type slot struct {
	kind   slotKind
	offset uintptr
	t      reflect.Type // of an interface or a map
	elem   *layout      // of a pointer or a slice
}

const word = unsafe.Sizeof(uintptr(0))

// layout returns the layout of t.
func (r *rules) layout(t reflect.Type) *layout {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.make(t)
}

func (r *rules) make(t reflect.Type) *layout {
	if l := r.layouts[t]; l != nil {
		return l
	}
	l := &layout{t: t, slice: reflect.SliceOf(t), id: len(r.layouts), size: t.Size(), depth: depth(t), plain: true}
	r.layouts[t] = l
	r.add(l, t, 0)
	l.plain = l.plain && len(l.slots) == 0 && !slices.ContainsFunc(l.pieces, func(p piece) bool { return p.size == 0 })
	return l
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

// add enters a part of l's type into l.
func (r *rules) add(l *layout, t reflect.Type, offset uintptr) {
	if slices.Contains(r.shared, t) {
		l.share(t, offset)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Size() == 0 {
			l.share(t, offset)
			return
		}
		l.slots = append(l.slots, slot{kind: pointerSlot, offset: offset, elem: r.make(t.Elem())})
	case reflect.Slice:
		if t.Elem().Size() == 0 {
			l.share(t, offset)
			return
		}
		l.slots = append(l.slots, slot{kind: sliceSlot, offset: offset, elem: r.make(t.Elem())})
		l.bytes(offset+word, 2*word)
	case reflect.Interface:
		if slices.Contains(r.without, t) {
			l.plain = false
			return
		}
		l.slots = append(l.slots, slot{kind: interfaceSlot, offset: offset, t: t})
		l.pieces = append(l.pieces, piece{offset: offset})
	case reflect.Map:
		l.slots = append(l.slots, slot{kind: mapSlot, offset: offset, t: t})
	case reflect.Array:
		for i := range t.Len() {
			r.add(l, t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if r.encodes && leftOut(f) {
				l.plain = false
				continue
			}
			r.add(l, f.Type, offset+f.Offset)
		}
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		panic(fmt.Sprintf("deepcopy: a %v cannot be copied", t))
	default:
		l.share(t, offset)
	}
}

// share enters a part that is copied as it stands.
func (l *layout) share(t reflect.Type, offset uintptr) {
	switch t.Kind() {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func:
		l.pieces = append(l.pieces, piece{offset: offset})
	case reflect.String:
		l.strings = append(l.strings, offset)
		l.pieces = append(l.pieces, piece{offset: offset})
		l.bytes(offset+word, word)
	case reflect.Slice:
		l.pieces = append(l.pieces, piece{offset: offset})
		l.bytes(offset+word, 2*word)
	case reflect.Interface:
		l.pieces = append(l.pieces, piece{offset: offset}, piece{offset: offset + word})
	case reflect.Array:
		for i := range t.Len() {
			l.share(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			l.share(f.Type, offset+f.Offset)
		}
	default:
		l.bytes(offset, t.Size())
	}
}

// bytes enters bytes, together with the ones before when nothing is between.
func (l *layout) bytes(offset, size uintptr) {
	if n := len(l.pieces); n > 0 {
		if p := &l.pieces[n-1]; p.size > 0 && p.offset+p.size == offset {
			p.size += size
			return
		}
	}
	if size > 0 {
		l.pieces = append(l.pieces, piece{offset, size})
	}
}

// dynamic is a type inside of interfaces.
type dynamic struct {
	layout *layout
	// direct: the value is the interface's second word; otherwise that points to it.
	direct bool
}

// inside returns the type inside of an interface of type t at p, which is not nil.
func (r *rules) inside(t reflect.Type, p unsafe.Pointer) *dynamic {
	key := *(*unsafe.Pointer)(p)
	if d, ok := r.dynamic.Load(key); ok {
		return d.(*dynamic)
	}
	v := reflect.NewAt(t, p).Elem().Elem()
	// The word of a zero value is nil when it is the value itself.
	zero := reflect.Zero(v.Type()).Interface()
	d := &dynamic{r.layout(v.Type()), (*[2]unsafe.Pointer)(unsafe.Pointer(&zero))[1] == nil}
	r.dynamic.Store(key, d)
	return d
}
