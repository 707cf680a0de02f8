package main

import (
	"encoding/json"
	"io"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// jsonPrinter prints one object per event, each on a line of its own: a report.Step, a
// progressEvent, a scriptEvent, a record.Violation, and a record.Report as the last. Its field
// "event" says which.
type jsonPrinter struct {
	enc   *json.Encoder
	nodes []string
	quiet bool // the report only
}

func newJSONPrinter(w io.Writer, nodes []string, quiet bool) *jsonPrinter {
	return &jsonPrinter{enc: newEncoder(w), nodes: nodes, quiet: quiet}
}

// progressEvent says how far a check has come.
type progressEvent struct {
	Event      string        `json:"event"` // "progress"
	Executions int           `json:"executions"`
	Steps      int           `json:"steps"`
	Violations int           `json:"violations"`
	Elapsed    time.Duration `json:"elapsed_ns"`
}

// scriptEvent has a line that a script has printed.
type scriptEvent struct {
	Event string `json:"event"` // "script"
	Line  string `json:"line"`
}

// newEncoder returns an encoder to a terminal, not to a web page.
func newEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// print writes an event. Output to a closed pipe is lost. The exit status still tells the outcome.
func (p *jsonPrinter) print(event any) { p.enc.Encode(event) }

func (p *jsonPrinter) step(s ariadne.Step) {
	if p.quiet {
		return
	}
	e := report.NewStep(&s, p.nodes)
	e.Event = "step"
	p.print(e)
}

func (p *jsonPrinter) limits(check.Options) {}

func (p *jsonPrinter) progress(g check.Progress) {
	if !p.quiet {
		p.print(progressEvent{"progress", g.Executions, g.Steps, g.Violations, g.Elapsed})
	}
}

func (p *jsonPrinter) printScriptLine(line string) {
	if !p.quiet {
		p.print(scriptEvent{"script", line})
	}
}

func (p *jsonPrinter) violation(v record.Violation) {
	if !p.quiet {
		p.print(v)
	}
}

func (p *jsonPrinter) report(r *record.Report) { p.print(r) }
