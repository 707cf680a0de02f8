package report

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// seriesOf is a series with values at some seconds.
func seriesOf(n property.Number, end ariadne.Time, values map[int]any, order ...int) *property.Series {
	s := &property.Series{Name: "n", Number: n, End: end}
	for i, at := range order {
		var v *float64
		if f, ok := values[at].(float64); ok {
			v = &f
		}
		s.Add(i, ariadne.Time(at)*1e9, v)
	}
	return s
}

// TestPlot: bars stand for parts of the time, and show the value that matters most of each.
func TestPlot(t *testing.T) {
	two, one := 2.0, 1.0
	s := seriesOf(property.Number{Most: &two}, 74e9, map[int]any{0: 0.0, 42: 1.0, 60: 4.0, 61: 1.0, 70: nil}, 0, 42, 60,
		61, 70)
	want := `  4 │                                                            █
    │                                                            █
    │                                          ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█▁▁▁▁▁▁▁▁▁
  0 │▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁████████████████████████████
    └──────────────────────────────────────────────────────────────────────────
    0.000000s                                                        74.000000s`
	if got := strings.Join(Plot(s, Style{Width: 80}), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := s.Summary(), "0 to 4; 4, more than 2, at 60.000000s (step 2)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if line := Plot(s, Style{Width: 80, Colour: true})[0]; strings.Count(line, "\x1b[31m█\x1b[0m") != 1 {
		t.Errorf("what is beyond is not marked: %q", line)
	}
	low := seriesOf(property.Number{Least: &one}, 1000e9, map[int]any{0: 3.0, 500: 0.0, 501: 3.0}, 0, 500, 501)
	if bars := barsOf(low, 10); bars[4].beyond || !bars[5].beyond || bars[5].height != 1 || bars[6].beyond {
		t.Errorf("%v", bars)
	}
	for _, c := range []struct {
		s    *property.Series
		want string
	}{
		{seriesOf(property.Number{Most: &two, Least: &one}, 9e9, map[int]any{0: 2.0, 1: 2.0}, 0, 1),
			"2 always, between 1 and 2"},
		{seriesOf(property.Number{Most: &two}, 9e9, map[int]any{0: nil}, 0), "no value"},
		{seriesOf(property.Number{}, 9e9, map[int]any{0: -0.5, 1: 1e21}, 0, 1), "-0.5 to 1e+21"},
		{low, "0 to 3; 0, less than 1, at 500.000000s (step 1)"},
	} {
		if got := c.s.Summary(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if Plot(seriesOf(property.Number{}, 9e9, map[int]any{0: 1.0}, 0), Style{}) != nil {
		t.Error("one value has a plot")
	}
}
