package check

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/bolt"
	"github.com/ariadne-mc/ariadne/internal/explore/replay"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// explorer explores for a check.
type explorer struct {
	check     *check
	row       strategy.Row
	world     *world.System
	shares    shares
	governor  governor
	memo      *memo.Memo
	stored    string         // path of what it remembers
	living    []*memo.Living // where nodes live, by worker
	pool      *memo.Pool
	pages     memo.Pages     // of checkpoints for which there is no room in memory; nil: none
	rules     []*steer.Rules // by worker; nil: there is no script
	totals    *coverage.Totals
	kept      *record.Seen     // nil: all of it is walked again
	from      int              // paths that were taken before the check was resumed
	was       *record.Coverage // that of the report which is gone on with, or nil
	before    record.Coverage  // what they came to, as far as it is known
	seen      *space.Set       // by searches that go on from states
	none      *space.Set       // for those that do not: it keeps nothing
	growth    *growth
	behaviour behaviour
	corpus    corpus
	looked    *space.Set // from which walks were taken (goals)
	bound     bound
	hunts     hunts
	sought    *strategy.Sought // nil: nothing in particular
	probed    space.Sample     // of steps to be tried at other times
	crew      *crew

	searching context.Context // of the nodes that search (keepTime)

	over atomic.Bool
	left atomic.Int64 // paths that may still be taken, when they are limited
}

// growth is the file in which coverage is seen to grow.
type growth struct {
	mu   sync.Mutex // of file
	file *os.File
}

// search explores until the plan has no more.
func (c *check) search(ctx context.Context) error {
	o := &c.opts.Search
	row, ok := strategy.Named(o.Strategy)
	if !ok {
		return strategy.Unknown(o.Strategy)
	}
	if s := o.Script; row.Asks && (s == nil || !s.HasExplore()) {
		return fmt.Errorf("strategy %s needs a script that has explore(path, state, enabled)", o.Strategy)
	}
	c.passOnPrints()
	x := &explorer{was: c.ledger.report.Coverage, check: c, row: row, world: c.system.World(),
		shares: divideMemory(o.Memory),
		none:   &space.Set{Bytes: 1}, looked: &space.Set{Bytes: lookedBytes}, crew: newCrew(),
		from: max(c.ledger.report.Next-c.opts.First, 0)}
	x.seek()
	if err := x.needsGoals(); err != nil {
		return err
	}
	if err := x.needsFrozen(); err != nil {
		return err
	}
	cover := &record.Coverage{Strategy: o.Strategy, Faults: record.NewFaults(c.system.Spec)}
	x.totals, x.seen = x.newTotals(), &space.Set{Bytes: x.shares.seen}
	x.left.Store(int64(c.ledger.plan.ExecutionsLeft()))
	cover.Under = x.assumptions()
	if e := x.equality(); e.Exposed {
		cover.Equality = e.String()
	}
	c.ledger.beginSearch(cover, row.Again || row.AgainAtFirst && x.from == 0)
	if err := x.openStore(cover); err != nil {
		return err
	}
	x.pool = memo.NewPool(x.memo)
	c.ledger.countIn(x.totals, x.accountFor)
	x.governor.held = make([]atomic.Int64, c.opts.Workers)
	closePages := x.openPages()
	defer closePages()
	stop := x.governor.startGoverning(x.shares)
	done := c.watchHost()
	var inTime func()
	x.searching, inTime = x.keepTime(ctx)
	x.explore(ctx, c.opts.Workers)
	inTime()
	done()
	stop()
	return x.closeCoverage()
}

// lookedBytes bounds what is remembered of states from which walks were taken. From those that are
// forgotten others may go.
const lookedBytes = 64 << 20

// explore lets so many workers explore until all of them have ended.
func (x *explorer) explore(ctx context.Context, workers int) {
	o := &x.check.opts.Search
	x.check.totals.Store(x.totals)
	var meters []*coverage.Meter
	for range workers {
		meters = append(meters, x.totals.Meter())
	}
	if s := o.Script; s != nil {
		x.rules = s.Rules(x.world, workers)
	}
	b := &strategy.Builder{Seed: x.check.system.Spec.Seed, Workers: workers, From: x.from, Bytes: x.shares.paths,
		Weights: o.Weights, Backtracks: o.Backtracks, Branch: o.Branch, Full: x.seen.Full,
		News:     func(i int) func() strategy.News { return func() strategy.News { return newsOf(meters[i]) } },
		Combined: func(i int) func(*space.Path) bool { return func(*space.Path) bool { return meters[i].Fresh() } },
		Next:     x.check.ledger.next, Without: x.row.Without, Faultless: x.check.system.Rules.Faults.None(),
		Probes:   o.probes() != ProbeNone,
		Features: &x.behaviour.features, Recall: x.corpus.recall, Sought: x.sought}
	var all []*worker
	for i, e := range x.row.Make(b) {
		all = append(all, x.newWorker(ctx, i, e, meters[i], workers))
	}
	x.crew.active = len(all)
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(func() {
			w.fail(x.check.system.OnThread(w.id, func() error {
				return errors.Join(w.run(ctx), system.AsBug(w.nodes.Close()))
			}))
		})
	}
	group.Wait()
}

// newsOf is what a worker's last step showed.
func newsOf(m *coverage.Meter) strategy.News {
	local, state := m.New()
	switch {
	case local:
		return strategy.NewLocal
	case state:
		return strategy.NewState
	}
	return strategy.NothingNew
}

func (x *explorer) openStore(cover *record.Coverage) error {
	version, err := x.versionDigest()
	if err != nil {
		return err
	}
	o := memo.Options{Bytes: x.shares.memo, Off: x.check.opts.Search.NoMemo || x.row.Lives,
		File: x.check.system.Digests.Of, Now: x.check.system.Digests.Now, Key: version}
	stored, alone := x.check.dir.Memo(x.check.system.Spec.Name)
	x.stored, o.Store = stored, bolt.At(stored)
	if x.memo, err = memo.Open(x.world, o); errors.Is(err, bolt.ErrInUse) && alone != stored {
		x.stored, o.Store = alone, bolt.At(alone)
		x.memo, err = memo.Open(x.world, o)
	}
	if err != nil {
		return err
	}
	x.check.memo = x.memo
	x.probed.Made = func() int { return x.memo.Counters().Transitions }
	x.enterStale(x.stored, x.from > 0)
	if !x.row.Again {
		x.recallSeen(version, cover)
	}
	x.openCorpus()
	file, err := os.Create(x.check.dir.Coverage())
	if err != nil {
		return err
	}
	x.growth = &growth{file: file}
	if _, err = file.WriteString(coverage.Header); err != nil {
		return err
	}
	return coverage.WriteCSV(file, x.totals.Samples())
}

// versionDigest is over what transitions depend on besides the local states' names, in which
// programs, spec and seed are already: Ariadne itself and what programs can see of the machine.
func (x *explorer) versionDigest() (ariadne.Digest, error) {
	self, err := os.Executable()
	if err != nil {
		return ariadne.Digest{}, err
	}
	d, err := system.FileDigest(self)
	return sha256.Sum256(fmt.Appendf(d[:], "%s %q", x.check.opts.System.Version,
		system.MachineOf(x.check.system.Spec))), err
}

// executor returns the worker's, one of so many.
func (w *worker) executor(of int) *memo.Executor {
	x := w.explorer
	o := &x.check.opts.Search
	limits := memo.Limits{Checkpoints: o.Checkpoints, Room: x.governor.roomFor(w.id, of), Audit: o.Audit,
		Pages: x.pages, Now: x.elapsed}
	if limits.Checkpoints == 0 {
		limits.Checkpoints = 1000
	}
	if o.NoCheckpoints {
		limits.Checkpoints = 0
	}
	e := memo.NewExecutor(x.memo, x.check.system.Boots(x.searching.Done), limits)
	e.OnMismatch = w.enterMismatch
	return e
}

func (x *explorer) elapsed() time.Duration { return time.Since(x.check.began) }

// bounds of a path.
func (x *explorer) bounds() space.Bounds {
	o := &x.check.opts.Search
	b := space.Bounds{From: o.From, FromLive: o.FromLive, Time: x.check.limits().Time, Depth: x.check.limits().Steps,
		Deviations: o.Deviations, Timers: o.Timers}
	b.Kinds[ariadne.ActDeliver] = o.Deliveries
	if u := x.check.opts.unit; u != nil {
		b.Begins = u.work.Begins
	}
	return b
}

// takePath takes one of the paths that may still be taken. One that has ended in a violation counts
// also when the time was up meanwhile.
func (x *explorer) takePath(v *ariadne.Violation) bool {
	if x.check.opts.Executions == 0 {
		return !x.over.Load() || v != nil && x.check.outOfTime()
	}
	left := x.left.Add(-1)
	if left <= 0 {
		x.over.Store(true)
	}
	return left >= 0
}

// sumCounts tells what all workers did, and those before the check was resumed.
func (x *explorer) sumCounts() memo.Counts {
	c := x.before.Nodes
	c.Add(x.pool.Counts())
	for _, l := range x.living {
		c.Add(l.Counts())
	}
	return c
}

// writeSample writes how much was seen.
func (x *explorer) writeSample() error {
	x.growth.mu.Lock()
	defer x.growth.mu.Unlock()
	return coverage.WriteCSV(x.growth.file,
		[]coverage.Sample{x.totals.Sample(x.check.earlier+time.Since(x.check.began), x.sumCounts())})
}

// accountFor enters into the report how much was seen, and returns how to write down what
// that was, unless it will be seen again. The ledger's mu is held.
func (x *explorer) accountFor(r *record.Report) func() error {
	c := r.Coverage
	c.Memo, c.Nodes = x.memo.Counters(), x.sumCounts()
	c.Sample, c.LocalStates = x.totals.Now(x.check.earlier+time.Since(x.check.began), c.Nodes), x.totals.Locals()
	c.Kinds, c.Disks = x.behaviour.reportSightings(x.searched())
	c.StatesDigest, c.Full = x.totals.StatesDigest(), x.before.Full || x.totals.Full()
	saveCorpus := func() error { return x.corpus.saveNowAndThen(&x.behaviour, x.elapsed()) }
	if c.Again || x.kept == nil {
		return saveCorpus
	}
	// Paths that a worker has not entered yet are none for who goes on with this report.
	c.Paths = r.Executions - c.Earlier
	a := x.kept.Log.Account(c.Paths)
	c.Record = a.Record
	return func() error { return errors.Join(x.kept.Write(a), saveCorpus()) }
}

// enterMismatch enters that a transition was not the same the second time.
func (w *worker) enterMismatch(m *memo.Mismatch) {
	x := w.explorer
	doubts, beyond := x.check.hostDoubts(m, nil), x.check.system.Uncontrolled(m.State.Node)
	if len(doubts) > 0 {
		w.doubt(stopHost, doubts...)
		return
	}
	x.memo.Forget() // the next check would not look at this again
	switch n := x.check.ledger.countMismatch(); {
	case beyond != "":
		var doubts []string
		if n == 1 { // others say the same
			doubts = []string{x.describeMismatch(m) + beyond}
		}
		w.doubt(stopUncontrolled, doubts...)
	case n <= maxBugs:
		r := &work.Result{}
		r.Bugs.Say(x.describeMismatch(m) + fmt.Sprintf("\n  if the program of %s uses what cannot be controlled "+
			"(random numbers or the model of the processor: docs/internals/limits.md), that is the reason; if not, please report it", x.check.system.Spec.Nodes[m.State.Node].Name))
		w.giveResult(r)
	}
}

// describeMismatch says which node did not do the same twice, at which step and call.
func (x *explorer) describeMismatch(m *memo.Mismatch) string {
	name := x.check.system.Spec.Nodes[m.State.Node].Name
	text := fmt.Sprintf("node %s, its step %d (%s, at %v): two executions of the step differ (digests %v and %v",
		name, m.State.Depth+1, x.world.Names().Action(m.Input.Action(m.State.Node)), m.Input.At, m.First.Digest,
		m.Second.Digest)
	if m.First.Calls != m.Second.Calls && m.First.Calls > 0 {
		text += fmt.Sprintf(", %d and %d system calls", m.First.Calls, m.Second.Calls)
	}
	text += ")"
	if d := replay.FirstDifference(m.Calls[0], m.Calls[1], x.check.system.CallName); d != nil {
		text += "\n  " + d.String()
	} else {
		text += "\n  two further executions were equal, so the call that differs is not known: --audit 1 compares every step"
	}
	return text
}

// closeCoverage saves what is known and writes the last of the coverage.
func (x *explorer) closeCoverage() error {
	if lines := x.check.system.Digests.Seen(x.memo.Changed()); len(lines) > 0 {
		x.check.ledger.addDoubts(system.Listed(whileRunning, lines))
	}
	if what := x.memo.Damaged(); what != "" {
		x.check.ledger.addNotes(fmt.Sprintf("%s was damaged (%s): Ariadne executed the lost transitions again, and writes the file again", x.stored, what))
	}
	if x.sought != nil {
		most, of := x.sought.Shown()
		x.check.ledger.addNotes(fmt.Sprintf("--seek: an execution showed %d of the %d changes in their order", most, of))
	}
	err := errors.Join(x.writeSample(), x.check.ledger.save(x.check.earlier+x.elapsed()))
	plot := coverage.Growth(x.check.system.Spec.Name+": "+x.check.opts.Search.Strategy, x.totals.Samples())
	var b strings.Builder
	err = errors.Join(err, plot.WriteSVG(&b), x.growth.file.Close(),
		record.WriteFile(x.check.dir.Plot(), []byte(b.String())))
	if x.kept != nil {
		err = errors.Join(err, x.kept.Close())
	}
	return errors.Join(err, x.corpus.save(&x.behaviour), x.memo.Close())
}
