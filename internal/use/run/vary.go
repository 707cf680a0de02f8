package run

import (
	"context"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Case is an execution by the natural schedule, but for what is different within one step.
type Case struct {
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

// Vary executes a system once for each case, and tells done what came of it. Nothing of it is
// recorded. It ends with the first error of done, and early when ctx ends.
func Vary(ctx context.Context, s *spec.Spec, o system.Options, cases []Case, done func(n int, v *Varied) error) error {
	y, err := system.Open(ctx, s, o)
	if err != nil {
		return err
	}
	if err := record.Hide(y); err != nil {
		return err
	}
	return y.OnThread(0, func() error {
		for n := range cases {
			v, err := vary(ctx, y, cases[n])
			if err == nil {
				err = ctx.Err()
			}
			if err == nil {
				err = done(n, v)
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
	case len(v.Steps) < c.Step || v.Steps[c.Step-1].Output.Variation() != c.Vary:
		v.Doubts = append(v.Doubts, fmt.Sprintf("step %d did not make the choice %s", c.Step, c.Vary))
	}
	return v, nil
}

// natural is the natural schedule with one step varied.
type natural struct {
	strategy.Natural
	Case
}

// Next implements strategy.Explorer.
func (n *natural) Next(p *space.Path) (event int, ok bool) {
	if p.Steps() != n.Step-1 {
		return 0, true
	}
	return p.AppendVaried(0, n.Vary)
}
