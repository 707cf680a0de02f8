package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// longPage is from how many lines on a page has a table of contents, if it has fewHeadings.
const longPage, fewHeadings = 100, 3

// mostWords is how many words a sentence may have.
const mostWords = 25

var (
	section  = regexp.MustCompile(`^## +(.*?) *#*$`)
	linkText = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	ownLink  = regexp.MustCompile(`\]\(#([^)]+)\)`)
	// sentenceEnd is where a sentence, or an item of a list within one, ends and the next one
	// begins.
	sentenceEnd = regexp.MustCompile("[.!?:;][\"')*_]*\\s+")
)

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

// sections are the headings of the second level of a page with their lines, from 0.
func sections(lines []string) (headings []string, at []int) {
	fenced := false
	for i, l := range lines {
		if fence.MatchString(l) {
			fenced = !fenced
		}
		if m := section.FindStringSubmatch(l); m != nil && !fenced {
			headings, at = append(headings, m[1]), append(at, i)
		}
	}
	return headings, at
}

// unlisted are the sections of a long page that no link before the first of them leads to.
func unlisted(page string) (missing []string) {
	lines := strings.Split(page, "\n")
	headings, at := sections(lines)
	if len(lines) <= longPage || len(headings) < fewHeadings {
		return nil
	}
	linked := map[string]bool{}
	for _, m := range ownLink.FindAllStringSubmatch(strings.Join(lines[:at[0]], "\n"), -1) {
		linked[m[1]] = true
	}
	for _, h := range headings {
		if !linked[slug(h)] {
			missing = append(missing, h)
		}
	}
	return missing
}

// contentsMark stands before the list that withContents writes.
const contentsMark = "Contents:"

// withContents is a page with a table of contents behind its first paragraph, if it needs one and
// does not have it.
func withContents(page string) string {
	if len(unlisted(page)) == 0 {
		return page
	}
	lines := strings.Split(page, "\n")
	headings, at := sections(lines)
	list := []string{contentsMark, ""}
	for _, h := range headings {
		list = append(list, fmt.Sprintf("- [%s](#%s)", linkText.ReplaceAllString(h, "$1"), slug(h)))
	}
	head := withoutContents(lines[:at[0]])
	behind := len(head)
	if all := paragraphs(head); len(all) > 0 {
		behind = min(all[0].end+1, behind)
	}
	return strings.Join(slices.Concat(head[:behind], list, []string{""}, head[behind:], lines[at[0]:]), "\n")
}

// withoutContents are the lines before the first section but for a list of withContents, which may
// be of older sections.
func withoutContents(lines []string) (kept []string) {
	inside := false
	for _, l := range lines {
		inside = l == contentsMark || inside && (l == "" || strings.HasPrefix(l, "- [") || strings.HasPrefix(l, "  "))
		if !inside {
			kept = append(kept, l)
		}
	}
	return kept
}

// firstSentence is how the text of a page begins, below its title.
func firstSentence(page string) string {
	lines := strings.Split(page, "\n")
	for _, p := range paragraphs(lines) {
		if text := strings.Join(lines[p.begin:p.end], " "); !strings.HasPrefix(text, "<!--") {
			return text
		}
	}
	return ""
}

// saysWhatFor reports whether the first sentence of a page says what the page is for. Each begins
// in one of these ways.
func saysWhatFor(page string) bool {
	first := firstSentence(page)
	return strings.HasPrefix(first, "This page ") || strings.HasPrefix(first, "In this tutorial ")
}

// isDocument reports whether a file is a page of the documents, whose first sentence says what it
// is for.
func isDocument(file string) bool {
	return path.Ext(file) == ".md" &&
		(strings.HasPrefix(file, "docs/") || file == "CONTRIBUTING.md" || file == "CHANGELOG.md")
}

// longSentences are the sentences of a text with more than mostWords words, each by its first
// words. A code span is one word, as is a link's address none.
func longSentences(text string) (all []string) {
	text = codeSpan.ReplaceAllString(linkText.ReplaceAllString(text, "$1"), "code")
	for _, s := range sentenceEnd.Split(text, -1) {
		words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) })
		n := 0
		for _, w := range words {
			if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				n++
			}
		}
		if n > mostWords {
			all = append(all, fmt.Sprintf("%d words: %s ...", n, strings.Join(words[:6], " ")))
		}
	}
	return all
}
