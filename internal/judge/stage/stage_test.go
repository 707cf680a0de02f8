package stage

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// sums are stages in Go: per makes a sum of the values of each key of what a and b expose, and
// total the sum of these.
type sums struct {
	wrong    int // where not 0, per's Change is, at sums that it divides
	executed int
}

var graph, _ = NewGraph([]Stage{
	{Name: "total", Of: []string{"per"}, Execute: "total"},
	{Name: "per", Of: []string{"a", "b"}, Key: []string{"k"}, Execute: "sum", Change: "add"},
}, func(name string) bool { return name == "a" || name == "b" })

func row(fields []string, values ...string) *Tuple {
	return &Tuple{Tuple: expose.Tuple{Fields: fields, Values: values}}
}

func number(t *Tuple, field string) int {
	text, _ := t.Field(field)
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func (c *sums) Execute(i int, of [][]*Tuple) ([]*Tuple, error) {
	sum := 0
	c.executed++
	if graph.Stages[i].Name == "total" {
		for j := range of[0] {
			sum += number(of[0][j], "sum")
		}
		return []*Tuple{row([]string{"sum"}, strconv.Itoa(sum))}, nil
	}
	for _, tuples := range of {
		for j := range tuples {
			sum += number(tuples[j], "v")
		}
	}
	return []*Tuple{row([]string{"sum"}, strconv.Itoa(sum))}, nil
}

func (*sums) Wrong(b *Bad) error { return b }

func (c *sums) Change(_ int, before []*Tuple, added, removed [][]*Tuple) ([]*Tuple, error) {
	sum := number(before[0], "sum")
	for k := range added {
		for j := range added[k] {
			sum += number(added[k][j], "v")
		}
		for j := range removed[k] {
			sum -= number(removed[k][j], "v")
		}
	}
	if c.wrong > 0 && sum%c.wrong == 0 {
		sum++
	}
	return []*Tuple{row([]string{"sum"}, strconv.Itoa(sum))}, nil
}

// drawSet draws what a node exposes.
func drawSet(t *rapid.T) *expose.Set {
	var changes []expose.Change
	for i := range rapid.IntRange(0, 8).Draw(t, "tuples") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		changes = append(changes,
			expose.Change{Tuple: expose.Tuple{Name: name, Key: fmt.Sprint(i), Fields: []string{"k", "v"},
				Values: []string{
					rapid.SampledFrom([]string{"x", "y y", ""}).Draw(t, "key"),
					fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "value"))}}})
	}
	return (*expose.Set)(nil).After(changes)
}

// direct is what stages make of sets, by what they are and nothing else.
func direct(sets []*expose.Set) (per map[string]int, total int) {
	per = map[string]int{}
	for _, set := range sets {
		for _, t := range set.Tuples() {
			if t.Name == "a" || t.Name == "b" {
				v, _ := strconv.Atoi(t.Values[1])
				per[t.Values[0]] += v
				total += v
			}
		}
	}
	return per, total
}

// TestStages: in whatever order snapshots are looked at, and again and again, stages make of each
// what it says; and call their functions only when they read something that they have not read
// before.
func TestStages(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &sums{}
		r := graph.NewRunner([]string{"n1", "n2"}, c, 1)
		var pool []*expose.Set
		for range 6 {
			pool = append(pool, drawSet(t))
		}
		for range 20 {
			sets := []*expose.Set{rapid.SampledFrom(pool).Draw(t, "n1"), rapid.SampledFrom(pool).Draw(t, "n2")}
			per, total := direct(sets)
			for again := range 2 {
				calls := c.executed + r.Changed
				got, err := r.Tuples("per", sets)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				for _, k := range slices.Sorted(maps.Keys(per)) {
					want = append(want, fmt.Sprintf("per(sum=%d) of %s", per[k], expose.Key([]string{k})))
				}
				var texts []string
				for i := range got {
					texts = append(texts, got[i].String()+" of "+got[i].Key)
				}
				if !slices.Equal(texts, want) {
					t.Fatalf("%q, want %q", texts, want)
				}
				all, err := r.Tuples("total", sets)
				if err != nil || len(all) != 1 || number(all[0], "sum") != total {
					t.Fatalf("total %v, %v, want %d", all, err, total)
				}
				if again == 1 && c.executed+r.Changed > calls {
					t.Fatal("functions are called again for the same")
				}
			}
		}
		changed += r.Changed
	})
	if changed == 0 {
		t.Error("nothing was made by what had changed")
	}
	t.Logf("%d times by what had changed", changed)
}

// TestOtherTuples: what a stage does not read has it called no more.
func TestOtherTuples(t *testing.T) {
	c := &sums{}
	r := graph.NewRunner([]string{"n1"}, c, 1)
	tuple := func(name, key, k string) expose.Change {
		return expose.Change{Tuple: expose.Tuple{Name: name, Key: key, Fields: []string{"k", "v"},
			Values: []string{k, "1"}}}
	}
	set := (*expose.Set)(nil).After([]expose.Change{tuple("a", "1", "x"), tuple("b", "1", "y")})
	for _, step := range []struct {
		change expose.Change
		calls  int // of both stages
	}{
		{tuple("c", "1", "x"), 3},
		{tuple("c", "1", "y"), 0},
		{tuple("a", "2", "x"), 2}, // that of x, and the total
		{expose.Change{Tuple: expose.Tuple{Name: "a", Key: "2"}, Ends: true}, 0},
		{tuple("b", "1", "x"), 2}, // y is gone, x has another tuple
	} {
		set = set.After([]expose.Change{step.change})
		was := r.Executed + r.Changed
		if _, err := r.Tuples("total", []*expose.Set{set}); err != nil {
			t.Fatal(err)
		}
		if got := r.Executed + r.Changed - was; got != step.calls {
			t.Errorf("%v: %d calls, want %d", step.change, got, step.calls)
		}
	}
}

// TestWrongChange: a Change that does not come to what Execute does is found, also where only some
// are compared; and what is compared is never wrong.
func TestWrongChange(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &sums{wrong: rapid.IntRange(1, 3).Draw(t, "wrong")}
		r := graph.NewRunner([]string{"n1", "n2"}, c, 0)
		for range 50 {
			sets := []*expose.Set{drawSet(t), drawSet(t)}
			_, total := direct(sets)
			all, err := r.Tuples("total", sets)
			if err != nil {
				if !strings.Contains(err.Error(), `stage "per": add and sum make different tuples of the key `) {
					t.Fatal(err)
				}
				found++
				return
			}
			if number(all[0], "sum") != total {
				t.Fatalf("total %v, want %d", all, total)
			}
		}
	})
	if found == 0 {
		t.Error("it was never found")
	}
}

// TestBadGraph: what is no graph of stages says why.
func TestBadGraph(t *testing.T) {
	for want, stages := range map[string][]Stage{
		`stage "s": it depends on itself: s reads t reads s`: {{Name: "s", Of: []string{"t"}},
			{Name: "t", Of: []string{"a", "s"}}},
		`stage "s": it depends on itself: s reads s`:                   {{Name: "s", Of: []string{"s"}}},
		`stage "s": "x" is neither a name of expose nor another stage`: {{Name: "s", Of: []string{"x"}}},
		`stage "a": expose has this name, too`:                         {{Name: "a", Of: []string{"a"}}},
		`stage "s": two stages have this name`: {{Name: "s", Of: []string{"a"}},
			{Name: "s", Of: []string{"a"}}},
		`stage "s": a is named twice`: {{Name: "s", Of: []string{"a", "b", "a"}}},
	} {
		if _, err := NewGraph(stages, func(name string) bool { return name == "a" || name == "b" }); err == nil ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	g, err := NewGraph([]Stage{{Name: "s", Of: []string{"t", "b"}}, {Name: "t", Of: []string{"a", "b"}},
		{Name: "u", Of: []string{"b"}}}, func(name string) bool { return len(name) == 1 && name < "d" })
	if err != nil || !slices.Equal(g.Reads("s"), []string{"a", "b"}) || !slices.Equal(g.Reads("u"), []string{"b"}) ||
		!slices.Equal(g.Reads("c"), []string{"c"}) {
		t.Errorf("%v %v %v, %v", g.Reads("s"), g.Reads("u"), g.Reads("c"), err)
	}
}
