package check

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// unit is a unit of work that a check does for somebody else, who keeps the account (Joint).
type unit struct {
	work  *work.Work
	check *check

	mu     sync.Mutex // of all below
	follow []string   // what can follow the beginning of its paths; nil: none has come so far
}

// DoWork does a unit of work. The work, and not o, says how to search. Units share o.System, and
// the directory in which o.Out lies.
func DoWork(ctx context.Context, s *spec.Spec, o Options, w *work.Work) (*work.Result, error) {
	row, ok := strategy.Named(w.Strategy)
	if !ok {
		return nil, strategy.Unknown(w.Strategy)
	}
	if err := checkWork(s, w); err != nil {
		return nil, err
	}
	u := &unit{work: w}
	o.unit, o.KeepGoing, o.Resume, o.First, o.Executions = u, true, false, 0, w.Most
	if row.Lives {
		o.First, o.Executions = w.Executions.From, w.Executions.To-w.Executions.From
	}
	b, m := &w.Bounds, &o.Search
	o.Depth, m.Strategy, m.Fresh = b.Depth, w.Strategy, true
	m.Deviations, m.Timers, m.Deliveries, m.Delays, m.Backtracks, m.Branch = b.Deviations, b.Timers, b.Deliveries,
		b.Delays, b.Backtracks, b.Branch
	r, err := Check(ctx, s, o)
	if err != nil {
		return nil, err
	}
	return u.result(r, row)
}

// checkWork says why work is not of a spec, or nil.
func checkWork(s *spec.Spec, w *work.Work) error {
	switch {
	case w.Spec != s.Digest:
		return fmt.Errorf("%s is not the spec of the work", s.Path)
	case w.Seed != s.Seed:
		return fmt.Errorf("the work has seed %d, and the spec %d", w.Seed, s.Seed)
	case w.Properties != s.Properties.Digest:
		return fmt.Errorf("the work has other properties than %s", s.Path)
	case w.Faults != s.Budgets():
		return fmt.Errorf("the work has other budgets of faults than %s: %s, not %s", s.Path, w.Faults, s.Budgets())
	}
	return nil
}

// watch sees what can follow the beginning of its paths.
func (u *unit) watch(p *space.Path) {
	if p.Approaching() || p.Len() != len(u.work.Begins) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.follow == nil {
		u.follow = p.NextNames()
	}
}

// result is what came of the unit, whose check has ended with a report.
func (u *unit) result(r *record.Report, row strategy.Row) (*work.Result, error) {
	c := u.check
	sum := c.ledger.given
	sum.Source = work.Source{Unit: u.work.Unit}
	sum.Seen, sum.Nodes = c.totals.Load().Sightings(), &r.Coverage.Nodes
	last := &work.Result{}
	last.Doubts.Say(c.system.Doubts()...)
	last.Notes.Say(c.system.Notes()...)
	for i, v := range r.Violations {
		files, err := filesOf(v.Dir)
		if err != nil {
			return nil, err
		}
		v.Move(v.Dir, "")
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		last.Violations = append(last.Violations, work.Violation{Item: i, Record: data, Files: files})
	}
	last.Of(work.Source{Unit: u.work.Unit, Worker: c.opts.Workers})
	var stop work.Remarks
	for _, why := range sum.Stop {
		switch why.Text {
		// what the unit is about, and not all work
		case StopExplored, StopExploredAtTimes, StopNowhere, stopPaths:
		default:
			stop = append(stop, why)
		}
	}
	if sum.Stop = stop; !row.Lives { // the unit's own indexes say nothing to others
		sum.Ended = nil
	}
	sum.Add(last)
	if sum.Explored = r.Coverage.Exhausted; !sum.Explored {
		sum.Left = u.workLeft(sum, row)
	}
	return sum, nil
}

// workLeft is what is left to do.
func (u *unit) workLeft(r *work.Result, row strategy.Row) []work.Work {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case row.Lives:
		return u.work.Without(r.Ended)
	case !row.Again: // it takes paths by chance
		return nil
	case u.follow == nil:
		return []work.Work{*u.work}
	}
	return u.work.Then(u.follow)
}

// filesOf are the files in a directory and below.
func filesOf(dir string) (all []work.File, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		all = append(all, work.File{Path: name, Data: data})
		return err
	})
	return all, err
}

// units are the works of a search that is divided.
func (o *Options) units(s *spec.Spec) work.Work {
	m := &o.Search
	return work.Work{
		Spec: s.Digest, Properties: s.Properties.Digest, Faults: s.Budgets(), Strategy: m.Strategy, Seed: s.Seed,
		Bounds: work.Bounds{Depth: o.Depth, Deviations: m.Deviations, Timers: m.Timers, Deliveries: m.Deliveries,
			Delays: m.Delays, Backtracks: m.Backtracks, Branch: m.Branch},
	}
}
