// Package graph draws an execution as a page: nodes across, steps down, messages as arrows, with
// what they carry. The page is one file of HTML with all that it needs: it makes no request, and it
// can make none (Content-Security-Policy).
//
// Messages and lines of programs are hostile. They are data in the page (JSON without <, > and &),
// and the page's script shows them as text alone: on a canvas, and by textContent. No other script
// runs in the page than the one whose digest its policy names.
//
// Read next: graph.js.
package graph

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/payload"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
)

// Picture is what a page shows.
type Picture struct {
	Name      string `json:"name"`               // of the system
	Sentence  string `json:"sentence,omitempty"` // the violation
	Violation int    `json:"violation,omitempty"`
	// Parts is the first step that another execution, which stands beside this one, does not have.
	Parts    int       `json:"parts,omitempty"`
	Nodes    []string  `json:"nodes"`
	Steps    []Step    `json:"steps"`
	Messages []Message `json:"messages"`
}

// Step is a step of the execution.
type Step struct {
	causal.Event
	Row int `json:"row"` // of Picture.Nodes; -1: the network
	// Causes are the immediate causes, by index from 1.
	Causes []int `json:"causes,omitempty"`
	// Deviation is fault, choice or late where the step does not follow the natural schedule.
	Deviation string `json:"deviation,omitempty"`
	Timer     string `json:"timer,omitempty"` // the node's next, behind the step
	Calls     int    `json:"calls"`
}

// Message is a message between two nodes.
type Message struct {
	From, To int
	Sent     int   // step
	Arrived  []int // steps; none: it did not
	Struck   int   // the step of the fault that took it, or 0
	Text     string
	Protocol string
	Hex      string // of the first bytes
	Size     int
	Flags    string
	Ports    string
}

// New draws the steps of an execution. deviations are kinds of deviations by step.
func New(g *causal.Graph, w *causal.Words, nodes []string, deviations map[int]string) *Picture {
	p := &Picture{Nodes: nodes, Steps: []Step{}, Messages: []Message{}}
	steps := g.Steps()
	events := w.Events(steps)
	reader := payload.NewReader(w.Decode, w.Schema)
	at := map[*ariadne.Message]int{} // in p.Messages
	for i := range steps {
		s := &steps[i]
		d := Step{Event: events[i], Row: int(s.Action.Node), Deviation: deviations[i+1], Timer: s.Output.Timer,
			Calls: s.Output.Calls}
		for _, c := range g.Causes(i + 1) {
			d.Causes = append(d.Causes, c.Step)
			if c.Message == nil {
				continue
			}
			if m, ok := at[c.Message]; ok && s.Action.Node == ariadne.NoNode {
				p.Messages[m].Struck = i + 1
			} else if ok {
				p.Messages[m].Arrived = append(p.Messages[m].Arrived, i+1)
			}
		}
		p.Steps = append(p.Steps, d)
		for j := range s.Output.Messages {
			m := &s.Output.Messages[j]
			said := reader.Read(m)
			if m.From == m.To {
				continue
			}
			at[m] = len(p.Messages)
			p.Messages = append(p.Messages, Message{From: int(m.From), To: int(m.To), Sent: i + 1, Arrived: []int{},
				Text: said.Text, Protocol: said.Protocol, Hex: hex(m.Data), Size: len(m.Data), Flags: m.Flags.String(),
				Ports: fmt.Sprintf("%s %d>%d #%d", m.Flow.Proto, m.Flow.Src.Port(), m.Flow.Dst.Port(), m.Seq)})
		}
	}
	return p
}

// hex are the first bytes of a message's data.
func hex(b []byte) string {
	const most = 96
	if len(b) > most {
		return fmt.Sprintf("% x …", b[:most])
	}
	return fmt.Sprintf("% x", b)
}

//go:embed graph.js
var script string

//go:embed graph.css
var style string

// Write writes the page.
func (p *Picture) Write(w io.Writer) error {
	data, err := json.Marshal(p) // which escapes <, > and &
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, page, digest(script), digest(style), html.EscapeString(p.Name), style, data, script)
	return err
}

// WriteBeside writes a page with two pictures side by side. Each is a page within it.
func (p *Picture) WriteBeside(w io.Writer, other *Picture) error {
	args := []any{digest(script), digest(style), digest(besideStyle), html.EscapeString(p.Name), besideStyle}
	for _, one := range []*Picture{p, other} {
		var b strings.Builder
		if err := one.Write(&b); err != nil {
			return err
		}
		args = append(args, html.EscapeString(b.String()))
	}
	_, err := fmt.Fprintf(w, besidePage, args...)
	return err
}

// besideStyle is that of a page with two pictures.
const besideStyle = "html, body { height: 100%; margin: 0 } body { display: flex } iframe { flex: 1; border: 0; border-right: 2px solid #888 }"

// besidePage has two pages within it. They keep to its policy, too.
const besidePage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s %s; frame-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
<iframe sandbox="allow-scripts" title="this execution" srcdoc="%s"></iframe>
<iframe sandbox="allow-scripts" title="the other execution" srcdoc="%s"></iframe>
</body>
</html>
`

// digest is a text's digest as a Content-Security-Policy has it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src %s; style-src %s; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>%s</style>
</head>
<body>
<header>
<h1 id="title"></h1>
<p id="sentence"></p>
<div id="tools">
<input id="search" type="search" placeholder="Search steps and messages" aria-label="Search">
<span id="hits"></span>
<button id="previous" title="Previous hit">&#8593;</button>
<button id="next" title="Next hit">&#8595;</button>
<button id="out" title="Zoom out">&minus;</button>
<button id="in" title="Zoom in">+</button>
<button id="axis">By time</button>
<button id="fault">Violation</button>
<button id="only">Causal past only</button>
<button id="theme">Dark or light</button>
<span id="filters"></span>
</div>
</header>
<main>
<div id="scroll" tabindex="0"><div id="space"></div><canvas id="canvas"></canvas></div>
<aside id="details"><p>Click a step. Its causal past is then drawn in full, and all other steps are faint.</p></aside>
</main>
<script type="application/json" id="data">%s</script>
<script>%s</script>
</body>
</html>
`
