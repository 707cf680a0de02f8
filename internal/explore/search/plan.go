package search

import (
	"regexp"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// Budget ends a check.
type Budget struct {
	First      int           // index of the first execution
	Executions int           // how many; 0: no limit
	Time       time.Duration // 0: no limit
	KeepGoing  bool          // after a violation
	// of a violation that ends the check although KeepGoing is set; nil: none does
	Until *regexp.Regexp
}

// Plan hands out the executions of a check by their index and collects what came
// of them. Executions may overlap and end in any order; calls to the plan may not.
type Plan struct {
	budget Budget
	clock  func() time.Duration // since the check began

	next     int
	resume   int          // all before it have ended
	ended    map[int]bool // those from resume on that have
	findings []*Finding
	stopped  string
}

// Finding is a violation, found at least once.
type Finding struct {
	Violation ariadne.Violation
	Execution int // that found it first
	Count     int // executions that ended in it
}

// Why a check stopped.
const (
	StopViolation  = "first violation"
	StopSought     = "violation looked for" // Budget.Until
	StopTime       = "time"
	StopExecutions = "executions"
)

// NewPlan returns the plan of a check that begins now.
func NewPlan(b Budget, clock func() time.Duration) *Plan {
	return &Plan{budget: b, clock: clock, next: b.First, resume: b.First, ended: map[int]bool{}}
}

// Next returns the index of an execution that is to be run now; not ok when
// there is none any more.
func (p *Plan) Next() (index int, ok bool) {
	if p.Stopped() != "" || p.budget.Executions > 0 && p.next-p.budget.First >= p.budget.Executions {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

// NextLate returns the index of an execution that has been run already, although the time may be up
// by now; not ok when the check has ended otherwise.
func (p *Plan) NextLate() (index int, ok bool) {
	if why := p.Stopped(); why != "" && why != StopTime && why != StopExecutions {
		return 0, false
	}
	p.next++
	return p.next - 1, true
}

// EnterEnd enters that an execution has ended, with its violation or nil.
func (p *Plan) EnterEnd(index int, v *ariadne.Violation) {
	p.ended[index] = true
	for p.ended[p.resume] {
		delete(p.ended, p.resume)
		p.resume++
	}
	if v != nil {
		p.EnterFinding(Finding{Violation: *v, Execution: index, Count: 1})
	}
}

// EnterFinding enters that so many executions ended in a violation.
func (p *Plan) EnterFinding(f Finding) {
	if was := p.findLike(f.Violation); was != nil {
		was.Count += f.Count
	} else {
		p.findings = append(p.findings, &f)
	}
	switch b := &p.budget; {
	case !b.KeepGoing:
		p.Stop(StopViolation)
	case b.Until != nil && b.Until.MatchString(f.Violation.Message):
		p.Stop(StopSought)
	}
}

// CountExecutions enters that n more executions were run and have ended.
func (p *Plan) CountExecutions(n int) {
	if p.resume == p.next {
		p.next, p.resume = p.next+n, p.resume+n
		return
	}
	for range n {
		p.ended[p.next] = true
		p.next++
	}
}

// ExecutionsLeft is how many executions may still be run, if they are limited.
func (p *Plan) ExecutionsLeft() int { return max(p.budget.Executions-(p.next-p.budget.First), 0) }

// EnterKnown enters a finding of an earlier part of the same check.
func (p *Plan) EnterKnown(f Finding) { p.findings = append(p.findings, &f) }

// IsNew reports whether no execution has ended in a violation like v.
func (p *Plan) IsNew(v ariadne.Violation) bool { return p.findLike(v) == nil }

// Findings are the different violations, in the order in which they were found.
func (p *Plan) Findings() []Finding {
	var fs []Finding
	for _, f := range p.findings {
		fs = append(fs, *f)
	}
	return fs
}

// ResumeIndex is the index from which an interrupted check has to go on.
func (p *Plan) ResumeIndex() int { return p.resume }

// Stop ends the check; the first reason stays.
func (p *Plan) Stop(why string) {
	if p.stopped == "" {
		p.stopped = why
	}
}

// Stopped says why the check is over, or "". Executions that run when the time
// is up are to be given up.
func (p *Plan) Stopped() string {
	if p.stopped == "" && p.budget.Time > 0 && p.clock() >= p.budget.Time {
		p.stopped = StopTime
	}
	if p.stopped == "" && p.budget.Executions > 0 && p.resume-p.budget.First >= p.budget.Executions {
		p.stopped = StopExecutions
	}
	return p.stopped
}

func (p *Plan) findLike(v ariadne.Violation) *Finding {
	for _, f := range p.findings {
		if Alike(f.Violation, v) {
			return f
		}
	}
	return nil
}

// variable is what differs between two occurrences of the same message.
var variable = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+`)

// Alike reports whether two violations are most likely the same bug: of the same
// kind, on the same node, with messages that differ in numbers only, or of the same goal.
func Alike(a, b ariadne.Violation) bool {
	if property.IsLiveness(a.Kind) && a.Kind == b.Kind {
		return goalOf(&a) == goalOf(&b)
	}
	return a.Kind == b.Kind && a.Node == b.Node &&
		variable.ReplaceAllString(a.Message, "#") == variable.ReplaceAllString(b.Message, "#")
}

// goalOf is the name of a violation's goal.
func goalOf(v *ariadne.Violation) string {
	name, _, _ := strings.Cut(v.Message, ": ")
	return name
}
