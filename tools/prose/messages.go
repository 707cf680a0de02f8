package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// messagesFile lists each text that the command line can print, for people to read.
const messagesFile = "tools/prose/testdata/messages.txt"

// speaking are the folders whose texts reach the user of the command line.
var speaking = []string{"cmd/ariadne", "internal/explore/search", "internal/judge", "internal/leaf/readfile", "internal/leaf/trace",
	"internal/leaf/disk", "internal/record", "internal/system", "internal/use"}

// speaks reports whether the texts of a file reach the user.
func speaks(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(path.Dir(file), "test") &&
		slices.ContainsFunc(speaking, func(dir string) bool { return strings.HasPrefix(file, dir+"/") })
}

// sayers are functions and methods that take a text for the user, by their last name.
var sayers = []string{"Errorf", "New", "Fprint", "Fprintf", "Fprintln", "Sprintf", "printf", "list", "say", "Note", "Doubt", "Bug",
	"Var", "VarP", "BoolVar", "BoolVarP", "StringVar", "StringSliceVar", "DurationVar", "Float64Var", "Uint64Var", "IntVar"}

// helpFields are the fields of a command that its help shows.
var helpFields = []string{"Use", "Short", "Long", "Doc", "Fault"}

// message is a text with the line at which it stands.
type message struct {
	text string
	line int
}

// messages are the texts in a file that the user may read. A text without a letter and a space is
// no sentence.
func messages(file string, source []byte) ([]message, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []message
	add := func(e ast.Expr) {
		if text, ok := literal(e); ok && strings.Contains(strings.TrimSpace(text), " ") {
			all = append(all, message{text, fset.Position(e.Pos()).Line})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if slices.Contains(sayers, calledName(n.Fun)) {
				for _, a := range n.Args {
					add(a)
				}
			}
		case *ast.KeyValueExpr:
			if k, ok := n.Key.(*ast.Ident); ok && slices.Contains(helpFields, k.Name) {
				add(n.Value)
			}
		}
		return true
	})
	return all, nil
}

// calledName is the last name of what is called.
func calledName(fun ast.Expr) string {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// literal is the text of a string, or of strings that are joined; what is no literal among them is
// "…".
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, a := literal(e.X)
		right, b := literal(e.Y)
		if e.Op == token.ADD && (a || b) {
			if !a {
				left = "…"
			}
			if !b {
				right = "…"
			}
			return left + right, true
		}
	}
	return "", false
}

// messagePage is the list of messages of files, by file, each in one line.
func messagePage(byFile map[string][]message) string {
	var files []string
	for file := range byFile {
		files = append(files, file)
	}
	slices.Sort(files)
	var b strings.Builder
	for _, file := range files {
		b.WriteString(file + "\n")
		var texts []string
		for _, m := range byFile[file] {
			texts = append(texts, "\t"+strings.Join(strings.Fields(m.text), " ")+"\n")
		}
		slices.Sort(texts)
		b.WriteString(strings.Join(slices.Compact(texts), ""))
	}
	return b.String()
}

// allMessages are those of the tree at the working directory.
func allMessages() (string, error) {
	byFile := map[string][]message{}
	err := files([]string{"."}, func(file string, text []byte) error {
		if !speaks(file) {
			return nil
		}
		found, err := messages(file, text)
		if len(found) > 0 {
			byFile[file] = found
		}
		return err
	})
	return messagePage(byFile), err
}
