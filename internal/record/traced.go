package record

import (
	"context"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Traced opens the system of the trace at path as it was when that was made, and says what has
// changed since. s may be nil: the spec is then read from where the trace says. The run
// directories in which the trace lies are hidden from the nodes, and so are those given.
func Traced(ctx context.Context, s *spec.Spec, path string, o system.Options, hidden ...string) (y *system.System,
	t *trace.Trace, changes []string, err error) {
	if t, s, err = system.ReadTraced(path, s); err != nil {
		return nil, nil, nil, err
	}
	if y, err = system.Traced(ctx, s, t, o); err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	// before directories are compared
	if err := Hide(y, append(RunsOf(path), hidden...)...); err != nil {
		return nil, nil, nil, err
	}
	y.RecallLists(path, t)
	return y, t, y.Changes(t), nil
}
