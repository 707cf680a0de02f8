package run

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// way is how an execution is to go.
type way struct {
	by strategy.Explorer
	// onward, when not nil, is by: its execution has no limits, and says itself what it has come
	// to.
	onward *replay.Onward
	space  *space.Space // nil: of nodes that live
	watch  func(ariadne.Step)
}

// execute executes a system once, on the thread of the goroutine.
func execute(ctx context.Context, y *system.System, w way) (a record.Attempt, err error) {
	numbers := &record.Numbers{}
	if w.space == nil { // elsewhere those without bounds are not seen
		numbers = record.NewNumbers(y.Spec)
	}
	once := func(s *space.Space) error {
		x := search.Execution{
			Space: s, Explorer: w.by, Checks: y.Checks, Limits: y.Limits(), Stopped: func() bool {
				return ctx.Err() != nil
			},
			Watch: func(s ariadne.Step) bool {
				a.Refused(s.Action.Node, s.Output.Refusals)
				w.watch(s)
				return true
			},
			Frame: func(p *space.Path) {
				numbers.Look(p)
				a.Late = max(a.Late, lateIn(p))
			},
		}
		if w.onward != nil {
			x.Limits, x.Endless = search.Limits{}, true
			look := x.Frame
			x.Frame = func(p *space.Path) {
				look(p)
				w.onward.Frame(p)
			}
		}
		a.Result, err = x.Run()
		a.Numbers = numbers.Series
		if w.onward != nil && err == nil {
			a.Walked = true
			w.onward.Complete(&a.Result)
		}
		return system.AsBug(err)
	}
	if w.space != nil {
		return a, once(w.space)
	}
	return a, y.Live(once)
}

// follow executes a system along a trace, on the thread of the goroutine. calls may be nil.
func follow(ctx context.Context, y *system.System, t *trace.Trace, calls *trace.CallReader,
	watch func(ariadne.Step)) (a record.Attempt, m *replay.Mismatch, err error) {
	numbers := record.NewNumbers(y.Spec)
	err = y.Live(func(s *space.Space) error {
		r := replay.Replay{
			Space: s, Trace: t, Checks: y.Checks, Calls: calls, CallName: y.CallName,
			Frame: func(p *space.Path) {
				numbers.Look(p)
				a.Late = max(a.Late, lateIn(p))
			},
			Stopped: func() bool { return ctx.Err() != nil },
			Watch: func(s ariadne.Step) {
				a.Refused(s.Action.Node, s.Output.Refusals)
				watch(s)
			},
		}
		a.Result, m, err = r.Run()
		a.Numbers = numbers.Series
		return system.AsBug(err)
	})
	return a, m, err
}

// lateIn is how late a message is at most, at the end of a path.
func lateIn(p *space.Path) (late ariadne.Time) {
	flight := p.Last().State.Flight
	for i := range flight {
		late = max(late, flight[i].Late())
	}
	return late
}

// Confirm replays a violation that was just found, on the thread of the goroutine. watch is
// told each step. A mismatch says that it did not happen again.
func Confirm(ctx context.Context, y *system.System, t *trace.Trace, calls []byte,
	watch func(ariadne.Step)) (record.Attempt, *replay.Mismatch, error) {
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
