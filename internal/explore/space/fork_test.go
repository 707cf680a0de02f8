package space

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// unchanging are what frames refer to that nobody changes in place, so that two paths may share it.
var unchanging = []string{"Frame.By", "Frame.exposed.Past", "Frame.exposed.Earlier", "Frame.State.State.Cuts",
	"Frame.State.State.Slow", "Frame.shown.Made.texts"}

// notForked are fields that a fork does not take over: it knows no symmetry.
var notForked = []string{"Frame.origins.step", "Frame.origins.last", "Frame.origins.flight"}

// fields calls f with each field of a struct that may refer to memory of its own, also of structs
// within it.
func fields(name string, v reflect.Value, f func(name string, field reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fields(name+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
	case reflect.Array:
		for i := range v.Len() {
			fields(name, v.Index(i), f)
		}
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan:
		f(name, v)
	}
}

// full returns a frame of which no slice or map is empty.
func full(t *testing.T) (f Frame) {
	fields("Frame", reflect.ValueOf(&f).Elem(), func(name string, v reflect.Value) {
		at := reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
		switch {
		case slices.Contains(unchanging, name):
		case v.Kind() == reflect.Slice:
			at.Set(reflect.MakeSlice(v.Type(), 1, 4))
		case v.Kind() == reflect.Map:
			at.Set(reflect.MakeMap(v.Type()))
		default:
			t.Errorf("%s is a %s: can two paths share it?", name, v.Type())
		}
	})
	return f
}

// TestForksShareNothing: a fork has all that the frames of its origin have, and what can be changed
// in them is its own, whether its frames were used before or not.
func TestForksShareNothing(t *testing.T) {
	for _, used := range []bool{false, true} {
		p := &Path{space: &Space{System: world.NewSystem(world.Rules{}, nil)}, n: 3}
		f := &Path{space: p.space,
			observers: []observer{exposing{p.space}, telling{p.space}, showing{p.space}, writing{p.space}}}
		for range p.n {
			p.frames = append(p.frames, full(t))
			if used {
				f.frames = append(f.frames, full(t))
			}
		}
		p.ForkInto(f, p.n-1)
		for i := range p.frames {
			memory := map[string]uintptr{}
			fields("Frame", reflect.ValueOf(&p.frames[i]).Elem(), func(name string, v reflect.Value) {
				memory[name] = v.Pointer()
			})
			fields("Frame", reflect.ValueOf(&f.frames[i]).Elem(), func(name string, v reflect.Value) {
				switch {
				case slices.Contains(unchanging, name) || slices.Contains(notForked, name):
				case v.Pointer() == memory[name]:
					t.Errorf("%s of the fork is that of its origin", name)
				case v.Len() != 1:
					t.Errorf("%s of the fork has %d elements", name, v.Len())
				}
			})
		}
	}
}
