// Package page has what the pages in HTML of several commands share.
package page

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/record/report"
)

//go:embed style.css
var style string

// Parse parses the text of a page. It may call the functions style, which has the style sheet, and
// plain (Plain).
func Parse(text string) *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"plain": Plain,
		"style": func() template.CSS { return template.CSS(style) }}).Parse(text))
}

// Plain is a text without control characters, as a terminal shows its lines.
func Plain(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = report.Style{}.Line(l)
	}
	return strings.Join(lines, "\n")
}
