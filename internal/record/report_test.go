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

// TestNamesInReports: fields in report.json are named as those of the output for programs are, and
// none gets Go's name by oversight.
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
			if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == "-" ||
				of == reflect.TypeFor[ariadne.Violation]() && tag == "node" {
				continue
			} else if !f.Anonymous && !name.MatchString(tag) {
				t.Errorf("%v: field %s is named %q", of, f.Name, tag)
			} else if time := f.Type == reflect.TypeFor[time.Duration]() ||
				f.Type == reflect.TypeFor[ariadne.Time](); time != strings.HasSuffix(tag, "_ns") {
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
	wrote := Report{Event: "report", Version: Version, Command: "check", Out: dir, SpecDigest: ariadne.Digest{1, 0xab},
		RealTime: time.Second, Outcome: Inconclusive,
		Ends: map[string]int{"clients done": 3}, Nodes: []NodeReport{{Name: "n0"}, {Name: "n1", Log: "nodes/n1.log"}},
		Violations: []Violation{{Event: "violation", NodeName: "n1",
			Violation: ariadne.Violation{Node: 1, At: 5, Message: "m"}},
			{Violation: ariadne.Violation{Node: ariadne.NoNode}}},
		Refusals: []Refusal{{"n1", ariadne.Refusal{Name: "bpf", Count: 2}}},
		Coverage: &Coverage{Strategy: "dpor", Known: 4}}
	if err := wrote.Save(); err != nil {
		t.Fatal(err)
	}
	d := &Dir{Path: dir}
	read, err := d.Report()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, &wrote) {
		t.Errorf("read %+v\nwrote %+v", read, &wrote)
	}
	path := filepath.Join(dir, reportFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to, want string
		seal           bool
	}{
		{`"m"`, `"n"`, "was changed after it was written", false},
		{`"checksum"`, `"Checksum"`, "is of an older version of Ariadne", false},
		{"01ab", "01", "is damaged: want 64 hexadecimal digits of a digest", false},
		{`"inconclusive"`, `"conclusive"`, `is damaged: unknown outcome "conclusive"`, true},
	} {
		data := []byte(strings.Replace(string(text), c.from, c.to, 1))
		if c.seal {
			data = sealed(t, string(data))
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Report(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %s instead of %s: %v, want %q", c.to, c.from, err, c.want)
		}
	}
}

// sealed is the text of a report with its checksum, as each version has written it.
func sealed(t *testing.T, text string) []byte {
	t.Helper()
	data := []byte(text)
	at := sumAt(data)
	if at < 0 {
		t.Fatalf("no checksum in %s", text)
	}
	copy(data[at:], noSum)
	copy(data[at:], reportSum(data))
	return data
}

// TestReportOfAnotherVersion: a report of another version is refused in one line that says what to
// do, whatever form its fields have. A new command may still take its place.
func TestReportOfAnotherVersion(t *testing.T) {
	old := `{
  "version": 3,
  "command": "check",
  "spec_digest": "` + strings.Repeat("01", 32) + `",
  "outcome": "violation",
  "executions": 7,
  "nodes": [{"name": "n1", "log": "", "refusals": []}],
  "violations": [{"kind": "death", "node": 0, "node_name": "n1", "step": 3, "at_ns": 5, "message": "m"}],
  "checksum": "0123456789abcdef"
}
`
	for _, c := range []struct{ name, text, want string }{
		{"version 3", old, "is of an older version of Ariadne (format 3, not 4)"},
		{"no version", strings.Replace(old, `"version": 3,`, "", 1),
			"is of an older version of Ariadne (format 0, not 4)"},
		{"a later one", strings.Replace(old, `"version": 3,`, `"version": 5,`, 1),
			"is of a newer version of Ariadne (format 5, not 4)"},
	} {
		d := &Dir{Path: t.TempDir()}
		if err := os.WriteFile(filepath.Join(d.Path, reportFile), sealed(t, c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Report(); err == nil || strings.Contains(err.Error(), "\n") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if !isRun(d.Path) {
			t.Errorf("%s: this is not taken for a run directory", c.name)
		}
		if err := d.mayTake("check"); err != nil {
			t.Errorf("%s: another check cannot replace it: %v", c.name, err)
		}
		if err := d.mayTake("run"); err == nil ||
			!strings.Contains(err.Error(), "has the results of a check, which a run does not replace") {
			t.Errorf("%s: a run replaces it: %v", c.name, err)
		}
	}
}
