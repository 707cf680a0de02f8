package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/run"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// undo says what comes of the trace without each of its deviations, and looks for the nearest
// execution that ends well, until the time is up.
func (x *explanation) undo(ctx context.Context, limit time.Duration) error {
	names := x.system.World().Names()
	for _, d := range replay.Deviations(x.trace, names) {
		x.Deviations = append(x.Deviations, x.deviation(d))
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if limit > 0 && property.IsLiveness(x.trace.Violation.Kind) {
		x.tell(Progress{Next: "walks that look for the critical transition"})
		goal, err := x.session.Critical(ctx, session.Hunt{Time: limit / 2})
		if err != nil && ctx.Err() == nil {
			return err
		}
		x.Goal = goal
	}
	if ok, err := x.control(ctx); !ok || err != nil {
		return err
	}
	for _, i := range x.order() {
		d := &x.Deviations[i]
		f, err := x.without(ctx, []replay.Deviation{d.deviation})
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		d.followed, d.Came, d.Result = f, f.Came, result(f)
	}
	slices.SortStableFunc(x.Deviations, func(a, b Deviation) int { return cmp.Compare(a.Step, b.Step) })
	for i := range x.Deviations {
		if x.Deviations[i].Came == notTried {
			x.Untried++
		}
	}
	return x.nearest(ctx)
}

// control follows the trace loosely with all of its deviations. Where that does not come to the
// violation, what comes without one of them would say nothing of it, so none is undone.
func (x *explanation) control(ctx context.Context) (ok bool, err error) {
	if len(x.Deviations) == 0 {
		return true, nil
	}
	f, err := x.without(ctx, nil)
	if f == nil || err != nil || f.Came == record.CameSame {
		return err == nil, err
	}
	for i := range x.Deviations {
		d := &x.Deviations[i]
		d.Came, d.Result = record.CameUnknown, "could not be tried: the trace with all of them, followed loosely, does not come to the violation"
	}
	x.Nearest = "none is known: the trace followed loosely does not come to the violation"
	return false, nil
}

// deviation is one in words.
func (x *explanation) deviation(d replay.Deviation) Deviation {
	e := &x.events[d.Step()-1]
	step := x.trace.Steps[d.Step()-1]
	k := Deviation{Step: d.Step(), At: step.At, Kind: kindOf(d), Came: notTried, Result: "not tried: the time was up",
		deviation: d}
	switch {
	case d.Late():
		k.Text = "behind what was due later: " + place(e) + e.Text
		if e.Late > 0 {
			k.Text = fmt.Sprintf("%v late: %s%s", e.Late.Round(time.Microsecond), place(e), e.Text)
		}
	case d.Varied():
		for _, o := range e.Outcomes {
			if o.Kind == "choice" {
				k.Text = strings.TrimPrefix(k.Text+", "+o.Text, ", ")
			}
		}
		k.Text = e.Node + ": " + k.Text
	default:
		k.Text = e.Text
	}
	return k
}

// order are the deviations in that in which they are tried: faults, what went otherwise within a
// step, then what was late, the latest first.
func (x *explanation) order() (all []int) {
	for i := range x.Deviations {
		all = append(all, i)
	}
	weight := func(i int) time.Duration {
		d := &x.Deviations[i]
		if d.Kind != "late" {
			return time.Duration(1<<62) - time.Duration(i)
		}
		return x.events[d.Step-1].Late
	}
	slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(weight(j), weight(i)) })
	return all
}

// without is what comes of the trace without some deviations; nil: there is no time.
func (x *explanation) without(ctx context.Context, some []replay.Deviation) (*run.Followed, error) {
	if ctx.Err() != nil {
		return nil, nil
	}
	next := "the trace with all of its deviations"
	switch {
	case len(some) == 1:
		next = fmt.Sprintf("without the deviation of step %d", some[0].Step())
	case len(some) > 1:
		next = fmt.Sprintf("without %d deviations", len(some))
	}
	x.tell(Progress{Tried: x.Tried, Next: next})
	f, err := x.session.FollowWithout(ctx, some)
	if ctx.Err() != nil && (err != nil || f.Came == record.CameUnknown) {
		return nil, nil // it was cut off
	}
	if err != nil {
		return nil, err
	}
	x.Tried++
	return f, nil
}

// result says what came of an execution.
func result(f *run.Followed) string {
	switch f.Came {
	case record.CameSame:
		return "same violation"
	case record.CameAnother:
		return fmt.Sprintf("another violation: %s: %s", f.Violation.Kind, f.Violation.Message)
	case record.CameNone:
		return "passes: " + end(f)
	}
	return "could not be tried: " + f.Why
}

// end says how an execution ended that has no violation.
func end(f *run.Followed) string {
	switch f.End {
	case search.EndClients:
		return "the clients were done"
	case search.EndTime:
		return "nothing wrong until the time limit"
	case search.EndSteps:
		return "nothing wrong until the step limit"
	case search.EndStrategy:
		return "what must happen happens"
	}
	return f.End
}

// nearest chooses among the executions that end well the one that begins longest like the trace's.
// Where none of a single deviation ends well, it undoes the smallest set that does, of those that
// are found by leaving out ever smaller parts (delta debugging).
func (x *explanation) nearest(ctx context.Context) error {
	var undone []replay.Deviation
	best := -1
	for i := range x.Deviations {
		d := &x.Deviations[i]
		if d.Came != record.CameNone {
			continue
		}
		if n := x.common(d.followed); n > best {
			best, x.good, undone = n, d.followed, []replay.Deviation{d.deviation}
		}
	}
	smallest := x.good != nil
	if x.good == nil && len(x.Deviations) > 1 {
		var err error
		if undone, smallest, err = x.several(ctx); err != nil {
			return err
		}
	}
	switch {
	case x.good != nil:
		x.Parting = &Parting{Smallest: smallest, Common: x.common(x.good), End: result(x.good)}
		for _, d := range undone {
			x.Parting.Undone = append(x.Parting.Undone, d.Step())
		}
	case len(x.Deviations) == 0:
		x.Nearest = "the execution is that of the natural schedule: there is nothing to undo"
	case ctx.Err() != nil:
		x.Nearest = "none was found before the time was up: give it more by --time"
	case slices.ContainsFunc(x.Deviations, func(d Deviation) bool { return d.Came == record.CameUnknown }):
		x.Nearest = "none was found, and some deviations could not be undone"
	default:
		x.Nearest = "none was found: without the deviations the violation comes too, or another one"
	}
	return nil
}

// several looks for the smallest set of deviations without which the trace ends well.
func (x *explanation) several(ctx context.Context) (undone []replay.Deviation, smallest bool, err error) {
	for i := range x.Deviations {
		undone = append(undone, x.Deviations[i].deviation)
	}
	passes := func(some []replay.Deviation) (bool, error) {
		f, err := x.without(ctx, some)
		if f == nil || err != nil || f.Came != record.CameNone {
			return false, err
		}
		x.good = f
		return true, nil
	}
	if ok, err := passes(undone); !ok || err != nil {
		return nil, false, err
	}
	for part := max(1, len(undone)/2); ; part /= 2 {
		for from := 0; from < len(undone) && len(undone) > 1; {
			less := slices.Concat(undone[:from], undone[min(from+part, len(undone)):])
			if len(less) == 0 {
				break
			}
			ok, err := passes(less)
			switch {
			case err != nil:
				return nil, false, err
			case ctx.Err() != nil:
				return undone, false, nil
			case ok:
				undone = less
			default:
				from += part
			}
		}
		if part <= 1 {
			return undone, true, nil
		}
	}
}

// common is how many steps an execution begins with that are the trace's.
func (x *explanation) common(f *run.Followed) (n int) {
	steps := x.graph.Steps()
	for n < min(len(steps), len(f.Steps)) && same(&steps[n], &f.Steps[n]) {
		n++
	}
	return n
}

func same(a, b *ariadne.Step) bool {
	return a.Name == b.Name && a.At == b.At && a.Output.Digest == b.Output.Digest
}

// mostParting is how many steps are shown of each execution behind where they part.
const mostParting = 6

// part says what comes in both executions where they part.
func (x *explanation) part() {
	if x.Parting == nil {
		return
	}
	x.Parting.Here = telling(x.events[x.Parting.Common:])
	x.Parting.There = telling(x.words.Events(x.good.Steps)[x.Parting.Common:])
}

// telling are the first steps of some of which something comes: data, an outcome, a fault.
func telling(events []causal.Event) (all []causal.Event) {
	for i := range events {
		if e := &events[i]; i == 0 || e.Protocol != "" || len(e.Outcomes) > 0 || e.Kind == "fault" ||
			e.Kind == "start" {
			if all = append(all, *e); len(all) == mostParting {
				break
			}
		}
	}
	return all
}
