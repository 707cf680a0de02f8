package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"ariadne"
)

// TimelineFile is the name of an execution's timeline, beside its trace.
const TimelineFile = "timeline.txt"

// Row is one line of a timeline.
type Row struct {
	Step  int
	At    ariadne.Time
	Node  ariadne.NodeID // where it happened
	From  ariadne.NodeID // of a delivered message, else NoNode
	Kind  RowKind
	Text  string
	Quiet bool // nothing came of it: no message, no line, no exit
}

// RowKind says what a row shows.
type RowKind uint8

const (
	Input RowKind = iota // the step's action
	Log                  // a line that the node wrote
	Alarm                // a process ended badly, a step did not end, a call was fatal
	Note                 // what else is worth knowing of the step
)

// Timeline makes rows of steps. It remembers what was sent, so as to show at its
// delivery what a message carries.
type Timeline struct {
	nodes   []string
	latency time.Duration
	sent    map[messageKey]ariadne.Message
	timers  map[ariadne.NodeID]string // what each node's pending timer is
}

type messageKey struct {
	flow ariadne.Flow
	to   ariadne.NodeID
	seq  int
}

// NewTimeline returns a timeline of nodes with these names, whose messages
// arrive after latency unless they are delayed.
func NewTimeline(nodes []string, latency time.Duration) *Timeline {
	return &Timeline{nodes: nodes, latency: latency,
		sent: map[messageKey]ariadne.Message{}, timers: map[ariadne.NodeID]string{}}
}

// Rows returns the rows of the next step.
func (t *Timeline) Rows(s ariadne.Step) []Row {
	o := &s.Output
	input := Row{Step: s.Index, At: s.At, Node: s.Action.Node, From: ariadne.NoNode, Kind: Input}
	input.Quiet = len(o.Messages) == 0 && len(o.Logs) == 0 && len(o.Exits) == 0 && o.Diverged == "" && o.Fatal == ""
	switch s.Action.Kind {
	case ariadne.ActStart:
		input.Text = "start"
	case ariadne.ActFire:
		input.Text = strings.TrimSpace("timer " + t.timers[s.Action.Node])
	case ariadne.ActDeliver:
		t.deliver(&input, s)
	default:
		input.Text = s.Name
	}
	rows := append([]Row{input}, t.outputRows(s)...)
	for _, m := range o.Messages {
		t.sent[messageKey{m.Flow, m.To, m.Seq}] = m
	}
	t.timers[s.Action.Node] = o.Timer
	return rows
}

// deliver says what the delivered message carries, and how late it is.
func (t *Timeline) deliver(row *Row, s ariadne.Step) {
	a := s.Action
	key := messageKey{a.Flow, a.Node, a.Seq}
	m, known := t.sent[key]
	if !known {
		row.Text = s.Name
		return
	}
	delete(t.sent, key)
	row.From = m.From
	late := ""
	if d := time.Duration(s.At - m.Sent.Add(t.latency)); d > 0 {
		late = " (" + d.Round(time.Microsecond).String() + " late)"
	}
	row.Text = describe(m, late)
}

// describe says what a message is: its ports, flags and data.
func describe(m ariadne.Message, late string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d>%d", m.Flow.Proto, m.Flow.Src.Port(), m.Flow.Dst.Port())
	if m.Flags != 0 {
		b.WriteString(" " + m.Flags.String())
	}
	if len(m.Data) > 0 {
		fmt.Fprintf(&b, " %d B", len(m.Data))
	}
	b.WriteString(late)
	if len(m.Data) > 0 {
		b.WriteString("  " + Payload(m.Data, DefaultWidth))
	}
	return b.String()
}

func (t *Timeline) outputRows(s ariadne.Step) []Row {
	var rows []Row
	add := func(at ariadne.Time, kind RowKind, format string, args ...any) {
		rows = append(rows, Row{Step: s.Index, At: at, Node: s.Action.Node, From: ariadne.NoNode, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
	o := &s.Output
	for _, l := range o.Logs {
		add(l.At, Log, "%s", l.Text)
	}
	for _, e := range o.Exits {
		switch {
		case e.Signal != 0:
			add(e.At, Alarm, "command %d: killed by signal %d", e.Command+1, e.Signal)
		case e.Status != 0:
			add(e.At, Alarm, "command %d: exit status %d", e.Command+1, e.Status)
		default:
			add(e.At, Note, "command %d: exit status 0", e.Command+1)
		}
	}
	if o.Diverged != "" {
		add(o.Clock, Alarm, "diverged: %s", o.Diverged)
	}
	if o.Fatal != "" {
		add(o.Clock, Alarm, "cannot go on without %s", o.Fatal)
	}
	if o.Unreplayable {
		add(o.Clock, Note, "a thread that made no call was preempted: this step may not replay")
	}
	return rows
}

// Format returns the row as a line of the style's width.
func (t *Timeline) Format(r Row, style Style) string {
	place := t.place(r)
	head := fmt.Sprintf("%12s ", r.At)
	if r.Kind == Input {
		head += fmt.Sprintf("%5d  ", r.Step)
	} else {
		head += "       "
	}
	gap := strings.Repeat(" ", max(t.placeWidth()-utf8.RuneCountInString(place), 0)+2)
	text := printable(r.Text)
	if r.Kind == Log {
		text = "| " + text
	}
	text = cut(text, style.width()-utf8.RuneCountInString(head+place+gap))
	switch {
	case r.Kind == Alarm:
		text = style.Warn(text)
	case r.Kind == Note || r.Quiet:
		text = style.paint(faint, text)
	}
	return strings.TrimRight(head+style.node(int(r.Node), place)+gap+text, " ")
}

// place says where a row happened: "n2" or "n1 -> n2".
func (t *Timeline) place(r Row) string {
	if r.From == ariadne.NoNode {
		return t.name(r.Node)
	}
	return t.name(r.From) + " -> " + t.name(r.Node)
}

func (t *Timeline) name(id ariadne.NodeID) string {
	if id < 0 || int(id) >= len(t.nodes) {
		return "?"
	}
	return cut(printable(t.nodes[id]), 12)
}

// placeWidth is that of an arrow between the two longest names.
func (t *Timeline) placeWidth() int {
	longest := 0
	for i := range t.nodes {
		longest = max(longest, utf8.RuneCountInString(t.name(ariadne.NodeID(i))))
	}
	return 2*longest + len(" -> ")
}

// Write prints the rows, under a headline. At most last of them are printed
// when last is not 0; those that stand before are counted, and so are quiet
// steps in between, of which only the first and the last of a stretch show.
func (t *Timeline) Write(w io.Writer, rows []Row, last int, style Style) error {
	var b strings.Builder
	head := fmt.Sprintf("%12s %5s  %-*s  %s", "time", "step", t.placeWidth(), "node", "what")
	b.WriteString(style.Head(head) + "\n")
	lines := t.lines(rows, style)
	if last > 0 && len(lines) > last {
		fmt.Fprintf(&b, "%12s %5s  %d earlier lines\n", "…", "", len(lines)-last)
		lines = lines[len(lines)-last:]
	}
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines formats rows; of a stretch of more than three quiet steps it counts the inner ones.
func (t *Timeline) lines(rows []Row, style Style) []string {
	var out []string
	for i := 0; i < len(rows); i++ {
		n := 0
		for i+n < len(rows) && rows[i+n].Quiet {
			n++
		}
		if n > 3 {
			out = append(out, t.Format(rows[i], style),
				style.paint(faint, fmt.Sprintf("%12s %5s  %d more in which nothing was sent or written", "…", "", n-2)))
			i += n - 1
		}
		out = append(out, t.Format(rows[i], style))
	}
	return out
}
