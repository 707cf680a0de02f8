package main

import (
	"bytes"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTree: no file has more wide lines, misplaced doc comments, traces of renames or avoided words
// than it had when testdata/exceptions.txt was written.
func TestTree(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(exceptionsFile)
	if err != nil {
		t.Fatal(err)
	}
	all, read, err := lintTree([]string{"."})
	if err != nil {
		t.Fatal(err)
	}
	if read < 500 {
		t.Errorf("only %d files were read", read)
	}
	old, now := parseExceptions(string(text)), count(all)
	for x := range old {
		if slices.Contains([]string{"name", "rename", "stray", "headless"}, x.kind) {
			t.Errorf("%s: %s has no exceptions", x.path, x.kind)
		}
	}
	for x, n := range now {
		if most := old.allowed(x, now); n > most {
			t.Errorf("%s has %d findings of kind %s, %d are allowed:", x.path, n, x.kind, most)
			for _, f := range all {
				if f.kind == x.kind && f.path == x.path {
					t.Log(f)
				}
			}
		}
	}
	if less := lowered(old, now); less.String() != old.String() {
		t.Log("fewer than allowed: go run ./tools/prose -lower")
	}
}

// TestLintGo: each defect is found, and nothing else.
func TestLintGo(t *testing.T) {
	found, err := lintGo("a.go", []byte(`package a

// Seconds formats a time.
func (s Seconds) String() string { return "" }

// Seconds are a time.
type Seconds int

// A Socket is one.
type Socket struct{}

// newSocket makes a Socket socket.
func newSocket() {}

// applyWord takes a word and applyWord the user.
func applyWord() {}

// It is wrong.
func Wrong() {}

// A and B are right.
func A() {}

// A and B are right.
func B() {}

// It is of no concern.
func private() {}

// A T is one. What it
// does is no matter. What does it do?
type T struct {
	// Who asks it waits.
	a int
	What int // What is not a doc comment.
}

// What is the name.
func (T) What() {}

// Of a group.
const (
	// C is one.
	C = 1
	d = 2 // `+strings.Repeat("wide ", 20)+`
)

// `+strings.Repeat("x", 120)+`
//go:debug `+strings.Repeat("wide ", 30)+`
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, f.String())
	}
	want := []string{
		"a.go:45: width: 113 columns",
		`a.go:30: headless: a sentence that begins with "What it"`,
		`a.go:33: headless: a sentence that begins with "Who asks"`,
		`a.go:3: name: the comment on String begins with "Seconds"`,
		`a.go:3: rename: the comment on String: "Seconds formats" is about another name`,
		`a.go:12: rename: the comment on newSocket: "Socket socket." stands twice`,
		`a.go:15: rename: the comment on applyWord: "applyWord the" stands where a verb should`,
		`a.go:18: name: the comment on Wrong begins with "It"`,
		`a.go:27: name: the comment on private begins with "It"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestStrays: a doc comment that begins with another name of its package is found, and nothing
// else.
func TestStrays(t *testing.T) {
	p := newPackages()
	err := p.add("a.go", []byte(`package a

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
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.strays() {
		got = append(got, f.String())
	}
	want := []string{"a.go:3: stray: the comment on makeThing begins with newThing", "a.go:8: stray: the comment on other begins with thing"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAvoided: words are found in prose, and not in what is quoted from code.
func TestAvoided(t *testing.T) {
	for text, want := range map[string]int{
		"A fault befalls a node.":                    1,
		"The system comes to a stand.":               1,
		"Nodes `lend` memory.":                       0,
		"The kind of a blend.":                       0,
		"First. What it rejects is laid to a loss.":  2,
		"What does it do? The node says what it is.": 0,
		"Who asks is told.":                          1,
	} {
		if got := Avoided(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestLowered: counts fall and never rise, and a file that moves takes its count along.
func TestLowered(t *testing.T) {
	old := parseExceptions("width a.go 3\nwidth b/c.go 2\nword x.md 4\n")
	now := exceptions{{"width", "a.go"}: 5, {"width", "d/c.go"}: 2, {"word", "new.md"}: 1}
	if got, want := lowered(old, now).String(), "width a.go 3\nwidth d/c.go 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWrapGo: comments are wrapped, and what is no paragraph stays.
func TestWrapGo(t *testing.T) {
	long := strings.Repeat("word ", 30)
	text := `package a

// F does it. ` + long + `
// More of it.
//
//   - an item that is ` + long + `
//
// Code:
//
//	code ` + long + `
//
// The end.
func F() {
	x := "// ` + long + `"
	_ = x // ` + long + `
	if x != "" {
	} // ` + long + `
}

// Is 1
// - 2 ` + long + `
//
//go:noinline ` + long + `
func g() {}
`
	got, err := wrapGo([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	want := strings.Replace(text, "// F does it. "+long+"\n// More of it.",
		"// F does it. "+w(17)+"\n// "+w(13)+" More of it.", 1)
	want = strings.Replace(want, "\t_ = x // "+long, "\t// "+w(18)+"\n\t// "+w(12)+"\n\t_ = x", 1)
	if trimmed := strings.ReplaceAll(want, " \n", "\n"); strings.ReplaceAll(string(got), " \n", "\n") != trimmed {
		for i, line := range strings.Split(trimmed, "\n") {
			if g := strings.Split(strings.ReplaceAll(string(got), " \n", "\n"), "\n"); i >= len(g) || g[i] != line {
				t.Fatalf("line %d of\n%s\nwant %s", i+1, got, line)
			}
		}
	}
	again, err := wrapGo(got)
	if err != nil || !bytes.Equal(again, got) {
		t.Errorf("%v, a second time:\n%s", err, again)
	}
}

// TestWrapMarkdown: paragraphs and items are wrapped; tables, code, headings and references stay.
func TestWrapMarkdown(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	text := "# Title " + long + "\n\n" + long + "\nsecond.\n\n- item " + long + "\n  more\n- next\n\n| a | " + long + " |\n\n    code " + long +
		"\n\n```\n" + long + "\n```\n\n[ref]: http://" + long + "\n\n" + long + " - " + long + "\n\nshort\nlines\n"
	w := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	want := "# Title " + long + "\n\n" + w(20) + "\n" + w(10) + " second.\n\n- item " + w(18) + "\n  " + w(12) + " more\n- next\n\n| a | " + long + " |\n\n    code " + long +
		"\n\n```\n" + long + "\n```\n\n[ref]: http://" + long + "\n\n" + w(20) + "\n" + w(9) + " word - " + w(9) + "\n" + w(20) + "\nword\n\nshort\nlines\n"
	got := string(wrapMarkdown([]byte(text)))
	if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(text), " ") {
		t.Error("words have changed")
	}
	for i, line := range strings.Split(got, "\n") {
		if w := strings.Split(want, "\n"); i < len(w) && w[i] != line {
			t.Errorf("line %d:\ngot  %s\nwant %s", i+1, line, w[i])
			break
		}
	}
	if again := string(wrapMarkdown([]byte(got))); again != got {
		t.Errorf("a second time:\n%s", again)
	}
}

// TestWrapKeepsCode: a line of an indented block that looks like an item is code, and so are the
// lines behind it. In a list, the same line is an item.
func TestWrapKeepsCode(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 30))
	for _, block := range []string{"    nodes:\n      - {command: " + long + "}\n    faults: {power: 1}\n",
		"    * mark\n      " + long + "\n"} {
		text := "Text:\n\n" + block + "\nMore.\n"
		if got := string(wrapMarkdown([]byte(text))); got != text {
			t.Errorf("got\n%s\nwant\n%s", got, text)
		}
	}
	if got := string(wrapMarkdown([]byte("- a\n    - " + long + "\n"))); !strings.Contains(got, "\n      word") {
		t.Errorf("an item of an item is not wrapped:\n%s", got)
	}
}

// TestWrapKeepsSpans: a code span is not divided, and nothing that means something begins a line.
func TestWrapKeepsSpans(t *testing.T) {
	text := strings.Repeat("w ", 47) + "`a b c d e` and 1. more\n"
	got := string(wrapMarkdown([]byte(text)))
	if !strings.Contains(got, "\n`a b c d e` and 1. more") {
		t.Errorf("got %q", got)
	}
}

// TestPages: the first sentence of each page says what the page is for, and a long page has a table
// of contents. These hold for pages that a program writes, too.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	read := 0
	for _, root := range []string{"docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".md" ||
				filepath.Base(filepath.Dir(file)) == "figures" {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			read++
			if isDocument(file) && !saysWhatFor(string(text)) {
				t.Errorf("%s begins with %q: let the first sentence say what the page is for: This page ...", file, firstSentence(string(text)))
			}
			if missing := unlisted(string(text)); len(missing) > 0 {
				t.Errorf("%s has no link to %q before its first section: go run ./tools/prose -w %s", file, missing, file)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 25 {
		t.Errorf("only %d pages were read", read)
	}
}

// TestContents: a long page gets a table of contents behind its first paragraph, once, and again
// when its sections are others.
func TestContents(t *testing.T) {
	rest := strings.Repeat("\nword\n", 60)
	page := "# Title\n\nThis page is\nlong.\n\n| a |\n\n## `One`, two\n" + rest + "\n## Three\n\n```\n## code\n```\n\n## Four [x](y.md)\n"
	want := "# Title\n\nThis page is\nlong.\n\nContents:\n\n- [`One`, two](#one-two)\n- [Three](#three)\n- [Four x](#four-x)\n\n| a |\n\n## `One`, two\n"
	got := withContents(page)
	if !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, strings.TrimPrefix(page, "# Title\n\nThis page is\nlong.\n\n| a |\n\n")) {
		t.Errorf("got\n%s", got)
	}
	if again := withContents(got); again != got {
		t.Errorf("a second time:\n%s", again)
	}
	renamed := strings.Replace(got, "## Three", "## Third", 1)
	if again := withContents(renamed); strings.Count(again, contentsMark) != 1 ||
		!strings.Contains(again, "- [Third](#third)\n") || strings.Contains(again, "#three") {
		t.Errorf("after a new name:\n%s", again)
	}
	if short := strings.Replace(page, rest, "", 1); withContents(short) != short {
		t.Error("a short page needs none")
	}
	if !saysWhatFor(page) || saysWhatFor("# Title\n\nWritten by hand. This page\n") {
		t.Error("the first sentence is misread")
	}
}

// TestLongSentences: sentences are counted in words; code is one word, the address of a link none.
func TestLongSentences(t *testing.T) {
	w := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for text, want := range map[string]int{
		w(25) + ". " + w(25) + "?":                       0,
		w(26) + ".":                                      1,
		w(20) + ": " + w(20) + "; " + w(20):              0,
		"`" + w(30) + "` " + w(24):                       0,
		"[" + w(5) + "](a b c d) " + w(20):               0,
		w(13) + " - " + w(13) + " = " + w(1) + ". Short": 1,
	} {
		if got := longSentences(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestMessageList: testdata/messages.txt lists each text that the command line can print, and a
// person has read each.
func TestMessageList(t *testing.T) {
	t.Chdir("../..")
	got, err := allMessages()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(messagesFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("messages have changed: run go run ./tools/prose -messages, and read the difference")
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "\t"+unread) {
			t.Errorf("nobody has read this: read it in the source, then remove the mark in %s: %s", messagesFile, line)
		}
	}
	if n := strings.Count(got, "\n\t"); n < 500 {
		t.Errorf("only %d messages are found", n)
	}
}

// TestMessages: texts are found, and joined.
func TestMessages(t *testing.T) {
	found, err := messages("internal/use/a.go", []byte(`package a

import "not/this one"

var cmd = Command{Short: "Does it all", Other: "single"}

var form = regexp.MustCompile("not this")

type a struct {
	B int "not this"
}

func f() error {
	p.printf("one %d\n" + "and two", n)
	other("%d %s\n")
	f.BoolVar(&x, "flag", false, "says " + names("to whom") + " more")
	return fmt.Errorf("no such file")
}
`))
	var got []string
	for _, m := range found {
		got = append(got, m.text)
	}
	if want := []string{"Does it all", "one %d\nand two", "says … more", "no such file"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("%v, got %q", err, got)
	}
	if speaks("internal/use/a_test.go") || speaks("internal/machine/node/a.go") || !speaks("cmd/ariadne/a.go") {
		t.Error("the wrong files speak")
	}
}

// TestUnread: a message that is new at its file is marked, and stays so until the mark is removed.
func TestUnread(t *testing.T) {
	found := map[string][]message{"b.go": {{"an old one", 1}, {"a new one", 2}}, "a.go": {{"an old one", 1}}}
	list := messagePage(found, "b.go\n\tan old one\n\tone that is gone\n")
	want := "a.go\n\t? an old one\nb.go\n\t? a new one\n\tan old one\n"
	if list != want {
		t.Errorf("got\n%s\nwant\n%s", list, want)
	}
	if again := messagePage(found, list); again != list {
		t.Errorf("a second time:\n%s", again)
	}
	read := strings.ReplaceAll(list, unread, "")
	if again := messagePage(found, read); again != read {
		t.Errorf("after reading:\n%s", again)
	}
}

// TestNarrowGo: a wide line of code is divided where it is least nested, and does the same as
// before.
func TestNarrowGo(t *testing.T) {
	wide := strings.Repeat("a", 50)
	text := "package p\n\nfunc f() bool {\n\treturn g(" + wide + ", h(1, 2), " + wide + ", h(3, 4))\n}\n\n" +
		"var once = g(func(a int) bool { return " + wide + " }, " + wide[10:] + ", 1)\n\n" +
		"// a comment at the end of a line does not count\nvar x = 1 // " + strings.Repeat("word ", 30) + "end\n\n" +
		"var y = g(\"" + strings.Repeat("a text ", 20) + "\", 1)\n\n" +
		"func both() bool { return " + wide + " && h(1, 2) || " + wide + " && h(3, 4) }\n"
	want := "package p\n\nfunc f() bool {\n\treturn g(" + wide + ", h(1, 2),\n\t\t" + wide + ", h(3, 4))\n}\n\n" +
		"var once = g(func(a int) bool { return " + wide + " },\n\t" + wide[10:] + ", 1)\n\n" +
		"// a comment at the end of a line does not count\nvar x = 1 // " + strings.Repeat("word ", 30) + "end\n\n" +
		"var y = g(\"" + strings.Repeat("a text ", 20) + "\", 1)\n\n" +
		"func both() bool {\n\treturn " + wide + " && h(1, 2) ||\n\t\t" + wide + " && h(3, 4)\n}\n"
	formatted, err := format.Source([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	lines := func(text []byte) []int {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, "", text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		return wideCode(fset, f, strings.Split(string(text), "\n"))
	}
	if n := len(lines(formatted)); n != 3 {
		t.Errorf("%d wide lines", n)
	}
	got, err := narrowGo(formatted)
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if again, err := narrowGo(got); err != nil || !bytes.Equal(again, got) {
		t.Errorf("again: %v\n%s", err, again)
	}
}
