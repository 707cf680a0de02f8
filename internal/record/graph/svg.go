package graph

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
)

// Lengths in a drawing, in pixels.
const (
	columnWidth = 230
	rowHeight   = 20
	headHeight  = 56
	dot         = 4
	letter      = 7.3 // the width of one in the sentence, about
)

// WriteSVG writes a drawing for documents: nodes across, steps down, messages as arrows. It has
// no script, and shows what the page shows before anything is clicked.
func (p *Picture) WriteSVG(w io.Writer) error {
	b := bufio.NewWriter(w)
	d := drawing{p: p, b: b}
	if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Row < 0 }) {
		d.network = 1
	}
	width, height := d.x(len(p.Nodes)-1)+columnWidth, d.y(len(p.Steps))+rowHeight
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(b, "<style>%s</style>\n", svgStyle)
	b.WriteString(`<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker></defs>` + "\n")
	fmt.Fprintf(b, `<rect class="paper" width="%d" height="%d"/>`+"\n", width, height)
	d.text(12, 20, "sentence", p.Name+": "+p.Sentence, int(float64(width-24)/letter))
	for row := -d.network; row < len(p.Nodes); row++ {
		name := "network"
		if row >= 0 {
			name = p.Nodes[row]
		}
		d.text(d.x(row), headHeight-10, "name", name, columnWidth/8)
		fmt.Fprintf(b, `<line class="life" x1="%d" y1="%d" x2="%[1]d" y2="%d"/>`+"\n", d.x(row), headHeight,
			height-rowHeight/2)
	}
	for i := range p.Messages {
		d.message(&p.Messages[i])
	}
	for i := range p.Steps {
		d.step(&p.Steps[i])
	}
	b.WriteString("</svg>\n")
	return b.Flush()
}

// drawing writes the elements of a picture.
type drawing struct {
	p       *Picture
	b       *bufio.Writer
	network int // 1: the network has a column, before the nodes
}

func (d *drawing) x(row int) int  { return 20 + (row+d.network)*columnWidth }
func (d *drawing) y(step int) int { return headHeight + step*rowHeight }

// message draws an arrow to each arrival, or one that ends on its way.
func (d *drawing) message(m *Message) {
	x, y := d.x(m.From), d.y(m.Sent)
	for _, step := range m.Arrived {
		fmt.Fprintf(d.b, `<line class="message" x1="%d" y1="%d" x2="%d" y2="%d" marker-end="url(#head)"/>`+"\n", x, y, d.x(m.To), d.y(step))
	}
	if len(m.Arrived) == 0 {
		fmt.Fprintf(d.b, `<line class="lost" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", x, y, (2*x+d.x(m.To))/3,
			y+rowHeight/2)
	}
}

// step draws a dot with what happened beside it.
func (d *drawing) step(s *Step) {
	class := "step"
	switch {
	case s.Step == d.p.Violation:
		class = "violation"
	case s.Deviation != "" || s.Kind == causal.Struck:
		class = "deviation"
	}
	x, y := d.x(s.Row), d.y(s.Step)
	fmt.Fprintf(d.b, `<circle class="%s" cx="%d" cy="%d" r="%d"/>`+"\n", class, x, y, dot)
	d.text(x+2*dot, y+4, class, fmt.Sprintf("%d %s", s.Step, s.describe()), (columnWidth-3*dot)/6)
}

// text writes at most so many letters.
func (d *drawing) text(x, y int, class, text string, letters int) {
	if all := []rune(inLine(text)); len(all) > letters {
		text = string(all[:letters-1]) + "…"
	} else {
		text = string(all)
	}
	fmt.Fprintf(d.b, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(text))
}

// svgStyle has the page's colours, light and dark.
const svgStyle = `
text { font: 10px ui-monospace, monospace; fill: #223; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.name { font-weight: bold; font-size: 13px; }
.sentence { font-size: 12px; }
.paper { fill: #fff; }
.life { stroke: #ccd; }
.message { stroke: #58a; fill: none; }
.head { fill: #58a; }
.lost { stroke: #c33; stroke-dasharray: 4 3; }
circle.step { fill: #557; }
circle.deviation, text.deviation { fill: #b60; }
circle.violation, text.violation { fill: #c00; font-weight: bold; }
@media (prefers-color-scheme: dark) {
  text { fill: #dde; stroke: #16181d; } .paper { fill: #16181d; } .life { stroke: #334; }
  circle.step { fill: #99b; } .message { stroke: #7ad; } .head { fill: #7ad; }
  circle.deviation, text.deviation { fill: #fa4; } circle.violation, text.violation { fill: #f66; }
}
`
