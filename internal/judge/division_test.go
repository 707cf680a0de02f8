package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
)

// TestDivision: properties are divided if the form of their expression says that each group of
// tuples is judged by itself, by the fields that tell these groups apart. Others are not.
func TestDivision(t *testing.T) {
	definitions := filepath.Join(t.TempDir(), "own.star")
	if err := os.WriteFile(definitions, []byte("def first(x): return x[:1]\ndef both(x, y): return x\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "agree.star")
	text := "def first(x): return x\ndef both(x, y): return x\ndef agree(x): return len(x) < 2\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q           property.Predicate
		definitions string
		want        map[string][]string
	}{
		{q: property.Predicate{Expr: "agree(value)"}, want: map[string][]string{"value": {"key"}}},
		{q: property.Predicate{Expr: "(agree(value))"}, want: map[string][]string{"value": {"key"}}},
		{q: property.Predicate{Expr: `one(leader, "term")`}, want: map[string][]string{"leader": {"term"}}},
		{q: property.Predicate{Expr: "rising(leader, earlier)", Window: 1},
			want: map[string][]string{"leader": {"node", "key"}}},
		{q: property.Predicate{Expr: "not firsts"}, want: map[string][]string{"value": {"key"}}},
		{q: property.Predicate{Expr: "len(firsts) == 0"}, want: map[string][]string{"value": {"key"}}},
		{q: property.Predicate{Expr: "len(firsts) > 0", Form: property.Never},
			want: map[string][]string{"value": {"key"}}},
		{q: property.Predicate{Expr: "not pairs"}, want: map[string][]string{"value": {"node"}, "leader": {"node"}}},
		{q: property.Predicate{Expr: "agree(leader)"}}, // without keys
		{q: property.Predicate{Expr: "one(leader)"}},
		{q: property.Predicate{Expr: `one(leader, "values")`}},
		{q: property.Predicate{Expr: "rising(value, earlier)", Window: 2}},
		{q: property.Predicate{Expr: "agree(value)", Form: property.Never}},
		{q: property.Predicate{Expr: "agree(value) and len(up) > 0"}},
		{q: property.Predicate{Expr: "agree(value)"}, definitions: own},
		{q: property.Predicate{Expr: "agree(firsts)"}},
		{q: property.Predicate{Expr: "not firsts", Form: property.Never}},
		{q: property.Predicate{Expr: "len(firsts) == 1"}},
		{q: property.Predicate{Expr: "len(firsts) > 0"}},
		{q: property.Predicate{Expr: "not whole"}},
		{q: property.Predicate{Expr: "not second"}}, // of another stage
		{q: property.Predicate{Expr: "not value"}},
		{q: property.Predicate{Expr: "len(firsts)", Number: &property.Number{}}},
	} {
		if c.definitions == "" {
			c.definitions = definitions
		}
		c.q.Name = "p"
		p, err := NewProperties(Config{Path: "spec.yaml", Definitions: c.definitions, Nodes: []string{"n1"},
			Sources: expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d)`)},
				{Name: "value", Line: regexp.MustCompile(`(?P<k>\w) is (?P<v>\d)`), Key: []int{0}}},
			Stages: []stage.Stage{{Name: "firsts", Of: []string{"value"}, Key: []string{"key"}, Execute: "first"},
				{Name: "pairs", Of: []string{"value", "leader"}, Key: []string{"node"}, Execute: "both"},
				{Name: "whole", Of: []string{"value"}, Execute: "first"},
				{Name: "second", Of: []string{"firsts"}, Key: []string{"key"}, Execute: "first"}},
			Predicates: []property.Predicate{c.q}})
		if err != nil {
			t.Fatal(err)
		}
		got := "whole"
		if d := p.Division(); d != nil {
			got = fmt.Sprint(d.by)
		}
		want := "whole"
		if c.want != nil {
			want = fmt.Sprint(c.want)
		}
		if got != want {
			t.Errorf("%s %s: divided by %s, want %s", property.Forms[c.q.Form], c.q.Expr, got, want)
		}
	}
}

// TestPart: a tuple is in the same part on every machine and in every version, and all parts have
// some of the tuples, also of those keys that a sample has.
func TestPart(t *testing.T) {
	d := &Division{map[string][]string{"value": {"key"}}}
	var counts [4]int
	for i := range 1000 {
		counts[d.Part("n1", &expose.Tuple{Name: "value", Key: fmt.Sprint("k", i)}, 4)]++
	}
	for _, n := range counts {
		if n < 200 {
			t.Errorf("parts have %v of 1000 keys", counts)
		}
	}
	if got := d.Part("n1", &expose.Tuple{Name: "value", Key: "k1"}, 1000); got != partOfK1 {
		t.Errorf("k1 is in part %d", got)
	}
}

// partOfK1 is what verifiers of other versions say, too.
const partOfK1 = 482
