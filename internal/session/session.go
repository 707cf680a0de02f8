// Package session is an execution of a system that somebody steers step by step: what can
// happen next, take it, go back, go another way, look at a node. It can go back because nodes
// are copied (internal/memo): what a node has done is remembered, and a node that is looked
// at or stepped is brought to where it is needed, from a checkpoint.
//
// A session has one line of steps, and stands somewhere on it. Back and Go move along the
// line; Step at its end makes it longer, and elsewhere replaces the rest if it takes another
// way. A Position is a line up to some step, which can be kept and returned to: so branches
// are positions that somebody has kept. A session of a trace begins with the trace as its
// line.
//
// What it is not: a search, which chooses for itself (internal/search), and a record: it
// writes nothing.
//
// Invariants: the steps of a line are the same, and do the same, whatever way the session has
// gone to get there, and as in an execution of nothing but these. A session that fails to move
// stands where it stood.
//
// Methods may be called from any goroutine, one after the other; the nodes live on a thread
// of their own.
//
// Read next: session.go, open.go, inspect.go, example_test.go.
package session

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/search"
	"ariadne/internal/space"
	"ariadne/internal/system"
	"ariadne/internal/trace"
	"ariadne/internal/world"
)

// Session is an execution that is steered.
type Session struct {
	system *system.System

	mu   sync.Mutex  // one method at a time; of all below
	work chan func() // for the thread of the nodes; nil when it is closed
	done chan error  // the thread has ended, with what came of closing the nodes

	path     *space.Path // what is taken of the line
	executor *memo.Executor
	memo     *memo.Memo
	line     []string // stable names of the steps, those that are taken first
	expected []trace.Step
	// stuck is the number of steps of a trace at whose end something has not happened that must, or 0, and goal which: it goes on behind
	// the end of the clients.
	stuck, goal int
}

// Choice is something that can happen next.
type Choice struct {
	Action ariadne.Action
	Name   string // the action's stable name, by which it can be taken
	At     ariadne.Time
	// Natural: it comes first in time.
	Natural bool
}

// Position is where a session has been: the steps of its line up to there. It stays good
// whatever the session does next.
type Position struct{ line []string }

// Steps is the number of steps of the position.
func (p Position) Steps() int { return len(p.line) }

// Names are the stable names of its steps.
func (p Position) Names() []string { return slices.Clone(p.line) }

// ErrClosed is the error of a session that is closed.
var ErrClosed = errors.New("the session is closed")

// ErrNoSuchStep is wrapped in the error of who asks for a step that is not enabled, or is not
// on the line.
var ErrNoSuchStep = errors.New("no such step")

// Mismatch is the error of a session that has left its trace: a step did not do what the
// trace says. The session stands behind it.
type Mismatch struct {
	Want trace.Step
	Got  trace.Step
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("step %d (%s) does something else than in the trace: digest %016x at %v, not %016x at %v",
		m.Got.Index, m.Got.Action, m.Got.Digest, m.Got.At, m.Want.Digest, m.Want.At)
}

// do lets f work on the thread of the nodes.
func (s *Session) do(f func() error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		return ErrClosed
	}
	ended := make(chan struct{})
	job := func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				err = system.Bug{Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
			}
		}()
		err = f()
	}
	select {
	case s.work <- job:
		<-ended
		return err
	case err := <-s.done: // the thread cannot be the nodes' place
		s.work = nil
		return errors.Join(ErrClosed, err)
	}
}

// Steps is the number of steps that the session stands behind.
func (s *Session) Steps() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path.Steps()
}

// Line are the stable names of the steps of the line, also of those that are still ahead.
func (s *Session) Line() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.line)
}

// Position is where the session stands, to return to.
func (s *Session) Position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Position{slices.Clone(s.line[:s.path.Steps()])}
}

// Taken are the steps behind which the session stands, with what came of them.
func (s *Session) Taken() (steps []ariadne.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.path.Steps() {
		steps = append(steps, s.path.Step(i+1))
	}
	return steps
}

// Enabled is what can happen next, in order of time; what is a variation of an event comes
// behind all events. It is empty when nothing can, or the execution has ended.
func (s *Session) Enabled() (choices []Choice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if end, _ := s.end(); end != "" {
		return nil
	}
	add := func(e *world.Event, natural bool) {
		choices = append(choices, Choice{Action: e.Action(), Name: s.name(e.Action()), At: e.At, Natural: natural})
	}
	if e := s.natural(); e != nil {
		add(e, true)
	}
	f := s.path.Last()
	for i := range f.Enabled {
		add(&f.Enabled[i], !f.Deviates(i))
	}
	return choices
}

func (s *Session) name(a ariadne.Action) string { return s.path.System().Names().Action(a) }

// Step takes one of the choices that Enabled gave, by its stable name.
func (s *Session) Step(name string) (step ariadne.Step, err error) {
	err = s.do(func() error {
		if end, _ := s.end(); end != "" {
			return fmt.Errorf("%w: %s: the execution has ended: %s", ErrNoSuchStep, name, end)
		}
		n := s.path.Steps()
		if err := s.take(name); err != nil {
			return err
		}
		if n == len(s.line) || s.line[n] != name {
			s.line = append(s.line[:n:n], name)
			s.expected = s.expected[:min(n, len(s.expected))]
		}
		step = s.path.Step(n + 1)
		return s.verify(n + 1)
	})
	return step, err
}

// Natural takes the choice that comes first in time.
func (s *Session) Natural() (ariadne.Step, error) {
	choices := s.Enabled()
	if len(choices) == 0 {
		return ariadne.Step{}, fmt.Errorf("%w: nothing can happen next", ErrNoSuchStep)
	}
	return s.Step(choices[0].Name)
}

// Back takes back the last step, which stays on the line.
func (s *Session) Back() error {
	return s.do(func() error {
		if s.path.Steps() == 0 {
			return fmt.Errorf("%w: this is the beginning", ErrNoSuchStep)
		}
		return s.cut(s.path.Steps() - 1)
	})
}

// Go goes to where n steps of the line are taken, back or ahead.
func (s *Session) Go(n int) error {
	return s.do(func() error {
		if n < 0 || n > len(s.line) {
			return fmt.Errorf("%w: %d, the line has %d", ErrNoSuchStep, n, len(s.line))
		}
		return s.follow(n)
	})
}

// Return goes to a position, whose steps become the line.
func (s *Session) Return(p Position) error {
	return s.do(func() error {
		common := 0
		for common < min(len(p.line), len(s.line)) && p.line[common] == s.line[common] {
			common++
		}
		was, expected, stood := s.line, s.expected, s.path.Steps()
		s.line, s.expected = slices.Clone(p.line), s.expected[:min(common, len(s.expected))]
		err := s.cut(min(stood, common))
		if err == nil {
			err = s.follow(len(p.line))
		}
		if err != nil && !errors.As(err, new(*Mismatch)) {
			s.line, s.expected = was, expected
			err = errors.Join(err, s.cut(min(stood, common)), s.follow(stood))
		}
		return err
	})
}

// follow takes or takes back steps of the line until n are taken.
func (s *Session) follow(n int) error {
	stood := s.path.Steps()
	if err := s.cut(min(n, stood)); err != nil {
		return err
	}
	for i := s.path.Steps(); i < n; i++ {
		if err := s.take(s.line[i]); err != nil {
			return errors.Join(err, s.cut(min(stood, i)))
		}
		if err := s.verify(i + 1); err != nil {
			return err
		}
	}
	return nil
}

// take appends a step to the path. When it fails the path is as it was.
func (s *Session) take(name string) error {
	n := s.path.Steps()
	a, err := s.path.System().Names().Parse(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoSuchStep, err)
	}
	missing := fmt.Errorf("%w: %s is not enabled after step %d", ErrNoSuchStep, name, n)
	if e := s.natural(); e != nil && e.Action() == a {
		err = s.path.Outlast()
	} else if i, ok := s.find(a); ok {
		err = s.path.Push(i)
	} else {
		return missing
	}
	if err != nil {
		err = errors.Join(err, s.path.Withdraw(n))
	}
	return system.AsBug(err)
}

// natural is the event that comes next where all that is left is housekeeping beyond the limit
// of time, or nil.
func (s *Session) natural() *world.Event {
	f := s.path.Last()
	if !f.Rest {
		return nil
	}
	if e := s.path.System().Enabled(&f.State.State, nil); len(e) > 0 && !e[0].Aside() {
		return &e[0]
	}
	return nil
}

// find is the place of an action among what is enabled. More choices in one step than a
// search makes are there too.
func (s *Session) find(a ariadne.Action) (event int, ok bool) {
	enabled, plain := s.path.Last().Enabled, a
	plain.Vary = ""
	for i := range enabled {
		if enabled[i].Action() == a {
			return i, true
		}
	}
	if event, ok = s.path.FindAction(plain); !ok || a.Vary == "" {
		return event, ok
	}
	return s.path.Vary(event, a.Vary)
}

// cut takes back all but the first n steps. What is enabled there is found again, for it may
// have been added to.
func (s *Session) cut(n int) error {
	if n == s.path.Steps() {
		return nil
	}
	return system.AsBug(s.path.Withdraw(n))
}

// verify compares step n with that of the trace, if the line is one's.
func (s *Session) verify(n int) error {
	if n > len(s.expected) {
		return nil
	}
	got, want := trace.NewStep(s.path.Step(n)), s.expected[n-1]
	if got == want || got.Mark != 0 || want.Mark != 0 {
		return nil
	}
	return &Mismatch{Want: want, Got: got}
}

// End says why the execution has ended where the session stands, with the violation that this
// shows; or it is "".
func (s *Session) End() (end string, v *ariadne.Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end()
}

func (s *Session) end() (string, *ariadne.Violation) {
	if n := s.path.Steps(); n > 0 && n == s.stuck && len(s.expected) == n {
		t := search.NewTrail(s.path.Space().Properties.Goals(), s.goal)
		for i := range n + 1 {
			t.Look(s.path, s.path.FrameAt(i))
		}
		return search.EndViolation, t.Violation(s.path)
	}
	end, v := search.EndOf(s.path, s.system.Checks, s.system.Spec.Limits.Steps)
	if s.stuck > 0 && v == nil && end == search.EndClients && len(s.path.Last().Enabled) > 0 {
		end = ""
	}
	return end, v
}

// Changed says which files of the host that nodes have used are not as they were when they
// did: what the session shows may then be of neither. One line each.
func (s *Session) Changed() (lines []string) {
	s.do(func() error {
		lines = s.system.Digests.Described(s.memo.Changed())
		return nil
	})
	return lines
}

// Close ends all nodes.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		return nil
	}
	close(s.work)
	s.work = nil
	return <-s.done
}
