package report

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// plotRows is how many lines a plot has above its axis.
const plotRows = 4

// eighths are cells of a bar, by how full they are.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// Plot is how a number went over virtual time: bars, each of which stands for a part of the time
// and shows the value of it that is farthest beyond the bounds or nearest to them, or the greatest
// one where there are none. Nothing for a number that had at most one value.
func Plot(s *property.Series, style Style) []string {
	if s.Min == s.Max {
		return nil
	}
	top, bottom := property.NumberText(s.Max), property.NumberText(s.Min)
	indent := max(len(top), len(bottom)) + 4
	width := style.width() - indent - 1
	bars := barsOf(s, width)
	var lines []string
	for row := plotRows - 1; row >= 0; row-- {
		label := ""
		switch row {
		case plotRows - 1:
			label = top
		case 0:
			label = bottom
		}
		var b strings.Builder
		beyond := false
		flush := func(run string) {
			if beyond {
				run = style.Warn(run)
			}
			b.WriteString(run)
		}
		run := ""
		for _, bar := range bars {
			if bar.beyond != beyond {
				flush(run)
				run, beyond = "", bar.beyond
			}
			run += string(eighths[min(max(bar.height-8*row, 0), 8)])
		}
		flush(run)
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%*s │%s", indent-2, label, b.String()), " "))
	}
	from, to := ariadne.Time(0).String(), s.End.String()
	lines = append(lines, fmt.Sprintf("%*s └%s", indent-2, "", strings.Repeat("─", width)))
	return append(lines, fmt.Sprintf("%*s%s%*s", indent-1, "", from, width+1-len(from), to))
}

// bar is a column of a plot.
type bar struct {
	height int // in eighths of rows, from 1; 0: there was no value
	beyond bool
}

// barsOf are so many columns of the plot of a number with several values.
func barsOf(s *property.Series, columns int) []bar {
	bars, shown := make([]bar, columns), make([]*float64, columns)
	for i, p := range s.Points {
		if p.Value == nil {
			continue
		}
		first, last := column(p.At, s.End, columns), column(s.End, s.End, columns)
		if i+1 < len(s.Points) {
			last = column(max(s.Points[i+1].At-1, p.At), s.End, columns)
		}
		for c := first; c <= last; c++ {
			if shown[c] == nil || far(s, *p.Value) > far(s, *shown[c]) {
				shown[c] = p.Value
			}
		}
	}
	for c, v := range shown {
		if v != nil {
			bars[c] = bar{1 + int((*v-s.Min)/(s.Max-s.Min)*(8*plotRows-1)+0.5), s.Number.Beyond(*v) != ""}
		}
	}
	return bars
}

// far is more for a value that is farther beyond the bounds, or nearer to them.
func far(s *property.Series, v float64) float64 {
	switch {
	case s.Most != nil && s.Least != nil:
		return max(v-*s.Most, *s.Least-v)
	case s.Least != nil:
		return -v
	}
	return v
}

// column is that of a time.
func column(at, end ariadne.Time, columns int) int {
	if end <= 0 {
		return 0
	}
	return min(int(float64(at)/float64(end)*float64(columns)), columns-1)
}
