package ariadne_test

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// value is what all that has a canonical encoding can do.
type value interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// encoded returns a new zero value of each type.
func encoded() []value {
	return []value{new(ariadne.Input), new(ariadne.Message), new(ariadne.Flow), new(ariadne.Output), new(ariadne.Step)}
}

func encode(t failer, v value) []byte {
	b, err := v.AppendBinary(nil)
	if err != nil {
		t.Fatalf("%+v: %v", v, err)
	}
	return b
}

type failer interface{ Fatalf(string, ...any) }

// addrs are addresses of all kinds.
var addrs = []netip.AddrPort{
	{}, netip.AddrPortFrom(netip.Addr{}, 80), netip.MustParseAddrPort("10.0.0.1:80"),
	netip.MustParseAddrPort("[::ffff:10.0.0.1]:80"),
	netip.MustParseAddrPort("[fd00::1]:65535"), netip.MustParseAddrPort("[fe80::1%eth0]:1"),
	netip.MustParseAddrPort("[fe80::1%" + strings.Repeat("x", 300) + "]:1"),
}

// unencoded are the types of what is not encoded.
var unencoded = []reflect.Type{reflect.TypeFor[ariadne.Passing]()}

// faults are one of each kind that hits nodes, and others that differ from them in one field.
var faults = []ariadne.NodeFault{
	ariadne.Outage{Down: ariadne.Crashed}, ariadne.Outage{Down: ariadne.Stopped, For: 15e9, With: "n2+n3"},
	ariadne.Outage{Down: ariadne.Stopped, For: 15e9},
	ariadne.Outage{Down: ariadne.Paused}, ariadne.Outage{Down: ariadne.PowerLost, For: ariadne.Ever},
	ariadne.Jump{By: -5}, ariadne.Jump{By: 5}, ariadne.Drift{By: -5}, ariadne.Drift{By: 5},
	ariadne.Kill{Process: "server#2"}, ariadne.Kill{Process: "server#1"},
}

// draw makes a value of any type of which the nouns are made. Lists are nil or not empty.
func draw(t *rapid.T, v reflect.Value) {
	if slices.Contains(unencoded, v.Type()) {
		return
	}
	if a, ok := v.Addr().Interface().(*netip.AddrPort); ok {
		*a = rapid.SampledFrom(addrs).Draw(t, "address")
		return
	}
	if a, ok := v.Addr().Interface().(*netip.Addr); ok {
		*a = rapid.SampledFrom(addrs).Draw(t, "address").Addr()
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		if rapid.Bool().Draw(t, "a fault") {
			v.Set(reflect.ValueOf(rapid.SampledFrom(faults).Draw(t, "which")))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			e := reflect.New(v.Type().Elem()).Elem()
			draw(t, e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "number"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "number"))
	default:
		t.Fatalf("no way to draw a %v", v.Type())
	}
}

func TestEncodingRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for i, v := range encoded() {
			draw(t, reflect.ValueOf(v).Elem())
			b := encode(t, v)
			got := encoded()[i]
			if err := got.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(got, v) {
				t.Fatalf("%v\nput %+v\ngot %+v", err, v, got)
			}
			if again, _ := got.AppendBinary([]byte("before")); string(again) != "before"+string(b) {
				t.Fatalf("the second time it is %x, and it was %x", again, b)
			}
			// An output without its last options is one, too, and so is the step that ends with it.
			n, part := rapid.IntRange(0, len(b)-1).Draw(t, "cut"), encoded()[i]
			_, output := part.(*ariadne.Output)
			_, step := part.(*ariadne.Step)
			if part.UnmarshalBinary(b[:n]) == nil && (!output && !step || !bytes.Equal(encode(t, part), b[:n])) {
				t.Fatalf("%T: %d bytes of %d are enough", v, n, len(b))
			}
			if encoded()[i].UnmarshalBinary(append(slices.Clone(b), 0)) == nil {
				t.Fatalf("%T: a byte too many is taken", v)
			}
		}
	})
}

// FuzzDecode: what can be decoded at all is encoded to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, v := range encoded() {
		fill(reflect.ValueOf(v).Elem(), new(int64))
		f.Add(encode(f, v))
	}
	for _, v := range encoded() {
		f.Add(encode(f, v))
	}
	f.Add([]byte{0x80, 0x00})                      // a number that is too long
	f.Add(bytes.Repeat([]byte{0xff}, 20))          // and one that is too large
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 1}) // a list longer than what follows
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, v := range encoded() {
			was := bytes.Clone(b)
			if err := v.UnmarshalBinary(b); err != nil {
				if !strings.HasPrefix(err.Error(), "not an encoded ") {
					t.Errorf("%T: %v", v, err)
				}
			} else if again := encode(t, v); !bytes.Equal(again, b) {
				t.Errorf("%x is %+v, which is %x", b, v, again)
			}
			if !bytes.Equal(b, was) {
				t.Fatalf("%T: what is read is changed", v)
			}
		}
	})
}

// TestSumCoversOutput changes each field of an output, to the last one of its parts. Fields that do
// not change its sum are here, for the reasons at Output.Sum.
func TestSumCoversOutput(t *testing.T) {
	// A place says in which order lines, exposures and notices come, which is covered.
	left := []string{"Exposures[*].Place", "Notices[*].Place", "Digest[*]", "Refusals[*].Detail",
		"Noted.CallTrace[*].TID", "Noted.CallTrace[*].NR", "Noted.CallTrace[*].Result", "Noted.CallTrace[*].Hash",
		"Noted.Unreplayable", "Noted.Cut", "Noted.Files[*].Path", "Noted.Files[*].Use", "Noted.Unsynced",
		"Noted.ReadClock", "Noted.CutAt.CodeLine.Program", "Noted.CutAt.CodeLine.Function",
		"Noted.CutAt.CodeLine.File", "Noted.CutAt.CodeLine.Line", "Noted.CutAt.Offset"}
	var o ariadne.Output
	fill(reflect.ValueOf(&o).Elem(), new(int64))
	for i := range o.Exposures {
		o.Exposures[i].Ends = false // then it would have no values
	}
	before := o.Sum(7)
	if before == o.Sum(8) {
		t.Error("the stream of calls is not covered")
	}
	var same []string
	fields := 0
	each(reflect.ValueOf(&o).Elem(), "", func(name string) {
		fields++
		if o.Sum(7) == before && !slices.Contains(same, name) {
			same = append(same, name)
		}
	})
	if !slices.Equal(same, left) {
		t.Errorf("not covered are\n%q, and should be\n%q", same, left)
	}
	if o.Sum(7) != before || fields < 50 {
		t.Errorf("%d fields were changed, and changed back: %v", fields, o.Sum(7) == before)
	}
	for _, shorter := range []func(*ariadne.Output){
		func(o *ariadne.Output) { o.Messages = o.Messages[:1] },
		func(o *ariadne.Output) { o.Logs = o.Logs[:1] },
		func(o *ariadne.Output) { o.Exposures = o.Exposures[:1] },
		func(o *ariadne.Output) { o.Notices = o.Notices[:1] },
		func(o *ariadne.Output) { o.Exits = o.Exits[:1] },
		func(o *ariadne.Output) { o.Refusals = o.Refusals[:1] },
	} {
		p := o
		if shorter(&p); p.Sum(7) == before {
			t.Errorf("it is the same without %+v", p)
		}
	}
}

// fill sets all that is in v to something other than zero. Lists have two elements.
func fill(v reflect.Value, n *int64) {
	if slices.Contains(unencoded, v.Type()) {
		return
	}
	*n++
	if a, ok := v.Addr().Interface().(*netip.AddrPort); ok {
		*a = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(*n)}), 80)
		return
	}
	if a, ok := v.Addr().Interface().(*netip.Addr); ok {
		*a = netip.AddrFrom4([4]byte{239, 0, 0, byte(*n)})
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		v.Set(reflect.ValueOf(faults[1]))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	default:
		panic(v.Kind())
	}
}

// each changes each single part of v, calls f with its name, and changes it back.
func each(v reflect.Value, name string, f func(name string)) {
	if slices.Contains(unencoded, v.Type()) {
		return
	}
	was := reflect.New(v.Type()).Elem()
	was.Set(v)
	if a, ok := v.Addr().Interface().(*netip.AddrPort); ok {
		for _, other := range []netip.AddrPort{netip.AddrPortFrom(a.Addr(), a.Port()+1),
			netip.AddrPortFrom(a.Addr().Next(), a.Port())} {
			v.Set(reflect.ValueOf(other))
			f(name)
			v.Set(was)
		}
		return
	}
	if a, ok := v.Addr().Interface().(*netip.Addr); ok {
		v.Set(reflect.ValueOf(a.Next()))
		f(name)
		v.Set(was)
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		for _, other := range faults {
			if v.Set(reflect.ValueOf(other)); other != was.Interface() {
				f(name + " " + ariadne.Alternative(other))
			}
		}
		v.Set(was)
		return
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), strings.TrimPrefix(name+"."+v.Type().Field(i).Name, "."), f)
		}
		return
	case reflect.Pointer:
		each(v.Elem(), name, f)
		return
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			each(v.Index(i), name+"[*]", f)
		}
		return
	case reflect.String:
		v.SetString(v.String() + "!")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(v.Uint() ^ 1)
	default:
		panic(v.Kind())
	}
	f(name)
	v.Set(was)
}

// TestEncodingStays: what was encoded before there were numbers of options has the same bytes, so
// traces of old replay. Their digests are over it.
func TestEncodingStays(t *testing.T) {
	var out ariadne.Output
	old := unencoded
	// they are newer
	unencoded = append(slices.Clip(old), reflect.TypeFor[[]ariadne.Shown](), reflect.TypeFor[[]ariadne.Notice]())
	fill(reflect.ValueOf(&out).Elem(), new(int64))
	unencoded = old
	out.Unsynced, out.Ready, out.ReadClock, out.CutAt = false, false, false, nil // likewise
	none := ariadne.Output{}
	for what, c := range map[string]struct {
		b    []byte
		want string
	}{
		"output": {encode(t, &out), "385399384af1ac5f"},
		"empty":  {encode(t, &none), "8e8fe47e4a33b178"},
		"fault": {encode(t, &ariadne.Input{Kind: ariadne.Fault, Fault: ariadne.Drift{By: -5}}),
			"f23d304e0126d640"},
		"empty down": {encode(t, &ariadne.Output{Left: ariadne.Left{Down: ariadne.Stopped, Back: 7, Ended: true}}),
			"a595d94d48f2b73a"},
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256(c.b)); got[:16] != c.want {
			t.Errorf("%s: %s, want %s", what, got[:16], c.want)
		}
	}
	in := ariadne.Input{Kind: ariadne.Fault, At: 2, Message: &ariadne.Message{}, Vary: "crash:1s@1/call#2",
		Draw: &ariadne.Draw{}}
	n := new(int64)
	fill(reflect.ValueOf(in.Message).Elem(), n)
	fill(reflect.ValueOf(in.Draw).Elem(), n)
	for f, want := range map[ariadne.NodeFault]string{
		nil: "730c5fe1954b559c",
		ariadne.Outage{Down: ariadne.Stopped, For: 15e9, With: "n2+n3"}: "83a23ac25f3ea92f",
		ariadne.Outage{Down: ariadne.Paused}:                            "361678df01ff98ee",
		ariadne.Outage{Down: ariadne.PowerLost, For: ariadne.Ever}:      "6c01a3be2032f55c",
		ariadne.Jump{By: -5}:              "5b6ef2bd2fe89c0b",
		ariadne.Drift{By: -5}:             "181c4e09c3d2f96a",
		ariadne.Kill{Process: "server#2"}: "820d17695baf082c",
	} {
		in.Fault = f
		if got := fmt.Sprintf("%x", sha256.Sum256(encode(t, &in))); got[:16] != want {
			t.Errorf("input with %+v: %s, want %s", f, got[:16], want)
		}
	}
}

// TestFaultsReadBack: the text of each fault that hits a node is read back, and so is its
// encoding. One of two kinds at once is none.
func TestFaultsReadBack(t *testing.T) {
	for _, f := range faults {
		if got, err := ariadne.ParseNodeFault(ariadne.Alternative(f)); err != nil || got != f {
			t.Errorf("%s: %v, %v", ariadne.Alternative(f), got, err)
		}
		if o := ariadne.OutageIn(ariadne.Alternative(f)); o != ariadne.OutageOf(f) {
			t.Errorf("%s takes a node down as %+v", ariadne.Alternative(f), o)
		}
	}
	for _, bad := range []string{"", "crash", "crash:", "crash:1s+", "pause:1s+n2", "jump:0s", "jump:5s", "drift:5",
		"kill:", "kill:a b", "fail:EIO", "1s"} {
		if f, err := ariadne.ParseNodeFault(bad); err == nil || f != nil {
			t.Errorf("%q is %v", bad, f)
		}
	}
	b := encode(t, &ariadne.Input{Kind: ariadne.Fault, Fault: ariadne.Jump{By: -5}})
	for i := range b {
		if b[i] == 1<<3|1<<4 {
			b[i] |= 1 << 7 // drift, too
			b = append(b, 9)
			if err := new(ariadne.Input).UnmarshalBinary(b); err == nil {
				t.Error("a fault of two kinds is read")
			}
			return
		}
	}
	t.Error("a jump is not announced")
}
