//go:build linux

package crash

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/record/page"
)

//go:embed page.html
var pageText string

var pageTemplate = page.Parse(pageText)

// line is an operation on the page.
type line struct {
	Number  int
	What    string
	Barrier bool // it syncs
	Changes bool
	Marks   []mark // what fails when it is the last operation
	Lost    bool   // in the image that is told
	Part    string // what of it, unless it is all
	End     bool   // the last one before the loss
}

// mark says how many images fail, or are to be looked at, of a column.
type mark struct {
	Model  string
	Images int
}

// story is an image, of those that fail the one that lacks least, with the operations that matter.
type story struct {
	Model   string
	Head    string // which image it is
	Judge   string // who has said so
	Kill    bool
	Call    bool // that fails
	Failure *Failure
	First   []string // lines on the loss from which a recovery began, or none
	Earlier int      // operations before Lines
	Lines   []line
}

// First are the groups that have the most images, Rest the others.
func (r *Result) First() []Group { return r.Groups[:min(len(r.Groups), mostGroups)] }

func (r *Result) Rest() []Group { return r.Groups[len(r.First()):] }

// Page writes what came of a log as a page that needs nothing else.
func Page(w io.Writer, title string, log []*disk.Op, results []*Result) error {
	lines := linesOf(log)
	for k := range lines {
		for _, r := range results {
			if n := r.marks[k]; n > 0 {
				lines[k].Marks = append(lines[k].Marks, mark{r.Model, n})
			}
		}
	}
	data := struct {
		Title      string
		Operations int
		Advised    bool
		Results    []*Result
		Stories    []*story
		Lines      []line
	}{Title: title, Operations: len(log), Results: results, Lines: lines}
	for _, r := range results {
		data.Advised = r.Advised
		for _, f := range []*Failure{r.Shortest, r.Undecidable} {
			if f != nil {
				of := lines
				if f.Recovery != nil {
					of = linesOf(f.recovery.Log)
				}
				data.Stories = append(data.Stories, storyOf(r, f, of))
			}
		}
	}
	return pageTemplate.Execute(w, data)
}

// linesOf are the operations of a log.
func linesOf(log []*disk.Op) []line {
	lines := make([]line, len(log))
	for k, op := range log {
		lines[k] = line{Number: k + 1, What: page.Plain(short(op.String())), Barrier: op.Barrier(),
			Changes: op.Changes()}
	}
	return lines
}

// storyOf lists which operations an image has and which it has lost, from the last sync before the
// first lost operation on.
func storyOf(r *Result, f *Failure, lines []line) *story {
	s := &story{Model: r.Name(), Head: r.Head(f), Judge: r.Judge(), Kill: r.Model == Kill, Call: r.Model == Calls,
		Failure: f}
	if f.Recovery != nil {
		r.describeLoss(func(format string, args ...any) { s.First = append(s.First, fmt.Sprintf(format, args...)) },
			f.Recovery, mostLost, "lost at first", "")
	}
	if len(f.missing) == 0 {
		return s
	}
	s.Lines = append(s.Lines, lines[:f.Operation]...)
	words := f.Lost
	for i, p := range f.missing {
		l := &s.Lines[p.Op]
		if l.Lost = true; i > 0 && f.missing[i-1].Op == p.Op || len(words) == 0 {
			continue
		}
		if parts, _, some := strings.Cut(words[0], " parts of "); some {
			l.Part = parts + " parts"
		}
		words = words[1:]
	}
	s.Lines[f.Operation-1].End = true
	for s.Earlier = f.missing[0].Op; s.Earlier > 0 && !lines[s.Earlier-1].Barrier; {
		s.Earlier--
	}
	s.Lines = s.Lines[s.Earlier:]
	return s
}
