package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TimelineFile is the name of an execution's timeline, beside its trace.
const TimelineFile = "timeline.txt"

// Timeline makes lines of steps. It remembers what was sent, so as to show at its
// delivery what a message carries, and holds back steps of which nothing came:
// of a long stretch of these only the first and the last are shown. Steps that do not
// follow the natural schedule are marked, and never held back.
type Timeline struct {
	// Commands, when not nil, is what a command of a node is called; else it is its number.
	Commands func(id ariadne.NodeID, command int) string

	nodes   []string
	latency time.Duration
	style   Style
	sent    map[messageKey]ariadne.Message
	timers  map[ariadne.NodeID]timer // each node's pending one
	started map[ariadne.NodeID]ariadne.Time
	arrived map[ariadne.Flow]ariadne.Time // the last message of each connection
	latest  ariadne.Time                  // of all inputs
	quiet   stretch
	losses
}

// timer is a node's earliest.
type timer struct {
	name string
	at   ariadne.Time
}

type messageKey struct {
	flow ariadne.Flow
	to   ariadne.NodeID
	seq  int
}

// stretch is a number of quiet steps in a row.
type stretch struct {
	first [maxQuiet]row
	last  row
	n     int
}

// maxQuiet is how many quiet steps in a row are all shown.
const maxQuiet = 3

// row is a line before it is laid out.
type row struct {
	step int
	at   ariadne.Time
	node ariadne.NodeID // where it happened
	from ariadne.NodeID // of a delivered message, else NoNode
	kind rowKind
	mark rune // how it left the natural schedule, or 0
	text string
}

// rowKind says what a row shows.
type rowKind uint8

const (
	inputRow   rowKind = iota // the step's action
	logRow                    // a line that the node wrote
	alarmRow                  // a process ended badly, a step did not end, a call was fatal
	noteRow                   // what else is worth knowing of the step
	pendingRow                // a message that has not arrived
)

// NewTimeline returns a timeline of nodes with these names, whose messages
// arrive after latency unless they are delayed.
func NewTimeline(nodes []string, latency time.Duration, style Style) *Timeline {
	return &Timeline{nodes: nodes, latency: latency, style: style,
		sent: map[messageKey]ariadne.Message{}, timers: map[ariadne.NodeID]timer{},
		started: map[ariadne.NodeID]ariadne.Time{}, arrived: map[ariadne.Flow]ariadne.Time{},
		losses: losses{back: map[ariadne.NodeID]ariadne.Time{}, lost: map[messageKey]ariadne.Message{}}}
}

// Head is the line above the others.
func (t *Timeline) Head() string {
	return t.style.Head(fmt.Sprintf("%12s %5s  %-*s  %s", "time", "step", t.placeWidth(), "node", "what"))
}

func (t *Timeline) gap(text string) string {
	return t.style.paint(faint, fmt.Sprintf("%12s %5s  %s", "…", "", text))
}

// Step returns the lines that the next step adds.
func (t *Timeline) Step(s ariadne.Step) []string {
	input := row{step: s.Index, at: s.At, node: s.Action.Node, from: ariadne.NoNode, kind: inputRow}
	switch s.Action.Kind {
	case ariadne.ActStart:
		input.text = "start"
		t.started[s.Action.Node] = s.At
	case ariadne.ActFire:
		t.fire(&input)
	case world.Late:
		if s.Action.Flow.Proto == 0 {
			t.fire(&input)
			input.text, input.mark = fmt.Sprintf("%s (%s late)", input.text, s.Action.What), markLate
			break
		}
		t.deliver(&input, s)
	case ariadne.ActDeliver:
		t.deliver(&input, s)
	default:
		if s.Action.Flow.Proto.Own() {
			t.deliver(&input, s)
			break
		}
		input.text, input.mark = s.Name, markFault
		t.strike(&input, s)
	}
	if s.Action.Vary != "" {
		input.mark = markFault
	}
	if s.Action.Node == ariadne.NoNode {
		t.lose(&s)
		t.latest = max(t.latest, s.At)
		return append(t.End(), t.format(input, false))
	}
	o := &s.Output
	for _, m := range o.Messages {
		t.sent[messageKey{m.Flow, m.To, m.Seq}] = m
	}
	t.lose(&s)
	t.timers[s.Action.Node] = timer{o.Timer, o.Deadline}
	if o.Done {
		delete(t.timers, s.Action.Node)
	}
	if s.At < t.latest && input.mark == 0 {
		input.mark = markOvertaken
	}
	t.latest = max(t.latest, s.At)
	outputs := t.outputRows(s)
	if len(outputs) == 0 && len(o.Messages) == 0 && input.mark == 0 {
		t.quiet.add(input)
		return nil
	}
	lines := append(t.End(), t.format(input, false))
	for _, r := range outputs {
		lines = append(lines, t.format(r, false))
	}
	return lines
}

func (q *stretch) add(r row) {
	if q.n < maxQuiet {
		q.first[q.n] = r
	}
	q.last = r
	q.n++
}

// End returns the lines held back.
func (t *Timeline) End() []string {
	q := t.quiet
	t.quiet = stretch{}
	var lines []string
	if q.n > maxQuiet {
		return append(lines, t.format(q.first[0], true),
			t.gap(fmt.Sprintf("%d more steps in which nothing was sent or written", q.n-2)), t.format(q.last, true))
	}
	for _, r := range q.first[:q.n] {
		lines = append(lines, t.format(r, true))
	}
	return lines
}

// fire says what timer fires, and how early.
func (t *Timeline) fire(r *row) {
	r.text = strings.TrimSpace("timer " + t.timers[r.node].name)
	due := r.at
	for id, other := range t.timers {
		if id != r.node {
			due = min(due, other.at)
		}
	}
	if due < r.at {
		r.mark = markLate
		r.text += fmt.Sprintf(" (%v early)", round(r.at-due))
	}
}

// Undelivered returns lines for messages that should have arrived by the end of the execution and
// have not: the first of each flow that has not yet, and the first that was lost on its way.
func (t *Timeline) Undelivered() []string {
	waiting := maps.Clone(t.sent)
	maps.DeleteFunc(waiting, func(_ messageKey, m ariadne.Message) bool {
		start, on := t.started[m.To]
		return !on || t.due(m) < start
	})
	lines := t.pending(waiting, markLate, func(m ariadne.Message, _ int) string {
		return fmt.Sprintf(" (not delivered, due at %v)", t.due(m))
	})
	return append(lines, t.pending(t.lost, markFault, func(m ariadne.Message, more int) string {
		if more > 0 {
			return fmt.Sprintf(" (lost, and %d more)", more)
		}
		return " (lost)"
	})...)
}

// pending returns a line for the first message of each flow of some that were due, with what to say
// of it and how many more there are.
func (t *Timeline) pending(all map[messageKey]ariadne.Message, mark rune,
	say func(m ariadne.Message, more int) string) []string {
	first, count := map[ariadne.Flow]ariadne.Message{}, map[ariadne.Flow]int{}
	for _, m := range all {
		if t.due(m) >= t.latest {
			continue
		}
		count[m.Flow]++
		if f, ok := first[m.Flow]; !ok || m.Seq < f.Seq {
			first[m.Flow] = m
		}
	}
	late := slices.SortedFunc(maps.Values(first), func(a, b ariadne.Message) int {
		return cmp.Or(cmp.Compare(a.Sent, b.Sent), cmp.Compare(a.From, b.From),
			strings.Compare(a.Flow.Src.String(), b.Flow.Src.String()),
			strings.Compare(a.Flow.Dst.String(), b.Flow.Dst.String()), cmp.Compare(a.Flow.Epoch, b.Flow.Epoch))
	})
	var lines []string
	for _, m := range late {
		lines = append(lines, t.format(row{at: t.latest, node: m.To, from: m.From, kind: pendingRow, mark: mark,
			text: describe(m, say(m, count[m.Flow]-1))}, false))
	}
	return lines
}

func round(d ariadne.Time) time.Duration { return time.Duration(d).Round(time.Microsecond) }

// deliver says what the delivered message carries, and how late it is.
func (t *Timeline) deliver(r *row, s ariadne.Step) {
	a := s.Action
	key := messageKey{a.Flow, a.Node, a.Seq}
	m, known := t.sent[key]
	if !known {
		m, known = t.lost[key] // it came late enough
	}
	if !known {
		r.text = s.Name
		return
	}
	delete(t.sent, key)
	delete(t.lost, key)
	if m.From != m.To {
		r.from = m.From
	}
	late := ""
	if d := s.At - t.due(m); d > 0 {
		late = fmt.Sprintf(" (%v late)", round(d))
		if s.At > t.arrived[a.Flow] { // else it waited behind another one
			r.mark = markLate
		}
	}
	t.arrived[a.Flow] = s.At
	r.text = describe(m, late)
}

// strike says what was in a message that a fault has hit. It arrives no more, or without its first
// bytes.
func (t *Timeline) strike(r *row, s ariadne.Step) {
	kind := world.KindOf(s.Action.Kind)
	key, m, known := t.struck(s)
	if !kind.Messages || !known {
		return
	}
	switch at, _ := strconv.Atoi(s.Action.What); {
	case s.Action.Kind == world.Split && at < len(m.Data):
		r.from = m.From
		rest := m
		m.Data, rest.Data = m.Data[:at], m.Data[at:]
		r.text = describe(m, fmt.Sprintf(" (first of %d B)", at+len(rest.Data)))
		t.sent[key] = rest
	case s.Action.Kind == world.Join:
		r.from = m.From
		n := t.join(key, at, &m)
		r.text = describe(m, fmt.Sprintf(" (%d messages together)", n))
	case !kind.Leaves:
		if len(m.Data) > 0 {
			r.text += fmt.Sprintf("  %d B  %s", len(m.Data), Payload(m.Data, DefaultWidth))
		}
		delete(t.sent, key)
	}
}

// join takes from what was sent all that arrives together, from a first message to one of a number,
// and returns how many there are. m, the first, becomes all of them.
func (t *Timeline) join(key messageKey, last int, m *ariadne.Message) (n int) {
	m.Data = slices.Clone(m.Data)
	for delete(t.sent, key); key.seq <= last; key.seq++ {
		if next, ok := t.sent[key]; ok {
			m.Flags, m.Data = m.Flags|next.Flags, append(m.Data, next.Data...)
			n++
		}
		delete(t.sent, key)
	}
	return n + 1
}

// struck is the message that a step is about. An event of the network has its receiver in its name
// only.
func (t *Timeline) struck(s ariadne.Step) (key messageKey, m ariadne.Message, known bool) {
	for id := range t.nodes {
		key = messageKey{s.Action.Flow, ariadne.NodeID(id), s.Action.Seq}
		m, known = t.sent[key]
		if known &&
			(s.Action.Node == key.to || s.Action.Node == ariadne.NoNode &&
				(!m.Group.IsValid() || strings.HasSuffix(s.Name, " to "+t.nodes[id]))) {
			return key, m, true
		}
	}
	return key, m, false
}

// due is when a message arrives that nothing keeps.
func (t *Timeline) due(m ariadne.Message) ariadne.Time {
	if m.Flow.Proto.Own() {
		return m.Sent.Add(m.After())
	}
	return m.Sent.Add(t.latency)
}

// describe says what a message is: its ports, flags and data.
func describe(m ariadne.Message, late string) string {
	switch m.Flow.Proto {
	case ariadne.Disk:
		return fmt.Sprintf("%s has ended after %v%s", m.Data, m.After(), late)
	case ariadne.App:
		return "event" + late + "  " + Payload(m.Data, DefaultWidth)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d>%d", m.Flow.Proto, m.Flow.Src.Port(), m.Flow.Dst.Port())
	if m.Group.IsValid() {
		fmt.Fprintf(&b, " to %s", m.Group)
	}
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

// choice says what happened otherwise, and where: "fail EIO at 7/fsync:/node/wal#2".
func choice(c ariadne.Choice) string {
	return strings.Replace(c.Alternative, ":", " ", 1) + " at " + c.Place
}

// maxLost is how many operations are listed that a loss of power took.
const maxLost = 12

// outputRows say what came of a step, but for messages, which show at their delivery.
func (t *Timeline) outputRows(s ariadne.Step) []row {
	var rows []row
	add := func(at ariadne.Time, kind rowKind, format string, args ...any) {
		rows = append(rows,
			row{at: at, node: s.Action.Node, from: ariadne.NoNode, kind: kind, text: fmt.Sprintf(format, args...)})
	}
	o := &s.Output
	fault := func(at ariadne.Time, format string, args ...any) { // excerpts keep it
		add(at, alarmRow, format, args...)
		rows[len(rows)-1].mark = markFault
	}
	for _, c := range s.Action.Vary.Choices() {
		fault(s.At, "%s", choice(c))
	}
	fell := s.At // a machine's clock shows when it comes back
	for l := range o.Record() {
		add(l.At, logRow, "%s", l.Text)
		fell = max(fell, l.At)
	}
	for i, text := range o.Lost {
		if i == maxLost {
			fault(fell, "lost: %d more", len(o.Lost)-i)
			break
		}
		fault(fell, "lost: %s", text)
	}
	for _, e := range o.Exits {
		name := fmt.Sprintf("command %d", e.Command+1)
		if t.Commands != nil {
			name = t.Commands(s.Action.Node, e.Command)
		}
		switch {
		case e.Signal != 0:
			add(e.At, alarmRow, "%s: killed by signal %d", name, e.Signal)
		case e.Status != 0:
			add(e.At, alarmRow, "%s: exit status %d", name, e.Status)
		default:
			add(e.At, noteRow, "%s: exit status 0", name)
		}
	}
	if o.Cut != "" {
		add(o.Clock, alarmRow, "cut off after %d system calls: %s", o.Calls, o.Cut)
	}
	if o.Diverged != "" {
		add(o.Clock, alarmRow, "diverged: %s", o.Diverged)
	}
	if o.Fatal != "" {
		add(o.Clock, alarmRow, "cannot go on without %s", o.Fatal)
	}
	if o.Unreplayable && o.Cut == "" {
		add(o.Clock, noteRow, "a thread that made no call was preempted: this step may not replay")
	}
	return rows
}

// format lays a row out.
func (t *Timeline) format(r row, quiet bool) string {
	place := t.place(r)
	head := fmt.Sprintf("%12s ", r.at)
	mark := " "
	if r.mark != 0 {
		mark = string(r.mark)
	}
	if r.kind == inputRow {
		head += fmt.Sprintf("%5d%s ", r.step, mark)
	} else {
		head += fmt.Sprintf("%5s%s ", "", mark)
	}
	gap := strings.Repeat(" ", max(t.placeWidth()-columns(place), 0)+2)
	text := printable(r.text)
	if r.kind == logRow {
		text = "| " + text
	}
	text = cut(text, t.style.width()-columns(head+place+gap))
	switch {
	case r.kind == alarmRow:
		text = t.style.Warn(text)
	case r.kind == noteRow || quiet:
		text = t.style.paint(faint, text)
	}
	return strings.TrimRight(head+t.style.node(int(r.node), place)+gap+text, " ")
}

// place says where a row happened: "n2" or "n1 -> n2".
func (t *Timeline) place(r row) string {
	if r.from == ariadne.NoNode {
		return t.name(r.node)
	}
	return t.name(r.from) + " -> " + t.name(r.node)
}

func (t *Timeline) name(id ariadne.NodeID) string {
	if id == ariadne.NoNode {
		return network
	}
	if !t.known(id) {
		return "?"
	}
	return cut(printable(t.nodes[id]), 12)
}

// network is where something happens to none of the nodes.
const network = "network"

// placeWidth is that of an arrow between the two longest names.
func (t *Timeline) placeWidth() int {
	longest := 0
	for i := range t.nodes {
		longest = max(longest, columns(t.name(ariadne.NodeID(i))))
	}
	return max(2*longest+len(" -> "), len(network))
}
