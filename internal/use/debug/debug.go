// Package debug is a debugger of whole executions: it stands behind some step of one, goes back
// and forth, and shows what nodes look like there. Its commands are lines of text, and so are its
// answers (command.go); a terminal program and scripts use the same ones.
//
// It does not reach a state by itself: a session does that (internal/use/session), from checkpoints
// that it keeps on the way. It is no terminal: it returns text.
//
// Invariants: what is shown of a step is the same at each visit. A command that fails leaves the
// debugger where it stood.
//
// Read next: command.go, state.go, core.go (core files), gdb.go (gdb's remote protocol); then
// internal/use/session.
package debug

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// Apart is how many inputs of a node lie between two of its checkpoints. A freeze takes about as
// long as a step, and to reach a state takes half as many steps on average.
const Apart = 8

// Debugger stands behind a step of an execution. It is for one goroutine.
type Debugger struct {
	session *session.Session
	names   []string // of nodes
	// known are the steps of the line that were taken at least once.
	known  []ariadne.Step
	events []causal.Event // of known; shorter while they have not been made
	kept   map[string]session.Position
	order  []string // names of kept, as they were kept
	words  causal.Words
	trace  string           // its file, or ""
	notes  map[int][]string // by step
	// looked are the origins of known steps: to find them executes the step again.
	looked map[int]*session.Origins
	breaks []breakpoint
	entry  string // the call that the command under way has come upon, or ""
	crisis int    // the critical transition of the trace; 0: it was not looked for
	// variables are those that were looked for
	variables map[named]*variable
	companion *Companion // nil: none is shown
	// the name of the line where the debugger stands, or "" of none that is kept
	branch string
}

// Options are how an execution is debugged.
type Options struct {
	System system.Options
	Memory int64 // as session.Options
	Force  bool  // debug a trace although programs or spec differ from what they were
	// Decoder is the file of a script that says what messages carry (script.Decoder), or "".
	Decoder string
}

// traceName is the branch that a trace is.
const traceName = "trace"

// OpenTrace debugs the trace at path, and stands at its end. s may be nil: the spec is then read
// from where the trace says.
func OpenTrace(ctx context.Context, s *spec.Spec, path string, o Options) (*Debugger, error) {
	e, err := session.OpenTrace(ctx, s, path,
		session.Options{System: o.System, Memory: o.Memory, Force: o.Force, Every: Apart})
	if err != nil {
		return nil, err
	}
	d, err := newDebugger(e, &o)
	if err != nil {
		return nil, err
	}
	d.trace = path
	if err := d.readNotes(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	if err := e.Go(len(e.Line())); err != nil {
		if changes := e.System().HostChanges(path); errors.As(err, new(*session.Mismatch)) && len(changes) > 0 {
			err = fmt.Errorf("%w\n%s", err, system.Listed("not as it was when the trace was made", changes))
		}
		return nil, errors.Join(err, e.Close())
	}
	d.moved(true)
	d.keep(traceName)
	return d, nil
}

// Open debugs a new execution of a spec, and stands at its beginning.
func Open(ctx context.Context, s *spec.Spec, o Options) (*Debugger, error) {
	e, err := session.Open(ctx, s, session.Options{System: o.System, Memory: o.Memory, Every: Apart})
	if err != nil {
		return nil, err
	}
	return newDebugger(e, &o)
}

// newDebugger debugs what a session executes. The session is closed if that fails.
func newDebugger(e *session.Session, o *Options) (*Debugger, error) {
	words, err := e.Words(o.Decoder)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &Debugger{session: e, words: words, names: e.System().Names(), kept: map[string]session.Position{},
		notes: map[int][]string{}, variables: map[named]*variable{},
		looked: map[int]*session.Origins{}}, nil
}

// Close ends the execution.
func (d *Debugger) Close() error { return d.session.Close() }

// Cancel ends the command that is under way. It may be called from any goroutine.
func (d *Debugger) Cancel() { d.session.Cancel() }

// Step is the number of the step behind which the debugger stands; 0: nothing has happened.
func (d *Debugger) Step() int { return d.session.Steps() }

// ViolationStep is the step that shows the violation of the branch; 0: no violation is known.
func (d *Debugger) ViolationStep() int {
	step, _, _ := d.violation()
	return step
}

// Names are those of the nodes.
func (d *Debugger) Names() []string { return d.names }

// moved notes what was found out by a move. otherwise: the line may be another one.
func (d *Debugger) moved(otherwise bool) {
	if taken := d.session.Taken(); otherwise || len(taken) > len(d.known) {
		d.known, d.events = taken, nil
		if otherwise {
			clear(d.looked)
		}
	}
}

// Events are the known steps of the line in words, also of those ahead.
func (d *Debugger) Events() []causal.Event {
	if len(d.events) != len(d.known) {
		d.events = d.inWords(d.known)
	}
	return d.events
}

func (d *Debugger) inWords(steps []ariadne.Step) []causal.Event {
	words := d.words
	return words.Events(steps)
}

// Goto goes behind a step that is known.
func (d *Debugger) Goto(step int) error {
	if step < 0 || step > len(d.known) {
		return fmt.Errorf("there is no step %d: steps 0 to %d are known", step, len(d.known))
	}
	return d.session.Go(step)
}

// forward goes so many steps on. Behind the last known one it takes what comes first in time.
func (d *Debugger) forward(steps int) error {
	target := d.Step() + steps
	if err := d.Goto(min(target, len(d.known))); err != nil {
		return err
	}
	return d.natural(target - d.Step())
}

// natural takes up to so many steps, each the event that comes first in time. The end of the
// execution is no error.
func (d *Debugger) natural(steps int) error {
	for range steps {
		choices := d.session.Enabled()
		if len(choices) == 0 {
			break
		}
		if err := d.take(choices[0].Name); err != nil {
			return err
		}
	}
	return nil
}

// take takes a step that is possible here, which makes a new line unless it is the next known one.
func (d *Debugger) take(name string) error {
	n := d.Step()
	otherwise := n < len(d.known) && d.known[n].Name != name
	if _, err := d.session.Step(name); err != nil {
		return err
	}
	if otherwise {
		d.branch = ""
	}
	d.moved(otherwise)
	return nil
}

// keep gives the place where the debugger stands, and what is known ahead of it, a name.
func (d *Debugger) keep(name string) {
	if _, ok := d.kept[name]; !ok {
		d.order = append(d.order, name)
	}
	d.kept[name], d.branch = d.session.Position(), name
}

// to goes to a branch that was kept. It stands at the step where it stood, or at the end.
func (d *Debugger) to(name string) error {
	p, ok := d.kept[name]
	if !ok {
		return fmt.Errorf("no branch is called %q: there are %s", name, strings.Join(d.order, ", "))
	}
	if err := d.session.Return(p); err != nil {
		return err
	}
	d.moved(true)
	d.branch = name
	return nil
}

// violation is the step that shows the violation of the execution or of its trace.
func (d *Debugger) violation() (step int, text string, ok bool) {
	if _, v := d.session.End(); v != nil {
		return min(max(v.Step, 0), len(d.known)), v.Message, true
	}
	if t := d.session.Trace(); t != nil && t.Violation != nil && d.branch == traceName {
		return min(max(t.Violation.Step, 0), len(d.known)), t.Violation.Message, true
	}
	return 0, "", false
}

// node finds a node by its name.
func (d *Debugger) node(name string) (ariadne.NodeID, error) {
	i := slices.Index(d.names, name)
	if i < 0 {
		return 0, fmt.Errorf("no node is called %q: there are %s", name, strings.Join(d.names, ", "))
	}
	return ariadne.NodeID(i), nil
}
