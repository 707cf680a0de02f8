package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// messagesFile lists each text that the command line can print, for people to read.
const messagesFile = "tools/prose/testdata/messages.txt"

// speaking are the folders whose texts reach the user of the command line.
var speaking = []string{"cmd/ariadne", "internal/explore/search", "internal/explore/steer", "internal/judge",
	"internal/leaf/readfile", "internal/leaf/trace",
	"internal/leaf/disk", "internal/record", "internal/system", "internal/use"}

// speaks reports whether the texts of a file reach the user.
func speaks(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") &&
		!strings.HasSuffix(path.Dir(file), "test") &&
		slices.ContainsFunc(speaking, func(dir string) bool { return strings.HasPrefix(file, dir+"/") })
}

// message is a text with the line at which it stands.
type message struct {
	text string
	line int
}

// wordOf finds the words of a text.
var wordOf = regexp.MustCompile(`[A-Za-z]{2,}`)

// isMessage reports whether a person reads a text as words: it has two of them, and a space.
func isMessage(text string) bool {
	return strings.Contains(strings.TrimSpace(text), " ") && len(wordOf.FindAllString(text, 2)) == 2
}

// messages are the texts in a file that the user may read: all strings, but for tags of fields and
// regular expressions.
func messages(file string, source []byte) ([]message, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []message
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.CallExpr:
			if name := calledName(n.Fun); name == "MustCompile" {
				return false
			}
		case *ast.BasicLit, *ast.BinaryExpr:
			text, ok := literal(n.(ast.Expr))
			if ok && isMessage(text) {
				all = append(all, message{text, fset.Position(n.Pos()).Line})
			}
			return !ok
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

// unread stands before a message in the list until a person has read it in its place in the source:
// does it say what happened, where, and what to do, in plain English? The reader then removes the
// mark.
const unread = "? "

// messagePage is the list of messages of files, by file, each in one line. A message that the old
// list does not have at its file is marked as unread.
func messagePage(byFile map[string][]message, old string) string {
	known := knownMessages(old)
	var b strings.Builder
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		b.WriteString(file + "\n")
		var texts []string
		for _, m := range byFile[file] {
			texts = append(texts, strings.Join(strings.Fields(m.text), " "))
		}
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			if !known[file][text] {
				text = unread + text
			}
			b.WriteString("\t" + text + "\n")
		}
	}
	return b.String()
}

// knownMessages are the messages of a list that are not marked as unread, by file.
func knownMessages(list string) map[string]map[string]bool {
	known, file := map[string]map[string]bool{}, ""
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		text, indented := strings.CutPrefix(line, "\t")
		switch {
		case !indented:
			file = line
			known[file] = map[string]bool{}
		case !strings.HasPrefix(text, unread):
			known[file][text] = true
		}
	}
	return known
}

// allMessages is the list of those of the tree at the working directory, with the marks of the list
// that is there.
func allMessages() (string, error) {
	old, err := os.ReadFile(messagesFile)
	if err != nil {
		return "", err
	}
	byFile := map[string][]message{}
	err = files([]string{"."}, func(file string, text []byte) error {
		if !speaks(file) {
			return nil
		}
		found, err := messages(file, text)
		if len(found) > 0 {
			byFile[file] = found
		}
		return err
	})
	return messagePage(byFile, string(old)), err
}
