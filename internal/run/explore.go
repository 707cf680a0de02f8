package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ariadne"
	"ariadne/internal/coverage"
	"ariadne/internal/memo"
	"ariadne/internal/memo/bolt"
	"ariadne/internal/replay"
	"ariadne/internal/script"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// Search are the options of how to search.
type Search struct {
	// Strategy is the name of a strategy.Row; "": random.
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
	Backtracks space.Bound // of a round of DPOR, or of all of it; 0: the strategy's own
	Branch     space.Bound // steps among which DPOR tries other orders; 0: the strategy's own

	Audit         float64 // share of new transitions to execute twice
	NoMemo        bool    // execute every transition whenever it is needed
	NoCheckpoints bool    // reach every local state from the node's start
	Checkpoints   int     // of each executor; 0: 1000
	// Memory is about how many bytes Ariadne and its nodes may use; 0: half of what
	// the machine has.
	Memory int64
	// States are the rules of protocol states (coverage.Totals.Meter).
	States []*regexp.Regexp
}

// Coverage is what a search has seen and done.
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
	// Full: there was no memory to count all; the numbers are lower bounds.
	Full bool
	// Earlier is how many executions ended before the check was resumed of which
	// nothing is counted here, because what they had seen was lost; Lost says how.
	Earlier int    `json:",omitempty"`
	Lost    string `json:",omitempty"`
	// Record is the record of coverage.seen up to which this was seen; 0: none.
	Record int `json:",omitempty"`
	// Again: a check that goes on with this one walks all of it again.
	Again bool
	// Known counts the paths that came to known states and went no further, Given those
	// that the strategy gave up; neither are executions.
	Known, Given int
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

// Files of a search in the run directory.
const (
	coverageFile = "coverage.csv"
	plotFile     = "coverage.svg"
	seenFile     = "coverage.seen"
	memoFile     = "memo.db"
)

// explorer is a check that searches.
type explorer struct {
	governor governor
	*check
	row    strategy.Row
	system *world.System
	shares shares
	memo   *memo.Memo
	stored string         // path of what it remembers
	living []*memo.Living // where nodes live, by worker
	pool   *memo.Pool
	rules  []*script.Rules // by worker; nil: there is no script
	totals *coverage.Totals
	kept   *seenLog   // nil: all of it is walked again
	from   int        // paths that were taken before the check was resumed
	before Coverage   // what they came to, as far as it is known
	seen   *space.Set // by searches that go on from states
	none   *space.Set // for those that do not: it keeps nothing
	over   atomic.Bool
	left   atomic.Int64 // paths that may still be taken, when they are limited

	writing sync.Mutex // of the CSV
	csv     *os.File

	// The check's mu is also that of all below.
	cover  *Coverage
	nearby int // workers in parts that a resumed check walks again
	leaks  int
}

// search explores until the plan has no more.
func (c *check) search() error {
	name := c.opts.Search.Strategy
	row, ok := strategy.Named(name)
	if !ok {
		return unknownStrategy(name)
	}
	if s := c.opts.Script; row.Asks && (s == nil || !s.Explores()) {
		return fmt.Errorf("strategy %s needs a script that has explore(path, state, enabled)", name)
	}
	c.listen()
	x := &explorer{check: c, row: row, system: c.world(), shares: share(c.opts.Memory),
		none: &space.Set{Bytes: 1}, cover: &Coverage{Strategy: name}, from: max(c.report.Next-c.opts.First, 0)}
	c.explorer = x
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(x.shares.heap))
	x.totals, x.seen = x.newTotals(), &space.Set{Bytes: x.shares.seen}
	x.left.Store(int64(c.plan.Left()))
	x.cover.Again = row.Again || row.AgainAtFirst && x.from == 0
	x.cover.Under = x.under()
	if err := x.open(); err != nil {
		return err
	}
	x.pool = memo.NewPool(x.memo)
	c.mu.Lock()
	c.report.Coverage, c.complete = x.cover, x.account
	c.mu.Unlock()
	x.governor.held = make([]atomic.Int64, c.opts.Workers)
	stop := x.governor.start(x.shares)
	x.explore(c.opts.Workers)
	stop()
	return x.close()
}

// explore lets so many workers explore until all of them have ended.
func (x *explorer) explore(workers int) {
	var meters []*coverage.Meter
	for range workers {
		meters = append(meters, x.totals.Meter(x.opts.States))
	}
	if s := x.opts.Script; s != nil {
		x.rules = s.Rules(x.system, workers)
	}
	b := &strategy.Builder{Seed: x.spec.Seed, Workers: workers, From: x.from, Bytes: x.shares.paths,
		Weights: x.opts.Weights, Backtracks: x.opts.Backtracks, Branch: x.opts.Branch, Full: x.seen.Full,
		News:     func(i int) func() strategy.News { return func() strategy.News { return news(meters[i]) } },
		Combined: func(i int) func(*space.Path) bool { return func(*space.Path) bool { return meters[i].Fresh() } },
		Next:     x.nextExecution}
	var all []*worker
	for i, e := range x.row.Make(b) {
		all = append(all, x.newWorker(i, e, meters[i], workers))
	}
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(func() {
			x.fail(x.onThread(w.id, func() error { return errors.Join(w.run(), asBug(w.nodes.Close())) }))
		})
	}
	group.Wait()
}

// nextExecution is the index of an execution that is to be made now.
func (x *explorer) nextExecution() (index int, ok bool) {
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	return x.plan.Next()
}

// news is what a worker's last step showed.
func news(m *coverage.Meter) strategy.News {
	local, state := m.New()
	switch {
	case local:
		return strategy.NewLocal
	case state:
		return strategy.NewState
	}
	return strategy.NothingNew
}

func unknownStrategy(name string) error {
	var names []string
	for _, r := range strategy.Rows() {
		names = append(names, r.Name)
	}
	return fmt.Errorf("unknown strategy %q: %s", name, strings.Join(names, ", "))
}

func (x *explorer) open() error {
	version, err := x.versionDigest()
	if err != nil {
		return err
	}
	o := memo.Options{Bytes: x.shares.memo, Off: x.opts.NoMemo || x.row.Lives, File: x.digests.of, Key: version}
	x.stored = filepath.Join(x.report.Out, memoFile)
	if x.opts.Out == "" {
		x.stored = filepath.Join(filepath.Dir(x.report.Out), fileName(x.spec.Name)+"."+memoFile)
	}
	o.Store = bolt.At(x.stored)
	if x.memo, err = memo.Open(x.system, o); errors.Is(err, bolt.ErrInUse) && x.opts.Out == "" {
		x.stored = filepath.Join(x.report.Out, memoFile)
		o.Store = bolt.At(x.stored)
		x.memo, err = memo.Open(x.system, o)
	}
	if err != nil {
		return err
	}
	x.stale(x.stored, x.from > 0)
	if !x.row.Again {
		x.recall(version)
	}
	if x.csv, err = os.Create(filepath.Join(x.report.Out, coverageFile)); err != nil {
		return err
	}
	if _, err = x.csv.WriteString(coverage.Header); err != nil {
		return err
	}
	return coverage.WriteCSV(x.csv, x.totals.Samples())
}

// versionDigest is over what transitions depend on besides the local states' names, in
// which programs, spec and seed are already: Ariadne itself and the machine.
func (x *explorer) versionDigest() (ariadne.Digest, error) {
	self, err := os.Executable()
	if err != nil {
		return ariadne.Digest{}, err
	}
	d, err := fileDigest(self)
	return sha256.Sum256(fmt.Appendf(d[:], "%s %q", x.opts.Version, machineFacts())), err
}

// executor returns one of so many executors.
func (x *explorer) executor(i, of int) *memo.Executor {
	limits := memo.Limits{Checkpoints: x.opts.Checkpoints, Room: x.governor.of(i, of), Audit: x.opts.Audit,
		Now: x.now}
	if limits.Checkpoints == 0 {
		limits.Checkpoints = 1000
	}
	if x.opts.NoCheckpoints {
		limits.Checkpoints = 0
	}
	e := memo.NewExecutor(x.memo, x.boots(), limits)
	e.OnMismatch = x.leak
	return e
}

func (x *explorer) now() time.Duration { return time.Since(x.began) }

// bounds of a path.
func (x *explorer) bounds() space.Bounds {
	o := &x.opts.Search
	b := space.Bounds{From: o.From, Time: x.limits().Time, Depth: x.limits().Steps, Deviations: o.Deviations, Timers: o.Timers}
	b.Kinds[ariadne.ActDeliver] = o.Deliveries
	return b
}

// take takes one of the paths that may still be taken.
func (x *explorer) take() bool {
	if x.opts.Executions == 0 {
		return !x.over.Load()
	}
	left := x.left.Add(-1)
	if left <= 0 {
		x.over.Store(true)
	}
	return left >= 0
}

// counts tells what all workers did, and those before the check was resumed.
func (x *explorer) counts() memo.Counts {
	c := x.before.Nodes
	c.Add(x.pool.Counts())
	for _, l := range x.living {
		c.Add(l.Counts())
	}
	return c
}

// sample writes how much was seen.
func (x *explorer) sample() error {
	x.writing.Lock()
	defer x.writing.Unlock()
	return coverage.WriteCSV(x.csv, []coverage.Sample{x.totals.Sample(x.earlier+time.Since(x.began), x.counts())})
}

// account enters into the report how much was seen, and returns how to write down what
// that was, unless it will be seen again. The check's mu is held.
func (x *explorer) account() func() error {
	c := x.cover
	c.Memo, c.Nodes = x.memo.Counters(), x.counts()
	c.Sample, c.LocalStates = x.totals.Now(x.earlier+time.Since(x.began), c.Nodes), x.totals.Locals()
	c.StatesDigest, c.Full = x.totals.StatesDigest(), x.before.Full || x.totals.Full()
	if c.Again || x.kept == nil {
		return nil
	}
	// Paths that a worker has not entered yet are none for who goes on with this report.
	c.Paths = x.report.Executions - c.Earlier
	a := x.kept.log.Account(c.Paths)
	c.Record = a.Record
	return func() error { return x.kept.write(a) }
}

// leak enters that a transition was not the same the second time.
func (x *explorer) leak(m *memo.Mismatch) {
	doubts, beyond := x.hostDoubts(m, nil), x.uncontrolled(m.State.Node)
	x.check.mu.Lock()
	defer x.check.mu.Unlock()
	if len(doubts) > 0 {
		x.report.doubt(doubts...)
		x.plan.Stop(stopHost)
		return
	}
	x.memo.Forget() // the next check would not look at this again
	x.leaks++
	switch {
	case beyond != "":
		if x.leaks == 1 { // others say the same
			x.report.doubt(x.leakText(m) + beyond)
		}
		x.plan.Stop(stopUncontrolled)
	case x.leaks <= maxBugs:
		x.report.Bugs = append(x.report.Bugs, x.leakText(m)+fmt.Sprintf("\n  if the program of %s uses what cannot be controlled "+
			"(random numbers or the model of the processor: docs/limits.md), that is why; if not, please report it", x.spec.Nodes[m.State.Node].Name))
	}
}

// leakText says which node did not do the same twice, at which step and call.
func (x *explorer) leakText(m *memo.Mismatch) string {
	name := x.spec.Nodes[m.State.Node].Name
	text := fmt.Sprintf("node %s, step %d of its own (%s, at %v): executed twice, it did not do the same (digests %v and %v",
		name, m.State.Depth+1, x.system.Names().Action(m.Input.Action(m.State.Node)), m.Input.At, m.First.Digest, m.Second.Digest)
	if m.First.Calls != m.Second.Calls && m.First.Calls > 0 {
		text += fmt.Sprintf(", %d and %d system calls", m.First.Calls, m.Second.Calls)
	}
	text += ")"
	if d := replay.FirstDifference(m.Calls[0], m.Calls[1], x.opts.CallName); d != nil {
		text += "\n  " + d.String()
	} else {
		text += "\n  two further executions did the same as each other, so the call that differs is not known; --audit 1 looks at each step"
	}
	return text
}

// close saves what is known and writes the last of the coverage.
func (x *explorer) close() error {
	if changed := x.memo.Changed(); len(changed) > 0 {
		x.check.mu.Lock()
		x.report.doubt(listed(whileRunning, x.digests.described(changed)))
		x.check.mu.Unlock()
	}
	if what := x.memo.Damaged(); what != "" {
		x.check.mu.Lock()
		x.report.note(fmt.Sprintf("%s was damaged (%s): what it did not give was executed again, and the file is made again", x.stored, what))
		x.check.mu.Unlock()
	}
	err := errors.Join(x.sample(), x.save())
	plot := coverage.Growth(x.spec.Name+": "+x.cover.Strategy, x.totals.Samples())
	var b strings.Builder
	err = errors.Join(err, plot.WriteSVG(&b), x.csv.Close(), writeFile(filepath.Join(x.report.Out, plotFile), []byte(b.String())))
	if x.kept != nil {
		err = errors.Join(err, x.kept.close())
	}
	return errors.Join(err, x.memo.Close())
}
