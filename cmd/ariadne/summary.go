package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// summary prints what the result means, in sentences. The numbers for experts follow with -v.
func (p *textPrinter) summary(r *record.Report) {
	head, rest := headSentence(r), []string(nil)
	if r.Command == "check" {
		if s := faultSentence(r.Coverage); s != "" {
			rest = append(rest, s)
		}
		rest = append(rest, stopSentences(r, p.check.Time)...)
	}
	lines := strings.SplitAfterN(p.style.Paragraph(append([]string{head}, rest...)), "\n", 2)
	if r.Outcome != record.Nothing {
		lines[0] = p.style.Warn(strings.TrimSuffix(lines[0], "\n")) + "\n"
	}
	p.printf("\n%s", strings.Join(lines, ""))
	if p.quiet {
		return
	}
	if c := r.Coverage; c != nil {
		p.conditions(c)
	}
	if p.verbose {
		p.experts(r)
	}
	if r.Out != "" {
		p.printf("run directory: %s\n", r.Out)
	}
}

// headSentence says what was found and how much was executed.
func headSentence(r *record.Report) string {
	if r.Command != "check" {
		return outcomeWords(r) + ": " + endClause(r.End) + " after " + amount(r.Steps, "step") + ", " +
			amount(r.Messages, "message") + " and " + r.VirtualTime.String() + " of virtual time (" +
			seconds(r.RealTime) + " of real time)."
	}
	explored := amount(r.Executions, "execution") + different(r) + " in " + seconds(r.RealTime)
	switch {
	case r.Outcome != record.Nothing:
		return outcomeWords(r) + ": explored " + explored + "."
	case r.Stopped == check.StopExplored || r.Stopped == check.StopExploredAtTimes:
		return "No violation. Explored " + whatExplored(r) + ": " + explored + "."
	}
	return "Explored " + explored + "; found nothing."
}

// whatExplored is what a search has explored that has come to its end.
func whatExplored(r *record.Report) string {
	what := "every state within the bounds"
	if r.Stopped == check.StopExploredAtTimes {
		what += ", at the times at which events happened"
	}
	if r.Coverage != nil && len(r.Coverage.TookTurns) > 0 {
		what += ", with threads interleaved at certain places only"
	}
	return what
}

// outcomeWords are the outcome as a sentence begins with it.
func outcomeWords(r *record.Report) string {
	switch r.Outcome {
	case record.Nothing:
		return "No violation"
	case record.Violated, record.Suspected:
		if len(r.Violations) == 0 {
			return `Suspected a loop (see the lines "suspected")`
		}
		if n := len(r.Violations); n > 1 {
			return "Found " + amount(n, "violation")
		}
		if r.Outcome == record.Suspected {
			return "Found a suspected violation"
		}
		return "Found a violation"
	case record.ToolBug:
		return `Bug in Ariadne (see the lines "bug in ariadne")`
	}
	return `Inconclusive (see the lines "inconclusive")`
}

// endClauses say why an execution ended, by the word of the report.
var endClauses = map[string]string{
	search.EndClients:   "the clients were done",
	search.EndQuiet:     "nothing more could happen",
	search.EndSteps:     "the limit of steps was reached",
	search.EndTime:      "the limit of virtual time was reached",
	search.EndBounds:    "the bounds of the search were reached",
	search.EndViolation: "the violation ended the execution",
	search.EndFatal:     "a node could not go on",
	search.EndCut:       "a step was cut off",
	search.EndStrategy:  "the path ended",
	search.EndStopped:   "the execution was stopped",
	search.EndSeen:      "the path reached a known state",
}

// endClause says why an execution ended, as a clause.
func endClause(end string) string {
	switch clause := endClauses[end]; {
	case clause != "":
		return clause
	case end != "":
		return "the execution ended (" + end + ")"
	}
	return "the execution ended"
}

// faultSentence says in how many executions there were faults, or "" where there were none.
func faultSentence(c *record.Coverage) string {
	if c == nil {
		return ""
	}
	var parts []string
	for i := range c.Faults {
		f := &c.Faults[i]
		if f.Paths == 0 {
			continue
		}
		part := grouped(f.Paths)
		if len(parts) == 0 {
			part += " had"
		}
		kind, _ := world.KindNamed(f.Kind)
		parts = append(parts, part+" "+world.KindOf(kind).Once)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + "."
}

// stopSentences say why a check stopped, what it left out, and how to go on. limit is its time.
func stopSentences(r *record.Report, limit time.Duration) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	c := r.Coverage
	switch r.Stopped {
	case check.StopExplored, check.StopExploredAtTimes:
		switch {
		case r.Ends[search.EndCut] > 0:
			say("The search explored %s, except behind steps that were cut off.", whatExplored(r))
		case r.Outcome != record.Nothing:
			say("The search explored %s.", whatExplored(r))
		}
	case search.StopViolation:
		say("The check stopped at the first violation: --keep-going looks for others.")
	case search.StopSought:
		say("The check stopped at the violation that --until describes.")
	case record.Interrupted:
		say("The check was interrupted: --resume --out %s continues it.", r.Out)
	case search.StopTime, search.StopExecutions: // that is known to who gave them
	case record.PathsCutOff: // Coverage.Missed says so, below
	case "":
	default:
		say("The check stopped: %s.", r.Stopped)
	}
	if c == nil {
		return all
	}
	if c.Exhausted && c.Bounded > 0 {
		say("The bounds cut paths off in %s.", amount(c.Bounded, "state"))
	}
	if c.Exhausted && len(c.ReadClock) > 0 {
		say("Nodes that read the clock, in steps that were tried at no other times: %s.", strings.Join(c.ReadClock, ", "))
	}
	tried := slices.DeleteFunc(slices.Clone(c.TriedClock), func(n string) bool {
		return slices.Contains(c.ReadClock, n)
	})
	if c.Exhausted && len(tried) > 0 {
		say("Nodes that read the clock, in steps that were tried at some other times: %s.", strings.Join(tried, ", "))
	}
	if c.Exhausted && len(c.AtLocks) > 0 {
		say("Nodes whose threads were interleaved only at system calls and lock functions: %s.", strings.Join(c.AtLocks, ", "))
	}
	calls := slices.DeleteFunc(slices.Clone(c.TookTurns), func(n string) bool { return slices.Contains(c.AtLocks, n) })
	if c.Exhausted && len(calls) > 0 {
		say("Nodes whose threads were interleaved only at system calls, since no known lock function ran: %s.", strings.Join(calls, ", "))
	}
	if !c.Exhausted && c.Missed != "" {
		say("The search was not complete: %s.", c.Missed)
	}
	if r.Outcome != record.Nothing && r.Outcome != record.Inconclusive || c.Kinds.Seen == 0 {
		return all
	}
	advice := ""
	switch {
	case r.Stopped == search.StopTime && limit > 0:
		advice = ": try --time " + shortDuration(10*limit)
	case r.Stopped == search.StopExecutions && r.Executions > 1:
		advice = fmt.Sprintf(": try --executions %d", 10*r.Executions)
	default:
		return all
	}
	if c.Kinds.Late > 0 {
		say("New behaviour was still coming%s.", advice)
	} else {
		say("The last tenth of the time showed no new behaviour.")
	}
	return all
}

// conditions print what the result rests on, and what it does not count. They are printed
// without -v, too.
func (p *textPrinter) conditions(c *record.Coverage) {
	if c.Earlier > 0 {
		p.printf("  before     %s are not counted, because their coverage is lost: %s\n",
			plural(c.Earlier, "path"), c.Lost)
	}
	for _, u := range c.Under {
		p.printf("  under      %s\n", u)
	}
	if m := c.Memo; m.LeftOut > 0 {
		p.printf("  left out   %s of disks (faults: power: images)\n", plural(m.LeftOut, "image"))
	}
}

// amount prints a number with its noun, for reading: "1,204 executions".
func amount(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return grouped(n) + " " + noun
}

// grouped prints a number with a comma before every three digits.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// seconds prints a real time for reading.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f\u00a0s", d.Seconds()) }

// shortDuration prints a duration as one writes it: 10m, not 10m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
