package deepcopy

import (
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"
)

func copyOf[T any](p *T, without, shared []reflect.Type) *T {
	return New[T](without, shared).Image(p).Copy()
}

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
	c := copyOf(a, nil, []reflect.Type{reflect.TypeFor[opaque]()})
	d := c.next
	if c == a || d == b || d.next != c || c.names["a"] != c || c.names["b"] != d || c.any != d ||
		c.pair != [2]*link{c, d} {
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

type inner struct{ _ *int }

type outer struct {
	inner // at the same address as outer
	q     inner
	at    *inner
	mid   *inner
	tail  []*inner
	part  []inner
}

// TestInteriorPointers: a pointer into an object points into its copy, whichever is met first.
func TestInteriorPointers(t *testing.T) {
	o := &outer{}
	o.part = make([]inner, 3, 4)
	o.at, o.mid, o.tail = &o.inner, &o.q, []*inner{&o.part[1], &o.q}
	for range 2 {
		c := copyOf(&struct {
			first *inner
			all   *outer
			last  []inner
		}{&o.q, o, o.part[1:]}, nil, nil)
		a := c.all
		if a == o || a.at != &a.inner || a.mid != &a.q || c.first != &a.q || a.tail[0] != &a.part[1] ||
			a.tail[1] != &a.q || &c.last[0] != &a.part[1] {
			t.Fatalf("the copy has another shape: %+v", c)
		}
	}
	m := copyOf(&outer{inner: inner{}, at: nil}, nil, nil)
	if m.at != nil || m.tail != nil {
		t.Error("nil was not kept")
	}
}

func TestWithoutBecomesNil(t *testing.T) {
	h := &holder{s: holder{}}
	if c := copyOf(h, []reflect.Type{reflect.TypeFor[self]()}, nil); c.s != nil {
		t.Errorf("left %v", c.s)
	}
}

func TestFunctionPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a function was copied")
		}
	}()
	copyOf(&struct{ f func() }{func() {}}, nil, nil)
}

// TestImageStays: an image stays as it is, whatever becomes of the original and of other copies.
func TestImageStays(t *testing.T) {
	a := &link{names: map[string]*link{}, bytes: []byte("x")}
	a.names["a"] = a
	i := New[link](nil, []reflect.Type{reflect.TypeFor[opaque]()}).Image(a)
	a.bytes[0] = 'y'
	a.names["b"] = &link{}
	for range 2 {
		c := i.Copy()
		if string(c.bytes) != "x" || len(c.names) != 1 || c.names["a"] != c {
			t.Fatalf("%+v", c)
		}
		c.bytes[0] = 'z'
		clear(c.names)
	}
}

type boxes struct {
	small, text, box, pointer, list, one any
	null                                 *int
	empty                                []int
	array                                [2]map[string]struct{}
	nested                               map[string]map[int]*int
	same                                 map[int]*int // also in nested
}

type boxed struct{ p *int }   // as large as a pointer
type pair struct{ a, b *int } // stands behind one

func TestInterfacesAndMaps(t *testing.T) {
	v := new(int)
	*v = 7
	b := &boxes{small: 3, text: "text", box: boxed{v}, pointer: v, list: []*int{v, nil}, one: pair{v, v},
		empty: make([]int, 0), array: [2]map[string]struct{}{nil, {"k": {}}}, same: map[int]*int{1: v}}
	b.nested = map[string]map[int]*int{"same": b.same, "nil": nil, "empty": {}}
	c := copyOf(b, nil, nil)
	w := c.pointer.(*int)
	if w == v || *w != 7 {
		t.Fatal("the pointer was not copied")
	}
	if c.small != 3 || c.text != "text" || c.box != (boxed{w}) || c.one != (pair{w, w}) || c.list.([]*int)[0] != w ||
		c.list.([]*int)[1] != nil {
		t.Errorf("%+v", c)
	}
	if c.null != nil || c.empty == nil || len(c.empty) != 0 || c.array[0] != nil || len(c.array[1]) != 1 {
		t.Errorf("%+v", c)
	}
	if len(c.nested) != 3 || c.nested["nil"] != nil || c.nested["empty"] == nil || c.same[1] != w {
		t.Errorf("%+v", c)
	}
	c.same[2] = w
	if c.nested["same"][2] != w || len(b.same) != 1 {
		t.Error("one map became two, or two one")
	}
}

// knot is a node of a random graph.
type knot struct {
	id    int
	left  *knot
	all   []*knot
	mid   *int // of some knot's field
	row   []knot
	any   any
	named map[int]*knot
}

// TestRandomGraphs: random graphs keep their shape: what is reached on two ways is one thing in the
// copy exactly if it is in the original.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := make([]knot, rapid.IntRange(1, 6).Draw(t, "row"))
		var knots []*knot
		for i := range row {
			knots = append(knots, &row[i])
		}
		for range rapid.IntRange(0, 6).Draw(t, "alone") {
			knots = append(knots, &knot{})
		}
		draw := func() *knot { return append(knots, nil)[rapid.IntRange(0, len(knots)).Draw(t, "knot")] }
		for i, k := range knots {
			k.id, k.left, k.all = i, draw(), []*knot{draw(), draw()}
			k.mid = &knots[rapid.IntRange(0, len(knots)-1).Draw(t, "mid")].id
			k.row = row[rapid.IntRange(0, len(row)-1).Draw(t, "from"):]
			if o := draw(); o != nil {
				k.any = []any{o, o.id, []*knot{o}, boxed{&o.id}}[rapid.IntRange(0, 3).Draw(t, "kind")]
				k.named = map[int]*knot{1: o, 2: draw()}
			}
		}
		root := knots[rapid.IntRange(0, len(knots)-1).Draw(t, "root")]
		i := New[knot](nil, nil).Image(root)
		for range 2 {
			c := i.Copy()
			runtime.GC()
			s := same{t, map[any]any{}, map[any]any{}}
			s.knot(root, c)
		}
	})
}

// same follows two graphs at once.
type same struct {
	t        *rapid.T
	to, from map[any]any
}

// pair enters that b is the copy of a; met when that is known.
func (s *same) pair(a, b any) (met bool) {
	x, ok := s.to[a]
	y, back := s.from[b]
	if ok != back || ok && (x != b || y != a) {
		s.t.Fatal("another shape")
	}
	s.to[a], s.from[b] = b, a
	return ok
}

func (s *same) knot(a, b *knot) {
	if a == nil || b == nil {
		if a != b {
			s.t.Fatal("nil on one side only")
		}
		return
	}
	if a == b {
		s.t.Fatal("not a copy")
	}
	if s.pair(a, b) {
		return
	}
	if a.id != b.id || *a.mid != *b.mid || len(a.all) != len(b.all) || len(a.row) != len(b.row) ||
		len(a.named) != len(b.named) || reflect.TypeOf(a.any) != reflect.TypeOf(b.any) {
		s.t.Fatalf("%+v, %+v", a, b)
	}
	s.knot(a.left, b.left)
	s.pair(a.mid, b.mid)
	s.pair(&a.id, &b.id)
	for i := range a.all {
		s.knot(a.all[i], b.all[i])
	}
	for i := range a.row {
		s.knot(&a.row[i], &b.row[i])
	}
	for i := range a.named {
		s.knot(a.named[i], b.named[i])
	}
	switch v := a.any.(type) {
	case *knot:
		s.knot(v, b.any.(*knot))
	case int:
		if v != b.any.(int) {
			s.t.Fatal("another number")
		}
	case []*knot:
		s.knot(v[0], b.any.([]*knot)[0])
	case boxed:
		s.pair(v.p, b.any.(boxed).p)
	}
}

func BenchmarkImage(b *testing.B) {
	root := graph()
	c := New[knot](nil, nil)
	for b.Loop() {
		c.Image(root)
	}
}

func BenchmarkCopy(b *testing.B) {
	i := New[knot](nil, nil).Image(graph())
	for b.Loop() {
		i.Copy()
	}
}

// graph has a few thousand things, as a node's kernel has.
func graph() *knot {
	root := &knot{named: map[int]*knot{}}
	for i := range 1000 {
		k := &knot{id: i, left: root}
		k.mid, k.all = &k.id, []*knot{k, root}
		root.all = append(root.all, k)
		if i%10 == 0 {
			root.named[i] = k
		}
	}
	return root
}

// TestBytes: what is reached twice counts once, and strings count with their bytes.
func TestBytes(t *testing.T) {
	type leaf struct {
		name  string
		data  []byte
		other *leaf
		names map[string]string
	}
	size := int64(reflect.TypeFor[leaf]().Size())
	c := New[leaf](nil, nil)
	x := &leaf{name: "four"}
	if got := c.Bytes(x); got != size+4 {
		t.Errorf("one leaf: %d, want %d", got, size+4)
	}
	x.other, x.data = x, make([]byte, 1000)
	if got := c.Bytes(x); got != size+1004 {
		t.Errorf("a leaf that refers to itself: %d, want %d", got, size+1004)
	}
	x.data = x.data[:10:10]
	x.other = &leaf{data: x.data[2:8]} // reaches to where x's ends
	if got := c.Bytes(x); got != 2*size+4+10 {
		t.Errorf("two leaves: %d, want %d", got, 2*size+4+10)
	}
	all := make([]byte, 100)
	x.data, x.other.data = all[:60:60], all[30:]
	if got := c.Bytes(x); got != 2*size+4+60+70 {
		t.Errorf("two slices that overlap: %d, want %d", got, 2*size+4+130)
	}
	x.data = x.data[:10:10]
	x.other, x.names = nil, map[string]string{"key": "value"}
	if got := c.Bytes(x); got != size+4+10+2*2*int64(word)+8 {
		t.Errorf("a leaf with a map: %d", got)
	}
}

type number struct{ n int }

type numbers struct {
	one  number
	two  [2]number
	by   map[number]*numbers
	any  interface{ number() int }
	list []number
	same *number
}

func (n *number) number() int { return n.n }

// TestEdited: an edit changes all values of its type in the copy, and none in the original, and the
// copy keeps its shape.
func TestEdited(t *testing.T) {
	a := &numbers{one: number{1}, two: [2]number{{2}, {3}}, any: &number{4}, list: []number{{5}, {6}}}
	a.by, a.same = map[number]*numbers{{7}: a, {8}: nil}, &a.list[1]
	i := New[numbers](nil, nil).Image(a)
	b := i.Edited(EditOf(func(n *number) { n.n += 10 })).Copy()
	if b.one.n != 11 || b.two != [2]number{{12}, {13}} || b.any.number() != 14 || b.list[0].n != 15 ||
		b.by[number{17}] != b || len(b.by) != 2 || b.same != &b.list[1] || b.same.n != 16 {
		t.Errorf("edited: %+v", b)
	}
	if c := i.Copy(); c.one.n != 1 || c.by[number{7}] != c || c.same.n != 6 {
		t.Errorf("the image has changed: %+v", c)
	}
}
