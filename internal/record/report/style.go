// Package report turns what happened into lines for people: live log lines, the
// timeline of an execution, the progress of a check. It knows the shared nouns
// only and decides nothing; what it prints is never parsed again (a trace is,
// see internal/leaf/trace).
//
// Read next: timeline.go.
package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Style says for what the lines are made.
type Style struct {
	Width  int  // columns; 0: DefaultWidth
	Colour bool // with escape sequences
}

// DefaultWidth is that of lines which go to a file.
const DefaultWidth = 100

func (s Style) width() int {
	if s.Width == 0 {
		return DefaultWidth
	}
	return min(max(s.Width, 80), 120)
}

// Colours, as SGR parameters.
const (
	bold  = "1"
	faint = "2"
	red   = "31"
)

// nodeColours are taken in turn; red is kept for what is wrong.
var nodeColours = []string{"32", "33", "34", "35", "36"}

func (s Style) paint(colour, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s Style) node(index int, text string) string {
	if index < 0 {
		return text
	}
	return s.paint(nodeColours[index%len(nodeColours)], text)
}

// Warn marks what is wrong, Head a headline.
func (s Style) Warn(text string) string { return s.paint(red, text) }

func (s Style) Head(text string) string { return s.paint(bold, text) }

// Line makes one line of a text: no control characters, and on a terminal cut to its width.
func (s Style) Line(text string) string {
	text = printable(text)
	if s.Width > 0 {
		text = cut(text, s.Width-1) // a full line would wrap
	}
	return text
}

// Wrap makes lines of a text, without control characters: of one that is wider than a terminal as
// many as it takes, the further ones indented by two columns more than the first.
func (s Style) Wrap(text string) string {
	text = printable(text)
	if s.Width == 0 {
		return text
	}
	width := max(s.Width, 40) - 1 // a full line would wrap
	indent := strings.Repeat(" ", min(len(text)-len(strings.TrimLeft(text, " "))+2, width/2))
	var b strings.Builder
	for rest := text; ; rest = indent + strings.TrimLeft(rest, " ") {
		at := fits(rest, width)
		if at == len(rest) || at == 0 {
			return b.String() + rest
		}
		if space := strings.LastIndexByte(rest[:at+1], ' '); space >= 0 && strings.TrimSpace(rest[:space]) != "" {
			at = space
		} // else a word, such as a path, needs more than a line
		b.WriteString(strings.TrimRight(rest[:at], " ") + "\n")
		rest = rest[at:]
	}
}

// Paragraph returns sentences as lines that fit the width. A word, such as a path, is not divided,
// nor is a number from its unit when a no-break space (U+00A0) stands between.
func (s Style) Paragraph(sentences []string) string {
	var b strings.Builder
	column := 0
	for word := range strings.SplitSeq(printable(strings.Join(sentences, " ")), " ") {
		word = strings.ReplaceAll(word, "\u00a0", " ")
		n := columns(word)
		switch {
		case column == 0:
		case column+1+n >= s.width(): // a full line would wrap
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}

// List returns lines with the parts behind a head, and commas between; further lines are indented
// like the first. A part is not divided.
func (s Style) List(head string, parts []string) string {
	var b strings.Builder
	b.WriteString(head)
	column := columns(head)
	for i, part := range parts {
		if i < len(parts)-1 {
			part += ","
		}
		n := columns(part)
		switch {
		case i == 0:
		case column+1+n >= s.width(): // a full line would wrap
			b.WriteString("\n" + strings.Repeat(" ", columns(head)))
			column = columns(head)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(part)
		column += n
	}
	return b.String() + "\n"
}

// printable makes one line of what a program wrote: no control characters.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) || r == utf8.RuneError {
			return '·'
		}
		return r
	}, text)
}

// columns is how many columns of a terminal a text takes. Some characters take two, and those that
// join the one before take none.
func columns(text string) int { return uniseg.StringWidth(text) }

// fits is how many bytes of a text take at most width columns. It does not divide a character that
// readers see as one.
func fits(text string, width int) (n int) {
	for state := -1; n < len(text); {
		cluster, _, wide, next := uniseg.FirstGraphemeClusterInString(text[n:], state)
		if width -= wide; width < 0 {
			break
		}
		n, state = n+len(cluster), next
	}
	return n
}

// cut shortens text to width columns; an ellipsis says so.
func cut(text string, width int) string {
	if columns(text) <= width {
		return text
	}
	return text[:fits(text, width-1)] + "…"
}
