//go:build linux

package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// Options say how a stack is checked.
type Options struct {
	Spec    *Spec
	Workers int
	Temp    string // an empty directory
	// Executions is how many there are at most, or 0.
	Executions int
	// Time is after how long no further execution begins, or 0.
	Time time.Duration
	// Replay is a recorded execution that is judged in the place of others, or nil.
	Replay *Trace
	// Progress, when not nil, is told now and then. It must not keep what it is told.
	Progress func(*Report)
	Pause    time.Duration
}

// Report is what came of a check.
type Report struct {
	Name       string `json:"spec"`
	Executions int    `json:"executions"`
	// Planned is how many executions there are in all, or 0 if that is not known.
	Planned int `json:"planned,omitempty"`
	// executions that ended early, at a known signature
	Equal    int `json:"equal_signatures,omitempty"`
	Requests int `json:"requests"`
	// Faulty are executions in which a request fails. FaultsTold are those of them in which the
	// workload ended with an error.
	Faulty     int `json:"executions_with_faults,omitempty"`
	FaultsTold int `json:"faults_told,omitempty"`
	// FaultsMissed are executions that made fewer requests than the one without a fault, so that
	// theirs did not happen.
	FaultsMissed int `json:"faults_missed,omitempty"`
	// Noticed is how many images passed because after a silent fault a layer refuses to work, or a
	// file cannot be read.
	Noticed int `json:"noticed,omitempty"`
	// FaultsLeftOut is how many requests were not made to fail.
	FaultsLeftOut int `json:"faults_left_out,omitempty"`
	Flushes       int `json:"flushes"`
	Points        int `json:"points"` // at which images were formed
	Images        int `json:"images"` // formed
	// Checked is how many images were recovered and examined; no two of one execution are equal.
	Checked int `json:"checked"`
	// During is how many of Checked are of power lost during the recovery.
	During    int `json:"during_recovery,omitempty"`
	Passed    int `json:"passed"`
	Failed    int `json:"failed"`
	Undecided int `json:"undecided,omitempty"`
	// LeftOut is how many subsets of requests were not formed.
	LeftOut float64 `json:"left_out"`
	Groups  []Group `json:"groups,omitempty"`
	// Without are checks without one of the layers, of a stack that fails.
	Without []Without `json:"without,omitempty"`
	// Undecidable is why the first undecided image is so.
	Undecidable string `json:"first_undecided,omitempty"`
	// Calls are failures of the workload itself: calls that differ from what they must do.
	Calls []string `json:"calls,omitempty"`
	// Stopped says why the check ended before all was done, or is empty.
	Stopped string `json:"stopped,omitempty"`
	// Pointed says that images were formed only where the workload wrote "crash now".
	Pointed bool `json:"pointed,omitempty"`

	RealTime time.Duration `json:"real_time_ns"`
	Judging  time.Duration `json:"judging_ns"` // forming, recovering and examining images
}

// judge is a check that is under way.
type judge struct {
	Options
	*Report
	subject subject
	// recorder executes workloads. Those in free recover images.
	recorder *stack.Worker
	free     chan *stack.Worker
	workers  []*stack.Worker // all of them
	starting sync.Mutex      // of workers
	base     []*block.Disk
	began    time.Time
	shown    time.Time
	groups   map[string]*Group
	// signatures are those seen.
	signatures map[string]signed
}

// Check checks a stack, and if it fails, the stack without layers. When ctx ends, it returns what
// it has, and the error of ctx.
func Check(ctx context.Context, o Options) (*Report, error) {
	r, err := checkStack(ctx, o)
	if err == nil && o.Replay == nil && len(r.Groups) > 0 {
		err = r.blameLayers(ctx, o)
	}
	return r, err
}

// checkStack is Check for a stack as it is.
func checkStack(ctx context.Context, o Options) (*Report, error) {
	j := &judge{Options: o, Report: &Report{Name: o.Spec.Name}, began: time.Now(), groups: map[string]*Group{},
		signatures: map[string]signed{}}
	j.subject = commands{o.Spec}
	if o.Spec.Files != nil {
		j.subject = newFiles(o.Spec)
	}
	defer j.close()
	err := j.start()
	if err == nil && o.Replay != nil {
		err = j.replay(ctx)
	} else if err == nil {
		err = j.check(ctx)
	}
	j.finish()
	return j.Report, err
}

// start starts the workers.
func (j *judge) start() (err error) {
	if j.recorder, err = j.startWorker(true); err != nil {
		return err
	}
	j.free = make(chan *stack.Worker, j.Workers)
	for range j.Workers {
		w, err := j.startWorker(j.Spec.Recovery)
		if err != nil {
			return err
		}
		j.free <- w
	}
	return nil
}

// replace ends a worker that hangs, and has another one recover images.
func (j *judge) replace(hangs *stack.Worker) error {
	hangs.Close()
	w, err := j.startWorker(j.Spec.Recovery)
	if err != nil {
		return err
	}
	j.free <- w
	return nil
}

// startWorker starts one worker. flushes: those of its devices are logged.
func (j *judge) startWorker(flushes bool) (*stack.Worker, error) {
	j.starting.Lock()
	defer j.starting.Unlock()
	dir := filepath.Join(j.Temp, fmt.Sprint("stack-", len(j.workers)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	w, err := stack.Start(&j.Spec.Config, dir, flushes)
	if err == nil {
		j.workers = append(j.workers, w)
	}
	return w, err
}

// close ends the workers. None of them works.
func (j *judge) close() {
	for _, w := range j.workers {
		w.Close()
	}
}

// check executes and judges workloads.
func (j *judge) check(ctx context.Context) error {
	if err := j.prepare(ctx); err != nil {
		return err
	}
	plans := j.subject.plans()
	if j.Planned = plans.total(); len(j.Spec.Faults) > 0 {
		j.Planned, plans = 0, &faulty{plans: plans, judge: j}
	}
	for {
		p := plans.next()
		switch {
		case p == nil && j.Report.Executions == 0:
			return errors.New("no workload is left: files: without leaves out too many calls, or one_in is too great")
		case p == nil:
			return nil
		case j.Options.Executions > 0 && j.Report.Executions >= j.Options.Executions:
			j.Stopped = fmt.Sprintf("after %d executions (--executions)", j.Report.Executions)
			return nil
		case j.Time > 0 && time.Since(j.began) > j.Time:
			j.Stopped = fmt.Sprintf("after %v (--time)", j.Time)
			return nil
		}
		e, err := j.execute(ctx, p)
		if err != nil {
			return err
		}
		j.Report.Executions++
		plans.done(p)
		if err := j.judge(ctx, e); err != nil {
			return err
		}
	}
}

// prepare makes the stack, and what the checker wants to be there first.
func (j *judge) prepare(ctx context.Context) error {
	for _, size := range j.Spec.Devices() {
		d, err := block.NewDisk(size)
		if err != nil {
			return err
		}
		j.base = append(j.base, d)
	}
	w := j.recorder
	nodes := w.Serve(j.base, nil, false)
	defer w.Drop(nodes)
	steps := []stack.Step{{Kind: stack.Make, Nodes: nodes}}
	steps = append(steps, j.subject.setup()...)
	steps = append(steps, stack.Step{Kind: stack.Unmount, Always: true})
	results, err := w.Do(ctx, steps, limitOf(steps, &j.Spec.Config))
	if err != nil {
		return err
	}
	if f := failure(steps, results); f != nil {
		return fmt.Errorf("the stack cannot be made: %s", f)
	}
	return nil
}

// limitOf is how long steps may take, with some more.
func limitOf(steps []stack.Step, c *stack.Config) (limit time.Duration) {
	for i := range steps {
		limit += steps[i].Timeout + c.Timeout*time.Duration(len(c.Components))
	}
	return limit
}

// broken is the first step that failed.
type broken struct {
	stack.Result
	step stack.Step
}

func failure(steps []stack.Step, results []stack.Result) *broken {
	for i := range results {
		if results[i].Failed != "" {
			return &broken{results[i], steps[i]}
		}
	}
	return nil
}

// String is how the step failed, with the last lines of what it has said.
func (b *broken) String() string {
	text := b.Failed
	if b.Component != "" {
		text = b.Component + ": " + text
	} else if len(b.step.Command) > 0 {
		text = b.step.Title + ": " + text
	}
	if said := lastLines(b.Output); said != "" {
		text += ": " + said
	}
	return text
}

// mostLines is how many of the last lines of an output are shown.
const mostLines = 4

func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(len(lines)-mostLines, 0):], "\n")
}

// show tells of progress, when it is time.
func (j *judge) show() {
	if j.Options.Progress != nil && time.Since(j.shown) > max(j.Pause, 200*time.Millisecond) {
		j.shown = time.Now()
		j.RealTime = time.Since(j.began)
		j.Options.Progress(j.Report)
	}
}

// finish completes the report.
func (j *judge) finish() {
	j.RealTime = time.Since(j.began)
	j.Report.Groups = sortedGroups(j.groups)
}

// Interrupted reports whether an error is the end of a context.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
