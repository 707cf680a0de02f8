package record

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Fields in report.json are named as those of the output for programs are, and none gets Go's name
// by oversight.
func TestNamesInReports(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z_]*$`)
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of == reflect.TypeFor[Coverage]() {
			of = reflect.TypeFor[CoverageFields]() // as which it is written
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == "-" {
				continue
			} else if !f.Anonymous && !name.MatchString(tag) {
				t.Errorf("%v: field %s is named %q", of, f.Name, tag)
			} else if time := f.Type == reflect.TypeFor[time.Duration]() || f.Type == reflect.TypeFor[ariadne.Time](); time != strings.HasSuffix(tag, "_ns") {
				t.Errorf("%v: field %s, a %v, is named %q", of, f.Name, f.Type, tag)
			}
			look(f.Type)
		}
	}
	look(reflect.TypeFor[Report]())
	if len(seen) < 10 {
		t.Errorf("only %v were looked at", seen)
	}
}

func TestReportIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	wrote := Report{Command: "check", Out: dir, SpecDigest: ariadne.Digest{1, 0xab}, RealTime: time.Second, Outcome: Inconclusive,
		Ends: map[string]int{"clients done": 3}, Violations: []Violation{{NodeName: "n1", Violation: ariadne.Violation{At: 5, Message: "m"}}},
		Coverage: &Coverage{Strategy: "dpor", Known: 4}}
	if err := wrote.Save(); err != nil {
		t.Fatal(err)
	}
	d := &Dir{Path: dir}
	read, err := d.Report()
	if err != nil {
		t.Fatal(err)
	}
	wrote.Checksum = read.Checksum
	if !reflect.DeepEqual(read, &wrote) {
		t.Errorf("read %+v\nwrote %+v", read, &wrote)
	}
	path := filepath.Join(dir, reportFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"m"`, `"n"`, "was changed after it was written"},
		{`"checksum"`, `"Checksum"`, "is of an older version of Ariadne"},
		{`"version": 3`, `"version": 2`, "is of an older version of Ariadne"},
		{"01ab", "01", "is damaged: want 64 hexadecimal digits of a digest"},
		{`"inconclusive"`, `"conclusive"`, `is damaged: unknown outcome "conclusive"`},
	} {
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.from, c.to, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Report(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s instead of %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}
