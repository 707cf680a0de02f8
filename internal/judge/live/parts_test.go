package live

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
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
		"moves": {Expr: `one(value, "v")`}, // tuples go from part to part
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
	x := drawTruth(t, false)
	x.polls = false
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

// drawTold is drawKeyed with the records that tell of it, and how they are judged.
func drawTold(t *rapid.T) (x *truth, c Config, records []Record) {
	x = drawKeyed(t)
	clockError := rapid.SampledFrom([]int{0, 50}).Draw(t, "clock error")
	c = Config{ClockError: time.Duration(clockError),
		Settle: rapid.SampledFrom([]time.Duration{0, 5}).Draw(t, "settle")}
	return x, c, x.told(t, rapid.Bool().Draw(t, "exact"), clockError)
}

// partVerdicts are the states that a verifier judges, how many of them are broken, and what it
// found and counted.
type partVerdicts struct {
	states []string
	broken int
	found  []string
	Counts
}

func verdictsOf(t *rapid.T, p *judge.Properties, c Config, records []Record) (r partVerdicts) {
	j := p.NewJudge(1)
	c.OnJudged = func(_ Stamp, s *expose.Snapshot) {
		r.states = append(r.states, text(s))
		if j.Judge(s, expose.Between) != "" {
			r.broken++
		}
	}
	v := NewVerifier(c, p)
	for _, record := range records {
		if err := v.Take(record); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range v.Found() {
		r.found = append(r.found, fmt.Sprint(f.Message, f.At))
	}
	r.Counts = v.Counts
	// they depend on which records come, and in which order
	r.Records, r.Compared, r.Inverted = 0, 0, 0
	return r
}

// partOf says in which part of a property a node's tuple is; -1: the property does not read it.
func partOf(p *judge.Properties, node int, c *expose.Change, parts int) int {
	if !p.ReadsName(c.Name) {
		return -1
	}
	return p.Division().Part(p.Nodes[node], &c.Tuple, parts)
}

// statesOf are the states of the tuples of one part, in their order.
func (x *truth) statesOf(p *judge.Properties, part, parts int) (all []string) {
	s := expose.Snapshot{Sets: make([]*expose.Set, x.nodes), Up: make([]bool, x.nodes)}
	for i := range x.changes {
		c := &x.changes[i]
		set := &s.Sets[c.node]
		switch c.Kind {
		case Up, Down:
			s.Up[c.node] = c.Kind == Up
			*set = (*set).Staying()
		case Show:
			for _, change := range c.Changes {
				change.Ends = change.Ends || partOf(p, c.node, &change, parts) != part
				*set = (*set).After([]expose.Change{change})
			}
		}
		all = append(all, text(&s))
	}
	return all
}

// neededBy are the records that a part needs, numbered without gaps: not those of tuples that never
// were of the part.
func neededBy(p *judge.Properties, part, parts int, records []Record) (all []Record) {
	seqs, was := map[ariadne.NodeID]uint64{}, map[string]bool{}
	for _, r := range records {
		needed := r.Kind != Show
		for i := range r.Changes {
			c := &r.Changes[i]
			at := fmt.Sprint(r.Node, c.Name, c.Key)
			was[at] = was[at] || partOf(p, int(r.Node), c, parts) == part
			needed = needed || was[at] || c.Key == "" || c.All
		}
		if needed {
			seqs[r.Node]++
			r.Seq = seqs[r.Node]
			all = append(all, r)
		}
	}
	return all
}

// TestParts: each state that a part judges was one of its tuples, in this order. A violation that a
// verifier of the whole property finds, some part finds. The verdicts of a part depend neither on
// the tuples of other parts, nor on the order in which records arrive.
func TestParts(t *testing.T) {
	broken, left := map[string]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		x, c, records := drawTold(t)
		for name, p := range keyed(x.nodes) {
			whole := verdictsOf(t, p, c, records)
			for _, n := range []int{2, 3} {
				found := 0
				for i := range n {
					own := c
					own.Part, own.Parts = i, n
					r := verdictsOf(t, p, own, shuffled(t, records))
					needed := neededBy(p, i, n, records)
					if again := verdictsOf(t, p, own, shuffled(t, needed)); !reflect.DeepEqual(r, again) {
						t.Fatalf("%s: part %d of %d judged\n%+v\nand of all records\n%+v", name, i+1, n, again, r)
					}
					next, states := 0, x.statesOf(p, i, n)
					for _, s := range r.states {
						at := slices.Index(states[next:], s)
						if at < 0 {
							t.Fatalf("%s: part %d of %d judged\n%s\nwhich is not, from there on, among\n%s", name, i+1, n, s,
								strings.Join(states[next:], "\n"))
						}
						next += at
					}
					found += len(r.found)
					broken[name] += r.broken
					left += len(records) - len(needed)
				}
				if found == 0 && len(whole.found) > 0 {
					t.Fatalf("%s: %q was found, and nothing in %d parts", name, whole.found, n)
				}
			}
		}
	})
	if len(broken) < 4 || slices.Contains(slices.Collect(maps.Values(broken)), 0) || left == 0 {
		t.Errorf("%v moments were broken, and parts did not need %d records: the test tries too little", broken, left)
	}
}

// TestGroups: a verifier that judges the groups that have changed finds the same as one that judges
// whole snapshots, also when it is saved and restored now and then.
func TestGroups(t *testing.T) {
	found, byGroups := map[string]int{}, map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		x, c, records := drawTold(t)
		saves := rapid.Uint64().Draw(t, "saves")
		for name, p := range keyed(x.nodes) {
			v, whole := NewVerifier(c, p), NewVerifier(c, p)
			whole.groups = nil
			random := rand.New(rand.NewPCG(saves, 2))
			for i, r := range records {
				for _, v := range []*Verifier{v, whole} {
					if err := v.Take(r); err != nil {
						t.Fatal(err)
					}
				}
				got, want := v.Found(), whole.Found()
				if !reflect.DeepEqual(got, want) || v.Counts != whole.Counts || v.Broken() != whole.Broken() {
					t.Fatalf("%s: after record %d\n%+v\n%+v %q\nand as a whole\n%+v\n%+v %q", name, i+1, got, v.Counts,
						v.Broken(), want, whole.Counts, whole.Broken())
				}
				if found[name] += len(got); !v.isWhole() {
					byGroups[name]++
				}
				if random.IntN(8) > 0 {
					continue
				}
				state, err := v.Save()
				if err != nil {
					t.Fatal(err)
				}
				if random.IntN(2) == 0 {
					if v = NewVerifier(c, p); v.Restore(state) != nil {
						t.Fatalf("%s: what was saved after record %d is not restored", name, i+1)
					}
				}
			}
		}
	})
	for name := range keyed(2) {
		if found[name] == 0 || byGroups[name] == 0 {
			t.Errorf("%s: %d violations, %d records taken by groups: the test tries too little", name, found[name],
				byGroups[name])
		}
	}
}

// TestChangedIsBounded: of keys that come and go, nothing is kept, however long no moment is
// judged, or snapshots are judged as a whole.
func TestChangedIsBounded(t *testing.T) {
	for name, of := range map[string]func(*groups){
		"not judged for long": func(g *groups) { g.judged() },
		"never judged":        func(g *groups) { g.cut = true },
		"as a whole":          func(g *groups) { g.whole = true },
	} {
		g := newGroups(keyed(2)["agree"])
		of(g)
		value := func(k int) expose.Tuple {
			return expose.Tuple{Name: "value", Key: strconv.Itoa(k), Values: []string{strconv.Itoa(k), "1"}}
		}
		for k := range 1000 {
			g.apply(0, []expose.Change{{Tuple: value(k)}, {Tuple: value(k - 10), Ends: true}})
		}
		if len(g.changed) > 10 || len(g.members) != 10 {
			t.Errorf("%s: %d groups have changed, of %d", name, len(g.changed), len(g.members))
		}
	}
}

// BenchmarkKeys is what an event costs the verifier of a property, by how many keys each node
// exposes.
func BenchmarkKeys(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
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
	v, _ := showing(b, 1000)
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

// showing is a verifier to which each of three nodes exposes so many keys, the same for all, and a
// function that has it take a further event: a node exposes one more, in the place of its oldest.
func showing(b *testing.B, keys int) (v *Verifier, show func()) {
	const nodes = 3
	v = NewVerifier(Config{}, keyed(nodes)["agree"])
	seq, at, i := [nodes]uint64{}, ariadne.Time(0), 0
	take := func(node int, r Record) {
		seq[node]++
		r.Node, r.Seq, r.After, r.At = ariadne.NodeID(node), seq[node], at, at
		if err := v.Take(r); err != nil {
			b.Fatal(err)
		}
	}
	value := func(k int) expose.Tuple {
		key := strconv.Itoa(k)
		return expose.Tuple{Name: "value", Key: key, Fields: []string{"k", "v"}, Values: []string{key, "x" + key}}
	}
	show = func() {
		at += 10
		changes := []expose.Change{{Tuple: value(i / nodes)}}
		if old := i/nodes - keys; old >= 0 {
			changes = append(changes, expose.Change{Tuple: value(old), Ends: true})
		}
		take(i%nodes, Record{Kind: Show, Changes: changes})
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
	if v.Broken() != "" || v.Judged < nodes*keys-1 {
		b.Fatalf("%d moments were judged: %s", v.Judged, v.Broken())
	}
	return v, show
}
