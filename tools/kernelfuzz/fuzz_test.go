package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// bench builds Ariadne and the interpreter, or skips.
func bench(t *testing.T) *Bench {
	t.Helper()
	for _, c := range []string{"gcc", "unshare"} {
		if _, err := exec.LookPath(c); err != nil {
			t.Skip("needs " + c)
		}
	}
	binary := filepath.Join(t.TempDir(), "ariadne")
	if out, err := exec.Command("go", "build", "-o", binary,
		"github.com/ariadne-mc/ariadne/cmd/ariadne").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := NewBench("testdata", binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	if err := b.Possible(); err != nil {
		t.Skip("needs namespaces: ", err)
	}
	return b
}

// same fails for each case that differs.
func (b *Bench) same(t *testing.T, cases []Case) {
	t.Helper()
	found, err := b.Differences(cases)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if small, err := b.Shrink(f); err == nil {
			f = small
		}
		var text bytes.Buffer
		write(&text, []Case{f.Case})
		t.Errorf("natively: %s\nariadne:  %s\n%s", f.Native, f.Ariadne, &text)
	}
}

// TestCases: what was found once stays the same.
func TestCases(t *testing.T) {
	b := bench(t)
	files, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := parse(string(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { b.same(t, cases) })
	}
}

// TestFuzz makes some cases of each family.
func TestFuzz(t *testing.T) {
	seeds := uint64(60)
	if os.Getenv("ARIADNE_LONG") != "" {
		seeds = 3000
	}
	b := bench(t)
	for from := uint64(0); from < seeds; from += 60 {
		var cases []Case
		for s := range uint64(60) {
			cases = append(cases, Generate(from+s))
		}
		b.same(t, cases)
	}
}

// TestDifference: the comparison sees a difference, and shrinks it to what is needed.
func TestDifference(t *testing.T) {
	b := bench(t)
	// The id of a process's session leader is init's natively, and here it is not: the
	// controller is the first process of its namespace, and the second of a node.
	c := Case{Name: "one", Lines: []string{"0 pipe $3 $4 0", "0 write $4 5", "0 getsid 1", "0 read $3 5"}}
	found, err := b.Differences([]Case{c})
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	small, err := b.Shrink(found[0])
	if err != nil || len(small.Case.Lines) != 1 || small.Case.Lines[0] != "0 getsid 1" {
		t.Errorf("shrunk to %v, %v", small.Case.Lines, err)
	}
}

// TestGenerate: a seed is one case, and every template can be filled in.
func TestGenerate(t *testing.T) {
	for seed := range uint64(2000) {
		if a, b := Generate(seed), Generate(seed); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %v and %v", seed, a, b)
		}
	}
	for _, f := range families {
		g := &generator{Rand: nil, family: f}
		_ = g
		for _, c := range append(append([]string(nil), f.begin...), f.calls...) {
			for rest := c; ; {
				_, after, ok := strings.Cut(rest, "{")
				if !ok {
					break
				}
				name, more, _ := strings.Cut(after, "}")
				if rest = more; choices[name] == nil && name != "proc" && name != "set" {
					t.Errorf("%s: %s: no choice %s", f.name, c, name)
				}
			}
		}
	}
}

// TestParse: what is written is read again, and what is wrong is not.
func TestParse(t *testing.T) {
	cases := []Case{Generate(1), Generate(2)}
	var text bytes.Buffer
	write(&text, cases)
	got, err := parse("# two\n\n" + text.String())
	if err != nil || !reflect.DeepEqual(got, cases) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"0 read $1 1\n", "case a\n0 pause\n", "case a\ncase b\nend\n"} {
		if got, err := parse(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestKind(t *testing.T) {
	d := Difference{"3: 0 read $1 5 = 5 \"abc\"", "3: 0 read $1 5 = EINTR"}
	if got := d.Kind(); got != "read: n / EINTR" {
		t.Errorf("kind %q", got)
	}
	if _, ok := compare([]string{"a", "b"}, []string{"a"}); !ok {
		t.Error("a line that is missing makes no difference")
	}
}
