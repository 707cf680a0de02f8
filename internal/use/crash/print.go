//go:build linux

package crash

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record/report"
)

// The most that is listed.
const (
	mostGroups = 12
	mostLost   = 8
	mostAdvice = 5
)

// Print says what came of it, for people.
func Print(w io.Writer, r *Result, style report.Style) {
	p := func(format string, args ...any) { fmt.Fprintln(w, style.Wrap(fmt.Sprintf(format, args...))) }
	switch {
	case r.Failures != nil:
		r.printCalls(p)
	case r.Recovered != nil:
		r.printRecovered(p)
	default:
		verdicts := fmt.Sprintf("%d pass, %d fail%s", r.Passed, r.Failed, r.rate())
		if r.Advised {
			verdicts = fmt.Sprintf("%d far from before and after", r.Far)
		}
		p("%s: %s, %s, %s, %d distinct: %s", r.Model, some(r.Operations, "operation"), some(r.Points, "point"),
			some(r.Images, "image"), r.Distinct, verdicts)
	}
	if r.Judged < r.Operations {
		p("  interrupted after %d of %d %s", r.Judged, r.Operations, r.Unit())
	}
	switch {
	case r.Audited > 0:
		p("  not checked: %d that equal others wherever the checker looks (%d audited)", r.Merged, r.Audited)
	case r.Merged > 0:
		p("  not checked: %d that equal others wherever the checker looks", r.Merged)
	}
	if r.Equal > 0 {
		p("  not checked: %d that have the signature of another one", r.Equal)
	}
	if r.Unsigned > 0 {
		p("  note: the command of --signature failed on %s, which the checker examined: %s", some(r.Unsigned, "image"),
			r.FirstUnsigned)
	}
	switch {
	case r.Undecided > 0 && r.Advised:
		p("  %d undecided: the reader did not end in time (--timeout)", r.Undecided)
	case r.Undecided > r.Flaky:
		p("  %d undecided: the checker did not end in time (--timeout)", r.Undecided-r.Flaky)
	}
	if r.Flaky > 0 {
		p("  %d undecided: the checker rejects the same files in one run and accepts them in another: it depends on more than the files", r.Flaky)
	}
	switch {
	case r.LeftOut > 0 && r.Failures != nil:
		p("  left out: %s (--failures)", some(int(r.LeftOut), "failure"))
	case r.AtLeast && r.LeftOut == 0: // more are allowed than could be counted
		p("  left out: some of the subsets that the model allows (--images)")
	case r.AtLeast:
		p("  left out: more than %.3g of the subsets that the model allows (--images)", r.LeftOut)
	case r.LeftOut > 0:
		p("  left out: %.9g of the subsets that the model allows (--images)", r.LeftOut)
	}
	if r.Pointed {
		p("  note: images are formed only where the program wrote %q", crashNow)
	}
	if r.Elsewhere != "" {
		p("  note: %s does not see the images at %s (%s): files that hold absolute paths may be misjudged", r.Judge(), home, r.Elsewhere)
	}
	if r.Before {
		p("  note: the checker rejects the files from before the first operation; images equal to them are not counted")
	}
	if r.Killed > 0 {
		p("  %d of the failing images are left by a kill, too", r.Killed)
	}
	for i := range r.Groups {
		if i == mostGroups {
			p("  and %d more", len(r.Groups)-i)
			break
		}
		g := &r.Groups[i]
		p("  %s%s: %s", g, g.others(), g.Fail())
		if g.Dir != "" {
			p("    kept in %s", g.Dir)
		}
	}
	if r.Uncertain > 0 {
		p("  %s may lack more than the failure needs: %s were not enough to find out", some(r.Uncertain, "example"), some(r.Shrunk, "check"))
	}
	if r.Shortest != nil {
		r.printFailure(p, r.Shortest)
	}
	if r.Undecidable != nil {
		r.printFailure(p, r.Undecidable)
	}
	for i, a := range r.Advice {
		if i == mostAdvice {
			p("  and %d more", len(r.Advice)-i)
			break
		}
		p("  advice: %s", a)
	}
}

// printRecovered says what came of losses during recoveries.
func (r *Result) printRecovered(p func(format string, args ...any)) {
	o := r.Recovered
	p("%s: %s with %s, %s, %s, %d distinct: %d pass, %d fail%s", r.Name(), some(r.Operations, "execution"), o,
		some(r.Points, "point"), some(r.Images, "image"), r.Distinct, r.Passed, r.Failed, r.rate())
	if o.LeftOut > 0 {
		p("  left out: the recovery of %s (--recoveries)", some(o.LeftOut, "image"))
	}
	if o.Undecided > 0 {
		p("  %s cannot be judged: %s", some(o.Undecided, "recovery"), strings.Join(o.Why, "; "))
	}
}

// Name is what losses it is of.
func (r *Result) Name() string {
	if r.Recovered != nil {
		return r.Model + " in the recovery"
	}
	return r.Model
}

// printCalls says what came of executions in which a call fails.
func (r *Result) printCalls(p func(format string, args ...any)) {
	f := r.Failures
	verdicts := fmt.Sprintf("%d distinct: %d pass, %d fail", r.Distinct, r.Passed, r.Failed)
	if r.Advised {
		verdicts = fmt.Sprintf("%d left files that they should not", r.Far)
	}
	p("%s: %s, %s; %s", r.Model, some(r.Operations, "failure"), f, verdicts)
	if f.Undecided > 0 {
		p("  %d cannot be judged: %s", f.Undecided, strings.Join(f.Why, "; "))
	}
}

// String says what commands say when a call fails, and what they leave.
func (f *Failures) String() string {
	text := fmt.Sprintf("%d reported (files as before: %d), %d not reported (files as after: %d)", f.Reported, f.Before, f.Succeeded, f.After)
	if f.Hung > 0 {
		text += fmt.Sprintf(", %d hang", f.Hung)
	}
	return text
}

// some says how many there are of what has a regular plural.
func some(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, y := strings.CutSuffix(one, "y"); y {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// Unit is what operations are counted in.
func (r *Result) Unit() string {
	switch {
	case r.Failures != nil:
		return "failures"
	case r.Recovered != nil:
		return "recoveries"
	}
	return "operations"
}

// Fail says how many images fail, or executions of Calls.
func (g *Group) Fail() string {
	one := "image"
	if g.call {
		one = "execution"
	}
	if g.Images == 1 {
		return "1 " + one + " fails"
	}
	return some(g.Images, one) + " fail"
}

// others says how many losses are called likewise.
func (g *Group) others() string {
	if g.Alike == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d similar)", g.Alike)
}

// words say what there is to be looked at.
func (a Advice) words() string {
	one, from := "image", "before and after"
	if a.From != "" {
		one, from = "execution", a.From
	}
	return fmt.Sprintf("%s, %s from %s, in %s: %s", a.Found, some(a.Distance, "byte"), from, some(a.Images, one),
		a.Blame)
}

// String says what there is to be looked at, and where.
func (a Advice) String() string { return a.File + ": " + a.words() }

// Head says which of a column's images it is that is told.
func (r *Result) Head(f *Failure) string {
	switch {
	case f == r.Undecidable:
		return "the first that is undecided"
	case r.Model == Kill || r.Model == Calls:
		return "the first that fails"
	}
	return "the failing image that lacks least"
}

// Judge is whose word counts.
func (r *Result) Judge() string {
	if r.Advised {
		return "the reader"
	}
	return "the checker"
}

// printFailure says what is wrong with an image.
func (r *Result) printFailure(p func(format string, args ...any), f *Failure) {
	p("%s:", r.Head(f))
	r.describe(func(format string, args ...any) { p("  "+format, args...) }, f, mostLost)
}

// describe says what is wrong with an image, with so many of the lost operations at most.
func (r *Result) describe(p func(format string, args ...any), f *Failure, most int) {
	if f.Recovery == nil {
		r.describeLoss(p, f, most, "lost", "")
	} else {
		r.describeLoss(p, f.Recovery, most, "lost at first", "")
		r.describeLoss(p, f, most, "lost in the recovery", " of the recovery")
	}
	p("%s: %s", r.Judge(), f.Status)
	if f.Output == "" {
		return
	}
	for line := range strings.SplitSeq(f.Output, "\n") {
		p("| %s", line)
	}
}

// describeLoss says when a loss was, and lists what was lost, under a heading. of says of what the
// operations are.
func (r *Result) describeLoss(p func(format string, args ...any), f *Failure, most int, heading, of string) {
	switch r.Model {
	case Kill:
		p("the programs are killed after operation %d%s, %s", f.Operation, of, f.Last)
	case Calls:
		p("%s (%s)", f.Last, f.Name)
	default:
		p("power is lost after operation %d%s, %s", f.Operation, of, f.Last)
	}
	for i, l := range f.Lost {
		if i == most {
			p("%s: %d more", heading, len(f.Lost)-i)
			break
		}
		p("%s: %s", heading, l)
	}
}

// Progress says how far it is, and about how long the rest takes: as long for each operation as
// before.
func (r *Result) Progress() string {
	text := fmt.Sprintf("%s: %d of %d %s, %d images checked, %d fail", r.Name(), r.Judged, r.Operations, r.Unit(),
		r.Distinct, r.Failed)
	if took := time.Since(r.began); r.Judged > 0 && r.Judged < r.Operations && took > time.Second {
		rest := time.Duration(float64(took) / float64(r.Judged) * float64(r.Operations-r.Judged))
		text += fmt.Sprintf(", about %v left", rest.Round(time.Second))
	}
	return text
}

// rate says how many images were checked in a second, if any were.
func (r *Result) rate() string {
	if r.Checked == 0 {
		return ""
	}
	return fmt.Sprintf(" (%.0f images/s)", float64(r.Checked)/r.RealTime.Seconds())
}
