package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
)

// packages are the Go files of a tree by folder and package.
type packages struct {
	fset  *token.FileSet
	files map[string][]*ast.File
}

func newPackages() *packages { return &packages{token.NewFileSet(), map[string][]*ast.File{}} }

// add adds a file.
func (p *packages) add(file string, text []byte) error {
	f, err := parser.ParseFile(p.fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	key := path.Dir(file) + " " + f.Name.Name
	p.files[key] = append(p.files[key], f)
	return nil
}

// strays are the doc comments that begin with the name of something else that their package
// declares. Such a comment is left when a declaration was renamed, or when another one slipped
// between it and its comment.
func (p *packages) strays() (all []finding) {
	for _, files := range p.files {
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
				if first, ok := d.strays(declared); ok {
					at := p.fset.Position(d.doc.Pos())
					all = append(all,
						finding{"stray", at.Filename, at.Line,
							fmt.Sprintf("the comment on %s begins with %s", d.names[0], first)})
				}
			}
		}
	}
	return all
}

// strays reports whether the doc comment of a declaration begins with another name, and which.
func (d *declaration) strays(declared map[string]bool) (first string, ok bool) {
	text := d.doc.Text()
	m := leading.FindStringSubmatch(text)
	if m == nil || !isName(m[1], text, declared[m[1]]) {
		return "", false
	}
	for _, n := range d.names {
		if n == m[1] || n == m[2] {
			return "", false
		}
	}
	return m[0], true
}

// leading finds an identifier with which a comment begins: "Foo ", "Foo.Bar ".
var leading = regexp.MustCompile(`^([A-Za-z_][A-Za-z_0-9]*)(?:\.([A-Za-z_][A-Za-z_0-9]*))?\b`)

// verbs follow a name at the beginning of a doc comment, and no other noun there.
var verbs = regexp.MustCompile(`^[A-Za-z_.0-9]+(, | and [A-Za-z]+)* (is|are|returns|reports|has|holds|says|makes|gives|takes|sets|adds|runs|reads|writes|implements|stands|does|ends|tells)\b`)

// mixed is a word as only a Go program writes it.
var mixed = regexp.MustCompile(`^[A-Za-z]*[a-z][A-Z][a-z]`)

// isName reports whether the first word of a comment is meant as a name. Of a declared word there
// are two signs: no English word is written so, or a verb follows it. An undeclared word needs
// both.
func isName(first, text string, declared bool) bool {
	named, verb := mixed.MatchString(first), verbs.MatchString(text)
	return named && verb || declared && (named || verb)
}
