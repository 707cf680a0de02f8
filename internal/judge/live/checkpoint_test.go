package live

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	"pgregory.net/rapid"
)

// savedProperties are properties of all kinds that a verifier has.
func savedProperties(nodes int) (all []*judge.Properties) {
	for _, p := range keyed(nodes) {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *judge.Properties) int {
		return len(a.Predicates[0].Expr) - len(b.Predicates[0].Expr)
	})
	sources := expose.Sources{{Name: "value", Line: regexp.MustCompile(`(?P<k>\w) is (?P<v>\d)`), Key: []int{0}}}
	for _, c := range []judge.Config{
		{Goals: []property.Goal{{Name: "goal", When: "len(value) > 1", Expr: "len(value) > 2", Within: 60}}},
		{Predicates: []property.Predicate{{Name: "number", Expr: "len(value)", Number: &property.Number{}}}},
		{Predicates: []property.Predicate{{Name: "up", Window: 3,
			Expr: "len(value) > 2 or len([e for e in earlier if len(e.up) > 2]) < 2 or not up"}}},
	} {
		c.Path, c.Sources = "spec.yaml", sources
		for i := range nodes {
			c.Nodes = append(c.Nodes, fmt.Sprintf("n%d", i+1))
		}
		p, err := judge.NewProperties(c)
		if err != nil {
			panic(err)
		}
		all = append(all, p)
	}
	return all
}

// savedRun is all that comes of a verifier. The verifier is replaced by one that is restored from a
// checkpoint before the record with the number at; at < 0: never.
func savedRun(t *rapid.T, p *judge.Properties, c Config, records []Record, at int) string {
	var all bytes.Buffer
	c.OnJudged = func(at Stamp, s *expose.Snapshot) { fmt.Fprintln(&all, at, text(s), s.Earlier.Hash()) }
	v := NewVerifier(c, p)
	save := func() []byte {
		state, err := v.Save()
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	for i := range records {
		if i == at {
			state := save()
			v = NewVerifier(c, p)
			if err := v.Restore(state); err != nil {
				t.Fatal(err)
			}
			if again := save(); !bytes.Equal(again, state) {
				t.Fatalf("%s\nis restored as\n%s", state, again)
			}
		}
		if err := v.Take(records[i]); err != nil {
			t.Fatal(err)
		}
		for _, f := range v.Found() {
			fmt.Fprintln(&all, f.Kind, f.Message, f.At, f.Stamp, text(f.Snapshot), f.Without)
			for _, h := range f.History {
				fmt.Fprintln(&all, h.Stamp, h.Node, h.Seq, h.Kind, h.Changes, h.Names)
			}
		}
	}
	fmt.Fprintf(&all, "%+v %q %s\n", v.Counts, v.Doubts(), save())
	return all.String()
}

// TestRestore: a verifier that begins with a checkpoint finds, judges and counts what one does that
// has taken all records, and ends in the same state, whatever the place of the checkpoint.
func TestRestore(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawKeyed(t)
		clockError := rapid.SampledFrom([]int{0, 50}).Draw(t, "clock error")
		c := Config{ClockError: time.Duration(clockError),
			Settle:  rapid.SampledFrom([]time.Duration{0, 5}).Draw(t, "settle"),
			Timeout: rapid.SampledFrom([]time.Duration{0, 30, time.Second}).Draw(t, "timeout"), Patience: 40}
		if rapid.Bool().Draw(t, "divided") {
			c.Part, c.Parts = 1, 2
		}
		for i := range x.changes {
			if r := &x.changes[i].Record; r.Kind == Show && rapid.IntRange(0, 30).Draw(t, "lost") == 0 {
				*r = Record{Kind: Lost, Text: "lost", Missing: rapid.Uint64Range(0, 2).Draw(t, "missing"),
					Names: rapid.SampledFrom([][]string{nil, {"value"}}).Draw(t, "names")}
			} else if r.Kind == Show && rapid.IntRange(0, 20).Draw(t, "sought") == 0 {
				*r = Record{Kind: Sought, Text: rapid.SampledFrom([]string{"", "x"}).Draw(t, "what")}
			}
		}
		records := shuffled(t, x.told(t, false, clockError))
		at := rapid.IntRange(0, len(records)-1).Draw(t, "checkpoint")
		for _, p := range savedProperties(x.nodes) {
			own := c
			if p.Division() == nil {
				own.Part, own.Parts = 0, 0
			}
			want := savedRun(t, p, own, records, -1)
			if got := savedRun(t, p, own, records, at); got != want {
				t.Fatalf("from a checkpoint:\n%s\nwithout:\n%s", got, want)
			}
			found += strings.Count(want, "\nproperty ")
		}
	})
	if found == 0 {
		t.Error("nothing was found: the test tries too little")
	}
}

// TestSavedFields: a checkpoint has all fields of a verifier. A new one is saved, or is named here.
func TestSavedFields(t *testing.T) {
	for _, c := range []struct {
		of    any
		saved int
		not   []string
	}{
		{Verifier{}, 14, []string{"Config", "properties", "judge", "division", "groups", "polled", "found"}},
		{follower{}, 18, nil},
		{kept{}, 3, nil},
		{event{}, 7, []string{"stage", "came", "senders", "divided"}},
		// but for the events themselves, what an order has follows from them
		{order{}, 0, []string{"clockError", "waiting", "byAt", "lanes", "came", "senders", "sent", "deaf", "path"}},
		{lane{}, 0, []string{"waiting", "byAfter", "recent", "latest", "last", "stale"}},
		{aim{}, 12, nil},
		{aims{}, 3, []string{"goals", "patience"}},
		{expose.Snapshot{}, 3, []string{"Past", "World"}},
	} {
		of := reflect.TypeOf(c.of)
		if n := of.NumField() - len(c.not); n != c.saved {
			t.Errorf("%s has %d fields besides %s, and %d are saved", of.Name(), n, c.not, c.saved)
		}
		for _, name := range c.not {
			if _, ok := of.FieldByName(name); !ok {
				t.Errorf("%s has no field %s", of.Name(), name)
			}
		}
	}
}

// TestRestoreForeign: a state of another property, of other nodes, or with places that are not
// there, is refused.
func TestRestoreForeign(t *testing.T) {
	states := map[string][]byte{"damaged": []byte(`{"Nodes":[{"Last":7},{}]}`), "no state": []byte("x"),
		"with an event of a node that is not there": []byte(`{"Nodes":[{},{}],"Events":[{"Of":{"Node":2}}]}`)}
	for name, p := range map[string]*judge.Properties{"of three nodes": leaders(3),
		"of a goal": savedProperties(2)[3]} {
		state, err := NewVerifier(Config{}, p).Save()
		if err != nil {
			t.Fatal(err)
		}
		states[name] = state
	}
	for name, state := range states {
		if err := NewVerifier(Config{}, leaders(2)).Restore(state); err == nil {
			t.Errorf("a state %s is restored", name)
		}
	}
}
