package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"ariadne"
	"ariadne/internal/coverage"
	"ariadne/internal/memo"
	"ariadne/internal/property"
	"ariadne/internal/replay"
	"ariadne/internal/script"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
	"ariadne/internal/world"
)

// Machines is a NodeFactory whose nodes can be frozen and thawed. A search in memory
// needs one.
type Machines interface {
	NodeFactory
	// Machine returns the way to make node i of s, on the goroutine that asks for it.
	Machine(s *spec.Spec, i, worker int) memo.Boot
}

// InMemory are the options of a search in memory.
type InMemory struct {
	// Strategy is one of Strategies(); "": no search in memory.
	Strategy string
	// Bounds of a path besides Options.Depth, which with From counts from there.
	From       func(ariadne.Step) bool
	Deviations space.Bound
	Timers     space.Bound
	Deliveries space.Bound
	Delays     space.Bound // when it is less than the spec's
	Weights    strategy.Weights
	// Symmetric are groups of interchangeable nodes; nil: those of the spec.
	Symmetric [][]ariadne.NodeID
	// Script, when not nil, has rules of the user's own.
	Script     *script.Script
	Backtracks int // of a round of DPOR, or of all of it; 0: the strategy's own
	Branch     int // steps among which DPOR tries other orders; 0: all

	Audit         float64 // share of new transitions to execute twice
	NoMemo        bool    // execute every transition whenever it is needed
	NoCheckpoints bool    // reach every local state from the node's start
	MemoBytes     int64   // memory for transitions; 0: 1 GiB
	Checkpoints   int     // of each worker; 0: 200
	// States are the rules of protocol states (coverage.Totals.Meter).
	States []*regexp.Regexp
}

// searches are the strategies in memory: how each is made, and whether several
// workers may each have one, with seeds of their own.
var searches = map[string]struct {
	alone bool
	make  func(o *Options, seed uint64, from int, m *coverage.Meter) strategy.Explorer
}{
	"default": {false, func(o *Options, seed uint64, from int, _ *coverage.Meter) strategy.Explorer {
		return strategy.Default(seed, o.Weights, defaultDeviations)
	}},
	"depth-first": {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer { return &strategy.DepthFirst{} }},
	"all-paths":   {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer { return &strategy.DepthFirst{All: true} }},
	"breadth-first": {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer {
		return &strategy.BreadthFirst{}
	}},
	"deviations": {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer {
		return &strategy.FewestDeviations{}
	}},
	"sleep-sets": {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer { return &strategy.SleepSets{} }},
	"dpor": {true, func(o *Options, _ uint64, _ int, _ *coverage.Meter) strategy.Explorer {
		return &strategy.DPOR{Backtracks: o.Backtracks, Branch: o.Branch}
	}},
	"rounds": {false, func(o *Options, seed uint64, from int, _ *coverage.Meter) strategy.Explorer {
		return &strategy.Rounds{Seed: seed, Weights: o.Weights, Backtracks: o.Backtracks, Branch: o.Branch, Index: from}
	}},
	"walks": {false, func(o *Options, seed uint64, from int, _ *coverage.Meter) strategy.Explorer {
		return &strategy.Walks{Seed: seed, Weights: o.Weights, Index: from}
	}},
	"priorities": {false, func(_ *Options, seed uint64, from int, _ *coverage.Meter) strategy.Explorer {
		return &strategy.Priorities{Seed: seed, Index: from}
	}},
	"periphery": {true, func(o *Options, seed uint64, _ int, _ *coverage.Meter) strategy.Explorer {
		return &strategy.Periphery{Seed: seed, Weights: o.Weights, Depth: peripheryDepth, Walks: 10}
	}},
	"script": {true, func(*Options, uint64, int, *coverage.Meter) strategy.Explorer { return &strategy.Scripted{} }},
	"novelty": {false, func(o *Options, seed uint64, _ int, m *coverage.Meter) strategy.Explorer {
		return &strategy.Novelty{Seed: seed, Weights: o.Weights, New: func(*space.Path) bool { return m.Fresh() }}
	}},
}

const (
	// defaultDeviations is how many paths the default strategy takes close to the
	// natural schedule.
	defaultDeviations = 2000
	peripheryDepth    = 12
)

// Strategies are the names of the strategies in memory, sorted.
func Strategies() []string {
	var names []string
	for name := range searches {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Coverage is what a search in memory has seen and done.
type Coverage struct {
	Strategy string
	coverage.Sample
	LocalStates []int // by node
	Bounded     int   // states in which the bounds left less than the rules
	// Exhausted: all paths within the bounds were explored.
	Exhausted bool
	// StatesDigest stands for the set of global states that were seen.
	StatesDigest string
	Missed       string // what the strategy left out, when it has come to its end
	// Merged counts how often a new state counted as known, by the user's word alone.
	Merged int
	// RulesAudited counts what of the user's rules was looked at.
	RulesAudited int
	// Under is what the user has said and the result rests on, one line each.
	Under []string
	Memo  memo.Counters
	Nodes memo.Counts
}

const (
	// StopExplored is why a check stops that has no path left within its bounds.
	StopExplored = "all explored within the bounds"
	// StopNowhere is why a check stops that never came to where its paths begin.
	StopNowhere = "the natural schedule ended too early"
)

// Files of a search in memory in the run directory.
const (
	coverageFile = "coverage.csv"
	plotFile     = "coverage.svg"
	memoFile     = "memo.db"
)

// explorer is a check that searches in memory.
type explorer struct {
	*check
	machines Machines
	system   *world.System
	memo     *memo.Memo
	totals   *coverage.Totals
	csv      *os.File
	from     int // paths that were taken before the check was interrupted

	mu     sync.Mutex // of all below
	counts []memo.Counts
	steps  []int // of each worker, that its paths were charged with
	cover  *Coverage
	leaks  int
}

// search explores in memory until the plan has no more.
func (c *check) search() error {
	m, ok := c.opts.Nodes.(Machines)
	if !ok {
		return errors.New("these nodes cannot be frozen, which a search in memory needs")
	}
	kind, ok := searches[c.opts.InMemory.Strategy]
	if !ok {
		return fmt.Errorf("unknown strategy %q: %s", c.opts.InMemory.Strategy, strings.Join(Strategies(), ", "))
	}
	if s := c.opts.InMemory.Script; c.opts.InMemory.Strategy == "script" && (s == nil || !s.Explores()) {
		return errors.New("strategy script needs a script that has explore(path, state, enabled)")
	}
	c.listen()
	workers := c.opts.Workers
	if kind.alone {
		workers = 1
	}
	x := &explorer{check: c, machines: m, system: c.worldSystem(), totals: coverage.NewTotals(len(c.spec.Nodes)), from: c.report.Next,
		counts: make([]memo.Counts, workers), steps: make([]int, workers), cover: &Coverage{Strategy: c.opts.InMemory.Strategy}}
	c.report.Coverage = x.cover
	x.cover.Under = x.under()
	if err := x.open(); err != nil {
		return err
	}
	var group sync.WaitGroup
	for i := range workers {
		newExplorer := kind.make
		if i > 0 && c.opts.InMemory.Strategy == "default" {
			newExplorer = searches["rounds"].make // the first part is for one alone
		}
		group.Go(func() { onThread(func() { c.fail(x.worker(i, newExplorer)) }) })
	}
	group.Wait()
	return x.close()
}

// worldSystem is the system without its nodes.
func (y *system) worldSystem() *world.System {
	var nodes []world.Node
	for i := range y.spec.Nodes {
		def := &y.spec.Nodes[i]
		nodes = append(nodes, world.Node{Name: def.Name, Addrs: def.Addrs, Start: ariadne.Time(def.Start),
			Client: def.Client, Initial: y.initial(i)})
	}
	delays := y.opts.InMemory.Delays.Min(y.spec.Delays)
	return world.NewSystem(world.Rules{Latency: y.spec.Latency, ClockError: y.spec.ClockError, Delays: delays}, nodes)
}

func (x *explorer) open() (err error) {
	o := memo.Options{Bytes: x.opts.InMemory.MemoBytes, Off: x.opts.InMemory.NoMemo}
	if o.Bytes == 0 {
		o.Bytes = 1 << 30
	}
	if !o.Off {
		o.Path = filepath.Join(x.report.Out, memoFile)
		if x.opts.Out == "" {
			o.Path = filepath.Join(filepath.Dir(x.report.Out), fileName(x.spec.Name)+"."+memoFile)
		}
		if o.Key, err = x.memoKey(); err != nil {
			return err
		}
	}
	if x.memo, err = memo.Open(x.system, o); errors.Is(err, memo.ErrInUse) && x.opts.Out == "" {
		o.Path = filepath.Join(x.report.Out, memoFile)
		x.memo, err = memo.Open(x.system, o)
	}
	if err != nil {
		return err
	}
	if x.csv, err = os.Create(filepath.Join(x.report.Out, coverageFile)); err != nil {
		return err
	}
	_, err = x.csv.WriteString(coverage.Header)
	return err
}

// memoKey is over what transitions depend on besides the local states' names, in
// which programs, spec and seed are already: Ariadne itself.
func (x *explorer) memoKey() (ariadne.Digest, error) {
	self, err := os.Executable()
	if err != nil {
		return ariadne.Digest{}, err
	}
	d, err := fileDigest(self)
	return sha256.Sum256(append(d[:], x.opts.Version...)), err
}

// worker explores with an explorer and an executor of its own.
func (x *explorer) worker(id int, newExplorer func(*Options, uint64, int, *coverage.Meter) strategy.Explorer) (err error) {
	meter := x.totals.Meter(x.opts.InMemory.States)
	var boots []memo.Boot
	for i := range x.spec.Nodes {
		boot := x.machines.Machine(x.spec, i, id)
		boots = append(boots, func() (memo.Machine, error) {
			m, err := boot()
			if err != nil {
				return nil, fmt.Errorf("node %s: %w", x.spec.Nodes[i].Name, err)
			}
			return m, nil
		})
	}
	limits := memo.Limits{Checkpoints: x.opts.InMemory.Checkpoints, Audit: x.opts.InMemory.Audit,
		Now: func() time.Duration { return time.Since(x.began) }}
	if limits.Checkpoints == 0 {
		limits.Checkpoints = 200
	}
	if x.opts.InMemory.NoCheckpoints {
		limits.Checkpoints = 0
	}
	executor := memo.NewExecutor(x.memo, boots, limits)
	executor.OnMismatch = x.leak
	defer func() {
		x.mu.Lock()
		x.counts[id] = executor.Counts()
		x.mu.Unlock()
		if e := executor.Close(); err == nil && e != nil {
			err = bug{e}
		}
	}()
	seed := x.spec.Seed + uint64(id)*0x9e3779b97f4a7c15
	e := &search.Exploration{
		Space: space.New(x.system, x.memo, executor), Explorer: newExplorer(&x.opts, seed, x.from, meter),
		Bounds: x.bounds(), Checks: func() []property.Check { return x.checks() },
		Watch: func(p *space.Path) { meter.Watch(p); x.watch(p) },
	}
	rules := x.rules(e)
	asked := 0
	e.Stopped = func() bool {
		// Asking costs more than a step does.
		asked++
		return asked%64 == 1 && x.stopped() || rules.Err() != nil
	}
	e.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
		x.mu.Lock()
		x.counts[id] = executor.Counts()
		x.mu.Unlock()
		if err = x.ended(id, p, e, end, v); err != nil {
			return false
		}
		return !x.stopped()
	}
	how, e2 := e.Run()
	x.done(e, how)
	x.ruled(rules)
	if err == nil && rules.Err() != nil {
		err = rules.Err()
	}
	return first(err, asBug(e2))
}

// bounds of a path.
func (x *explorer) bounds() space.Bounds {
	o := &x.opts.InMemory
	b := space.Bounds{From: o.From, Time: x.limits().Time, Depth: x.limits().Steps, Deviations: o.Deviations, Timers: o.Timers}
	b.Kinds[ariadne.ActDeliver] = o.Deliveries
	return b
}

// done enters how a worker's search has ended.
func (x *explorer) done(e *search.Exploration, how string) {
	x.mu.Lock()
	x.cover.Bounded += e.Coverage.Bounded
	x.cover.Merged += e.Coverage.Merged
	x.cover.Exhausted = x.cover.Exhausted || how == search.SearchExhausted
	if m, ok := e.Explorer.(strategy.Exhaustive); ok && how == search.SearchDone {
		x.cover.Missed = m.Missed()
	}
	x.mu.Unlock()
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	switch how {
	case search.SearchExhausted:
		x.plan.Stop(StopExplored)
	case search.SearchDone:
		x.plan.Stop("the strategy has no more paths")
	case search.SearchNowhere:
		x.plan.Stop(StopNowhere)
		x.report.doubt("the natural schedule ended before the step from which to explore: nothing was explored")
	}
}

// ended enters a path. Those that came to known states are no executions.
func (x *explorer) ended(worker int, p *space.Path, e *search.Exploration, end string, v *ariadne.Violation) error {
	if end == search.EndSeen || end == search.EndStrategy {
		return nil
	}
	if err := x.sample(p); err != nil {
		return err
	}
	x.check.mu.Lock()
	index, ok := x.plan.Next()
	x.check.mu.Unlock()
	if !ok {
		return nil
	}
	a := x.attempt(p, end, v)
	x.mu.Lock()
	a.Steps, x.steps[worker] = e.Coverage.Steps-x.steps[worker], e.Coverage.Steps
	x.mu.Unlock()
	x.check.steps.Add(int64(a.Steps))
	x.check.mu.Lock()
	known := v == nil || !x.plan.IsNew(*v)
	x.check.mu.Unlock()
	if known {
		return x.enter(index, a, true)
	}
	tape := newTape()
	for i := range p.Steps() {
		tape.steps = append(tape.steps, trace.NewStep(p.Step(i+1)))
	}
	return x.found(worker, index, a, tape)
}

// attempt is what a path came to.
func (x *explorer) attempt(p *space.Path, end string, v *ariadne.Violation) *attempt {
	f := p.Last()
	a := &attempt{Result: search.Result{Time: f.State.Now, End: end, Violation: v}, counted: true}
	if end == search.EndFatal {
		a.Fatal, a.FatalNode = f.By.Output.Fatal, f.By.From.Node
	}
	for i := range p.Steps() {
		t := p.Transition(i + 1)
		a.Unreplayable = a.Unreplayable || t.Output.Unreplayable
		if v != nil { // is it Ariadne's doing?
			a.refused(t.From.Node, t.Output.Refusals)
		}
	}
	return a
}

// sample writes how much was seen, now and then.
func (x *explorer) sample(p *space.Path) error {
	for _, s := range x.totals.Path(p, time.Since(x.began), x.sum()) {
		if err := coverage.WriteCSV(x.csv, []coverage.Sample{s}); err != nil {
			return err
		}
	}
	return nil
}

func (x *explorer) sum() (sum memo.Counts) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, c := range x.counts {
		sum.Add(c)
	}
	return sum
}

// leak enters that a transition was not the same the second time.
func (x *explorer) leak(m *memo.Mismatch) {
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	if x.leaks++; x.leaks <= maxBugs {
		text := fmt.Sprintf("node %s, after %d inputs: %v", x.spec.Nodes[m.State.Node].Name, m.State.Depth, m)
		if d := replay.FirstDifference(m.Calls[0], m.Calls[1], x.opts.CallName); d != nil {
			text += "; " + d.String()
		}
		x.report.Bugs = append(x.report.Bugs, text)
	}
}

// close saves what is known and writes the last of the coverage.
func (x *explorer) close() error {
	samples := x.totals.End(time.Since(x.began), x.sum())
	c := x.cover
	c.Sample, c.LocalStates, c.Memo, c.Nodes = samples[len(samples)-1], x.totals.Locals(), x.memo.Counters(), x.sum()
	c.StatesDigest = x.totals.StatesDigest()
	err := coverage.WriteCSV(x.csv, samples[len(samples)-1:])
	plot := coverage.Growth(x.spec.Name+": "+c.Strategy, samples)
	var b strings.Builder
	err = errors.Join(err, plot.WriteSVG(&b), x.csv.Close(), writeFile(filepath.Join(x.report.Out, plotFile), []byte(b.String())))
	return errors.Join(err, x.memo.Close())
}

// watch enters what a transition met that is not modelled, when a path first takes
// it. Paths that end in known states count too.
func (x *explorer) watch(p *space.Path) {
	by := p.Last().By
	if by == nil || len(by.Output.Refusals) == 0 || by.Fine.Load() {
		return
	}
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	x.report.refused(by.From.Node, by.Output.Refusals)
}
