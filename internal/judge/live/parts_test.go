package live

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	"pgregory.net/rapid"
)

// keyed are the properties that are divided, each alone, by what drawKeyed exposes.
func keyed(nodes int) map[string]*judge.Properties {
	all := map[string]*judge.Properties{}
	for name, q := range map[string]property.Predicate{
		"agree": {Expr: "agree(value)"},
		"one":   {Expr: `one(leader, "term")`},
		"rises": {Expr: "rising(value, earlier)", Window: 1},
	} {
		q.Name = name
		c := judge.Config{Path: "spec.yaml", Predicates: []property.Predicate{q},
			Sources: expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d)`)},
				{Name: "value", Line: regexp.MustCompile(`(?P<k>\w) is (?P<v>\d)`), Key: []int{0}}}}
		for i := range nodes {
			c.Nodes = append(c.Nodes, fmt.Sprintf("n%d", i+1))
		}
		p, err := judge.NewProperties(c)
		if err != nil {
			panic(err)
		}
		all[name] = p
	}
	return all
}

// drawKeyed is drawTruth with tuples that have keys, too: nodes that are up show some between its
// changes.
func drawKeyed(t *rapid.T) *truth {
	x := drawTruth(t)
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	up := make([]bool, x.nodes)
	var all []trueChange
	for i, c := range x.changes {
		all = append(all, c)
		if c.Kind != Show {
			up[c.node] = c.Kind == Up
		}
		until := x.end - 100
		if i+1 < len(x.changes) {
			until = x.changes[i+1].at
		}
		for at := c.at + 1; at < until; at += 1 + ariadne.Time(random.IntN(20)) {
			node, k, v := random.IntN(x.nodes), string("adxy"[random.IntN(4)]), strconv.Itoa(random.IntN(3))
			if up[node] {
				all = append(all, trueChange{node, at, Record{Kind: Show, Changes: []expose.Change{{
					Tuple: expose.Tuple{Name: "value", Key: k, Fields: []string{"k", "v"}, Values: []string{k, v}},
					Ends:  random.IntN(8) == 0}}}})
			}
		}
	}
	x.changes = all
	return x
}

// partVerdicts are the moments that a verifier judges, which of them are broken, and what it found
// and counted.
type partVerdicts struct {
	moments []string
	sets    []string
	broken  []bool
	found   []Finding
	Counts
}

func verdictsOf(t *rapid.T, p *judge.Properties, c Config, records []Record) (r partVerdicts) {
	j := p.NewJudge(1)
	c.OnJudged = func(at Stamp, s *expose.Snapshot) {
		r.moments = append(r.moments, fmt.Sprint(at, s.Up))
		r.sets = append(r.sets, text(&expose.Snapshot{Sets: s.Sets, Up: make([]bool, len(s.Up))}))
		r.broken = append(r.broken, j.Judge(s, expose.Between) != "")
	}
	v := NewVerifier(c, p)
	for _, record := range records {
		if err := v.Take(record); err != nil {
			t.Fatal(err)
		}
	}
	r.found, r.Counts = v.Found(), v.Counts
	r.Compared, r.Inverted = 0, 0 // they depend on the order in which records arrive
	return r
}

// TestParts: however many parts a property is divided into, they judge the same moments as a
// verifier of the whole property, and some part says that the property is broken where that one
// says so. Records arrive late and in any order, another one for each part.
func TestParts(t *testing.T) {
	broken, several := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawKeyed(t)
		clockError := rapid.SampledFrom([]int{0, 50}).Draw(t, "clock error")
		c := Config{ClockError: time.Duration(clockError),
			Settle: rapid.SampledFrom([]time.Duration{0, 5}).Draw(t, "settle")}
		records := x.told(t, rapid.Bool().Draw(t, "exact"), clockError)
		for name, p := range keyed(x.nodes) {
			whole := verdictsOf(t, p, c, records)
			for _, n := range []int{2, 3} {
				broken[name] += compareParts(t, name, whole, p, c, n, records, &several)
			}
		}
	})
	if len(broken) < 3 || slices.Contains(slices.Collect(maps.Values(broken)), 0) || several == 0 {
		t.Errorf("%v moments were broken, %d by some parts and not by others: the test tries too little", broken, several)
	}
}

// compareParts compares the verdicts of n parts with those on the whole property. It returns how
// many moments were broken, and adds to several where the parts differ.
func compareParts(t *rapid.T, name string, whole partVerdicts, p *judge.Properties, c Config, n int,
	records []Record, several *int) (broken int) {
	var parts []partVerdicts
	first := Stamp{Wall: 1 << 62}
	for i := range n {
		c.Part, c.Parts = i, n
		r := verdictsOf(t, p, c, shuffled(t, records))
		if !slices.Equal(r.moments, whole.moments) || r.Counts != whole.Counts {
			t.Fatalf("%s: part %d of %d judged\n%s\n%+v, and one verifier\n%s\n%+v", name, i+1, n,
				strings.Join(r.moments, "\n"), r.Counts, strings.Join(whole.moments, "\n"), whole.Counts)
		}
		if len(r.found) > 0 && r.found[0].Stamp.Before(first) {
			first = r.found[0].Stamp
		}
		parts = append(parts, r)
	}
	if len(whole.found) > 0 && whole.found[0].Stamp != first || len(whole.found) == 0 && first.Wall != 1<<62 {
		t.Fatalf("%s: found %+v, and in %d parts first at %v", name, whole.found, n, first)
	}
	for m := range whole.moments {
		some, all := false, true
		for i := range parts {
			some, all = some || parts[i].broken[m], all && parts[i].broken[m]
		}
		if some && !all {
			*several++
		}
		if whole.broken[m] {
			broken++
		}
		// With a window, the whole property stays broken until what it reads is different. To a
		// part, each event may have changed that.
		if some != whole.broken[m] && !(name == "rises" && m > 0 && whole.sets[m] == whole.sets[m-1]) {
			t.Fatalf("%s: moment %s is broken: %v, and in one of %d parts: %v", name, whole.sets[m], whole.broken[m], n,
				some)
		}
	}
	return broken
}

// BenchmarkParts is what an event of one of 1000 keys costs the verifier of a part.
func BenchmarkParts(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			_, show := showing(b, n)
			for b.Loop() {
				show()
			}
		})
	}
}

// BenchmarkCheckpoint is what it costs to save and restore the verifier of 1000 keys of three
// nodes.
func BenchmarkCheckpoint(b *testing.B) {
	v, _ := showing(b, 1)
	state, err := v.Save()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if _, err := v.Save(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(state)), "bytes")
	})
	b.Run("restore", func(b *testing.B) {
		for b.Loop() {
			if err := NewVerifier(Config{Parts: 1}, keyed(3)["agree"]).Restore(state); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// showing is a verifier of the first of n parts that has taken 1000 keys of three nodes, and a
// function that has it take a further event.
func showing(b *testing.B, n int) (v *Verifier, show func()) {
	const nodes, keys = 3, 1000
	v = NewVerifier(Config{Parts: n}, keyed(nodes)["agree"])
	seq, at, i := [nodes]uint64{}, ariadne.Time(0), 0
	take := func(node int, r Record) {
		seq[node]++
		r.Node, r.Seq, r.After, r.At = ariadne.NodeID(node), seq[node], at, at
		if err := v.Take(r); err != nil {
			b.Fatal(err)
		}
	}
	show = func() {
		at += 10
		k := strconv.Itoa(i / nodes % keys)
		take(i%nodes, Record{Kind: Show, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "value", Key: k,
			Fields: []string{"k", "v"}, Values: []string{k, strconv.Itoa(i / nodes / keys)}}}}})
		for node := range nodes {
			take(node, Record{Kind: Beat})
		}
		i++
	}
	for node := range nodes {
		take(node, Record{Kind: Up})
	}
	for range nodes * keys {
		show()
	}
	v.Found()
	return v, show
}
