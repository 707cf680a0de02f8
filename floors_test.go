package ariadne_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// floors are packages of many files that have an order inside: the functions of a file use
// functions and variables of their own floor and of those below alone. The lowest floor comes
// first. All files stand in it once. Types and their fields are everywhere: the state of a node is
// one value, which is made of parts from all floors.
var floors = map[string][]floor{
	"internal/machine/node": {
		{"the node's state, and what a step counts", "node state effort weigh digest program after polling clock home killed"},
		{"memory and calls of real threads", "machine backing fork_advice paging attributes"},
		{"files, and copies of the node", "files mapped shared checkpoint inplace"},
		{"what a node has seen of the host, its disks and its programs", "asked disk seen sought used site reads busy breakpoints locks probe"},
		{"processes, signals, and the end of a call", "image result signal debug process"},
		{"faults", "drift kill jump power down"},
		{"which thread runs, and what becomes of its stop", "call seccomp loop settle turns vary function"},
		{"the end of a step", "growth ready serve calm boot look output helper"},
		{"the node for others", "apply encode export inspect steppable"},
	},
}

type floor struct {
	name  string
	files string // without ".go"
}

// TestFloors: no function of a package in floors uses one of a floor above its own.
func TestFloors(t *testing.T) {
	for dir, table := range floors {
		t.Run(dir, func(t *testing.T) {
			for _, c := range upwards(t, load(t, dir), table) {
				t.Error(c)
			}
		})
	}
}

// source is a package with the types of all that is in it.
type source struct {
	fset  *token.FileSet
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// load reads the package in a folder, without its tests. The go command has the types of the
// packages that it imports.
func load(t *testing.T, dir string) *source {
	t.Helper()
	list, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./"+dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		path, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		exports[path] = file
	}
	s := &source{fset: token.NewFileSet()}
	for _, file := range sources(t, dir) {
		f, err := parser.ParseFile(s.fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	s.check(t, importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }))
	return s
}

func (s *source) check(t *testing.T, i types.Importer) {
	t.Helper()
	s.info = &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var err error
	if s.pkg, err = (&types.Config{Importer: i}).Check("p", s.fset, s.files, s.info); err != nil {
		t.Fatal(err)
	}
}

func (s *source) fileOf(p token.Pos) string {
	return strings.TrimSuffix(filepath.Base(s.fset.Position(p).Filename), ".go")
}

// upwards says which functions use what stands on a floor above theirs, and which files stand on no
// floor, or on several.
func upwards(t *testing.T, s *source, table []floor) (complaints []string) {
	t.Helper()
	at := map[string]int{}
	for i, f := range table {
		for _, file := range strings.Fields(f.files) {
			if _, twice := at[file]; twice {
				complaints = append(complaints, file+".go stands on two floors")
			}
			at[file] = i
		}
	}
	standing := map[string]bool{}
	for _, f := range s.files {
		name := s.fileOf(f.Pos())
		standing[name] = true
		if _, ok := at[name]; !ok {
			complaints = append(complaints, name+".go stands on no floor")
		}
	}
	for file := range at {
		if !standing[file] {
			complaints = append(complaints, file+".go stands on a floor, and is no file")
		}
	}
	for id, o := range s.info.Uses {
		from, to := s.fileOf(id.Pos()), s.fileOf(o.Pos())
		if hasBody(s.pkg, o) && standing[to] && at[to] > at[from] {
			complaints = append(complaints, fmt.Sprintf("%v: %s.go (%s) uses %s of %s.go (%s), which is above it", s.fset.Position(id.Pos()), from, table[at[from]].name, o.Name(), to, table[at[to]].name))
		}
	}
	slices.Sort(complaints)
	return complaints
}

// hasBody reports whether an object is a function or method of the package that does something, or
// one of its variables.
func hasBody(pkg *types.Package, o types.Object) bool {
	switch o := o.(type) {
	case *types.Func:
		r := o.Signature().Recv()
		return o.Pkg() == pkg && (r == nil || !types.IsInterface(r.Type()))
	case *types.Var:
		return o.Parent() == pkg.Scope()
	}
	return false
}

// TestUpwards: uses of what is above are found, of functions, of methods and of variables.
func TestUpwards(t *testing.T) {
	s := &source{fset: token.NewFileSet()}
	for _, f := range []struct{ name, text string }{
		{"low.go", "package p\ntype low struct{ high }\nfunc (l *low) up() int { return l.method() + function() + variable + l.field }\nfunc (l *low) down() {}\n"},
		{"high.go", "package p\ntype high struct{ field int }\nfunc (h *high) method() int { (&low{}).down(); return 1 }\nfunc function() int { return 2 }\nvar variable int\n"},
		{"lost.go", "package p\n"},
	} {
		file, err := parser.ParseFile(s.fset, f.name, f.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, file)
	}
	s.check(t, nil)
	got := upwards(t, s, []floor{{"below", "low"}, {"above", "high gone"}})
	want := []string{
		"gone.go stands on a floor, and is no file",
		"lost.go stands on no floor",
		"low.go:3:35: low.go (below) uses method of high.go (above), which is above it",
		"low.go:3:46: low.go (below) uses function of high.go (above), which is above it",
		"low.go:3:59: low.go (below) uses variable of high.go (above), which is above it",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := upwards(t, s, []floor{{"all", "low high lost"}, {"again", "low"}}); !slices.Contains(got, "low.go stands on two floors") {
		t.Errorf("%q", got)
	}
}
