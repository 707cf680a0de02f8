// Package search decides what is executed: how one execution goes on and ends
// (execution.go), and which executions a check is made of, what they have found
// and when it is enough (plan.go). It starts no goroutine and reads no clock;
// internal/run lends it both.
//
// Invariant: an execution is a function of the world's first state and the
// strategy, so that its index and the seed are enough to make it again.
//
// Explorations search in memory (explore.go): path after path through states that are
// looked up, judged and counted.
//
// What it is not: a proof. Random walks may miss any bug; an exploration says whether
// it has seen all within its bounds.
//
// Read next: explore.go, internal/search/strategy, internal/property, internal/replay.
package search

import (
	"errors"

	"ariadne"
	"ariadne/internal/property"
	"ariadne/internal/search/strategy"
	"ariadne/internal/world"
)

// Why an execution ended.
const (
	EndClients   = "clients done"
	EndQuiet     = "nothing left to happen"
	EndSteps     = "step limit"
	EndTime      = "time limit"
	EndBounds    = "bounds of the search" // and of the path, not the limits
	EndViolation = "violation"
	EndFatal     = "a node cannot go on" // it needs what is not modelled
	EndCut       = "a step was cut off"  // by real time
	EndStrategy  = "end of the path"     // the strategy had enough
	EndStopped   = "stopped"             // from outside
)

// Limits end an execution.
type Limits struct {
	Steps int // 0: none
	// Time is the latest at which anything happens, in virtual time; 0: none.
	// Housekeeping may go on (world.System.Idle).
	Time ariadne.Time
}

// Execution is one way through the world, to be driven by Run.
type Execution struct {
	World    *world.World
	Strategy strategy.Strategy
	Checks   []property.Check
	Limits   Limits
	// Watch, when not nil, is told each step, before the checks look at it. It
	// may end the execution by saying false.
	Watch func(ariadne.Step) bool
	// Stopped, when not nil, is asked before each step.
	Stopped func() bool
}

// Result is what an execution came to.
type Result struct {
	Steps, Calls, Messages int
	Time                   ariadne.Time // latest time of an input
	End                    string
	Violation              *ariadne.Violation
	Fatal                  string         // with EndFatal: what the node said
	FatalNode              ariadne.NodeID // with EndFatal
	Cut                    string         // with EndCut: what was too long
	CutNode                ariadne.NodeID // with EndCut
	Unreplayable           bool           // some step may go differently the next time
}

// Run drives the execution to its end. An error is the tool's fault; the result
// then tells how far it came.
func (e *Execution) Run() (Result, error) {
	r := Result{}
	var path []ariadne.Action
	for r.End == "" {
		if r.End = e.over(&r); r.End != "" {
			break
		}
		a, ok := e.Strategy.Next(path, e.enabled())
		if !ok {
			r.End = EndStrategy
			break
		}
		step, err := e.World.Apply(a)
		if errors.Is(err, ariadne.ErrInterrupted) {
			r.End = EndStopped
			break
		}
		if err != nil {
			return r, err
		}
		path = append(path, a)
		e.count(&r, step)
		r.End = e.look(&r, step)
	}
	e.lookAtEnd(&r)
	return r, nil
}

// over says why there is no next step, or "".
func (e *Execution) over(r *Result) string {
	switch {
	case e.World.ClientsDone():
		return EndClients
	case len(e.World.Enabled()) == 0:
		return EndQuiet
	case e.Limits.Steps > 0 && r.Steps >= e.Limits.Steps:
		return EndSteps
	case e.Limits.Time > 0 && e.World.Next() > e.Limits.Time:
		return e.late()
	case e.Stopped != nil && e.Stopped():
		return EndStopped
	}
	return ""
}

// enabled is what can happen within the time. What is later never happens, so that no
// timer of an hour's overtakes a message and ends the execution; when nothing else is
// left, over has ended it.
func (e *Execution) enabled() []ariadne.Action {
	if e.Limits.Time == 0 || e.World.Next() > e.Limits.Time { // housekeeping goes on
		return e.World.Enabled()
	}
	return e.World.EnabledUntil(e.Limits.Time)
}

// late says why there is no next step within the time, or "": what a client waits for
// may still come of housekeeping, or it never will.
func (e *Execution) late() string {
	switch {
	case e.World.Calm(), e.World.Rests():
		return EndQuiet
	case e.World.Idle():
		return ""
	}
	return EndTime
}

func (e *Execution) count(r *Result, s ariadne.Step) {
	r.Steps++
	r.Calls += s.Output.Calls
	r.Messages += len(s.Output.Messages)
	r.Time = max(r.Time, s.At)
	r.Unreplayable = r.Unreplayable || s.Output.Unreplayable && s.Output.Cut == ""
}

// look shows a step to those who watch and says why it ends the execution, or "".
func (e *Execution) look(r *Result, s ariadne.Step) string {
	if e.Watch != nil && !e.Watch(s) {
		return EndStopped
	}
	if s.Output.Cut != "" {
		r.Cut, r.CutNode = s.Output.Cut, s.Action.Node
		return EndCut
	}
	if s.Output.Fatal != "" {
		r.Fatal, r.FatalNode = s.Output.Fatal, s.Action.Node
		return EndFatal
	}
	for _, c := range e.Checks {
		if r.Violation = c.Step(s); r.Violation != nil {
			return EndViolation
		}
	}
	return ""
}

// lookAtEnd lets the checks judge how a natural end came about.
func (e *Execution) lookAtEnd(r *Result) {
	if r.Violation != nil || r.End == EndStrategy || r.End == EndStopped || r.End == EndFatal || r.End == EndCut {
		return
	}
	for _, c := range e.Checks {
		if v := c.End(property.End{Quiet: r.End == EndQuiet, Step: r.Steps, At: r.Time}); v != nil {
			r.Violation, r.End = v, EndViolation
			return
		}
	}
}
