//go:build linux

package stack

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

//go:noinline
func searched(n int) int { return n + 1 }

// open reads the code of a program.
func open(t *testing.T, path string) *Code {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return New(path, f)
}

// TestGoCode: the functions of this test's own program are where its runtime says.
func TestGoCode(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, path)
	entry := uint64(runtime.FuncForPC(reflect.ValueOf(searched).Pointer()).Entry())
	for _, name := range []string{"searched", "stack.searched",
		"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo/stack.searched"} {
		if got := c.entries(name); !slices.Equal(got, []uint64{entry}) {
			t.Errorf("%s begins at %x, want %x", name, got, entry)
		}
	}
	function, file, line := c.at(entry)
	if !strings.HasSuffix(function, "stack.searched") || filepath.Base(file) != "stack_test.go" || line == 0 {
		t.Errorf("at its beginning is %s (%s:%d)", function, file, line)
	}
	if got := c.entries("nothing"); got != nil {
		t.Errorf("a function that there is not begins at %x", got)
	}
}

// TestAddresses: functions of a library are where it is mapped, and only those of the mapped part.
func TestAddresses(t *testing.T) {
	dir := t.TempDir()
	source, library := filepath.Join(dir, "l.cc"), filepath.Join(dir, "l.so")
	text := "namespace n { int twice(int a) { return 2 * a; } int twice(char a) { return a; } }\n" +
		"extern \"C\" int plain(int a) { return n::twice(a); }\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("g++", "-g", "-O0", "-shared", "-fPIC", "-o", library,
		source).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	c := open(t, library)
	const start = 0x7f0000001000
	m := Module{Code: c, Start: start, End: start + 1<<20}
	for name, want := range map[string]int{"plain": 1, "n::twice": 2, "twice": 2, "lain": 0} {
		got := m.Addresses(name)
		if len(got) != want {
			t.Errorf("%s is at %x, want %d addresses", name, got, want)
		}
		for _, addr := range got {
			at, ok := c.address(addr - m.Start + m.Offset)
			if function, _, _ := c.at(at); !ok || !strings.HasSuffix(function, name) {
				t.Errorf("%s is at %x, where %s is", name, addr, function)
			}
		}
	}
	m.End = m.Start + 1
	if got := m.Addresses("plain"); got != nil {
		t.Errorf("plain is at %x, behind what is mapped", got)
	}
}
