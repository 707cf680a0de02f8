package record

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
)

// TestCoverageIsReadBack: each field of a coverage is in its fields for programs, and read back
// from there.
func TestCoverageIsReadBack(t *testing.T) {
	c := &Coverage{}
	n := 0
	distinct(reflect.ValueOf(c).Elem(), &n)
	if n < 70 {
		t.Fatalf("only %d values were set", n)
	}
	// These follow from others, or are medians.
	c.Executed, c.Sample.Known, c.Locals = c.Nodes.Executed, c.Nodes.Remembered, c.LocalStates[0]+c.LocalStates[1]
	c.Nodes.Thaw, c.Nodes.Step, c.Nodes.Freeze = memo.Times{}, memo.Times{}, memo.Times{}
	c.Nodes.Size = memo.Sizes{}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	read := &Coverage{}
	if err := json.Unmarshal(b, read); err != nil || !reflect.DeepEqual(read, c) {
		t.Errorf("%v\nread %+v\nwant %+v", err, read, c)
	}
	again, err := json.Marshal(read)
	if err != nil || string(again) != string(b) {
		t.Errorf("%v\n%s\nis written as\n%s", err, b, again)
	}
	if (*Coverage)(nil).Fields() != nil {
		t.Error("there are fields of none")
	}
}

// distinct gives all that is in v another value. Lists have two elements.
func distinct(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			distinct(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		distinct(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		distinct(v.Index(0), n)
		distinct(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			distinct(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		distinct(key, n)
		distinct(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n))
	default:
		if v.CanInt() {
			v.SetInt(int64(*n))
			return
		}
		v.SetUint(uint64(*n))
	}
}
