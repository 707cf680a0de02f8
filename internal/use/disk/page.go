//go:build linux

package disk

import (
	_ "embed"
	"fmt"
	"io"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/record/page"
)

//go:embed page.html
var pageText string

var pageTemplate = page.Parse(pageText)

// pageLine is a request, or a line of the workload, on the page.
type pageLine struct {
	Number  int
	What    string
	Barrier bool // a flush
	Changes bool
	Lost    bool
	Part    string // what of it, unless it is all
}

// pageLoss is a loss of power on the page.
type pageLoss struct {
	Head  string
	Lines []pageLine // the last requests before it
}

// pageGroup is a group on the page.
type pageGroup struct {
	*Group
	Count   string
	Losses  []pageLoss
	Further []string
}

// Page writes what came of a check as a page that needs nothing else.
func Page(w io.Writer, r *Report) error {
	data := struct {
		*Report
		Notes  []string
		Groups []pageGroup
	}{Report: r}
	note := func(format string, args ...any) { data.Notes = append(data.Notes, fmt.Sprintf(format, args...)) }
	r.notes(note)
	for _, c := range r.Calls {
		note("an execution is not as it must be: %s", c)
	}
	for i := range r.Without {
		r.Without[i].write(note)
	}
	for i := range r.Groups {
		data.Groups = append(data.Groups, pageGroupOf(&r.Groups[i]))
	}
	return pageTemplate.Execute(w, data)
}

// pageGroupOf lists the requests before the losses of the example.
func pageGroupOf(g *Group) pageGroup {
	p := pageGroup{Group: g, Count: some(g.Images, "image")}
	f, t := g.Example, g.Example.trace
	if f.Recovery == nil {
		p.Losses = []pageLoss{{"Power is lost after " + f.where() + ".", pageLines(t.Log, t.Failing)}}
	} else {
		p.Losses = []pageLoss{
			{"Power is lost after " + f.Recovery.where() + ".", pageLines(t.Log, t.Failing)},
			{"In the recovery, power is lost again after " + f.where() + ".", pageLines(t.Again, t.Failing.Again)}}
	}
	g.writeFurther(func(format string, args ...any) { p.Further = append(p.Further, fmt.Sprintf(format, args...)) })
	return p
}

// mostBefore is how many requests and lines are shown before the flush after which something is
// lost, or before the loss of power if nothing is.
const mostBefore = 8

// pageLines are the last operations before a loss.
func pageLines(log []block.Op, l *Loss) (lines []pageLine) {
	from := l.At
	if len(l.Lost) > 0 {
		from = l.Lost[0].Op
		for from > 0 && log[from-1].Kind != block.Flush {
			from--
		}
	}
	for i := max(from-mostBefore, 0); i < l.At; i++ {
		o := &log[i]
		line := pageLine{Number: i + 1, What: o.String(), Barrier: o.Kind == block.Flush, Changes: o.Changes()}
		if k := slices.IndexFunc(l.Lost, func(x block.Loss) bool { return x.Op == i }); k >= 0 {
			if line.Lost = true; !l.Lost[k].All {
				line.Part = fmt.Sprintf("%d bytes at %d", l.Lost[k].Hi-l.Lost[k].Lo, l.Lost[k].Lo)
			}
		}
		lines = append(lines, line)
	}
	return lines
}
