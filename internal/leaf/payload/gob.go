package payload

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// gobStream is one direction of a connection that speaks encoding/gob. Types are described once, so
// what a value is may have been said long before.
type gobStream struct {
	types   map[int64]*gobType
	pending []byte // the beginning of a message of which the rest has not come
	broken  bool   // it could not be read: the rest is not understood
}

// gobType is a type as a stream describes it.
type gobType struct {
	kind      gobKind
	name      string
	key, elem int64
	fields    []gobField
}

type gobField struct {
	name string
	id   int64
}

// gobKind is the kind of a type. Those of types that streams describe are the numbers of the fields
// of wireType in encoding/gob, less one.
type gobKind int

const (
	gobArray gobKind = iota
	gobSlice
	gobStruct
	gobMap
	gobEncoder
	gobBinaryMarshaler
	gobTextMarshaler
)

// Identifiers of types that no stream describes.
const (
	gobBool = iota + 1
	gobInt
	gobUint
	gobFloat
	gobBytes
	gobString
	gobComplex
	gobInterface

	firstGobType = 64 // that streams describe
)

// Bounds on what streams say.
const (
	deepestGob = 40
	mostGob    = 1 << 20 // bytes of a message
)

var errGob = errors.New("not gob")

func newGobStream() *gobStream { return &gobStream{types: map[int64]*gobType{}} }

// beginGob is a stream that begins with b, and what b says. ok: b is whole messages, the first of
// which describes a type.
func beginGob(b []byte) (s *gobStream, line string, ok bool) {
	s = newGobStream()
	line = s.take(b)
	return s, line, !s.broken && len(s.pending) == 0 && len(s.types) > 0
}

// take says what the next bytes of a stream are.
func (s *gobStream) take(b []byte) string {
	r := gobReader{stream: s, ahead: b}
	if len(s.pending) > 0 {
		r.ahead = append(s.pending, b...)
	}
	var words []string
	for !s.broken && len(r.ahead) > 0 {
		whole := r.ahead
		word, err := r.message()
		if errors.Is(err, errWait) && len(whole) <= mostGob {
			r.ahead = whole
			words = append(words, fmt.Sprintf("and %d B of the next message", len(whole)))
			break
		}
		s.broken = err != nil
		words = append(words, word)
	}
	if s.broken {
		s.pending = nil
		return Hex(b)
	}
	s.pending = bytes.Clone(r.ahead)
	return strings.Join(words, " ; ")
}

// gobReader reads messages of a stream.
type gobReader struct {
	stream *gobStream
	rest   []byte // of the message that is read
	ahead  []byte // what follows it
	depth  int
}

// errWait is the error of a message of which only the beginning has come.
var errWait = errors.New("the rest has not come")

// next begins to read the next message.
func (r *gobReader) next() error {
	r.rest = r.ahead
	n, err := r.uint()
	if err != nil && len(r.ahead) > 8 || err == nil && n > mostGob {
		return errGob
	}
	if err != nil || n > uint64(len(r.rest)) {
		return errWait
	}
	r.rest, r.ahead = r.rest[:n], r.rest[n:]
	return nil
}

// message reads the description of a type, or a value.
func (r *gobReader) message() (string, error) {
	if err := r.next(); err != nil {
		return "", err
	}
	id, described, err := r.typeSequence(false)
	if err != nil {
		return "", err
	}
	text := "type " + described
	if described == "" {
		if text, err = r.top(id); err != nil {
			return "", err
		}
	}
	if len(r.rest) > 0 {
		return "", errGob
	}
	return text, nil
}

// typeSequence reads the number of the type of a value. Within an interface, descriptions of types
// may come before it. Elsewhere a description is a message of its own, and described its name.
func (r *gobReader) typeSequence(within bool) (id int64, described string, err error) {
	for {
		if id, err = r.int(); err != nil || id >= 0 {
			return id, "", err
		}
		if id == math.MinInt64 || -id < firstGobType {
			return 0, "", errGob
		}
		if described, err = r.describe(-id); err != nil || !within {
			return 0, described, err
		}
		if len(r.rest) == 0 { // the value goes on in the next message
			err = r.next()
		} else {
			_, err = r.uint() // how long it is
		}
		if err != nil {
			return 0, "", err
		}
	}
}

// describe reads what a type is: a wireType of encoding/gob, of whose fields one is set.
func (r *gobReader) describe(id int64) (name string, err error) {
	t := &gobType{kind: -1}
	err = r.fields(func(field int) error {
		t.kind = gobKind(field)
		return r.wireType(t)
	})
	if err != nil || t.kind < 0 || t.kind > gobTextMarshaler {
		return "", errGob
	}
	r.stream.types[id] = t
	return t.words(), nil
}

// wireType reads what is said of a type of some kind: the name that it has, and what it is made of.
func (r *gobReader) wireType(t *gobType) error {
	return r.fields(func(field int) (err error) {
		switch {
		case field == 0:
			return r.fields(func(field int) (err error) {
				if field == 0 {
					t.name, err = r.text()
					return err
				}
				_, err = r.int()
				return err
			})
		case t.kind == gobStruct && field == 1:
			return r.fieldTypes(t)
		case t.kind == gobMap && field == 1:
			t.key, err = r.int()
		case t.kind == gobMap && field == 2, (t.kind == gobArray || t.kind == gobSlice) && field == 1:
			t.elem, err = r.int()
		case t.kind == gobArray && field == 2:
			_, err = r.int() // its length comes with each value, too
		default:
			err = errGob
		}
		return err
	})
}

// fieldTypes reads the fields of a struct.
func (r *gobReader) fieldTypes(t *gobType) error {
	n, err := r.count()
	for range n {
		var f gobField
		if err == nil {
			err = r.fields(func(field int) (err error) {
				if field == 0 {
					f.name, err = r.text()
					return err
				}
				f.id, err = r.int()
				return err
			})
		}
		t.fields = append(t.fields, f)
	}
	return err
}

// words say what a type is: its name and, of a struct, its fields.
func (t *gobType) words() string {
	if t.kind != gobStruct {
		return cmp.Or(t.name, "without a name")
	}
	names := make([]string, len(t.fields))
	for i := range t.fields {
		names[i] = t.fields[i].name
	}
	return t.name + "{" + strings.Join(names, ", ") + "}"
}

// fields reads a struct: each field that is not zero, by its number, from 0.
func (r *gobReader) fields(read func(field int) error) error {
	if r.depth++; r.depth > deepestGob {
		return errGob
	}
	defer func() { r.depth-- }()
	for field := -1; ; {
		delta, err := r.uint()
		if err != nil || delta == 0 {
			return err
		}
		if delta > 1<<16 {
			return errGob
		}
		field += int(delta)
		if err := read(field); err != nil {
			return err
		}
	}
}

// top reads a value that is not part of another one: a struct, or a zero and any other.
func (r *gobReader) top(id int64) (string, error) {
	if t := r.stream.types[id]; t == nil || t.kind != gobStruct {
		if delta, err := r.uint(); err != nil || delta != 0 {
			return "", errGob
		}
	}
	return r.value(id)
}

// value reads a value of a type.
func (r *gobReader) value(id int64) (string, error) {
	if r.depth++; r.depth > deepestGob {
		return "", errGob
	}
	defer func() { r.depth-- }()
	if t := r.stream.types[id]; t != nil {
		return r.described(t)
	}
	switch id {
	case gobBool:
		n, err := r.uint()
		return strconv.FormatBool(n != 0), err
	case gobInt:
		n, err := r.int()
		return strconv.FormatInt(n, 10), err
	case gobUint:
		n, err := r.uint()
		return strconv.FormatUint(n, 10), err
	case gobFloat:
		f, err := r.float()
		return strconv.FormatFloat(f, 'g', -1, 64), err
	case gobBytes:
		b, err := r.bytes()
		return gobBytesText(b), err
	case gobString:
		s, err := r.text()
		return strconv.Quote(s), err
	case gobComplex:
		re, err := r.float()
		if err != nil {
			return "", err
		}
		im, err := r.float()
		return strconv.FormatComplex(complex(re, im), 'g', -1, 128), err
	case gobInterface:
		return r.inInterface()
	}
	return "", errGob
}

// described reads a value of a type that the stream has described.
func (r *gobReader) described(t *gobType) (string, error) {
	switch t.kind {
	case gobStruct:
		var words []string
		err := r.fields(func(field int) error {
			if field >= len(t.fields) {
				return errGob
			}
			v, err := r.value(t.fields[field].id)
			words = append(words, t.fields[field].name+": "+v)
			return err
		})
		return t.name + "{" + strings.Join(words, ", ") + "}", err
	case gobMap:
		words, err := r.elements(func() (string, error) {
			k, err := r.value(t.key)
			if err != nil {
				return "", err
			}
			v, err := r.value(t.elem)
			return k + ": " + v, err
		})
		return "{" + words + "}", err
	case gobArray, gobSlice:
		words, err := r.elements(func() (string, error) { return r.value(t.elem) })
		return "[" + words + "]", err
	}
	b, err := r.bytes() // as a method of the type has encoded it
	return t.name + "(" + gobBytesText(b) + ")", err
}

func (r *gobReader) elements(read func() (string, error)) (string, error) {
	n, err := r.count()
	if err != nil {
		return "", err
	}
	words := make([]string, n)
	for i := range words {
		if words[i], err = read(); err != nil {
			return "", err
		}
	}
	return strings.Join(words, ", "), nil
}

// inInterface reads a value with the name of its type, which may be nil.
func (r *gobReader) inInterface() (string, error) {
	name, err := r.text()
	if err != nil || name == "" {
		return "nil", err
	}
	id, _, err := r.typeSequence(true)
	if err != nil {
		return "", err
	}
	if _, err := r.uint(); err != nil { // how long the value is
		return "", err
	}
	return r.top(id)
}

// gobBytesText is a byte string in quotes where it is text.
func gobBytesText(b []byte) string {
	if isText(b) {
		return strconv.Quote(string(b))
	}
	return Hex(b)
}

// uint reads an unsigned number: a byte below 128, or how many bytes follow, negated.
func (r *gobReader) uint() (uint64, error) {
	if len(r.rest) == 0 {
		return 0, errGob
	}
	first := r.rest[0]
	if r.rest = r.rest[1:]; first < 0x80 {
		return uint64(first), nil
	}
	n := -int(int8(first))
	if n > 8 || n > len(r.rest) {
		return 0, errGob
	}
	var b [8]byte
	copy(b[8-n:], r.rest)
	r.rest = r.rest[n:]
	return binary.BigEndian.Uint64(b[:]), nil
}

// int reads a signed number: the last bit says whether the others are inverted.
func (r *gobReader) int() (int64, error) {
	u, err := r.uint()
	if u&1 != 0 {
		return ^int64(u >> 1), err
	}
	return int64(u >> 1), err
}

// float reads a number whose bytes are reversed.
func (r *gobReader) float() (float64, error) {
	u, err := r.uint()
	return math.Float64frombits(bits.ReverseBytes64(u)), err
}

// count reads how many elements follow, each of at least a byte.
func (r *gobReader) count() (int, error) {
	n, err := r.uint()
	if err == nil && n > uint64(len(r.rest)) {
		err = errGob
	}
	return int(n), err
}

func (r *gobReader) bytes() ([]byte, error) {
	n, err := r.count()
	if err != nil {
		return nil, err
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b, nil
}

func (r *gobReader) text() (string, error) {
	b, err := r.bytes()
	return string(b), err
}
