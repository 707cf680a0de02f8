package stream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// routed are two properties that are judged in parts, by keys and by values, of what two nodes
// expose.
func routed(t *testing.T) []*judge.Properties {
	t.Helper()
	var all []*judge.Properties
	for _, expr := range []string{"agree(value)", `one(value, "v")`} {
		p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1", "n2"},
			Predicates: []property.Predicate{{Name: expr, Expr: expr}},
			Sources: expose.Sources{{Name: "value", Line: regexp.MustCompile(`(?P<k>\w) is (?P<v>\d)`), Key: []int{0}},
				{Name: "other", Line: regexp.MustCompile("other")}}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// drawRecords are records of two nodes, as agents tell them.
func drawRecords(random *rand.Rand, n int) (all []live.Record) {
	seqs := [2]uint64{}
	for range n {
		r := live.Record{Node: ariadne.NodeID(random.IntN(2))}
		seqs[r.Node]++
		r.Seq, r.After, r.At = seqs[r.Node], ariadne.Time(len(all)), ariadne.Time(len(all))
		k, v := string("abcdefgh"[random.IntN(8)]), fmt.Sprint(random.IntN(9))
		c := expose.Change{Tuple: expose.Tuple{Name: "value", Key: k, Fields: []string{"k", "v"},
			Values: []string{k, v},
			Stays:  random.IntN(2) == 0}}
		switch random.IntN(12) {
		case 0:
			r.Kind = live.Down
		case 1, 2, 3:
		case 4:
			r.Kind, c = live.Show, expose.Change{Tuple: expose.Tuple{Name: "other"}}
		case 5:
			r.Kind, c.Ends, c.Values = live.Show, true, nil
			c.All = random.IntN(4) == 0
		default:
			r.Kind = live.Show
		}
		if r.Kind == live.Show {
			r.Changes = []expose.Change{c}
		}
		all = append(all, r)
	}
	for node := range ariadne.NodeID(2) {
		all = append(all, live.Record{Node: node, Seq: seqs[node] + 1, At: ariadne.Time(len(all))})
	}
	return all
}

// written are the messages of records, in rounds as a writer takes them.
func written(random *rand.Rand, routing *Routing, all []live.Record) (out []*batch) {
	router := newRouter(routing)
	parcels := &parcels{names: []string{"n1", "n2"}, session: "a", before: map[origin]map[string]int{}}
	for len(all) > 0 {
		n := min(len(all), 1+random.IntN(20))
		var round []queued
		for _, r := range all[:n] {
			round = append(round, queued{Record: r, route: router.route(&r)})
		}
		all = all[n:]
		m := parcels.divide(round)
		for _, some := range [][]*batch{m.first, m.then, m.last} {
			random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
			out = append(out, some...)
		}
	}
	return out
}

// read are the records that a reader gets of messages, but those that the server does not give it,
// and how many messages those are.
func read(t *testing.T, want *Want, all []*batch) (records []live.Record, left int) {
	t.Helper()
	d := newDecoder([]string{"n1", "n2"}, 0, want)
	for _, b := range all {
		if b.Route != "" && !want.reads(b.Route) {
			left++
			continue
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		d = restored(t, d, []string{"n1", "n2"})
		some, _, err := d.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, some...)
	}
	return records, left
}

// findings are what a verifier finds and counts of records.
func findings(t *testing.T, p *judge.Properties, part, parts int, all []live.Record) string {
	t.Helper()
	v := live.NewVerifier(live.Config{Part: part, Parts: parts}, p)
	var b strings.Builder
	for _, r := range all {
		if err := v.Take(r); err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Found() {
			fmt.Fprintln(&b, f.Message, f.At, f.Stamp)
		}
	}
	own := v.Counts
	own.Records = 0
	fmt.Fprintln(&b, own, v.Doubts(), v.Missing())
	return b.String()
}

// TestRoutes: a reader of a part gets fewer messages, and its verifier finds and counts what it
// would of all records. A reader of everything gets all records in their order.
func TestRoutes(t *testing.T) {
	divided := routed(t)
	found := 0
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		parts := 2 + random.IntN(4)
		routing := NewRouting(divided, parts)
		all := drawRecords(random, 200)
		messages := written(random, routing, all)
		whole, _ := read(t, nil, messages)
		if len(whole) != len(all) {
			t.Fatalf("%d records of %d were read", len(whole), len(all))
		}
		for property, p := range divided {
			for part := range parts {
				own, left := read(t, &Want{routing, property, part}, messages)
				got, want := findings(t, p, part, parts, own), findings(t, p, part, parts, all)
				if got != want || left == 0 {
					t.Fatalf("seed %d, property %d, part %d of %d, %d messages were left out:\n%s\nand of all records\n%s", seed,
						property, part, parts, left, got, want)
				}
				found += strings.Count(got, "\n") - 1
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found: the test tries too little")
	}
}

// TestLostRoutes: a message that the log has lost is missed by those who need it. Others do not
// notice. A message that comes twice is dropped.
func TestLostRoutes(t *testing.T) {
	divided := routed(t)
	lost := map[bool]int{}
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		routing := NewRouting(divided, 3)
		messages := written(random, routing, drawRecords(random, 60))
		at := random.IntN(len(messages))
		if !slices.ContainsFunc(messages[at+1:], func(b *batch) bool {
			return b.Node == messages[at].Node && b.Route == ""
		}) {
			continue // nothing later says what there was
		}
		twice := slices.Insert(slices.Clone(messages), at+1+random.IntN(len(messages)-at), messages[at])
		without := slices.Delete(slices.Clone(messages), at, at+1)
		for part := range 3 {
			want := &Want{routing, 0, part}
			all, _ := read(t, want, messages)
			if again, _ := read(t, want, twice); fmt.Sprint(again) != fmt.Sprint(all) {
				t.Fatalf("seed %d: message %d twice:\n%v\nonce:\n%v", seed, at, again, all)
			}
			needs := messages[at].Route == "" || want.reads(messages[at].Route)
			some, _ := read(t, want, without)
			says := slices.ContainsFunc(some, func(r live.Record) bool { return r.Kind == live.Lost })
			if says != needs {
				t.Fatalf("seed %d: message %d (%+v) is needed: %v, and missed: %v", seed, at, messages[at], needs, says)
			}
			lost[needs]++
		}
	}
	if lost[true] == 0 || lost[false] == 0 {
		t.Errorf("%v: the test tries too little", lost)
	}
}

// TestSlots: however many properties and parts there are, a node has a bounded number of subjects.
func TestSlots(t *testing.T) {
	p := routed(t)[0]
	for n := range 40 {
		for _, parts := range []int{1, 2, 5, 1024} {
			r := NewRouting(slices.Repeat([]*judge.Properties{p}, n), parts)
			if r.slots < 1 || r.slots > parts || r.subjects() > subjectsMost {
				t.Errorf("%d properties in %d parts: %d slots", n, parts, r.slots)
			}
		}
	}
}
