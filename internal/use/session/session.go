// Package session is an execution of a system that somebody steers step by step: what can
// happen next, take it, go back, go another way, look at a node. It can go back because nodes
// are copied (internal/explore/memo): what a node has done is remembered, and a node that is looked
// at or stepped is brought to where it is needed, from a checkpoint.
//
// A session has one line of steps, and stands somewhere on it. Back and Go move along the
// line; Step at its end makes it longer, and elsewhere replaces the rest if it takes another
// way. A Position is a line up to some step, which can be kept and returned to: so branches
// are positions that somebody has kept. A session of a trace begins with the trace as its
// line.
//
// It is no search, which chooses for itself (internal/explore/search), and no record: it writes
// nothing.
//
// Invariants: the steps of a line are the same, and do the same, whatever way the session has
// gone to get there, and as in an execution of nothing but these. A session that fails to move
// stands where it stood.
//
// Methods may be called from any goroutine. Those that move the session or look into a node come
// one after the other, on the thread on which the nodes live. All others read the State that the
// last move left, and never wait. Cancel ends what is under way.
//
// Read next: session.go, state.go, open.go, inspect.go, example_test.go.
package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Session is an execution that is steered.
type Session struct {
	system *system.System
	ctx    context.Context
	now    atomic.Pointer[State]
	turn   atomic.Pointer[turn]

	mu   sync.Mutex  // one move or look at a time; of work and done
	work chan func() // for the thread of the nodes; nil when it is closed
	done chan error  // the thread has ended, with what came of closing the nodes

	// Of the thread of the nodes.
	path     *space.Path // what is taken of the line
	executor *memo.Executor
	memo     *memo.Memo
	taken    []taken  // the steps of path; a State shares its beginning
	line     []string // stable names of the steps, those that are taken first
	expected []trace.Step
	boots    []memo.Boot  // of the nodes
	programs programs     // through which stacks were followed
	trace    *trace.Trace // with which it was opened, or nil
	// stuck is the number of steps of a trace at whose end something has not happened that must, or
	// 0, and goal which: it goes on behind the end of the clients.
	stuck, goal int
}

// turn is what is under way.
type turn struct {
	ctx    context.Context
	cancel context.CancelFunc // nil: it cannot be cancelled
}

// Choice is something that can happen next.
type Choice struct {
	Action ariadne.Action `json:"-"`
	Name   string         `json:"name"` // the action's stable name, by which it can be taken
	At     ariadne.Time   `json:"at_ns"`
	// Natural: it comes first in time.
	Natural bool `json:"natural,omitempty"`
}

// Position is where a session has been: the steps of its line up to there. It stays good
// whatever the session does next.
type Position struct{ line []string }

// At is the position behind steps with these stable names.
func At(line []string) Position { return Position{slices.Clone(line)} }

// Steps is the number of steps of the position.
func (p Position) Steps() int { return len(p.line) }

// Names are the stable names of its steps.
func (p Position) Names() []string { return slices.Clone(p.line) }

// MarshalJSON makes a list of the names.
func (p Position) MarshalJSON() ([]byte, error) { return json.Marshal(p.line) }

// UnmarshalJSON reads one.
func (p *Position) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &p.line) }

// ErrClosed is the error of a session that is closed.
var ErrClosed = errors.New("the session is closed")

// ErrNoSuchStep is wrapped in the error of who asks for a step that is not enabled, or is not
// on the line.
var ErrNoSuchStep = errors.New("no such step")

// ErrCancelled is the error of what Cancel has ended. The session stands where it stood.
var ErrCancelled = errors.New("it was cancelled")

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

// do lets f work on the thread of the nodes. what says what it does.
func (s *Session) do(what string, f func() error) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		return ErrClosed
	}
	t := &turn{}
	t.ctx, t.cancel = context.WithCancel(s.ctx)
	defer t.cancel()
	s.turn.Store(t)
	s.say(what)
	defer func() {
		s.turn.Store(&turn{ctx: s.ctx})
		s.say("")
		if t.ctx.Err() != nil && s.ctx.Err() == nil && errors.Is(err, ariadne.ErrInterrupted) {
			err = fmt.Errorf("%w: %w", ErrCancelled, err)
		}
	}()
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

// move is do of what may move the session.
func (s *Session) move(what string, f func() error) error {
	return s.do(what, func() error {
		err := f()
		s.publish(s.state(what))
		return err
	})
}

// say publishes what is under way.
func (s *Session) say(what string) {
	if was := s.now.Load(); was != nil {
		is := *was
		is.Busy = what
		s.publish(&is)
	}
}

// publish makes a new state the one that is read from now on.
func (s *Session) publish(now *State) {
	now.replaced = make(chan struct{})
	if was := s.now.Swap(now); was != nil {
		close(was.replaced)
	}
}

// Cancel ends the move or look that is under way, if there is one: its error is ErrCancelled. Calls
// that wait for it continue.
func (s *Session) Cancel() {
	if t := s.turn.Load(); t.cancel != nil {
		t.cancel()
	}
}

// interrupt is the channel that ends a node's step now.
func (s *Session) interrupt() <-chan struct{} { return s.turn.Load().ctx.Done() }

// cancelled reports whether what is under way is to end.
func (s *Session) cancelled() bool { return s.turn.Load().ctx.Err() != nil }

// restore lets the session go back to where it stood after a move has failed: Cancel does not end
// that.
func (s *Session) restore() { s.turn.Store(&turn{ctx: s.ctx}) }

// Now is the session where the last move has left it, and what is under way.
func (s *Session) Now() *State { return s.now.Load() }

// Steps is the number of steps that the session stands behind.
func (s *Session) Steps() (n int) { return s.Now().Steps() }

// Line are the stable names of the steps of the line, also of those that are still ahead.
func (s *Session) Line() []string { return slices.Clone(s.Now().Line) }

// Position is where the session stands, to return to.
func (s *Session) Position() Position { return s.Now().Position() }

// Taken are the steps behind which the session stands, with what came of them.
func (s *Session) Taken() (steps []ariadne.Step) { return s.Now().Taken() }

// Enabled is what can happen next, in order of time; what is a variation of an event comes
// behind all events. It is empty when nothing can, or the execution has ended.
func (s *Session) Enabled() (choices []Choice) { return slices.Clone(s.Now().Enabled) }

func (s *Session) name(a ariadne.Action) string { return s.path.System().Names().Action(a) }

// Step takes one of the choices that Enabled gave, by its stable name.
func (s *Session) Step(name string) (step ariadne.Step, err error) {
	err = s.move("step "+name, func() error {
		if end := s.Now().End; end != "" {
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
	return s.move("back", func() error {
		if s.path.Steps() == 0 {
			return fmt.Errorf("%w: no step was taken", ErrNoSuchStep)
		}
		return s.cut(s.path.Steps() - 1)
	})
}

// Go goes to where n steps of the line are taken, back or ahead.
func (s *Session) Go(n int) error {
	return s.move(fmt.Sprintf("go to step %d", n), func() error {
		if n < 0 || n > len(s.line) {
			return fmt.Errorf("%w: %d, the line has %d", ErrNoSuchStep, n, len(s.line))
		}
		return s.follow(n)
	})
}

// Return goes to a position, whose steps become the line.
func (s *Session) Return(p Position) error {
	return s.move(fmt.Sprintf("return to step %d", p.Steps()), func() error {
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
			s.restore()
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
		err := error(ariadne.ErrInterrupted)
		if !s.cancelled() {
			err = s.take(s.line[i])
		}
		if err != nil {
			s.restore()
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
		err = s.path.PushNatural()
	} else if i, ok := s.find(a); ok {
		err = s.path.Push(i)
	} else {
		return missing
	}
	if err != nil {
		s.restore()
		err = errors.Join(err, s.path.CutNatural(n))
	} else {
		s.taken = append(s.taken, taken{s.path.Step(n + 1), s.path.Transition(n + 1).From.Node})
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
	if e := s.path.System().Enabled(&f.State.State, nil); len(e) > 0 && !e[0].IsUntimed() {
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
	return s.path.AppendVaried(event, a.Vary)
}

// cut takes back all but the first n steps. The enabled events there are found again, because some
// may have been added.
func (s *Session) cut(n int) error {
	if n == s.path.Steps() {
		return nil
	}
	s.taken = s.taken[:n:n] // states that were published keep the rest
	return system.AsBug(s.path.CutNatural(n))
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
	now := s.Now()
	return now.End, now.Violation
}

func (s *Session) end() (string, *ariadne.Violation) {
	if n := s.path.Steps(); n > 0 && n == s.stuck && len(s.expected) == n {
		t := search.NewTrail(s.path.Space().Properties.Goals(), s.goal)
		for i := range n + 1 {
			t.LookAt(s.path, s.path.FrameAt(i))
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
	s.do("compare files", func() error {
		lines = s.system.Digests.Described(s.memo.Changed())
		return nil
	})
	return lines
}

// Close ends what is under way, and all nodes.
func (s *Session) Close() error {
	s.Cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		return nil
	}
	close(s.work)
	s.work = nil
	return <-s.done
}
