package deepcopy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// A Codec turns graphs that begin with a T into bytes, and back. Equal graphs give equal bytes,
// wherever they lie and however their maps were made. The bytes are for programs in which the types
// are the same: a fingerprint of all types stands in front, and others refuse them.
//
// Values go by their types alone. So a type that is met in an interface must be known beforehand,
// and fields with the tag `encode:"-"`, which are caches or belong to the process, are zero in what
// is decoded.
type Codec[T any] struct {
	copier *Copier[T]
	codec
}

type codec struct {
	rules *rules
	// bytes are the types that turn themselves into bytes.
	bytes []reflect.Type
	types []reflect.Type // in the order of their names
	ids   map[reflect.Type]int
	print [sha256.Size]byte
}

// magic begins an encoding. Its last byte is the version of this format.
const magic = "graph\x00\x00\x01"

// NewCodec returns a codec. Interface values of the types in without are nil in what is decoded;
// those in asBytes are encoding.BinaryMarshalers, and encoding.BinaryUnmarshalers by their address.
// dynamic are the types that may be in interfaces. version is what else must be the same for bytes
// to mean the same.
func NewCodec[T any](without, asBytes, dynamic []reflect.Type, version string) *Codec[T] {
	c := New[T](without, asBytes)
	c.rules.encodes = true
	k := &Codec[T]{copier: c, codec: codec{rules: &c.rules, bytes: asBytes, ids: map[reflect.Type]int{}}}
	k.enter(reflect.TypeFor[T]())
	for _, t := range dynamic {
		k.enter(t)
	}
	slices.SortFunc(k.types, func(a, b reflect.Type) int { return strings.Compare(nameOf(a), nameOf(b)) })
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %d\n", version, word, len(dynamic))
	for i, t := range k.types {
		k.ids[t] = i
		fmt.Fprintf(h, "%s: %s\n", nameOf(t), k.describe(t))
	}
	for _, t := range dynamic {
		fmt.Fprintln(h, nameOf(t))
	}
	h.Sum(k.print[:0])
	return k
}

// enter enters a type and those that its values may hold.
func (c *codec) enter(t reflect.Type) {
	if _, ok := c.ids[t]; ok {
		return
	}
	c.ids[t] = 0
	c.types = append(c.types, t)
	if slices.Contains(c.bytes, t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		c.enter(t.Elem())
	case reflect.Map:
		c.enter(t.Key())
		c.enter(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !leftOut(f) {
				c.enter(f.Type)
			}
		}
	}
}

// describe is what of a type matters besides its name.
func (c *codec) describe(t reflect.Type) string {
	if t.Kind() != reflect.Struct || slices.Contains(c.bytes, t) {
		return fmt.Sprint(t.Kind(), " ", t.Size())
	}
	var b strings.Builder
	for i := range t.NumField() {
		f := t.Field(i)
		fmt.Fprintf(&b, "%s %s %d %v; ", f.Name, nameOf(f.Type), f.Offset, leftOut(f))
	}
	return b.String()
}

// leftOut reports whether a field is not encoded.
func leftOut(f reflect.StructField) bool { return f.Tag.Get("encode") == "-" }

// nameOf is a name of a type that no other has.
func nameOf(t reflect.Type) string {
	if t.Name() != "" {
		return t.PkgPath() + "." + t.Name()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + nameOf(t.Elem())
	case reflect.Slice:
		return "[]" + nameOf(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("[%d]", t.Len()) + nameOf(t.Elem())
	case reflect.Map:
		return "map[" + nameOf(t.Key()) + "]" + nameOf(t.Elem())
	}
	return t.String()
}

// inOrder are the entries of a map in the order of its keys.
func (r *rules) inOrder(keys, values reflect.Value, kl *layout) (sortedKeys, sortedValues reflect.Value) {
	if !kl.flat() {
		panic(encodeError{fmt.Errorf("a map by %v has no order", kl.t)})
	}
	n := keys.Len()
	order := make([]int, n)
	text := make([][]byte, n)
	e := encoder{codec: &codec{bytes: r.shared}}
	for i := range order {
		e.b = nil
		e.value(keys.Index(i))
		order[i], text[i] = i, e.b
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(len(text[i]), len(text[j])), bytes.Compare(text[i], text[j]))
	})
	sortedKeys, sortedValues = reflect.MakeSlice(keys.Type(), n, n), reflect.MakeSlice(values.Type(), n, n)
	for to, from := range order {
		sortedKeys.Index(to).Set(keys.Index(from))
		sortedValues.Index(to).Set(values.Index(from))
	}
	return sortedKeys, sortedValues
}

type encodeError struct{ error }

func recoverEncoding(err *error) {
	switch e := recover().(type) {
	case nil:
	case encodeError:
		*err = e.error
	default:
		panic(e)
	}
}

// encoder writes what a walk has found.
type encoder struct {
	*codec
	w    *walk
	rank []int32 // of outermost objects, by index
	b    []byte
}

// Encode returns the bytes of what p points at.
func (c *Codec[T]) Encode(p *T) (b []byte, err error) {
	defer recoverEncoding(&err)
	w := c.copier.follow(p, walks.Get().(*walk))
	defer w.free()
	w.settle(func(o *object) { panic(encodeError{fmt.Errorf("slices of %v overlap", o.l.t)}) })
	e := encoder{codec: &c.codec, w: w, rank: make([]int32, len(w.objects)), b: []byte(magic)}
	e.b = append(e.b, c.print[:]...)
	var outermost []*object
	for i := range w.objects {
		if o := &w.objects[i]; o.outer == int32(i) {
			e.rank[i] = int32(len(outermost))
			outermost = append(outermost, o)
		}
	}
	e.number(uint64(len(outermost)))
	for _, o := range outermost {
		e.typ(o.l.t)
		e.number(uint64(o.n))
	}
	e.number(uint64(len(w.found)))
	for i := range w.found {
		f := &w.found[i]
		e.typ(f.t)
		e.number(uint64(f.n))
		if f.n > 0 && f.t.Key().Size() > 0 {
			e.object(f.keys)
		}
		if f.n > 0 && f.t.Elem().Size() > 0 {
			e.object(f.values)
		}
	}
	e.object(0)
	for _, o := range outermost {
		all := reflect.SliceAt(o.l.t, o.at, o.n)
		for k := range o.n {
			e.value(all.Index(k))
		}
	}
	return e.b, nil
}

func (e *encoder) number(v uint64) { e.b = binary.AppendUvarint(e.b, v) }

func (e *encoder) typ(t reflect.Type) {
	id, ok := e.ids[t]
	if !ok {
		panic(encodeError{fmt.Errorf("nothing says that a %v may be met", t)})
	}
	e.number(uint64(id))
}

// object writes where an object is.
func (e *encoder) object(i int32) {
	o := &e.w.objects[i]
	e.number(uint64(e.rank[o.outer]))
	e.number(uint64(o.delta))
}

// refer writes a reference to n values at p.
func (e *encoder) refer(p unsafe.Pointer, t reflect.Type, n int) {
	i := *e.w.find(p, e.rules.layout(t), n) - 1
	if i < 0 {
		panic(fmt.Sprintf("deepcopy: a %v was not met", t))
	}
	e.object(i)
}

func (e *encoder) text(b string) {
	e.number(uint64(len(b)))
	e.b = append(e.b, b...)
}

// value writes a value.
func (e *encoder) value(v reflect.Value) {
	t := v.Type()
	if slices.Contains(e.bytes, t) {
		b, err := reachable(v).Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			panic(encodeError{err})
		}
		e.text(string(b))
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		e.b = append(e.b, 0)
		if v.Bool() {
			e.b[len(e.b)-1] = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.b = binary.AppendVarint(e.b, v.Int())
	case reflect.Uint8:
		e.b = append(e.b, byte(v.Uint()))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number(math.Float64bits(v.Float()))
	case reflect.String:
		e.text(v.String())
	case reflect.Array:
		for i := range t.Len() {
			e.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if !leftOut(t.Field(i)) {
				e.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		if v.IsNil() {
			e.number(0)
			return
		}
		e.number(1)
		if t.Elem().Size() > 0 {
			e.refer(v.UnsafePointer(), t.Elem(), 1)
		}
	case reflect.Slice:
		if v.IsNil() {
			e.number(0)
			return
		}
		e.number(1)
		e.number(uint64(v.Len()))
		e.number(uint64(v.Cap()))
		if v.Cap() > 0 && t.Elem().Size() > 0 {
			e.refer(v.UnsafePointer(), t.Elem(), v.Cap())
		}
	case reflect.Map:
		if v.IsNil() {
			e.number(0)
			return
		}
		e.number(uint64(e.w.maps[v.UnsafePointer()]) + 1)
	case reflect.Interface:
		e.dynamic(v)
	default:
		panic(encodeError{fmt.Errorf("a %v cannot be encoded", t)})
	}
}

// dynamic writes an interface.
func (e *encoder) dynamic(v reflect.Value) {
	if slices.Contains(e.rules.without, v.Type()) {
		return
	}
	if v.IsNil() {
		e.number(0)
		return
	}
	e.number(1)
	e.typ(v.Elem().Type())
	d := e.rules.inside(v.Type(), unsafe.Pointer(v.UnsafeAddr()))
	if d.layout.flat() || d.direct {
		x := reflect.New(v.Elem().Type()).Elem()
		x.Set(reachable(v).Elem())
		e.value(x)
		return
	}
	e.refer((*[2]unsafe.Pointer)(unsafe.Pointer(v.UnsafeAddr()))[1], v.Elem().Type(), 1)
}

// reachable is a value that may be read and set though its field has no name outside.
func reachable(v reflect.Value) reflect.Value {
	if !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// decoder reads what an encoder has written.
type decoder struct {
	*codec
	b       []byte
	objects []decoded
	maps    []reflect.Value
}

type decoded struct {
	t  reflect.Type
	n  int
	at unsafe.Pointer
}

// Decode returns what was encoded, or why it cannot be.
func (c *Codec[T]) Decode(b []byte) (p *T, err error) {
	defer recoverEncoding(&err)
	if !bytes.HasPrefix(b, []byte(magic)) {
		return nil, errors.New("it is no encoding of this version")
	}
	b = b[len(magic):]
	if !bytes.HasPrefix(b, c.print[:]) {
		return nil, errors.New("it was encoded by a program with other types")
	}
	d := decoder{codec: &c.codec, b: b[len(c.print):]}
	room := uintptr(64*len(d.b) + 1<<20) // what so many bytes may come to
	for range d.count() {
		o := decoded{t: d.typ(), n: d.count()}
		if size := o.t.Size(); size == 0 || uintptr(o.n) > room/size {
			d.fail("an object is too large")
		}
		room -= o.t.Size() * uintptr(o.n)
		o.at = reflect.MakeSlice(reflect.SliceOf(o.t), o.n, o.n).UnsafePointer()
		d.objects = append(d.objects, o)
	}
	type entries struct {
		n            int
		keys, values unsafe.Pointer
	}
	var all []entries
	for range d.count() {
		t := d.typ()
		if t.Kind() != reflect.Map {
			d.fail("no map")
		}
		x := entries{n: d.count()}
		if x.n > 0 && t.Key().Size() > 0 {
			x.keys = d.object(t.Key(), x.n)
		}
		if x.n > 0 && t.Elem().Size() > 0 {
			x.values = d.object(t.Elem(), x.n)
		}
		d.maps, all = append(d.maps, reflect.MakeMapWithSize(t, x.n)), append(all, x)
	}
	p = (*T)(d.object(reflect.TypeFor[T](), 1))
	for _, o := range d.objects {
		list := reflect.SliceAt(o.t, o.at, o.n)
		for k := range o.n {
			d.value(list.Index(k))
		}
	}
	if len(d.b) > 0 {
		d.fail("bytes are left over")
	}
	for i, m := range d.maps {
		x := all[i]
		for k := range x.n {
			key, value := reflect.Zero(m.Type().Key()), reflect.Zero(m.Type().Elem())
			if x.keys != nil {
				key = reflect.SliceAt(m.Type().Key(), x.keys, x.n).Index(k)
			}
			if x.values != nil {
				value = reflect.SliceAt(m.Type().Elem(), x.values, x.n).Index(k)
			}
			m.SetMapIndex(key, value)
		}
	}
	return p, nil
}

func (d *decoder) fail(why string) {
	panic(encodeError{fmt.Errorf("damaged: %s, %d bytes before the end", why, len(d.b))})
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail("no number")
	}
	d.b = d.b[n:]
	return v
}

// count is how many of something follow.
func (d *decoder) count() int {
	v := d.number()
	if v > uint64(len(d.b)) {
		d.fail("a count is too large")
	}
	return int(v)
}

func (d *decoder) typ() reflect.Type {
	v := d.number()
	if v >= uint64(len(d.types)) {
		d.fail("no type")
	}
	return d.types[v]
}

func (d *decoder) text() string {
	n := d.count()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

// object is where n values of a type are.
func (d *decoder) object(t reflect.Type, n int) unsafe.Pointer {
	i, delta := d.number(), uintptr(d.number())
	if i >= uint64(len(d.objects)) || !d.objects[i].holds(t, n, delta) {
		d.fail(fmt.Sprintf("no %v where one is referred to", t))
	}
	return unsafe.Add(d.objects[i].at, delta)
}

// holds reports whether n values of a type lie in the object so far from its beginning.
func (o *decoded) holds(t reflect.Type, n int, delta uintptr) bool {
	inside, count := o.t, uintptr(o.n)
	for {
		size := inside.Size()
		if size == 0 || delta >= size*count {
			return false
		}
		if inside == t && delta%size == 0 && uintptr(n) <= count-delta/size {
			return true
		}
		delta %= size
		switch inside.Kind() {
		case reflect.Array:
			inside, count = inside.Elem(), uintptr(inside.Len())
		case reflect.Struct:
			i := inside.NumField() - 1
			for i >= 0 && (inside.Field(i).Offset > delta || inside.Field(i).Type.Size() == 0) {
				i--
			}
			if i < 0 {
				return false
			}
			f := inside.Field(i)
			inside, count, delta = f.Type, 1, delta-f.Offset
		default:
			return false
		}
	}
}

// value reads a value. Fields that it does not set are zero.
func (d *decoder) value(v reflect.Value) {
	v = reachable(v)
	t := v.Type()
	if slices.Contains(d.bytes, t) {
		if err := v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary([]byte(d.text())); err != nil {
			d.fail(err.Error())
		}
		return
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(d.byte() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(d.b)
		if n <= 0 || v.OverflowInt(x) {
			d.fail("no number")
		}
		d.b = d.b[n:]
		v.SetInt(x)
	case reflect.Uint8:
		v.SetUint(uint64(d.byte()))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		x := d.number()
		if v.OverflowUint(x) {
			d.fail("no number")
		}
		v.SetUint(x)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.Float64frombits(d.number()))
	case reflect.String:
		v.SetString(d.text())
	case reflect.Array:
		for i := range t.Len() {
			d.value(v.Index(i))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if !leftOut(t.Field(i)) {
				d.value(v.Field(i))
			}
		}
	case reflect.Pointer:
		switch {
		case d.byte() == 0:
		case t.Elem().Size() == 0:
			v.Set(reflect.New(t.Elem()))
		default:
			v.Set(reflect.NewAt(t.Elem(), d.object(t.Elem(), 1)))
		}
	case reflect.Slice:
		d.slice(v)
	case reflect.Map:
		i := d.number()
		if i == 0 {
			return
		}
		if i > uint64(len(d.maps)) || d.maps[i-1].Type() != t {
			d.fail(fmt.Sprintf("no %v where one is referred to", t))
		}
		v.Set(d.maps[i-1])
	case reflect.Interface:
		d.dynamic(v)
	default:
		d.fail(fmt.Sprintf("a %v", t))
	}
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("the end")
	}
	x := d.b[0]
	d.b = d.b[1:]
	return x
}

func (d *decoder) slice(v reflect.Value) {
	if d.byte() == 0 {
		return
	}
	t := v.Type()
	n, most := d.number(), d.number()
	if n > most || most > math.MaxInt32 {
		d.fail("no slice")
	}
	if most == 0 || t.Elem().Size() == 0 {
		v.Set(reflect.MakeSlice(t, int(n), int(most)))
		return
	}
	list := reflect.SliceAt(t.Elem(), d.object(t.Elem(), int(most)), int(most))
	v.Set(list.Slice3(0, int(n), int(most)).Convert(t))
}

func (d *decoder) dynamic(v reflect.Value) {
	if slices.Contains(d.rules.without, v.Type()) || d.byte() == 0 {
		return
	}
	t := d.typ()
	if !t.AssignableTo(v.Type()) || t.Kind() == reflect.Interface {
		d.fail(fmt.Sprintf("a %v in a %v", t, v.Type()))
	}
	x := reflect.New(t).Elem()
	zero := reflect.Zero(t).Interface()
	if l := d.rules.layout(t); l.flat() || (*[2]unsafe.Pointer)(unsafe.Pointer(&zero))[1] == nil {
		d.value(x)
		v.Set(x)
		return
	}
	// The value lies in an object, to which others may refer: its address is the interface's.
	at := d.object(t, 1)
	v.Set(x)
	(*[2]unsafe.Pointer)(v.Addr().UnsafePointer())[1] = at
}
