package search_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// errGiven is the error of a source that gives up.
var errGiven = errors.New("given up")

// failing is a source that fails after some steps: who met it ends.
type failing struct {
	space.Source
	left   int // steps before it fails; less than 0: it does not
	failed bool
}

func (f *failing) Transition(l *memo.Local, in world.Input) (*memo.Transition, error) {
	if f.left == 0 {
		f.failed = true
		return nil, errGiven
	}
	f.left--
	return f.Source.Transition(l, in)
}

// blows are what may go wrong with the workers of a search.
type blows struct {
	after []int // paths after which a worker stops, by worker; 0: it does not
	left  []int // failing.left
	fatal int   // one transition in so many is one that a node cannot go on from; 0: none
	cut   int   // likewise, one that real time has cut off
}

// sober is an explorer that must not be asked once the source has failed.
type sober struct {
	strategy.Exhaustive
	source *failing
	asked  bool
}

func (e *sober) Next(p *space.Path) (event int, ok bool) {
	e.asked = e.asked || e.source.failed
	return e.Exhaustive.Next(p)
}

// TestASourceFails: wherever a source fails, the search ends with its error, and no
// explorer is asked in a state of which it is not known what can happen there.
func TestASourceFails(t *testing.T) {
	for _, chooses := range []bool{false, true} {
		sourceFails(t, chooses)
	}
}

func sourceFails(t *testing.T, chooses bool) {
	s := small{rules: world.Rules{Latency: time.Millisecond, Faults: world.Faults{world.Fail: 1}}}
	s.programs = func() []worldtest.Program {
		var p []worldtest.Program
		for range 3 {
			p = append(p,
				&worldtest.Chaos{Nodes: 3, Seed: 3, Acts: 2, Exits: 40, NoTimers: true, Tries: true, Chooses: chooses})
		}
		return p
	}
	for name := range divisible() {
		for how, steps := "", 0; how != search.SearchExhausted; steps += 1 + steps/8 {
			x := s.exploration(t, divisible()[name])
			f := &failing{Source: x.Space.Source, left: steps}
			e := &sober{Exhaustive: divisible()[name].(strategy.Exhaustive), source: f}
			x.Space.Source, x.Explorer = f, e
			var err error
			if how, err = x.Run(); how != search.SearchExhausted && !errors.Is(err, errGiven) || e.asked {
				t.Fatalf("%s, of which the source fails after %d steps: %s, %v; asked: %v", name, steps, how, err, e.asked)
			}
		}
	}
}

// hammer runs explorers at the same time, of which some stop or fail on the way. A panic is
// an error.
func (s small) hammer(t failer, explorers []strategy.Explorer, b blows) (got found, err error) {
	x := s.exploration(t, nil)
	m, err := memo.Open(x.Space.System, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	amend := func(_, steps int, out *ariadne.Output) {
		h := int(out.Digest[0]) | int(out.Digest[1])<<8
		switch {
		case b.fatal > 0 && h%b.fatal == 0:
			out.Fatal = "what is not there"
		case b.cut > 0 && h%b.cut == 1:
			out.Cut = "too long"
		}
	}
	pool := memo.NewPool(m)
	got = newFound()
	hows := map[string]bool{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	for i, e := range explorers {
		workers.Go(func() {
			part := newFound()
			instances := &memotest.Instances{Programs: s.programs, Amend: amend}
			nodes := pool.Worker(memo.NewExecutor(m, instances.Boot(), memo.Limits{Checkpoints: 20}))
			w := &search.Exploration{Space: s.space(x.Space.System, m, &failing{Source: nodes, left: b.left[i]}),
				Explorer: e, Bounds: s.bounds, Checks: x.Checks, Seen: &space.Set{Bytes: 1}}
			if s.uneven > 0 {
				w.Stopped = pauses(s.uneven, uint64(i))
			}
			n := 0
			w.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if part.ended(p, end, v); w.Stopped != nil {
					w.Stopped() // others go on meanwhile
				}
				n++
				return n != b.after[i]
			}
			how, failed := "", error(nil)
			func() {
				defer func() {
					if p := recover(); p != nil {
						failed = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
					}
				}()
				how, failed = w.Run()
			}()
			if errors.Is(failed, errGiven) {
				how, failed = "gave up", nil
			}
			failed = errors.Join(failed, nodes.Close())
			mu.Lock()
			defer mu.Unlock()
			hows[how] = true
			err = errors.Join(err, failed)
			maps.Copy(got.traces, part.traces)
			maps.Copy(got.violations, part.violations)
			got.coverage.Paths += w.Coverage.Paths
		})
	}
	workers.Wait()
	got.how = fmt.Sprint(hows)
	if len(hows) == 1 {
		for got.how = range hows {
		}
	}
	return got, err
}

// TestDPORIsHammered: whatever ends its workers, keeps events from happening or ends paths,
// DPOR takes only paths that there are, closes all that it has opened, and when it says that it
// has taken all, it has.
func TestDPORIsHammered(t *testing.T) {
	whole, parts, impossible := 0, 0, 0
	check := func(t *rapid.T) {
		s := drawSystem(t, 4, 4, rapid.Bool().Draw(t, "timers"))
		if rapid.Bool().Draw(t, "bounded") {
			s.bounds.Deviations = space.Bound(rapid.IntRange(0, 6).Draw(t, "deviations"))
			s.bounds.Timers = space.Bound(rapid.IntRange(0, 3).Draw(t, "timers out of turn"))
			s.bounds.Kinds[ariadne.ActDeliver] = space.Bound(rapid.SampledFrom([]int{0, 0, 4, 8}).Draw(t, "deliveries"))
			s.bounds.Depth = rapid.SampledFrom([]int{0, 0, 5, 9}).Draw(t, "depth")
		}
		b := blows{fatal: rapid.SampledFrom([]int{0, 0, 7, 30}).Draw(t, "fatal"),
			cut: rapid.SampledFrom([]int{0, 0, 11, 40}).Draw(t, "cut")}
		d := strategy.DPOR{
			Kept:       rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(t, "kept"),
			Branch:     space.Bound(rapid.SampledFrom([]int{0, 0, 0, 4}).Draw(t, "branch")),
			Backtracks: space.Bound(rapid.SampledFrom([]int{0, 0, 0, 20}).Draw(t, "backtracks")),
		}
		if seed := rapid.Uint64Range(0, 3).Draw(t, "order"); seed > 0 {
			d.Choose = func(p *space.Path, choices []int) (event, awake int) {
				i := choices[rand.New(rand.NewPCG(seed, p.Last().State.Hash().Lo)).IntN(len(choices))]
				return i, i
			}
		}
		quiet := func(n int) blows {
			return blows{after: make([]int, n), left: slicesOf(n, -1), fatal: b.fatal, cut: b.cut}
		}
		all, err := s.hammer(t, []strategy.Explorer{&strategy.DepthFirst{All: true}},
			blows{after: []int{500}, left: []int{-1}, fatal: b.fatal, cut: b.cut})
		if err != nil {
			t.Fatal(err)
		}
		if all.how != search.SearchExhausted {
			t.SkipNow()
		}
		s.uneven = rapid.SampledFrom([]int{0, 3, 10, 30}).Draw(t, "uneven")
		one := func(n int, b blows) {
			explorers := d.Divide(n)
			got, err := s.hammer(t, explorers, b)
			for _, e := range explorers {
				impossible += e.(*strategy.DPOR).Impossible
			}
			if err != nil {
				t.Fatalf("%d workers: %v", n, err)
			}
			for h := range got.traces {
				if !all.traces[h] {
					t.Fatalf("%d workers: a trace that does not exist", n)
				}
			}
			parts++
			if got.how != search.SearchExhausted {
				return
			}
			whole++
			if !maps.Equal(got.traces, all.traces) || !maps.Equal(got.violations, all.violations) {
				t.Fatalf("%d workers: %d traces and %d violations, want %d and %d", n, len(got.traces),
					len(got.violations), len(all.traces), len(all.violations))
			}
		}
		for _, n := range []int{1, 2, 5} {
			one(n, quiet(n))
			c := quiet(n)
			for i := range n {
				c.after[i] = rapid.SampledFrom([]int{0, 0, 1, 5, 20}).Draw(t, "after")
				c.left[i] = rapid.SampledFrom([]int{-1, -1, 3, 30, 100}).Draw(t, "left")
			}
			one(n, c)
		}
	}
	rapid.Check(t, check)
	for i := 1; i < 20 && os.Getenv("ARIADNE_LONG") != ""; i++ {
		rapid.Check(t, check)
	}
	t.Logf("%d searches, of which %d took all; %d reversals were not possible", parts, whole, impossible)
}

func slicesOf(n, value int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = value
	}
	return s
}
