package main

import (
	"errors"
	"fmt"
	"strings"

	"ariadne/tools/harness"
)

// row is a program with what it showed; nil when nothing is kept here.
type row struct {
	program
	*result
}

func (r *row) bad() bool {
	for _, s := range r.Models {
		if s.Failed > 0 {
			return true
		}
	}
	return false
}

// outcome says what came of a program in a column.
func (s *shown) outcome() string {
	if s.Failed == 0 {
		return fmt.Sprintf("survives (%d)", s.Distinct)
	}
	lost := s.Statuses["exit status 2"]
	var words []string
	if broken := s.Failed - lost; broken > 0 {
		words = append(words, fmt.Sprintf("**broken** (%d of %d)", broken, s.Distinct))
	}
	if lost > 0 {
		words = append(words, fmt.Sprintf("loses what it promised (%d of %d)", lost, s.Distinct))
	}
	return strings.Join(words, ", ")
}

const (
	begin = "<!-- make storage -->\n"
	end   = "<!-- end -->\n"
)

// table is what stands between begin and end. Programs of which nothing is kept here stay as the earlier page has them.
func table(rows []row, earlier harness.Page) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("| program | operations | kill | `prefix` | `ordered` | `any` | triage |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		if r.result == nil {
			p("%s", strings.Join(earlier.Rows(r.Name), ""))
			continue
		}
		p("| %s | %d |", r.Name, r.Models["any"].Operations)
		for _, m := range columns {
			s := r.Models[m]
			p(" %s |", s.outcome())
		}
		p(" %s |\n", r.Triage)
	}
	return b.String()
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
