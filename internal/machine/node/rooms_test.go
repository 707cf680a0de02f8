//go:build linux

package node

import (
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

// rooms are the types of which only some files use the fields, and fields of larger ones. All
// others ask by methods. What stands in no room is in common.
var rooms = map[string][]string{
	"effort":      {"effort.go", "loop.go"},
	"scheduling":  {"turns.go"},
	"pace":        {"clock.go", "settle.go"},
	"asking":      {"polling.go"},
	"polling":     {"polling.go"},
	"clockReads":  {"reads.go"},
	"learnt":      {"asked.go", "seen.go", "used.go"},
	"fate":        {"after.go", "disk.go", "down.go", "effort.go", "power.go"},
	"lossPoint":   {"down.go", "power.go"},
	"otherwise":   {"power.go"},
	"loss":        {"power.go"},
	"commands":    {"boot.go"},
	"quiet":       {"calm.go"},
	"exposing":    {"growth.go", "look.go", "serve.go"},
	"growth":      {"growth.go"},
	"trend":       {"growth.go"},
	"mappedFiles": {"mapped.go"},
	"offset":      {"files.go"},
	"place":       {"busy.go", "files.go", "seen.go"},
	"diskView":    {"disk.go"},
	"held":        {"disk.go"},
	"drift":       {"drift.go"},
	"stream":      {"digest.go"},
	"memoryHash":  {"digest.go"},
	"layout":      {"backing.go"},
	"paging":      {"inplace.go", "paging.go"},
	"forks":       {"checkpoint.go", "inplace.go", "paging.go"},
	"ways":        {"vary.go"},
	"probing":     {"look.go", "probe.go"},
	"probed":      {"probe.go"},
	"sought":      {"sought.go"},
	"hostView":    {"asked.go", "seen.go"},

	"hostView.sought":  {"sought.go"},
	"hostView.root":    {"asked.go", "busy.go", "disk.go", "files.go", "home.go", "look.go", "process.go", "seen.go", "sought.go"},
	"versions.offsets": {"files.go"},
	"versions.shared":  {"shared.go"},
	"versions.orphans": {"shared.go"},
	"versions.files":   {"disk.go", "down.go", "files.go", "inspect.go", "power.go"},
	"state.lost":       {"kill.go"},
	"state.polled":     {"apply.go", "down.go", "polling.go"},
	"state.disk":       {"asked.go", "disk.go", "down.go", "power.go"},
	"setup.outages":    {"apply.go", "down.go"},
	"setup.ahead":      {"node.go", "power.go"},
	"setup.failing":    {"apply.go", "call.go", "image.go", "vary.go"},
	"setup.functions":  {"apply.go", "breakpoints.go", "function.go"},
	"setup.probing":    {"apply.go", "breakpoints.go", "look.go", "probe.go"},
	"setup.stalls":     {"apply.go", "vary.go"},
	"setup.joins":      {"apply.go", "process.go"},
	"home.area":        {"home.go", "image.go"},
	"home.areaFD":      {"home.go", "image.go"},
	"home.disk":        {"disk.go"},
	"home.following":   {"inplace.go"},
	"following":        {"inplace.go"},
	"home.spaces":      {"home.go", "process.go"},
	"home.told":        {"apply.go", "asked.go"},
	"home.used":        {"attributes.go", "clock.go", "home.go", "machine.go"},
	"Node.held":        {"mapped.go"},
	"Node.layout":      {"backing.go", "call.go", "inplace.go", "machine.go"},
	"Node.reads":       {"clock.go", "reads.go"},
	"Node.debugging":   {"inspect.go", "loop.go", "process.go", "steppable.go"},
	"debugging":        {"debug.go", "steppable.go"},
	"Node.paging":      {"apply.go", "breakpoints.go", "call.go", "checkpoint.go", "files.go", "inplace.go", "machine.go", "paging.go", "process.go"},
}

// common are fields that any file may use, by type.
var common = map[string][]string{
	"Node":  {"home", "setup", "state", "step", "threads", "watch"},
	"setup": {"cfg"},
	"state": {"k", "commands", "exposing", "quiet", "versions"},
	"step": {"asking", "course", "cut", "diverged", "effort", "fate", "learnt", "memory", "pace", "scheduling", "stream",
		"trace", "unreplayable"},
	"home": {"clock", "shows", "tree", "treeFD", "users", "view"},
}

// TestRooms: each field of a node, its state, its steps and what its copies share is in a room,
// which the files of the room alone use, or is said to be in common.
func TestRooms(t *testing.T) {
	fset, files, pkg, info := checked(t)
	room := map[types.Object]string{}
	for _, name := range pkg.Scope().Names() {
		s, ok := pkg.Scope().Lookup(name).Type().Underlying().(*types.Struct)
		if !ok {
			continue
		}
		for i := range s.NumFields() {
			of := name + "." + s.Field(i).Name()
			if rooms[of] == nil && rooms[name] != nil {
				of = name
			}
			switch {
			case rooms[of] != nil:
				room[s.Field(i)] = of
			case common[name] == nil:
			case !slices.Contains(common[name], s.Field(i).Name()):
				t.Errorf("%s is in no room, nor is it said to be in common", of)
			}
		}
	}
	used, outside := map[string]map[string]bool{}, map[string]bool{}
	for id, o := range info.Uses {
		of := room[o]
		if of == "" {
			continue
		}
		file := filepath.Base(fset.Position(id.Pos()).Filename)
		if used[of] == nil {
			used[of] = map[string]bool{}
		}
		used[of][file] = true
		if complaint := file + " uses " + o.Name() + " of " + of; !slices.Contains(rooms[of], file) && !outside[complaint] {
			outside[complaint] = true
			t.Error(complaint + ", which is not its")
		}
	}
	for of, list := range rooms {
		for _, file := range list {
			if !used[of][file] {
				t.Errorf("%s may use %s and does not", file, of)
			}
		}
		if len(list) > len(files)/4 {
			t.Errorf("%s is used by %d files: it is no room", of, len(list))
		}
	}
}

// checked is this package as the type checker sees it, without its tests.
func checked(t *testing.T) (*token.FileSet, []*ast.File, *types.Package, *types.Info) {
	t.Helper()
	fset, open := token.NewFileSet(), exports(t, ".")
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	files, pkg := check(t, fset, importer.ForCompiler(fset, "gc", open), "node", names, info)
	return fset, files, pkg, info
}

// check has the type checker look at a package.
func check(t *testing.T, fset *token.FileSet, from types.Importer, path string, names []string, info *types.Info) (files []*ast.File, pkg *types.Package) {
	t.Helper()
	for _, name := range names {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	c := types.Config{Importer: from}
	pkg, err := c.Check(path, fset, files, info)
	if err != nil {
		t.Fatal(err)
	}
	return files, pkg
}

// exports opens what the compiler says of packages that some others need.
func exports(t *testing.T, of ...string) func(path string) (io.ReadCloser, error) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, of...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 2 {
			files[f[0]] = f[1]
		}
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}
