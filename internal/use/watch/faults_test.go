package watch

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestFaults: faults come every so often, of each kind as often as is asked for. Half of them
// follow another one soon. Of the rest about half come soon after a node has shown something, about
// half of these at that node. Without anything shown, they come later. Half of the kills are
// strikes.
func TestFaults(t *testing.T) {
	const (
		shown = 700 * time.Millisecond // from one node that shows something to the next
		step  = ariadne.Time(time.Millisecond)
	)
	n := &watched{}
	type counts struct{ kills, strikes, cuts, follow, soon, there int }
	run := func(kill, cut time.Duration, shows bool) (c counts) {
		var f faults
		f.begin([faultKinds]time.Duration{killing: kill, cutting: cut}, 4, 0)
		for now := ariadne.Time(0); now < ariadne.Time(3000*time.Second); now += step {
			if shows && now%ariadne.Time(shown) == 0 {
				f.shows(n, now)
			}
			if !f.due(now) {
				continue
			}
			if f.kind == killing {
				c.kills++
			} else {
				c.cuts++
			}
			if f.strikes {
				c.strikes++
			}
			if f.follows {
				c.follow++
			}
			if f.after {
				c.soon++
			}
			if f.at == n {
				c.there++
			}
			f.done(now)
		}
		return c
	}
	about := func(n, of int) bool { return n > of*4/5 && n < of*6/5 }
	for _, c := range []struct{ kill, cut time.Duration }{
		{3 * time.Second, 0}, {0, 3 * time.Second}, {4 * time.Second, 12 * time.Second},
	} {
		want := func(every time.Duration) int {
			if every == 0 {
				return 0
			}
			return int(3000 * time.Second / every)
		}
		got := run(c.kill, c.cut, true)
		all := got.kills + got.cuts
		near := func(n, of int) bool { return n == 0 && of == 0 || about(n, of) }
		if !near(got.kills, want(c.kill)) || !near(got.cuts, want(c.cut)) || !near(got.strikes, got.kills/2) ||
			all == 0 || !about(got.follow, all/2) || !about(got.soon, all/4) || !about(got.there, got.soon/2) {
			t.Errorf("every %v and %v: %+v", c.kill, c.cut, got)
		}
		got = run(c.kill, c.cut, false)
		if all := got.kills + got.cuts; all < 500 || !about(got.follow, all/2) || got.soon != 0 || got.there != 0 {
			t.Errorf("every %v and %v, nothing is shown: %+v", c.kill, c.cut, got)
		}
	}
}

// injecting is an agent of a spec with kills and cuts, whose nodes run as far as is known.
func injecting(t *testing.T, text string) *Agent {
	t.Helper()
	s := specOf(t, text+leader)
	a := &Agent{spec: s, injection: newInjection(s, false)}
	a.begin([faultKinds]time.Duration{time.Second, time.Second}, 4, 0)
	for i := range s.Nodes {
		n := &watched{def: &s.Nodes[i], native: &s.Watch.Native[i], process: &native.Process{}}
		a.nodes, a.running = append(a.nodes, n), append(a.running, &launch{node: n})
	}
	return a
}

// draws counts what an agent kills or parts, in words, when it may again and again.
func (a *Agent) draws(times int) map[string]int {
	all := map[string]int{}
	for range times {
		text := ""
		for _, r := range a.chooseKill() {
			text += "+" + r.node.def.Name
		}
		all["kill "+strings.TrimPrefix(text, "+")]++
		if p, begins := a.choosePart(); p != nil {
			all[p.of.node.def.Name+" "+begins]++
		} else {
			all["part"]++
		}
	}
	return all
}

const servers = "nodes: [{name: 'n{i}', count: 3, command: 'true'}, {name: c, client: true, command: 'true'}]\n"

// TestStrikes: what is killed and parted by what a spec says of faults.
func TestStrikes(t *testing.T) {
	for _, c := range []struct {
		name, faults string
		prepare      func(a *Agent)
		want         []string
	}{
		{"no faults", "", nil, []string{"kill n1", "kill n2", "kill n3",
			"n1 does not reach n2", "n1 does not reach n3", "n1 is cut off", "n1 is cut off from n2",
			"n1 is cut off from n3", "n1 is not reached by n2", "n1 is not reached by n3",
			"n1 is reached by no other node", "n1 reaches no other node",
			"n2 does not reach n3", "n2 is cut off", "n2 is cut off from n3", "n2 is not reached by n3",
			"n2 is reached by no other node", "n2 reaches no other node",
			"n3 is cut off", "n3 is reached by no other node", "n3 reaches no other node"}},
		{"numbers", "{crash: 1, cut: 1}", nil, []string{"kill n1", "kill n2", "kill n3",
			"n1 is cut off from n2, n3", "n2 is cut off from n1, n3", "n3 is cut off from n1, n2"}},
		{"nodes, groups and clients", "{crash: {nodes: [n2, c]}, cut: {groups: [[n1, n2]], clients: true, one_way: true}}", nil,
			[]string{"kill c", "kill n2", "n1 is cut off with n2", "n1 is reached by no other node with n2",
				"n1 reaches no other node with n2"}},
		{"no budget", "{crash: {count: 0, nodes: [n1]}, cut: 1}", nil, []string{"kill n1", "kill n2", "kill n3",
			"n1 is cut off from n2, n3", "n2 is cut off from n1, n3", "n3 is cut off from n1, n2"}},
		{"links", "{crash: {nodes: [n1]}, cut: {links: [[n2, n3], [n1, c]]}}", nil,
			[]string{"kill n1", "n1 is cut off from c", "n2 is cut off from n3"}},
		{"together", "{crash: {nodes: [n1], together: [[n2, n3]]}, cut: {links: [[n1, n2]]}}", nil,
			[]string{"kill n1", "kill n2+n3", "n1 is cut off from n2"}},
		{"some are down", "{crash: {nodes: [n1, n2], together: [[n2, n3]]}, cut: {links: [[n1, n2], [n1, n3]]}}",
			func(a *Agent) { a.running[1].waiting, a.running[2].waiting = true, true },
			[]string{"kill n1", "n1 is cut off from n2", "n1 is cut off from n3"}},
		{"one of a group is left", "{crash: {nodes: [n1], together: [[n2, n3], [n1, n2, n3]]}, cut: {links: [[n1, n2]]}}",
			func(a *Agent) { a.running[2].waiting = true },
			[]string{"kill n1", "kill n1+n2", "n1 is cut off from n2"}},
		{"all are down but one that is in no group", "{crash: {nodes: [n1]}, cut: {groups: [[n1]], links: [[n1, n3]]}}",
			func(a *Agent) { a.running[0].waiting, a.running[2].node.process = true, nil }, []string{"kill ", "part"}},
		{"as many as may be", "{crash: 1, cut: 2}", func(a *Agent) {
			a.down = make([][]*launch, 1)
			a.parted = []*parting{{}, {}}
		}, []string{"kill ", "part"}},
		{"parted already", "{crash: 1, cut: {count: 2, groups: [[n3]], links: [[n1, n2]]}}",
			func(a *Agent) { a.parted = []*parting{{ways: []native.Way{{From: 1, To: 2}, {From: 2, To: 1}}}} },
			[]string{"kill n1", "kill n2", "kill n3", "n3 is cut off from n1, n2"}},
		{"after, unheard", "{crash: {after: ready}, cut: {after: {node: n1, line: ready}}}",
			func(a *Agent) { a.hear(a.nodes[1], "unready, not yet") }, []string{"kill n2", "part"}},
		{"after, heard", "{crash: {after: {node: c, line: ready}, nodes: [n1]}, cut: {after: ready, links: [[n1, n2]]}}",
			func(a *Agent) { a.hear(a.nodes[3], "ready") }, []string{"kill n1", "n1 is cut off from n2"}},
	} {
		if c.faults != "" {
			c.faults = "faults: " + c.faults + "\n"
		}
		a := injecting(t, servers+c.faults)
		if c.prepare != nil {
			c.prepare(a)
		}
		got := a.draws(1000)
		if all := slices.Sorted(maps.Keys(got)); !slices.Equal(all, c.want) {
			t.Errorf("%s: %q, want %q", c.name, all, c.want)
		}
	}
}

// TestStrikesAt: a fault after a node has shown something hits that node, if it may hit it.
func TestStrikesAt(t *testing.T) {
	a := injecting(t, servers)
	a.at = a.nodes[1]
	for what := range a.draws(200) {
		if what != "kill n2" && !strings.Contains(what, "n2") {
			t.Errorf("n2 has shown something, and the fault is %q", what)
		}
	}
	a.at = a.nodes[3] // a client
	if got := a.draws(200); got["kill n1"] == 0 || got["n1 is cut off"] == 0 {
		t.Errorf("a client has shown something: %v", got)
	}
}

// TestLengths: faults last as long as the spec says, or for a random time.
func TestLengths(t *testing.T) {
	a := injecting(t, servers+"faults: {crash: {for: [0s, 5s, ever]}}\n")
	got := map[time.Duration]int{}
	for range 300 {
		got[a.length(&a.limits[killing])]++
		if d := a.length(&a.limits[cutting]); d < shortestFault || d > longestFault {
			t.Errorf("a cut of %v", d)
		}
	}
	if len(got) != 3 || got[0] < 50 || got[5*time.Second] < 50 || got[ariadne.Ever] < 50 {
		t.Errorf("kills for %v", got)
	}
	if until(5, ariadne.Ever) != ariadne.Never || until(5, 3) != 8 {
		t.Error("the wrong end of a fault")
	}
}

// TestBudget: with budgets for the whole watch, there are so many faults.
func TestBudget(t *testing.T) {
	a := injecting(t, servers+"faults: {crash: 2, cut: 3}\n")
	a.injection.limits = newInjection(a.spec, true).limits
	got := a.draws(100)
	if got["kill "] != 98 || got["part"] != 97 {
		t.Errorf("%v, want 2 kills and 3 cuts", got)
	}
}

// TestMayBeHit: which nodes may be killed, and parted.
func TestMayBeHit(t *testing.T) {
	const own = "nodes: [{name: n1, command: 'true'}, {name: n2, command: 'true'}]\nfaults: {crash: 1, cut: {links: [[n1, n2]]}}\n"
	for _, c := range []struct {
		name         string
		change       func(r *launch)
		killed, part bool
	}{
		{"of its own network", func(*launch) {}, true, true},
		{"of this network", func(r *launch) { r.node.native = &spec.Native{Found: true} }, true, false},
		{"killed", func(r *launch) { r.waiting = true }, false, true},
		{"ended", func(r *launch) { r.node.process = nil }, false, true},
	} {
		a := injecting(t, own)
		c.change(a.running[0])
		got := a.draws(100)
		if (got["kill n1"] > 0) != c.killed || (got["n1 is cut off"] > 0) != c.part {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestFaultNotes: what of the faults of a spec a watch does otherwise is said.
func TestFaultNotes(t *testing.T) {
	all := Options{Kill: time.Second, Cut: time.Second}
	for _, c := range []struct {
		faults string
		o      Options
		want   []string
	}{
		{"{}", all, nil},
		{"{crash: 1, cut: 1}", all, nil},
		{"{crash: 1, cut: 1, lose: 1}", Options{Kill: time.Second}, []string{"faults that are not injected: "}},
		{"{crash: {between: true}}", all,
			[]string{"faults has no cut: --cut hits", "faults: crash: between has no meaning"}},
	} {
		got := faultNotes(specOf(t, servers+"faults: "+c.faults+"\n"+leader), &c.o)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", c.faults, got, c.want)
		}
	}
	a := injecting(t, servers+"faults: {crash: {after: never}, cut: {count: 1}}\n")
	a.limits[cutting].count = 2
	want := []string{"faults: crash: after: no line matches \"never\": there was no kill", "2 cuts have happened, and faults allows 1 "}
	if got := a.injection.notes(true); !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := a.injection.notes(false); !slices.Equal(got, want[:1]) {
		t.Errorf("without a violation: %q", got)
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

// TestKillsBehindCalls: some kills are right behind a system call, and then the whole node is down,
// as after any other kill.
func TestKillsBehindCalls(t *testing.T) {
	if text, _ := probe.Check(); text != "" {
		t.Skip(text)
	}
	s := specOf(t, `
nodes: [{name: n1, command: "sh -c 'sleep 60 & while :; do echo x >>file; echo has $(wc -l <file); done'"}]
expose: {has: {line: 'has (?P<n>\d+)'}}
properties: {one: {one: has}}
faults: {crash: {for: [50ms]}}
`)
	struck, other, ends := 0, 0, 0
	r := watchFor(t, s, Options{Time: 10 * time.Second, Kill: 200 * time.Millisecond, OnFault: func(c Change) {
		if strings.Contains(c.What, "is killed behind a call of write for ") {
			struck++
		} else {
			other++
		}
	}, OnShow: func(r live.Record) {
		if r.Kind == live.Down {
			ends++
		}
	}})
	if struck == 0 || other == 0 || r.Kills != struck+other || ends < r.Kills-1 || r.Outcome != record.Nothing {
		t.Errorf("%d of %d kills were behind a call, %d ends: %v %q", struck, r.Kills, ends, r.Outcome, r.Doubts)
	}
}

// TestSeldomFaults: nothing happens soon if faults are to be as seldom as a duration can say.
func TestSeldomFaults(t *testing.T) {
	for seed := range uint64(20) {
		var f faults
		f.begin([faultKinds]time.Duration{killing: math.MaxInt64}, seed, 0)
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
