package strategy

import (
	"math"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func init() {
	register(Row{Name: LateName, Doc: "natural paths on which messages are late by any time, where their nodes read the clock",
		Make: func(b *Builder) []Explorer {
			return b.each(func(seed uint64, _ int) Explorer { return &Late{Seed: seed, Index: b.From} })
		}})
}

// LateName is the strategy that tries messages at other times as the default one does.
const LateName = "late"

// Late are paths on which a few messages arrive later by random times. Others find the times at
// which a node does something else with a message (space.Sample), and those events are exact. But
// what has changed may not show in that step: a bucket that is full of tokens, a counter that
// begins again. Nothing tells of such a time, so it is drawn. Messages whose nodes do not read the
// clock are left alone.
//
// On half of the paths messages are drawn evenly. On the others kinds of messages are, and more
// often those with which a node has done something else when they were late (lateKinds). A message
// that matters may be one of very many, or of a kind of which nothing is known. On half of the
// paths a message comes before any timer of its node. On the others it waits, and all else goes on
// until its time: as when a client whose lease is over has still something under way.
//
// A time that has passed is often only one half of what goes wrong, and the other one an order of
// messages near it. So on half of the paths one message besides is overtaken by others
// (overtaking), or some are slow for a while, and may then be late themselves.
//
// Where nothing may be late, or no message is tried at other times (space.Window), all paths are
// natural.
type Late struct {
	Seed  uint64
	Index int // of the next path
	// Faults: there may be some, and none is on a path of Late.
	Faults bool

	draw draw
	slow Slow
	held bool // slow holds something
	// waits: messages that are late wait for their times, while all else goes on.
	waits   bool
	waiting []waiting

	kinds lateKinds
	// byKind: kinds of messages are drawn on the path, and not messages.
	byKind bool
	left   int // messages of the path that are yet to be late
	aim    aim // the next of these
	// met are messages of the path so far whose nodes read the clock, and most those of a path
	// before.
	met, most int
	// tried is the last step if a message was late in it.
	tried      *tried
	overtaking overtaking
	// swaps: one time in so many, a message is drawn of those that arrive at a node at the same
	// time. 0: never.
	swaps int

	length int // steps of the path before
	vain   int // paths since one on which a node read the clock with a message
}

// aim is which message is late: the nth of a kind on the path, from 0, or the nth of all.
type aim struct {
	kind *lateKind // nil: of all
	nth  int
}

// tried is a message that is late.
type tried struct {
	kind   *lateKind
	late   ariadne.Time
	onTime *memo.Transition // what its node does with it otherwise
}

// waiting is a message that waits, and with it what follows it in its direction of a connection.
type waiting struct {
	chain uint64
	seq   int
	until ariadne.Time
}

const (
	// lateOrders is how many orders of magnitude times are drawn from, as far as they are: from the
	// longest that may be, down to 2 ms of 7 s.
	lateOrders = 12
	// lateVain is how many paths without such a message are enough.
	lateVain = 4
	// lateGap is the order of magnitude of how many messages come between two that are late.
	lateGap = 5
	// lateSwaps are the orders of magnitude of Late.swaps.
	lateSwaps = 4
	// maxLate is how many messages are late in a path, at most.
	maxLate = 3
)

// Idle implements Idler.
func (l *Late) Idle() bool { return l.vain >= lateVain }

// Begin implements Explorer.
func (l *Late) Begin(p *space.Path) (keep int, ok bool) {
	l.draw = newDraw(l.Seed^0x6c61_7465_7273, l.Index)
	l.waits, l.waiting, l.tried = l.draw.below(2) == 0, l.waiting[:0], nil
	l.kinds.begin(p.Space().Sample, &l.draw)
	l.byKind = l.draw.below(2) == 0
	l.met = 0
	l.left = 1 + l.draw.below(max(min(p.System().Rules().Delays, maxLate), 1))
	l.drawAim()
	l.swaps = 0
	if l.draw.below(2) == 0 {
		l.swaps = 1 << l.draw.below(lateSwaps)
	}
	l.held, l.overtaking = l.length > 0 && l.draw.below(lateHeldOf) == 0, overtaking{}
	switch {
	case l.held:
		l.slow.beginBehind(l.Seed, l.Index, l.draw.below(l.length))
	case !l.waits:
		l.overtaking = drawOvertaking(&l.draw)
	}
	l.Index++
	return 0, true
}

// lateHeldOf: on one path in so many some messages are slow for a while.
const lateHeldOf = 4

// drawAim draws which message is late next: one of a kind, or one that comes soon.
func (l *Late) drawAim() {
	var kind *lateKind
	if l.byKind {
		kind = l.kinds.draw(&l.draw)
	}
	switch {
	case l.met > 0 && l.draw.below(2) == 0:
		l.aim = aim{nth: l.met + l.draw.below(1<<l.draw.below(lateGap))}
	case kind == nil || kind.met >= kind.most:
		l.aim = aim{nth: l.met + l.draw.below(max(l.most-l.met, 1))}
	default:
		l.aim = aim{kind, kind.met + l.draw.below(kind.most-kind.met)}
	}
}

// Next implements Explorer.
func (l *Late) Next(p *space.Path) (event int, ok bool) {
	l.learn(p)
	f := p.Last()
	event = l.first(p)
	if w := l.waitingFor(&f.Enabled[event]); w != nil {
		return l.makeLate(p, event, w.until), true
	}
	if !l.readsClock(p, event) {
		return event, true
	}
	kind := l.kinds.of(space.KindOf(f.Enabled[event].Packet))
	if l.left == 0 || !l.isAim(kind, f.Enabled[event].Packet) {
		return l.meet(kind, event), true
	}
	if o := &l.overtaking; o.which == overtakenItself {
		o.due = f.Enabled[event].Packet
		o.hold(&l.draw, o.due.Flow, o.due.To)
		if other := o.first(f, event); other != event {
			return other, true
		}
	}
	if l.aim.kind == nil && l.overtaking.due == nil {
		if other := l.message(f); other != event && l.readsClock(p, other) {
			event, kind = other, l.kinds.of(space.KindOf(f.Enabled[other].Packet))
		}
	}
	l.left--
	l.overtaking.due = nil
	l.meet(kind, event)
	l.drawAim()
	e := &f.Enabled[event]
	until := e.At + l.time(p, kind)
	if l.waits {
		l.waiting = append(l.waiting, waiting{e.Packet.Chain(), e.Packet.Seq, until})
		if other := l.afterWaiting(f, event); other != event {
			return other, true
		}
	}
	return l.makeLate(p, event, until), true
}

// makeLate is an event that happens later.
func (l *Late) makeLate(p *space.Path, event int, until ariadne.Time) int {
	kind, onTime := l.kinds.of(space.KindOf(p.Last().Enabled[event].Packet)), p.Outcome(event)
	late, ok := p.AppendLater(event, until)
	if ok {
		l.tried = &tried{kind, p.Last().Enabled[late].LateBy(), onTime}
	}
	return late
}

// first is the first event that neither is held nor waits.
func (l *Late) first(p *space.Path) (event int) {
	if l.held {
		event, _ = l.slow.first(p)
	}
	if len(l.waiting) > 0 {
		event = l.afterWaiting(p.Last(), event)
	}
	event = l.overtaking.first(p.Last(), event)
	if l.swaps > 0 && l.draw.below(l.swaps) == 0 {
		event = l.swap(p.Last(), event, ariadne.Time(p.System().Rules().Latency/2))
	}
	return event
}

// swap draws one of the messages that arrive at a node less than some time after an event's, or
// that one.
func (l *Late) swap(f *space.Frame, event int, within ariadne.Time) int {
	first, n := &f.Enabled[event], 0
	if first.Kind != ariadne.ActDeliver {
		return event
	}
	for i := range f.Plain {
		e := &f.Enabled[i]
		if e.Kind == ariadne.ActDeliver && e.Node == first.Node && !l.overtaking.held(e) && l.waitingFor(e) == nil &&
			e.At < first.At+within {
			if n++; l.draw.below(n) == 0 {
				event = i
			}
		}
	}
	return event
}

// meet counts a message.
func (l *Late) meet(kind *lateKind, event int) int {
	kind.met++
	l.met++
	return event
}

// isAim reports whether a message of a kind is the one that is late next.
func (l *Late) isAim(kind *lateKind, p *world.Packet) bool {
	switch {
	case l.overtaking.due != nil:
		return p.SameDelivery(l.overtaking.due)
	case l.aim.kind != nil:
		return l.aim.kind == kind && kind.met >= l.aim.nth
	}
	return l.met >= l.aim.nth
}

// learn learns from the last step whether the node has done something else with a message that was
// late.
func (l *Late) learn(p *space.Path) {
	f := p.Last()
	if f.By != nil {
		l.overtaking.count(f.By)
	}
	if t := l.tried; t != nil {
		l.tried = nil
		if t.onTime != nil && !space.DoSame(&t.onTime.Output, &f.By.Output) {
			t.kind.turns(t.late, &l.draw)
		}
		if l.overtaking.which == overtakenBehind {
			l.overtaking.holdBehind(&l.draw, f.By, t.onTime)
		}
	}
}

// afterWaiting is an event if it does not wait, or else the first one that does not. It is the one
// that waits where there is no other before its time.
func (l *Late) afterWaiting(f *space.Frame, event int) int {
	w := l.waitingFor(&f.Enabled[event])
	if w == nil {
		return event
	}
	for i := range f.Plain {
		if e := &f.Enabled[i]; e.Kind != world.Late && l.waitingFor(e) == nil {
			if e.At < w.until {
				return i
			}
			break
		}
	}
	return event
}

// waitingFor is what says that an event is the arrival of a message that waits, or nil.
func (l *Late) waitingFor(e *world.Event) *waiting {
	for i := range l.waiting {
		if w := &l.waiting[i]; e.Packet != nil && w.seq == e.Packet.Seq && w.chain == e.Packet.Chain() {
			return w
		}
	}
	return nil
}

// readsClock reports whether an event of the last frame is a message whose node reads the clock
// with it.
func (l *Late) readsClock(p *space.Path, event int) bool {
	f := p.Last()
	if event >= f.Plain || f.Enabled[event].Kind != ariadne.ActDeliver || !p.Space().Probes() ||
		!p.System().MayBeLater(&f.State.State, &f.Enabled[event]) {
		return false
	}
	by := p.Outcome(event)
	return by != nil && space.MayDependOnTime(&by.Output)
}

// message draws one of the messages that may arrive next.
func (l *Late) message(f *space.Frame) (event int) {
	n := 0
	for i := range f.Plain {
		if e := &f.Enabled[i]; e.Kind == ariadne.ActDeliver {
			if n++; l.draw.below(n) == 0 {
				event = i
			}
		}
	}
	return event
}

// time draws how much later a message of a kind is: near a time at which its node has done
// something else, or evenly, or evenly among orders of magnitude.
func (l *Late) time(p *space.Path, kind *lateKind) ariadne.Time {
	if n := len(kind.times); n > 0 && l.draw.below(4) > 0 {
		at := kind.times[l.draw.below(n)]
		if l.draw.below(2) == 0 { // up to half as much more
			at += ariadne.Time(float64(at) * l.part() / 2)
		}
		return at
	}
	part := l.part()
	if l.draw.below(2) == 0 {
		part = math.Exp2(-lateOrders * part)
	}
	return ariadne.Time(float64(p.Space().Window) * part)
}

// part draws a number between 0 and 1.
func (l *Late) part() float64 { return float64(l.draw.next()>>11) / (1 << 53) }

// End implements Explorer.
func (l *Late) End(p *space.Path, _ End) error {
	if p.Len() > 0 {
		l.learn(p)
	}
	l.kinds.end()
	l.most, l.length = max(l.most, l.met), p.Len()
	if l.vain++; l.met > 0 {
		l.vain = 0
	}
	return nil
}

// Share implements Sharer.
func (l *Late) Share() float64 {
	share := lateShare
	if len(l.kinds.turning) > 0 {
		share = lateShareTurning
	}
	if l.Faults {
		share /= 2
	}
	return share
}
