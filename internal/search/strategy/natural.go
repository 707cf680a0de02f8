package strategy

import "ariadne"

// Natural takes what comes first in time: every message after its latency, every
// timer when it is due.
type Natural struct{}

// Next implements Strategy.
func (Natural) Next(_, enabled []ariadne.Action) (ariadne.Action, bool) { return enabled[0], true }
