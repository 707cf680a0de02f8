package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

const functions = `
def sum(tuples):
    n = 0
    for t in tuples:
        n += int(t.value)
    return n

def total(values):
    return [{"sum": sum(values)}]

def total_by(before, added, removed):
    return [{"sum": int(before[0].sum) + sum(added.value) - sum(removed.value)}]

def all_by(before, added, removed):
    return [{"sum": int(before[0].sum) + sum(added.parts) - sum(removed.parts)}]
`

// summing are ways to say that the sum of all values is at least 0.
var summing = []struct {
	name, expr string
	stages     []stage.Stage
}{
	{"expression", "sum(value) >= 0", nil},
	{"execute", "int(all[0].sum) >= 0", []stage.Stage{{Name: "all", Of: []string{"value"}, Execute: "total"}}},
	{"change", "int(all[0].sum) >= 0",
		[]stage.Stage{{Name: "all", Of: []string{"value"}, Execute: "total", Change: "total_by"}}},
	{"keys", "int(all[0].sum) >= 0",
		[]stage.Stage{{Name: "parts", Of: []string{"value"}, Key: []string{"node"}, Execute: "total"},
			{Name: "all", Of: []string{"parts"}, Execute: "total"}}},
	{"keys-change", "int(all[0].sum) >= 0",
		[]stage.Stage{{Name: "parts", Of: []string{"value"}, Key: []string{"node"}, Execute: "total",
			Change: "total_by"},
			{Name: "all", Of: []string{"parts"}, Execute: "total", Change: "all_by"}}},
}

// summed returns who judges that the sum is at least 0, of some nodes' values.
func summed(t interface{ Fatal(...any) }, dir string, way int, nodes []string, share float64) *Judge {
	path := filepath.Join(dir, "sums.star")
	if err := os.WriteFile(path, []byte(functions), 0o644); err != nil {
		t.Fatal(err)
	}
	w := summing[way]
	p, err := NewProperties(Config{Path: "x.yaml", Definitions: path, Nodes: nodes, Stages: w.stages,
		Sources:    expose.Sources{{Name: "value", Line: regexp.MustCompile(`(?P<key>\w+)=(.*)`), Key: []int{1}}},
		Predicates: []property.Predicate{{Name: "sum", Expr: w.expr, Line: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	return p.NewJudge(share)
}

// TestWaysAgree: in whatever way a sum is said, the same snapshots are violations, in whatever
// order they are judged.
func TestWaysAgree(t *testing.T) {
	dir, broken, whole := t.TempDir(), 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var judges []*Judge
		for way := range summing {
			judges = append(judges, summed(t, dir, way, []string{"n1", "n2", "n3"}, stage.Share))
		}
		var sets []*expose.Set
		for range rapid.IntRange(1, 8).Draw(t, "sets") {
			set := (*expose.Set)(nil)
			for range rapid.IntRange(0, 6).Draw(t, "values") {
				line := fmt.Sprintf("k%d=%d", rapid.IntRange(0, 3).Draw(t, "key"),
					rapid.IntRange(-3, 3).Draw(t, "value"))
				set = set.After(judges[0].Find(0, nil,
					&ariadne.Output{Logs: []ariadne.LogLine{{Stream: 1, Text: line}}}).Changes)
			}
			sets = append(sets, set)
		}
		for range 12 {
			s := expose.Snapshot{Up: []bool{true, true, true}}
			for range s.Up {
				s.Sets = append(s.Sets, rapid.SampledFrom(sets).Draw(t, "set"))
			}
			for way, j := range judges {
				got := j.Judge(&s, expose.Between) == ""
				if want := judges[0].Judge(&s, expose.Between) == ""; got != want || j.Err() != nil {
					t.Fatalf("%s holds: %v, want %v; %v", summing[way].name, got, want, j.Err())
				}
				if way == 0 && got {
					whole++
				} else if way == 0 {
					broken++
				}
			}
		}
	})
	if broken == 0 || whole == 0 {
		t.Errorf("%d snapshots are violations, %d are not", broken, whole)
	}
}

// BenchmarkStages judges snapshots of eight nodes with 32 values each, one of which is another each
// time: their sum by an expression, by a stage, by one for each node, and by stages that compute by
// what has changed.
func BenchmarkStages(b *testing.B) {
	var nodes []string
	for i := range 8 {
		nodes = append(nodes, fmt.Sprint("n", i))
	}
	for way, w := range summing {
		b.Run(w.name, func(b *testing.B) {
			j, s := summed(b, b.TempDir(), way, nodes, stage.Share),
				expose.Snapshot{Sets: make([]*expose.Set, 8), Up: make([]bool, 8)}
			out := ariadne.Output{Logs: make([]ariadne.LogLine, 1)}
			set := func(node, key, value int) {
				out.Logs[0] = ariadne.LogLine{Stream: 1, Text: fmt.Sprintf("k%d=%d", key, value)}
				s.Sets[node] = s.Sets[node].After(j.Find(ariadne.NodeID(node), nil, &out).Changes)
			}
			for i := range 8 * 32 {
				set(i%8, i/8, i)
			}
			states := 0
			for b.Loop() {
				set(states%8, states/8%32, states+1000)
				if states++; j.Judge(&s, expose.Between) != "" || j.Err() != nil {
					b.Fatal(j.Err())
				}
			}
			b.ReportMetric(float64(states)/b.Elapsed().Seconds(), "states/s")
		})
	}
}
