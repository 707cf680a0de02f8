package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// result is what the search of a target showed.
type result struct {
	Origin harness.Origin
	// for how long it was to look, and how long it has, in all its parts
	Wanted, RealTime time.Duration
	Jobs             int // workers of the last part
	// Executions ended in so many ways, and made so many transitions, in all parts.
	Executions, Transitions int
	Exhausted               bool
	Ends                    map[string]int
	Tried                   []harness.Tried
	Findings                []finding
	// why there is no verdict, and where Ariadne contradicted itself
	Doubts []string
}

// finding is a kind of violation.
type finding struct {
	harness.Seen
	// steps of the smaller execution, which came again; 0: none was found
	Shrunk int    `json:",omitzero"`
	Trace  string // the smallest, below the directory of the search
}

// had says whether a search has looked for so long, or there was nothing left to look at.
func (r *result) had(time time.Duration) bool { return r.Exhausted || r.RealTime >= time }

// search searches a target, or goes on with a search that has not had its time.
func (o *options) search(t *target) (*result, error) {
	spec := o.spec(t)
	if o.fetch {
		if err := harness.Fetch(o.ctx, spec); err != nil {
			return nil, err
		}
	}
	a := &harness.Ariadne{Binary: o.ariadne, Limit: o.patience}
	origin, err := a.Origin()
	if err != nil {
		return nil, err
	}
	before, err := harness.Kept[result](o.file(t))
	if err != nil {
		return nil, err
	}
	r := &result{Origin: origin, Wanted: o.time, Jobs: cmp.Or(o.jobs, runtime.NumCPU())}
	search, rest, more := a.Cold, o.time, []string(nil)
	if o.resume && before != nil {
		search, rest, more = a.Run, o.time-before.RealTime, []string{"--resume"}
	}
	run, err := search(o.ctx, o.dir(t), "check", spec,
		append(more, "--time", rest.String(), "--keep-going", "--shrink", o.shrink.String(), "--jobs",
			strconv.Itoa(r.Jobs))...)
	if err != nil {
		return nil, err
	}
	r.RealTime, r.Executions, r.Ends = run.RealTime, run.Executions, run.Ends
	r.Doubts = slices.Concat(run.Doubts, run.Bugs)
	if c := run.Coverage; c != nil {
		r.Transitions, r.Exhausted, r.Tried = c.Executed, c.Exhausted, c.Faults
	}
	if before != nil && o.resume {
		r.goesOn(before)
	}
	for _, v := range run.Violations {
		if o.ctx.Err() != nil { // it goes on another time
			r.Findings = append(r.Findings, finding{Seen: harness.Found(v)})
			continue
		}
		f, err := o.replay(a, t, v)
		if err != nil {
			return nil, err
		}
		r.Findings = append(r.Findings, f)
	}
	return r, nil
}

// goesOn adds what the earlier parts of the search counted of transitions, where the report does
// not have it: of a search whose nodes begin otherwise than before, since a file of the host has
// changed, what was seen counts anew.
func (r *result) goesOn(before *result) {
	if r.Transitions < before.Transitions {
		r.Transitions += before.Transitions
	}
}

// replay replays what was found, and the smaller execution.
func (o *options) replay(a *harness.Ariadne, t *target, v harness.Violation) (finding, error) {
	seen, err := a.Replay(o.ctx, o.dir(t)+"-again", v)
	f := finding{Seen: seen, Trace: v.Trace}
	if err != nil || v.Shrunk == nil {
		return f, err
	}
	v.Trace = v.Shrunk.Trace
	again, err := a.Replay(o.ctx, o.dir(t)+"-again", v)
	if f.Again = f.Again && again.Again; again.Again {
		f.Shrunk, f.Trace = again.Steps, v.Trace
	}
	return f, err
}

// length is how many steps the smallest execution has that showed it.
func (f *finding) length() int { return cmp.Or(f.Shrunk, f.Steps) }

// copyTraces copies the smallest trace of each explanation.
func (o *options) copyTraces(t *target, r *result) error {
	smallest := map[string]*finding{}
	for i := range r.Findings {
		f := &r.Findings[i]
		explanation := t.Triage.Index(f.Message)
		name := t.traceName(explanation)
		if best := smallest[name]; f.Again && explanation >= 0 && (best == nil || f.length() < best.length()) {
			smallest[name] = f
		}
	}
	for name, f := range smallest {
		err := os.MkdirAll(o.traces, 0o755)
		if err == nil {
			err = copyTrace(f.Trace, filepath.Join(o.traces, name), o.spec(t))
		}
		// else it was copied before, and the search is gone
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copyTrace copies a trace of a spec to another place, from where it names the spec by another
// relative path.
func copyTrace(from, to, spec string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	t, err := trace.Parse(b)
	if err != nil {
		return err
	}
	if t.Spec, err = filepath.Rel(filepath.Dir(to), spec); err != nil {
		return err
	}
	return os.WriteFile(to, trace.Format(t), 0o644)
}

// traceName is that of the trace of what has an explanation, from 0.
func (t *target) traceName(explanation int) string {
	return fmt.Sprintf("%s-%d.txt", strings.TrimSuffix(path.Base(t.Spec), ".yaml"), explanation+1)
}

// String is the result in one line, for the terminal.
func (r *result) String() string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("%v, %d executions, %d transitions, %d kinds of violations", r.RealTime.Round(time.Second),
		r.Executions, r.Transitions, len(r.Findings))
}

// good says whether all that a target showed is explained.
func (r *result) good(t *target) bool {
	for _, f := range r.Findings {
		if !f.Again || t.Triage.Of(f.Message) == "" {
			return false
		}
	}
	return r.had(r.Wanted) && len(r.Doubts) == 0
}
