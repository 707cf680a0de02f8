package search

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// EndOf judges a path that somebody has taken step by step: why it cannot go on, as at the end
// of a path of an Exploration with this Limit, with the violation that this shows; "": it can.
// Where only housekeeping beyond the time limit can go on (world.System.IsIdle), it goes on by
// space.Path.PushNatural.
func EndOf(p *space.Path, checks func() []property.Check, limit int) (end string, v *ariadne.Violation) {
	x := &Exploration{Space: p.Space(), Checks: checks, Limit: limit}
	end, v = x.whyOver(p)
	s := &p.Last().State.State
	if end == EndTime && p.System().IsIdle(s) {
		if !p.System().IsIdleForGood(s) {
			return "", nil
		}
		end = EndQuiet
	}
	if end != EndQuiet && end != EndClients {
		return end, v
	}
	if v = x.judgePath(p, end); v != nil {
		end = EndViolation
	}
	return end, v
}
