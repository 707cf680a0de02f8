//go:build linux

package crash

import (
	"fmt"
	"io"
	"strings"

	"ariadne/internal/report"
)

// What is listed at most.
const (
	mostGroups = 12
	mostLost   = 8
	mostAdvice = 5
)

// Print says what came of it, for people.
func Print(w io.Writer, r *Result, style report.Style) {
	p := func(format string, args ...any) { fmt.Fprintln(w, style.Line(fmt.Sprintf(format, args...))) }
	verdicts := fmt.Sprintf("%d pass, %d fail%s", r.Passed, r.Failed, r.rate())
	if r.Advised {
		verdicts = fmt.Sprintf("%d far from before and after", r.Far)
	}
	p("%s: %d operations, %d points, %d images, %d distinct: %s", r.Model, r.Operations, r.Points, r.Images, r.Distinct, verdicts)
	if r.Judged < r.Operations {
		p("  interrupted after %d of %d operations", r.Judged, r.Operations)
	}
	switch {
	case r.AtLeast:
		p("  left out: more than %.3g of the subsets that the model allows (--images)", r.LeftOut)
	case r.LeftOut > 0:
		p("  left out: %.9g of the subsets that the model allows (--images)", r.LeftOut)
	}
	if r.Pointed {
		p("  note: the program says where: images are formed at its %s lines alone", crashNow)
	}
	if r.Before {
		p("  note: the checker rejects the files from before the first operation; images equal to them are not counted")
	}
	if r.Killed > 0 {
		p("  %d of those that fail: a kill leaves the same", r.Killed)
	}
	for i := range r.Groups {
		if i == mostGroups {
			p("  and %d more", len(r.Groups)-i)
			break
		}
		if g := &r.Groups[i]; g.Images == 1 {
			p("  %s: 1 image fails", g)
		} else {
			p("  %s: %d images fail", g, g.Images)
		}
	}
	if r.Shortest != nil {
		r.printShortest(p)
	}
	for i, a := range r.Advice {
		if i == mostAdvice {
			p("  and %d more", len(r.Advice)-i)
			break
		}
		p("  advice: %s: %s", a.File, a.words())
	}
}

// words say what there is to be looked at.
func (a *Advice) words() string {
	where := "image"
	if a.Images > 1 {
		where = "images"
	}
	return fmt.Sprintf("%s, %d bytes from before and after, in %d %s: %s", a.Found, a.Distance, a.Images, where, a.Blame)
}

// printShortest says what is wrong with the image that lacks least.
func (r *Result) printShortest(p func(format string, args ...any)) {
	f := r.Shortest
	if r.Model == Kill {
		p("the first that fails:")
		p("  the programs are killed after operation %d, %s", f.Operation, f.Last)
	} else {
		p("the failing image that lacks least:")
		p("  power is lost after operation %d, %s", f.Operation, f.Last)
	}
	for i, l := range f.Lost {
		if i == mostLost {
			p("  lost: %d more", len(f.Lost)-i)
			break
		}
		p("  lost: %s", l)
	}
	p("  the checker: %s", f.Status)
	if f.Output == "" {
		return
	}
	for line := range strings.SplitSeq(f.Output, "\n") {
		p("  | %s", line)
	}
}

// rate says how many images were checked in a second, if any were.
func (r *Result) rate() string {
	if r.Checked == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.0f images/s)", float64(r.Checked)/r.Seconds)
}
