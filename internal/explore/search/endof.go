package search

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// EndOf judges the end of a path that was taken step by step, as an Exploration with this Limit
// judges its own. It returns why the path cannot continue, with the violation that this shows, or
// "" if it can continue. Where only housekeeping beyond the time limit can go on
// (world.System.IsIdle), it goes on by space.Path.PushNatural.
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
