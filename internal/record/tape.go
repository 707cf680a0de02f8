package record

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Attempt is what one execution came to.
type Attempt struct {
	search.Result
	Refusals map[ariadne.NodeID][]ariadne.Refusal
	Counted  bool // the refusals are in the report already
	// Walked: it was taken on behind the limits, by a walk that looked whether something happens
	// yet. Goal is what is known besides of a goal that is not live in it, or nil, and Near a live
	// execution that is like it.
	Walked bool
	Goal   *Goal
	Near   []trace.Step
	// Late is how late a message was at most; 0 where nobody has looked.
	Late ariadne.Time
	// Numbers is how the spec's numbers went; nil where nodes did not live.
	Numbers []property.Series
}

// Refused adds what a step met that is not modelled.
func (a *Attempt) Refused(id ariadne.NodeID, step []ariadne.Refusal) {
	if len(step) == 0 {
		return
	}
	if a.Refusals == nil {
		a.Refusals = map[ariadne.NodeID][]ariadne.Refusal{}
	}
	a.Refusals[id] = addRefusals(a.Refusals[id], step)
}

// Tape keeps what a replay of an execution needs, in memory.
type Tape struct {
	Used  system.Used // of the host's files
	steps []trace.Step
	file  bytes.Buffer
	calls *trace.CallWriter
}

// NewTape returns a tape of no steps.
func NewTape(d *system.Digests) *Tape {
	t := &Tape{Used: system.NewUsed(d)}
	// Writing to a buffer does not fail.
	t.calls, _ = trace.NewCallWriter(&t.file)
	return t
}

// TapeOf returns the tape of steps of which no more is known: neither calls nor files.
func TapeOf(d *system.Digests, steps []trace.Step) *Tape {
	t := NewTape(d)
	t.steps = steps
	return t
}

// Step keeps a step.
func (t *Tape) Step(s ariadne.Step) {
	t.steps = append(t.steps, trace.NewStep(s))
	t.calls.Step(s.Output.CallTrace)
	t.Used.Step(s)
}

// End returns the trace and the file of its calls.
func (t *Tape) End(h trace.Header, r *search.Result, nodes []string) (*trace.Trace, []byte) {
	t.calls.Close()
	return &trace.Trace{Header: h, Steps: t.steps, Files: t.Used.Binding(), End: r.End,
		Violation: namedViolation(r.Violation, nodes)}, t.file.Bytes()
}

// SaveTrace writes them to a directory, with what was learnt of the host, and returns the
// trace's path.
func SaveTrace(dir string, t *trace.Trace, calls, host []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	path := filepath.Join(dir, traceFile)
	if err := WriteFile(path+trace.CallsSuffix, calls); err != nil {
		return "", err
	}
	if err := WriteFile(path+trace.HostSuffix, host); err != nil {
		return "", err
	}
	return path, WriteFile(path, trace.Format(t))
}

func namedViolation(v *ariadne.Violation, nodes []string) *trace.Violation {
	return trace.NewViolation(v, func(id ariadne.NodeID) string { return nodeName(id, nodes) })
}

func nodeName(id ariadne.NodeID, nodes []string) string {
	if id == ariadne.NoNode {
		return ""
	}
	return nodes[id]
}
