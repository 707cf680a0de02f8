package main

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	lines := []string{"a", "b", "c", "d", "e", "f"}
	if got := cut(lines, 1, 2); !slices.Equal(got, []string{"a", gap, "e", "f"}) {
		t.Errorf("%q", got)
	}
	for _, all := range [][2]int{{0, 0}, {3, 3}, {5, 9}} {
		if got := cut(lines, all[0], all[1]); !slices.Equal(got, lines) {
			t.Errorf("%v: %q", all, got)
		}
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("wörter ", 40)
	got := wrap([]string{"short", long, strings.Repeat("x", 3*columns)})
	for _, line := range got {
		if utf8.RuneCountInString(line) > columns {
			t.Errorf("%d columns: %q", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(strings.Join(got, " "), "wörter"); n != 40 {
		t.Errorf("%d words of 40 are left", n)
	}
	if n := strings.Count(strings.Join(got, ""), "x"); n != 3*columns {
		t.Errorf("%d letters of %d are left", n, 3*columns)
	}
}

// TestDraw: the picture is XML, has each line once, and marks what a reader is to see.
func TestDraw(t *testing.T) {
	picture := string(draw([]string{
		"$ ariadne check a.yaml", "violation: death: a < b & c", "    and d", "",
		"   1.070156s     9* n1 -> client      late",
		"   1.214930s        client            | wrote", "   1.214927s   133  n1 -> client      on time",
		"    the rest of it", "Found a violation: it is", "violation: --keep-going looks for others.",
	}))
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`class="command" xml:space="preserve">$ ariadne`, `class="bad" xml:space="preserve">violation: death: a &lt; b &amp; c<`, `class="bad" xml:space="preserve">    and d<`,
		`class="odd" xml:space="preserve">   1.070156s`, `class="log" xml:space="preserve">   1.214930s`,
		`" xml:space="preserve">   1.214927s`, `" xml:space="preserve">    the rest`,
		`" xml:space="preserve">violation: --keep`, "prefers-color-scheme: dark",
	} {
		if strings.Count(picture, want) != 1 {
			t.Errorf("%d times: %s", strings.Count(picture, want), want)
		}
	}
	if n := strings.Count(picture, ` class="`); n != 5 {
		t.Errorf("%d lines are marked", n)
	}
	if strings.Count(picture, "<text ") != 9 {
		t.Error("an empty line has a text, or a line has none")
	}
}
