package replay

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Mismatch is where a replay left its trace.
type Mismatch struct {
	Step   int // index of the step
	Action string
	Node   string // whose step it was, or ""
	What   string // one line
	// Call is the first system call that differs, or nil when that is not known.
	Call *CallDiff
	// Excused: a step before was marked unreplayable and went differently, so
	// this was to be feared.
	Excused bool
}

// CallDiff is a pair of system calls of the same step. One of them may be nil:
// there was no further call.
type CallDiff struct {
	Index             int // from 1, among the step's calls
	Expected, Got     *ariadne.CallRecord
	ExpectedS, GotS   string
	DifferentHashOnly bool // same thread, call and result: arguments or memory differ
}

func (c *CallDiff) String() string {
	text := fmt.Sprintf("first different system call, number %d of the step:\n    expected %s\n    got      %s", c.Index, c.ExpectedS, c.GotS)
	if c.DifferentHashOnly {
		text += "\n    same result, but its arguments or the memory it read or wrote differ"
	}
	return text
}

func (m *Mismatch) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "step %d", m.Step)
	if m.Action != "" {
		fmt.Fprintf(&b, " (%s)", m.Action)
	}
	if m.Node != "" {
		fmt.Fprintf(&b, ", node %s", m.Node)
	}
	fmt.Fprintf(&b, ": %s", m.What)
	if c := m.Call; c != nil {
		fmt.Fprintf(&b, "\n  %s", c)
	}
	if m.Excused {
		b.WriteString("\n  a step before went differently because it took long: a thread was preempted, or the step was cut off")
	}
	return b.String()
}

// compare returns how a step differs from the trace's, or nil.
func (r *Replay) compare(want trace.Step, s ariadne.Step, calls []ariadne.CallRecord) *Mismatch {
	got := trace.NewStep(s)
	if got == want {
		return nil
	}
	if want.Mark != trace.Exact || got.Mark != trace.Exact {
		r.doubtful = true
		return nil
	}
	m := &Mismatch{Step: s.Index, Action: s.Name, Node: r.names().Node(s.Action.Node)}
	if calls != nil && (s.Output.CallTrace != nil || s.Output.Calls == 0) {
		m.Call = FirstDifference(calls, s.Output.CallTrace, r.CallName)
	}
	m.What = "it does something else: " + differences(want, got)
	if calls != nil && m.Call == nil {
		m.What += "; its system calls are the same"
	}
	return m
}

// differences lists the fields in which two steps differ.
func differences(want, got trace.Step) string {
	var d []string
	add := func(name string, w, g any) {
		if w != g {
			d = append(d, fmt.Sprintf("expected %s %v, got %v", name, w, g))
		}
	}
	add("time (ns)", int64(want.At), int64(got.At))
	add("system calls", want.Calls, got.Calls)
	add("messages", want.Messages, got.Messages)
	add("lines logged", want.Lines, got.Lines)
	add("mark", marks[want.Mark], marks[got.Mark])
	add("digest", fmt.Sprintf("%016x", want.Digest), fmt.Sprintf("%016x", got.Digest))
	return strings.Join(d, "; ")
}

var marks = [...]string{trace.Exact: "none", trace.Unreplayable: "unreplayable", trace.Cut: "cut off"}

// FirstDifference returns the first system call in which two executions of a step
// differ, or nil. name may be nil.
func FirstDifference(want, got []ariadne.CallRecord, name func(nr int) string) *CallDiff {
	for i := 0; i < len(want) || i < len(got); i++ {
		w, g := at(want, i), at(got, i)
		if w != nil && g != nil && *w == *g {
			continue
		}
		d := &CallDiff{Index: i + 1, Expected: w, Got: g, ExpectedS: describe(w, name), GotS: describe(g, name)}
		d.DifferentHashOnly = d.ExpectedS == d.GotS
		return d
	}
	return nil
}

func at(calls []ariadne.CallRecord, i int) *ariadne.CallRecord {
	if i < len(calls) {
		return &calls[i]
	}
	return nil
}

func describe(c *ariadne.CallRecord, name func(nr int) string) string {
	if c == nil {
		return "no further call"
	}
	call := fmt.Sprintf("system call %d", c.NR)
	if name != nil {
		call = name(c.NR)
	}
	return fmt.Sprintf("%s = %d in thread %d", call, c.Result, c.TID)
}

func (r *Replay) notEnabled(want trace.Step, enabled []world.Event, err error) *Mismatch {
	m := &Mismatch{Step: want.Index, Action: want.Action}
	if err != nil {
		m.What = err.Error()
		return m
	}
	m.What = "it is not enabled; enabled are: " + list(r.names(), enabled)
	return m
}

func (r *Replay) tooLong(enabled []world.Event) *Mismatch {
	return &Mismatch{Step: len(r.Trace.Steps) + 1,
		What: fmt.Sprintf("the trace ends here (%s), but there is more to happen: %s", r.Trace.End,
			list(r.names(), enabled))}
}

// listed is how many actions a message lists.
const listed = 8

func list(n world.Names, events []world.Event) string {
	var names []string
	for i := range events {
		if i == listed {
			names = append(names, fmt.Sprintf("and %d more", len(events)-listed))
			break
		}
		names = append(names, n.Action(events[i].Action()))
	}
	return strings.Join(names, ", ")
}

// compareEnd compares how the execution ended.
func (r *Replay) compareEnd(got *search.Result) {
	t := r.Trace
	m := &Mismatch{Step: got.Steps}
	if got.Steps > 0 {
		m.Action = t.Steps[got.Steps-1].Action
	}
	switch {
	case got.Steps < len(t.Steps):
		m.What = fmt.Sprintf("the execution ends here (%s), but the trace has %d steps", r.end(got), len(t.Steps))
	case r.cutShort():
		return
	case got.End != t.End:
		m.What = fmt.Sprintf("the execution ends otherwise: expected %s, got %s", t.End, r.end(got))
	case !r.sameViolation(got.Violation, t.Violation):
		m.What = fmt.Sprintf("the violation is another: expected %s, got %s", formatViolation(t.Violation),
			formatViolation(r.violation(got.Violation)))
	default:
		return
	}
	r.mismatch = m
}

func (r *Replay) end(got *search.Result) string {
	if got.Violation == nil {
		return got.End
	}
	return got.End + ": " + formatViolation(r.violation(got.Violation))
}

// violation is v as a trace has it.
func (r *Replay) violation(v *ariadne.Violation) *trace.Violation {
	return trace.NewViolation(v, r.names().Node)
}

func (r *Replay) sameViolation(got *ariadne.Violation, want *trace.Violation) bool {
	if got == nil || want == nil {
		return got == nil && want == nil
	}
	return *r.violation(got) == *want
}

func formatViolation(v *trace.Violation) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprintf("%s of %s at step %d: %s", v.Kind, v.Node, v.Step, v.Message)
}
