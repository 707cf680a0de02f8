package space

import (
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Boundary is a time at which a node does something else with a message, in its start, or when its
// timer fires.
type Boundary struct {
	From  *memo.Local // the node's state
	Input world.Input // as it comes first
	// Before is the last time at which the node does what it does at first, as far as is known, and
	// After the next time at which it is known to do something else.
	Before, After ariadne.Time
	// Was and Is are those of the parts of what it does that differ, before and after.
	Was, Is []string
	// Silent: nothing of it differs, but what the node does when the datagram comes once more.
	Silent bool

	before, after []part
	told          comparison // how they are compared
}

// Boundaries are the times at which the node of an event does something else, if the event happens
// later by at most a window, and how many times were tried. The event is a delivery, the start of a
// node, or a timer that fires.
func (p *Space) Boundaries(s *State, e *world.Event, window time.Duration) (all []Boundary, probing Probing,
	err error) {
	t, err := p.outcomeOf(s, e)
	if err != nil || !MayDependOnTime(&t.Output) {
		return nil, probing, err
	}
	f := p.newFinder(s, e, t, window)
	found, err := f.findTurns(f.first, f.last)
	for i := 0; err == nil && i < len(found); i += 2 {
		b := Boundary{From: t.From, Input: t.Input, Before: found[i], After: found[i+1], told: f.told, Silent: f.again}
		var was, is *memo.Transition
		if was, err = p.Source.Transition(t.From, b.InputAt(b.Before)); err != nil {
			break
		}
		if is, err = p.Source.Transition(t.From, b.InputAt(b.After)); err != nil {
			break
		}
		b.before, b.after = visibleParts(&was.Output), visibleParts(&is.Output)
		b.Was, b.Is = b.partsOnlyIn(&was.Output, b.before, b.after), b.partsOnlyIn(&is.Output, b.after, b.before)
		all = append(all, b)
	}
	return all, Probing{1, f.tries, len(all)}, err
}

// InputAt is the input as it comes at a time.
func (b *Boundary) InputAt(at ariadne.Time) world.Input {
	in := b.Input
	in.At = at
	return in
}

// DoesBefore and DoesAfter report whether that is what the node does before the time, or after it.
func (b *Boundary) DoesBefore(o *ariadne.Output) bool { return b.isOutcome(o, b.before) }
func (b *Boundary) DoesAfter(o *ariadne.Output) bool  { return b.isOutcome(o, b.after) }

func (b *Boundary) isOutcome(o *ariadne.Output, what []part) bool {
	// Where words differ, they tell. A number beside them may be the time, and too few times were
	// tried at which it stands there to see that.
	told := b.told
	if told.plain = false; told.same(b.before, b.after) {
		told = b.told
	}
	return told.same(visibleParts(o), what)
}

// partsOnlyIn are the texts of those parts of an output that another one does not have in their
// places.
func (b *Boundary) partsOnlyIn(o *ariadne.Output, of, other []part) (all []string) {
	for i, text := range partTexts(o) {
		if !b.told.timed[i] && (i >= len(other) || !b.told.sameAt(i, of[i], other[i])) && text != "" {
			all = append(all, text)
		}
	}
	return all
}

// partTexts are the parts of an output as people read them, in their order. That of the node itself
// is "" where it says nothing.
func partTexts(o *ariadne.Output) (all []string) {
	for i := range o.Messages {
		m := &o.Messages[i]
		all = append(all, fmt.Sprintf("sends %s %v>%v %q", m.Flow.Proto, m.Flow.Src, m.Flow.Dst, m.Data))
	}
	for i := range o.Logs {
		all = append(all, "prints "+o.Logs[i].Text)
	}
	for i := range o.Exposures {
		x := &o.Exposures[i]
		all = append(all, fmt.Sprintf("exposes %s %s %v", x.Name, x.Key, x.Values))
	}
	for _, x := range o.Exits {
		all = append(all, fmt.Sprintf("command %d exits with %d, signal %d", x.Command+1, x.Status, x.Signal))
	}
	switch {
	case o.Diverged != "":
		return append(all, "computes without end")
	case o.Fatal != "":
		return append(all, "cannot go on")
	}
	return append(all, "")
}
