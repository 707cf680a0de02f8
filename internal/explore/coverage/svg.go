package coverage

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Series is a line of a plot: y against x, in order of x.
type Series struct {
	Name string
	X, Y []float64
}

// Plot has logarithmic axes that begin at 1.
type Plot struct {
	Title, XName, YName string
	Series              []Series
}

// Growth is the plot of a search: what was seen against paths.
func Growth(title string, samples []Sample) Plot {
	p := Plot{Title: title, XName: "paths", YName: "seen"}
	for _, line := range []struct {
		name string
		of   func(Sample) int
	}{
		{"global states", func(s Sample) int { return s.States }},
		{"partial-order traces", func(s Sample) int { return s.Traces }},
		{"local states", func(s Sample) int { return s.Locals }},
		{"protocol states", func(s Sample) int { return s.Protocol }},
		{"transitions executed", func(s Sample) int { return s.Executed }},
	} {
		l := Series{Name: line.name}
		for _, s := range samples {
			if s.Paths > 0 && line.of(s) > 0 {
				l.X, l.Y = append(l.X, float64(s.Paths)), append(l.Y, float64(line.of(s)))
			}
		}
		if len(l.X) > 0 {
			p.Series = append(p.Series, l)
		}
	}
	return p
}

// The plot's size and margins, in pixels.
const (
	width, height            = 800, 500
	left, right, top, bottom = 70, 200, 40, 50
)

// colours of the lines (Okabe and Ito), in turn.
var colours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// WriteSVG draws the plot.
func (p *Plot) WriteSVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	fmt.Fprintf(&b, `<text x="%d" y="24" font-size="15">%s</text>`+"\n", left, escape(p.Title))
	x, y := p.axes()
	for d := 0; d <= x.decades; d++ {
		at := x.at(math.Pow(10, float64(d)))
		fmt.Fprintf(&b, `<path d="M%.1f %d V%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", at, top, height-bottom, at, height-bottom+18, power(d))
	}
	for d := 0; d <= y.decades; d++ {
		at := y.at(math.Pow(10, float64(d)))
		fmt.Fprintf(&b, `<path d="M%d %.1f H%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", left, at, width-right, left-6, at+4, power(d))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", (left+width-right)/2, height-12,
		escape(p.XName))
	fmt.Fprintf(&b, `<text x="16" y="%d" text-anchor="middle" transform="rotate(-90 16 %d)">%s</text>`+"\n", (top+height-bottom)/2, (top+height-bottom)/2, escape(p.YName))
	for i, s := range p.Series {
		colour := colours[i%len(colours)]
		b.WriteString(`<path fill="none" stroke-width="1.8" stroke="` + colour + `" d="`)
		for j := range s.X {
			fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(j, 1)], x.at(s.X[j]), y.at(s.Y[j]))
		}
		last := len(s.X) - 1
		fmt.Fprintf(&b, `"/><circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(s.X[last]), y.at(s.Y[last]),
			colour)
		row := top + 14 + 20*i
		fmt.Fprintf(&b, `<path d="M%d %d h20" stroke-width="3" stroke="%s"/><text x="%d" y="%d">%s: %.0f</text>`+"\n", width-right+10, row-4, colour, width-right+36, row, escape(s.Name), s.Y[last])
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// axis maps values from 1 to a power of ten to pixels.
type axis struct {
	decades  int
	from, to float64
}

func (a axis) at(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log10(v)/float64(a.decades)
}

func (p *Plot) axes() (x, y axis) {
	x, y = axis{1, left, width - right}, axis{1, height - bottom, top}
	for _, s := range p.Series {
		for i := range s.X {
			x.decades = max(x.decades, int(math.Ceil(math.Log10(s.X[i]))))
			y.decades = max(y.decades, int(math.Ceil(math.Log10(s.Y[i]))))
		}
	}
	return x, y
}

func power(d int) string {
	if d < 4 {
		return fmt.Sprint(int(math.Pow(10, float64(d))))
	}
	return fmt.Sprintf(`10<tspan dy="-5" font-size="9">%d</tspan>`, d)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}
