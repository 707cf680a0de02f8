package property

import (
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Sanitizer finds reports of tools that look for errors of memory and threads while a program runs:
// the sanitizers of GCC and Clang, Go's race detector, Valgrind. Most of these go on behind a
// report, and a server that never ends has no status to tell.
type Sanitizer struct{}

// mark is a text that each first line of a tool's reports has, and line what it is like.
type mark struct {
	in   string
	line *regexp.Regexp
	name string // put before the line, which does not name the tool
}

var marks = []mark{
	{"DATA RACE", regexp.MustCompile(`^WARNING: (DATA RACE)$`), "Go's race detector: "},
	{"Sanitizer: ", regexp.MustCompile(`^==\d+==\s*ERROR: (\w+Sanitizer: .*)`), ""},
	{"Sanitizer: ", regexp.MustCompile(`^(?:==\d+==)?WARNING: ((?:Memory|Thread)Sanitizer: .*)`), ""},
	{": runtime error: ", regexp.MustCompile(`^(\S+:\d+:\d+: runtime error: .*)`), "UndefinedBehaviorSanitizer: "},
	{"== ", regexp.MustCompile(`^==\d+== ((?:Invalid read of size|Invalid write of size|Invalid free\(\)|Mismatched free\(\)|Conditional jump or move depends on uninitialised|Use of uninitialised value|Source and destination overlap|Jump to the invalid address|Possible data race during|Conflicting (?:load|store) by thread).*|Syscall param .* (?:points to|contains) un.*)`), "Valgrind: "},
}

// Step implements Check.
func (Sanitizer) Step(s *ariadne.Step) *ariadne.Violation {
	for i := range s.Output.Logs {
		l := &s.Output.Logs[i]
		if l.Stream == ariadne.Exposed {
			continue
		}
		text := strings.TrimSpace(l.Text)
		for _, m := range marks {
			if !strings.Contains(text, m.in) {
				continue
			}
			if found := m.line.FindStringSubmatch(text); found != nil {
				said := append([]string{m.name + found[1]}, behind(s.Output.Logs[i+1:], l.Stream)...)
				for k, text := range said {
					said[k] = strings.TrimSpace(address.ReplaceAllString(text, ""))
				}
				message := strings.Join(said, "; ")
				return &ariadne.Violation{Kind: "sanitizer", Node: s.Action.Node, Step: s.Index, At: l.At,
					Message: message}
			}
		}
	}
	return nil
}

// End implements Check.
func (Sanitizer) End(End) *ariadne.Violation { return nil }

var (
	// address is left out of messages: the same error has others in other executions.
	address = regexp.MustCompile(`(?:\b(?:on address|at pc|at|bp|sp) )?0x[0-9a-fA-F]+:? ?`)
	number  = regexp.MustCompile(`^==\d+==\s*`)
)

// behind are the two lines that say where it was: what was done, and the first frame.
func behind(logs []ariadne.LogLine, stream int) (all []string) {
	for i := range logs[:min(len(logs), 4)] {
		text := strings.TrimSpace(number.ReplaceAllString(strings.TrimSpace(logs[i].Text), ""))
		if logs[i].Stream != stream || text == "" || strings.HasPrefix(text, "===") {
			continue
		}
		if all = append(all, text); len(all) == 2 {
			break
		}
	}
	return all
}
