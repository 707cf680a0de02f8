package record

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/work"

	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// newReport begins the report of a command.
func newReport(command string, s *spec.Spec, out string) *Report {
	r := &Report{Event: "report", Version: Version, Command: command, Spec: s.Path, SpecDigest: s.Digest, Seed: s.Seed,
		Budgets: s.Budgets(), Properties: s.Properties.Digest, Name: s.Name, Out: out}
	r.Note(s.Notes...)
	for _, n := range s.Nodes {
		r.Nodes = append(r.Nodes, NodeReport{Name: n.Name})
	}
	return r
}

// Count adds up an execution, ended or not.
func (r *Report) Count(a *Attempt) {
	sum := r.Sum()
	sum.Add(a.Work(r.names()))
	r.Fill(sum)
}

// Work is what counts of an execution, but for how it ended: that is for who knows whether it has.
func (a *Attempt) Work(nodes []string) *work.Result {
	r := &work.Result{Counts: work.Counts{Steps: a.Steps, Calls: a.Calls, Messages: a.Messages, Virtual: a.Time}}
	for i := range nodes {
		if id := ariadne.NodeID(i); !a.Counted {
			for _, f := range a.Refusals[id] {
				r.Refuse(work.Refusal{Node: id, Refusal: f})
			}
		}
	}
	if a.CutAt != nil && !a.Counted {
		// There is no other step, so it needs no name.
		r.CutOff(work.CutOff{Node: a.CutNode, At: *a.CutAt, Steps: []string{""}})
	}
	r.Doubts.Say(Doubts(a, nodes)...)
	return r
}

// Refused are the doubts about what a node met that is not modelled.
func Refused(node string, refusals []ariadne.Refusal) (doubts []string) {
	for _, f := range refusals {
		if !f.Harmless {
			doubts = append(doubts, notModelled(node, f))
		}
	}
	return doubts
}

// Searched is the strategy of a check, or "".
func (r *Report) Searched() string {
	if r.Coverage == nil {
		return ""
	}
	return r.Coverage.Strategy
}

// Untouched reports whether a check has no result to keep. Its directory may then still have the
// files of an earlier run.
func (r *Report) Untouched() bool {
	return r.Executions == 0 && len(r.Violations)+len(r.Bugs)+len(r.Doubts) == 0
}

// Forget sets all counts back, for a check that walks and counts everything again. The index of its
// first execution is first. Findings stay.
func (r *Report) Forget(first int) {
	r.Steps, r.Calls, r.Messages, r.VirtualTime, r.Executions = 0, 0, 0, 0, 0
	r.Ends, r.Next = nil, first
	r.Doubts = slices.DeleteFunc(r.Doubts, func(d string) bool { return strings.HasSuffix(d, endedBefore) })
	r.Refusals = nil
	for i := range r.Violations {
		r.Violations[i].Count = 0
	}
}

func (r *Report) names() []string {
	var names []string
	for _, n := range r.Nodes {
		names = append(names, n.Name)
	}
	return names
}

// addRefusals adds up the refusals of the same thing and program.
func addRefusals(all, more []ariadne.Refusal) []ariadne.Refusal {
	for _, f := range more {
		i := slices.IndexFunc(all, func(g ariadne.Refusal) bool { return g.Name == f.Name && g.Program == f.Program })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Count += f.Count
		all[i].Harmless = all[i].Harmless && f.Harmless
	}
	return all
}

func notModelled(node string, f ariadne.Refusal) string {
	if strings.HasPrefix(f.Detail, `"`) { // what a program has written, and what is wrong with it
		return fmt.Sprintf("node %s: %s: %s %s", node, f.Program, f.Name, f.Detail)
	}
	return fmt.Sprintf("node %s: %s asks for %s, which is not modelled", node, f.Program, f.Name)
}

// Doubt enters what makes the report inconclusive, each thing once.
func (r *Report) Doubt(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(r.Doubts, t) {
			r.Doubts = append(r.Doubts, t)
		}
	}
}

// Note enters what is to be known besides, each thing once.
func (r *Report) Note(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(r.Notes, t) {
			r.Notes = append(r.Notes, t)
		}
	}
}

// MayNotReplay is a doubt.
const MayNotReplay = "a thread ran for long without a system call and was preempted: such a step may go differently the next time"

// Doubts are what makes one execution inconclusive, by the names of its nodes.
func Doubts(a *Attempt, nodes []string) []string {
	var d []string
	for i, node := range nodes {
		d = append(d, Refused(node, a.Refusals[ariadne.NodeID(i)])...)
	}
	if a.End == search.EndFatal {
		d = append(d, fmt.Sprintf("node %s cannot go on without %s", nodeName(a.FatalNode, nodes), a.Fatal))
	}
	if a.End == search.EndCut {
		d = append(d, CutOff(nodeName(a.CutNode, nodes), a.Cut))
	}
	if a.Unreplayable {
		d = append(d, MayNotReplay)
	}
	return d
}

// CutOff is the doubt about a step that was cut off. There may be one of an execution that does not
// count, such as that in which the time was up.
func CutOff(node, what string) string {
	return fmt.Sprintf("node %s: a step was cut off: %s", node, what)
}

// Found enters a violation of an execution, with its record in dir, and its size unless that is
// nil.
func (r *Report) Found(a *Attempt, execution int, dir, tracePath string, size *Size) Violation {
	v := Violation{
		Event: "violation", Violation: *a.Violation, NodeName: nodeName(a.Violation.Node, r.names()),
		Execution: execution,
		Dir:       dir, Trace: tracePath, Replay: "ariadne replay " + ShellWord(tracePath), Count: 1,
		Size: size, Goal: a.Goal,
	}
	if size != nil { // else the report has them
		v.Numbers = a.Numbers
	}
	if d := Doubts(a, r.names()); len(d) > 0 {
		v.Suspect = "Ariadne may have caused it: " + strings.Join(d, "; ")
	}
	if v.Kind == "death" {
		v.Said = saidLast(filepath.Join(dir, logFile(v.NodeName)))
	}
	r.Violations = append(r.Violations, v)
	return v
}

// Refine enters what more is known of a violation that Found gave: a smaller execution, and of what
// must happen.
func (r *Report) Refine(v Violation) {
	for i := range r.Violations {
		if w := &r.Violations[i]; w.Trace == v.Trace {
			w.Shrunk, w.Goal = cmp.Or(v.Shrunk, w.Shrunk), cmp.Or(v.Goal, w.Goal)
		}
	}
}

// Move enters that the record of a violation lies in another directory: paths in one begin with it,
// or with nothing.
func (v *Violation) Move(from, to string) {
	move := func(paths ...*string) {
		for _, p := range paths {
			if rest, ok := strings.CutPrefix(*p, from); ok && *p != "" {
				*p = strings.TrimPrefix(rest, "/")
				if to != "" {
					*p = filepath.Join(to, *p)
				}
			}
		}
	}
	if move(&v.Trace); v.Trace != "" {
		v.Replay = "ariadne replay " + ShellWord(v.Trace)
	}
	if v.Dir = to; v.Goal != nil {
		goal := *v.Goal
		move(&goal.Live)
		v.Goal = &goal
	}
	if v.Shrunk == nil {
		return
	}
	s := *v.Shrunk
	move(&s.Dir, &s.Trace)
	s.Replay = "ariadne replay " + ShellWord(s.Trace)
	v.Shrunk = &s
}

// Moved is a file of a record, below the directory that it will lie in, of a system whose spec lies
// in a path.
func Moved(name string, data []byte, dir, spec string) ([]byte, error) {
	if filepath.Base(name) != traceFile {
		return data, nil
	}
	t, err := trace.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if t.Header.Spec, err = system.Relative(dir, spec); err != nil {
		return nil, err
	}
	return trace.Format(t), nil
}

// ShellWord is s as a shell takes it for one word.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./,:+@%=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Left enters that a replay left its trace. It is a bug, unless there is a
// reason not to be surprised.
func (r *Report) Left(m *replay.Mismatch, excused bool, text string) {
	if m.Excused || excused {
		r.Doubt(text)
	} else {
		r.Bugs = append(r.Bugs, text)
	}
}

// Judge sets the outcome. A bug of Ariadne's comes first, for nothing else can be
// trusted then; a violation that may be Ariadne's doing is none yet.
func (r *Report) Judge() {
	is := func(suspected bool) bool {
		return slices.ContainsFunc(r.Violations, func(v Violation) bool {
			return v.Suspect == "" && (v.Kind == property.Suspected) == suspected
		})
	}
	r.Suspicions = r.sameCutOffs()
	switch {
	case len(r.Bugs) > 0:
		r.Outcome = ToolBug
	case is(false):
		r.Outcome = Violated
	case is(true), len(r.Suspicions) > 0:
		r.Outcome = Suspected
	case len(r.Violations) > 0 || len(r.Doubts) > 0:
		r.Outcome = Inconclusive
	default:
		r.Outcome = Nothing
	}
	r.ExitStatus = r.Outcome.ExitStatus()
}

// maxSaidAtDeath is how many of the last lines of a command that died a report shows.
const maxSaidAtDeath = 3

// saidLast are the last lines of standard error in a node's log, or else of standard output.
func saidLast(log string) []string {
	data, err := readfile.AtMost(log, readfile.Record)
	if err != nil {
		return nil
	}
	said := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		// As appendLog has it: time, stream, process, text.
		if f := strings.SplitN(strings.TrimRight(line, "\n"), " ", 4); len(f) == 4 && strings.TrimSpace(f[3]) != "" {
			said[f[1]] = append(said[f[1]], f[3])
		}
	}
	lines := said["err"]
	if len(lines) == 0 {
		lines = said["out"]
	}
	return lines[max(len(lines)-maxSaidAtDeath, 0):]
}
