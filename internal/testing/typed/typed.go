// Package typed has packages of this module with the types of all that is in their files, for tests
// that hold how the code is built: floors, rooms, kinds of objects.
package typed

import (
	"encoding/json"
	"errors"
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
	"strings"
)

// Package is a package without its tests.
type Package struct {
	Fset  *token.FileSet
	Files []*ast.File
	Types *types.Package
	Info  *types.Info // of what is used
}

// Packages are some packages, and what all that they import exports.
type Packages struct {
	types.Importer
	All []*Package // in order of their paths
}

// Load reads the packages that patterns of the go command name. Each is checked against what the
// compiler says of those that it imports, so a type has one value wherever it is imported.
func Load(patterns ...string) (*Packages, error) {
	cmd := exec.Command("go",
		append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,DepOnly"}, patterns...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, &stderr)
	}
	type listed struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var wanted []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && len(p.GoFiles) > 0 {
			wanted = append(wanted, p)
		}
	}
	fset := token.NewFileSet()
	all := &Packages{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	for _, w := range wanted {
		var files []*ast.File
		for _, name := range w.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(w.Dir, name), nil, 0)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
		p, err := Check(w.ImportPath, fset, files, all)
		if err != nil {
			return nil, err
		}
		all.All = append(all.All, p)
	}
	return all, nil
}

// Check is the package of these files.
func Check(path string, fset *token.FileSet, files []*ast.File, from types.Importer) (*Package, error) {
	p := &Package{Fset: fset, Files: files, Info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	var err error
	p.Types, err = (&types.Config{Importer: from}).Check(path, fset, files, p.Info)
	return p, err
}

// File is the name of the file of a position, without its folder.
func (p *Package) File(at token.Pos) string { return filepath.Base(p.Fset.Position(at).Filename) }
