package run

import (
	"context"
	"fmt"
	"iter"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Case is an execution by the natural schedule, but for what is different within some steps, in
// their order.
type Case []Change

// Change is what is different within a step.
type Change struct {
	Step int // from 1
	Vary ariadne.Variation
}

// Varied is what came of a Case.
type Varied struct {
	record.Attempt
	Steps []ariadne.Step
	// Doubts say why nothing can be concluded from it; none: it can.
	Doubts []string
}

// Vary executes a system once for each case, and tells done what came of it before it asks for the
// next case. Nothing of it is recorded. It ends with the first error of done, and early when ctx
// ends.
func Vary(ctx context.Context, s *spec.Spec, o system.Options, cases iter.Seq[Case],
	done func(c Case, v *Varied) error) error {
	y, err := system.Open(ctx, s, o)
	if err != nil {
		return err
	}
	if err := record.Hide(y); err != nil {
		return err
	}
	return y.OnThread(0, func() error {
		for c := range cases {
			v, err := vary(ctx, y, c)
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = done(c, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// vary executes one case, on the thread of the goroutine.
func vary(ctx context.Context, y *system.System, c Case) (*Varied, error) {
	v := &Varied{}
	a, err := execute(ctx, y, way{by: &natural{Case: c}, watch: func(s ariadne.Step) { v.Steps = append(v.Steps, s) }})
	if err != nil {
		return nil, err
	}
	v.Attempt, v.Doubts = a, record.Doubts(&a, y.Names())
	switch {
	case a.End == search.EndTime && !y.Spec.EndsByTime, a.End == search.EndSteps:
		v.Doubts = append(v.Doubts, "the execution did not end before the "+a.End)
	}
	for _, d := range c {
		if len(v.Steps) < d.Step || v.Steps[d.Step-1].Output.Variation() != d.Vary {
			v.Doubts = append(v.Doubts, fmt.Sprintf("step %d did not make the choice %s", d.Step, d.Vary))
		}
	}
	return v, nil
}

// natural is the natural schedule with some steps varied.
type natural struct {
	strategy.Natural
	Case
}

// Next implements strategy.Explorer.
func (n *natural) Next(p *space.Path) (event int, ok bool) {
	for _, d := range n.Case {
		if d.Step == p.Steps()+1 {
			return p.AppendVaried(0, d.Vary)
		}
	}
	return 0, true
}
