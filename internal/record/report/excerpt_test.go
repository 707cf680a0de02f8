package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// delayed is an execution of 117 steps in which the message of step 54 is late, and
// another one never comes.
func delayed() []ariadne.Step {
	m := func(seq int) ariadne.Message {
		return ariadne.Message{From: 1, To: 0, Flow: flow("10.0.0.2:40001", "10.0.0.1:80"), Seq: seq, Sent: 1 * ms,
			Data: []byte("late")}
	}
	other := ariadne.Message{From: 1, To: 0, Flow: flow("10.0.0.2:40002", "10.0.0.1:80"), Seq: 1, Sent: 1 * ms}
	var steps []ariadne.Step
	for i := range 117 {
		s := ariadne.Step{Index: i + 1, At: ariadne.Time(i) * ms, Action: ariadne.Action{Kind: ariadne.ActFire},
			Output: ariadne.Output{Logs: []ariadne.LogLine{{At: ariadne.Time(i) * ms, Text: "tick"}},
				Left: ariadne.Left{Deadline: ariadne.Never}}}
		switch i {
		case 0, 1:
			s.At, s.Action = 0, ariadne.Action{Kind: ariadne.ActStart, Node: ariadne.NodeID(i)}
			if i == 1 {
				s.Output.Messages = []ariadne.Message{m(1), m(2), other}
			}
		case 53, 54:
			s.At = 53 * ms
			s.Action = ariadne.Action{Kind: ariadne.ActDeliver, Flow: m(1).Flow, Seq: i - 52}
			s.Output.Logs = nil // it alone would be held back as quiet
		case 60:
			s.At = 20 * ms
		}
		steps = append(steps, s)
	}
	return steps
}

func excerptOf(steps []ariadne.Step) []string {
	tl := NewTimeline([]string{"n1", "n2"}, time.Millisecond, Style{})
	e := Excerpt{Tail: 30}
	for _, s := range steps {
		e.Add(tl.Step(s)...)
	}
	e.Add(tl.End()...)
	e.Add(tl.Undelivered()...)
	return e.Lines(tl, "file")
}

// TestOneLineIsLeftOut: one line is no lines.
func TestOneLineIsLeftOut(t *testing.T) {
	tl := NewTimeline([]string{"n1"}, time.Millisecond, Style{})
	e := Excerpt{Tail: 2}
	e.Add("first", "second", "third")
	if got := e.Lines(tl, "file"); got[0] != "           …        1 earlier line in file" || got[1] != "second" {
		t.Errorf("%q", got)
	}
}

// TestEveryDeviationShows, however far from the end it is.
func TestEveryDeviationShows(t *testing.T) {
	got := excerptOf(delayed())
	want := []string{
		"           …        106 earlier lines",
		"   0.053000s    54* n2 -> n1  tcp 40001>80 4 B (51ms late)  late",
		"           …        11 earlier lines",
		"   0.020000s    61~ n1        timer",
		"           …        84 earlier lines in file",
	}
	if len(got) != len(want)+30+1 || strings.Join(got[:len(want)], "\n") != strings.Join(want, "\n") {
		t.Errorf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
	last := got[len(got)-2:]
	if last[0] != "   0.116000s      * n2 -> n1  tcp 40002>80 (not delivered, due at 0.002000s)" || last[1] != Legend {
		t.Errorf("ends with %q", last)
	}
}

// TestManyOvertaken: where most steps are, they are counted.
func TestManyOvertaken(t *testing.T) {
	steps := delayed()
	for i := 70; i < 100; i++ {
		steps[i].At = 21 * ms
	}
	text := strings.Join(excerptOf(steps), "\n")
	if strings.Contains(text, "~ n1") || !strings.Contains(text, "54* n2") ||
		!strings.Contains(text, "(not shown: 31)") {
		t.Errorf("\n%s", text)
	}
}

func TestEarlyTimer(t *testing.T) {
	tl := NewTimeline([]string{"n1", "n2"}, time.Millisecond, Style{})
	var lines []string
	for i, s := range []ariadne.Step{
		{Action: ariadne.Action{Kind: ariadne.ActStart},
			Output: ariadne.Output{Left: ariadne.Left{Deadline: 10 * ms, Timer: "nanosleep"}}},
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 1},
			Output: ariadne.Output{Left: ariadne.Left{Deadline: 12 * ms, Timer: "poll"}}},
		{Action: ariadne.Action{Kind: ariadne.ActFire, Node: 1}, At: 12 * ms,
			Output: ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never}}},
		{Action: ariadne.Action{Kind: ariadne.ActFire}, At: 10 * ms,
			Output: ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never}}},
	} {
		s.Index = i + 1
		lines = append(lines, tl.Step(s)...)
	}
	got := fmt.Sprint(strings.Join(lines, "\n"))
	if !strings.Contains(got, "3* n2        timer poll (2ms early)") ||
		!strings.Contains(got, "4~ n1        timer nanosleep") {
		t.Errorf("\n%s", got)
	}
}
