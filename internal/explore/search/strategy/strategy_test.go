package strategy_test

import (
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// many are ten nodes with a timer each at the same time, again and again.
func many() (programs []worldtest.Program) {
	for range 10 {
		programs = append(programs, ticking{})
	}
	return programs
}

type ticking struct{ worldtest.Idle }

func (ticking) Start(c *worldtest.Ctx) { c.SetTimer(time.Millisecond) }
func (ticking) Fire(c *worldtest.Ctx)  { c.SetTimer(time.Millisecond) }

// walk is what the execution of an index chooses where ten events are enabled, n times.
func walk(t *testing.T, seed uint64, index, n int) (choices []int) {
	t.Helper()
	y := world.NewSystem(world.Rules{ClockError: time.Hour}, worldtest.Nodes(many()...))
	s := space.Live(y, memotest.Living(y, many))
	p, err := space.NewPath(s, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	r := &strategy.Random{Seed: seed, Draw: func() (int, bool) { return index, true }}
	if _, ok := r.Begin(p); !ok {
		t.Fatal("there is no execution")
	}
	for p.Len() < 10 { // the starts
		if err := p.Push(0); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		i, ok := r.Next(p)
		if !ok {
			break
		}
		f := p.Last()
		if f.Plain != 10 {
			t.Fatalf("%d events", f.Plain)
		}
		plain := slices.IndexFunc(f.Enabled, func(e world.Event) bool { return e.SameInput(&f.Enabled[i]) })
		choices = append(choices, plain)
		if err := p.Push(i); err != nil {
			t.Fatal(err)
		}
	}
	return choices
}

func TestFirstExecutionIsNatural(t *testing.T) {
	for _, i := range walk(t, 1, 0, 100) {
		if i != 0 {
			t.Fatal("execution 0 deviates")
		}
	}
}

func TestWalksDependOnSeedAndIndexAlone(t *testing.T) {
	base := walk(t, 7, 13, 100)
	if !slices.Equal(base, walk(t, 7, 13, 100)) {
		t.Error("the same walk differs")
	}
	if slices.Equal(base, walk(t, 8, 13, 100)) {
		t.Error("another seed makes the same walk")
	}
	if slices.Equal(base, walk(t, 7, 13+6, 100)) {
		t.Error("another index makes the same walk")
	}
}

// TestTempers: walks take turns in how often they deviate, from always to one
// step in 32.
func TestTempers(t *testing.T) {
	const n = 20000
	for index := 1; index <= 12; index++ {
		deviations := 0
		for _, i := range walk(t, 3, index, n) {
			if i != 0 {
				deviations++
			}
		}
		want := n * 9 / 10 >> ((index - 1) % 6)
		if deviations < want*8/10 || deviations > want*12/10 {
			t.Errorf("walk %d deviates %d times in %d, want about %d", index, deviations, n, want)
		}
	}
}

// TestRows: what users read of strategies, and what the rows say of them.
func TestRows(t *testing.T) {
	rows := strategy.Rows()
	if rows[0].Name != strategy.DefaultName || !slices.IsSortedFunc(rows[1:], func(a, b strategy.Row) int {
		return slices.Compare([]byte(a.Name), []byte(b.Name))
	}) {
		t.Error("they are not in order")
	}
	for _, r := range rows {
		if r.Doc == "" || r.Make == nil {
			t.Errorf("%s: incomplete", r.Name)
		}
		if r.Lives && (r.States || r.Orders || r.Again) {
			t.Errorf("%s: nodes that live cannot be gone back to", r.Name)
		}
		if same, ok := strategy.Named(r.Name); !ok || same.Doc != r.Doc {
			t.Errorf("%s is named twice", r.Name)
		}
	}
}
