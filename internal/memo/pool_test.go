package memo_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/memo/memotest"
)

// newPool returns a pool of n executors with machines of their own. It is closed at
// the end, and nothing must be left.
func newPool(t *testing.T, m *memo.Memo, n int, boot func(*memotest.Machines) []memo.Boot) *memo.Pool {
	t.Helper()
	var all []*memotest.Machines
	for range n {
		all = append(all, &memotest.Machines{Programs: chaos})
	}
	p := memo.NewPool(m, n, func(i int) *memo.Executor {
		return memo.NewExecutor(m, boot(all[i]), memo.Limits{Checkpoints: 20})
	})
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		for i, o := range all {
			if o.Alive != 0 || o.Frozen != 0 {
				t.Errorf("executor %d leaves %d machines and %d checkpoints", i, o.Alive, o.Frozen)
			}
		}
	})
	return p
}

// TestPoolSharesExecutions: many workers ask for the same transitions in different
// orders; each is executed once, and all get the same.
func TestPoolSharesExecutions(t *testing.T) {
	m := open(t, memo.Options{})
	p := newPool(t, m, 2, (*memotest.Machines).Boot)
	roots := []*memo.Local{m.Root(0), m.Root(1)}
	var mu sync.Mutex
	states := map[string]ariadne.Digest{}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			source := p.Worker()
			for i := range 60 {
				id := (i + w) % 2
				l := roots[id]
				for d := range 6 {
					k := 0
					if d > 0 {
						k = 1 + (i+d*w)%3
					}
					tr, err := source.Transition(l, input(k))
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
	workers.Wait()
	c := p.Counts()
	if c.Executed != len(states) || c.Executed+c.Remembered+c.Shared != 8*60*6 {
		t.Errorf("%d different transitions, %+v", len(states), c)
	}
}

// gated boots machines that wait at their first input until the gate opens.
func gated(gate <-chan struct{}, booted chan<- ariadne.NodeID) func(*memotest.Machines) []memo.Boot {
	return func(o *memotest.Machines) []memo.Boot {
		boots := o.Boot()
		first := boots[0]
		boots[0] = func() (memo.Machine, error) {
			booted <- 0
			<-gate
			return first()
		}
		return boots
	}
}

// TestPoolGoesOnMeanwhile: while one worker waits for an executor, another one looks
// up what is known, and a third has another executor.
func TestPoolGoesOnMeanwhile(t *testing.T) {
	m := open(t, memo.Options{})
	gate, booted := make(chan struct{}), make(chan ariadne.NodeID, 2)
	p := newPool(t, m, 2, gated(gate, booted))
	var slow sync.WaitGroup
	slow.Go(func() {
		if _, err := p.Worker().Transition(m.Root(0), input(0)); err != nil {
			t.Error(err)
		}
	})
	<-booted
	w := p.Worker()
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

// TestPoolDoesOneStateInARow: of what waits, an executor takes first what begins
// where it stands or has a checkpoint; and nobody waits for ever.
func TestPoolDoesOneStateInARow(t *testing.T) {
	m := open(t, memo.Options{})
	p := newPool(t, m, 1, (*memotest.Machines).Boot)
	w := p.Worker()
	var ends []*memo.Local // of two paths of node 0
	for k := 1; k <= 2; k++ {
		l := m.Root(0)
		for d := range 10 {
			i := k
			if d == 0 {
				i = 0
			}
			tr, err := w.Transition(l, input(i))
			if err != nil {
				t.Fatal(err)
			}
			l = tr.To
		}
		ends = append(ends, l)
	}
	before := p.Counts()
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			if _, err := p.Worker().Transition(ends[i%2], input(20+i)); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Millisecond / 10)
	}
	group.Wait()
	c := p.Counts()
	if c.Executed-before.Executed != 20 || c.Freezes-before.Freezes > 4 || c.Replayed-before.Replayed > 20 {
		t.Errorf("before %+v, after %+v", before, c)
	}
}

// TestPoolReturnsErrors to all who wait, and goes on.
func TestPoolReturnsErrors(t *testing.T) {
	m := open(t, memo.Options{})
	broken := errors.New("no machine today")
	p := newPool(t, m, 2, func(o *memotest.Machines) []memo.Boot {
		boots := o.Boot()
		boots[0] = func() (memo.Machine, error) { return nil, broken }
		return boots
	})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := p.Worker().Transition(m.Root(0), input(0)); !errors.Is(err, broken) {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if _, err := p.Worker().Transition(m.Root(1), input(0)); err != nil {
		t.Error(err)
	}
}

func TestPoolWithoutMemoSharesNothing(t *testing.T) {
	m := open(t, memo.Options{Off: true})
	p := newPool(t, m, 2, (*memotest.Machines).Boot)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			w := p.Worker()
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
