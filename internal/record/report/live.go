package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// LogLine is a node's line as it is shown while a run goes on: node, virtual
// time, text. width is that of the longest name. The line is not cut: it is the
// target's own.
func LogLine(name string, index, width int, l ariadne.LogLine, style Style) string {
	mark := "|"
	switch l.Stream {
	case 2:
		mark = "!"
	case ariadne.Exposed:
		mark = "*"
	}
	return style.node(index, fmt.Sprintf("%-*s", width, name)) +
		style.paint(faint, fmt.Sprintf(" %12s %s ", l.At, mark)) + printable(l.Text)
}

// Check is how far a check has come, and how far it may go.
type Check struct {
	Elapsed, Time          time.Duration // Time 0: no limit
	Executions, Executable int           // Executable 0: no limit
	Steps, Violations      int
	// of the executions, but for the order of independent events; 0: nobody knows
	Different int
}

// ProgressLine says it in one line.
func ProgressLine(c Check, style Style) string {
	parts := []string{
		fmt.Sprintf("%6.1fs", c.Elapsed.Seconds()),
		count(c.Executions, "execution") + different(c),
		count(c.Steps, "step"),
	}
	if s := c.Elapsed.Seconds(); s > 0 {
		parts = append(parts, fmt.Sprintf("%.0f steps/s", float64(c.Steps)/s))
	}
	if c.Violations > 0 {
		parts = append(parts, count(c.Violations, "violation"))
	}
	var left []string
	if c.Time > 0 {
		left = append(left, max(c.Time-c.Elapsed, 0).Round(time.Second).String())
	}
	if c.Executable > 0 {
		left = append(left, count(max(c.Executable-c.Executions, 0), "execution"))
	}
	if len(left) > 0 {
		parts = append(parts, "left: "+strings.Join(left, ", "))
	}
	return cut(strings.Join(parts, "  "), style.width()-1) // a full line would wrap
}

// different says that many executions are the same again, as random ones of a small system are.
func different(c Check) string {
	if c.Different == 0 || c.Different >= c.Executions {
		return ""
	}
	return fmt.Sprintf(" (%d different)", c.Different)
}

// count prints a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
