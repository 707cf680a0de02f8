package deepcopy

import (
	"reflect"
	"testing"
)

type link struct {
	next  *link
	names map[string]*link
	any   interface{ mark() }
	bytes []byte
	pair  [2]*link
	when  opaque
}

type opaque struct{ p *int }

func (*link) mark() {}

type self interface{ me() }

type holder struct{ s self }

func (holder) me() {}

func TestGraphKeepsItsShape(t *testing.T) {
	n := 5
	a, b := &link{bytes: []byte("x"), when: opaque{&n}}, &link{}
	a.next, b.next = b, a
	a.names = map[string]*link{"a": a, "b": b}
	a.any = b
	a.pair = [2]*link{a, b}
	c := Of(a, nil, []reflect.Type{reflect.TypeFor[opaque]()})
	d := c.next
	if c == a || d == b || d.next != c || c.names["a"] != c || c.names["b"] != d || c.any != d || c.pair != [2]*link{c, d} {
		t.Fatalf("the copy has another shape: %+v", c)
	}
	if c.when.p != &n {
		t.Error("a shared type was copied")
	}
	c.bytes[0] = 'y'
	delete(c.names, "b")
	if string(a.bytes) != "x" || len(a.names) != 2 {
		t.Error("the copy shares memory with the original")
	}
}

func TestWithoutBecomesNil(t *testing.T) {
	h := &holder{s: holder{}}
	if c := Of(h, []reflect.Type{reflect.TypeFor[self]()}, nil); c.s != nil {
		t.Errorf("left %v", c.s)
	}
}

func TestFunctionPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a function was copied")
		}
	}()
	Of(&struct{ f func() }{func() {}}, nil, nil)
}
