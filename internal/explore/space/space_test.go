package space_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

type failer interface {
	Helper()
	Fatal(...any)
}

// newSpace returns the space of programs, and nodes for a world of the same.
func newSpace(t failer, r world.Rules, starts []int, limits memo.Limits, o memo.Options,
	programs func() []worldtest.Program) (*space.Space, *memo.Executor) {
	t.Helper()
	y := world.NewSystem(r, nodes(starts, programs))
	m, err := memo.Open(y, o)
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: programs}).Boot(), limits)
	return space.New(y, m, x), x
}

func nodes(starts []int, programs func() []worldtest.Program) []world.Node {
	n := worldtest.Nodes(programs()...)
	for i := range starts {
		n[i].Start = ariadne.Time(starts[i]) * 1e6
	}
	return n
}

// TestAgreesWithTheWorld: on any path, also when it goes back and on elsewhere, the
// world in memory is the same as one with living nodes.
func TestAgreesWithTheWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := world.Rules{
			Faults:     worldtest.Faults("duplicate", rapid.IntRange(0, 2).Draw(t, "duplicates")),
			Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
			ClockError: time.Duration(rapid.IntRange(0, 2).Draw(t, "E ms")) * time.Millisecond,
			Delays:     rapid.IntRange(0, 3).Draw(t, "delays"),
		}
		r.Faults[world.Lose] = uint8(rapid.IntRange(0, 2).Draw(t, "losses"))
		r.Faults[world.Reset] = uint8(rapid.IntRange(0, 2).Draw(t, "resets"))
		r.Faults[world.Refuse] = uint8(rapid.IntRange(0, 2).Draw(t, "refusals"))
		n := rapid.IntRange(2, 4).Draw(t, "nodes")
		seed := rapid.Uint64().Draw(t, "seed")
		opens := rapid.Bool().Draw(t, "opens")
		starts := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "starts ms")
		programs := func() []worldtest.Program {
			var p []worldtest.Program
			for range n {
				p = append(p, &worldtest.Chaos{Nodes: n, Seed: seed, Opens: opens})
			}
			return p
		}
		limits := memo.Limits{Checkpoints: rapid.IntRange(0, 5).Draw(t, "checkpoints")}
		p, x := newSpace(t, r, starts, limits, memo.Options{Bytes: 30000}, programs)
		defer x.Close()
		path, err := space.NewPath(p, space.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 4).Draw(t, "paths") {
			path.Cut(rapid.IntRange(0, path.Len()).Draw(t, "keep"))
			for _, c := range rapid.SliceOfN(rapid.IntRange(0, 10), 0, 40).Draw(t, "choices") {
				if k := len(path.Last().Enabled); k == 0 {
					break
				} else if err := path.Push(c % k); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, path, worldtest.New(r, nodes(starts, programs), worldtest.Automata(programs()...)))
		}
	})
}

// compare drives w along the path.
func compare(t *rapid.T, path *space.Path, w *worldtest.World) {
	for i := 0; ; i++ {
		f := path.Frame(i)
		s := w.State()
		if f.State.Digest() != s.Digest() || f.State.Hash() != s.Hash() || f.State.Now != s.Now ||
			f.State.Steps != s.Steps {
			t.Fatalf("after %d steps:\n%+v\n%+v", i, f.State.State, s)
		}
		enabled := w.Enabled()
		if len(enabled) != len(f.Enabled) {
			t.Fatalf("%d events, %d actions", len(f.Enabled), len(enabled))
		}
		for j := range enabled {
			if enabled[j] != f.Enabled[j].Action() {
				t.Fatalf("%v, %v", enabled[j], f.Enabled[j])
			}
		}
		if i == path.Len() {
			return
		}
		want, err := w.Apply(path.Event(i + 1).Action())
		if err != nil {
			t.Fatal(err)
		}
		if got := path.Step(i + 1); got.Name != want.Name || got.At != want.At ||
			got.Output.Digest != want.Output.Digest {
			t.Fatalf("%+v, %+v", got, want)
		}
	}
}

// TestHashesStandForDigests: two states have the same hash when they have the same
// digest, and only then.
func TestHashesStandForDigests(t *testing.T) {
	p, x := newSpace(t, world.Rules{Latency: time.Millisecond, Delays: 1}, nil, memo.Limits{Checkpoints: 50},
		memo.Options{}, worldtest.LostUpdate)
	defer x.Close()
	path, err := space.NewPath(p, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	digests, hashes := map[ariadne.Digest]hash.Hash{}, map[hash.Hash]ariadne.Digest{}
	steps := 0
	var visit func()
	visit = func() {
		f := path.Last()
		d, h := f.State.Digest(), f.State.Hash()
		if before, ok := digests[d]; ok && before != h {
			t.Fatal("one digest, two hashes")
		}
		if before, ok := hashes[h]; ok && before != d {
			t.Fatal("one hash, two digests")
		}
		if _, ok := digests[d]; ok {
			return
		}
		digests[d], hashes[h] = h, d
		n := path.Len()
		for i := range len(f.Enabled) {
			path.Cut(n)
			if err := path.Push(i); err != nil {
				t.Fatal(err)
			}
			steps++
			visit()
		}
	}
	visit()
	if len(digests) < 100 || steps < len(digests) {
		t.Errorf("%d states, %d steps", len(digests), steps)
	}
}

func TestBounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		bounds space.Bounds
		want   func(p *space.Path) bool
	}{
		{"depth", space.Bounds{Depth: 5}, func(p *space.Path) bool { return p.Len() == 5 }},
		{"deviations", space.Bounds{Deviations: space.AtMost(2)}, func(p *space.Path) bool {
			n := 0
			for i := range p.Len() {
				if p.Frame(i).Taken > 0 {
					n++
				}
			}
			return n == 2
		}},
		{"kinds", space.Bounds{Kinds: [world.MaxKinds]space.Bound{ariadne.ActFire: space.AtMost(0)}},
			func(p *space.Path) bool {
				for i := range p.Len() {
					if p.Event(i+1).Kind == ariadne.ActFire {
						return false
					}
				}
				return true
			}},
		{"timers", space.Bounds{Timers: space.AtMost(1)}, func(p *space.Path) bool {
			n, natural := 0, 0
			for i := range p.Len() {
				switch {
				case p.Event(i+1).Kind != ariadne.ActFire:
				case p.Frame(i).Taken == 0:
					natural++
				default:
					n++
				}
			}
			return n == 1 && natural > 0
		}},
	} {
		chaos := func() []worldtest.Program {
			return []worldtest.Program{&worldtest.Chaos{Nodes: 3}, &worldtest.Chaos{Nodes: 3},
				&worldtest.Chaos{Nodes: 3}}
		}
		p, x := newSpace(t, world.Rules{Latency: time.Millisecond, ClockError: time.Millisecond, Delays: 9}, nil,
			memo.Limits{}, memo.Options{}, chaos)
		defer x.Close()
		path, err := space.NewPath(p, c.bounds)
		if err != nil {
			t.Fatal(err)
		}
		bounded := false
		for len(path.Last().Enabled) > 0 {
			if err := path.Push(len(path.Last().Enabled) - 1); err != nil {
				t.Fatal(err)
			}
			bounded = bounded || path.Last().Bounded
		}
		if !c.want(path) || !bounded {
			t.Errorf("%s: %d steps, bounded %v", c.name, path.Len(), bounded)
		}
	}
}

func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s space.Set
		want := map[hash.Hash]bool{}
		for range rapid.IntRange(0, 5000).Draw(t, "n") {
			h := hash.Of(uint64(rapid.IntRange(0, 3000).Draw(t, "v")), 0, 0)
			if s.Add(h) == want[h] {
				t.Fatal("fresh twice")
			}
			want[h] = true
		}
		n := 0
		s.All(func(h hash.Hash) {
			n++
			if !want[h] {
				t.Fatal("a hash that was never added")
			}
		})
		if n != len(want) || s.Len() != n || s.Has(hash.Of(7, 7, 7)) {
			t.Fatalf("%d, %d, want %d", n, s.Len(), len(want))
		}
	})
}

// TestFrom: the path begins behind the natural steps up to the one asked for, and the
// bounds count from there.
func TestFrom(t *testing.T) {
	rules := world.Rules{Latency: time.Millisecond, Delays: 9}
	p, x := newSpace(t, rules, nil, memo.Limits{}, memo.Options{}, worldtest.TwoPhaseCommit)
	defer x.Close()
	const from, depth = 6, 4
	path, err := space.NewPath(p,
		space.Bounds{From: func(s ariadne.Step) bool { return s.Index == from }, Depth: depth,
			Deviations: space.AtMost(1)})
	if err != nil {
		t.Fatal(err)
	}
	w := worldtest.Of(rules, worldtest.TwoPhaseCommit()...)
	push := func(i int) {
		t.Helper()
		if err := path.Push(i); err != nil {
			t.Fatal(err)
		}
		s := path.Step(path.Steps())
		if want, err := w.Apply(s.Action); err != nil || s.Name != want.Name || s.Index != want.Index {
			t.Fatalf("%+v, want %+v, %v", s, want, err)
		}
	}
	for n := 0; path.Approaching(); n++ {
		if path.Len() != n || len(path.Last().Enabled) != 1 || !path.Last().Bounded && len(w.Enabled()) > 1 {
			t.Fatalf("on the approach: %d steps, %d events", path.Len(), len(path.Last().Enabled))
		}
		push(0)
	}
	if path.Len() != 0 || path.Steps() != from || len(path.Last().Enabled) < 2 || path.Frame(0) != path.Last() {
		t.Fatalf("the path begins with %d steps and %d events, after %d", path.Len(), len(path.Last().Enabled),
			path.Steps())
	}
	first := path.Hash(path.Last())
	push(1)
	for len(path.Last().Enabled) > 0 {
		if len(path.Last().Enabled) != 1 {
			t.Fatal("a second deviation")
		}
		push(0)
	}
	if path.Len() != depth || path.Steps() != from+depth || path.Event(1).Action() != path.Step(from+1).Action ||
		path.Transition(from).Output.Digest != path.Step(from).Output.Digest {
		t.Fatalf("%d steps, %d in all", path.Len(), path.Steps())
	}
	path.Cut(0)
	if path.Steps() != from || path.Hash(path.Last()) != first {
		t.Fatal("a cut goes into the approach")
	}
}

// BenchmarkRemembered is a depth-first search of a small system of which every
// transition is known: copy, enabled events, look-up, hash and visited set.
func BenchmarkRemembered(b *testing.B) {
	p, x := newSpace(b, world.Rules{Latency: time.Millisecond, Delays: 2}, nil, memo.Limits{Checkpoints: 50},
		memo.Options{}, worldtest.LostUpdate)
	defer x.Close()
	path, err := space.NewPath(p, space.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	var seen space.Set
	steps := 0
	var visit func()
	visit = func() {
		n := path.Len()
		if !seen.Add(path.Hash(path.Last())) {
			return
		}
		for i := 0; i < len(path.Frame(n).Enabled); i++ {
			path.Cut(n)
			if path.Push(i) != nil {
				b.Fatal("a step failed")
			}
			steps++
			visit()
		}
	}
	search := func() {
		seen = space.Set{}
		path.Cut(0)
		visit()
	}
	search() // saturates the memo
	executed := x.Counts().Executed
	steps = 0
	b.ReportAllocs()
	for b.Loop() {
		search()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "transitions/s")
	b.ReportMetric(float64(steps)/float64(b.N), "transitions/op")
	if x.Counts().Executed != executed {
		b.Error("something was executed")
	}
}

// TestSetTellsWhatIsNew: New tells of each hash once, also while others enter more and
// the set grows.
func TestSetTellsWhatIsNew(t *testing.T) {
	s := &space.Set{}
	at := func(i int) hash.Hash { return hash.Of(uint64(i), 0, 0) }
	for i := range 1000 {
		s.Add(at(i))
	}
	s.TrackNew()
	told := map[hash.Hash]int{}
	tell := func() {
		if err := s.TakeNew(func(all []hash.Hash) error {
			for _, h := range all {
				told[h]++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	const n = 60_000
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range n {
			s.Add(at(i / 2)) // each twice
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		tell()
	}
	if len(told) != n/2-1000 {
		t.Errorf("told of %d, want %d", len(told), n/2-1000)
	}
	for i := range n / 2 {
		if want := min(max(i-999, 0), 1); told[at(i)] != want {
			t.Fatalf("told %d times of the one numbered %d", told[at(i)], i)
		}
	}
	// In an order that fits a smaller table as well.
	s = &space.Set{}
	s.TrackNew()
	for i := range 64 * 4000 {
		s.Add(at(i))
	}
	sum, of := map[uint64]float64{}, map[uint64]int{}
	if err := s.TakeNew(func(all []hash.Hash) error {
		for _, h := range all {
			if stripe := h.Hi >> 58; of[stripe] < 1000 {
				of[stripe]++
				sum[stripe] += float64(h.Lo) / (1 << 63) / 2
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for stripe, sum := range sum {
		if mean := sum / float64(of[stripe]); mean < 0.4 || mean > 0.6 {
			t.Errorf("stripe %d: the first %d are at %.2f of the table", stripe, of[stripe], mean)
		}
	}
}

func TestSetFailsToTell(t *testing.T) {
	s := &space.Set{}
	s.TrackNew()
	failed := errors.New("full")
	s.Add(hash.Of(1, 2, 3))
	if err := s.TakeNew(func([]hash.Hash) error { return failed }); err != failed {
		t.Errorf("err = %v", err)
	}
}
