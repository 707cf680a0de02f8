package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// verdict says what came of a check.
func (c *cell) verdict() string {
	text := "passes"
	if c.Failed > 0 {
		text = "**fails**"
	}
	what := fmt.Sprintf("%d images", c.Images)
	if c.Images == 0 {
		what = fmt.Sprintf("%d executions", c.Executions)
	}
	if c.All {
		what += ", all explored"
	}
	text += " (" + what
	if c.Undecided > 0 {
		text += fmt.Sprintf(", %d undecided", c.Undecided)
	}
	text += ")"
	if c.Blamed != "" {
		text += ", to blame: " + c.Blamed
	}
	return text
}

const (
	begin = "<!-- make stacks -->\n"
	end   = "<!-- end -->\n"
)

// notRun is the cell of a check that there is no result of.
const notRun = "not run"

// tables are what stands between begin and end. Cells without results stay as they are on the
// earlier page.
func tables(rows []*row, results map[*row]result, earlier harness.Page) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	p("\n## File systems (table 2)\n\n| file system | %s | remarks |\n|%s\n", strings.Join(names, " | "),
		strings.Repeat(" --- |", len(names)+2))
	for _, r := range rows {
		if r.Table != 2 {
			continue
		}
		cells := earlier.Cells("file system", r.Name)
		p("| %s |", r.Name)
		for _, name := range names {
			p(" %s |", r.cellOf(name, results[r][name], cells[name]))
		}
		p(" %s |\n", harness.OneLine(r.Notes))
	}
	p("\n## Other systems (table 3 and section 9)\n\n| system | bugs in 2006 | checked today | remarks |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		if r.Table != 3 {
			continue
		}
		var today []string
		for _, spec := range r.Specs {
			if c := results[r][spec]; c != nil {
				today = append(today, fmt.Sprintf("`%s`: %s", spec, c.verdict()))
			}
		}
		said := strings.Join(today, "; ")
		if said == "" {
			if said = earlier.Cells("system", r.Name)["checked today"]; said == "" {
				said = notRun
			}
		}
		p("| %s | %s | %s | %s |\n", r.Name, strings.Join(r.Then, ", "), said, harness.OneLine(r.Notes))
	}
	p("\n")
	return b.String()
}

// cellOf says in table 2 what a check showed, and what it had shown in 2006.
func (r *row) cellOf(column string, c *cell, earlier string) string {
	if c == nil && earlier != "" {
		return earlier
	}
	now := notRun
	if c != nil {
		now = c.verdict()
	}
	if slices.Contains(r.Then, column) {
		return now + "; 2006: failed"
	}
	return now
}

// replace puts the tables into the page.
func replace(page, tables string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return "", errors.New("no place for the tables")
	}
	return before + begin + tables + end + after, nil
}
