package watch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestFaults: a fault comes every so often, and about half of them come soon after a node has shown
// something, about half of these at that node. Without anything shown, all of them come later.
func TestFaults(t *testing.T) {
	const (
		every = 3 * time.Second
		shown = 700 * time.Millisecond // from one node that shows something to the next
		step  = ariadne.Time(time.Millisecond)
	)
	n := &watched{}
	run := func(kind faultKind, shows bool) (all, soon, there int) {
		var f faults
		f.begin(every, 4, kind, 0)
		for now := ariadne.Time(0); now < ariadne.Time(3000*time.Second); now += step {
			if shows && now%ariadne.Time(shown) == 0 {
				f.shows(n, now)
			}
			if !f.due(now) {
				continue
			}
			if all++; f.after {
				soon++
			}
			if f.at == n {
				there++
			}
			f.done(now)
		}
		return all, soon, there
	}
	for kind, name := range faultNames {
		all, soon, there := run(faultKind(kind), true)
		if all < 700 || all > 1100 || soon < all*2/5 || soon > all*3/5 || there < soon*2/5 || there > soon*3/5 {
			t.Errorf("%s: %d faults, %d after something was shown, %d of these there", name, all, soon, there)
		}
		all, soon, there = run(faultKind(kind), false)
		if all < 500 || all > 800 || soon != 0 || there != 0 {
			t.Errorf("%s: nothing is shown: %d faults, %d after that, %d there", name, all, soon, there)
		}
	}
}

// TestStrike: a fault hits a node that it may hit, that which has shown something if it is to be
// that one, and for a time within bounds. Faults without such a node are not counted. The two kinds
// do not come at the same times.
func TestStrike(t *testing.T) {
	all := []*launch{{node: &watched{}}, {node: &watched{}}, {node: &watched{}}}
	hits := map[*launch]int{}
	var f faults
	f.begin(time.Second, 4, cutting, 0)
	strike := func(at *watched, may func(*launch) bool) *launch {
		f.next, f.after, f.at = 0, true, at
		r, long := f.strike(all, may, 1)
		if hits[r]++; r != nil && (long < shortestFault || long > longestFault) {
			t.Errorf("a fault of %v", long)
		}
		return r
	}
	notFirst := func(r *launch) bool { return r != all[0] }
	for range 1000 {
		strike(nil, notFirst)
	}
	if hits[nil] > 0 || hits[all[0]] > 0 || hits[all[1]] < 400 || hits[all[2]] < 400 || f.count != 1000 {
		t.Errorf("%d faults: %v", f.count, hits)
	}
	for range 20 {
		if strike(all[2].node, notFirst) != all[2] || strike(all[0].node, notFirst) == all[0] {
			t.Error("another node was hit")
		}
	}
	f.count = 0
	if r := strike(nil, func(*launch) bool { return false }); r != nil || f.count != 0 {
		t.Errorf("a fault has hit %v", r)
	}
	var kills, cuts faults
	kills.begin(time.Second, 4, killing, 0)
	cuts.begin(time.Second, 4, cutting, 0)
	if kills.next == cuts.next {
		t.Error("kills and cuts come at the same times")
	}
}

// TestMayBeHit: which nodes may be killed, and cut off.
func TestMayBeHit(t *testing.T) {
	for _, c := range []struct {
		name      string
		r         launch
		runs, cut bool
	}{
		{"of its own network", launch{}, true, true},
		{"of this network", launch{node: &watched{native: &spec.Native{Found: true}}}, true, false},
		{"a client", launch{node: &watched{def: &spec.Node{Client: true}}}, false, false},
		{"cut off", launch{joins: 1}, true, false},
		{"killed", launch{waiting: true}, false, false},
	} {
		n := c.r.node
		if n == nil {
			n = &watched{}
		}
		if n.process = (&native.Process{}); n.def == nil {
			n.def = &spec.Node{}
		}
		if n.native == nil {
			n.native = &spec.Native{}
		}
		if c.r.node = n; c.r.runs() != c.runs || c.r.canBeCut() != c.cut {
			t.Errorf("%s: runs %v, can be cut %v", c.name, c.r.runs(), c.r.canBeCut())
		}
		if n.process = nil; c.r.runs() {
			t.Errorf("%s: runs without a process", c.name)
		}
	}
}

// TestFaultsInHistory: a finding's history has the faults between its first change and the finding.
func TestFaultsInHistory(t *testing.T) {
	w := &watching{}
	for _, at := range []ariadne.Time{0, 3, 4, 7, 10} {
		w.enterFault(Change{At: at, Kind: "cut"})
	}
	var got []string
	for _, c := range w.withFaults([]Change{{At: 1, Kind: "up"}, {At: 5, Kind: "down"}, {At: 9, Kind: "up"}}, 9) {
		got = append(got, fmt.Sprintf("%d %s", int(c.At), c.Kind))
	}
	if want := []string{"1 up", "3 cut", "4 cut", "5 down", "7 cut", "9 up"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range 10 * faultsMax {
		w.enterFault(Change{})
	}
	if len(w.faults) > faultsMax {
		t.Errorf("%d faults are kept", len(w.faults))
	}
}

// TestSeldomFaults: nothing happens soon if faults are to be as seldom as a duration can say.
func TestSeldomFaults(t *testing.T) {
	for seed := range uint64(20) {
		var f faults
		f.begin(math.MaxInt64, seed, killing, 0)
		if now := ariadne.Time(time.Hour); f.due(now) || f.waits {
			t.Errorf("seed %d: the first fault is due after %v", seed, time.Duration(f.next))
		}
	}
}

// TestRestartWaits: a node that was killed does not start again before its program has ended.
func TestRestartWaits(t *testing.T) {
	n := &watched{def: &spec.Node{Name: "n1"}}
	r := &launch{node: n, program: &native.Running{}, waiting: true}
	a := &Agent{started: started{running: []*launch{r}}}
	if err := a.restart(); err != nil || !r.waiting || r.starts != 0 {
		t.Errorf("the node was started beside its program: %v", err)
	}
}
