package search_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// kin is a node of a group in which all do the same, but for who they are, and the
// server beside them, which is node 0. Its steps depend on its history without
// the names in it; each message holds all of the sender's history, with the names.
type kin struct {
	nodes   int
	seed    uint64
	acts    int
	timers  bool
	panics  int      // at one input in so many; 0: never
	killed  []string // its processes that may be killed
	history string
	inputs  int
}

var (
	name     = regexp.MustCompile(`<\d>`)
	nameless = regexp.MustCompile(`<\d>|@\d+`)
)

func (k *kin) Start(c *worldtest.Ctx) { k.act(c, "s", c.ID()) }
func (k *kin) Fire(c *worldtest.Ctx)  { k.act(c, "f", c.ID()) }
func (k *kin) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if m.Flow.Proto == ariadne.Expiry { // a connection to another node has ended
		k.act(c, fmt.Sprintf("x(<%d>)", m.Flow.Dst.Addr().As4()[3]-1), c.ID())
		return
	}
	k.act(c, "d("+string(m.Data)+")", m.From)
}

func (k *kin) Jump(c *worldtest.Ctx, by time.Duration) { k.act(c, "j"+by.String(), c.ID()) }
func (k *kin) Kill(c *worldtest.Ctx, process string)   { k.act(c, "k"+process, c.ID()) }
func (k *kin) Processes() []string                     { return k.killed }

func (k *kin) act(c *worldtest.Ctx, input string, from ariadne.NodeID) {
	k.history += fmt.Sprintf("@%d%s", c.Now(), input)
	if k.inputs++; k.inputs > k.acts {
		return
	}
	h := fnv.New64a()
	fmt.Fprint(h, k.seed, c.ID() == 0, nameless.ReplaceAllString(k.history, ""))
	draw := h.Sum64()
	below := func(n uint64) uint64 {
		draw ^= draw >> 33
		draw *= 0xff51afd7ed558ccd
		draw ^= draw >> 29
		return draw % n
	}
	text := fmt.Sprintf("<%d>%s", c.ID(), k.history)
	for i := range below(3) {
		switch below(4) {
		case 0:
			if c.ID() != 0 {
				c.Send(0, fmt.Sprint(text, "!", i))
			}
		case 1:
			for to := 1; to < k.nodes; to++ {
				if ariadne.NodeID(to) != c.ID() {
					c.Send(ariadne.NodeID(to), fmt.Sprint(text, "!", i))
				}
			}
		case 2:
			if from != c.ID() {
				c.SendDatagram(from, fmt.Sprint(text, "!", i))
			}
		case 3:
			if k.timers {
				c.SetTimer(time.Duration(below(3)) * time.Millisecond)
			}
		}
	}
	if k.panics > 0 && below(uint64(k.panics)) == 0 {
		c.Panic("enough")
	}
}

// described writes out the state at the end of a path, with the times in it or without.
func described(p *space.Path, times bool) (nodes, flight []string) {
	n := p.Last()
	nodes = make([]string, len(n.State.Nodes))
	for i := 1; i <= p.Len(); i++ {
		s := p.Step(i)
		if s.Action.Node == ariadne.NoNode { // what it has done to the network is seen there
			continue
		}
		// a copy of a message is one like the other
		given := p.Frame(i).By.Input.Action(s.Action.Node)
		nodes[s.Action.Node] += fmt.Sprintf(" %d%s", given.Kind, given.What)
		if at := s.At; times {
			if s.Output.Down != ariadne.Up { // nobody can tell when it began
				at = s.Output.Back
			}
			nodes[s.Action.Node] += fmt.Sprintf("@%d", at)
		}
		if in := p.Frame(i).By.Input; in.Packet != nil {
			nodes[s.Action.Node] += from(in.Packet)
		}
	}
	for _, f := range n.State.Flight {
		d := fmt.Sprintf("<%d>%d#%d:%s", f.To, f.Flow.Proto, f.Seq, from(f.Packet))
		if times {
			// How long a message has been there that its node can take is no matter.
			d = fmt.Sprintf("%d %v ", max(f.Arrival, n.State.Nodes[f.To].Clock), f.Delayed) + d
		}
		flight = append(flight, d)
	}
	for _, c := range slices.Concat(n.State.Cuts, n.State.Slow) {
		parted := fmt.Sprint("parted ", c.Name, c.By)
		if times {
			parted += fmt.Sprint(" until ", c.Until)
		}
		flight = append(flight, parted)
	}
	return nodes, flight
}

// from is what a message says, or of which connection it is the end.
func from(p *world.Packet) string {
	if p.Flow.Proto == ariadne.Expiry {
		return fmt.Sprintf("<%d>", p.Flow.Dst.Addr().As4()[3]-1)
	}
	return string(p.Data)
}

var times = regexp.MustCompile(`@\d+`)

// orbit is the least of what a state's description is with nodes but the first
// exchanged in all ways.
func orbit(p *space.Path, withTimes bool) string {
	nodes, flight := described(p, withTimes)
	least := ""
	for _, to := range permutations(len(nodes) - 1) {
		rename := func(s string) string {
			if !withTimes {
				s = times.ReplaceAllString(s, "")
			}
			return name.ReplaceAllStringFunc(s, func(s string) string {
				if s == "<0>" {
					return s
				}
				return fmt.Sprintf("<%d>", to[s[1]-'1']+1)
			})
		}
		exchanged := make([]string, len(nodes))
		exchanged[0] = rename(nodes[0])
		for i, n := range nodes[1:] {
			exchanged[to[i]+1] = rename(n)
		}
		var flying []string
		for _, f := range flight {
			flying = append(flying, rename(f))
		}
		slices.Sort(flying)
		s := strings.Join(exchanged, "\n") + "\n\n" + strings.Join(flying, "\n") + fmt.Sprint(p.Last().State.Delays)
		if least == "" || s < least {
			least = s
		}
	}
	return least
}

// permutations of n, by a way of its own.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// TestSymmetry: of the states that differ in who of a group is who exactly one is
// gone on from, each orbit is found, and so is a bug if there is one.
func TestSymmetry(t *testing.T) {
	orbits, gone, states, bugs := 0, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		timers := rapid.Bool().Draw(t, "timers")
		n := rapid.IntRange(3, 4).Draw(t, "nodes")
		k := kin{nodes: n, timers: timers, seed: rapid.Uint64().Draw(t, "seed"),
			acts:   rapid.IntRange(1, 3).Draw(t, "acts"),
			panics: rapid.SampledFrom([]int{0, 7}).Draw(t, "panics")}
		duplicates := worldtest.Faults("duplicate", rapid.IntRange(0, 1).Draw(t, "duplicates"))
		s := small{rules: world.Rules{Latency: time.Millisecond, Faults: duplicates}, instant: timers}
		if timers {
			s.rules = world.Rules{
				Faults:     duplicates,
				Latency:    time.Duration(rapid.IntRange(0, 3).Draw(t, "latency ms")) * time.Millisecond,
				ClockError: time.Duration(rapid.IntRange(0, 2).Draw(t, "E ms")) * time.Millisecond,
				Delays:     rapid.IntRange(0, 2).Draw(t, "delays"),
				MaxDelay: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t,
					"max delay ms")) * time.Millisecond,
			}
			late := rapid.IntRange(0, 2).Draw(t, "start ms")
			s.starts = []int{0, late, late, late}[:n]
		}
		// After a stop a node's state has its name by its content, and orbits are those of
		// histories.
		fault := rapid.SampledFrom([]ariadne.ActionKind{0, 0, 0, 0, world.Crash, world.Pause, world.Jump, world.Kill,
			world.Cut, world.Slow}).Draw(t, "fault")
		if fault != 0 {
			rule := world.Jumps(nil, 1e6, -2e6)
			switch fault {
			case world.Kill:
				k.killed = []string{"a", "b"}
			case world.Crash, world.Pause:
				f, err := ariadne.ParseNodeFault(world.KindOf(fault).Name + ":0s")
				if err != nil {
					t.Fatal(err)
				}
				rule = world.Outages(ariadne.OutageOf(f).Down, nil, 0, 6e6)
			}
			var group []ariadne.NodeID
			for i := 1; i < n; i++ {
				group = append(group, ariadne.NodeID(i))
			}
			if fault == world.Slow {
				rule.Faults = nil
				length := rapid.SampledFrom([]time.Duration{0, 6e6}).Draw(t, "slow for")
				by := rapid.SampledFrom([]time.Duration{1e6, 4e6}).Draw(t, "slow by")
				for i, id := range group {
					name := fmt.Sprintf("<0><%d>", i+1)
					s.rules.Partitions = append(s.rules.Partitions,
						world.NewPartition(name, []ariadne.NodeID{0}, []ariadne.NodeID{id}, false,
							length).WithLateness(by))
				}
			}
			if fault == world.Cut {
				rule.Faults = nil
				length := rapid.SampledFrom([]time.Duration{0, 6e6}).Draw(t, "cut for")
				s.rules.Partitions = []*world.Partition{world.NewPartition("<0>", []ariadne.NodeID{0}, group, false,
					length)}
				// connections end in the order in which nodes have sent
				s.rules.GiveUp, s.instant = 4e6, true
			}
			if fault != world.Kill {
				rule.Nodes = group
			}
			// within a step nodes are told apart by the order in which they send to others
			s.between = true
			s.rules.NodeFaults, s.rules.Grid = []world.NodeFaults{rule}, 2e6
			s.rules.Faults[fault] = uint8(rapid.IntRange(1, 2).Draw(t, "how often"))
		}
		away := fault == world.Crash || fault == world.Pause || fault == world.Cut || fault == world.Slow
		s.programs = func() []worldtest.Program {
			var p []worldtest.Program
			for range n {
				node := k
				p = append(p, &node)
			}
			return p
		}
		want := map[string]bool{}
		all := orbitsOf(t, s, nil, timers, want)
		if all.how != search.SearchExhausted {
			t.SkipNow()
		}
		var group []ariadne.NodeID
		for i := 1; i < n; i++ {
			group = append(group, ariadne.NodeID(i))
		}
		got := map[string]bool{}
		found := orbitsOf(t, s, [][]ariadne.NodeID{group}, timers, got)
		// Two timers of one time may both have held up a message: who came first is not a part of
		// the state, but of where it comes from. While a node is down a state is like no other, and
		// when a fault befell a node tells states apart, of which orbits without times say nothing.
		exact := s.rules.Delays == 0 && !away && (fault == 0 || timers)
		if found.how != search.SearchExhausted || !maps.Equal(got, want) || exact &&
			found.coverage.States != len(want) {
			t.Fatalf("%s: %d states in %d orbits, want %d", found.how, found.coverage.States, len(got), len(want))
		}
		if (len(found.violations) > 0) != (len(all.violations) > 0) {
			t.Fatalf("%d violations of %d", len(found.violations), len(all.violations))
		}
		bugs += min(1, len(all.violations))
		if fault == 0 {
			gone, orbits, states = gone+found.coverage.States, orbits+len(want), states+all.coverage.States
		}
	})
	t.Logf("%d orbits of %d states, gone on from %d; %d systems with a bug", orbits, states, gone, bugs)
	if states < orbits*3/2 || gone > orbits+orbits/10 || bugs == 0 {
		t.Error("not as many were left out as should be")
	}
}

// orbitsOf searches a system and collects the orbits of the states that are gone on
// from.
func orbitsOf(t failer, s small, groups [][]ariadne.NodeID, times bool, into map[string]bool) found {
	x := s.exploration(t, &strategy.DepthFirst{})
	if groups != nil {
		x.Space.Symmetry = space.NewSymmetry(len(x.Space.System.Nodes()), groups)
		x.Classes = append(x.Classes, (*space.Path).HashClass)
	}
	x.Watch = func(p *space.Path) {
		if !p.Last().Seen {
			into[orbit(p, times)] = true
		}
	}
	return explore(t, x, 600)
}

// favoured answers all but one node twice.
type favoured struct{ worldtest.Idle }

func (favoured) Receive(c *worldtest.Ctx, m ariadne.Message) {
	c.Send(m.From, "yes")
	if m.From != 1 {
		c.Send(m.From, "indeed")
	}
}

// TestNotInterchangeable: what shows that nodes are not what they were said to be is
// told, and nothing speaks against nodes that are.
func TestNotInterchangeable(t *testing.T) {
	for _, c := range []struct {
		name     string
		programs func() []worldtest.Program
		audit    float64
		want     string
	}{
		{"alike", func() []worldtest.Program {
			return []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Count: 2}, &worldtest.Ping{Count: 2}}
		}, 0.5, ""},
		{"longer", func() []worldtest.Program {
			return []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Count: 2}, &worldtest.Ping{Count: 3}}
		}, 1, "has sent 1 message of 4 bytes and waits for messages alone; in the same place"},
		{"treated otherwise", func() []worldtest.Program {
			return []worldtest.Program{favoured{}, sender{count: 2}, sender{count: 2}}
		}, 0, "node n1 has sent 2 messages of 9 bytes and waits for messages alone; in the same place node n1 has sent 1 message of 3 bytes"},
	} {
		s := small{rules: world.Rules{Latency: time.Millisecond}, programs: c.programs}
		x := s.exploration(t, &strategy.DepthFirst{})
		y := space.NewSymmetry(3, [][]ariadne.NodeID{{1, 2}})
		y.Audit = c.audit
		x.Space.Symmetry = y
		x.Classes = append(x.Classes, (*space.Path).HashClass)
		got := explore(t, x, 0)
		err := y.Err()
		switch {
		case c.want == "" && (err != nil || got.coverage.Merged == 0):
			t.Errorf("%s: %v, %+v", c.name, err, got.coverage)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPermutationsOfGroups(t *testing.T) {
	for _, c := range []struct {
		groups [][]ariadne.NodeID
		want   int
	}{
		{nil, 1}, {[][]ariadne.NodeID{{1, 3}}, 2}, {[][]ariadne.NodeID{{0, 2, 4}}, 6},
		{[][]ariadne.NodeID{{0, 1, 2, 3, 4}}, 120},
		{[][]ariadne.NodeID{{0, 2, 4}, {3, 1}}, 12},
	} {
		if got := space.NewSymmetry(5, c.groups).Ways(); got != c.want {
			t.Errorf("%v: %d ways, want %d", c.groups, got, c.want)
		}
	}
}
