//go:build linux

package system

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// starting is a node that is yet to be switched on. One whose command dies, undisturbed, of nothing
// but its start dies of it in every execution: the spec is wrong, or the program.
type starting struct {
	*node.Node
	spec   *spec.Spec
	def    *spec.Node
	learnt func([]ariadne.File) // or nil
	sought *Sought              // or nil
	files  func(ariadne.NodeID, *disk.Log)
}

// Apply implements ariadne.Automaton.
func (n starting) Apply(in ariadne.Input) (ariadne.Output, error) {
	first := !n.SwitchedOn()
	out, err := n.Node.Apply(in)
	if n.learnt != nil {
		n.learnt(out.Files)
	}
	if n.sought != nil {
		if s, more := n.Sought(); more {
			n.sought.seek(&s)
		}
	}
	if n.files != nil {
		n.files(n.def.ID, n.Log())
	}
	if err == nil && in.Kind == ariadne.Start && first && out.Variation() == "" {
		err = n.died(&out)
	}
	return out, err
}

// died says that a command has not started, or nil. When it was refused what a real
// kernel would have given, that is not known. Harmless refusals, which a real kernel may give as
// well, are named and excuse nothing: most runtimes meet some.
func (n starting) died(out *ariadne.Output) error {
	unmodelled := func(f ariadne.Refusal) bool { return !f.Harmless }
	if n.def.MayFail || out.Fatal != "" || slices.ContainsFunc(out.Refusals, unmodelled) {
		return nil
	}
	for _, e := range out.Exits {
		if e.Status == 0 && e.Signal == 0 || e.Command < 0 || e.Command >= len(n.def.Commands) {
			continue
		}
		c := n.def.Commands[e.Command]
		how := e.How()
		text := fmt.Sprintf("%s did not start: it %s in its first step, before anything could reach it", commandName(c), how)
		said, hint := lastLines(out.Logs)
		if said == "" {
			said = ", and wrote nothing"
		}
		text += said
		if e.Status == 126 || e.Status == 127 { // a shell's
			path := spec.Path
			if p, ok := n.def.Env["PATH"]; ok {
				path = p
			}
			text += " (names without a slash are looked for in " + path + ", others from /node)"
		}
		text += hint
		var advice []string
		if n.sought != nil {
			advice = n.sought.advice(n.spec, n.def, textsOf(out.Logs))
		}
		for _, line := range advice {
			text = strings.TrimRight(text, "\n ") + "\n  " + line
		}
		if len(out.Refusals) > 0 {
			text = strings.TrimRight(text, "\n ") + "\n  Ariadne refused " + strings.Join(refusedNames(out.Refusals),
				", ") + ", which most programs can do without"
		}
		err := spec.Errors{{Path: n.spec.Path, Line: c.Line, Node: n.def.Name, Text: text}}
		return &ariadne.SetupError{Err: &NotStarted{err, n.def.ID, commandName(c) + " " + how,
			slices.Collect(out.Record()), advice}}
	}
	return nil
}

// maxSaid is how many of the last lines that a node wrote a message repeats; up to
// maxInLine stand in its first line.
const (
	maxSaid   = 10
	maxInLine = 3
)

// lastLines are the last lines of standard error, or else of standard output, as the end
// of a message; before them the one that tells best why a program died. hint is what they
// may come of, or "".
func lastLines(logs []ariadne.LogLine) (said, hint string) {
	var lines []string
	for _, stream := range []int{2, 1} {
		for _, l := range logs {
			if text := strings.TrimSpace(l.Text); l.Stream == stream && text != "" {
				lines = append(lines, text)
			}
		}
		if len(lines) > 0 {
			break
		}
	}
	last := lines[max(len(lines)-maxSaid, 0):]
	best := property.LastWords(logs)
	if slices.ContainsFunc(append(slices.Clone(last), best), missingInRun.MatchString) {
		hint = " (/run is empty in a node: let the command make what it needs there first, with mkdir -p)"
	}
	switch {
	case len(last) > maxInLine:
		return ": " + best + hint + "; its last lines:\n  | " + strings.Join(last, "\n  | ") + "\n  ", ""
	case best != "" && !slices.Contains(last, best):
		last = append([]string{best}, last...)
	}
	if len(last) > 0 {
		said = ": " + strings.Join(last, " | ")
	}
	return said, hint
}

// missingInRun matches a line that complains of a missing file below /run.
var missingInRun = regexp.MustCompile(`(?i)(^|[^\w/])(/var)?/run/.*(no such|not exist|not found)|(no such|not exist|not found).*[^\w/](/var)?/run/`)

func textsOf(logs []ariadne.LogLine) (texts []string) {
	for _, l := range logs {
		texts = append(texts, l.Text)
	}
	return texts
}

func refusedNames(refusals []ariadne.Refusal) []string {
	var names []string
	for _, f := range refusals {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// NotStarted says that a command died of its start.
type NotStarted struct {
	spec.Errors
	Node ariadne.NodeID
	How  string // the command, and how it ended
	Logs []ariadne.LogLine
	// Advice says which files it has looked for that the node does not have, and how the node gets
	// them, one line each.
	Advice []string
}

func (e *NotStarted) Unwrap() error { return e.Errors }
