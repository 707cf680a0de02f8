package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Loose follows the choices of a trace as long as they exist, and compares nothing: for
// programs or a spec that have changed since. It explores one path, and must see each step (Watch).
//
// Of what is possible it takes the action that comes first in the rest of the trace. A step is
// varied as the trace says, as far as the node comes to the same places. Other events happen when
// they are due. A timer passes a message only when the trace has that message late too, or sends it
// and never delivers it. As long as all happens at the trace's times it is enough that the trace
// sends the message in the same step, and delivers it later. Where nothing but faults is left to
// happen, the execution goes on as long as the trace has one that is possible. A system that has
// not changed thus goes exactly as the trace says.
//
// Connections are matched by their names while nothing new was seen, and then by their
// order: the second one that a node opens to the same port is the same as in the trace.
type Loose struct {
	// Edited: deviations were left out of the trace (Without), so it is no trace of an execution.
	// Only events that are late in the trace come after events that are due later. All others come
	// when they are due, which may be sooner than in the trace.
	Edited bool

	names world.Names
	trace *trace.Trace
	began bool
	want  []wanted
	// byNode are the indices in want of what a node is given, without deliveries, and
	// at says up to where in want each node has come.
	byNode   map[ariadne.NodeID][]int
	at       map[ariadne.NodeID]int
	delivery map[ariadne.Action][]int // indices in want: a message may be duplicated several times
	talks    talks
	seldom   []int // indices in want of what no state has among its events until it is asked for

	next  int // the first of want that was not taken
	last  ariadne.Time
	over  bool // all that the trace has was taken or is past
	after int  // index in trace.Steps of the step that was taken last, or -1
	// sent are messages of the execution: true when the trace sends them in the same step.
	sent  map[ariadne.Action]bool
	taken int
	left  *Departure
	// astray: a step differed from the next one of the trace, or had another time.
	astray bool
}

// wanted is a step of the trace.
type wanted struct {
	step   trace.Step
	action ariadne.Action // undisturbed
	vary   ariadne.Variation
	known  bool // its nodes exist
	late   bool // something that was due after it came first
	taken  bool
}

// Departure is where an execution first left the trace that it follows.
type Departure struct {
	Step      int    `json:"step"`       // of the execution
	TraceStep int    `json:"trace_step"` // of the trace
	Wanted    string `json:"wanted"`     // the action of that step
	Enabled   string `json:"possible"`   // what was possible instead
	Took      string `json:"taken"`
}

// NewLoose returns an explorer that follows t.
func NewLoose(y *world.System, t *trace.Trace) *Loose {
	l := &Loose{names: y.Names(), trace: t, after: -1, last: -1,
		byNode: map[ariadne.NodeID][]int{}, at: map[ariadne.NodeID]int{},
		delivery: map[ariadne.Action][]int{}, sent: map[ariadne.Action]bool{}, talks: newTalks()}
	var latest wanted
	var ends []ariadne.Flow // of connections of which the trace may deliver nothing
	for i, s := range t.Steps {
		a, err := l.names.Parse(s.Action)
		e := wanted{step: s, vary: a.Vary, known: err == nil}
		a = undisturbed(a)
		e.action = a
		if e.known {
			if e.late = !optional(a) && i > 0 && e.before(&latest); !e.late && !optional(a) {
				latest = e
			}
			if ofMessage(a) {
				l.delivery[a] = append(l.delivery[a], i)
				if a.Flow.Proto == ariadne.Expiry {
					ends = append(ends, a.Flow)
				} else {
					l.talks.traced(a.Flow)
				}
			} else {
				l.byNode[a.Node] = append(l.byNode[a.Node], i)
			}
			if y.LastsSeldom(a) || world.KindOf(a.Kind).Alike {
				l.seldom = append(l.seldom, i)
			}
		}
		l.want = append(l.want, e)
		l.last = max(l.last, s.At)
	}
	for _, f := range ends {
		l.talks.traced(f)
	}
	return l
}

// before reports whether e is due before f. A message that a timer has held back arrives when the
// timer has fired.
func (e *wanted) before(f *wanted) bool {
	a, b := e.action, f.action
	if e.step.At == f.step.At && ofMessage(a) && !ofMessage(b) && overtakes(b) {
		return true
	}
	c := cmp.Or(cmp.Compare(e.step.At, f.step.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Node, b.Node))
	if c == 0 && ofMessage(a) {
		c = cmp.Or(world.CompareFlows(&a.Flow, &b.Flow), cmp.Compare(a.Seq, b.Seq))
	}
	return c < 0
}

// unknown is the position in the trace of an action that the trace does not have.
const unknown = math.MaxInt

// position is the index in want of what a is in the trace, or unknown.
func (l *Loose) position(a ariadne.Action) int {
	if ofMessage(a) {
		flow, ok := l.talks.inTrace(a.Flow)
		if !ok {
			return unknown
		}
		a.Flow = flow
		for _, i := range l.delivery[a] {
			if !l.want[i].taken {
				return i
			}
		}
		return unknown
	}
	for _, i := range l.byNode[a.Node] {
		if i >= l.at[a.Node] && l.want[i].action == a && !l.want[i].taken {
			return i
		}
	}
	return unknown
}

// Begin implements strategy.Explorer.
func (l *Loose) Begin(*space.Path) (keep int, ok bool) {
	ok, l.began, l.astray = !l.began, true, l.Edited
	return 0, ok
}

// Next implements strategy.Explorer.
func (l *Loose) Next(p *space.Path) (event int, ok bool) {
	for l.next < len(l.want) && l.want[l.next].taken {
		l.next++
	}
	l.offer(p)
	enabled := p.Last().Enabled
	choice, position := l.choose(enabled)
	l.after = -1
	l.astray = l.astray || position != l.next
	if position != unknown {
		w := &l.want[position]
		w.taken = true
		l.after = position
		l.taken++
		l.at[w.action.Node] = position
	}
	if position != l.next && l.next < len(l.want) && l.left == nil {
		l.left = &Departure{Step: p.Len() + 1, TraceStep: l.want[l.next].step.Index, Wanted: l.want[l.next].step.Action,
			Enabled: list(l.names, enabled), Took: l.names.Action(enabled[choice].Action())}
	}
	if position != unknown && l.want[position].vary != "" {
		choice, _ = p.AppendVaried(choice, l.want[position].vary)
	}
	return choice, true
}

// GoesOn implements strategy.Follower: faults can strike where nothing else is left to happen, and
// the trace may have one.
func (l *Loose) GoesOn(p *space.Path) bool {
	l.offer(p)
	return l.wants(p.Last())
}

// offer makes known what the rest of the trace has of faults that last as long as no event of a
// state does.
func (l *Loose) offer(p *space.Path) {
	for _, i := range l.seldom {
		if w := &l.want[i]; !w.taken && i >= l.at[w.action.Node] {
			p.FindAction(w.action)
		}
	}
}

// wants reports whether the rest of the trace has an event that is possible.
func (l *Loose) wants(f *space.Frame) bool {
	return slices.ContainsFunc(f.Enabled, func(e world.Event) bool { return l.position(e.Action()) != unknown })
}

// End implements strategy.Explorer.
func (*Loose) End(*space.Path, strategy.End) error { return nil }

// choose returns what to do and where in the trace that is.
func (l *Loose) choose(events []world.Event) (event, position int) {
	var enabled []ariadne.Action
	for i := range events {
		enabled = append(enabled, events[i].Action())
	}
	positions := make([]int, len(enabled))
	known := false
	for i, a := range enabled {
		positions[i] = l.position(a)
		known = known || positions[i] != unknown
	}
	// A program that makes more calls than then is a little later than the trace.
	l.over = l.next == len(l.want) || events[0].At > l.last && !known
	best, pass := -1, true // whether a timer may pass all that is due before it
	for i, a := range enabled {
		p := positions[i]
		if p != unknown && (best < 0 || p < positions[best]) && (pass || !overtakes(a) && (!l.Edited || optional(a))) {
			best = i
		}
		pass = pass && l.yields(a, p)
	}
	switch {
	case best >= 0 && (best == 0 || positions[0] != unknown || l.yields(enabled[0], unknown)):
		return best, positions[best]
	case positions[0] == unknown && l.held(enabled[0]):
		for i, a := range enabled {
			if !l.held(a) && (!overtakes(a) || pass) {
				return i, positions[i]
			}
		}
	}
	return 0, positions[0]
}

// yields reports whether what was due after a, which is at position p in the trace,
// may come before it.
func (l *Loose) yields(a ariadne.Action, p int) bool {
	switch {
	case optional(a):
		return true
	case p != unknown:
		return l.want[p].late || !l.astray && (overtakes(a) || l.pending(a))
	}
	return overtakes(a) || l.held(a)
}

// held reports whether a is possible in the trace too and, as far as that goes, never
// happens: what is pending there, the start of a node that it has.
func (l *Loose) held(a ariadne.Action) bool {
	switch {
	case ofMessage(a):
		return !l.over && l.pending(a)
	case !overtakes(a):
		name := l.names.Node(a.Node)
		return !l.over && slices.ContainsFunc(l.trace.Programs, func(p trace.Program) bool { return p.Node == name })
	}
	return false
}

// pending reports whether a, of a message, stands in flight at this place of the trace too.
// Messages that the network itself sends do as long as all has happened as in the trace.
func (l *Loose) pending(a ariadne.Action) bool {
	return l.sent[a] || a.Flow.Proto == ariadne.Expiry && !l.astray
}

// optional reports whether an action is never due: a fault, which nothing waits for.
func optional(a ariadne.Action) bool {
	k := world.KindOf(a.Kind)
	return k.Untimed || k.Fault != ""
}

// ofMessage reports whether an action is named by a message.
func ofMessage(a ariadne.Action) bool { return a.Flow.Proto != 0 }

// overtakes reports whether an action holds back what comes before it in time.
func overtakes(a ariadne.Action) bool { return world.KindOf(a.Kind).Overtakes }

// Watch is told each step. A trace says how many messages a step sent, not which. When
// the execution sends another number in that step, the first so many of those on
// connections that the trace has are taken to be the trace's.
func (l *Loose) Watch(s ariadne.Step) {
	if l.after >= 0 && l.left == nil && l.want[l.after].vary != s.Action.Vary {
		w := &l.want[l.after].step
		l.left = &Departure{Step: s.Index, TraceStep: w.Index, Wanted: w.Action, Enabled: s.Name, Took: s.Name}
	}
	traced := 0 // messages that the trace sends in this step
	if l.after >= 0 {
		traced = l.trace.Steps[l.after].Messages
		l.astray = l.astray || l.trace.Steps[l.after].At != s.At
	}
	same := l.after >= 0 && traced == len(s.Output.Messages)
	for _, m := range s.Output.Messages {
		l.talks.seen(m.Flow, same)
		_, known := l.talks.inTrace(m.Flow)
		sent := traced > 0 && (same || known)
		if sent {
			traced--
		}
		l.sent[world.ArrivalOf(&m)] = sent
	}
}

// Left is where the execution first left the trace, or nil.
func (l *Loose) Left() *Departure { return l.left }

// Taken is how many of the trace's steps were taken.
func (l *Loose) Taken() int { return l.taken }
