package main

import (
	"bytes"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// widest is how many columns a line of prose may take. A tab takes tabWidth.
const widest, tabWidth = 100, 4

// columns is how many columns a line takes.
func columns(line string) int {
	return utf8.RuneCountInString(line) + (tabWidth-1)*strings.Count(line, "\t")
}

// wrapFile returns a file with wide comments, or paragraphs, wrapped. A long page gets a table of
// contents.
func wrapFile(path string, text []byte) ([]byte, error) {
	if filepath.Ext(path) == ".md" {
		return wrapMarkdown([]byte(withContents(string(text)))), nil
	}
	return wrapGo(text)
}

// syntax is what would mean something else at the beginning of a line: a list, a heading, a
// quotation, a table, a rule.
var syntax = regexp.MustCompile(`^([-+*#>|=~]|\d+[.)]|` + "```" + `)`)

// words are the words of a paragraph. A code span is one word, and so is a word with those behind
// it that may not begin a line.
func words(text string) (all []string) {
	open := false // a code span
	for _, w := range strings.Fields(text) {
		if open || len(all) > 0 && syntax.MatchString(w) {
			all[len(all)-1] += " " + w
		} else {
			all = append(all, w)
		}
		if strings.Count(w, "`")%2 == 1 {
			open = !open
		}
	}
	if open { // not a code span
		return strings.Fields(text)
	}
	return all
}

// fill returns the lines of a paragraph; first stands before the first one, and rest before the
// others.
func fill(first, rest, text string) (lines []string) {
	line, empty := first, true
	for _, w := range words(text) {
		switch {
		case empty:
			line += w
		case columns(line)+1+columns(w) > widest:
			lines = append(lines, line)
			line = rest + w
		default:
			line += " " + w
		}
		empty = false
	}
	return append(lines, line)
}

// anyWide reports whether a line is too wide.
func anyWide(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return columns(l) > widest })
}

// Lines of Markdown that are not, or do not only belong to, a paragraph.
var (
	fence    = regexp.MustCompile("^ *(```|~~~)")
	item     = regexp.MustCompile(`^( *)([-*+]|\d+[.)]) +`)
	verbatim = regexp.MustCompile(`^( {4,}|\t|\||#|<|>|\[[^\]]+\]:|!\[|\[!\[|---|===|: )`)
)

// paragraph is a range of lines of Markdown that may be wrapped together.
type paragraph struct {
	begin, end  int    // lines
	first, rest string // what stands before the first line, and before the others
}

// paragraphs are those of a document.
func paragraphs(lines []string) (all []paragraph) {
	fenced, inList := "", false
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if m := fence.FindStringSubmatch(l); m != nil {
			switch fenced {
			case "":
				fenced = m[1]
			case m[1]:
				fenced = ""
			}
			continue
		}
		m := item.FindString(l)
		if !inList && strings.HasPrefix(l, "    ") {
			m = "" // a line of code that looks like an item
		}
		switch {
		case fenced != "" || strings.TrimSpace(l) == "":
			continue
		case m == "" && verbatim.MatchString(l) &&
			!(inList && strings.HasPrefix(l, "    ") && i > 0 && lines[i-1] == ""):
			inList = inList && strings.HasPrefix(l, " ")
			continue
		case m == "" && inList && strings.HasPrefix(l, "    "):
			continue // a paragraph of an item, or code: nobody can tell
		}
		p := paragraph{begin: i, first: m}
		if m != "" {
			inList, p.rest = true, strings.Repeat(" ", len(m))
		} else {
			p.first = l[:len(l)-len(strings.TrimLeft(l, " "))]
			p.rest, inList = p.first, inList && p.first != ""
		}
		for i+1 < len(lines) && goesOn(lines[i+1], m != "") {
			i++
		}
		p.end = i + 1
		all = append(all, p)
	}
	return all
}

// goesOn reports whether a line belongs to the paragraph before it. An indented line belongs to an
// item.
func goesOn(l string, inItem bool) bool {
	if strings.TrimSpace(l) == "" || item.MatchString(l) || fence.MatchString(l) {
		return false
	}
	if inItem {
		l = strings.TrimLeft(l, " ")
	}
	return !verbatim.MatchString(l)
}

func wrapMarkdown(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	var out []string
	at := 0
	for _, p := range paragraphs(lines) {
		own := lines[p.begin:p.end]
		if !anyWide(own) ||
			slices.ContainsFunc(own, func(l string) bool {
				return strings.HasSuffix(l, "  ") || strings.HasSuffix(l, `\`)
			}) {
			continue // nothing to do, or lines that end where they end on purpose
		}
		out = append(out, lines[at:p.begin]...)
		joined := own[0][len(p.first):] + " " + strings.Join(own[1:], " ")
		out = append(out, fill(p.first, p.rest, joined)...)
		at = p.end
	}
	return []byte(strings.Join(append(out, lines[at:]...), "\n"))
}

// directive is a comment that a tool reads.
var directive = regexp.MustCompile(`^//([a-z0-9]+:[a-z0-9]|export |line |extern |\s*\+build|\s*nolint|\s*Output:|\s*Unordered output:|\s*want )`)

// errChanged says that wrapping would have changed more than the ends of lines.
var errChanged = errors.New("wrapping changes more than the ends of lines; the file is left as it is")

func wrapGo(text []byte) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	kept := map[*ast.CommentGroup]bool{} // as they are
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		if g.Tok == token.IMPORT {
			kept[g.Doc] = true // C's
		}
		for _, s := range g.Specs { // above a name a comment would be its doc comment
			if v, ok := s.(*ast.ValueSpec); ok && v.Names[0].IsExported() {
				kept[v.Comment] = true
			}
		}
	}
	lines := strings.Split(string(text), "\n")
	replaced := map[int][]string{} // by the index of a line; the lines are instead of it
	for _, g := range f.Comments {
		if kept[g] || slices.ContainsFunc(g.List, func(c *ast.Comment) bool {
			return !strings.HasPrefix(c.Text, "//") || strings.HasPrefix(c.Text, "// Output:")
		}) {
			continue
		}
		begin, end := fset.Position(g.Pos()).Line-1, fset.Position(g.End()).Line
		if p := fset.Position(g.Pos()); strings.TrimSpace(lines[begin][:p.Column-1]) != "" {
			if len(g.List) == 1 {
				moveAbove(lines, begin, p.Column-1, replaced)
			}
			continue
		}
		wrapComment(lines, begin, end, replaced)
	}
	if len(replaced) == 0 {
		return text, nil
	}
	var out []string
	for i, l := range lines {
		if r, ok := replaced[i]; ok {
			out = append(out, r...)
		} else {
			out = append(out, l)
		}
	}
	wrapped, err := format.Source([]byte(strings.Join(out, "\n")))
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(essence(wrapped), essence(text)) {
		return nil, errChanged
	}
	return wrapped, nil
}

// moveAbove replaces a line whose comment makes it too wide by the comment, and the line without
// it.
func moveAbove(lines []string, at, column int, replaced map[int][]string) {
	line := lines[at]
	code, comment := strings.TrimRight(line[:column], " \t"), line[column:]
	if columns(line) <= widest || directive.MatchString(comment) || strings.Trim(code, "})\t ,") == "" ||
		strings.HasPrefix(strings.TrimSpace(code), "}") {
		return
	}
	indent := code[:len(code)-len(strings.TrimLeft(code, "\t "))]
	replaced[at] = append(fill(indent+"// ", indent+"// ", strings.TrimPrefix(comment, "//")), code)
}

// wrapComment wraps the paragraphs of a comment that stands on lines of its own. An indented line,
// a list, a heading or a directive stays.
func wrapComment(lines []string, begin, end int, replaced map[int][]string) {
	for i := begin; i < end; {
		from := i
		for i < end && plain(lines[i]) {
			i++
		}
		if i == from {
			i++
			continue
		}
		own := lines[from:i]
		if !anyWide(own) {
			continue
		}
		indent := own[0][:strings.Index(own[0], "//")]
		var text strings.Builder
		for _, l := range own {
			text.WriteString(strings.TrimPrefix(strings.TrimSpace(l), "//") + " ")
		}
		replaced[from] = fill(indent+"// ", indent+"// ", text.String())
		for j := from + 1; j < i; j++ {
			replaced[j] = nil
		}
	}
}

// plain reports whether a line of a comment is one of a paragraph.
func plain(line string) bool {
	c := strings.TrimSpace(line)
	rest, ok := strings.CutPrefix(c, "// ")
	return ok && !directive.MatchString(c) && rest != "" && !strings.HasPrefix(rest, " ") &&
		!strings.HasPrefix(rest, "\t") && !syntax.MatchString(rest)
}

// essence is a file without what wrapping may change: its tokens, and the words of its comments.
func essence(text []byte) []byte {
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", -1, len(text)), text, nil, scanner.ScanComments)
	var code, comments bytes.Buffer
	for {
		_, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			code.WriteByte('\n')
			return append(code.Bytes(), comments.Bytes()...)
		case tok == token.COMMENT:
			comments.WriteString(strings.Join(strings.Fields(strings.TrimPrefix(lit, "//")), " ") + " ")
		case tok == token.SEMICOLON && lit == "\n":
			code.WriteString("; ")
		default:
			code.WriteString(tok.String() + " " + lit + " ")
		}
	}
}
