package strategy

import (
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne"
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
// clock are left alone. On half of the paths a message comes before any timer of its node. On the
// others it waits, and all else goes on until its time: as when a client whose lease is over has
// still something under way. On half of the paths some messages are slow for a while besides, and
// may then be late themselves.
//
// Where nothing may be late, or no message is tried at other times (space.Window), all paths are
// natural.
type Late struct {
	Seed  uint64
	Index int // of the next path

	draw draw
	slow Slow
	held bool // slow holds something
	// waits: messages that are late wait for their times, while all else goes on.
	waits   bool
	waiting []waiting
	// at are which messages of the path are late, counted among those whose nodes read the clock:
	// met were so far, and most on a path before.
	at        []int
	met, most int
	length    int // steps of the path before
	vain      int // paths since one on which a node read the clock with a message
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
)

// Idle implements Idler.
func (l *Late) Idle() bool { return l.vain >= lateVain }

// Begin implements Explorer.
func (l *Late) Begin(p *space.Path) (keep int, ok bool) {
	l.draw = newDraw(l.Seed^0x6c61_7465_7273, l.Index)
	if l.held = l.Index%2 == 1 && l.length > 0; l.held {
		l.slow.beginBehind(l.Seed, l.Index, l.draw.below(l.length))
	}
	l.waits, l.waiting = l.Index/2%2 == 1, l.waiting[:0]
	l.Index++
	l.at, l.met = l.at[:0], 0
	n := 1 + l.draw.below(max(min(p.System().Rules().Delays, maxLate), 1))
	for at := l.draw.below(max(l.most, 1)); len(l.at) < n; at += 1 + l.draw.below(1<<l.draw.below(lateGap)) {
		l.at = append(l.at, at)
	}
	return 0, true
}

// maxLate is how many messages are late in a path, at most.
const maxLate = 3

// Next implements Explorer.
func (l *Late) Next(p *space.Path) (event int, ok bool) {
	if l.held {
		event, _ = l.slow.first(p)
	}
	if len(l.waiting) > 0 {
		event = l.afterWaiting(p.Last(), event)
	}
	if !l.readsClock(p, event) {
		return event, true
	}
	l.met++
	if len(l.at) == 0 || l.met <= l.at[0] {
		return event, true
	}
	l.at = l.at[1:]
	if other := l.message(p.Last()); other != event && l.readsClock(p, other) {
		event = other
	}
	if e := &p.Last().Enabled[event]; l.waits {
		l.waiting = append(l.waiting, waiting{e.Packet.Chain(), e.Packet.Seq, e.At + l.time(p)})
		return l.afterWaiting(p.Last(), event), true
	}
	if late, ok := p.AppendLater(event, p.Last().Enabled[event].At+l.time(p)); ok {
		return late, true
	}
	return event, true
}

// afterWaiting is an event if it does not wait, or else the first one that does not. It is the one
// that waits where there is no other, or when its time has come.
func (l *Late) afterWaiting(f *space.Frame, event int) int {
	for i := range f.Plain {
		if e := &f.Enabled[i]; !l.isWaiting(e) {
			l.waiting = slices.DeleteFunc(l.waiting, func(w waiting) bool { return w.until <= e.At })
			if l.isWaiting(&f.Enabled[event]) {
				return i
			}
			break
		}
	}
	return event
}

// isWaiting reports whether an event is the arrival of a message that waits.
func (l *Late) isWaiting(e *world.Event) bool {
	return e.Packet != nil && slices.ContainsFunc(l.waiting, func(w waiting) bool {
		return w.seq == e.Packet.Seq && w.chain == e.Packet.Chain()
	})
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

// time draws how much later a message is: evenly, or evenly among orders of magnitude.
func (l *Late) time(p *space.Path) ariadne.Time {
	part := float64(l.draw.next()>>11) / (1 << 53)
	if l.draw.below(2) == 0 {
		part = math.Exp2(-lateOrders * part)
	}
	return ariadne.Time(float64(p.Space().Window) * part)
}

// End implements Explorer.
func (l *Late) End(p *space.Path, _ End) error {
	l.most, l.length = max(l.most, l.met), p.Len()
	if l.vain++; l.met > 0 {
		l.vain = 0
	}
	return nil
}
