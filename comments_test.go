package ariadne_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// name finds an identifier with which a comment begins: "Foo ", "Foo.Bar ".
var name = regexp.MustCompile(`^([A-Za-z_][A-Za-z_0-9]*)(?:\.([A-Za-z_][A-Za-z_0-9]*))?\b`)

// declaration is what a doc comment stands on.
type declaration struct {
	doc   *ast.CommentGroup
	names []string // one, or those of a group
}

// declarations are those of a file, at its top.
func declarations(file *ast.File) (all []declaration) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, declaration{d.Doc, []string{d.Name.Name}})
		case *ast.GenDecl:
			var group []string
			for _, s := range d.Specs {
				var names []string
				var doc *ast.CommentGroup
				switch s := s.(type) {
				case *ast.TypeSpec:
					names, doc = []string{s.Name.Name}, s.Doc
				case *ast.ValueSpec:
					doc = s.Doc
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
				all = append(all, declaration{doc, names})
				group = append(group, names...)
			}
			all = append(all, declaration{d.Doc, group})
		}
	}
	return all
}

// strays are the doc comments of a package's files that begin with the name of something
// else that the package declares: what is left when a declaration was renamed, or another
// one slipped between it and its comment.
func strays(fset *token.FileSet, files []*ast.File) (all []string) {
	declared := map[string]bool{}
	for _, f := range files {
		for _, d := range declarations(f) {
			for _, n := range d.names {
				declared[n] = true
			}
		}
	}
	for _, f := range files {
		for _, d := range declarations(f) {
			if d.doc == nil || len(d.names) == 0 {
				continue
			}
			text := d.doc.Text()
			m := name.FindStringSubmatch(text)
			if m == nil || !identifier(m[1], text, declared[m[1]]) {
				continue
			}
			found := false
			for _, n := range d.names {
				found = found || n == m[1] || n == m[2]
			}
			if !found {
				all = append(all, fmt.Sprintf("%s: the comment on %s begins with %s", fset.Position(d.doc.Pos()), d.names[0], m[0]))
			}
		}
	}
	return all
}

// words follow a name at the beginning of a doc comment, and no other noun there.
var words = regexp.MustCompile(`^[A-Za-z_.0-9]+(, | and [A-Za-z]+)* (is|are|returns|reports|has|holds|says|makes|gives|takes|sets|adds|runs|reads|writes|implements|stands|does|ends|tells)\b`)

// camel is what only a Go program writes so.
var camel = regexp.MustCompile(`^[A-Za-z]*[a-z][A-Z][a-z]`)

// identifier reports whether the first word of a comment is meant as a name: of what is
// declared there are two signs, it is written as no English word is, or a verb follows;
// what is not declared needs both.
func identifier(first, text string, declared bool) bool {
	named, verb := camel.MatchString(first), words.MatchString(text)
	return named && verb || declared && (named || verb)
}

// TestDocComments: a doc comment that begins with a name begins with that of what it
// stands on.
func TestDocComments(t *testing.T) {
	byDir := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "ariadne-runs"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path) + " " + f.Name.Name
		byDir[dir] = append(byDir[dir], f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range byDir {
		for _, s := range strays(fset, files) {
			t.Error(s)
		}
	}
}

// TestStrays: the lint finds what it should, and nothing else.
func TestStrays(t *testing.T) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "a.go", `package a

// newThing returns a thing.
func makeThing() {}

func newThing() {}

// thing is one.
type other struct{}

type thing struct{}

// Things that are there, in a list.
var things, Things []thing

// The names of things.
const (
	// first is the first.
	first = iota
	second // first is before it
)

// other things may be stopped.
func stop() {}
`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	got := strays(fset, []*ast.File{f})
	if len(got) != 2 || !strings.Contains(got[0], "makeThing begins with newThing") || !strings.Contains(got[1], "other begins with thing") {
		t.Errorf("found %q", got)
	}
}
