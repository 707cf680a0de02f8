package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/source"
)

// finding is one defect, on a line of a file.
type finding struct {
	kind string // width, code, name, headless, rename, stray, word, long
	path string
	line int
	text string
}

func (f finding) String() string { return fmt.Sprintf("%s:%d: %s: %s", f.path, f.line, f.kind, f.text) }

// lint returns what is wrong with a file.
func lint(path string, text []byte) ([]finding, error) {
	if strings.HasSuffix(path, ".md") {
		return lintMarkdown(path, string(text)), nil
	}
	return lintGo(path, text)
}

// lintMarkdown finds wide lines of paragraphs, and avoided words.
func lintMarkdown(path, text string) (all []finding) {
	lines := strings.Split(text, "\n")
	for _, p := range paragraphs(lines) {
		for i := p.begin; i < p.end; i++ {
			if wideProse(lines[i]) {
				all = append(all, finding{"width", path, i + 1, fmt.Sprintf("%d columns", columns(lines[i]))})
			}
		}
		text := strings.Join(lines[p.begin:p.end], "\n")
		for _, w := range Avoided(text) {
			all = append(all, finding{"word", path, p.begin + 1, w})
		}
		for _, s := range longSentences(text) {
			all = append(all, finding{"long", path, p.begin + 1, s})
		}
	}
	return all
}

// wideProse reports whether a line is too wide and could be narrower: it is more than one long
// word.
func wideProse(line string) bool {
	return columns(line) > widest && len(words(strings.TrimSpace(strings.TrimLeft(line, "\t /*-")))) > 1
}

// avoided are words that a document of this project does not use; see CONTRIBUTING.md.
var avoided = regexp.MustCompile(`(?i)\b(befalls?|befallen|befell|unheeded|spared|calm|conceal(s|ed)?|kin|lends?|lent|lending|borrow(s|ed|ing)?|` +
	`astray|laid to|com(e|es|ing) to a stand|came to a stand|parts the network|of which each|anew|mend(s|ed)?|outlasts?|all that)\b`)

// headless is a sentence that begins with a pronoun in the place of a noun, and asks nothing.
var headless = regexp.MustCompile(`(^|[.!?:]\s+|\n\s*\n)((What|Who|Whatever|Whoever|Which)\s[^.?!]*[.!])`)

// headlessSentences are how the headless sentences of a text begin, but for those that begin with
// the name on which the text stands.
func headlessSentences(text, name string) (all []string) {
	for _, m := range headless.FindAllStringSubmatch(text, -1) {
		if words := strings.Fields(m[2]); words[0] != name {
			all = append(all, strings.Join(words[:2], " "))
		}
	}
	return all
}

// Avoided returns the avoided words and headless sentences of a text.
func Avoided(text string) (all []string) {
	for _, w := range avoided.FindAllString(codeSpan.ReplaceAllString(text, "`"), -1) {
		all = append(all, strconv.Quote(w))
	}
	for _, begin := range headlessSentences(text, "") {
		all = append(all, fmt.Sprintf("a sentence that begins with %q", begin))
	}
	return all
}

// codeSpan is what is quoted from a spec or a program.
var codeSpan = regexp.MustCompile("`[^`]*`")

// lintGo finds wide lines of comments and of code, and doc comments that do not begin with a name
// or that a rename has damaged, and avoided words in what the command line prints.
func lintGo(file string, text []byte) (all []finding, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	add := func(kind string, pos token.Pos, format string, args ...any) {
		all = append(all, finding{kind, file, fset.Position(pos).Line, fmt.Sprintf(format, args...)})
	}
	lines := strings.Split(string(text), "\n")
	for _, g := range f.Comments {
		for _, c := range g.List {
			line := lines[fset.Position(c.Pos()).Line-1]
			if strings.HasPrefix(c.Text, "//") && !directive.MatchString(c.Text) && wideProse(line) {
				add("width", c.Pos(), "%d columns", columns(line))
			}
		}
	}
	for _, line := range wideCode(fset, f, lines) {
		all = append(all, finding{"code", file, line, fmt.Sprintf("%d columns", columns(lines[line-1]))})
	}
	for _, doc := range docComments(f) {
		for _, begin := range headlessSentences(doc.text.Text(), doc.name) {
			add("headless", doc.text.Pos(), "a sentence that begins with %q", begin)
		}
	}
	for _, d := range declarations(f) {
		if doc := d.doc.Text(); doc != "" && len(d.names) == 1 {
			name := d.names[0]
			if !slices.Contains(nameless, name) && !begins(doc, name) {
				add("name", d.doc.Pos(), "the comment on %s begins with %q", name, firstWord(doc))
			}
			if damage := renamed(doc, name, d.receiver); damage != "" {
				add("rename", d.doc.Pos(), "the comment on %s: %s", name, damage)
			}
		}
	}
	if !speaks(file) {
		return all, nil
	}
	said, err := messages(file, text)
	for _, m := range said {
		for _, w := range Avoided(m.text) {
			all = append(all, finding{"word", file, m.line, w})
		}
	}
	return all, err
}

// widestCode is how many columns a line of code may take, and longText how many of them a text may
// have that cannot be divided.
const widestCode, longText = 120, 60

// wideCode lists the lines of code that are too wide and could be narrower. A line that has a long
// text, or is a part of one, is as wide as it must be. A comment at its end does not count.
func wideCode(fset *token.FileSet, f *ast.File, lines []string) (all []int) {
	width := func(line string) int { return columns(strings.TrimRight(line, " \t")) }
	widths := make([]int, len(lines))
	for i, line := range lines {
		widths[i] = width(line)
	}
	for _, g := range f.Comments {
		for _, c := range g.List {
			begin, end := fset.Position(c.Pos()), fset.Position(c.End())
			widths[begin.Line-1] = width(lines[begin.Line-1][:begin.Column-1])
			for line := begin.Line; line < end.Line; line++ {
				widths[line] = 0
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && len(l.Value) > longText {
			for line := fset.Position(l.Pos()).Line; line <= fset.Position(l.End()).Line; line++ {
				widths[line-1] = 0
			}
		}
		return true
	})
	for i, w := range widths {
		if w > widestCode {
			all = append(all, i+1)
		}
	}
	return all
}

// declaration is what a doc comment stands on: a name, or those of a group.
type declaration struct {
	doc      *ast.CommentGroup // or nil
	names    []string
	receiver string // type of a method's, or ""
}

// declarations are those at the top of a file.
func declarations(f *ast.File) (all []declaration) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all = append(all, declaration{d.Doc, []string{d.Name.Name}, source.Receiver(d)})
		case *ast.GenDecl:
			var group []string
			for _, s := range d.Specs {
				names, doc := specNames(s)
				if len(names) == 0 {
					continue
				}
				if doc == nil && len(d.Specs) == 1 {
					doc = d.Doc
				}
				all = append(all, declaration{doc, names, ""})
				group = append(group, names...)
			}
			if len(d.Specs) > 1 && len(group) > 0 {
				all = append(all, declaration{d.Doc, group, ""})
			}
		}
	}
	return all
}

// docComment is a doc comment, and the name on which it stands, or "".
type docComment struct {
	text *ast.CommentGroup
	name string
}

// docComments are those of the package, of its declarations, and of fields and methods of types.
func docComments(f *ast.File) (all []docComment) {
	all = append(all, docComment{f.Doc, ""})
	for _, d := range declarations(f) {
		all = append(all, docComment{d.doc, d.names[0]})
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && len(field.Names) > 0 {
			all = append(all, docComment{field.Doc, field.Names[0].Name})
		}
		return true
	})
	return slices.DeleteFunc(all, func(c docComment) bool { return c.text == nil })
}

// specNames are the names that a part of a declaration declares, and its own doc comment.
func specNames(s ast.Spec) (names []string, doc *ast.CommentGroup) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return []string{s.Name.Name}, s.Doc
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
		return names, s.Doc
	}
	return nil, nil
}

// nameless are declarations whose comment is about something else: what they register or assert.
var nameless = []string{"_", "init"}

// firstWord is the first word of a comment, without what is not part of a name.
func firstWord(doc string) string {
	fields := strings.Fields(doc)
	if len(fields) == 0 {
		return ""
	}
	return strings.Trim(fields[0], ",.:;'\"`()")
}

// begins reports whether a comment begins with a name, or with an article and the name. Two
// declarations may share a comment: "A and B are ...", "A, B and C are ...".
func begins(doc, name string) bool {
	fields := strings.Fields(doc)
	for i, w := range fields {
		w, _, _ = strings.Cut(strings.Trim(w, ",.:;'\"`()"), "(") // name(parameters) is a name, too
		switch {
		case w == name || strings.TrimSuffix(w, "'s") == name || strings.HasSuffix(w, "."+name):
			return true
		case i == 0 && slices.Contains([]string{"A", "An", "The", "Deprecated"}, w) || w == "and" ||
			ast.IsExported(w) && strings.HasSuffix(fields[i], ","):
		default:
			// "A and B": A is exported.
			if !(ast.IsExported(w) && i+1 < len(fields) && fields[i+1] == "and") {
				return false
			}
		}
	}
	return false
}

// doubled are words that stand twice in good English.
var doubled = []string{"that", "had", "is", "very", "so"}

// camel is what only a Go program writes so.
var camel = regexp.MustCompile(`^[a-z]+[A-Z]`)

// renamed says how a comment looks as if a tool had renamed a word of it, or "".
func renamed(doc, name, receiver string) string {
	first, _, _ := strings.Cut(doc, "\n\n")
	fields := strings.Fields(first)
	for i := 1; i < len(fields); i++ {
		a, b := strings.ToLower(fields[i-1]), strings.TrimRight(fields[i], ".,;:")
		if a == b && (i > 1 || fields[0] == a) && !slices.Contains(doubled, a) &&
			regexp.MustCompile(`^[a-z]+$`).MatchString(a) {
			return fmt.Sprintf("%q stands twice", fields[i-1]+" "+fields[i])
		}
		if i > 1 && fields[i-1] == name && camel.MatchString(name) && slices.Contains([]string{"the", "a", "an"}, b) {
			return fmt.Sprintf("%q stands where a verb should", fields[i-1]+" "+fields[i])
		}
	}
	if receiver != "" && receiver != name && len(fields) > 1 && fields[0] == receiver &&
		strings.HasSuffix(fields[1], "s") && !slices.Contains([]string{"is", "has", "was"}, fields[1]) {
		return fmt.Sprintf("%q is about another name", fields[0]+" "+fields[1])
	}
	return ""
}

// exceptions are how many findings of a kind a file may have.
type exceptions map[exception]int

// exception is a kind of finding in a file.
type exception struct{ kind, path string }

// count counts findings.
func count(all []finding) exceptions {
	e := exceptions{}
	for _, f := range all {
		e[exception{f.kind, f.path}]++
	}
	return e
}

func (e exceptions) String() string {
	var lines []string
	for x, n := range e {
		lines = append(lines, fmt.Sprintf("%s %s %d\n", x.kind, x.path, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// parseExceptions reads what String has written.
func parseExceptions(text string) exceptions {
	e := exceptions{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 3 {
			n, _ := strconv.Atoi(f[2])
			e[exception{f[0], f[1]}] = n
		}
	}
	return e
}

// lowered is what may be found once old was allowed and now is there. It allows a file no more than
// old does, and a file that was moved as much as before.
func lowered(old, now exceptions) exceptions {
	e := exceptions{}
	for x, n := range now {
		if n = min(n, old.allowed(x, now)); n > 0 {
			e[x] = n
		}
	}
	return e
}

// allowed is how many findings there may be. A file that is not listed may have as many as one of
// its name that is listed and not there any more: it was moved.
func (e exceptions) allowed(x exception, now exceptions) int {
	if n, ok := e[x]; ok {
		return n
	}
	most := 0
	for y, n := range e {
		if y.kind == x.kind && path.Base(y.path) == path.Base(x.path) && now[y] == 0 {
			most = max(most, n)
		}
	}
	return most
}
