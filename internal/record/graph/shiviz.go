package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteShiViz writes a log with vector clocks, which ShiViz reads as it is
// (https://bestchai.bitbucket.io/shiviz/): two lines a step, the event, and a host with its clock.
// Events of the network have a host of their own.
func (p *Picture) WriteShiViz(w io.Writer) error {
	b := bufio.NewWriter(w)
	// Of a file the first two lines are expressions; where they are empty ShiViz takes its own.
	b.WriteString("\n\n")
	clocks := make([]map[string]int, len(p.Steps))
	own := map[string]int{}
	for i := range p.Steps {
		s := &p.Steps[i]
		host := p.host(s)
		clock := map[string]int{}
		causes := s.Causes
		if last := own[host]; last > 0 {
			causes = append([]int{last}, causes...)
		}
		for _, c := range causes {
			for name, n := range clocks[c-1] {
				clock[name] = max(clock[name], n)
			}
		}
		clock[host]++
		clocks[i], own[host] = clock, i+1
		text, err := json.Marshal(clock) // sorted by name
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s\n%s %s\n", inLine(fmt.Sprintf("%d %v %s", s.Step, s.At, s.describe())), host, text)
	}
	return b.Flush()
}

// host is where a step happened. The format has no host with a space.
func (p *Picture) host(s *Step) string {
	if s.Row < 0 {
		return "(network)"
	}
	return strings.Join(strings.Fields(p.Nodes[s.Row]), "_")
}

// describe says in words what the step was, and what it led to.
func (s *Step) describe() string {
	text := s.Text
	if s.From != "" {
		text = "from " + s.From + ": " + text
	}
	for _, o := range s.Outcomes {
		text += "; " + o.Text
	}
	return text
}

// inLine is a text without what would end a line, or can be in no file of XML.
func inLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
