package deepcopy

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type coded struct {
	knots  []*knot
	again  *knot
	addr   netip.AddrPort
	byAddr map[netip.Addr]*int
	byPair map[[2]int16]string
	any    any
	file   interface{ mark() }
	left   self
	float  float64
	bits   [3]bool
	small  int8
	cached map[*int]int `encode:"-"`
	nested map[string]map[int]*int
	null   map[int]int
	empty  []*int
	zero   *struct{}
	big    uint64
}

var codings = NewCodec[coded]([]reflect.Type{reflect.TypeFor[self]()}, []reflect.Type{reflect.TypeFor[netip.Addr]()},
	[]reflect.Type{reflect.TypeFor[*knot](), reflect.TypeFor[int](), reflect.TypeFor[[]*knot](),
		reflect.TypeFor[boxed](), reflect.TypeFor[pair](),
		reflect.TypeFor[*link](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[string]()}, "1")

// drawCoded draws a graph.
func drawCoded(t *rapid.T) *coded {
	row := make([]knot, rapid.IntRange(1, 6).Draw(t, "row"))
	c := &coded{}
	for i := range row {
		c.knots = append(c.knots, &row[i])
	}
	for range rapid.IntRange(0, 6).Draw(t, "alone") {
		c.knots = append(c.knots, &knot{})
	}
	draw := func() *knot {
		return append(c.knots, nil)[rapid.IntRange(0, len(c.knots)).Draw(t, "knot")]
	}
	for i, k := range c.knots {
		k.id, k.left, k.all = i-3, draw(), []*knot{draw(), draw()}
		k.mid = &c.knots[rapid.IntRange(0, len(c.knots)-1).Draw(t, "mid")].id
		k.row = row[rapid.IntRange(0, len(row)-1).Draw(t, "from"):]
		if o := draw(); o != nil {
			k.any = []any{o, o.id, []*knot{o}, boxed{&o.id}, pair{&o.id, &k.id}, netip.MustParseAddr("fe80::1%eth0"),
				"text"}[rapid.IntRange(0, 6).Draw(t, "kind")]
			k.named = map[int]*knot{1: o, 2: draw(), -7: k}
		}
	}
	one := new(int)
	c.again = draw()
	c.addr = netip.MustParseAddrPort("[fe80::2%lo]:80")
	c.byAddr = map[netip.Addr]*int{netip.MustParseAddr("10.0.0.1"): one, netip.MustParseAddr("::1"): nil}
	c.byPair = map[[2]int16]string{{1, 2}: "a", {-1, 2}: "", {0, 0}: "c"}
	c.any, c.file, c.left = pair{one, &c.knots[0].id},
		&link{bytes: []byte("x"), names: map[string]*link{"a": {}, "b": nil}}, holder{}
	c.float, c.bits, c.small, c.big = -1.5, [3]bool{true, false, true}, -8, 1<<63
	c.cached = map[*int]int{one: 1}
	c.nested = map[string]map[int]*int{"x": {1: one}, "y": nil}
	c.empty, c.zero = make([]*int, 0), &struct{}{}
	return c
}

// TestEncodedGraphs: what is encoded is decoded as it was, in the same shape. Copies, which lie
// elsewhere, and what was decoded give the same bytes.
func TestEncodedGraphs(t *testing.T) {
	copies := New[coded]([]reflect.Type{reflect.TypeFor[self]()}, []reflect.Type{reflect.TypeFor[netip.Addr]()})
	rapid.Check(t, func(t *rapid.T) {
		c := drawCoded(t)
		b, err := codings.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		d, err := codings.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := codings.Encode(d)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("what was decoded has other bytes (%v)", err)
		}
		other, err := codings.Encode(copies.Image(c).Copy())
		if err != nil || !bytes.Equal(other, b) {
			t.Fatalf("a copy has other bytes (%v)", err)
		}
		s := same{t, map[any]any{}, map[any]any{}}
		for i := range c.knots {
			s.knot(c.knots[i], d.knots[i])
		}
		if d.left != nil || d.cached != nil {
			t.Fatal("what is to be left out was decoded")
		}
		if d.addr != c.addr || len(d.byAddr) != 2 || !reflect.DeepEqual(d.byPair, c.byPair) || d.float != c.float ||
			d.bits != c.bits || d.small != c.small || d.big != c.big {
			t.Fatalf("%+v", d)
		}
		p := d.any.(pair)
		if p.a != d.byAddr[netip.MustParseAddr("10.0.0.1")] || p.a != d.nested["x"][1] || p.b != &d.knots[0].id ||
			d.nested["y"] != nil || d.empty == nil || d.zero == nil || d.null != nil {
			t.Fatal("another shape")
		}
		if l := d.file.(*link); string(l.bytes) != "x" || len(l.names) != 2 {
			t.Fatalf("%+v", l)
		}
	})
}

// TestEncodingRefuses: what cannot be encoded says so, and so does what was encoded by a program
// with other types.
func TestEncodingRefuses(t *testing.T) {
	if _, err := codings.Encode(&coded{any: float32(7.5)}); err == nil || !strings.Contains(err.Error(), "float32") {
		t.Errorf("a type that nothing says may be met: %v", err)
	}
	type byPointer struct{ m map[*int]int }
	if _, err := NewCodec[byPointer](nil, nil, nil, "").Encode(&byPointer{map[*int]int{new(int): 1}}); err == nil {
		t.Error("a map by pointers was encoded")
	}
	b, err := codings.Encode(&coded{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewCodec[coded](nil, nil, nil, "1").Decode(b); err == nil {
		t.Error("an encoding for other types was decoded")
	}
	if _, err := codings.Decode(b[:len(b)-1]); err == nil {
		t.Error("a part was decoded")
	}
	if _, err := codings.Decode(append(b, 0)); err == nil {
		t.Error("more was decoded")
	}
}

// FuzzDecode: damaged bytes are refused, or are those of some other graph, which can be encoded.
func FuzzDecode(f *testing.F) {
	head := len(magic) + len(codings.print)
	for _, c := range []*coded{{},
		{knots: []*knot{{id: 1}}, any: pair{new(int), nil}, byPair: map[[2]int16]string{{1, 2}: "x"}},
		{file: &link{names: map[string]*link{"a": nil}, bytes: []byte("xyz")},
			nested: map[string]map[int]*int{"x": {1: nil}}}} {
		b, err := codings.Encode(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[head:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := codings.Decode(append(append([]byte(magic), codings.print[:]...), b...))
		if err != nil {
			return
		}
		again, err := codings.Encode(c)
		if err != nil {
			return // slices overlap, say
		}
		if d, err := codings.Decode(again); err != nil {
			t.Fatalf("%v: %+v", err, d)
		}
	})
}
