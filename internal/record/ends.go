package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Doubts that a resumed check drops, and enters again if they still hold.
const (
	unended          = "executions do not end by themselves: "
	interruptedAfter = "the check was interrupted after "
	noneEnded        = "no execution ended in the given time"
	tooFew           = "too few executions ended: "
	noFault          = "no fault was tried: "
)

// GoOn removes from the report of a check what does not hold for the check that resumes it.
func (r *Report) GoOn() {
	r.Notes = slices.DeleteFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, untried) })
	r.Doubts = slices.DeleteFunc(r.Doubts, func(d string) bool {
		return strings.HasPrefix(d, noneEnded) || strings.HasPrefix(d, tooFew) || strings.HasPrefix(d, noFault) ||
			strings.HasPrefix(d, interruptedAfter) || strings.HasPrefix(d, unended)
	})
}

// endedBefore ends the text of a doubt that a resumed check drops, because it takes all walks
// again.
const endedBefore = ", and the check ended before it found out why: give it more time (--time)"

// GoalDoubt says that the check ended before it was known what there is to an execution in which a
// goal was not live.
func GoalDoubt(name string) string {
	return fmt.Sprintf("property %q was not true in any state of a long walk%s", name, endedBefore)
}

// Why a check stops that has a remark of its own.
const (
	// Interrupted is why a command stops that the user ends.
	Interrupted = "interrupted"
	// PathsCutOff: no path is left, but limits of steps or time have cut paths off at states that
	// count as equal to later ones. So other paths may lead further (Coverage.Missed).
	PathsCutOff = "no path is left, but limits of steps or time cut paths off"
)

// Stop enters why a check has stopped.
func (r *Report) Stop(why string, s *spec.Spec) {
	r.Stopped = why
	switch {
	case why == Interrupted:
		r.Doubt(fmt.Sprintf("%s%d executions", interruptedAfter, r.Executions))
	case why == search.StopTime && r.Executions == 0:
		r.Doubt(r.noneEnded(s))
	}
	r.Ended(s, r.Ends)
	if len(r.Violations) == 0 {
		r.Untried()
		r.Unshown()
	}
}

// noneEnded says what to do about a check in which no execution has ended.
func (r *Report) noneEnded(s *spec.Spec) string {
	advice := []string{"give the check more time (--time)"}
	if r.Searched() != "random" && len(s.Properties.Goals) == 0 { // which need frozen nodes
		advice = append(advice, "take executions without freezing nodes (--strategy random)")
	}
	if r.Searched() != "random" {
		advice = append(advice, "explore from a later step (--from)")
	}
	if slices.ContainsFunc(s.Nodes, func(n spec.Node) bool { return n.Client }) {
		advice = append(advice, "let the clients do less")
	}
	text := fmt.Sprintf("%s, and %d steps were taken: ", noneEnded, r.Steps)
	if n := len(advice); n > 1 {
		return text + strings.Join(advice[:n-1], ", ") + " or " + advice[n-1]
	}
	return text + advice[0]
}

// AtLeast is how many executions make nothing found a verdict, when not all is explored and the
// user says nothing.
const AtLeast = 10

// Enough enters a doubt if a check that found nothing has executed too little for a verdict: fewer
// executions than atLeast, or none with a fault although faults may happen. said: the user has
// given atLeast, and accepts executions without faults.
func (r *Report) Enough(atLeast int, said bool) {
	c := r.Coverage
	r.AtLeast = atLeast
	if len(r.Violations) > 0 || c == nil || c.Exhausted || r.Stopped == Interrupted || r.Executions == 0 &&
		r.Stopped != PathsCutOff {
		return
	}
	if r.Executions < atLeast {
		advice := "give the check more time (--time)"
		if r.Stopped == PathsCutOff {
			advice = "let paths go further (--depth, or limits in the spec)"
		}
		if r.Executions > 0 {
			advice += fmt.Sprintf(", or accept fewer (--at-least %d)", r.Executions)
		}
		r.Doubt(fmt.Sprintf("%s%d, and a verdict needs %d: %s", tooFew, r.Executions, atLeast, advice))
	}
	if said || c.Earlier > 0 || len(c.Faults) == 0 ||
		slices.ContainsFunc(c.Faults, func(f Faults) bool { return f.Taken > 0 }) {
		return
	}
	var kinds []string
	for _, f := range c.Faults {
		kinds = append(kinds, f.Kind)
	}
	r.Doubt(fmt.Sprintf("%s%s may happen, and no execution had one: give the check more time (--time), search without faults (--faults none), or accept that (--at-least %d)",
		noFault, strings.Join(kinds, ", "), r.Executions))
}

// Ended enters what speaks against a verdict on executions that ended so, if anything does.
func (r *Report) Ended(s *spec.Spec, ends map[string]int) {
	if d := unendedDoubt(s, ends, r.Servers); d != "" {
		r.Doubt(d)
	}
}

// unendedDoubt says why these ends of executions allow no verdict, or "". If limits have ended
// nearly all executions, hardly anything was checked. The user chose the bounds of a search, so
// executions that ended there do not count. servers says what happened to the servers in one of the
// executions.
func unendedDoubt(s *spec.Spec, ends map[string]int, servers []string) string {
	late, long, all := ends[search.EndTime], ends[search.EndSteps], 0
	for end, n := range ends {
		if end != search.EndBounds {
			all += n
		}
	}
	if s.EndsByTime {
		late = 0
	}
	natural := all - late - long
	if natural*10 >= all {
		return ""
	}
	var cut, raise []string
	if late > 0 {
		cut = append(cut, fmt.Sprintf("%d were cut off by the time limit of %v", late, s.Limits.Time))
		raise = append(raise, "limits.time")
	}
	if long > 0 {
		cut = append(cut, fmt.Sprintf("%d were cut off by the limit of %d steps", long, s.Limits.Steps))
		raise = append(raise, "limits.steps")
	}
	clients := slices.ContainsFunc(s.Nodes, func(n spec.Node) bool { return n.Client })
	text := fmt.Sprintf("%s%d of %d did, %s", unended, natural, all, strings.Join(cut, ", "))
	switch {
	case clients && len(servers) > 0: // more time would change nothing
		return text + " before the clients were done: " + strings.Join(servers, "; ")
	case clients && late > 0:
		return text + fmt.Sprintf(" before the clients were done: raise %s in the spec, or write ends: time if the limit is intended", strings.Join(raise, " and "))
	case long > 0:
		return text + fmt.Sprintf(": raise %s in the spec", strings.Join(raise, " and "))
	}
	return text + ", and no node is a client: write client: true at the nodes whose end ends an execution, or ends: time if the limit is intended"
}

// Served enters what became of the servers in an execution that is recorded (Servers.Lines).
func (r *Report) Served(lines []string) {
	for _, l := range lines {
		if !slices.Contains(r.Servers, l) {
			r.Servers = append(r.Servers, l)
		}
	}
}

// Explain notes, beside a verdict, what became of the servers, and which files of the host's the
// nodes' programs have missed.
func (r *Report) Explain(y *system.System) {
	if r.Judge(); r.Outcome == Nothing {
		return
	}
	for _, l := range r.Servers {
		if !slices.ContainsFunc(r.Doubts, func(d string) bool { return strings.Contains(d, l) }) {
			r.Note(l)
		}
	}
	missed := y.Missed(func(id ariadne.NodeID) (lines []string) {
		for _, dir := range r.records() {
			data, _ := readfile.AtMost(filepath.Join(dir, logFile(r.Nodes[id].Name)), readfile.Record)
			lines = append(lines, strings.Split(string(data), "\n")...)
		}
		return lines
	})
	r.Note(slices.DeleteFunc(missed, func(l string) bool { return slices.Contains(r.Servers, l) })...)
}

// records are the directories in which there are records of executions.
func (r *Report) records() []string {
	dirs := []string{r.Out}
	for _, v := range r.Violations {
		if v.Dir != r.Out {
			dirs = append(dirs, v.Dir)
		}
	}
	return dirs
}
