//go:build linux

package node

import (
	"fmt"
	"reflect"
	"unsafe"
)

// StateDiffers says what of the states of two checkpoints differs.
func StateDiffers(c, d *Checkpoint) []string {
	w := differs{seen: map[[2]unsafe.Pointer]bool{}}
	w.compare("", reflect.ValueOf(c.state.Copy()).Elem(), reflect.ValueOf(d.state.Copy()).Elem())
	return w.all
}

// differs compares two graphs of the same type.
type differs struct {
	seen map[[2]unsafe.Pointer]bool
	all  []string
}

func (w *differs) add(format string, a ...any) { w.all = append(w.all, fmt.Sprintf(format, a...)) }

func (w *differs) compare(at string, a, b reflect.Value) {
	if a.Type() != b.Type() {
		w.add("%s is a %v and not a %v", at, a.Type(), b.Type())
		return
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		w.compareReferred(at, a, b)
	case reflect.Struct:
		for i := range a.NumField() {
			if f := a.Type().Field(i); f.Tag.Get("encode") != "-" {
				w.compare(at+"."+f.Name, a.Field(i), b.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			w.add("%s has %d elements and not %d", at, a.Len(), b.Len())
			return
		}
		for i := range a.Len() {
			w.compare(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		w.compareMaps(at, a, b)
	default:
		if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
			w.add("%s is %s and not %s", at, x, y)
		}
	}
}

func (w *differs) compareReferred(at string, a, b reflect.Value) {
	if a.IsNil() || b.IsNil() {
		if a.IsNil() != b.IsNil() {
			w.add("%s is nil: %v and not %v", at, a.IsNil(), b.IsNil())
		}
		return
	}
	if a.Kind() == reflect.Pointer {
		pair := [2]unsafe.Pointer{a.UnsafePointer(), b.UnsafePointer()}
		if w.seen[pair] {
			return
		}
		w.seen[pair] = true
	}
	w.compare(at, a.Elem(), b.Elem())
}

func (w *differs) compareMaps(at string, a, b reflect.Value) {
	if a.Len() != b.Len() {
		w.add("%s has %d entries and not %d", at, a.Len(), b.Len())
	}
	if a.Type().Key().Kind() == reflect.Pointer {
		return // each graph has its own
	}
	for it := a.MapRange(); it.Next(); {
		if v := b.MapIndex(it.Key()); v.IsValid() {
			w.compare(fmt.Sprintf("%s[%v]", at, it.Key()), it.Value(), v)
		} else {
			w.add("%s has %v: %v", at, it.Key(), it.Value())
		}
	}
}
