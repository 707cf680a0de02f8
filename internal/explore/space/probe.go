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
	// maxTries and maxTurns bound what one message costs. Silent differences are looked for once in
	// a while, with two steps each time.
	maxTries       = 40
	maxSilentTries = 100
	maxTurns       = 4
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
		if !world.CanBeLate(e.Kind) || !p.System.MayBeLater(&s.State, e) {
			continue
		}
		turns, err := p.turningTimes(s, e)
		if err != nil {
			return events, err
		}
		late = p.laterEvents(s, e, turns, late)
	}
	if len(late) == 0 {
		return events, nil
	}
	return append(events[:n], world.Insert(events[n:], late...)...), nil
}

// laterEvents appends to late those by which an event happens just before and just after the times
// at which the outcome turns. Where only the time before is early enough, it may also happen as
// late as it may at all: the outcome may have turned by then.
func (p *Space) laterEvents(s *State, e *world.Event, turns []ariadne.Time, late []world.Event) []world.Event {
	for i, at := range turns {
		l, ok := p.System.Later(&s.State, e, at)
		if !ok && i%2 == 1 {
			l, ok = p.latest(s, e, turns[i-1], at)
		}
		if ok && (i == 0 || at != turns[i-1]) {
			late = append(late, l)
		}
	}
	return late
}

// latest is an event at the latest time at which it may happen, if that is between two times.
func (p *Space) latest(s *State, e *world.Event, from, to ariadne.Time) (latest world.Event, ok bool) {
	from = max(from, e.At, s.Nodes[e.Node].Clock)
	for from+1 < to { // it may not at to
		mid := from + (to-from)/2
		if l, may := p.System.Later(&s.State, e, mid); may {
			latest, ok, from = l, true, mid
		} else {
			to = mid
		}
	}
	return latest, ok
}

// MayBeLate reports whether something can happen later, where its node does something else.
func (f *Frame) MayBeLate() bool {
	return slices.ContainsFunc(f.Enabled, func(e world.Event) bool { return e.Kind == world.Late })
}

// turningTimes are the times just before and just after those at which the outcome of an event
// turns, in order.
func (p *Space) turningTimes(s *State, e *world.Event) ([]ariadne.Time, error) {
	if p.Sample == nil {
		found, _, err := p.lookForTurns(s, e, decision{spreads: true, again: true})
		return found, err
	}
	key := keyOf(s, e)
	d := p.Sample.decide(key, e)
	if d.turns != nil || !d.try {
		return d.turns, nil
	}
	found, executed, err := p.lookForTurns(s, e, d)
	if err == nil {
		p.Sample.enter(key, e, found, executed)
	}
	return found, err
}

// lookForTurns looks for them as it was decided, and says how many transitions were executed for
// that.
func (p *Space) lookForTurns(s *State, e *world.Event, d decision) (turns []ariadne.Time, executed int, err error) {
	known := p.Sample == nil
	if !known {
		if known, err = p.isRemembered(s, e); err != nil {
			return nil, 0, err
		}
	}
	if !known {
		executed++
	}
	t, err := p.outcomeOf(s, e)
	if err != nil || !MayDependOnTime(&t.Output) {
		return nil, executed, err
	}
	if known := t.Turns.Load(); known != nil {
		return *known, executed, nil
	}
	window := p.Window
	if e.Kind == ariadne.ActFire { // later only as far as clocks may be wrong
		window = p.System.Rules().ClockError
	}
	f := p.newFinder(s, e, t, window)
	f.spreads, f.mayAgain, f.memory = d.spreads, d.again, d.again
	found, err := f.findTurns(f.first, f.last)
	if err != nil {
		return nil, executed, err
	}
	p.Probing.Add(Probing{1, f.tries, len(found) / 2})
	t.Turns.Store(&found)
	return found, executed + f.executed, nil
}

// MayDependOnTime reports whether the outcome of a step may be another one at another time, and can
// be compared.
func MayDependOnTime(o *ariadne.Output) bool { return o.ReadClock && !o.Unreplayable && o.Cut == "" }

// newFinder is one for an event, of which a transition has come, that may happen later by at most a
// window.
func (p *Space) newFinder(s *State, e *world.Event, t *memo.Transition, window time.Duration) *finder {
	n := &s.Nodes[e.Node]
	first := max(t.Input.At, n.Clock)
	last := first.Add(window)
	if e.Kind != ariadne.ActFire { // the timer itself comes later
		last = min(last, n.Timer()-turnMargin)
	}
	f := &finder{source: p.Source, from: t.From, in: t.Input, first: first, last: last,
		spreads: true, mayAgain: true, exact: p.Sample == nil,
		seen: map[ariadne.Time][]part{first: visibleParts(&t.Output)}}
	return f
}

// finder looks for the times at which what a node does with a message turns.
type finder struct {
	source Source
	from   *memo.Local
	in     world.Input
	first  ariadne.Time            // when it arrives first,
	last   ariadne.Time            // and at last
	seen   map[ariadne.Time][]part // by when it arrives, what the node does
	// With again the same datagram comes once more, at one time whenever the first one came: what
	// the node does then tells whether it has changed without a word.
	again    bool
	mayAgain bool       // that may be
	memory   bool       // and memory is compared
	cut      bool       // it could not come everywhere
	told     comparison // of these parts, how they are compared
	most     int        // tries, at most
	spreads  bool       // times in between are tried also where nothing differs at the last,
	exact    bool       // at each millisecond where these are few
	tries    int
	// executed counts what had to be executed for that: what is remembered costs nothing.
	executed int
	found    []ariadne.Time
	err      error
}

// findTurns finds them between two times.
func (f *finder) findTurns(from, to ariadne.Time) ([]ariadne.Time, error) {
	f.found = []ariadne.Time{}
	if to-from <= turnExact {
		return f.found, f.err
	}
	at := []ariadne.Time{from, to}
	if f.spreads {
		at = f.spread(from, to)
	}
	f.told, f.most = comparison{plain: f.spreads}, maxTries
	if !f.differsWithin(at) {
		if f.findInMemory(from, to); f.err != nil || len(f.found) > 0 || !f.mayComeAgain() {
			return f.found, f.err
		}
		f.again, f.most = true, maxSilentTries
		clear(f.seen)
		at = divideTime(from, to, 2)
		if !f.differsWithin(at) || f.cut {
			return f.found, f.err
		}
	}
	if at[1]-at[0] > turnExact {
		at = merged(at, divideTime(from, to, 4))
		if f.mostDifferent(at) >= len(at)-1 {
			at = merged(at, divideTime(from, to, 8))
		}
	}
	f.told.times(f.all(at))
	// A text may stand at few of these times, with a number in it that is another at each. Looking
	// for where that changes takes all tries, so it comes last.
	numbers := f.told.plain
	f.told.plain = false
	f.bisectAll(at)
	if numbers {
		f.told.plain = true
		f.bisectAll(at)
	}
	slices.Sort(f.found)
	return f.found, f.err
}

// bisectAll finds them between some times.
func (f *finder) bisectAll(at []ariadne.Time) {
	for i := 1; i < len(at); i++ {
		f.bisect(at[i-1], at[i])
	}
}

// differsWithin reports whether the outcome is not the same at all of some times.
func (f *finder) differsWithin(at []ariadne.Time) bool {
	return slices.ContainsFunc(at[1:], func(t ariadne.Time) bool { return !f.sameOutcome(at[0], t) }) && f.err == nil
}

// mayComeAgain reports whether the input is a datagram, which may come once more, and there is a
// time left for that.
func (f *finder) mayComeAgain() bool {
	return f.mayAgain && f.err == nil && f.in.Packet != nil && f.in.Packet.Flow.Proto == ariadne.UDP
}

// bisect finds them where the outcomes at both ends differ.
func (f *finder) bisect(from, to ariadne.Time) {
	switch {
	case f.err != nil || f.sameOutcome(from, to) || len(f.found) >= 2*maxTurns:
	case to-from <= turnExact:
		if !f.isFound(from) && !f.learnWritten(from, to) {
			f.found = append(f.found, from, to)
		}
	case f.tries < f.most:
		mid := from + (to-from)/2
		f.bisect(from, mid)
		f.bisect(mid, to)
	}
}

// isFound reports whether the outcome is known to turn after a time.
func (f *finder) isFound(from ariadne.Time) bool {
	for i := 0; i < len(f.found); i += 2 {
		if f.found[i] == from {
			return true
		}
	}
	return false
}

// learnWritten reports whether what differs between two times next to each other is what time it
// is: only numbers do, and they differ likewise at a third time as far from these. Then they do not
// count from then on. Such is the line of a log that stands there at few of the times that are
// tried first: comparison.times does not see that its numbers are different at each.
func (f *finder) learnWritten(from, to ariadne.Time) bool {
	third, near := to+(to-from), to
	if third > f.last {
		third, near = from-(to-from), from
	}
	if third < f.first || !f.told.plain {
		return false
	}
	x, y := f.outcomeAt(from), f.outcomeAt(to)
	z, w := f.outcomeAt(third), f.outcomeAt(near)
	if f.err != nil || len(x) != len(y) || len(z) != len(y) {
		return false
	}
	var written []string
	for i := range x {
		if f.told.sameAt(i, x[i], y[i]) {
			continue
		}
		if x[i].masked != y[i].masked || z[i].masked != w[i].masked || z[i].plain == w[i].plain {
			return false
		}
		written = append(written, x[i].masked)
	}
	for _, text := range written {
		f.told.numbers[text] = true
	}
	return true
}

// sameOutcome reports whether the node does the same at both times.
func (f *finder) sameOutcome(a, b ariadne.Time) bool {
	x, y := f.outcomeAt(a), f.outcomeAt(b)
	return f.err != nil || f.told.same(x, y)
}

// outcomeAt is what the node does at a time.
func (f *finder) outcomeAt(at ariadne.Time) []part {
	if done, ok := f.seen[at]; ok || f.err != nil {
		return done
	}
	f.tries++
	in := f.in
	in.At = at
	t := f.execute(f.from, in)
	if f.err != nil {
		return nil
	}
	f.seen[at] = visibleParts(&t.Output)
	if f.again {
		f.comeAgain(t)
	}
	return f.seen[at]
}

// comeAgain adds to what the node does with the datagram what it does when that comes once more.
func (f *finder) comeAgain(t *memo.Transition) {
	in := f.in
	in.At = f.last + turnExact
	if f.cut = f.cut || t.Effect.Done || in.At < t.Effect.Clock || in.At >= t.Effect.Deadline ||
		!MayDependOnTime(&t.Output); f.cut {
		return
	}
	f.tries++
	if next := f.execute(t.To, in); f.err == nil {
		f.seen[t.Input.At] = append(f.seen[t.Input.At], visibleParts(&next.Output)...)
	}
}

// execute returns the transition of a try.
func (f *finder) execute(from *memo.Local, in world.Input) (t *memo.Transition) {
	known := false
	if k, ok := f.source.(Knower); ok {
		if known, f.err = k.Known(from, in); f.err != nil {
			return nil
		}
	}
	if !known {
		f.executed++
	}
	t, f.err = f.source.Transition(from, in)
	return t
}

// divideTime are the times that divide what is between two of them into n parts, with these.
func divideTime(from, to ariadne.Time, n int) (at []ariadne.Time) {
	for i := range n {
		at = append(at, from+(to-from)*ariadne.Time(i)/ariadne.Time(n))
	}
	return append(at, to)
}

// spread are times between two of them, with these. Those between which there is little time are
// each millisecond, so nothing is missed that lasts for one. Otherwise each time is half as much
// later again as the one before: what begins and is over in between may be there at one of them.
func (f *finder) spread(from, to ariadne.Time) (at []ariadne.Time) {
	if f.exact && to-from <= exactWithin {
		for t := from; t < to; t += turnExact {
			at = append(at, t)
		}
		return append(at, to)
	}
	at = append(at, to)
	for d := to - from; len(at) < spreadTimes && d > 2*turnExact; {
		d = d * 2 / 3
		at = append(at, from+d)
	}
	slices.Reverse(at)
	return append([]ariadne.Time{from}, at...)
}

const (
	// spreadTimes is how many times there are in spread at most, besides the first, and exactWithin
	// within how much time there is one at each millisecond.
	spreadTimes = 8
	exactWithin = maxTries * turnExact
)

// merged are the times of two lists, in order.
func merged(a, b []ariadne.Time) []ariadne.Time {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// all is what the node does at some times.
func (f *finder) all(at []ariadne.Time) (all [][]part) {
	for _, t := range at {
		all = append(all, f.outcomeAt(t))
	}
	return all
}

// mostDifferent is how many different ones there are, with numbers left out, of the part that
// differs most.
func (f *finder) mostDifferent(at []ariadne.Time) int {
	return slices.Max(append(countDifferent(f.all(at), func(p part) string { return p.masked }), 0))
}

// countDifferent is how many different ones there are of each part, by a text of it.
func countDifferent(all [][]part, text func(part) string) (count []int) {
	var seen []map[string]bool
	for _, parts := range all {
		for i, p := range parts {
			if i == len(seen) {
				seen = append(seen, map[string]bool{})
			}
			seen[i][text(p)] = true
		}
	}
	for _, different := range seen {
		count = append(count, len(different))
	}
	return count
}

// part is something that others see of a step, and the same with numbers left out.
type part struct{ plain, masked string }

// comparison is how parts are compared: a node writes down what time it is. A part of which the
// numbers are different at more times than is looked for is compared without them, and one of which
// all is different not at all.
type comparison struct {
	plain   bool            // the others are compared with their numbers
	numbers map[string]bool // by their texts without numbers
	timed   map[int]bool
}

// times enters which parts are times, or have some in them.
func (c *comparison) times(all [][]part) {
	c.numbers, c.timed = map[string]bool{}, map[int]bool{}
	seen := map[string]map[string]bool{}
	for _, parts := range all {
		for _, p := range parts {
			if seen[p.masked] == nil {
				seen[p.masked] = map[string]bool{}
			}
			seen[p.masked][p.plain] = true
		}
	}
	for masked, different := range seen {
		c.numbers[masked] = len(different) > maxTurns+1
	}
	for i, n := range countDifferent(all, func(p part) string { return p.masked }) {
		c.timed[i] = n > maxTurns+1
	}
}

// same reports whether two lists of parts are the same.
func (c *comparison) same(x, y []part) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !c.sameAt(i, x[i], y[i]) {
			return false
		}
	}
	return true
}

func (c *comparison) sameAt(i int, x, y part) bool {
	return c.timed[i] || x.masked == y.masked && (!c.plain || c.numbers[x.masked] || x.plain == y.plain)
}

// DoSame reports whether others see the same of two steps, with numbers left out.
func DoSame(a, b *ariadne.Output) bool {
	return slices.EqualFunc(visibleParts(a), visibleParts(b), func(x, y part) bool { return x.masked == y.masked })
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

// visibleParts are what others see of a step, one by one.
func visibleParts(o *ariadne.Output) (all []part) {
	add := func(what, text string) { all = append(all, part{what + text, what + Masked(text)}) }
	for i := range o.Messages {
		m := &o.Messages[i]
		add(fmt.Sprint("message ", m.To, m.Flow, m.Flags, " "), string(m.Data))
	}
	for i := range o.Logs {
		l := &o.Logs[i]
		add(fmt.Sprint("line ", l.Stream, " "), l.Text)
	}
	for i := range o.Exposures {
		e := &o.Exposures[i]
		add(fmt.Sprint("exposure ", e.Name, " ", e.Key, " ", e.Ends, " "), fmt.Sprint(e.Values))
	}
	for _, x := range o.Exits {
		add(fmt.Sprint("exit ", x.Command, x.Status, x.Signal), "")
	}
	add(fmt.Sprint("node ", o.Done, o.Ended, o.Spared, o.Down, o.Diverged != "", o.Polling != "", o.Fatal), "")
	return all
}
