package ariadne_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// Links of Markdown: inline, in a definition of a reference, and the sources of HTML images.
var (
	inlineLink    = regexp.MustCompile(`\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)`)
	referenceLink = regexp.MustCompile(`(?m)^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)>?`)
	htmlLink      = regexp.MustCompile(`<(?:img|source|a)\b[^>]*\b(?:src|srcset|href)="([^"]*)"`)
	htmlAnchor    = regexp.MustCompile(`<a\b[^>]*\b(?:id|name)="([^"]*)"`)
	scheme        = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	codeSpan      = regexp.MustCompile("(?s)``.+?``|`[^`]+?`")
	heading       = regexp.MustCompile(`^ {0,3}#{1,6}\s+(.*?)\s*#*\s*$`)
	linkText      = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	pageName      = regexp.MustCompile(`\bdocs/(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)*\.(?:md|json|svg|csv)(?:#[\w-]+)?\b`)
)

// prose is a page without its code: each line of a block of code is empty, so that lines keep
// their numbers.
func prose(page string) string {
	var b strings.Builder
	fence, blank, list := "", true, false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		switch {
		case fence != "":
			if text == fence {
				fence = ""
			}
			text = ""
		case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "~~~"):
			fence, text = text[:3], ""
		case indented && blank && !list:
			text = ""
		default:
			if text != "" {
				blank = false
				if !indented {
					list = regexp.MustCompile(`^([-*]|\d+\.)\s`).MatchString(text)
				}
			} else {
				blank = true
			}
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
			continue
		}
		b.WriteString("\n")
	}
	return b.String()
}

// slug is the anchor that a heading gets on a forge: lower case, no punctuation, hyphens for
// spaces.
func slug(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(linkText.ReplaceAllString(heading, "$1")) {
		switch {
		case r == ' ', r == '-':
			b.WriteByte('-')
		case r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// anchors are what a link to a page may name behind its #.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(prose(page)) {
		if m := heading.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			name := slug(m[1])
			for n := 1; all[name]; n++ {
				name = fmt.Sprint(slug(m[1]), "-", n)
			}
			all[name] = true
		}
		for _, m := range htmlAnchor.FindAllStringSubmatch(line, -1) {
			all[m[1]] = true
		}
	}
	return all
}

// pages are the names of the Markdown files that a visitor reads, which are those outside of
// testdata.
func pages(t *testing.T, tree fs.FS) (all []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "cmd" || name != "." && skipped(d.Name())) {
			return fs.SkipDir // cmd has the texts that generated pages are made of
		}
		if !d.IsDir() && path.Ext(name) == ".md" {
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// skipped says of a directory that it has nothing of the repository's documents: what was brought
// or built, and what tests need.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"testdata", "ariadne-runs", "bin", "node_modules"}, name)
}

// deadLinks are the links of a page that lead to no file and no heading, each with its line.
func deadLinks(t *testing.T, tree fs.FS, page string) (dead []string) {
	t.Helper()
	content, err := fs.ReadFile(tree, page)
	if err != nil {
		t.Fatal(err)
	}
	text := codeSpan.ReplaceAllStringFunc(prose(string(content)), func(code string) string {
		return strings.Repeat("\n", strings.Count(code, "\n")) // a link has no code in its address
	})
	for _, form := range []*regexp.Regexp{inlineLink, referenceLink, htmlLink} {
		for _, at := range form.FindAllStringSubmatchIndex(text, -1) {
			link := text[at[2]:at[3]]
			if scheme.MatchString(link) {
				continue
			}
			line := 1 + strings.Count(text[:at[2]], "\n")
			if why := whyDead(t, tree, page, link); why != "" {
				dead = append(dead, fmt.Sprintf("%s:%d: %s: %s", page, line, link, why))
			}
		}
	}
	return dead
}

// whyDead is what is wrong with a link of a page; "": nothing.
func whyDead(t *testing.T, tree fs.FS, page, link string) string {
	t.Helper()
	file, anchor, named := strings.Cut(link, "#")
	target := page
	if file != "" {
		target = path.Join(path.Dir(page), file)
	}
	if !fs.ValidPath(target) {
		return "leads out of the repository"
	}
	info, err := fs.Stat(tree, target)
	if err != nil {
		return "there is no such file"
	}
	if !named {
		return ""
	}
	if info.IsDir() || path.Ext(target) != ".md" {
		return "only pages have headings"
	}
	content, err := fs.ReadFile(tree, target)
	if err != nil {
		t.Fatal(err)
	}
	if !anchors(string(content))[anchor] {
		return "the page has no such heading"
	}
	return ""
}

// TestLinks: each link of the documents leads to a file that is there, and to a heading that it
// has.
func TestLinks(t *testing.T) {
	tree := os.DirFS(".")
	all := pages(t, tree)
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		if !slices.Contains(all, name) {
			t.Errorf("%s is not among the pages", name)
		}
	}
	for _, page := range all {
		for _, dead := range deadLinks(t, tree, page) {
			t.Error(dead)
		}
	}
}

// TestNamedPages: the pages that code, messages, comments and specs name are there.
func TestNamedPages(t *testing.T) {
	kinds := []string{".go", ".md", ".yaml", ".star", ".txt", ".json", ".c", ".py", ".sh", ""}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// What CHANGELOG.md says of the past stays, and so may the name of a page that is no
			// more.
			if name != "." && skipped(d.Name()) && d.Name() != "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if name == "CHANGELOG.md" || !d.Type().IsRegular() || !slices.Contains(kinds, filepath.Ext(name)) {
			return nil
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<20 {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(content), "\n") {
			for _, at := range pageName.FindAllStringIndex(line, -1) {
				if at[0] > 0 && strings.ContainsRune("/.", rune(line[at[0]-1])) {
					continue // of somebody else's site, or a link, which TestLinks has
				}
				if why := whyDead(t, os.DirFS("."), "README.md", line[at[0]:at[1]]); why != "" {
					t.Errorf("%s:%d: %s: %s", name, n+1, line[at[0]:at[1]], why)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDeadLinks(t *testing.T) {
	tree := fstest.MapFS{
		"README.md": {Data: []byte(strings.Join([]string{
			// 1
			"[good](pages/a.md), [also](pages/a.md#what-it-is-called-here), [same](pages/a.md#what-it-is-called-here-1), [twice](pages/a.md#twice-1)",
			// 2
			"[folder](pages), [web](https://example.org/none.md), [here](#top)",
			"# Top",                        // 3
			"[bad](pages/b.md)",            // 4
			"[bad](pages/a.md#nowhere)",    // 5
			"[out](../other.md)",           // 6
			"`[code](pages/c.md)`",         // 7
			"",                             // 8
			"    [block](pages/d.md)",      // 9
			"",                             // 10
			"```",                          // 11
			"[fenced](pages/e.md)",         // 12
			"```",                          // 13
			"![picture](pages/f.svg)",      // 14
			`<img src="pages/g.svg">`,      // 15
			"[two\nlines](pages/h.md)",     // 16, 17
			"- a list",                     // 18
			"",                             // 19
			"    [its rest](pages/i.md)",   // 20
			"[reference]: pages/j.md",      // 21
			"[thrice](pages/a.md#twice-2)", // 22
		}, "\n"))},
		"pages/a.md": {Data: []byte("# What it is called, `here`?\n## What it is called here\n## Twice\n## Twice\n" +
			"```\n# Nowhere\n```\n")},
	}
	want := []string{"4: pages/b.md", "5: pages/a.md#nowhere", "6: ../other.md", "14: pages/f.svg", "17: pages/h.md",
		"20: pages/i.md", "22: pages/a.md#twice-2", "21: pages/j.md", "15: pages/g.svg"}
	var got []string
	for _, dead := range deadLinks(t, tree, "README.md") {
		line, link := strings.TrimPrefix(dead, "README.md:"), ""
		if parts := strings.SplitN(line, ": ", 3); len(parts) == 3 {
			link = parts[0] + ": " + parts[1]
		}
		got = append(got, link)
	}
	if !slices.Equal(got, want) {
		t.Errorf("dead: %q\nwant: %q", got, want)
	}
}

// TestReadmeSpec: the spec in README.md is the one that can be tried.
func TestReadmeSpec(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("examples/store/store.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```yaml\n")
	if got, _, _ := strings.Cut(rest, "```"); got != string(want) {
		t.Errorf("README.md has the spec\n%s\nand examples/store has\n%s", got, want)
	}
}
