//go:build linux

package run

import (
	"fmt"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/node"
	"ariadne/internal/property"
	"ariadne/internal/spec"
)

// starting is a node that is yet to be switched on. One whose command dies of nothing
// but its start dies of it in every execution: the spec is wrong, or the program.
type starting struct {
	*node.Node
	spec *spec.Spec
	def  *spec.Node
}

// Apply implements ariadne.Automaton.
func (n starting) Apply(in ariadne.Input) (ariadne.Output, error) {
	out, err := n.Node.Apply(in)
	if err == nil && in.Kind == ariadne.Start && in.At == ariadne.Time(n.def.Start) {
		err = n.died(&out)
	}
	return out, err
}

// died says that a command has not started, or nil. When it was refused what a real
// kernel would have given, that is not known.
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
		text := fmt.Sprintf("%s did not start: it %s in its first step, before anything could reach it", commandName(c), property.HowItEnded(e))
		if said := lastLines(out.Logs); said != "" {
			text += ": " + said
		}
		if e.Status == 126 || e.Status == 127 { // a shell's
			path := spec.Path
			if p, ok := n.def.Env["PATH"]; ok {
				path = p
			}
			text += " (names without a slash are looked for in " + path + ", others from /node)"
		}
		return &ariadne.SetupError{Err: spec.Errors{{Path: n.spec.Path, Line: c.Line, Node: n.def.Name, Text: text}}}
	}
	return nil
}

// maxSaid is how many of the last lines that a node wrote a message repeats.
const maxSaid = 3

// lastLines are the last lines of standard error, or else of standard output, in one;
// before them the one that tells best why a program died.
func lastLines(logs []ariadne.LogLine) string {
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
	if best := property.LastWords(logs); best != "" && !slices.Contains(last, best) {
		last = append([]string{best}, last...)
	}
	return strings.Join(last, " | ")
}
