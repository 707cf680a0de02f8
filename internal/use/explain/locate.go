package explain

import (
	"errors"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// mostLooked is how many steps of a node are looked into, up to a loss of power.
const mostLooked = 300

// locator finds the code behind what steps have done. It executes each step at most once more.
type locator struct {
	session *session.Session
	known   map[int]*session.Origins
	err     error // the first one
}

// of is what is known of a step; without anything where it cannot be looked into.
func (l *locator) of(step int) *session.Origins {
	o, known := l.known[step]
	if known {
		return o
	}
	o, err := l.session.Origins(step)
	if err != nil && !errors.Is(err, ariadne.ErrNotFreezable) && l.err == nil {
		l.err = err
	}
	if o == nil {
		o = &session.Origins{}
	}
	l.known[step] = o
	return o
}

// message is the code that sent a message.
func (l *locator) message(s causal.Sending) string {
	if s.Step == 0 {
		return ""
	}
	return at(l.of(s.Step).Messages, s.Message)
}

func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// locate finds the code that sent the messages and wrote the lines of the story, and that changed
// the files of which a loss of power took something.
func (x *explanation) locate() error {
	l := locator{session: x.session, known: map[int]*session.Origins{}}
	for i := range x.Story {
		e := &x.Story[i].Event
		e.Code = l.message(e.Sent)
		for j := range e.Outcomes {
			switch o := &e.Outcomes[j]; o.Kind {
			case causal.Line:
				o.Code = at(l.of(e.Step).Lines, o.Line)
			case causal.Exited:
				o.Code = at(l.of(e.Step).Exits, o.Line)
			}
		}
	}
	for i := range x.Losses {
		x.locateLoss(&l, &x.Losses[i])
	}
	return errors.Join(l.err, x.findBoundaries())
}

// findBoundaries finds where nodes decide by the clock in steps that the violation needs late.
func (x *explanation) findBoundaries() (err error) {
	for i := range x.Story {
		m := &x.Story[i]
		if !m.Needed || m.Kind != causal.Delivered || m.Late == 0 ||
			!space.MayDependOnTime(&x.graph.Steps()[m.Step-1].Output) {
			continue
		}
		if m.Boundary, err = x.session.BoundaryOf(m.Step); err != nil && !errors.Is(err, ariadne.ErrNotFreezable) {
			return err
		}
	}
	return nil
}

// locateLoss finds the code of lost operations in the steps of the node up to the loss, the last
// ones first: an operation may have the words of an earlier one.
func (x *explanation) locateLoss(l *locator, loss *Loss) {
	missing := len(loss.Operations)
	loss.Code = make([]string, missing)
	steps := x.graph.Steps()
	for n, looked := loss.Step, 0; n > 0 && missing > 0 && looked < mostLooked; n-- {
		if x.words.Names.Node(steps[n-1].Action.Node) != loss.Node {
			continue
		}
		looked++
		for _, c := range slices.Backward(l.of(n).Changes) {
			i := slices.IndexFunc(loss.Operations, func(op string) bool {
				return op == c.Operation || strings.HasSuffix(op, " parts of "+c.Operation)
			})
			if i >= 0 && loss.Code[i] == "" && c.Code != "" {
				loss.Code[i] = c.Code
				missing--
			}
		}
	}
}
