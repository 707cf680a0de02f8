package session

import (
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Boundary is a time at which a node does something else in a step that can come next.
type Boundary struct {
	Node string `json:"node"`
	// Event is what happens in the step: "message", "timer" or "start".
	Event string `json:"event"`
	// Name is the stable name of the step, and Arrives when it is due.
	Name    string       `json:"name"`
	Arrives ariadne.Time `json:"arrives_ns"`
	// Before is the last time at which the node does what it does when the step is due, and After
	// the next one at which it does something else, at most 1 ms later.
	Before ariadne.Time `json:"before_ns"`
	After  ariadne.Time `json:"after_ns"`
	// Was and Is are what only comes before and after.
	Was []string `json:"was,omitempty"`
	Is  []string `json:"is,omitempty"`
	// Silent: nothing differs before and after, but what the node does when the datagram comes
	// once more.
	Silent bool `json:"silent,omitempty"`
	// Read is where the node reads the clock and decides by it, the innermost function first.
	// Empty: that is not known. It is read number Number of those of the step.
	Read   []ariadne.CodeLine `json:"read,omitempty"`
	Number int                `json:"number,omitempty"`
	Reads  int                `json:"reads"`
	// Branch is where the node decides; nil: that is not known.
	Branch *Branch `json:"branch,omitempty"`
}

// Difference tells boundaries apart by what differs at them, with numbers left out.
func (b *Boundary) Difference() string {
	all := append([]string{b.Node, b.Event}, b.Was...)
	return space.Masked(strings.Join(append(append(all, ""), b.Is...), "\n"))
}

// eventWords are the kinds of steps that are tried at other times, in words.
var eventWords = map[ariadne.ActionKind]string{
	ariadne.ActDeliver: "message", ariadne.ActFire: "timer", ariadne.ActStart: "start"}

// Boundaries are the times at which nodes do something else in steps that can come next, if these
// come later by at most a window: deliveries and timers, and with starts also starts of nodes. The
// place in the code is looked for where wanted says so.
func (s *Session) Boundaries(window time.Duration, starts bool, wanted func(*Boundary) bool) (all []Boundary,
	probing space.Probing, err error) {
	err = s.do("try steps at other times", func() error {
		f := s.path.Last()
		for i := range f.Enabled {
			e := &f.Enabled[i]
			if a := e.Action(); eventWords[a.Kind] == "" || a.Kind == ariadne.ActStart && !starts || a.Vary != "" ||
				s.cancelled() {
				continue
			}
			window, err := s.untilNextTimer(e, window)
			if err != nil {
				return err
			}
			found, tried, err := s.path.Space().Boundaries(&f.State, e, window)
			if err != nil {
				return system.AsBug(err)
			}
			probing.Add(tried)
			for j := range found {
				b := s.boundary(e, &found[j])
				if wanted(&b) {
					if err := s.locate(&found[j], &b); err != nil {
						return system.AsBug(err)
					}
				}
				all = append(all, b)
			}
		}
		return nil
	})
	return all, probing, err
}

// BoundaryOf is the last time, from when the message of a step was due to when it came, at which
// the node begins to do something else with it. nil: there is none, or it is no message.
func (s *Session) BoundaryOf(step int) (b *Boundary, err error) {
	if step < 1 || step > len(s.Now().Line) {
		return nil, fmt.Errorf("%w: %d", ErrNoSuchStep, step)
	}
	err = s.do(fmt.Sprintf("try step %d at earlier times", step), func() error {
		stands := s.path.Steps()
		if err := s.follow(step); err != nil {
			return err
		}
		in := s.path.Transition(step).Input
		err := s.follow(step - 1)
		if err == nil && in.Kind == ariadne.Deliver {
			b, err = s.boundaryBefore(&in)
		}
		return errors.Join(system.AsBug(err), s.follow(stands))
	})
	return b, err
}

// boundaryBefore is the last one of a message that can come next, up to when an input has it.
func (s *Session) boundaryBefore(in *world.Input) (*Boundary, error) {
	f := s.path.Last()
	for i := range f.Enabled {
		e := &f.Enabled[i]
		if e.Action().Kind != ariadne.ActDeliver || e.Packet != in.Packet || e.At >= in.At {
			continue
		}
		found, _, err := s.path.Space().Boundaries(&f.State, e, time.Duration(in.At-e.At))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		last := &found[len(found)-1]
		b := s.boundary(e, last)
		return &b, s.locate(last, &b)
	}
	return nil, nil
}

// boundary is one of an event.
func (s *Session) boundary(e *world.Event, found *space.Boundary) Boundary {
	return Boundary{Node: s.system.Spec.Nodes[e.Node].Name, Event: eventWords[e.Action().Kind],
		Name: s.name(e.Action()), Arrives: e.At, Before: found.Before, After: found.After, Was: found.Was,
		Is: found.Is, Silent: found.Silent}
}

// timerMargin is how long before another timer of its node one fires at last.
const timerMargin = 2 * time.Millisecond

// untilNextTimer shortens the window of an event that is a timer. It then ends before the next
// timer of the node, because the effects of that timer are no decision of the program.
func (s *Session) untilNextTimer(e *world.Event, window time.Duration) (time.Duration, error) {
	state := &s.path.Last().State
	if e.Action().Kind != ariadne.ActFire {
		return window, nil
	}
	err := s.executor.Visit(state.Locals[e.Node], func(m memo.Instance) error {
		n, ok := m.(inspect.Machine)
		if !ok {
			return nil
		}
		v, err := n.Look()
		if err != nil {
			return err
		}
		for _, t := range v.Timers {
			if later := time.Duration(t.At - e.At); later > 0 && !t.Silent {
				window = min(window, later-timerMargin)
			}
		}
		return nil
	})
	return window, err
}

// locate finds the read of the clock by which a node decides: the last one such that, if it and all
// later ones see the time after the boundary, the node does what it does then.
func (s *Session) locate(at *space.Boundary, b *Boundary) error {
	if b.Silent { // the step itself does not tell
		return nil
	}
	in := at.InputAt(at.Before)
	out, reads, ok, err := s.executor.ClockReads(at.From, in, 0, 0)
	if err != nil || !ok || !at.DoesBefore(&out) {
		return err
	}
	b.Reads = len(reads)
	late := func(k int) bool { // from read k on
		if err != nil {
			return false
		}
		out, _, ok, failed := s.executor.ClockReads(at.From, in, k, at.After-at.Before)
		err = failed
		return err == nil && ok && at.DoesAfter(&out)
	}
	if len(reads) == 0 || !late(1) {
		return err
	}
	k := sort.Search(len(reads)-1, func(i int) bool { return !late(i + 2) }) + 1
	if err != nil {
		return err
	}
	b.Read, b.Number = reads[k-1], k
	b.Branch, err = s.findBranch(at, k, at.After-at.Before)
	return err
}
