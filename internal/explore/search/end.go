package search

import "github.com/ariadne-mc/ariadne"

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
	EndSeen      = "known state"         // a path came to one, and went no further
)

// Result is what an execution came to.
type Result struct {
	Steps, Calls, Messages int
	Time                   ariadne.Time // latest time of an input
	End                    string
	Violation              *ariadne.Violation
	Fatal                  string             // with EndFatal: what the node said
	FatalNode              ariadne.NodeID     // with EndFatal
	Cut                    string             // with EndCut: what was too long
	CutNode                ariadne.NodeID     // with EndCut
	CutAt                  *ariadne.CodePoint // with EndCut: where, or nil
	Unreplayable           bool               // some step may go differently the next time
}

// CountStep adds a step.
func (r *Result) CountStep(s ariadne.Step) {
	r.Steps++
	r.Calls += s.Output.Calls
	r.Messages += len(s.Output.Messages)
	r.Time = max(r.Time, s.At)
	r.Unreplayable = r.Unreplayable || s.Output.Unreplayable && s.Output.Cut == ""
	switch {
	case s.Output.Cut != "":
		r.Cut, r.CutAt, r.CutNode = s.Output.Cut, s.Output.CutAt, s.Action.Node
	case s.Output.Fatal != "":
		r.Fatal, r.FatalNode = s.Output.Fatal, s.Action.Node
	}
}
