//go:build linux

package disk

import (
	"fmt"
	"io"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record/report"
)

// The most that is listed.
const (
	mostGroups = 12
	mostLost   = 8
)

// Progress is how far a check is, in a line.
func (r *Report) Progress() string {
	text := fmt.Sprintf("%s: %s", r.Name, some(r.Executions, "execution"))
	if r.Planned > 1 {
		text = fmt.Sprintf("%s: %d of %d executions", r.Name, r.Executions, r.Planned)
	}
	text += fmt.Sprintf(", %s, %s", some(r.Checked, "image"), some(r.Failed, "failure"))
	if r.Planned > 1 && r.Executions > 0 {
		left := r.RealTime / time.Duration(r.Executions) * time.Duration(r.Planned-r.Executions)
		text += fmt.Sprintf(", about %v left", left.Round(time.Second))
	}
	return text
}

func some(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "flush" {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Print says what came of a check, for people.
func Print(w io.Writer, r *Report, style report.Style) {
	p := func(format string, args ...any) { fmt.Fprintln(w, style.Wrap(fmt.Sprintf(format, args...))) }
	p("%s: %s with %s and %s. %s at %s, %d recovered and examined: %d pass, %d fail", r.Name,
		some(r.Executions, "execution"), some(r.Requests, "request"), some(r.Flushes, "flush"),
		some(r.Images, "image"), some(r.Points, "point"), r.Checked, r.Passed, r.Failed)
	r.notes(func(format string, args ...any) { p("  "+format, args...) })
	if r.Stopped != "" {
		p("  stopped %s", r.Stopped)
	}
	p("  %.0f images a second; the kernel writes when it likes, so another check may log other requests", r.speed())
	for _, c := range r.Calls {
		p("  an execution is not as it must be: %s", c)
	}
	for i := range r.Groups {
		if i == mostGroups {
			p("  and %d more", len(r.Groups)-i)
			break
		}
		r.Groups[i].write(func(format string, args ...any) { p("  "+format, args...) })
	}
	for i := range r.Without {
		r.Without[i].write(func(format string, args ...any) { p("  "+format, args...) })
	}
}

// notes say what of a check is not in the numbers of images alone.
func (r *Report) notes(p func(format string, args ...any)) {
	if r.During > 0 {
		p("%d of them of power that is lost once more, during the recovery", r.During)
	}
	if r.Faulty > 0 {
		p("in %s a device fails; in %d of them the workload ends with an error", some(r.Faulty, "execution"), r.FaultsTold)
	}
	if r.FaultsMissed > 0 {
		p("in %s the fault does not happen, because there are fewer requests", some(r.FaultsMissed, "execution"))
	}
	if r.Noticed > 0 {
		p("%s pass because a layer refuses to work, or a file cannot be read, after a silent fault", some(r.Noticed, "image"))
	}
	if r.FaultsLeftOut > 0 {
		p("left out: %s that could fail (failures)", some(r.FaultsLeftOut, "request"))
	}
	if r.Undecided > 0 {
		p("%d undecided, the first: %s", r.Undecided, r.Undecidable)
	}
	if r.LeftOut > 0 {
		p("left out: %.9g subsets of requests (images)", r.LeftOut)
	}
	if r.Pointed {
		p("note: images are formed only where the workload wrote %q", crashNow)
	}
}

// write says what came of a check without a layer, in a line.
func (w *Without) write(p func(format string, args ...any)) {
	if w.Impossible != "" {
		p("without the layer %s the stack cannot be checked: %s", w.Layer, w.Impossible)
		return
	}
	p("without the layer %s: %s, %s examined, %d fail", w.Layer, some(w.Executions, "execution"),
		some(w.Checked, "image"), w.Failed)
}

// speed is how many images were recovered and examined in a second.
func (r *Report) speed() float64 {
	if r.Judging == 0 {
		return 0
	}
	return float64(r.Checked) / r.Judging.Seconds()
}

// write says what is known of a group, in lines.
func (g *Group) write(p func(format string, args ...any)) {
	p("%s: %s", some(g.Images, "image"), g.Why)
	f := g.Example
	p("  %s: power is lost after %s", f.Execution, f.where())
	if f.Recovery == nil {
		f.writeLost(p, "lost")
	} else {
		p("  this is during the recovery from a first loss, after %s", f.Recovery.where())
		f.Recovery.writeLost(p, "lost at first")
		f.writeLost(p, "lost in the recovery")
	}
	g.writeFurther(func(format string, args ...any) { p("  "+format, args...) })
}

// writeFurther says which layers have to do with a group, and where its example is.
func (g *Group) writeFurther(p func(format string, args ...any)) {
	for _, layer := range g.Threads {
		p("threads of the layer %s run in all executions with such images", layer)
	}
	for _, layer := range g.Blamed {
		p("without the layer %s, no image fails in this way", layer)
	}
	if g.Dir != "" {
		p("kept in %s", g.Dir)
	}
}

// where is the moment of the loss.
func (f *Failure) where() string {
	last := f.Last
	if last == "" {
		last = "no request"
	}
	if f.Said != "" {
		return fmt.Sprintf("%s (%s)", last, f.Said)
	}
	return last
}

// writeLost lists what is lost. what says of which loss it is.
func (f *Failure) writeLost(p func(format string, args ...any), what string) {
	if len(f.Lost) == 0 {
		p("  %s: no request", what)
	}
	for i, l := range f.Lost {
		if i == mostLost {
			p("  %s: %d more", what, len(f.Lost)-i)
			break
		}
		p("  %s: %s", what, l)
	}
}
