package world

import (
	"reflect"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestNamesHaveAllThatIsLeft changes each field of an output: the name by content of the state that
// is reached is another one when the field is of what is left of the node, and else the same.
func TestNamesHaveAllThatIsLeft(t *testing.T) {
	y := NewSystem(Rules{}, []Node{{Name: "n1"}})
	name := func(o *ariadne.Output) ariadne.Digest { return y.NameReached(0, ariadne.Digest{}, Input{}, o) }
	full := func() *ariadne.Output {
		o := &ariadne.Output{}
		set(reflect.ValueOf(o).Elem(), 1)
		return o
	}
	want, fields := name(full()), 0
	var each func(v reflect.Value, path string, now func() ariadne.Digest)
	each = func(v reflect.Value, path string, now func() ariadne.Digest) {
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				each(v.Field(i), path+"."+v.Type().Field(i).Name, now)
			}
			return
		}
		fields++
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		set(v, 2)
		if left := strings.HasPrefix(path, ".Left."); (now() != want) != left {
			t.Errorf("%s: it is in the name: %v", path, !left)
		}
		v.Set(was)
	}
	o := full()
	each(reflect.ValueOf(o).Elem(), "", func() ariadne.Digest { return name(o) })
	if left := reflect.TypeFor[ariadne.Left]().NumField(); fields < left+15 || name(o) != want {
		t.Errorf("%d fields, %d of them left", fields, left)
	}
	// That there is nothing is not the same as that nothing is told.
	for _, change := range []func(l *ariadne.Left){func(l *ariadne.Left) { l.Limits = nil }, func(l *ariadne.Left) {
		l.Processes = nil
	}} {
		none, empty := full(), full()
		*empty.Limits, *empty.Processes = nil, nil
		change(&none.Left)
		if name(none) == want || name(none) == name(empty) {
			t.Errorf("%+v has the name of another state", none.Left)
		}
	}
	if none := (&ariadne.Output{}); name(none) != Succeed(ariadne.Digest{}, Input{}) {
		t.Error("without a content the name is not by history")
	}
}

// set gives all that is in v a value that n stands for.
func set(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				set(v.Field(i), n)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	case reflect.Array:
		for i := range v.Len() {
			set(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(strings.Repeat("x", n))
	case reflect.Bool:
		v.SetBool(n == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(n))
	}
}
