package aio

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// waiter counts how often it is told.
type waiter struct{ told int }

func (w *waiter) Notify(kernel.Events) { w.told++ }

// TestContexts compares contexts with a list of events and a number of operations: each event is
// taken once, in order, and there is room for what is neither under way nor waits to be taken.
func TestContexts(t *testing.T) {
	type model struct {
		events   []Event
		underWay int
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 30))
		p := kerneltest.Caller(kerneltest.Network(1)[0]).Proc
		const size = 6
		models := map[uint64]*model{}
		for id := range uint64(3) {
			if e := New(p.Node, p, id, size); e != 0 {
				t.Fatal(e)
			}
			models[id] = &model{}
		}
		for i := range 100 {
			id := r.Uint64N(3)
			c, m := Find(p, id), models[id]
			if (c == nil) != (m == nil) {
				t.Fatalf("seed %d: context %d: %v", seed, id, c)
			} else if c == nil {
				continue
			}
			switch r.IntN(12) {
			case 0:
				w := &waiter{}
				c.Changed().AddWatcher(w, false)
				if !Destroy(p, id) || Destroy(p, id) || w.told != 1 {
					t.Fatalf("seed %d: destroyed twice, or waiters were told %d times", seed, w.told)
				}
				delete(models, id)
			case 1, 2, 3:
				n := r.IntN(4)
				k := min(n, len(m.events))
				if got := c.Take(n); !slices.Equal(got, m.events[:k]) {
					t.Fatalf("seed %d: took %v, want %v", seed, got, m.events[:k])
				}
				m.events = m.events[k:]
			case 4, 5, 6:
				if m.underWay > 0 {
					c.End()
					m.underWay--
				}
			default:
				if c.Room() == 0 {
					break
				}
				if r.IntN(2) == 0 {
					c.Begin()
					m.underWay++
					break
				}
				w := &waiter{}
				c.Changed().AddWatcher(w, false)
				c.Complete(Event{Data: uint64(i), Res: int64(i)})
				c.Changed().Remove(w)
				m.events = append(m.events, Event{Data: uint64(i), Res: int64(i)})
				if w.told != 1 {
					t.Fatalf("seed %d: a waiter was told %d times of an event", seed, w.told)
				}
			}
			if m := models[id]; m != nil &&
				(c.Room() != size-len(m.events)-m.underWay || c.Busy() != (m.underWay > 0)) {
				t.Fatalf("seed %d: room for %d, busy %v; want %+v", seed, c.Room(), c.Busy(), *m)
			}
		}
	}
}

// TestOperationsOfANode: the contexts of all processes together hold fs.aio-max-nr operations, an
// id is one address space's own, and contexts end with their address space.
func TestOperationsOfANode(t *testing.T) {
	n := kerneltest.Network(1)[0]
	first, second := kerneltest.Caller(n).Proc, kerneltest.Caller(n).Proc
	if e := kernel.WriteSetting(n, "fs/aio-max-nr", "10"); e != 0 {
		t.Fatal(e)
	}
	var got []kernel.Errno
	for _, c := range []struct {
		p   *kernel.Process
		id  uint64
		max int
	}{{first, 1, 6}, {second, 1, 4}, {second, 2, 1}} {
		got = append(got, New(n, c.p, c.id, c.max))
	}
	if want := []kernel.Errno{0, 0, unix.EAGAIN}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	if a, b := Find(first, 1), Find(second, 1); a == nil || b == nil || a == b || a.Max != 6 || b.Max != 4 {
		t.Errorf("contexts %v and %v", a, b)
	}
	first.Dead = true
	if e := New(n, second, 2, 6); e != 0 {
		t.Errorf("the contexts of the dead still count: %v", e)
	}
	if c := Find(first, 1); c != nil {
		t.Error("a dead process has a context")
	}
	if Destroy(second, 3) {
		t.Error("what was never made was destroyed")
	}
	if got := fmt.Sprint(Find(second, 2).Max, Find(second, 1).Max); got != "6 4" {
		t.Errorf("left are contexts of %s", got)
	}
}
