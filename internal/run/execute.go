package run

import (
	"bytes"
	"context"
	"fmt"

	"ariadne"
	"ariadne/internal/record"
	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/system"
	"ariadne/internal/trace"
)

// execute executes a system once, on the thread of the goroutine. watch is told each step.
func execute(ctx context.Context, y *system.System, by strategy.Explorer, watch func(ariadne.Step)) (a record.Attempt, err error) {
	err = y.Live(func(s *space.Space) error {
		x := search.Execution{
			Space: s, Explorer: by, Checks: y.Checks, Limits: y.Limits(), Stopped: func() bool { return ctx.Err() != nil },
			Watch: func(s ariadne.Step) bool {
				a.Refused(s.Action.Node, s.Output.Refusals)
				watch(s)
				return true
			},
		}
		a.Result, err = x.Run()
		return system.AsBug(err)
	})
	return a, err
}

// follow executes a system along a trace, on the thread of the goroutine. calls may be nil.
func follow(ctx context.Context, y *system.System, t *trace.Trace, calls *trace.CallReader, watch func(ariadne.Step)) (a record.Attempt, m *replay.Mismatch, err error) {
	err = y.Live(func(s *space.Space) error {
		r := replay.Replay{
			Space: s, Trace: t, Checks: y.Checks, Calls: calls, CallName: y.CallName,
			Stopped: func() bool { return ctx.Err() != nil },
			Watch: func(s ariadne.Step) {
				a.Refused(s.Action.Node, s.Output.Refusals)
				watch(s)
			},
		}
		a.Result, m, err = r.Run()
		return system.AsBug(err)
	})
	return a, m, err
}

// Confirm replays a violation that was just found, on the thread of the goroutine. watch is
// told each step. A mismatch says that it did not happen again.
func Confirm(ctx context.Context, y *system.System, t *trace.Trace, calls []byte, watch func(ariadne.Step)) (record.Attempt, *replay.Mismatch, error) {
	reader, err := trace.NewCallReader(bytes.NewReader(calls))
	if err != nil {
		return record.Attempt{}, nil, system.Bug{Err: err}
	}
	return follow(ctx, y, t, reader, watch)
}

// UnconfirmedText says of the violation of a trace that it did not happen again.
func UnconfirmedText(t *trace.Trace, m *replay.Mismatch) string {
	v := t.Violation
	return fmt.Sprintf("a violation in execution %d did not happen again when it was replayed: %s of %s at step %d: %s\n%s",
		t.Execution, v.Kind, v.Node, v.Step, v.Message, m)
}
