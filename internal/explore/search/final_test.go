package search_test

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"

	"pgregory.net/rapid"
)

// leavings note what ended executions leave, and find something wrong in one of so many. Each node
// is visited, which must change nothing.
type leavings struct {
	oneOf  int
	mu     sync.Mutex
	seen   map[string]bool
	broken map[string]bool
}

func (l *leavings) Judge(p *space.Path, byTime bool) (string, error) {
	text := fmt.Sprint(byTime)
	for i, lines := range p.Last().Lines {
		text += fmt.Sprintf(" node %d", i)
		for _, line := range lines.All() {
			text += " " + line.Text
		}
		at := p.Last().State.Locals[i]
		if err := p.Space().Source.(space.Visitor).Visit(at, func(memo.Instance) error { return nil }); err != nil {
			return "", err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen[text] = true
	if l.oneOf == 0 || len(text)%l.oneOf != 0 {
		return "", nil
	}
	l.broken[text] = true
	return text, nil
}

// TestFinalSeesAll: every strategy that has exhausted the paths has shown to who judges ended
// executions all that any of them leaves.
func TestFinalSeesAll(t *testing.T) {
	ends, violations := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawShowing(t, 3, 4, rapid.Bool().Draw(t, "timers"), true)
		var l *leavings
		oneOf := rapid.SampledFrom([]int{0, 0, 2, 7}).Draw(t, "wrong")
		with := func() *leavings {
			l = &leavings{oneOf: oneOf, seen: map[string]bool{}, broken: map[string]bool{}}
			s.final = l
			return l
		}
		want := with()
		all := explore(t, s.exploration(t, &strategy.DepthFirst{All: true}), 3000)
		if all.how != search.SearchExhausted {
			t.SkipNow()
		}
		for name, e := range map[string]strategy.Explorer{
			"breadth first": &strategy.BreadthFirst{}, "fewest deviations": &strategy.FewestDeviations{},
			"sleep sets": &strategy.SleepSets{}, "DPOR": &strategy.DPOR{},
		} {
			with()
			got := explore(t, s.exploration(t, e), 0)
			if got.how != search.SearchExhausted || !maps.Equal(l.seen, want.seen) ||
				!maps.Equal(l.broken, want.broken) {
				t.Fatalf("%s: %s, %d kinds of ends, %d of them wrong, want %d, %d", name, got.how, len(l.seen),
					len(l.broken), len(want.seen), len(want.broken))
			}
		}
		ends += len(want.seen)
		if len(want.broken) > 0 {
			violations++
		}
	})
	if ends == 0 || violations == 0 {
		t.Errorf("%d kinds of ends, %d systems with violations", ends, violations)
	}
}

var (
	_ space.Visitor = (*memo.Worker)(nil)
	_ space.Visitor = (*memo.Executor)(nil)
	_ space.Visitor = (*memo.Living)(nil)
)
