package search_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
)

func still() time.Duration { return 0 }

// take asks a plan for its next executions, at most n.
func take(p *search.Plan, n int) []int {
	got := []int{}
	for len(got) < n {
		i, ok := p.Next()
		if !ok {
			break
		}
		got = append(got, i)
	}
	return got
}

func TestPlanKeepsToItsExecutions(t *testing.T) {
	p := search.NewPlan(search.Budget{First: 5, Executions: 3}, still)
	if got := take(p, 10); !slices.Equal(got, []int{5, 6, 7}) {
		t.Fatalf("got %v", got)
	}
	// The last ones may finish.
	p.EnterEnd(6, nil)
	p.EnterEnd(5, nil)
	if p.Stopped() != "" || p.ResumeIndex() != 7 {
		t.Errorf("stopped %q, resume at %d", p.Stopped(), p.ResumeIndex())
	}
	p.EnterEnd(7, nil)
	if p.Stopped() != search.StopExecutions || p.ResumeIndex() != 8 {
		t.Errorf("stopped %q, resume at %d", p.Stopped(), p.ResumeIndex())
	}
}

func TestPlanKeepsToItsTime(t *testing.T) {
	now := time.Duration(0)
	p := search.NewPlan(search.Budget{Time: time.Second}, func() time.Duration { return now })
	if len(take(p, 2)) != 2 {
		t.Fatal("stopped too early")
	}
	now = time.Second
	if len(take(p, 2)) != 0 || p.Stopped() != search.StopTime {
		t.Errorf("stopped %q", p.Stopped())
	}
}

func TestPlanStopsAtTheFirstViolation(t *testing.T) {
	p := search.NewPlan(search.Budget{}, still)
	take(p, 3)
	p.EnterEnd(1, &ariadne.Violation{Kind: "death"})
	if p.Stopped() != search.StopViolation || len(take(p, 1)) != 0 {
		t.Errorf("stopped %q", p.Stopped())
	}
	// Execution 0 has not ended: a resumed check runs it.
	if p.ResumeIndex() != 0 {
		t.Errorf("resume at %d", p.ResumeIndex())
	}
}

func TestPlanStopsAtWhatIsLookedFor(t *testing.T) {
	p := search.NewPlan(search.Budget{KeepGoing: true, Until: regexp.MustCompile("two leaders")}, still)
	take(p, 3)
	p.EnterEnd(1, &ariadne.Violation{Kind: "death", Message: "panic"})
	if p.Stopped() != "" || len(take(p, 1)) != 1 {
		t.Errorf("stopped %q", p.Stopped())
	}
	p.EnterEnd(2, &ariadne.Violation{Kind: "at_most_one", Message: "two leaders of term 4"})
	if p.Stopped() != search.StopSought || len(take(p, 1)) != 0 || len(p.Findings()) != 2 {
		t.Errorf("stopped %q with %d findings", p.Stopped(), len(p.Findings()))
	}
}

func TestPlanKeepsGoingAndCountsAlike(t *testing.T) {
	p := search.NewPlan(search.Budget{KeepGoing: true}, still)
	p.EnterKnown(search.Finding{Violation: ariadne.Violation{Kind: "deadlock"}, Execution: 2, Count: 4})
	take(p, 5)
	for i, v := range []ariadne.Violation{
		{Kind: "death", Node: 1, Message: "term 17 at 0xc000", Step: 3},
		{Kind: "death", Node: 1, Message: "term 4 at 0xdeadbeef", Step: 9},
		{Kind: "death", Node: 2, Message: "term 17 at 0xc000"},
		{Kind: "death", Node: 1, Message: "no term"},
		{Kind: "deadlock"},
	} {
		if isNew, want := p.IsNew(v), i != 1 && i != 4; isNew != want {
			t.Errorf("violation %d: new %v", i, isNew)
		}
		p.EnterEnd(i, &v)
	}
	var counts []int
	for _, f := range p.Findings() {
		counts = append(counts, f.Count)
	}
	if !slices.Equal(counts, []int{5, 2, 1, 1}) {
		t.Errorf("counts %v", counts)
	}
	if p.Stopped() != "" {
		t.Errorf("stopped: %s", p.Stopped())
	}
	p.Stop("interrupted")
	p.Stop("again")
	if p.Stopped() != "interrupted" {
		t.Errorf("stopped: %s", p.Stopped())
	}
}
