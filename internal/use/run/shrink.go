package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// SizeOf is the size of a trace of a system, in which a message is so late at most.
func SizeOf(y *system.System, t *trace.Trace, late ariadne.Time) record.Size {
	n := y.World().Names()
	s := record.Size{Steps: len(t.Steps), Late: late}
	for _, d := range replay.Deviations(t, n) {
		if d.Fault(t, n) {
			s.Faults++
		} else {
			s.Deviations++
		}
	}
	for i := range t.Steps {
		s.Lost += t.Steps[i].LostOperations()
	}
	return s
}

// Shrunk is a smaller execution that ends in the same violation.
type Shrunk struct {
	Trace    *trace.Trace
	Attempt  record.Attempt
	Calls    []byte // the file of its calls
	Used     system.Used
	From, To record.Size
	Tried    int // executions
	// Path is the execution, of which goal Goal is not live at its end, if the violation is of that
	// kind; else nil.
	Path *space.Path
	Goal int
}

// Shrinking is how to look for smaller executions.
type Shrinking struct {
	Limit time.Duration // of real time
	// Late is how late a message is at most in the execution that is to be shrunk.
	Late ariadne.Time
	// Space, when not nil, is that of frozen nodes: what executions have in common is then done
	// once. The goroutine's thread is the place of these nodes.
	Space *space.Space
	// Critical, when not 0, is the step of the trace behind which what must happen can happen no
	// more: that it then goes on by the natural schedule is tried first.
	Critical int
	// Bound is how many steps behind it are enough to suspect that; with Critical.
	Bound int
	// IsDead is asked of a smaller execution in which something has not happened yet that must, and
	// may be nil where no violation is of that kind. It reports whether no execution that begins so
	// is live.
	IsDead func(ctx context.Context, p *space.Path, goal int) (bool, error)
}

// Shrink looks for executions that end in the violation of a trace and cost less (record.Size), by
// leaving out some of its deviations (delta debugging), until none can be left out, and by having
// losses of power leave more, until the time is up. It tries before with messages that are less
// late, and where many deviations remain, whether one fault in their place does the same. nil:
// there is none. It works on the thread of the goroutine.
func Shrink(ctx context.Context, y *system.System, t *trace.Trace, o Shrinking) (*Shrunk, error) {
	s := shrinking{Shrinking: o, system: y, wanted: t, trace: t, size: SizeOf(y, t, o.Late),
		until: time.Now().Add(o.Limit)}
	s.from = s.size
	ctx, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	for _, step := range []func(context.Context) error{s.sooner, s.all, s.oneFault} {
		err := step(ctx)
		if errors.Is(err, ariadne.ErrInterrupted) { // the nodes' time was up before
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if s.best == nil {
		return nil, nil
	}
	s.best.From, s.best.To, s.best.Tried = s.from, s.size, s.tried
	return s.best, nil
}

type shrinking struct {
	Shrinking
	system     *system.System
	wanted     *trace.Trace // what is to be shrunk
	trace      *trace.Trace // the smallest so far
	size, from record.Size
	until      time.Time
	tried      int
	best       *Shrunk
	// fewer: what was tried last has fewer faults, and is no smaller for its other deviations.
	fewer  bool
	images []image // of the execution that was tried last
}

// image is which of some images a loss of power leaves.
type image struct {
	step  int // index in the trace
	place ariadne.Place
}

// all leaves out ever smaller parts of the deviations, the larger ones first.
func (s *shrinking) all(ctx context.Context) error {
	names := s.system.World().Names()
	deviations := replay.Deviations(s.trace, names)
	if s.Critical > 0 && s.Critical < len(s.trace.Steps) {
		less := *s.trace
		less.Steps = less.Steps[:s.Critical]
		if _, err := s.try(ctx, &less); err != nil || ctx.Err() != nil {
			return err
		}
		deviations = replay.Deviations(s.trace, names)
	}
	for part := len(deviations); part > 0; {
		better := false
		for from := 0; from < len(deviations) && !better; from += part {
			some := deviations[from:min(from+part, len(deviations))]
			ways := []bool{false}
			if slices.ContainsFunc(some, func(d replay.Deviation) bool { return d.Arrives(s.trace, names) }) {
				ways = append(ways, true)
			}
			for _, early := range ways {
				var err error
				if better, err = s.without(ctx, some, early); err != nil || ctx.Err() != nil {
					return err
				}
				if better {
					break
				}
			}
		}
		if !better {
			part /= 2
			continue
		}
		deviations = replay.Deviations(s.trace, names)
		part = min(part, len(deviations))
	}
	return s.loseLess(ctx)
}

// without leaves out some deviations. Without a fault other events may then be late: messages that
// a partition has lost never arrive in the trace, and those that it has held back arrive late
// there. So in a second execution nothing counts that the trace has behind the last deviation that
// is left.
func (s *shrinking) without(ctx context.Context, some []replay.Deviation, early bool) (better bool, err error) {
	names := s.system.World().Names()
	less := replay.Without(s.trace, names, some, early)
	better, err = s.try(ctx, less)
	if better || err != nil || !s.fewer || ctx.Err() != nil {
		return better, err
	}
	last := 0
	for _, d := range replay.Deviations(less, names) {
		last = max(last, d.Step())
	}
	less.Steps = less.Steps[:last]
	return s.try(ctx, less)
}

// loseLess tries what else losses of power may leave, as long as more than one operation is lost.
func (s *shrinking) loseLess(ctx context.Context) error {
	if s.size.Lost < 2 {
		return nil
	}
	if _, err := s.try(ctx, s.trace); err != nil || ctx.Err() != nil { // which images there are
		return err
	}
	for _, i := range s.images {
		for _, other := range i.place.Alternatives {
			if i.step >= len(s.trace.Steps) || s.trace.Steps[i.step].LostOperations() < 2 {
				break
			}
			less := replay.WithImage(s.trace, s.system.World().Names(), i.step,
				ariadne.Choice{Alternative: other, Place: i.place.Name})
			if _, err := s.try(ctx, less); err != nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return nil
}

// try follows a trace, and keeps what comes of it if that is smaller.
func (s *shrinking) try(ctx context.Context, less *trace.Trace) (better bool, err error) {
	l, w := looseWay(s.system, less)
	l.Edited = true
	return s.follow(ctx, w, l.Watch)
}

// follow executes the system, and keeps what comes of it if that is smaller. watch may be nil.
func (s *shrinking) follow(ctx context.Context, w way, watch func(ariadne.Step)) (better bool, err error) {
	tape, steps := record.NewTape(s.system.Digests), []trace.Step(nil)
	w.space = s.Space
	s.images, s.fewer = nil, false
	at := 0
	w.watch = func(step ariadne.Step) {
		for _, p := range step.Output.Places {
			if p.Kind() == ariadne.DiskImage {
				s.images = append(s.images, image{at, p})
			}
		}
		at++
		if watch != nil {
			watch(step)
		}
		if s.Space == nil {
			tape.Step(step)
		} else { // of which no calls are known
			steps = append(steps, trace.NewStep(step))
		}
	}
	goOn(w, s.wanted)
	if w.onward != nil && s.Critical > 0 && s.wanted.Violation.Kind == property.Suspected {
		w.onward.Most = min(w.onward.Most, s.Critical+s.Bound)
	}
	a, err := execute(ctx, s.system, w)
	s.tried++
	if errors.Is(err, memo.ErrElsewhere) {
		return false, nil // a fault within a step no longer has its place there
	}
	if err != nil || a.End != search.EndViolation || !alike(a.Violation, s.wanted.Violation, s.system) {
		return false, err
	}
	if s.Space != nil {
		tape = record.TapeOf(s.system.Digests, steps)
	}
	t, calls := tape.End(s.wanted.Header, &a.Result, s.system.Names())
	size := SizeOf(s.system, t, a.Late)
	if !size.Less(s.size) {
		s.fewer = size.Faults < s.size.Faults && size.Deviations > 0
		return false, nil
	}
	if a.Violation.Kind == property.Suspected {
		if dead, err := s.IsDead(ctx, w.onward.Path(), w.onward.Goal()); !dead || err != nil || ctx.Err() != nil {
			return false, err
		}
	}
	s.trace, s.size = t, size
	s.best = &Shrunk{Trace: t, Attempt: a, Calls: calls, Used: tape.Used}
	if w.onward != nil {
		s.best.Path, s.best.Goal = w.onward.Path(), w.onward.Goal()
	}
	return true, nil
}

// goOn says how far a way goes on behind what it follows, to see whether something happens that
// does not in a trace.
func goOn(w way, wanted *trace.Trace) {
	if w.onward == nil {
		return
	}
	w.onward.Beyond, w.onward.Most = true, 2*len(wanted.Steps)
	if wanted.Violation.Kind == property.Suspected {
		w.onward.Most = len(wanted.Steps) // which was enough to suspect it
	}
}

// alike reports whether a violation is that of a trace: of the same kind and node, with the same
// message but for its numbers, or of the same property.
func alike(v *ariadne.Violation, want *trace.Violation, y *system.System) bool {
	node := ""
	if v.Node != ariadne.NoNode {
		node = y.Names()[v.Node]
	}
	return v.Kind == want.Kind && node == want.Node &&
		property.Masked(v.Kind, v.Message) == property.Masked(want.Kind, want.Message)
}
