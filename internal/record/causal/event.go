package causal

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/payload"
)

// Event is a step in words.
type Event struct {
	Step int          `json:"step"` // index, from 1
	At   ariadne.Time `json:"at_ns"`
	Node string       `json:"node,omitempty"` // missing: the network
	// the sender of what it delivers, unless that is the node
	From string    `json:"from,omitempty"`
	Kind EventKind `json:"kind"`
	// Text says what happened, as in "timer epoll_wait/3" or what a message carries.
	Text string `json:"text"`
	// Late is how much later a message arrived, or a timer fired, than it was due.
	Late     time.Duration `json:"late_ns,omitempty"`
	Protocol string        `json:"protocol,omitempty"` // of a message with data
	Ports    string        `json:"ports,omitempty"`    // of a message, as in 8000>32770
	// Code is the function and the line that sent the message, where that was looked for.
	Code     string    `json:"code,omitempty"`
	Outcomes []Outcome `json:"outcomes,omitempty"`

	// Sent is where the message comes from.
	Sent Sending `json:"-"`
}

// Sending is a message as one of those that a step has sent.
type Sending struct {
	Step    int // from 1; 0: not known
	Message int // index, of the step's
}

// Place says where a step happened, as in "n1" or, with a message, "n1 -> n2".
func (e *Event) Place() string {
	switch {
	case e.Node == "":
		return "network"
	case e.From != "":
		return e.From + " -> " + e.Node
	}
	return e.Node
}

// EventKind says what a step is.
type EventKind string

// The kinds of steps.
const (
	Started   EventKind = "start"
	Delivered EventKind = "message"
	Fired     EventKind = "timer"
	Struck    EventKind = "fault" // also the end of one
	Told      EventKind = "event" // a program's own, or the end of a slow sync
)

// Outcome is something that a step has come to, besides messages.
type Outcome struct {
	Kind OutcomeKind  `json:"kind"`
	At   ariadne.Time `json:"at_ns"`
	Text string       `json:"text"`
	// Code is the function and the line that wrote a line or ended a command, where that was looked
	// for.
	Code string `json:"code,omitempty"`

	// Line is the index of a line among those of the step, or of a command's end.
	Line int `json:"-"`
}

// OutcomeKind says what an outcome is.
type OutcomeKind string

// The kinds of outcomes.
const (
	Chosen  OutcomeKind = "choice"  // within the step it went otherwise
	Line    OutcomeKind = "line"    // that a program wrote
	Exposed OutcomeKind = "exposed" // a value that the node exposes has changed
	Lost    OutcomeKind = "lost"    // an operation on a file that a loss of power took
	Exited  OutcomeKind = "exit"    // a command has ended
	Stuck   OutcomeKind = "stuck"   // the step did not come to rest, or could not go on
)

// Words makes events of the steps of one execution.
type Words struct {
	Names   world.Names
	Latency time.Duration // after which messages arrive
	// Commands is what a command of a node is called; nil: its number.
	Commands func(id ariadne.NodeID, command int) string
	// Decode is a decoder of the user's, or nil.
	Decode payload.Decode
	// Schema has names of protobuf's fields, or is nil.
	Schema func() *payload.Schema

	reader *payload.Reader
	sent   map[parcel]sentence
	timers map[ariadne.NodeID]string
}

// sentence is what a message carries, in words.
type sentence struct {
	ariadne.Message
	payload.Decoded
	sending Sending
}

// Events returns those of an execution, from its first step.
func (w *Words) Events(steps []ariadne.Step) (all []Event) {
	w.reader, w.sent, w.timers = payload.NewReader(w.Decode, w.Schema), map[parcel]sentence{},
		map[ariadne.NodeID]string{}
	for i := range steps {
		all = append(all, w.event(&steps[i]))
	}
	return all
}

func (w *Words) event(s *ariadne.Step) Event {
	e := Event{Step: s.Index, At: s.At, Node: w.Names.Node(s.Action.Node)}
	w.input(&e, s)
	e.Outcomes = w.outcomes(s)
	o := &s.Output
	for i := range o.Messages {
		m := &o.Messages[i]
		w.sent[parcel{m.Flow, m.To, m.Seq}] = sentence{*m, w.reader.Read(m), Sending{s.Index, i}}
	}
	if s.Action.Node != ariadne.NoNode {
		w.timers[s.Action.Node] = o.Timer
	}
	return e
}

// input says what the node was given, or what happened to the network.
func (w *Words) input(e *Event, s *ariadne.Step) {
	a := &s.Action
	kind := world.KindOf(a.Kind)
	switch {
	case a.Kind == ariadne.ActStart:
		e.Kind, e.Text = Started, "start"
	case a.Kind == ariadne.ActFire, a.Kind == world.Late && a.Flow.Proto == 0:
		e.Kind, e.Text = Fired, strings.TrimSpace("timer "+w.timers[a.Node])
		e.Late = time.Duration(world.LateBy(*a))
	case a.Kind == ariadne.ActDeliver, a.Kind == world.Late:
		e.Kind = Delivered
		w.message(e, s)
	case a.Flow.Proto.Own():
		e.Kind = Told
		w.message(e, s)
	case a.Flow.Proto == ariadne.Expiry:
		e.Kind, e.Text = Struck, "a connection ends for want of an answer: "+strings.TrimPrefix(s.Name, kind.Name+" ")
	default:
		e.Kind, e.Text = Struck, withoutChoices(s.Name)
		if _, m, ok := w.struck(s); ok {
			e.From = cmp.Or(e.From, w.Names.Node(m.From))
			e.Text = kind.Name + ": " + m.words()
			e.Protocol, e.Ports, e.Sent = m.Protocol, ports(&m.Message), m.sending
			if a.What != "" {
				e.Text += " (" + a.What + ")"
			}
		}
	}
}

// withoutChoices is the name of an action without those within its step, which are outcomes.
func withoutChoices(name string) string {
	name, _, _ = strings.Cut(name, " with ")
	return name
}

// message says what is delivered.
func (w *Words) message(e *Event, s *ariadne.Step) {
	m, ok := w.sent[parcel{s.Action.Flow, s.Action.Node, s.Action.Seq}]
	if !ok {
		e.Text = withoutChoices(s.Name)
		return
	}
	if m.From != m.To {
		e.From = w.Names.Node(m.From)
	}
	e.Text, e.Protocol, e.Ports, e.Sent = m.words(), m.Protocol, ports(&m.Message), m.sending
	due := m.Sent.Add(w.Latency)
	if m.Flow.Proto.Own() {
		due = m.Sent.Add(m.After())
		e.Ports = ""
	}
	e.Late = max(0, time.Duration(s.At-due))
}

// struck is the message that a fault has hit. An event of the network has its receiver in its name
// only.
func (w *Words) struck(s *ariadne.Step) (to ariadne.NodeID, m sentence, ok bool) {
	if s.Action.Flow.Proto == 0 {
		return 0, m, false
	}
	for id := ariadne.NodeID(0); w.Names.Node(id) != ""; id++ {
		m, ok = w.sent[parcel{s.Action.Flow, id, s.Action.Seq}]
		if ok &&
			(s.Action.Node == id || s.Action.Node == ariadne.NoNode &&
				(!m.Group.IsValid() || strings.HasSuffix(s.Name, " to "+w.Names.Node(id)))) {
			return id, m, true
		}
	}
	return 0, m, false
}

// words are what a message carries, or, without data, its flags.
func (m *sentence) words() string {
	switch {
	case m.Flow.Proto == ariadne.Disk:
		return fmt.Sprintf("%s has ended after %v", m.Text, m.After())
	case m.Text != "":
		if m.Flags&^ariadne.ACK != 0 {
			return m.Flags.String() + " " + m.Text
		}
		return m.Text
	case m.Flags != 0:
		return m.Flags.String()
	}
	return "an empty message"
}

func ports(m *ariadne.Message) string {
	p := strconv.Itoa(int(m.Flow.Src.Port())) + ">" + strconv.Itoa(int(m.Flow.Dst.Port()))
	if m.Flow.Proto == ariadne.UDP {
		return "udp " + p
	}
	return p
}

// outcomes say what a step has come to, but for messages, which show where they arrive.
func (w *Words) outcomes(s *ariadne.Step) (all []Outcome) {
	o := &s.Output
	add := func(kind OutcomeKind, at ariadne.Time, format string, args ...any) {
		all = append(all, Outcome{Kind: kind, At: at, Text: fmt.Sprintf(format, args...)})
	}
	for _, c := range s.Action.Vary.Choices() {
		add(Chosen, s.At, "%s at %s", strings.Replace(c.Alternative, ":", " ", 1), c.Place)
	}
	lines := 0
	for l, x := range o.Said() {
		switch {
		case l != nil:
			add(Line, l.At, "%s", l.Text)
			all[len(all)-1].Line = lines
			lines++
		case x.Ends:
			add(Exposed, x.At, "%s is no more", exposedName(x))
		default:
			add(Exposed, x.At, "%s = %s", exposedName(x), strings.Join(x.Values, " "))
		}
	}
	for _, text := range o.Lost {
		add(Lost, s.At, "%s", text)
	}
	for i, x := range o.Exits {
		name := fmt.Sprintf("command %d", x.Command+1)
		if w.Commands != nil {
			name = w.Commands(s.Action.Node, x.Command)
		}
		add(Exited, x.At, "%s %s", name, x.How())
		all[len(all)-1].Line = i
	}
	if o.Cut != "" {
		add(Stuck, o.Clock, "cut off after %d system calls: %s", o.Calls, o.Cut)
	}
	if o.Diverged != "" {
		add(Stuck, o.Clock, "diverged: %s", o.Diverged)
	}
	if o.Fatal != "" {
		add(Stuck, o.Clock, "cannot go on without %s", o.Fatal)
	}
	return all
}

func exposedName(x *ariadne.Shown) string {
	if x.Key == "" {
		return x.Name
	}
	return x.Name + "[" + x.Key + "]"
}
