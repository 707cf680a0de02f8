package main

import (
	"bytes"
	"os"
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
	var all []finding
	read := 0
	err = files([]string{"."}, func(path string, text []byte) error {
		read++
		found, err := lint(path, text)
		all = append(all, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 500 {
		t.Errorf("only %d files were read", read)
	}
	old, now := parseExceptions(string(text)), count(all)
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
		"a.go:34: width: 113 columns",
		`a.go:3: name: the comment on String begins with "Seconds"`,
		`a.go:3: rename: the comment on String: "Seconds formats" is about another name`,
		`a.go:12: rename: the comment on newSocket: "Socket socket." stands twice`,
		`a.go:15: rename: the comment on applyWord: "applyWord the" stands where a verb should`,
		`a.go:18: name: the comment on Wrong begins with "It"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
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
	want := strings.Replace(text, "// F does it. "+long+"\n// More of it.", "// F does it. "+w(17)+"\n// "+w(13)+" More of it.", 1)
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
	for _, block := range []string{"    nodes:\n      - {command: " + long + "}\n    faults: {power: 1}\n", "    * mark\n      " + long + "\n"} {
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

// TestMessageList: testdata/messages.txt lists each text that the command line can print, so that a
// change of one is read by a person.
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
	if n := strings.Count(got, "\n\t"); n < 500 {
		t.Errorf("only %d messages are found", n)
	}
}

// TestMessages: texts are found where they are formed, and joined.
func TestMessages(t *testing.T) {
	found, err := messages("internal/use/a.go", []byte(`package a

var cmd = Command{Short: "Does it all", Other: "not this"}

func f() error {
	p.printf("one %d\n" + "and two", n)
	other("not this")
	f.BoolVar(&x, "flag", false, "says " + names() + " more")
	return fmt.Errorf("no such file")
}
`))
	var got []string
	for _, m := range found {
		got = append(got, m.text)
	}
	if want := []string{"Does it all", "one %d\nand two", "says … more", "no such file"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, got %q", err, got)
	}
	if speaks("internal/use/a_test.go") || speaks("internal/machine/node/a.go") || !speaks("cmd/ariadne/a.go") {
		t.Error("the wrong files speak")
	}
}
