// Package strategy has the ways of choosing what happens next, one file each. A
// strategy chooses and never applies: it sees the path so far and what is
// enabled, and names one. It holds no clock and no randomness but its seed's, so
// the same strategy on the same system makes the same execution.
//
// Read next: natural.go, random.go; internal/search, which obeys.
package strategy

import "ariadne"

// Strategy chooses the actions of one execution.
type Strategy interface {
	// Next chooses one of enabled, of which the first is the natural one and
	// there is at least one. path is what was applied so far. Not ok: the
	// strategy ends the execution here.
	Next(path, enabled []ariadne.Action) (a ariadne.Action, ok bool)
}

// ForExecution is the strategy of an execution of a check: the natural schedule
// comes first, then random walks. It depends on the seed and the index alone, so
// that each execution can be made again without the others.
func ForExecution(seed uint64, index int) Strategy {
	if index == 0 {
		return Natural{}
	}
	return NewRandom(seed, index)
}
