package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// shown is how many of the last lines of a timeline are printed; the run directory has all.
const shown = 30

// textPrinter prints for people. The progress of a check stands on one line of
// the terminal, which is cleared before anything else is printed.
type textPrinter struct {
	out, err io.Writer
	style    report.Style
	nodes    []string
	width    int // of the longest node's name
	quiet    bool
	verbose  bool // with the numbers for experts
	timeline *report.Timeline
	excerpt  report.Excerpt
	check    report.Check  // the limits
	terminal bool          // err is one
	stepped  bool          // the timeline has something
	dirty    bool          // a progress line stands on it
	next     time.Duration // elapsed time of the next line of progress, where err is no terminal
	goesOn   bool          // after a violation
	exposed  *expose.Watch // whose changes are shown in the place of lines and timeline, or nil
}

// lineEvery is how often a check writes a line of its progress to what is no terminal.
const lineEvery = 30 * time.Second

func newTextPrinter(out, err io.Writer, nodes []string, latency time.Duration, quiet bool) *textPrinter {
	p := &textPrinter{out: out, err: err, style: style(out), nodes: nodes, quiet: quiet,
		terminal: isTerminal(err), excerpt: report.Excerpt{Tail: shown}}
	p.timeline = report.NewTimeline(nodes, latency, p.style)
	for _, n := range nodes {
		p.width = max(p.width, len(n))
	}
	return p
}

func (p *textPrinter) printf(format string, args ...any) {
	p.clear()
	fmt.Fprintf(p.out, format, args...)
}

func (p *textPrinter) clear() {
	if p.dirty {
		fmt.Fprint(p.err, "\r\x1b[K")
		p.dirty = false
	}
}

func (p *textPrinter) step(s ariadne.Step) {
	if p.quiet {
		return
	}
	if p.exposed != nil {
		p.exposes(&s)
		return
	}
	for l := range s.Output.Record() {
		p.printf("%s\n", report.LogLine(p.nodes[s.Action.Node], int(s.Action.Node), p.width, l, p.style))
	}
	p.excerpt.Add(p.timeline.Step(s)...)
	p.stepped = true
}

// exposes shows what the node exposes since a step, and what no more.
func (p *textPrinter) exposes(s *ariadne.Step) {
	if s.Action.Node == ariadne.NoNode {
		return
	}
	show := func(t expose.Tuple, more string) {
		text := t.String() + more
		if t.Key != "" && t.Fields == nil { // else it is among the fields
			text = t.Name + "[" + t.Key + "]" + text[len(t.Name):]
		}
		l := ariadne.LogLine{At: max(s.At, s.Output.Clock), Stream: ariadne.Exposed, Text: text}
		p.printf("%s\n", report.LogLine(p.nodes[s.Action.Node], int(s.Action.Node), p.width, l, p.style))
	}
	gone, come := p.exposed.Step(s)
	for _, t := range gone {
		show(t, " ended")
	}
	for _, t := range come {
		show(t, "")
	}
}

func (p *textPrinter) limits(o check.Options) {
	p.check.Time, p.check.Executable, p.goesOn = o.Time, o.Executions, o.KeepGoing
}

func (p *textPrinter) progress(g check.Progress) {
	if p.quiet || g.Done || !p.terminal && g.Elapsed < p.next {
		return
	}
	c := p.check
	c.Elapsed, c.Executions, c.Steps, c.Violations = g.Elapsed, g.Executions, g.Steps, g.Violations
	c.Different = g.Different
	if !p.terminal {
		if p.next == 0 { // a check that goes on has a past
			p.next = g.Elapsed
		} else {
			fmt.Fprintln(p.err, report.ProgressLine(c, style(p.err)))
		}
		p.next += lineEvery
		return
	}
	fmt.Fprint(p.err, "\r\x1b[K"+report.ProgressLine(c, style(p.err)))
	p.dirty = true
}

// printScriptLine shows a line of a script.
func (p *textPrinter) printScriptLine(line string) {
	if !p.quiet {
		p.clear()
		fmt.Fprintf(p.err, "script: %s\n", line)
	}
}

// violation shows a violation at once when the report will not follow at once.
func (p *textPrinter) violation(v record.Violation) {
	if p.goesOn && !p.quiet {
		p.printf("%s\n", p.headline(v))
	}
}

// headline says in one line what is wrong and where: in the smaller execution, if there is one, of
// which the timeline is.
func (p *textPrinter) headline(v record.Violation) string {
	where := ""
	if v.NodeName != "" {
		where = "node " + v.NodeName + ": "
	}
	what := "violation: " + v.Kind
	if v.Kind == property.Suspected {
		what = "suspected violation: " + property.Dead
	}
	message, at, step := v.Message, v.At, v.Step
	if s := v.Shrunk; s != nil && s.Step > 0 {
		message, at, step = s.Message, s.At, s.Step
	}
	return p.style.Warn(folded(what+": "+where+message)) +
		fmt.Sprintf(" (at %v, step %d, execution %d)", at, step, v.Execution)
}

// How wide a line may be before it is folded, how wide its parts are then, and how much of it is
// shown.
const widest, width, mostShown = 400, 110, 2000

// folded is a line, or several when it is very long, as histories of clients' operations are.
func folded(line string) string {
	if len(line) <= widest {
		return line
	}
	rest := ""
	if len(line) > mostShown {
		cut := max(strings.LastIndexByte(line[:mostShown], ' '), 1)
		rest = fmt.Sprintf(" ... (%d more bytes: message in report.json)", len(line)-cut)
		line = line[:cut]
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		switch {
		case i > 0 && at+1+len(word) > width:
			b.WriteString("\n    ")
			at = 4
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String() + rest
}

func (p *textPrinter) report(r *record.Report) {
	p.clear()
	p.loose(r.Loose)
	if p.stepped {
		p.excerpt.Add(p.timeline.End()...)
		p.excerpt.Add(p.timeline.Undelivered()...)
		p.printf("\n")
		p.printTimeline(&p.excerpt, r.Out)
	}
	p.numbers(r.Numbers)
	for _, v := range r.Violations {
		p.reportViolation(r, v)
	}
	p.reportRefusals(r)
	if !p.quiet {
		p.reportAll("note: ", r.Notes)
	}
	p.reportAll("suspected: ", r.Suspicions)
	p.reportAll("inconclusive: ", r.Doubts)
	p.reportAll("bug in ariadne: ", r.Bugs)
	p.summary(r)
}

// loose says what came of a loose replay.
func (p *textPrinter) loose(l *record.Loose) {
	if l == nil {
		return
	}
	p.printf("%s\n", p.style.Head("loose replay: "+l.String()))
	if d := l.Left; d != nil {
		p.printf("  left       at step %d: the trace has %s there (step %d)\n", d.Step, d.Wanted, d.TraceStep)
		p.printf("  possible   %s\n", d.Enabled)
		p.printf("  taken      %s\n", d.Took)
	}
	for _, c := range l.Changed {
		p.printf("  changed    %s\n", c)
	}
}

// goal prints what is known of something that must happen and does not.
func (p *textPrinter) goal(g *record.Goal) {
	if g == nil {
		return
	}
	p.printf("  verdict    %s\n", g.Verdict)
	if g.Critical > 0 {
		p.printf("  critical   step %d (%s, at %v)\n", g.Critical, g.CriticalName, g.CriticalAt)
		for _, l := range g.CriticalLines {
			p.printf("             it wrote: %s\n", l)
		}
	}
	if g.By > 0 {
		p.printf("  critical   one of the steps %d to %d\n", g.After+1, g.By)
	}
	p.printf("  evidence   a walk of %s without faults, and %s of %s to find the critical transition; walks that long are suspected from %s on\n",
		plural(g.Walk, "step"), plural(g.Walks, "walk"), plural(g.WalkSteps, "step"), plural(g.Bound, "step"))
	if g.Further > 0 {
		p.printf("             %s from its end went on for at least %s and %v: none reached a live state\n", plural(g.Further, "walk"), plural(g.FurtherSteps, "step"), g.FurtherTime)
	}
	if c := g.Cycle; c != nil {
		p.printf("  cycle      on the natural schedule the same %s repeat, each time in %v: %s\n", plural(c.Steps, "step"), time.Duration(c.Time), strings.Join(c.Names, ", "))
	}
	if g.Live != "" {
		p.printf("  live       an execution of %s begins with the same %d steps, and the goal becomes true: %s\n", plural(g.LiveIn, "step"), g.Along, g.Live)
	}
}

// reportViolation prints what there is to know of one violation.
func (p *textPrinter) reportViolation(r *record.Report, v record.Violation) {
	p.printf("\n%s\n", p.headline(v))
	if r.Command == "check" && !p.quiet {
		p.printTail(cmp.Or(shrunkDir(v), v.Dir))
	}
	if len(v.Said) > 1 { // else the headline has it
		for i, line := range v.Said {
			p.printf("  %-10s %s\n", []string{"wrote", ""}[min(i, 1)], line)
		}
	}
	p.goal(v.Goal)
	if s := v.Shrunk; s != nil && s.Numbers != nil { // the timeline is of this one
		p.numbers(s.Numbers)
	} else {
		p.numbers(v.Numbers)
	}
	size := v.Size
	if v.Shrunk != nil {
		size = &v.Shrunk.To
	}
	if needs := size.Needs(); needs != "" {
		p.printf("  needs      %s\n", needs)
	}
	if v.Count > 1 {
		p.printf("  seen in    %s\n", plural(v.Count, "execution"))
	}
	if v.Suspect != "" {
		p.printf("  but        %s\n", v.Suspect)
	}
	if s := v.Shrunk; s != nil {
		p.printf("  shrunk     from %s to %s, by %s\n", sizeText(s.From), sizeText(s.To), plural(s.Tried, "execution"))
		if g := s.Goal; g != nil && g.Critical > 0 {
			p.printf("  critical   step %d (%s, at %v)\n", g.Critical, g.CriticalName, g.CriticalAt)
		}
		p.printf("  replay     %s%s\n", os.Args[0], strings.TrimPrefix(s.Replay, "ariadne"))
		p.printf("  as found:  at %v, step %d\n", v.At, v.Step)
	}
	p.printf("  record     %s\n", v.Dir)
	p.printf("  replay     %s%s\n", os.Args[0], strings.TrimPrefix(v.Replay, "ariadne"))
	if r.Command == "check" {
		p.printf("  explain    %s explain %s\n", os.Args[0], record.ShellWord(smallestTrace(v)))
	}
}

// numbers prints how numbers went over an execution.
func (p *textPrinter) numbers(all []property.Series) {
	for i := range all {
		s := &all[i]
		summary := s.Summary()
		if s.Beyond != nil {
			summary = p.style.Warn(summary)
		}
		p.printf("\nnumber %s: %s\n", s.Name, summary)
		if !p.quiet {
			for _, l := range report.Plot(s, p.style) {
				p.printf("%s\n", l)
			}
		}
	}
}

// sizeText is as in "2 faults, 3 deviations, 120 steps", and how many operations are lost if any
// are.
func sizeText(s record.Size) string {
	text := plural(s.Faults, "fault") + ", " + plural(s.Deviations, "deviation") + ", "
	if s.Lost > 0 {
		text += plural(s.Lost, "lost operation") + ", "
	}
	return text + plural(s.Steps, "step")
}

// shrunkDir is where the smaller execution of a violation is recorded, or "".
func shrunkDir(v record.Violation) string {
	if v.Shrunk == nil {
		return ""
	}
	return v.Shrunk.Dir
}

// smallestTrace is the trace of a violation's smallest execution.
func smallestTrace(v record.Violation) string {
	if v.Shrunk != nil {
		return v.Shrunk.Trace
	}
	return v.Trace
}

// printTail prints the end of the timeline in dir, if it is there.
func (p *textPrinter) printTail(dir string) {
	data, err := readfile.AtMost(filepath.Join(dir, report.TimelineFile), readfile.Record)
	if err != nil {
		return
	}
	e := report.Excerpt{Tail: shown}
	e.Add(strings.Split(strings.TrimRight(string(data), "\n"), "\n")[1:]...)
	p.printTimeline(&e, dir)
}

// printTimeline prints of a timeline whose whole is in dir.
func (p *textPrinter) printTimeline(e *report.Excerpt, dir string) {
	p.printf("%s\n%s\n", p.timeline.Head(),
		strings.Join(e.Lines(p.timeline, filepath.Join(dir, report.TimelineFile)), "\n"))
}

// reportAll prints texts under their common head; only some of them when they are many.
func (p *textPrinter) reportAll(head string, texts []string) {
	const most = 10
	for i, t := range texts {
		if i == most {
			p.printf("%s%d more in report.json\n", head, len(texts)-most)
			return
		}
		for n, line := range strings.Split(head+t, "\n") {
			line = p.style.Wrap(line)
			if n == 0 {
				line = p.style.Warn(head) + strings.TrimPrefix(line, head)
			}
			p.printf("%s\n", line)
		}
	}
}

// reportRefusals lists what is not modelled, once for all nodes that met it.
func (p *textPrinter) reportRefusals(r *record.Report) {
	if p.quiet {
		return // what matters of it is among the doubts
	}
	type met struct {
		ariadne.Refusal
		nodes []string
	}
	by := map[string]*met{}
	for _, f := range r.Refusals {
		key := f.Program + " " + f.Name
		if by[key] == nil {
			by[key] = &met{Refusal: f.Refusal}
			by[key].Count = 0
		}
		by[key].Count += f.Count
		by[key].nodes = append(by[key].nodes, f.Node)
	}
	if len(by) > 0 {
		p.printf("\n%s\n", p.style.Head("not emulated (ariadne syscalls has the support table):"))
	}
	for _, key := range slices.Sorted(maps.Keys(by)) {
		f := by[key]
		harm := ""
		if f.Harmless {
			harm = ", harmless"
		}
		p.printf("  %s: %s %s (%s in %s%s)\n", f.Program, f.Name, f.Detail, plural(f.Count, "time"),
			strings.Join(f.nodes, " "), harm)
	}
}

// experts prints the numbers of a run, and of the search of a check.
func (p *textPrinter) experts(r *record.Report) {
	p.printf("total        %s, %s, %v virtual, %.1fs real\n", plural(r.Steps, "step"), plural(r.Messages, "message"),
		r.VirtualTime, r.RealTime.Seconds())
	if len(r.Ends) > 0 {
		p.list("ended by     ", ends(r.Ends))
	}
	if c := r.Coverage; c != nil {
		p.coverage(c)
	}
}

// different says how many executions differ by more than the order of independent events, where
// that is known and not all do. Those of a check that was resumed are all counted, unless what they
// had seen was lost.
func different(r *record.Report) string {
	c := r.Coverage
	if c == nil || c.Traces == 0 || c.Traces >= r.Executions || c.Full || c.Earlier > 0 {
		return ""
	}
	return fmt.Sprintf(" (%s different)", grouped(c.Traces))
}

// list prints parts behind a head, on as many lines as they need.
func (p *textPrinter) list(head string, parts []string) {
	p.printf("%s", p.style.List(head, parts))
}

// ends says how many executions ended how, the most frequent first.
func ends(by map[string]int) []string {
	most := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, end := range most {
		parts = append(parts, fmt.Sprintf("%s %d", end, by[end]))
	}
	return parts
}

// faultsOf says in how many executions there was a fault of each kind, and in how many states there
// could be one. Several executions may take it in the same state, otherwise each.
func faultsOf(all []record.Faults) []string {
	var parts []string
	for _, f := range all {
		parts = append(parts,
			fmt.Sprintf("%s in %s (possible in %s)", f.Kind, plural(f.Paths, "execution"), plural(f.Offered, "state")))
	}
	return parts
}

// mostStruck is how many rows of what faults have hit are printed.
const mostStruck = 24

// struck says what faults of each kind have hit, in which phases, and what they could have hit and
// did not.
func (p *textPrinter) struck(all []record.Faults) {
	var names []string
	var rows []record.Struck
	wide := 0
	for _, f := range all {
		for _, s := range f.By {
			names, rows = append(names, strings.TrimSpace(f.Kind+" "+s.Node)), append(rows, s)
			wide = max(wide, len(names[len(names)-1]))
		}
	}
	if len(rows) > 0 {
		head := fmt.Sprintf("  %-*s", wide+11, "struck")
		for i := range search.NumPhases {
			head += fmt.Sprintf("  %8s", i)
		}
		p.printf("%s\n", head)
	}
	for i, s := range rows {
		if i == mostStruck {
			p.printf("             %d more in report.json\n", len(rows)-mostStruck)
			break
		}
		line := fmt.Sprintf("             %-*s", wide, names[i])
		for _, n := range s.Phases {
			line += fmt.Sprintf("  %8d", n)
		}
		p.printf("%s\n", line)
	}
	var never []string
	for _, f := range all {
		switch {
		case f.Taken == 0:
			never = append(never, f.Kind)
		case len(f.Spared) > 0:
			never = append(never, f.Kind+" at "+strings.Join(f.Spared, " "))
		}
	}
	if len(never) > 0 {
		p.list("  never      ", never)
	}
}

// newest says how many different things were seen, and how many of them lately.
func newest(c *record.Coverage) []string {
	least := ""
	if c.Kinds.Full {
		least = "at least "
	}
	parts := []string{least + plural(c.Kinds.Seen, "kind") + " of behaviour",
		fmt.Sprintf("%d of these in the last tenth of the time", c.Kinds.Late)}
	if c.Disks.Seen > 0 {
		parts = append(parts, plural(c.Disks.Seen, "disk")+" of stopped machines",
			fmt.Sprintf("%d of these in the last tenth", c.Disks.Late))
	}
	return parts
}

// coverage tells what a check has seen, and whether that was all.
func (p *textPrinter) coverage(c *record.Coverage) {
	all := "not exhausted"
	switch {
	case c.Exhausted && c.Bounded > 0:
		all = fmt.Sprintf("exhausted within its bounds, which cut paths off in %s", plural(c.Bounded, "state"))
	case c.Exhausted:
		all = "exhausted"
	case c.Missed != "":
		all += ": " + c.Missed
	}
	p.printf("search %s: %s\n", c.Strategy, all)
	least := ""
	if c.Full {
		least = "at least " // there was no memory to count more
	}
	p.list("  seen       "+least, []string{plural(c.Paths, "path"), plural(c.Traces, "partial-order trace"),
		plural(c.States, "global state"),
		fmt.Sprintf("%s (%s)", plural(c.Locals, "local state"), strings.Trim(fmt.Sprint(c.LocalStates), "[]"))})
	if c.Known+c.Given > 0 {
		p.printf("  further    %s reached known states, the strategy gave up %d\n", plural(c.Known, "path"), c.Given)
	}
	if len(c.Faults) > 0 {
		p.list("  faults     ", faultsOf(c.Faults))
		p.struck(c.Faults)
	}
	if k := c.Kinds; k.Seen > 0 {
		p.list("  new        ", newest(c))
	}
	if len(c.Strategies) > 0 {
		p.list("  strategies ", strategiesOf(c.Strategies))
	}
	if b := c.Probing; b.Messages > 0 {
		p.printf("  clocks     %s tried at %s, which change what their nodes do in %s\n",
			plural(b.Messages, "message"), plural(b.Tries, "other time"), plural(b.Turns, "place"))
	}
	if c.Cycles > 0 {
		p.printf("  cycles     %s returned to an earlier state\n", plural(c.Cycles, "path"))
	}
	if c.Merged > 0 || len(c.Under) > 0 && c.Equality == "" {
		p.printf("  merged     %s equal to known ones by these rules\n", plural(c.Merged, "state"))
	}
	if c.Protocol > 0 {
		p.printf("  protocol   %s, %s\n", plural(c.Protocol, "state"), plural(c.Global, "combination"))
	}
	n := c.Nodes
	made := []string{plural(n.Executed, "transition") + " executed", fmt.Sprint(n.Remembered, " remembered")}
	if n.Foreseen > 0 {
		made = append(made, fmt.Sprint(n.Foreseen, " with another image of the same power loss"))
	}
	if n.Lent > 0 {
		made = append(made, fmt.Sprint(n.Lent, " the same as on another disk"))
	}
	p.list("  nodes      ", append(made, fmt.Sprintf("%d replayed; %s", n.Replayed, plural(n.Boots, "boot")),
		plural(n.Thaws, "thaw"), plural(n.Freezes, "freeze"), plural(n.Evictions, "eviction")))
	if l := c.Liveness; l != nil {
		p.printf("  walks      from %s, %d of them live, the slowest by %s; %s in all, of %d at most each (%s)\n",
			plural(l.States, "state"), l.Live, plural(l.Most, "step"), plural(l.Steps, "step"), l.Bound, sampled(l))
		if l.Skipped+l.GivenUp+l.Undecided > 0 {
			p.printf("             no walks from %s of paths; %s could not go on, %d are undecided\n", plural(l.Skipped, "end"), plural(l.GivenUp, "walk"), l.Undecided)
		}
	}
	if m := c.Memo; m.Stopped > 0 {
		p.printf("  stopped    %s, which left %s\n", plural(m.Stopped, "machine"), plural(m.Disks, "disk"))
	}
	if c.RulesAudited > 0 {
		p.printf("  audited    %s of the script\n", plural(c.RulesAudited, "answer"))
	}
	if n.Audited > 0 {
		incomparable := ""
		if n.Incomparable > 0 {
			incomparable = fmt.Sprintf(", %d not comparable because a thread was preempted", n.Incomparable)
		}
		p.printf("  audited    %s, %d different%s\n", plural(n.Audited, "transition"), n.Mismatches, incomparable)
	}
}

// strategiesOf says what strategies have brought.
func strategiesOf(all []strategy.Tally) (out []string) {
	for _, t := range all {
		text := fmt.Sprintf("%s %s with %d first sightings", t.Name, plural(t.Executions, "execution"), t.Sights)
		if t.Violations > 0 {
			text += " and " + plural(t.Violations, "violation")
		}
		out = append(out, text)
	}
	return out
}

// sampled says where the bound on walks comes from.
func sampled(l *record.Liveness) string {
	n := len(l.Sampled)
	if n == 0 {
		return "no walk from the natural schedule was live"
	}
	return fmt.Sprintf("%s from the natural schedule: half live by step %d, all by step %d", plural(n, "walk"), l.Sampled[n/2], l.Sampled[n-1])
}
