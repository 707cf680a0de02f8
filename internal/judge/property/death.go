package property

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Death finds commands that a signal killed or that ended with a status other than 0, on nodes that
// may not fail, and such of those that look at what a fault has left. A command that ends with 0 is
// fine: it may have left a daemon behind.
type Death struct{ Nodes []Subject }

// Step implements Check.
func (d *Death) Step(s *ariadne.Step) *ariadne.Violation {
	node := &d.Nodes[s.Action.Node]
	for _, e := range s.Output.Exits {
		checks := e.Command >= len(node.Commands)-node.Checkers && e.Command < len(node.Commands)
		if e.Status == 0 && e.Signal == 0 || node.MayFail && !checks {
			continue
		}
		msg := command(node, e.Command) + " " + e.How()
		if last := LastWords(s.Output.Logs); last != "" {
			msg += ": " + last
		}
		return &ariadne.Violation{Kind: "death", Node: s.Action.Node, Step: s.Index, At: e.At, Message: msg}
	}
	return nil
}

// End implements Check.
func (d *Death) End(End) *ariadne.Violation { return nil }

func command(n *Subject, i int) string {
	if i < 0 || i >= len(n.Commands) {
		return fmt.Sprintf("command %d", i+1)
	}
	return n.Commands[i]
}

// LastWords is the line that tells best why a program died, of those that it wrote in its last step
// to standard error or else to standard output: the first that says that it ends, or else that
// something is wrong; else the last line of standard error. Lines that a log calls harmless say
// neither.
func LastWords(logs []ariadne.LogLine) string {
	last := ""
	for _, stream := range []int{2, 1} {
		wrong := ""
		for _, l := range logs {
			text := strings.TrimSpace(l.Text)
			if l.Stream != stream || text == "" {
				continue
			}
			switch lower := strings.ToLower(text); {
			case harmless.MatchString(lower):
			case containsAny(lower, "panic", "fatal", "assert", "abort", "violat"):
				return text
			case wrong == "" && containsAny(lower, "exception", "error", "failed"):
				wrong = text
			}
			if stream == 2 {
				last = text
			}
		}
		if wrong != "" {
			return wrong
		}
	}
	return last
}

// harmless are lines of levels below that of an error, as logs in JSON and in plain text name them.
var harmless = regexp.MustCompile(`"level":"(debug|info|warn)|^\S* ?\S* ?\[?(debug|info|warn(ing)?)\b`)

func containsAny(line string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
}
