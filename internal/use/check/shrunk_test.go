package check_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestShrunkAgreesWithBruteForce: in systems that are small enough to take all executions, those
// with the fewest deviations first, what random walks have found is shrunk to an execution that is
// as small as the smallest that there is with the same violation.
func TestShrunkAgreesWithBruteForce(t *testing.T) {
	same, more, shrunk := 0, 0, 0
	for seed := range uint64(100) {
		programs := func() (all []worldtest.Program) {
			for range 3 {
				all = append(all,
					&worldtest.Chaos{Nodes: 3, Seed: seed, Acts: 2, NoTimers: true, Exits: 40, Shows: true})
			}
			return all
		}
		run := func(strategy string, executions int, shrink time.Duration) *record.Report {
			s := systemtest.Spec(t, 3, 1)
			s.Seed = seed
			s.Properties.Sources = expose.Sources{{Name: "step", Line: regexp.MustCompile(`shows (\d)`)}}
			s.Properties.Predicates = []property.Predicate{{Name: "not both", Form: property.Never,
				Expr: `len([t for t in step if t.value == "3"]) > 1`}}
			s.Faults = worldtest.Faults("duplicate", 1)
			return inMemory(t, s, programs,
				check.Options{Executions: executions, Workers: 1, Shrink: shrink, KeepGoing: true,
					Search: check.Search{Strategy: strategy}})
		}
		all := run("deviations", 5000, 0)
		if !all.Coverage.Exhausted || len(all.Violations) == 0 {
			continue
		}
		var want *record.Size
		for _, v := range all.Violations {
			if want == nil || v.Size.Less(*want) {
				want = v.Size
			}
		}
		for _, v := range run("random", 60, time.Minute).Violations {
			got := *v.Size
			if v.Shrunk != nil {
				if got = v.Shrunk.To; v.Shrunk.From != *v.Size || !strings.HasPrefix(v.Shrunk.Message, "not both: ") {
					t.Errorf("seed %d: %q, %+v of %q, %+v", seed, v.Shrunk.Message, v.Shrunk.To, v.Message, *v.Size)
				}
				shrunk++
			}
			switch n, m := got.Faults+got.Deviations, want.Faults+want.Deviations; {
			case n < m:
				t.Errorf("seed %d: %q: %+v, although the smallest is %+v", seed, v.Message, got, *want)
			case n == m:
				same++
			default:
				t.Logf("seed %d: %+v, the smallest is %+v", seed, got, *want)
				more++
			}
		}
	}
	t.Logf("%d as small as the smallest, %d larger; %d were shrunk", same, more, shrunk)
	if shrunk < 3 || more > 0 {
		t.Errorf("%d as small as the smallest, %d larger; %d were shrunk", same, more, shrunk)
	}
}
