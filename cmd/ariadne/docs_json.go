package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/crash"
	"github.com/ariadne-mc/ariadne/internal/use/disk"
	"github.com/ariadne-mc/ariadne/internal/use/explain"
	"github.com/ariadne-mc/ariadne/internal/use/timers"
	"github.com/ariadne-mc/ariadne/internal/use/watch"
)

//go:embed json.md
var jsonText []byte

// printed are the objects for programs, with what each is.
var printed = []struct {
	name string
	of   any
}{
	{"The event `step`, a line of `steps.jsonl` and a step of a session", report.Step{}},
	{"The event `progress`", progressEvent{}},
	{"The event `violation`", record.Violation{}},
	{"The event `script`", scriptEvent{}},
	{"The event `report`, and `report.json`", record.Report{}},
	{"`ariadne crash --json`", crash.Result{}},
	{"`ariadne crash --json`, the last object of a program that asks", chosenObject{}},
	{"`ariadne disk --json`", disk.Report{}},
	{"`ariadne trace show --json`", traceObject{}},
	{"`ariadne explain --json`", explain.Explanation{}},
	{"`ariadne timers --json`", timers.List{}},
	{"`ariadne watch --json`, the event `watching`", begunEvent{}},
	{"`ariadne watch --json`, the event `exposed`", shownEvent{}},
	{"`ariadne watch --json`, the event `violation`", watch.Finding{}},
	{"`ariadne watch --json`, the event `report`", watch.Report{}},
}

// jsonPage is the page on the output for programs: json.md, and the fields by their types.
func jsonPage() []byte {
	var b bytes.Buffer
	b.Write(jsonText)
	fmt.Fprintf(&b, "\n## Fields\n\n%s `[]` is a list. A field marked `-` may be missing.\n", generated)
	var objects []reflect.Type
	write := func(name string, t reflect.Type) {
		fmt.Fprintf(&b, "\n%s:\n\n| field | | |\n| --- | --- | --- |\n", name)
		for _, o := range writeFields(&b, t) {
			if !slices.Contains(objects, o) {
				objects = append(objects, o)
			}
		}
	}
	for _, p := range printed {
		objects = append(objects, reflect.TypeOf(p.of))
	}
	for _, p := range printed {
		write(p.name, reflect.TypeOf(p.of))
	}
	named := map[string]reflect.Type{}
	for i := len(printed); i < len(objects); i++ {
		name := kindOf(objects[i])
		if other := named[name]; other != nil {
			panic(fmt.Sprintf("%v and %v are both called %s: name one of them in objectNames", other, objects[i], name))
		}
		named[name] = objects[i]
		write("The "+name, objects[i])
	}
	return b.Bytes()
}

// fields are the fields of an object, with those of embedded structs in their place. A field hides
// those of the same name in structs that are embedded beside it.
func fields(t reflect.Type) (all []reflect.StructField) {
	outer := map[string]bool{}
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && jsonName(f) != "" {
			outer[jsonName(f)] = true
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch name := jsonName(f); {
		case f.Anonymous && name == "":
			for _, in := range fields(f.Type) {
				if !outer[jsonName(in)] {
					all = append(all, in)
				}
			}
		case name != "-" && f.IsExported():
			all = append(all, f)
		}
	}
	return all
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// writeFields writes a row for each field of an object, and returns the objects that are in these.
func writeFields(w io.Writer, t reflect.Type) (objects []reflect.Type) {
	for _, f := range fields(t) {
		name, mark, of := jsonName(f), "", f.Type
		if strings.Contains(f.Tag.Get("json"), ",omitempty") {
			mark = "-"
		}
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8 {
			if of.Kind() == reflect.Slice {
				name += "[]"
			}
			of = of.Elem()
		}
		if of == reflect.TypeFor[record.Coverage]() {
			of = reflect.TypeFor[record.CoverageFields]() // its MarshalJSON gives these
		}
		kind := kindOf(of)
		if of.Kind() == reflect.Struct && strings.HasPrefix(kind, "object") {
			objects = append(objects, of)
		}
		fmt.Fprintf(w, "| `%s` | %s | %s |\n", name, kind, mark)
	}
	return objects
}

// objectNames are names of objects that are not those of their types.
var objectNames = map[reflect.Type]string{
	reflect.TypeFor[record.CoverageFields](): "coverage",
	reflect.TypeFor[record.FaultsFields]():   "faults",
	reflect.TypeFor[record.StruckFields]():   "struck",
	reflect.TypeFor[record.NodeReport]():     "node",
	reflect.TypeFor[trace.Violation]():       "tracedviolation",
	reflect.TypeFor[disk.Failure]():          "diskfailure",
	reflect.TypeFor[disk.Group]():            "diskgroup",
}

// kindOf is what a value is in JSON.
func kindOf(t reflect.Type) string {
	_, text := reflect.Zero(t).Interface().(interface{ MarshalText() ([]byte, error) })
	switch {
	case t == reflect.TypeFor[time.Duration](), t == reflect.TypeFor[ariadne.Time]():
		return "nanoseconds"
	case text:
		return "text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "text in base64"
	case reflect.Struct:
		return "object `" + cmp.Or(objectNames[t], strings.ToLower(t.Name())) + "`"
	case reflect.Map:
		return "object of numbers by name"
	case reflect.Array:
		return "list"
	default:
		return "number"
	}
}
