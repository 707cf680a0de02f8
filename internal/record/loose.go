package record

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
)

// Loose is what came of a loose replay.
type Loose struct {
	Came  Came              `json:"came"`
	Steps int               `json:"steps"` // of the trace
	Taken int               `json:"taken"` // of these, how many were taken
	Left  *replay.Departure `json:"left,omitempty"`
	// what has changed since the trace was made
	Changed []string         `json:"changed,omitempty"`
	Wanted  *trace.Violation `json:"wanted,omitempty"` // the trace's, or nil
}

// Came says whether the violation of a trace came again.
type Came string

const (
	CameSame    Came = "the same violation"
	CameKind    Came = "the same kind of violation" // of the same node, with another message
	CameAnother Came = "another violation"
	CameNone    Came = "no violation"
	CameUnknown Came = "unknown" // the replay was interrupted, or a node could not go on
)

// String says in one line what happened.
func (l *Loose) String() string {
	text := "unknown whether the violation comes, because the execution did not reach an end"
	switch l.Came {
	case CameSame:
		text = "the violation came again"
	case CameKind:
		text = "the same kind of violation came, with another message"
	case CameAnother:
		text = "another violation came, not that of the trace"
		if l.Wanted == nil {
			text = "a violation came, where the trace has none"
		}
	case CameNone:
		text = "the violation did not come"
		if l.Wanted == nil {
			text = "no violation came, as in the trace"
		}
	}
	return fmt.Sprintf("%s (%d of the %d steps of the trace were taken)", text, l.Taken, l.Steps)
}
