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

type inner struct{ v *int }

type outer struct {
	inner // at the same address as outer
	q     inner
	at    *inner
	mid   *inner
	tail  []*inner
	part  []inner
}

// A pointer into an object points into its copy, whichever is met first.
func TestInteriorPointers(t *testing.T) {
	o := &outer{}
	o.part = make([]inner, 3, 4)
	o.at, o.mid, o.tail = &o.inner, &o.q, []*inner{&o.part[1], &o.q}
	for range 2 {
		c := Of(&struct {
			first *inner
			all   *outer
			last  []inner
		}{&o.q, o, o.part[1:]}, nil, nil)
		a := c.all
		if a == o || a.at != &a.inner || a.mid != &a.q || c.first != &a.q || a.tail[0] != &a.part[1] || a.tail[1] != &a.q || &c.last[0] != &a.part[1] {
			t.Fatalf("the copy has another shape: %+v", c)
		}
	}
	m := Of(&outer{inner: inner{}, at: nil}, nil, nil)
	if m.at != nil || m.tail != nil {
		t.Error("nil was not kept")
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
