package check

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Joint is a check whose work others do, by units (Do): it hands out Works and takes Results, in
// whatever order they come. Its report depends on the Results alone. It is of one goroutine.
type Joint struct {
	check  *check
	totals *coverage.Totals
	nodes  memo.Counts
	queue  []work.Work
	given  map[int]work.Work // by unit, those that were not merged yet
	units  int
	broken bool // a unit was left with work that nobody can do
}

// NewJoint begins a check of which no work was done. Of executions that have indexes a unit has
// share; of others it may take so many before it leaves the rest to further units (0: any number).
func NewJoint(ctx context.Context, s *spec.Spec, o Options, share int) (*Joint, error) {
	o.setDefaults()
	row, ok := strategy.Named(o.Search.Strategy)
	switch {
	case !ok:
		return nil, strategy.Unknown(o.Search.Strategy)
	case !row.Lives && !row.Again:
		return nil, fmt.Errorf("strategy %s cannot be divided", row.Name)
	case row.Lives && (o.Executions == 0 || share == 0):
		return nil, fmt.Errorf("strategy %s is divided by its executions: say how many", row.Name)
	case row.Asks || o.Search.Script != nil:
		return nil, fmt.Errorf("work of a script's cannot be given away")
	}
	y, err := system.Open(ctx, s, o.System)
	if err != nil {
		return nil, err
	}
	y.Rules.Delays = o.Search.Delays.Min(y.Rules.Delays)
	dir, err := openDir(&o, s)
	if err != nil {
		return nil, err
	}
	o.KeepGoing = true
	c := &check{system: y, opts: o, dir: dir, began: time.Now()}
	if err := c.start(); err != nil {
		dir.Close()
		return nil, err
	}
	j := &Joint{check: c, totals: coverage.NewTotals(len(s.Nodes), 0), given: map[int]work.Work{}}
	c.ledger.beginSearch(&record.Coverage{Strategy: o.Search.Strategy, Faults: record.NewFaults(s)}, true)
	c.ledger.countIn(j.totals, j.account)
	first := o.units(s)
	if first.Most = share; !row.Lives {
		j.queue = []work.Work{first}
		return j, nil
	}
	first.Most = 0
	for from := o.First; from < o.First+o.Executions; from += share {
		part := first
		part.Executions = work.Span{From: from, To: min(from+share, o.First+o.Executions)}
		j.queue = append(j.queue, part)
	}
	return j, nil
}

// Next is a unit of work to do; not ok: there is none now.
func (j *Joint) Next() (w work.Work, ok bool) {
	if len(j.queue) == 0 || j.check.ledger.stopped() != "" {
		return w, false
	}
	w, j.queue = j.queue[0], j.queue[1:]
	j.units++
	w.Unit = j.units
	j.given[w.Unit] = w
	return w, true
}

// Merge enters what came of a unit. One that was merged before counts once.
func (j *Joint) Merge(r *work.Result) error {
	w, ok := j.given[r.Source.Unit]
	if !ok {
		if u := r.Source.Unit; u < 1 || u > j.units {
			return fmt.Errorf("a result of unit %d, which was not given", u)
		}
		return nil
	}
	if err := w.Allows(r); err != nil {
		return err
	}
	if r.Seen != nil {
		if err := j.totals.Take(r.Seen); err != nil {
			return err
		}
	}
	j.totals.Walked(r.Executions, r.Steps)
	if r.Nodes != nil {
		j.nodes.Add(*r.Nodes)
	}
	for i := range r.Violations {
		if err := j.adopt(&r.Violations[i]); err != nil {
			return err
		}
	}
	delete(j.given, r.Source.Unit)
	for _, left := range r.Left {
		left.Unit = 0
		if slices.Equal(left.Begins, w.Begins) && left.Executions == w.Executions {
			j.broken = true // else it would be given again for ever
			continue
		}
		j.queue = append(j.queue, left)
	}
	own := *r
	own.Seen, own.Nodes, own.Left, own.Violations = nil, nil, nil, nil
	own.Explored = len(j.queue) == 0 && len(j.given) == 0 && !j.broken && w.Executions == work.Span{}
	if own.Explored {
		own.Missed = ""
		own.Stop = slices.Clone(own.Stop)
		own.Stop.Say(StopExplored)
	}
	j.check.ledger.merge(&own)
	return nil
}

// adopt takes a violation that a unit has found, unless one like it is of a lesser source.
func (j *Joint) adopt(v *work.Violation) error {
	r, err := j.check.ledger.report.ReadViolation(v.Record)
	if err != nil {
		return fmt.Errorf("a violation that is damaged: %w", err)
	}
	dir := j.check.dir.Adopted(v.By.Unit, v.Item+1)
	listed, over := j.check.ledger.adopt(r, v, dir)
	if !listed {
		return nil
	}
	if over != "" {
		if err := os.RemoveAll(over); err != nil {
			return err
		}
	}
	for _, f := range v.Files {
		if !filepath.IsLocal(f.Path) {
			return fmt.Errorf("a violation with a file %q", f.Path)
		}
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		data, err := record.Moved(f.Path, f.Data, filepath.Dir(path), j.check.system.Spec.Path)
		if err != nil {
			return err
		}
		if err := record.WriteFile(path, data); err != nil {
			return err
		}
	}
	return nil
}

// account completes a report as it is about to be saved.
func (j *Joint) account(r *record.Report) func() error {
	c := r.Coverage
	c.Nodes = j.nodes
	c.Sample, c.LocalStates = j.totals.Now(time.Since(j.check.began), c.Nodes), j.totals.Locals()
	c.StatesDigest, c.Full = j.totals.StatesDigest(), j.totals.Full()
	return nil
}

// Close returns the report.
func (j *Joint) Close(ctx context.Context) (*record.Report, error) {
	c := j.check
	defer c.dir.Close()
	if err := c.ledger.save(time.Since(c.began)); err != nil {
		return nil, err
	}
	r, err := c.closeReport(ctx)
	return c.dir.Finish(r, err)
}
