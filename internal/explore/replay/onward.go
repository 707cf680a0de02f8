package replay

import (
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Onward follows the trace of a liveness violation as Loose does, and then takes the natural
// schedule until the goal is decided: the goal became true, can no longer become true, its time is
// over, or the allowed number of steps was taken. It needs each frame (Frame) and each step.
type Onward struct {
	*Loose
	// Most is how many steps are taken at most.
	Most int
	// Beyond: it goes on behind the end of a trace that it has not left.
	Beyond bool

	system *world.System
	trail  *search.Trail
	path   *space.Path
	happen bool
}

// NewOnward returns an explorer that follows t, whose violation is of one of these goals (GoalOf).
func NewOnward(y *world.System, t *trace.Trace, goals []property.Goal) (o *Onward, ok bool) {
	goal, ok := GoalOf(t.Violation, goals)
	if !ok {
		return nil, false
	}
	return &Onward{Loose: NewLoose(y, t), Most: 2 * len(t.Steps), system: y, trail: search.NewTrail(goals, goal)}, true
}

// GoalOf is which of these goals a trace's violation is about; not ok: none.
func GoalOf(v *trace.Violation, goals []property.Goal) (goal int, ok bool) {
	if v == nil || !property.IsLiveness(v.Kind) {
		return 0, false
	}
	goal = -1
	for i, g := range goals { // a name may begin as another one does
		if strings.HasPrefix(v.Message, g.Name+": ") && (goal < 0 || len(g.Name) > len(goals[goal].Name)) {
			goal = i
		}
	}
	return goal, goal >= 0
}

// Goal is the one that the trace is about.
func (o *Onward) Goal() int { return o.trail.Goal }

// Path is the execution so far.
func (o *Onward) Path() *space.Path { return o.path }

// Frame is told each frame, the first one included.
func (o *Onward) Frame(p *space.Path) {
	o.path = p
	o.trail.LookAt(p, p.Last())
}

// GoesOn implements strategy.Follower: Next says where it ends.
func (o *Onward) GoesOn(*space.Path) bool { return true }

// Next implements strategy.Explorer.
func (o *Onward) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	wanted := o.wants(f)
	past := !wanted && (o.next == len(o.want) || f.State.Now >= o.last || f.Plain == 0)
	switch {
	case !wanted && (f.Plain == 0 || o.system.IsOver(&f.State.State)):
		return 0, false
	case past && o.trail.IsLive():
		o.happen = true
		return 0, false
	case past && o.trail.IsLate(p), p.Steps() >= o.Most, !o.Beyond && past && o.left == nil && p.Steps() >= len(o.want):
		return 0, false
	}
	return o.Loose.Next(p)
}

// Violation is that of the execution at its end, or nil: what must happen has happened.
func (o *Onward) Violation() *ariadne.Violation {
	if f := o.path.Last(); o.happen || o.trail.IsLive() || o.system.IsOver(&f.State.State) && o.trail.Holds() {
		return nil
	}
	return o.trail.Violation(o.path)
}

// Complete completes the result of the execution: what it was about is judged here.
func (o *Onward) Complete(r *search.Result) {
	if r.Violation != nil && !o.system.ClientsDone(&o.path.Last().State.State) || r.End == search.EndStopped ||
		r.End == search.EndCut || r.End == search.EndFatal {
		return
	}
	if v := o.Violation(); v != nil {
		r.End, r.Violation = search.EndViolation, v
	}
}
