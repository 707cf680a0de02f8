package run

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/spec"
)

// newReport begins the report of a command.
func newReport(command string, s *spec.Spec, out string) *Report {
	r := &Report{Command: command, Spec: s.Path, SpecDigest: s.Digest, Seed: s.Seed, Name: s.Name, Out: out}
	for _, n := range s.Nodes {
		r.Nodes = append(r.Nodes, NodeReport{Name: n.Name})
	}
	return r
}

// count adds up an execution, ended or not.
func (r *Report) count(a *attempt) {
	r.Steps += a.Steps
	r.Calls += a.Calls
	r.Messages += a.Messages
	r.VirtualTime += a.Time
	for i := range r.Nodes {
		if id := ariadne.NodeID(i); !a.counted {
			r.refused(id, a.refusals[id])
		}
	}
	r.doubt(doubts(a, r.names())...)
}

// refused enters what a node met that is not modelled.
func (r *Report) refused(id ariadne.NodeID, refusals []ariadne.Refusal) {
	n := &r.Nodes[id]
	n.Refusals = addRefusals(n.Refusals, refusals)
	slices.SortFunc(n.Refusals, func(a, b ariadne.Refusal) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Program, b.Program))
	})
	for _, f := range refusals {
		if !f.Harmless {
			r.doubt(notModelled(n.Name, f))
		}
	}
}

// searched is the strategy of a check, or "".
func (r *Report) searched() string {
	if r.Coverage == nil {
		return ""
	}
	return r.Coverage.Strategy
}

// untouched reports whether a check has come to nothing that is to be kept. What lies
// in its directory may then still be that of an earlier run.
func (r *Report) untouched() bool {
	return r.Executions == 0 && len(r.Violations)+len(r.Bugs)+len(r.Doubts) == 0
}

// forget forgets all that is counted, for a check that walks all again and so counts
// it again; the index of its first execution is first. What was found stays.
func (r *Report) forget(first int) {
	r.Steps, r.Calls, r.Messages, r.VirtualTime, r.Executions = 0, 0, 0, 0, 0
	r.Ends, r.Next = nil, first
	for i := range r.Nodes {
		r.Nodes[i].Refusals = nil
	}
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
	return fmt.Sprintf("node %s: %s asks for %s, which is not modelled", node, f.Program, f.Name)
}

// doubt enters what makes the report inconclusive, each thing once.
func (r *Report) doubt(texts ...string) {
	for _, t := range texts {
		if !slices.Contains(r.Doubts, t) {
			r.Doubts = append(r.Doubts, t)
		}
	}
}

// note enters what is to be known besides, once.
func (r *Report) note(text string) {
	if !slices.Contains(r.Notes, text) {
		r.Notes = append(r.Notes, text)
	}
}

const mayNotReplay = "a thread ran for long without a system call and was preempted: such a step may go differently the next time"

// doubts are what makes one execution inconclusive.
func doubts(a *attempt, nodes []string) []string {
	var d []string
	for i, node := range nodes {
		for _, f := range a.refusals[ariadne.NodeID(i)] {
			if !f.Harmless {
				d = append(d, notModelled(node, f))
			}
		}
	}
	if a.End == search.EndFatal {
		d = append(d, fmt.Sprintf("node %s cannot go on without %s", nodeName(a.FatalNode, nodes), a.Fatal))
	}
	if a.End == search.EndCut {
		d = append(d, fmt.Sprintf("node %s: a step was cut off: %s", nodeName(a.CutNode, nodes), a.Cut))
	}
	if a.Unreplayable {
		d = append(d, mayNotReplay)
	}
	return d
}

// violation enters a violation of an execution, with its record in dir.
func (r *Report) violation(a *attempt, execution int, dir, tracePath string) Violation {
	v := Violation{
		Violation: *a.Violation, NodeName: nodeName(a.Violation.Node, r.names()), Execution: execution,
		Dir: dir, Trace: tracePath, Replay: "ariadne replay " + shellWord(tracePath), Count: 1,
	}
	if d := doubts(a, r.names()); len(d) > 0 {
		v.Suspect = "it may be Ariadne's doing: " + strings.Join(d, "; ")
	}
	if v.Kind == "death" {
		v.Said = saidLast(filepath.Join(dir, logFile(v.NodeName)))
	}
	r.Violations = append(r.Violations, v)
	return v
}

// shellWord is s as a shell takes it for one word.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./,:+@%=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// mismatch enters that a replay left its trace. It is a bug, unless there is a
// reason not to be surprised.
func (r *Report) mismatch(m *replay.Mismatch, excused bool, text string) {
	if m.Excused || excused {
		r.doubt(text)
	} else {
		r.Bugs = append(r.Bugs, text)
	}
}

// judge sets the outcome. A bug of Ariadne's comes first, for nothing else can be
// trusted then; a violation that may be Ariadne's doing is none yet.
func (r *Report) judge() {
	solid := slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Suspect == "" })
	switch {
	case len(r.Bugs) > 0:
		r.Outcome = ToolBug
	case solid:
		r.Outcome = Violated
	case len(r.Violations) > 0 || len(r.Doubts) > 0:
		r.Outcome = Inconclusive
	default:
		r.Outcome = Nothing
	}
}
