// Command structure prints what the packages of a Go module are made of, to compare two states
// of a tree: files, lines, exported names, the largest type, and imports that run upwards.
//
//	go run ./tools/structure [DIR]
//
// Tests and testdata do not count. A type's size is its fields and methods. An import runs
// upwards when one of the packages that emulate a machine (below) imports one that does not.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/ariadne-mc/ariadne/tools/source"
)

// below are the folders of packages that emulate a machine, and the nouns at the root.
var below = []string{"", "internal/leaf", "internal/machine"}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	packages, err := survey(os.DirFS(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	write(packages)
}

// Package is one directory's Go files.
type Package struct {
	Dir     string
	Files   int
	Lines   int
	Names   int // exported, with methods of exported types
	Types   map[string]int
	Upwards []string
}

// largest is the type with the most fields and methods.
func (p *Package) largest() (name string, size int) {
	for n, s := range p.Types {
		if s > size || s == size && n < name {
			name, size = n, s
		}
	}
	return name, size
}

// survey reads all packages below the root, in the order of their directories.
func survey(root fs.FS) ([]*Package, error) {
	byDir := map[string]*Package{}
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	module := strings.TrimPrefix(first, "module ")
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." &&
			(d.Name() == "testdata" || d.Name() == "examples" || d.Name() == "ariadne-runs" ||
				strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		if dir == "." {
			dir = ""
		}
		p := byDir[dir]
		if p == nil {
			p = &Package{Dir: dir, Types: map[string]int{}}
			byDir[dir] = p
		}
		p.Files++
		p.Lines += strings.Count(string(text), "\n")
		p.add(module, f)
		return nil
	})
	var all []*Package
	for _, p := range byDir {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return all, err
}

// add counts a file's declarations, and its imports of the module.
func (p *Package) add(module string, f *ast.File) {
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		dir, own := strings.CutPrefix(path, module+"/")
		if own && within(p.Dir, below) && !within(dir, below) && !slices.Contains(p.Upwards, dir) {
			p.Upwards = append(p.Upwards, dir)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			receiver := source.Receiver(d)
			if receiver != "" {
				p.Types[receiver]++
			}
			if d.Name.IsExported() && (receiver == "" || ast.IsExported(receiver)) {
				p.Names++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						p.Names++
					}
					p.Types[s.Name.Name] += members(s.Type)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							p.Names++
						}
					}
				}
			}
		}
	}
}

// members counts the fields of a struct or the methods of an interface.
func members(t ast.Expr) (n int) {
	var list *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return 0
	}
	for _, f := range list.List {
		n += max(len(f.Names), 1)
	}
	return n
}

// within reports whether dir is one of dirs or below one.
func within(dir string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return dir == d || strings.HasPrefix(dir, d+"/") })
}

func write(all []*Package) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| package\t| files\t| lines\t| exported names\t| largest type\t| imports upwards\t|")
	fmt.Fprintln(w, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	var sum Package
	for _, p := range all {
		dir := p.Dir
		if dir == "" {
			dir = "(root)"
		}
		name, size := p.largest()
		largest := "-"
		if size > 0 {
			largest = fmt.Sprintf("`%s` %d", name, size)
		}
		upwards := "-"
		if len(p.Upwards) > 0 {
			upwards = "`" + strings.Join(p.Upwards, "`, `") + "`"
		}
		fmt.Fprintf(w, "| `%s`\t| %d\t| %d\t| %d\t| %s\t| %s\t|\n", dir, p.Files, p.Lines, p.Names, largest, upwards)
		sum.Files, sum.Lines, sum.Names = sum.Files+p.Files, sum.Lines+p.Lines, sum.Names+p.Names
	}
	fmt.Fprintf(w, "| all %d\t| %d\t| %d\t| %d\t|\t|\t|\n", len(all), sum.Files, sum.Lines, sum.Names)
	w.Flush()
}
