package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a program with what it showed; nil when nothing is kept here.
type row struct {
	program
	*result
}

// unexplained are the columns in which something is broken or lost, and there is no triage.
func (r *row) unexplained() (all []string) {
	for _, m := range columns {
		triage := r.Triage
		if m == calls {
			triage = r.Failed
		}
		if s, ok := r.shown(m); ok && s.Failed > 0 && triage == "" {
			all = append(all, m)
		}
	}
	return all
}

// triaged is what is said of all columns.
func (r *row) triaged() string {
	text := r.Triage
	if text != "" && r.Failed != "" {
		text += "; "
	}
	if r.Failed != "" {
		text += "failed calls: " + r.Failed
	}
	return text
}

// outcome says what came of a program in a column.
func (s *shown) outcome() string {
	lost := s.Statuses["exit status 2"]
	var words []string
	if broken := s.Failed - lost; broken > 0 {
		words = append(words, fmt.Sprintf("**broken** (%d of %d)", broken, s.Distinct))
	}
	if lost > 0 {
		words = append(words, fmt.Sprintf("loses what it promised (%d of %d)", lost, s.Distinct))
	}
	if s.Failed == 0 {
		words = append(words, fmt.Sprintf("survives (%d)", s.Distinct))
	}
	if s.Undecided > 0 {
		words = append(words, fmt.Sprintf("undecided (%d)", s.Undecided))
	}
	text := strings.Join(words, ", ")
	if f := s.Failures; f != nil {
		text += fmt.Sprintf("; %d failures, %d not reported", s.Operations, f.Succeeded)
		if f.Hung > 0 {
			text += fmt.Sprintf(", %d hang", f.Hung)
		}
		if f.Undecided > 0 {
			text += fmt.Sprintf(", %d not judged", f.Undecided)
		}
	}
	return text
}

const (
	begin = "<!-- make storage -->\n"
	end   = "<!-- end -->\n"
)

// table is what stands between begin and end. Programs and columns without kept results stay as
// they are on the earlier page.
func table(rows []row, earlier harness.Page) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	var heads []string
	for _, m := range columns {
		heads = append(heads, head(m))
	}
	p("| program | operations | %s | triage |\n| --- | --- | %s--- |\n", strings.Join(heads, " | "), strings.Repeat("--- | ", len(columns)))
	for _, r := range rows {
		cells := earlier.Cells("program", r.Name)
		if r.result == nil && cells == nil {
			continue
		}
		operations := cells["operations"]
		if s, ok := r.shown(kill); ok {
			operations = fmt.Sprint(s.Operations)
		}
		p("| %s | %s |", r.Name, operations)
		for _, m := range columns {
			if s, ok := r.shown(m); ok {
				p(" %s |", s.outcome())
			} else {
				p(" %s |", cells[head(m)])
			}
		}
		p(" %s |\n", r.triaged())
	}
	return b.String()
}

// shown is what is kept of a column.
func (r *row) shown(column string) (s shown, ok bool) {
	if r.result != nil {
		s, ok = r.Models[column]
	}
	return s, ok
}

// head is how a column is called on the page.
func head(column string) string {
	switch column {
	case kill:
		return column
	case calls:
		return "failed calls"
	}
	return "`" + column + "`"
}

// replace puts the table into the page.
func replace(page, table string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", errors.New("no place for the table")
	}
	return before + begin + table + end + after, nil
}
