package space

import (
	"fmt"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// A program that reads the clock and decides by it has a timer that no call shows (MODIST, 3.4).
// It is found by executing a step at other times: from the same state, with the same message. Where
// what the node does is different, there is a time between at which it turns. Halving finds that,
// to a millisecond. Then the message may arrive just before it, or just after it, which are events
// of the state (world.Later).
//
// What a node does at a time is a transition like any other, so it is remembered, and the times at
// which it turns are a function of the node's state and the message.

const (
	// turnExact is how far apart the two times are between which the outcome turns.
	turnExact = ariadne.Time(time.Millisecond)
	// turnMargin is how long before the node's own next timer it is tried at last: a timer that is
	// near changes what a node does, too.
	turnMargin = ariadne.Time(2 * time.Millisecond)
	// maxTries and maxTurns bound what one message costs.
	maxTries = 40
	maxTurns = 4
)

// Probing is how much was tried at other times.
type Probing struct {
	Messages int `json:"messages"` // that were tried
	Tries    int `json:"tries"`    // times at which they were
	Turns    int `json:"turns"`    // times found at which the outcome turns
}

// Add adds up two of them.
func (c *Probing) Add(o Probing) {
	c.Messages, c.Tries, c.Turns = c.Messages+o.Messages, c.Tries+o.Tries, c.Turns+o.Turns
}

// Probes reports whether messages are tried at other times.
func (p *Space) Probes() bool { return p.Window > 0 && p.Restart == nil }

// Enabled appends to events what may happen next in s, as System.Enabled does. If messages are
// tried at other times, those are among them at which a node does something else with one.
func (p *Space) Enabled(s *State, events []world.Event) ([]world.Event, error) {
	n := len(events)
	events = p.System.Enabled(&s.State, events)
	if !p.Probes() {
		return events, nil
	}
	var late []world.Event
	for i := n; i < len(events); i++ {
		e := &events[i]
		if e.Kind != ariadne.ActDeliver || !p.System.MayBeLater(&s.State, e) {
			continue
		}
		turns, err := p.turningTimes(s, e)
		if err != nil {
			return events, err
		}
		for _, at := range turns {
			if l, ok := p.System.LaterDelivery(&s.State, e, at); ok {
				late = append(late, l)
			}
		}
	}
	if len(late) == 0 {
		return events, nil
	}
	return append(events[:n], world.Insert(events[n:], late...)...), nil
}

// MayBeLate reports whether a message can arrive later, where its node does something else with it.
func (f *Frame) MayBeLate() bool {
	return slices.ContainsFunc(f.Enabled, func(e world.Event) bool { return e.Kind == world.Late })
}

// turningTimes are the times just before and just after those at which the outcome of a delivery
// turns, in order.
func (p *Space) turningTimes(s *State, e *world.Event) ([]ariadne.Time, error) {
	t, err := p.outcomeOf(s, e)
	if err != nil || !MayDependOnTime(&t.Output) {
		return nil, err
	}
	if known := t.Turns.Load(); known != nil {
		return *known, nil
	}
	f := p.newFinder(s, e, t, p.Window)
	found, err := f.findTurns(f.first, f.last)
	if err != nil {
		return nil, err
	}
	t.Turns.Store(&found)
	p.Probing.Add(Probing{1, f.tries, len(found) / 2})
	return found, nil
}

// MayDependOnTime reports whether the outcome of a step may be another one at another time, and can
// be compared.
func MayDependOnTime(o *ariadne.Output) bool { return o.ReadClock && !o.Unreplayable && o.Cut == "" }

// newFinder is one for a delivery, of which a transition has come, that may arrive later by at most
// a window.
func (p *Space) newFinder(s *State, e *world.Event, t *memo.Transition, window time.Duration) *finder {
	n := &s.Nodes[e.Node]
	first := max(t.Input.At, n.Clock)
	return &finder{source: p.Source, from: t.From, in: t.Input, first: first, last: min(first.Add(window), n.Timer()-turnMargin),
		seen: map[ariadne.Time][]string{first: visibleParts(&t.Output)}}
}

// finder looks for the times at which what a node does with a message turns.
type finder struct {
	source Source
	from   *memo.Local
	in     world.Input
	first  ariadne.Time              // when it arrives first,
	last   ariadne.Time              // and at last
	seen   map[ariadne.Time][]string // by when it arrives, what the node does
	timed  map[int]bool              // of these parts, those that are times themselves
	tries  int
	found  []ariadne.Time
	err    error
}

// findTurns finds them between two times.
func (f *finder) findTurns(from, to ariadne.Time) ([]ariadne.Time, error) {
	f.found = []ariadne.Time{}
	if to-from <= turnExact || f.sameOutcome(from, to) {
		return f.found, f.err
	}
	at := divideTime(from, to, 4)
	if f.mostDifferent(at) >= len(at)-1 {
		at = divideTime(from, to, 8)
	}
	f.timed = f.partsThatAreTimes(at)
	for i := 1; i < len(at); i++ {
		f.bisect(at[i-1], at[i])
	}
	return f.found, f.err
}

// bisect finds them where the outcomes at both ends differ.
func (f *finder) bisect(from, to ariadne.Time) {
	switch {
	case f.err != nil || f.sameOutcome(from, to) || len(f.found) >= 2*maxTurns:
	case to-from <= turnExact:
		f.found = append(f.found, from, to)
	case f.tries < maxTries:
		mid := from + (to-from)/2
		f.bisect(from, mid)
		f.bisect(mid, to)
	}
}

// sameOutcome reports whether the node does the same at both times.
func (f *finder) sameOutcome(a, b ariadne.Time) bool {
	x, y := f.outcomeAt(a), f.outcomeAt(b)
	return f.err != nil || sameParts(x, y, f.timed)
}

// sameParts reports whether two lists of parts are the same but for those that are times.
func sameParts(x, y []string, timed map[int]bool) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !timed[i] {
			return false
		}
	}
	return true
}

// outcomeAt is what the node does at a time.
func (f *finder) outcomeAt(at ariadne.Time) []string {
	if done, ok := f.seen[at]; ok || f.err != nil {
		return done
	}
	f.tries++
	in := f.in
	in.At = at
	t, err := f.source.Transition(f.from, in)
	if f.err = err; err != nil {
		return nil
	}
	f.seen[at] = visibleParts(&t.Output)
	return f.seen[at]
}

// divideTime are the times that divide what is between two of them into n parts, with these.
func divideTime(from, to ariadne.Time, n int) (at []ariadne.Time) {
	for i := range n {
		at = append(at, from+(to-from)*ariadne.Time(i)/ariadne.Time(n))
	}
	return append(at, to)
}

// countDifferent is how many different ones there are of each part at some times.
func (f *finder) countDifferent(at []ariadne.Time) (count []int) {
	var all []map[string]bool
	for _, t := range at {
		for i, part := range f.outcomeAt(t) {
			if i == len(all) {
				all = append(all, map[string]bool{})
			}
			all[i][part] = true
		}
	}
	for _, different := range all {
		count = append(count, len(different))
	}
	return count
}

// mostDifferent is how many different ones there are of the part that differs most.
func (f *finder) mostDifferent(at []ariadne.Time) int {
	return slices.Max(append(f.countDifferent(at), 0))
}

// partsThatAreTimes are the parts that turn more often than is looked for: a node writes down what
// time it is.
func (f *finder) partsThatAreTimes(at []ariadne.Time) map[int]bool {
	timed := map[int]bool{}
	for i, n := range f.countDifferent(at) {
		timed[i] = n > maxTurns+1
	}
	return timed
}

// Masked is a text in which what looks like a number or a time stands for any other.
func Masked(text string) string {
	b := make([]byte, 0, len(text))
	digit := func(i int) bool { return i < len(text) && '0' <= text[i] && text[i] <= '9' }
	for i := 0; i < len(text); i++ {
		if !digit(i) {
			b = append(b, text[i])
			continue
		}
		for digit(i+1) || i+1 < len(text) && slices.Contains([]byte(".:/-"), text[i+1]) && digit(i+2) {
			i++
		}
		b = append(b, '#')
	}
	return string(b)
}

// visibleParts are what others see of a step, one by one, with digits left out.
func visibleParts(o *ariadne.Output) (all []string) {
	for i := range o.Messages {
		m := &o.Messages[i]
		all = append(all, fmt.Sprint("message ", m.To, m.Flow, m.Flags, " ", Masked(string(m.Data))))
	}
	for i := range o.Logs {
		l := &o.Logs[i]
		all = append(all, fmt.Sprint("line ", l.Stream, " ", Masked(l.Text)))
	}
	for i := range o.Exposures {
		e := &o.Exposures[i]
		all = append(all, fmt.Sprint("exposure ", e.Name, " ", e.Key, " ", Masked(fmt.Sprint(e.Values)), e.Ends))
	}
	for _, x := range o.Exits {
		all = append(all, fmt.Sprint("exit ", x.Command, x.Status, x.Signal))
	}
	return append(all, fmt.Sprint("node ", o.Done, o.Ended, o.Spared, o.Down, o.Diverged != "", o.Polling != "", o.Fatal))
}
