package ariadne

import "errors"

// Errors of automata that can be copied.
var (
	// ErrNotFreezable is wrapped in the reason why an automaton cannot be frozen now. Its
	// state is then reached by replaying its inputs.
	ErrNotFreezable = errors.New("node cannot be frozen")

	// ErrLost is wrapped in the reason why an automaton cannot go on from its state: other
	// copies of it, that ran since, have done something that cannot be undone. Nothing
	// has happened to its state, which is reached from an earlier checkpoint or the node's start.
	ErrLost = errors.New("state cannot be brought back")
)
