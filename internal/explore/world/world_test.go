package world_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

var rules = world.Rules{Latency: time.Millisecond}

// natural drives w along its natural schedule and returns the actions' names.
func natural(t *testing.T, w *worldtest.World) []string {
	t.Helper()
	var names []string
	for len(names) < 1000 && len(w.Enabled()) > 0 && !w.ClientsDone() {
		names = append(names, apply(t, w, w.Enabled()[0]).Name)
	}
	return names
}

func apply(t *testing.T, w *worldtest.World, a ariadne.Action) ariadne.Step {
	t.Helper()
	s, err := w.Apply(a)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// enabled returns the names of what is enabled.
func enabled(w *worldtest.World) []string {
	var names []string
	for _, a := range w.Enabled() {
		names = append(names, w.Names().Action(a))
	}
	return names
}

// do applies actions by their names.
func do(t *testing.T, w *worldtest.World, names ...string) {
	t.Helper()
	for _, n := range names {
		a, err := w.Names().Parse(n)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, w, a)
	}
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNaturalPingPong(t *testing.T) {
	programs := []worldtest.Program{&worldtest.Ping{Peer: 1, Count: 2}, worldtest.Pong{}}
	nodes := worldtest.Nodes(programs...)
	nodes[0].Client = true
	w := worldtest.New(rules, nodes, worldtest.Automata(programs...))
	expect(t, natural(t, w),
		"start n1", "start n2",
		"deliver n1:1001>n2:1000 #1", "deliver n2:1000>n1:1001 #1",
		"deliver n1:1001>n2:1000 #2", "deliver n2:1000>n1:1001 #2")
	if !w.ClientsDone() {
		t.Error("the client is not done")
	}
}

// script is a node that does at its start what the test says, and then nothing.
type script struct {
	worldtest.Idle
	start func(*worldtest.Ctx)
}

func (s script) Start(c *worldtest.Ctx) { s.start(c) }

func scripts(starts ...func(*worldtest.Ctx)) (programs []worldtest.Program) {
	for _, s := range starts {
		programs = append(programs, script{start: s})
	}
	return programs
}

// at is the world of programs on nodes that are switched on at some times.
func at(starts []ariadne.Time, programs []worldtest.Program) *worldtest.World {
	nodes := worldtest.Nodes(programs...)
	for i := range nodes {
		nodes[i].Start = starts[i]
	}
	return worldtest.New(rules, nodes, worldtest.Automata(programs...))
}

func nothing(*worldtest.Ctx) {}

func timer(after time.Duration) func(*worldtest.Ctx) {
	return func(c *worldtest.Ctx) { c.SetTimer(after) }
}

func TestTCPKeepsItsOrderAndDatagramsDoNot(t *testing.T) {
	w := worldtest.Of(rules, scripts(func(c *worldtest.Ctx) {
		c.Send(1, "a")
		c.Send(1, "b")
		c.SendDatagram(1, "c")
		c.SendDatagram(1, "d")
	}, nothing)...)
	do(t, w, "start n1", "start n2")
	expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "deliver udp n1:1001>n2:1000 #1",
		"deliver udp n1:1001>n2:1000 #2")
	do(t, w, "deliver udp n1:1001>n2:1000 #2", "deliver n1:1001>n2:1000 #1")
	expect(t, enabled(w), "deliver n1:1001>n2:1000 #2", "deliver udp n1:1001>n2:1000 #1")
}

func TestTimersWithinTheClockErrorMayFire(t *testing.T) {
	programs := scripts(timer(10*time.Millisecond), timer(12*time.Millisecond), timer(13*time.Millisecond))
	for _, c := range []struct {
		e    time.Duration
		want []string
	}{
		{0, []string{"timer n1"}},
		{2 * time.Millisecond, []string{"timer n1", "timer n2"}},
		{3 * time.Millisecond, []string{"timer n1", "timer n2", "timer n3"}},
	} {
		w := worldtest.Of(world.Rules{Latency: time.Millisecond, ClockError: c.e}, programs...)
		do(t, w, "start n1", "start n2", "start n3")
		expect(t, enabled(w), c.want...)
	}
}

func TestDelays(t *testing.T) {
	start := func(delays int) *worldtest.World {
		w := worldtest.Of(world.Rules{Latency: 5 * time.Millisecond, Delays: delays}, scripts(
			func(c *worldtest.Ctx) { c.Send(1, "a"); c.Send(1, "b"); c.SetTimer(10 * time.Millisecond) },
			func(c *worldtest.Ctx) { c.Send(2, "c"); c.SetTimer(20 * time.Millisecond) },
			nothing)...)
		do(t, w, "start n1", "start n2", "start n3")
		return w
	}
	t.Run("no budget: messages come before later timers", func(t *testing.T) {
		expect(t, enabled(start(0)), "deliver n1:1001>n2:1000 #1", "deliver n2:1002>n3:1001 #1")
	})
	t.Run("a budget of one holds one connection back", func(t *testing.T) {
		w := start(1)
		expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "deliver n2:1002>n3:1001 #1")
		do(t, w, "deliver n2:1002>n3:1001 #1")
		expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "timer n1")
		do(t, w, "timer n1")
		if s := w.State(); s.Delays != 0 {
			t.Errorf("budget left: %d", s.Delays)
		}
		// Once delayed, it may be delayed further.
		expect(t, enabled(w), "deliver n1:1001>n2:1000 #1", "timer n2")
	})
	t.Run("a delayed message arrives at the timer's deadline", func(t *testing.T) {
		w := start(2)
		a, err := w.Names().Parse("timer n1")
		if err != nil {
			t.Fatal(err)
		}
		fired := apply(t, w, a)
		late := apply(t, w, w.Enabled()[0])
		if late.Action.Kind != ariadne.ActDeliver || late.At != fired.At {
			t.Errorf("%s at %v after the timer at %v", late.Name, late.At, fired.At)
		}
	})
}

// TestMaxDelay: a message is late by no more than the bound, whoever's timers overtake it. Messages
// behind it are less late.
func TestMaxDelay(t *testing.T) {
	start := func(most time.Duration) *worldtest.World {
		w := worldtest.Of(world.Rules{Latency: 5 * time.Millisecond, Delays: 2, MaxDelay: most}, scripts(
			func(c *worldtest.Ctx) { c.Send(1, "a"); c.SetTimer(10 * time.Millisecond) },
			func(c *worldtest.Ctx) { c.SetTimer(20 * time.Millisecond) })...)
		do(t, w, "start n1", "start n2")
		return w
	}
	for _, c := range []struct {
		most time.Duration
		n1   bool // its timer may come before the message, which is then 5 ms late
		n2   bool // likewise, 15 ms
	}{{0, true, true}, {16 * time.Millisecond, true, true}, {14 * time.Millisecond, true, false},
		{6 * time.Millisecond, true, false}, {4 * time.Millisecond, false, false}} {
		w := start(c.most)
		if got := slices.Contains(enabled(w), "timer n1"); got != c.n1 {
			t.Errorf("%v: the timer of n1 may fire: %v", c.most, got)
		}
		if !c.n1 {
			continue
		}
		do(t, w, "timer n1")
		if got := slices.Contains(enabled(w), "timer n2"); got != c.n2 {
			t.Errorf("%v: then the timer of n2 may fire: %v", c.most, got)
		}
		if late := w.State().Flight[0].Late(); late < 5e6 || late > 6e6 {
			t.Errorf("%v: the message is %v late", c.most, late)
		}
	}
}

// TestTimerOrMessage: within the clock error, a message may come before a timer of the
// node's that was due before it. The clock then has not come to the deadline, however
// many messages there are, and answers arrive no earlier for it.
func TestTimerOrMessage(t *testing.T) {
	w := worldtest.Of(world.Rules{Latency: 5 * time.Millisecond, ClockError: 3 * time.Millisecond},
		&waits{after: 10 * time.Millisecond}, &waits{after: 7 * time.Millisecond, send: 2})
	do(t, w, "start n1", "start n2", "timer n2")
	before := w.State()
	if before.Flight[0].Arrival <= before.Nodes[0].Deadline {
		t.Fatalf("the messages arrive at %v, before the deadline at %v", before.Flight[0].Arrival,
			before.Nodes[0].Deadline)
	}
	for i := range 2 {
		name := fmt.Sprintf("deliver n2:1000>n1:1001 #%d", i+1)
		a, err := w.Names().Parse(name)
		if err != nil || !slices.Contains(w.Enabled(), a) || !slices.Contains(enabled(w), "timer n1") {
			t.Fatalf("%s: %v; enabled are %q", name, err, enabled(w))
		}
		if s := apply(t, w, a); s.At != before.Nodes[0].Deadline-1 || s.Output.Clock != s.At ||
			w.Now() >= before.Nodes[0].Deadline {
			t.Errorf("%s at %v, and the clock is at %v; the deadline is %v", s.Name, s.At, s.Output.Clock,
				before.Nodes[0].Deadline)
		}
	}
	for _, f := range w.State().Flight {
		if f.From == 0 && f.Arrival < before.Flight[0].Arrival.Add(5*time.Millisecond) {
			t.Errorf("an answer arrives at %v to what arrived at %v", f.Arrival, before.Flight[0].Arrival)
		}
	}
	do(t, w, "timer n1")
}

// waits sets a timer at its start, and sends so many messages to the other node when
// it fires. It answers what it gets.
type waits struct {
	worldtest.Idle
	after time.Duration
	send  int
}

func (w *waits) Start(c *worldtest.Ctx)                      { c.SetTimer(w.after) }
func (w *waits) Receive(c *worldtest.Ctx, _ ariadne.Message) { c.Send(1-c.ID(), "answer") }
func (w *waits) Fire(c *worldtest.Ctx) {
	for range w.send {
		c.Send(1-c.ID(), "message")
	}
}

func TestStartTimes(t *testing.T) {
	on := ariadne.Time(100 * time.Millisecond)
	w := at([]ariadne.Time{0, on, on}, scripts(
		func(c *worldtest.Ctx) { c.Send(1, "lost"); c.SetTimer(time.Second) },
		nothing,
		func(c *worldtest.Ctx) { c.Send(1, "in time") }))
	expect(t, enabled(w), "start n1") // the others are later
	do(t, w, "start n1")
	expect(t, enabled(w), "start n2", "start n3") // no timer before them, and the message is lost
	do(t, w, "start n3")
	expect(t, enabled(w), "start n2") // no message before it
	do(t, w, "start n2")
	expect(t, enabled(w), "deliver n3:1001>n2:1002 #1")
}

func TestStartAfterTimer(t *testing.T) {
	w := at([]ariadne.Time{0, ariadne.Time(time.Second)}, scripts(timer(time.Millisecond), nothing))
	do(t, w, "start n1")
	expect(t, enabled(w), "timer n1")
}

func TestDoneNodeHasNoTimerButHearsMessages(t *testing.T) {
	w := worldtest.Of(rules, scripts(
		func(c *worldtest.Ctx) { c.SetTimer(time.Second); c.Exit(0) },
		func(c *worldtest.Ctx) { c.Send(0, "are you there?") })...)
	do(t, w, "start n1", "start n2")
	expect(t, enabled(w), "deliver n2:1000>n1:1001 #1")
}

func TestNotEnabled(t *testing.T) {
	w := worldtest.Of(rules, scripts(nothing)...)
	before := w.Digest()
	_, err := w.Apply(ariadne.Action{Kind: ariadne.ActFire})
	if err == nil || !strings.Contains(err.Error(), "timer n1 is not enabled") {
		t.Errorf("err = %v", err)
	}
	if w.Digest() != before {
		t.Error("the state has changed")
	}
}

// broken is an automaton that breaks the contract.
type broken struct{ out ariadne.Output }

func (b broken) Apply(ariadne.Input) (ariadne.Output, error) { return b.out, nil }

func TestBrokenContracts(t *testing.T) {
	at := ariadne.Time(1000)
	for _, c := range []struct {
		name, want string
		out        ariadne.Output
	}{
		{"clock", "its clock ran backwards", ariadne.Output{Left: ariadne.Left{Clock: at - 1}}},
		{"forged sender", "it sent a message as node 1",
			ariadne.Output{Messages: []ariadne.Message{{From: 1, To: 0, Sent: at}}, Left: ariadne.Left{Clock: at}}},
		{"to itself", "it sent a message to node 0",
			ariadne.Output{Messages: []ariadne.Message{{To: 0, Sent: at}}, Left: ariadne.Left{Clock: at}}},
		{"to nobody", "it sent a message to node 7",
			ariadne.Output{Messages: []ariadne.Message{{To: 7, Sent: at}}, Left: ariadne.Left{Clock: at}}},
		{"before its cause", "outside its step",
			ariadne.Output{Messages: []ariadne.Message{{To: 1, Sent: at - 1}}, Left: ariadne.Left{Clock: at}}},
		{"from the future", "outside its step",
			ariadne.Output{Messages: []ariadne.Message{{To: 1, Sent: at + 1}}, Left: ariadne.Left{Clock: at}}},
		{"same number twice", "it sent number 1 after number 1",
			ariadne.Output{Messages: []ariadne.Message{{To: 1, Seq: 1, Sent: at}, {To: 1, Seq: 1, Sent: at}},
				Left: ariadne.Left{Clock: at}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes := worldtest.Nodes(scripts(nothing, nothing)...)
			nodes[0].Start, nodes[1].Start = at, at
			_, err := worldtest.New(rules, nodes,
				[]ariadne.Automaton{broken{c.out}, nil}).Apply(ariadne.Action{Kind: ariadne.ActStart})
			if err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), "step 1 (start n1): node n1 broke its contract: ") {
				t.Errorf("err = %v, want %q", err, c.want)
			}
		})
	}
}

func TestDigestIgnoresTheOrderOfIndependentActions(t *testing.T) {
	run := func(order ...string) ariadne.Digest {
		w := worldtest.Of(rules, scripts(
			func(c *worldtest.Ctx) { c.Send(1, "a") },
			func(c *worldtest.Ctx) { c.Send(0, "b") })...)
		do(t, w, order...)
		return w.Digest()
	}
	if run("start n1", "start n2") != run("start n2", "start n1") {
		t.Error("digests differ")
	}
	if run("start n1", "start n2") == run("start n1") {
		t.Error("different states have the same digest")
	}
}

// TestAnyWalk checks the package's invariants on random systems and walks.
func TestAnyWalk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := world.Rules{
			Latency:    time.Duration(rapid.IntRange(0, 3000).Draw(t, "latency µs")) * time.Microsecond,
			ClockError: time.Duration(rapid.IntRange(0, 2).Draw(t, "E ms")) * time.Millisecond,
			Delays:     rapid.IntRange(0, 3).Draw(t, "delays"),
			MaxDelay:   time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "max delay ms")) * time.Millisecond,
		}
		n := rapid.IntRange(2, 4).Draw(t, "nodes")
		seed := rapid.Uint64().Draw(t, "seed")
		starts := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "starts ms")
		deviate := rapid.SliceOfN(rapid.IntRange(0, 10), 200, 200).Draw(t, "choices")
		w := chaos(r, n, seed, starts)
		m := monitor{t: t, w: w, rules: r, delivered: map[ariadne.Flow]int{}, clocks: make([]ariadne.Time, n)}
		var names []string
		for _, c := range deviate {
			acts := w.Enabled()
			if len(acts) == 0 {
				m.quiet()
				break
			}
			names = append(names, m.step(acts[c%len(acts)]))
			for i := range w.State().Flight {
				if late := w.State().Flight[i].Late(); r.MaxDelay > 0 && late > ariadne.Time(r.MaxDelay) {
					t.Fatalf("a message is %v late", late)
				}
			}
		}
		if r.Delays-w.State().Delays > len(m.late) {
			t.Fatalf("%d messages paid for, %d were late", r.Delays-w.State().Delays, len(m.late))
		}
		again := chaos(r, n, seed, starts)
		for _, name := range names {
			a, err := again.Names().Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := again.Apply(a); err != nil {
				t.Fatalf("the same choices again: %v", err)
			}
		}
		if again.Digest() != w.Digest() {
			t.Fatal("the same choices led to another state")
		}
	})
}

func chaos(r world.Rules, n int, seed uint64, starts []int) *worldtest.World {
	var programs []worldtest.Program
	for range n {
		programs = append(programs, &worldtest.Chaos{Nodes: n, Seed: seed})
	}
	nodes := worldtest.Nodes(programs...)
	for i := range nodes {
		nodes[i].Start = ariadne.Time(starts[i]) * 1e6
	}
	return worldtest.New(r, nodes, worldtest.Automata(programs...))
}

// monitor watches one walk.
type monitor struct {
	t         *rapid.T
	w         *worldtest.World
	rules     world.Rules
	delivered map[ariadne.Flow]int // last number, of TCP
	clocks    []ariadne.Time
	late      map[string]bool // messages seen delayed
}

func (m *monitor) step(a ariadne.Action) string {
	before := m.w.State()
	natural := a == m.w.Enabled()[0]
	s, err := m.w.Apply(a)
	if err != nil {
		m.t.Fatal(err)
	}
	if !before.Nodes[a.Node].Started && a.Kind != ariadne.ActStart {
		m.t.Fatalf("%s before its start", s.Name)
	}
	if natural {
		m.isEarliest(before, s)
	}
	if a.Kind == ariadne.ActDeliver {
		m.deliver(before, s)
	}
	if a.Kind == ariadne.ActFire {
		m.fire(before, s)
	}
	if s.Output.Clock < m.clocks[a.Node] || s.Output.Clock < s.At {
		m.t.Fatalf("%s: clock went from %v to %v at %v", s.Name, m.clocks[a.Node], s.Output.Clock, s.At)
	}
	m.clocks[a.Node] = s.Output.Clock
	m.budget()
	return s.Name
}

// isEarliest: nothing pending could have come before a natural step.
func (m *monitor) isEarliest(before world.State, s ariadne.Step) {
	for _, n := range before.Nodes {
		if n.Started && !n.Done && n.Deadline < s.At {
			m.t.Fatalf("natural step %s at %v after a deadline at %v", s.Name, s.At, n.Deadline)
		}
	}
	for _, f := range before.Flight {
		if before.Nodes[f.To].Started && f.Arrival < s.At {
			m.t.Fatalf("natural step %s at %v after an arrival at %v", s.Name, s.At, f.Arrival)
		}
	}
}

func (m *monitor) deliver(before world.State, s ariadne.Step) {
	i := slices.IndexFunc(before.Flight, func(f world.Flying) bool {
		return f.Flow == s.Action.Flow && f.Seq == s.Action.Seq && f.To == s.Action.Node
	})
	f := before.Flight[i]
	if f.Arrival < f.Sent.Add(m.rules.Latency) {
		m.t.Fatalf("%s arrives at %v, sent at %v", s.Name, f.Arrival, f.Sent)
	}
	n := before.Nodes[s.Action.Node]
	due := n.Timer()
	switch {
	case s.At >= due:
		m.t.Fatalf("%s at %v, and the node's own timer of %v has not fired", s.Name, s.At, due)
	case s.At != f.Arrival && (due > f.Arrival || s.At != max(n.Clock, due-1)):
		m.t.Fatalf("%s at %v, it arrives at %v, the node's timer is due at %v", s.Name, s.At, f.Arrival, due)
	case f.Arrival-s.At > ariadne.Time(m.rules.ClockError)+1:
		m.t.Fatalf("%s at %v, it arrives at %v", s.Name, s.At, f.Arrival)
	}
	for _, g := range m.w.State().Flight {
		if g.From == s.Action.Node &&
			!slices.ContainsFunc(before.Flight, func(h world.Flying) bool { return h.Packet == g.Packet }) &&
			g.Arrival < f.Arrival.Add(m.rules.Latency) {
			m.t.Fatalf("%s at %v, which arrived at %v, sends what arrives at %v", s.Name, s.At, f.Arrival, g.Arrival)
		}
	}
	if s.Action.Flow.Proto == ariadne.TCP {
		if f.Seq <= m.delivered[f.Flow] {
			m.t.Fatalf("%s after number %d", s.Name, m.delivered[f.Flow])
		}
		for _, other := range before.Flight {
			if other.Flow == f.Flow && other.Seq < f.Seq {
				m.t.Fatalf("%s before number %d", s.Name, other.Seq)
			}
		}
		m.delivered[f.Flow] = f.Seq
	}
}

// fire: no timer runs ahead of the earliest by more than the clock error, and
// without delays nothing that should have come is still under way.
func (m *monitor) fire(before world.State, s ariadne.Step) {
	for _, n := range before.Nodes {
		if n.Started && !n.Done && s.At > n.Deadline.Add(m.rules.ClockError) {
			m.t.Fatalf("%s at %v while a deadline at %v was pending", s.Name, s.At, n.Deadline)
		}
	}
	for _, f := range m.w.State().Flight {
		if f.Arrival < s.At && m.w.State().Nodes[f.To].Started {
			m.t.Fatalf("%s at %v overtook a message that arrives at %v", s.Name, s.At, f.Arrival)
		}
	}
}

func (m *monitor) budget() {
	s := m.w.State()
	if s.Delays < 0 {
		m.t.Fatal("more delays than the budget has")
	}
	if m.late == nil {
		m.late = map[string]bool{}
	}
	for _, f := range s.Flight {
		if f.Delayed {
			m.late[fmt.Sprint(f.Flow, f.To, f.Seq)] = true
		}
	}
}

// quiet: nothing is enabled only when nothing is pending.
func (m *monitor) quiet() {
	s := m.w.State()
	if len(s.Flight) > 0 {
		m.t.Fatalf("nothing is enabled with %d messages in flight", len(s.Flight))
	}
	for i, n := range s.Nodes {
		if !n.Started || !n.Done && n.Deadline != ariadne.Never {
			m.t.Fatalf("nothing is enabled, but node %d is %+v", i, n)
		}
	}
}

// TestNaturalScheduleIsInOrderOfTime: on the natural schedule virtual time does
// not go back, whatever the system.
func TestNaturalScheduleIsInOrderOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(t, "nodes")
		starts := rapid.SliceOfN(rapid.IntRange(0, 5), n, n).Draw(t, "starts ms")
		w := chaos(rules, n, rapid.Uint64().Draw(t, "seed"), starts)
		now := ariadne.Time(0)
		for range 200 {
			acts := w.Enabled()
			if len(acts) == 0 {
				break
			}
			s, err := w.Apply(acts[0])
			if err != nil {
				t.Fatal(err)
			}
			// A deadline that its own node's clock has passed is in the past. A message that
			// comes at the time of a deadline comes just before it, by its node's clock.
			if s.At < now-1 && s.Action.Kind != ariadne.ActFire {
				t.Fatalf("%s at %v after %v", s.Name, s.At, now)
			}
			now = max(now, s.At)
		}
		if w.State().Delays != rules.Delays {
			t.Fatal("the natural schedule delayed a message")
		}
	})
}
