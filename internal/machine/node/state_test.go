//go:build linux

package node

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// living are the fields that no copy of a node takes, with why. All others are of its setup or its
// state.
var living = map[string]string{
	"Node.reads":     "is of one step, executed once to be looked at",
	"Node.debugging": "is of a copy that is given up",
	"Node.watching":  "likewise",
	"Node.threads":   "Linux's own, of which a checkpoint has forks, registers and what frozenThread says",
	"Node.home":      "all copies share it",
	"Node.held":      "descriptors of what processes have mapped: the file tree follows the files from the first copy on",
	"Node.watch":     "it looks at processes that run, and begins with the first step",
	"Node.layout":    "what was read of a process's mappings, until its next call",
	"Node.paging":    "what is known of the pages of living processes: a checkpoint lists those that differ from its forks",
	"Node.step":      "what a step accumulates: it ends with it",

	"thread.n":     "the node",
	"thread.k":     "a part of the state, found by its number",
	"thread.tr":    "Linux's own: a checkpoint has its registers",
	"thread.used":  "of the turn, which ends with the step",
	"thread.began": "of the turn, which ends with the step",
}

func TestFieldsAreStateOrLiving(t *testing.T) {
	found := map[string]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[Node](), reflect.TypeFor[thread]()} {
		for i := range of.NumField() {
			f := of.Field(i)
			if f.Type == reflect.TypeFor[setup]() || f.Type == reflect.TypeFor[state]() {
				continue
			}
			name := of.Name() + "." + f.Name
			if found[name] = true; living[name] == "" {
				t.Errorf("%s is neither state nor setup, and nothing says why copies of a node do without it", name)
			}
		}
	}
	for name := range living {
		if !found[name] {
			t.Errorf("there is no %s", name)
		}
	}
	c := reflect.TypeFor[Checkpoint]()
	for _, name := range []string{"setup", "state"} {
		if _, ok := c.FieldByName(name); !ok {
			t.Errorf("a checkpoint has no %s", name)
		}
	}
}

// TestStateIsCopied: whatever a field of the state holds, its copies hold too, and share nothing
// that changes.
func TestStateIsCopied(t *testing.T) {
	s := &state{}
	f := filler{t: t}
	f.fill(reflect.ValueOf(s).Elem(), "state", 6)
	if f.count < 200 {
		t.Errorf("only %d values were set", f.count)
	}
	image := states.Image(s)
	first := image.Copy()
	same := func(when string) {
		for i := range reflect.TypeFor[state]().NumField() {
			a, b := reachable(reflect.ValueOf(s).Elem().Field(i)), reachable(reflect.ValueOf(first).Elem().Field(i))
			name := reflect.TypeFor[state]().Field(i).Name
			if a.IsZero() {
				t.Errorf("%s: %s was not set", when, name)
			}
			if !reflect.DeepEqual(a.Interface(), b.Interface()) {
				t.Errorf("%s: %s is\n%+v\nin a copy, not\n%+v", when, name, b, a)
			}
		}
	}
	same("as copied")
	// What is done to one copy is seen in no other, nor in what was copied.
	other := image.Copy()
	g := filler{t: t, count: 1000}
	g.fill(reflect.ValueOf(other).Elem(), "state", 6)
	clear(other.k.Procs)
	other.looked[0].values, other.grows[0].pid = []string{"other"}, -1
	same("after a change of another")
}

// TestStateIsEncoded: what a field of the state holds is in what it is decoded to, but for what has
// a tag that leaves it out.
func TestStateIsEncoded(t *testing.T) {
	s := &state{}
	f := filler{t: t, encoded: true}
	f.fill(reflect.ValueOf(s).Elem(), "state", 6)
	b, err := records().Encode(&record{state: s})
	if err != nil {
		t.Fatal(err)
	}
	r, err := records().Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[state]().NumField() {
		was, is := reachable(reflect.ValueOf(s).Elem().Field(i)), reachable(reflect.ValueOf(r.state).Elem().Field(i))
		if !reflect.DeepEqual(was.Interface(), is.Interface()) {
			t.Errorf("%s is\n%+v\nwhen it was decoded, not\n%+v", reflect.TypeFor[state]().Field(i).Name, is, was)
		}
	}
}

// filler sets values that are not zero, each another.
type filler struct {
	t       *testing.T
	count   int
	encoded bool // but for what is not encoded
}

// reachable is a field that can be read and set though it has no name outside.
func reachable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// fill sets v, and all below it down to a depth.
func (f *filler) fill(v reflect.Value, name string, depth int) {
	t := v.Type()
	if strings.HasPrefix(t.String(), "netip.") || depth == 0 {
		return
	}
	f.count++
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.count%100) + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(f.count%100) + 1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(f.count))
	case reflect.String:
		v.SetString(strings.Repeat("x", f.count%7+1))
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		f.fill(v.Elem(), name, depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 2, 3))
		for i := range v.Len() {
			f.fill(v.Index(i), name+"[]", depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		f.fill(key, name+" key", depth-1)
		f.fill(value, name+" value", depth-1)
		v.SetMapIndex(key, value)
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), name+"[]", depth)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if f.encoded && t.Field(i).Tag.Get("encode") == "-" {
				continue
			}
			f.fill(reachable(v.Field(i)), name+"."+t.Field(i).Name, depth)
		}
	case reflect.Interface: // a file, a machine: what is in it the objects' own tests say
	default:
		f.t.Errorf("%s is a %v: it is no plain value", name, t)
	}
}
