package ariadne_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pure are the packages that must give the same results everywhere and always,
// with all that they may import. They start no goroutine and look at no clock; those
// that several workers use at once have locks.
var pure = map[string][]string{
	".":                        {"crypto/sha256", "encoding/hex", "errors", "fmt", "net/netip", "time"},
	"internal/world":           {"ariadne", "cmp", "crypto/sha256", "encoding/binary", "fmt", "net/netip", "math/bits", "slices", "strconv", "strings", "time"},
	"internal/space":           {"ariadne", "ariadne/internal/memo", "ariadne/internal/world", "fmt", "math/bits", "slices", "sync", "sync/atomic"},
	"internal/coverage":        {"ariadne", "ariadne/internal/memo", "ariadne/internal/space", "ariadne/internal/world", "bufio", "bytes", "encoding/binary", "encoding/json", "errors", "fmt", "hash/crc32", "io", "math", "regexp", "slices", "strings", "sync", "sync/atomic", "time"},
	"internal/property":        {"ariadne", "fmt", "strings"},
	"internal/search/strategy": {"ariadne", "ariadne/internal/memo", "ariadne/internal/space", "ariadne/internal/world", "container/heap", "fmt", "math", "slices", "sync", "sync/atomic"},
	"internal/search":          {"ariadne", "ariadne/internal/memo", "ariadne/internal/property", "ariadne/internal/search/strategy", "ariadne/internal/space", "ariadne/internal/world", "errors", "fmt", "regexp", "time"},
	"internal/report":          {"ariadne", "cmp", "fmt", "io", "maps", "slices", "strings", "time", "unicode/utf8"},
	"internal/trace":           {"ariadne", "bufio", "bytes", "compress/flate", "crypto/sha256", "encoding/binary", "encoding/hex", "errors", "fmt", "hash", "io", "strconv", "strings", "time"},
	"internal/replay":          {"ariadne", "ariadne/internal/property", "ariadne/internal/search", "ariadne/internal/trace", "ariadne/internal/world", "cmp", "errors", "fmt", "io", "math", "net/netip", "slices", "strings"},
}

// impure are the names of package time that look at the real clock.
var impure = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

func TestPurePackages(t *testing.T) {
	for dir, allowed := range pure {
		for _, file := range sources(t, dir) {
			for _, complaint := range complaints(t, file, allowed) {
				t.Error(complaint)
			}
		}
	}
}

// sources are the files of a package, without its tests.
func sources(t *testing.T, dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

func complaints(t *testing.T, file string, allowed []string) []string {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	complain := func(n ast.Node, format string, args ...any) {
		found = append(found, fmt.Sprintf("%s: %s", fset.Position(n.Pos()), fmt.Sprintf(format, args...)))
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			if path, _ := strconv.Unquote(n.Path.Value); !slices.Contains(allowed, path) {
				complain(n, "a pure package imports %s", path)
			}
		case *ast.GoStmt:
			complain(n, "a pure package starts a goroutine")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(impure, n.Sel.Name) {
				complain(n, "a pure package uses time.%s", n.Sel.Name)
			}
		}
		return true
	})
	return found
}

func TestComplaints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bad.go")
	src := "package bad\nimport (\n\"fmt\"\n\"os\"\n\"time\"\n)\nfunc f() { go fmt.Print(os.Args, time.Now()) }\n"
	if err := os.WriteFile(file, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	got := complaints(t, file, []string{"fmt", "time"})
	if len(got) != 3 {
		t.Errorf("got %q", got)
	}
}
