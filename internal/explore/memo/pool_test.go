package memo_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// workers returns n workers of a pool, with instances of their own. They are closed at
// the end, and nothing must be left.
func workers(t *testing.T, m *memo.Memo, n int, boot func(*memotest.Instances) []memo.Boot) (*memo.Pool,
	[]*memo.Worker) {
	t.Helper()
	p := memo.NewPool(m)
	var all []*memo.Worker
	for i := range n {
		own := &memotest.Instances{Programs: chaos}
		w := p.Worker(memo.NewExecutor(m, boot(own), memo.Limits{Checkpoints: 20}))
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if own.Alive != 0 || own.Frozen != 0 {
				t.Errorf("worker %d leaves %d instances and %d checkpoints", i, own.Alive, own.Frozen)
			}
		})
		all = append(all, w)
	}
	return p, all
}

// TestPoolSharesExecutions: many workers ask for the same transitions in different
// orders; each is executed once, and all get the same.
func TestPoolSharesExecutions(t *testing.T) {
	m := open(t, memo.Options{})
	p, all := workers(t, m, 8, (*memotest.Instances).Boot)
	roots := []*memo.Local{m.Root(0), m.Root(1)}
	var mu sync.Mutex
	states := map[string]ariadne.Digest{}
	var group sync.WaitGroup
	for w, worker := range all {
		group.Go(func() {
			for i := range 60 {
				id := (i + w) % 2
				l := roots[id]
				for d := range 6 {
					k := 0
					if d > 0 {
						k = 1 + (i+d*w)%3
					}
					tr, err := worker.Transition(l, input(k))
					if err != nil {
						t.Error(err)
						return
					}
					name := fmt.Sprint(id, l.Name, k)
					mu.Lock()
					if known, ok := states[name]; ok && known != tr.Output.Digest {
						t.Errorf("%s: %v, then %v", name, known, tr.Output.Digest)
					}
					states[name] = tr.Output.Digest
					mu.Unlock()
					l = tr.To
				}
			}
		})
	}
	group.Wait()
	for _, w := range all {
		w.Close() // tells of all that it counted
	}
	c := p.Counts()
	if c.Executed != len(states) || c.Executed+c.Remembered+c.Shared != 8*60*6 {
		t.Errorf("%d different transitions, %+v", len(states), c)
	}
}

// TestPoolAdoptsCheckpoints: a worker does not replay the way to a state of which another worker
// has a checkpoint. It replays only the way to the checkpoint on which that one rests.
func TestPoolAdoptsCheckpoints(t *testing.T) {
	m := open(t, memo.Options{})
	var all []*memo.Worker
	p := memo.NewPool(m)
	for range 2 {
		own := &memotest.Instances{Programs: chaos}
		w := p.Worker(memo.NewExecutor(m, own.Boot(), memo.Limits{Checkpoints: 100, Every: 5, Audit: 1}))
		t.Cleanup(func() {
			if err := w.Close(); err != nil || own.Alive != 0 || own.Frozen != 0 {
				t.Errorf("%d instances and %d checkpoints are left: %v", own.Alive, own.Frozen, err)
			}
		})
		all = append(all, w)
	}
	l := m.Root(0)
	var way []*memo.Local
	for d := range 43 {
		tr, err := all[0].Transition(l, input(min(d, 1)))
		if err != nil {
			t.Fatal(err)
		}
		l = tr.To
		way = append(way, l)
	}
	// The other one does something else at the end, and then nearer to the beginning.
	for _, l := range []*memo.Local{l, way[20]} {
		if _, err := all[1].Transition(l, input(2)); err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range all {
		w.Close()
	}
	c := p.Counts()
	if c.Adopted != 2 || c.Unadopted != 0 || c.Mismatches != 0 {
		t.Errorf("%d checkpoints were adopted, %d were not; %d mismatches", c.Adopted, c.Unadopted, c.Mismatches)
	}
}

// TestPoolGoesOnAfterARefusal: a worker whose instance has gone to the base of another worker's
// checkpoint, which it then cannot adopt, reaches the state from there. It does not take the
// instance for where it was before.
func TestPoolGoesOnAfterARefusal(t *testing.T) {
	m := open(t, memo.Options{})
	var all []*memo.Worker
	p := memo.NewPool(m)
	for _, unfreezable := range []func(steps int) bool{
		func(steps int) bool { return steps < 20 }, // so its first checkpoint is far from the root
		func(steps int) bool { return steps > 30 }, // and only that one can be had
	} {
		own := &memotest.Instances{Programs: chaos, Unfreezable: unfreezable}
		w := p.Worker(memo.NewExecutor(m, own.Boot(), memo.Limits{Checkpoints: 100, Every: 5}))
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, w)
	}
	l := m.Root(0)
	for d := range 43 {
		w := all[0]
		if d < 10 {
			w = all[1]
		}
		tr, err := w.Transition(l, input(min(d, 1)))
		if err != nil {
			t.Fatal(err)
		}
		l = tr.To
	}
	if _, err := all[1].Transition(l, input(2)); err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		w.Close()
	}
	if c := p.Counts(); c.Unadopted == 0 || c.Mismatches != 0 {
		t.Errorf("%d checkpoints were adopted, %d were not; %d mismatches", c.Adopted, c.Unadopted, c.Mismatches)
	}
}

// mute does nothing. After input 7 nothing is left of it but its content.
type mute struct{ forgot bool }

func (*mute) Start(*worldtest.Ctx)                          {}
func (p *mute) Receive(_ *worldtest.Ctx, m ariadne.Message) { p.forgot = m.Data[0] == 7 }
func (*mute) Fire(*worldtest.Ctx)                           {}
func (p *mute) Forgot() bool                                { return p.forgot }

// TestPoolAdoptsByOneWay: a checkpoint that rests on a state which is named by its content is of no
// use to a worker that has come to this state by another way.
func TestPoolAdoptsByOneWay(t *testing.T) {
	m := open(t, memo.Options{})
	p := memo.NewPool(m)
	var all []*memo.Worker
	for i := range 3 {
		own := &memotest.Instances{Programs: func() []worldtest.Program {
			return []worldtest.Program{&mute{}, &mute{}}
		},
			// the first checkpoint, on which the others rest, is of the state with a content
			Unfreezable: func(steps int) bool { return steps < []int{2, 3, 2}[i] }}
		w := p.Worker(memo.NewExecutor(m, own.Boot(), memo.Limits{Checkpoints: 100, Every: 1}))
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, w)
	}
	walk := func(w *memo.Worker, l *memo.Local, inputs ...int) *memo.Local {
		for _, i := range inputs {
			tr, err := w.Transition(l, input(i))
			if err != nil {
				t.Fatal(err)
			}
			l = tr.To
		}
		return l
	}
	met := walk(all[0], m.Root(0), 0, 7)
	far := walk(all[0], met, 8, 9, 10, 11, 12, 13)
	if walk(all[1], m.Root(0), 0, 1, 7) != met {
		t.Fatal("two ways lead to two states")
	}
	walk(all[1], met, 20) // a checkpoint of the state
	walk(all[1], far, 14)
	if c := p.Counts(); c.Adopted != 0 {
		t.Errorf("%d checkpoints were adopted", c.Adopted)
	}
	walk(all[2], m.Root(0), 0, 7, 21) // by the same way
	walk(all[2], far, 15)
	if c := p.Counts(); c.Adopted != 1 || c.Mismatches != 0 {
		t.Errorf("%d checkpoints were adopted, with %d mismatches", c.Adopted, c.Mismatches)
	}
}

// gated boots instances that wait at their first input until the gate opens.
func gated(gate <-chan struct{}, booted chan<- ariadne.NodeID) func(*memotest.Instances) []memo.Boot {
	return func(o *memotest.Instances) []memo.Boot {
		boots := o.Boot()
		first := boots[0]
		boots[0] = func() (memo.Freezable, error) {
			booted <- 0
			<-gate
			return first()
		}
		return boots
	}
}

// TestPoolGoesOnMeanwhile: while one worker executes, another one looks up what is
// known and executes something else.
func TestPoolGoesOnMeanwhile(t *testing.T) {
	m := open(t, memo.Options{})
	gate, booted := make(chan struct{}), make(chan ariadne.NodeID, 2)
	p, all := workers(t, m, 2, gated(gate, booted))
	var slow sync.WaitGroup
	slow.Go(func() {
		if _, err := all[0].Transition(m.Root(0), input(0)); err != nil {
			t.Error(err)
		}
	})
	<-booted
	w := all[1]
	root := m.Root(1)
	for range 3 {
		if _, err := w.Transition(root, input(0)); err != nil {
			t.Fatal(err)
		}
	}
	if c := p.Counts(); c.Executed != 1 || c.Remembered != 2 {
		t.Errorf("%+v", c)
	}
	close(gate)
	slow.Wait()
}

// TestPoolReturnsErrors to all who wait, and goes on.
func TestPoolReturnsErrors(t *testing.T) {
	m := open(t, memo.Options{})
	broken := errors.New("no instance today")
	_, all := workers(t, m, 4, func(o *memotest.Instances) []memo.Boot {
		boots := o.Boot()
		boots[0] = func() (memo.Freezable, error) { return nil, broken }
		return boots
	})
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(func() {
			if _, err := w.Transition(m.Root(0), input(0)); !errors.Is(err, broken) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if _, err := all[0].Transition(m.Root(1), input(0)); err != nil {
		t.Error(err)
	}
}

func TestPoolWithoutMemoSharesNothing(t *testing.T) {
	m := open(t, memo.Options{Off: true})
	p, all := workers(t, m, 4, (*memotest.Instances).Boot)
	var group sync.WaitGroup
	for _, w := range all {
		group.Go(func() {
			l := m.Root(0)
			for i := range 3 {
				tr, err := w.Transition(l, input(i))
				if err != nil {
					t.Error(err)
					return
				}
				l = tr.To
			}
		})
	}
	group.Wait()
	if c := p.Counts(); c.Executed != 12 || c.Shared != 0 || c.Remembered != 0 {
		t.Errorf("%+v", c)
	}
}
