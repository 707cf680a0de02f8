package ariadne_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// pure are the packages that must give the same results everywhere and always,
// with all that they may import. They start no goroutine and look at no clock; those
// that several workers use at once have locks.
var pure = map[string][]string{
	".": {"crypto/sha256", "encoding/binary", "encoding/hex", "encoding/json", "errors",
		"fmt", "iter", "net/netip", "slices", "strconv", "strings", "time"},
	"internal/leaf/inspect": {"ariadne", "encoding/json", "fmt"},
	"internal/leaf/hash":    {"crypto/sha256", "encoding/binary", "math/bits"},
	"internal/explore/world": {"ariadne", "internal/leaf/hash", "cmp", "crypto/sha256", "encoding/binary",
		"fmt", "net/netip", "math/bits", "regexp", "slices", "strconv", "strings", "time"},
	"internal/explore/memo": {"ariadne", "internal/leaf/hash", "internal/judge/expose",
		"internal/explore/world", "cmp", "container/heap", "encoding/binary", "errors", "fmt", "math", "math/bits",
		"net/netip", "slices", "sync", "sync/atomic", "time"},
	"internal/judge/expose": {"ariadne", "internal/leaf/hash", "cmp", "fmt", "net/netip", "regexp", "slices",
		"strconv", "strings"},
	"internal/judge/stage": {"internal/judge/expose", "internal/leaf/hash", "cmp", "encoding/binary", "fmt",
		"maps", "slices", "strings"},
	"internal/explore/space": {"ariadne", "internal/leaf/hash", "internal/judge/expose",
		"internal/explore/memo", "internal/judge/property", "internal/judge/stage", "internal/explore/world", "fmt",
		"math/bits", "slices", "sync", "sync/atomic", "time"},
	"internal/explore/coverage": {"ariadne", "internal/leaf/hash", "internal/explore/memo",
		"internal/explore/space", "internal/explore/world", "bufio", "bytes", "encoding/base64", "encoding/binary",
		"encoding/json", "errors", "fmt", "hash/crc32", "io", "math", "slices", "strings", "sync", "sync/atomic",
		"time"},
	"internal/leaf/disk": {"ariadne", "bytes", "cmp", "crypto/sha256", "encoding/binary", "fmt", "math",
		"math/bits", "slices", "strconv", "strings"},
	"internal/judge/property": {"ariadne", "fmt", "regexp", "slices", "strconv", "strings", "time"},
	"internal/explore/search/strategy": {"ariadne", "internal/leaf/hash", "internal/judge/expose",
		"internal/explore/memo", "internal/explore/space", "internal/explore/world", "cmp", "container/heap", "fmt",
		"math", "math/bits", "slices", "strings", "sync", "sync/atomic"},
	"internal/explore/search": {"ariadne", "internal/leaf/hash", "internal/judge/expose",
		"internal/explore/memo", "internal/judge/property", "internal/explore/search/strategy",
		"internal/explore/space", "internal/explore/world", "errors", "fmt", "math", "math/bits", "regexp", "slices",
		"strings", "sync", "sync/atomic", "time"},
	"internal/judge/script": {"ariadne", "internal/judge/expose", "internal/judge/history",
		"internal/judge/stage", "errors", "fmt", "go.starlark.net/lib/json", "go.starlark.net/lib/math",
		"go.starlark.net/starlark", "go.starlark.net/starlarkstruct", "go.starlark.net/syntax", "maps", "regexp",
		"slices", "strings", "sync", "sync/atomic"},
	"internal/judge": {"ariadne", "internal/judge/expose", "internal/leaf/hash",
		"internal/judge/history", "internal/judge/property", "internal/leaf/readfile", "internal/judge/script",
		"internal/judge/stage", "errors", "fmt", "go.starlark.net/starlark", "go.starlark.net/syntax", "maps", "math",
		"slices", "strconv", "strings", "sync", "sync/atomic", "time"},
	"internal/judge/live": {"ariadne", "internal/judge", "internal/judge/expose",
		"internal/judge/property", "cmp", "encoding/json", "errors", "fmt", "maps", "net/netip", "slices",
		"strings", "time"},
	"internal/explore/work": {"ariadne", "internal/leaf/hash", "internal/judge/property",
		"internal/explore/coverage", "internal/explore/memo", "internal/explore/search",
		"internal/explore/search/strategy", "internal/explore/space", "bytes", "cmp", "encoding/json", "errors", "fmt",
		"slices"},
	"internal/explore/steer": {"ariadne", "internal/leaf/hash", "internal/judge/expose",
		"internal/explore/memo", "internal/leaf/readfile", "internal/judge/script", "internal/explore/search/strategy",
		"internal/explore/space", "internal/judge/stage", "internal/explore/world", "encoding/binary", "fmt",
		"go.starlark.net/starlark", "hash/fnv", "math", "path/filepath", "slices", "strings", "sync"},
	"internal/record/report": {"ariadne", "internal/judge/property", "internal/leaf/trace",
		"internal/explore/world", "cmp", "encoding/json", "fmt", "github.com/rivo/uniseg", "io", "maps", "slices",
		"strconv", "strings", "time", "unicode", "unicode/utf8"},
	"internal/record/graph": {"ariadne", "internal/leaf/payload", "internal/record/causal", "bufio",
		"crypto/sha256", "embed", "encoding/base64", "encoding/json", "fmt", "html", "io", "slices", "strings"},
	"internal/record/causal": {"ariadne", "internal/explore/world", "internal/leaf/payload", "cmp", "fmt",
		"slices", "strconv", "strings", "time"},
	"internal/leaf/payload": {"ariadne", "bytes", "cmp", "compress/gzip", "encoding/binary", "encoding/json", "errors",
		"fmt", "go.mongodb.org/mongo-driver/v2/bson", "golang.org/x/net/dns/dnsmessage", "golang.org/x/net/http2",
		"golang.org/x/net/http2/hpack",
		"google.golang.org/protobuf/encoding/protowire", "google.golang.org/protobuf/proto",
		"google.golang.org/protobuf/types/descriptorpb", "io", "math", "math/bits", "regexp", "strconv", "strings",
		"unicode",
		"unicode/utf8"},
	"internal/leaf/trace": {"ariadne", "bufio", "bytes", "compress/flate", "crypto/sha256",
		"encoding/binary", "encoding/hex", "errors", "fmt", "hash", "io", "strconv", "strings", "time"},
	"internal/explore/replay": {"ariadne", "internal/judge/property", "internal/explore/search",
		"internal/explore/search/strategy", "internal/explore/space", "internal/leaf/trace", "internal/explore/world",
		"cmp", "errors", "fmt", "io", "math", "net/netip", "slices", "strings"},
}

// module is the path of this module. Tables have paths below it without it, and "ariadne" for the
// root.
var module = sync.OnceValue(func() string {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(first, "module ")
})

// local is an import path as tables have it. ok: it is one of this module.
func local(path string) (name string, ok bool) {
	if path == module() {
		return "ariadne", true
	}
	if below, ok := strings.CutPrefix(path, module()+"/"); ok {
		return below, true
	}
	return path, false
}

// impure are the names of package time that look at the real clock.
var impure = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// linux are the packages that know of Linux or of files that are mapped. Nothing that a
// pure package depends on may import one, unless it is in portable. "…" stands for all
// below.
var linux = []string{"internal/machine/…", "internal/explore/memo/bolt", "internal/explore/memo/pagefile",
	"go.etcd.io/bbolt/…", "golang.org/x/sys/…"}

// portable are packages that may: they have something else for systems without it.
var portable = []string{"go.starlark.net/starlark"}

func TestPurePackages(t *testing.T) {
	for dir, allowed := range pure {
		for _, file := range sources(t, dir) {
			for _, complaint := range complaints(t, file, allowed) {
				t.Error(complaint)
			}
		}
	}
	for _, os := range []string{"linux", "darwin", "windows"} {
		for _, p := range dependencies(t, os) {
			if p.Standard || slices.Contains(portable, p.ImportPath) {
				continue
			}
			for _, i := range p.Imports {
				if i, _ := local(i); slices.ContainsFunc(linux, func(pattern string) bool {
					return matches(pattern, i)
				}) {
					t.Errorf("%s, on which a pure package depends, imports %s (on %s)", p.ImportPath, i, os)
				}
			}
			if p.Module.Main && len(p.IgnoredGoFiles) > 0 {
				t.Errorf("%s, on which a pure package depends, has files that are not for %s: %v", p.ImportPath, os, p.IgnoredGoFiles)
			}
		}
	}
}

// TestSessionsKnowNoLinux: who steers an execution looks into nodes by what internal/leaf/inspect
// says.
func TestSessionsKnowNoLinux(t *testing.T) {
	for _, file := range sources(t, "internal/use/session") {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range tree.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if name, _ := local(path); slices.ContainsFunc(linux, func(pattern string) bool {
				return matches(pattern, name)
			}) {
				t.Errorf("%s imports %s", file, name)
			}
		}
	}
}

// folders are those below internal, with what of this module the packages in each may import
// besides those of their own folder. A folder stands below those that import it.
var folders = map[string][]string{
	"leaf":    {"ariadne"},
	"judge":   {"ariadne", "leaf"},
	"machine": {"ariadne", "leaf"},
	"explore": {"ariadne", "leaf", "judge"},
	"system":  {"ariadne", "leaf", "judge", "machine", "explore"},
	"record":  {"ariadne", "leaf", "judge", "explore", "system"},
	"use":     {"ariadne", "leaf", "judge", "machine", "explore", "system", "record"},
	"testing": {},
}

// inside are the packages of which a row of folders does not say enough, with what of their own
// folder each may import. So a machine has floors, and a leaf imports no other.
var inside = map[string][]string{
	"internal/leaf/disk/disktest":   {"internal/leaf/disk"},
	"internal/leaf/debuginfo/stack": {"internal/leaf/debuginfo"},
	"internal/leaf/…":               {},
	"internal/machine/filetree":     {},
	"internal/machine/hostfiles":    {},
	"internal/machine/insn":         {},
	"internal/machine/processor":    {},
	"internal/machine/vdso":         {},
	"internal/machine/tracee":       {"internal/machine/processor"},
	"internal/machine/kernel/…":     {"internal/machine/filetree", "internal/machine/kernel/…"},
	"internal/machine/sys":          {"internal/machine/filetree", "internal/machine/kernel/…"},
	"internal/machine/sandbox": {"internal/machine/kernel/…", "internal/machine/processor",
		"internal/machine/sys"},
	"internal/machine/node/config":   {},
	"internal/machine/node/watchdog": {"internal/machine/tracee"},
	"internal/machine/node":          {"internal/machine/…"},
}

// TestFolders: packages import those alone that their folder may, and of their own folder those
// that are on floors below. A node depends on no search, and who judges on neither.
func TestFolders(t *testing.T) {
	for folder, allowed := range folders {
		for _, a := range allowed {
			if _, ok := folders[a]; a != "ariadne" && !ok {
				t.Errorf("folder %s may import %s, which is none", folder, a)
			} else if slices.Contains(folders[a], folder) {
				t.Errorf("folders %s and %s may import each other", folder, a)
			}
		}
	}
	seen := map[string]int{}
	out := run(t, "linux", slices.Values([]string{"internal/..."}), "list", "-json=ImportPath,Imports")
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p dependency
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		name, _ := local(p.ImportPath)
		folder := folderOf(name)
		allowed, ok := folders[folder]
		if !ok {
			t.Errorf("%s is in no folder", name)
			continue
		}
		seen[folder]++
		floor, bounded := floorOf(name)
		seen[floor]++
		for _, path := range p.Imports {
			path, own := local(path)
			switch {
			case !own:
			case folderOf(path) == folder:
				if bounded &&
					!slices.ContainsFunc(inside[floor], func(pattern string) bool { return matches(pattern, path) }) {
					t.Errorf("%s imports %s of its own folder", name, path)
				}
			case !slices.Contains(allowed, folderOf(path)):
				t.Errorf("%s imports %s, and folder %s may not import %s", name, path, folder, folderOf(path))
			}
		}
	}
	for folder := range folders {
		if seen[folder] == 0 {
			t.Errorf("nothing is in folder %s", folder)
		}
	}
	for floor := range inside {
		if seen[floor] == 0 {
			t.Errorf("nothing is on floor %s", floor)
		}
	}
}

// folderOf is the folder of a package: the part of its path behind internal. The root has its own.
func folderOf(name string) string {
	if below, ok := strings.CutPrefix(name, "internal/"); ok {
		name = below
	}
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

// floorOf is the row of inside that says most exactly what a package may import. ok: there is one.
func floorOf(name string) (floor string, ok bool) {
	for pattern := range inside {
		if matches(pattern, name) && len(pattern) > len(floor) {
			floor, ok = pattern, true
		}
	}
	return floor, ok
}

// mostFolders are as many as a folder of packages may have, so that a reader takes in a level at
// once.
const mostFolders = 10

// TestFoldersAreSmallAndSaid: each folder below internal with Go files in or below it has a package
// comment that says what is in it, and at most ten such folders.
func TestFoldersAreSmallAndSaid(t *testing.T) {
	inner, said := map[string]map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir("internal", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		said[dir] = said[dir] ||
			strings.HasPrefix(file.Doc.Text(), "Package "+strings.TrimSuffix(file.Name.Name, "_test")+" ")
		for dir != "internal" {
			parent := filepath.ToSlash(filepath.Dir(dir))
			if inner[parent] == nil {
				inner[parent] = map[string]bool{}
			}
			inner[parent][dir] = true
			dir = parent
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(inner["internal"]) == 0 {
		t.Fatal("no folder found")
	}
	for parent, dirs := range inner {
		if len(dirs) > mostFolders {
			t.Errorf("%s has %d folders: %v", parent, len(dirs), slices.Sorted(maps.Keys(dirs)))
		}
		for dir := range dirs {
			if !said[dir] {
				t.Errorf("%s has no package comment", dir)
			}
		}
	}
}

func matches(pattern, path string) bool {
	tree, ok := strings.CutSuffix(pattern, "/…")
	return path == tree || ok && strings.HasPrefix(path, tree+"/")
}

// TestPureElsewhere builds the pure packages and their tests for systems that have
// nothing of Linux. Once Go's own packages are built for these, that takes seconds.
func TestPureElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds Go's own packages for other systems")
	}
	commands := [][]string{{"build"}, {"vet"}}
	if os.Getenv("ARIADNE_LONG") != "" {
		commands = append(commands, []string{"test", "-c", "-o", os.DevNull})
	}
	for _, system := range []string{"darwin", "windows"} {
		for _, c := range commands {
			run(t, system, maps.Keys(pure), c...)
		}
	}
}

type dependency struct {
	ImportPath     string
	Standard       bool // of Go itself
	Module         *struct{ Main bool }
	Imports        []string
	IgnoredGoFiles []string
}

// dependencies are the pure packages and all that they depend on, on a system.
func dependencies(t *testing.T, system string) (all []dependency) {
	d := json.NewDecoder(bytes.NewReader(run(t, system, maps.Keys(pure), "list", "-deps",
		"-json=ImportPath,Standard,Module,Imports,IgnoredGoFiles")))
	for d.More() {
		var p dependency
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < len(pure) {
		t.Fatalf("%d dependencies of %d packages", len(all), len(pure))
	}
	return all
}

// run runs a command of the go tool on all pure packages, for a system.
func run(t *testing.T, system string, dirs iter.Seq[string], args ...string) []byte {
	for dir := range dirs {
		args = append(args, "./"+dir)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("GOOS=%s %s: %v\n%s", system, cmd, err, &stderr)
	}
	return out
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
			path, _ := strconv.Unquote(n.Path.Value)
			if path, _ = local(path); !slices.Contains(allowed, path) {
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

// TestToolsAreOutside: what Ariadne is made of does not need the tools that measure it.
func TestToolsAreOutside(t *testing.T) {
	for _, root := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range file.Imports {
				imported, _ := strconv.Unquote(i.Path.Value)
				if imported, own := local(imported); own && strings.HasPrefix(imported, "tools/") {
					t.Errorf("%s imports %s", path, imported)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
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
