package live

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	"pgregory.net/rapid"
)

const second = ariadne.Time(time.Second)

// taker gives a verifier records of two nodes.
type taker struct {
	*testing.T
	v   *Verifier
	seq [2]uint64
}

func (k *taker) take(node int, r Record) {
	k.seq[node]++
	r.Node, r.Seq = ariadne.NodeID(node), k.seq[node]
	if r.After == 0 {
		r.After = r.At
	}
	if err := k.v.Take(r); err != nil {
		k.Fatal(err)
	}
}

func shows(name string, stays bool) []expose.Change {
	return []expose.Change{{Tuple: expose.Tuple{Name: name, Values: []string{"1"}, Stays: stays}}}
}

// TestLostStays: where it is unknown what a node exposes by a name whose tuples stay, it is unknown
// also when its program has ended, and when it has begun again.
func TestLostStays(t *testing.T) {
	for _, again := range []bool{false, true} {
		p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1", "n2"},
			Sources:    expose.Sources{{Name: "x", Line: regexp.MustCompile("x"), Stays: true}},
			Predicates: []property.Predicate{{Name: "one", Expr: "len(x) <= 1"}}})
		if err != nil {
			t.Fatal(err)
		}
		k := &taker{T: t, v: NewVerifier(Config{}, p)}
		k.take(0, Record{Kind: Up, At: 1})
		k.take(1, Record{Kind: Up, At: 2})
		k.take(0, Record{Kind: Show, At: second, Changes: shows("x", true)})
		k.take(0, Record{Kind: Lost, At: 2 * second, Names: []string{"x"}, Text: "probes were taken out"})
		// It exposes x no more, and nobody sees it.
		k.take(0, Record{Kind: Down, At: 3 * second})
		if again {
			k.take(0, Record{Kind: Up, At: 7 * second / 2})
		}
		k.take(1, Record{Kind: Show, At: 4 * second, Changes: shows("x", true)})
		for at := second; at < 10*second; at += second {
			k.take(0, Record{Kind: Beat, At: at})
			k.take(1, Record{Kind: Beat, At: at})
		}
		if found := k.v.Found(); len(found) > 0 {
			t.Errorf("again %v: found %q, and it is unknown whether n1 exposes x", again, found[0].Message)
		}
	}
}

// TestLostGoal: while it is unknown whether a goal is met, its time does not end.
func TestLostGoal(t *testing.T) {
	p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1", "n2"},
		Sources: expose.Sources{{Name: "x", Line: regexp.MustCompile("x")}},
		Goals:   []property.Goal{{Name: "done", Expr: "len(x) > 0", Within: 3 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	k := &taker{T: t, v: NewVerifier(Config{}, p)}
	k.take(0, Record{Kind: Up, At: 1})
	k.take(1, Record{Kind: Up, At: 2})
	k.take(0, Record{Kind: Lost, At: second, Names: []string{"x"}, Text: "probes were taken out"})
	// It exposes x after two seconds, and nobody sees it.
	for at := second; at < 10*second; at += second / 2 {
		k.take(0, Record{Kind: Beat, At: at})
		k.take(1, Record{Kind: Beat, At: at})
	}
	if found := k.v.Found(); len(found) > 0 {
		t.Errorf("found %s %q, and it is unknown whether it was true", found[0].Kind, found[0].Message)
	}
	if len(k.v.Doubts()) < 2 { // the loss, and that the goal may have come too late
		t.Errorf("doubts %q", k.v.Doubts())
	}
}

// TestGoalTimes: a goal that is met at a time that is not known exactly is met in time or too late,
// if that is certain, and otherwise it is a doubt.
func TestGoalTimes(t *testing.T) {
	const ms = second / 1000
	type change struct {
		after, at ariadne.Time
		ends      bool
	}
	for _, c := range []struct {
		name          string
		stable        time.Duration
		changes       []change // of what n1 waits for, from shortly after 1s on
		found, doubts int
	}{
		{"at the last moment", 0, []change{{2 * second, 2 * second, true}}, 0, 0},
		{"in time", 0, []change{{1100 * ms, 2 * second, true}}, 0, 0},
		{"perhaps too late", 0, []change{{1800 * ms, 2500 * ms, true}}, 0, 1},
		{"too late", 0, []change{{2001 * ms, 2500 * ms, true}}, 1, 0},
		{"twice perhaps too late", 0, []change{{1800 * ms, 2500 * ms, true}, {4 * second, 4 * second, false},
			{5 * second, 5001 * ms, true}}, 0, 1},
		{"it begins in time", time.Second, []change{{1800 * ms, 1900 * ms, true}}, 0, 0},
		{"it begins perhaps too late", time.Second, []change{{1800 * ms, 2500 * ms, true}}, 0, 1},
		{"it may have been true for long enough", time.Second, []change{{1200 * ms, 1700 * ms, true},
			{2500 * ms, 2500 * ms, false}, {3 * second, 3 * second, true}}, 0, 1},
		{"it is true now and then", time.Second, []change{{1200 * ms, 1200 * ms, true},
			{1500 * ms, 1500 * ms, false}, {1700 * ms, 1700 * ms, true}, {2100 * ms, 2100 * ms, false},
			{2300 * ms, 2300 * ms, true}}, 1, 0},
		{"and then it never is", time.Second, []change{{1200 * ms, 1700 * ms, true},
			{2500 * ms, 2500 * ms, false}}, 1, 0},
		{"and it is not asked for again", time.Second, []change{{1200 * ms, 1700 * ms, true},
			{2500 * ms, 2500 * ms, false}}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			goal := property.Goal{Name: "done", Expr: "not waits", Within: time.Second, StableFor: c.stable}
			if strings.Contains(c.name, "asked") {
				goal.When = "len(asked) > 0"
			}
			p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1", "n2"},
				Sources: expose.Sources{{Name: "waits", Line: regexp.MustCompile("waits")},
					{Name: "asked", Line: regexp.MustCompile("asked")}}, Goals: []property.Goal{goal}})
			if err != nil {
				t.Fatal(err)
			}
			k := &taker{T: t, v: NewVerifier(Config{}, p)}
			k.take(0, Record{Kind: Up, At: 1})
			k.take(1, Record{Kind: Up, At: 2})
			for _, e := range append([]change{{second + 10, second + 10, false}}, c.changes...) {
				k.take(0, Record{Kind: Show, After: e.after, At: e.at,
					Changes: []expose.Change{{Tuple: expose.Tuple{Name: "waits"}, Ends: e.ends, All: e.ends}}})
			}
			k.take(1, Record{Kind: Show, At: second + 1, Changes: shows("asked", false)})
			k.take(1, Record{Kind: Show, At: 1100 * ms, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "asked"},
				Ends: true, All: true}}})
			k.take(0, Record{Kind: Beat, At: 9 * second})
			k.take(1, Record{Kind: Beat, At: 9 * second})
			if found := k.v.Found(); len(found) != c.found || len(k.v.Doubts()) != c.doubts {
				t.Errorf("%+v %q, want %d and %d", found, k.v.Doubts(), c.found, c.doubts)
			}
		})
	}
}

// TestGoalInBriefStates: whether a goal stays true is unknown while no state lasts for long enough
// to be judged.
func TestGoalInBriefStates(t *testing.T) {
	const ms = second / 1000
	p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1"},
		Sources: expose.Sources{{Name: "waits", Line: regexp.MustCompile("waits")},
			{Name: "noise", Line: regexp.MustCompile("noise")}},
		Goals: []property.Goal{{Name: "done", Expr: "not waits and len(noise) >= 0", Within: 3 * time.Second,
			StableFor: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	k := &taker{T: t, v: NewVerifier(Config{Settle: time.Millisecond}, p)}
	k.take(0, Record{Kind: Up, At: 1})
	k.take(0, Record{Kind: Show, At: 2 * second, Changes: shows("waits", false)})
	over := []expose.Change{{Tuple: expose.Tuple{Name: "waits"}, Ends: true, All: true}}
	k.take(0, Record{Kind: Show, At: 2200 * ms, Changes: over})
	for at := 2200*ms + ms/2; at < 7*second; at += ms / 2 {
		k.take(0, Record{Kind: Show, At: at, Changes: shows("noise", at%ms == 0)})
	}
	k.take(0, Record{Kind: Beat, At: 7 * second})
	if found := k.v.Found(); len(found) != 0 || len(k.v.Doubts()) != 1 {
		t.Errorf("%+v %q", found, k.v.Doubts())
	}
}

// TestOnlyTrueGoals: a goal that is found to be late was not met for so long, whatever was lost or
// could not be ordered. One that was late from a moment on that was judged is found, or is doubted.
func TestOnlyTrueGoals(t *testing.T) {
	found, met, late, doubted := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		const within = 60
		x := drawTruth(t, true)
		x.polls = false // of values that are read now and then, a finding is only suspected
		stable := time.Duration(rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "stable for"))
		goal := property.Goal{Name: "led", Expr: "len(leader) > 0", Within: within, StableFor: stable}
		leadsTo := rapid.Bool().Draw(t, "leads to")
		if leadsTo {
			goal.When = fmt.Sprintf("len(up) < %d", x.nodes)
		}
		c := leaders(x.nodes).Config
		c.Predicates, c.Goals = nil, []property.Goal{goal}
		p, err := judge.NewProperties(c)
		if err != nil {
			t.Fatal(err)
		}
		var v *Verifier
		missed := map[ariadne.Time]bool{} // when it was met too late
		settle := time.Duration(rapid.SampledFrom([]int{0, 0, 3, 10}).Draw(t, "settle"))
		v = NewVerifier(Config{Settle: settle, OnJudged: func(_ Stamp, s *expose.Snapshot) {
			of := v.history[len(v.history)-1]
			at, ok := x.times[recordID{of.Node, of.Seq}]
			if is := text(s); !ok || strings.Contains(is, "leader") || leadsTo && !strings.Contains(is, " false") {
				return
			}
			led := ariadne.Never
			for i, s := range x.states {
				if x.from[i] > at && strings.Contains(s, "leader") {
					led = x.from[i]
					break
				}
			}
			if led > at+within {
				missed[led] = true
			}
		}}, p)
		for _, r := range shuffled(t, x.told(t, false, 0)) {
			if err := v.Take(r); err != nil {
				t.Fatal(err)
			}
		}
		all := v.Found()
		if found += len(all); len(all) == 0 {
			met++
		}
		doubts := 0
		for _, d := range v.aims.doubts() {
			if !strings.HasPrefix(d, "led: it may have come too late, because ") {
				t.Fatalf("%q", d)
			}
			n := 1
			if i := strings.LastIndex(d, " ("); i >= 0 {
				if _, err := fmt.Sscanf(d[i:], " (%d times)", &n); err != nil {
					t.Fatalf("%q: %v", d, err)
				}
			}
			doubts += n
		}
		if stable == 0 && len(missed) > 0 {
			late++
			least := len(missed)
			// it may have been met then, so that two of them are one
			if v.Undecided+v.Unknown+v.Brief > 0 {
				least = 1
			}
			if len(all)+doubts < least {
				t.Fatalf("met too late, at %v: %d were found, and %d doubted", slices.Sorted(maps.Keys(missed)),
					len(all), doubts)
			}
		}
		doubted += doubts
		for _, f := range all {
			// What waits at the begin of the time, or began to wait then, waits up to its end.
			begin, end := f.At-within, f.At
			waits, led := !leadsTo, ariadne.Never
			for i, s := range x.states {
				ends := x.end
				if i+1 < len(x.from) {
					ends = x.from[i+1]
				}
				if x.from[i] > begin && (!waits || x.from[i] >= end) {
					break
				}
				if waits = waits || strings.Contains(s, " false"); !strings.Contains(s, "leader") {
					led = ariadne.Never
					continue
				}
				led = min(led, x.from[i])
				is := led.Add(stable) < min(ends, end)
				if is && ends > begin {
					t.Fatalf("%s\nbut from %d on, from %d to %d, there was\n%s", f.Message, x.from[i], begin, end, s)
				}
				if is {
					waits = !leadsTo
				}
			}
			if !waits {
				t.Fatalf("%s\nbut nothing waited for it at %d", f.Message, begin)
			}
		}
	})
	if found == 0 || met == 0 || late == 0 || doubted == 0 {
		t.Errorf("%d goals were found to be late, in %d executions none was, in %d some were, %d were doubted: "+
			"the test tries too little", found, met, late, doubted)
	}
}
