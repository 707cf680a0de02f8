package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// locking has copies of lock functions in its own functions, and in those of the library.
const locking = `package main

import (
	"fmt"
	"sync"
)

var (
	mu    sync.Mutex
	other sync.RWMutex
	value int
)

func add() {
	mu.Lock()
	seen := value
	mu.Unlock()
	other.RLock()
	other.RUnlock()
	mu.Lock()
	defer mu.Unlock()
	value = seen + 1
}

func main() {
	add()
	fmt.Println(value)
}
`

// inC makes it a program that is linked as those of C are, with code before that of Go.
const inC = `package main

// static int one(void) { return 1; }
import "C"

func init() { value = int(C.one()) }
`

var lockNames = []string{
	"sync.(*Mutex).Lock", "sync.(*Mutex).Unlock", "sync.(*RWMutex).RLock", "sync.(*RWMutex).RUnlock",
}

// TestBeginnings: functions of Go and their copies begin where the debug information of the same
// program says, and where it does not say so any more.
func TestBeginnings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module locking\n", "main.go": locking, "c.go": inC} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, mode, cgo string }{
		{"alone", "exe", "0"},
		{"position-independent", "pie", "0"},
		{"with C", "exe", "1"},
		{"with C, position-independent", "pie", "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			build := func(ldflags string) *elf.File {
				cmd := exec.Command("go", "build", "-buildmode="+c.mode, "-ldflags="+ldflags, "-o", "program")
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED="+c.cgo)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("go build: %v\n%s", err, out)
				}
				f, err := elf.Open(filepath.Join(dir, "program"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { f.Close() })
				return f
			}
			f := build("")
			all := Beginnings(f, lockNames)
			if want := beginningsByDWARF(t, f, lockNames); !slices.Equal(all, want) || len(all) < 10 {
				t.Errorf("functions begin at %x, and by the debug information at %x", all, want)
			}
			checkGoTable(t, f)
			f = build("-s -w")
			stripped := Beginnings(f, lockNames)
			if f.Section(".symtab") != nil || !slices.EqualFunc(stripped, all, func(a, b Beginning) bool {
				return a.Function == b.Function
			}) {
				t.Errorf("stripped, functions begin at %x, and else at %x", stripped, all)
			}
		})
	}
}

// checkGoTable: functions are in Go's table where the program's symbols have them, and lines too.
func checkGoTable(t *testing.T, f *elf.File) {
	t.Helper()
	table := GoTable(f)
	if table == nil {
		t.Fatal("there is no table of functions")
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, y := range symbols {
		if y.Name != "main.add" && y.Name != "main.main" {
			continue
		}
		checked++
		file, line, g := table.PCToLine(y.Value)
		if g == nil || g.Name != y.Name || g.Entry != y.Value || filepath.Base(file) != "main.go" || line == 0 {
			t.Errorf("at %#x, where %s begins, there is %+v, line %d of %s", y.Value, y.Name, g, line, file)
		}
	}
	if checked != 2 {
		t.Errorf("%d of the program's two functions have symbols", checked)
	}
}

// beginningsByDWARF is Beginnings by the program's debug information.
func beginningsByDWARF(t *testing.T, f *elf.File, functions []string) (all []Beginning) {
	t.Helper()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	names := map[dwarf.Offset]string{}
	walk := func(visit func(e *dwarf.Entry, within bool) (wanted bool)) {
		var within []bool // one of the functions
		for r := d.Reader(); ; {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				return
			}
			if e.Tag == 0 {
				within = within[:len(within)-1]
				continue
			}
			wanted := visit(e, slices.Contains(within, true))
			if e.Children {
				within = append(within, wanted)
			}
		}
	}
	walk(func(e *dwarf.Entry, _ bool) bool {
		if e.Tag == dwarf.TagSubprogram {
			names[e.Offset], _ = e.Val(dwarf.AttrName).(string)
		}
		return false
	})
	walk(func(e *dwarf.Entry, within bool) bool {
		name := names[e.Offset]
		if of, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			name = names[of]
		}
		ranges, err := d.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(functions, name) || len(ranges) == 0 {
			return false
		}
		first := slices.MinFunc(ranges, func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
		if !within {
			all = append(all, Beginning{name, first[0]})
		}
		return true
	})
	slices.SortFunc(all, func(a, b Beginning) int { return cmp.Compare(a.Addr, b.Addr) })
	return all
}
