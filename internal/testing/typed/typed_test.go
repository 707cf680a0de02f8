package typed

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

// TestLoad reads a package that imports one of its own module, and one of its folder's, which has
// no code besides tests.
func TestLoad(t *testing.T) {
	all, err := Load("../draws", "../guest")
	if err != nil {
		t.Fatal(err)
	}
	if len(all.All) != 1 {
		t.Fatalf("%d packages", len(all.All))
	}
	p := all.All[0]
	if p.Types.Name() != "draws" || len(p.Files) != 1 || p.File(p.Files[0].Pos()) != "draws.go" {
		t.Errorf("%v has %d files", p.Types, len(p.Files))
	}
	used := map[string]bool{}
	for id, o := range p.Info.Uses {
		if o.Pkg() != nil {
			used[o.Pkg().Path()+"."+id.Name] = true
		}
	}
	if !used["os.Getenv"] || !used["flag.Set"] {
		t.Errorf("it uses %v", used)
	}
	os, err := all.Import("os")
	if err != nil {
		t.Fatal(err)
	}
	for id, o := range p.Info.Uses {
		if id.Name == "Getenv" && o != os.Scope().Lookup("Getenv") {
			t.Error("a function has two objects")
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := Load("./none"); err == nil {
		t.Error("a package that is not there was read")
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "bad.go", "package bad\nvar x int = \"\"\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Check("bad", fset, []*ast.File{f}, types.Importer(nil)); err == nil {
		t.Error("a wrong type was taken")
	}
}
