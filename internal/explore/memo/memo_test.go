package memo_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"

	"pgregory.net/rapid"
)

// chaos is a system in which the nodes do what a hash of their inputs says.
func chaos() []worldtest.Program {
	return []worldtest.Program{&worldtest.Chaos{Nodes: 2, Seed: 1}, &worldtest.Chaos{Nodes: 2, Seed: 1}}
}

func system(programs func() []worldtest.Program) *world.System {
	return world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(programs()...))
}

func open(t *testing.T, o memo.Options) *memo.Memo {
	t.Helper()
	m, err := memo.Open(system(chaos), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// bench is an executor with its memo and instances.
type bench struct {
	t         *testing.T
	memo      *memo.Memo
	instances *memotest.Instances
	executor  *memo.Executor
}

func newBench(t *testing.T, o memo.Options, l memo.Limits) *bench {
	b := &bench{t: t, memo: open(t, o), instances: &memotest.Instances{Programs: chaos}}
	b.executor = memo.NewExecutor(b.memo, b.instances.Boot(), l)
	t.Cleanup(b.close)
	return b
}

func (b *bench) close() {
	if err := b.executor.Close(); err != nil {
		b.t.Error(err)
	}
	if b.instances.Alive != 0 || b.instances.Frozen != 0 {
		b.t.Errorf("%d instances and %d checkpoints are left", b.instances.Alive, b.instances.Frozen)
	}
}

// input number i of a node: its start, and then messages of which each is different.
func input(i int) world.Input {
	if i == 0 {
		return world.Input{Kind: ariadne.Start}
	}
	at := ariadne.Time(i) * 1e6
	return world.Input{Kind: ariadne.Deliver, At: at,
		Packet: world.NewPacket(&ariadne.Message{From: 1, Seq: i, Data: []byte{byte(i)}})}
}

// walk gives node 0 inputs one after the other and returns the states.
func (b *bench) walk(inputs ...int) []*memo.Local {
	b.t.Helper()
	states := []*memo.Local{b.memo.Root(0)}
	for _, i := range inputs {
		tr, err := b.executor.Transition(states[len(states)-1], input(i))
		if err != nil {
			b.t.Fatal(err)
		}
		states = append(states, tr.To)
	}
	return states
}

func TestRemembered(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 100})
	root := b.memo.Root(0)
	for range 3 {
		l := root
		for i := range 5 {
			tr, err := b.executor.Transition(l, input(i))
			if err != nil {
				t.Fatal(err)
			}
			l = tr.To
		}
	}
	c := b.executor.Counts()
	if c.Executed != 5 || c.Remembered != 10 || b.instances.Steps != 5 || c.Replayed != 0 {
		t.Errorf("%+v, %d steps", c, b.instances.Steps)
	}
}

func TestOffRemembersNothing(t *testing.T) {
	b := newBench(t, memo.Options{Off: true}, memo.Limits{})
	for range 3 {
		b.walk(0, 1, 2)
	}
	if c := b.executor.Counts(); c.Executed != 9 || c.Boots != 3 || c.Freezes != 0 || c.Thaws != 0 {
		t.Errorf("%+v", c)
	}
}

func TestBranchesAreThawed(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 100, Every: 1})
	states := b.walk(0, 1, 2, 3, 4, 5)
	for _, l := range states[1:5] {
		if _, err := b.executor.Transition(l, input(9)); err != nil {
			t.Fatal(err)
		}
	}
	if c := b.executor.Counts(); c.Thaws != 4 || c.Replayed != 0 || c.Boots != 1 {
		t.Errorf("%+v", c)
	}
}

// TestCheckpointsAreApart: a path that is gone once costs few checkpoints, one of them behind the
// start. A state that the search comes back to has one more.
func TestCheckpointsAreApart(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 100, Every: 3})
	states := b.walk(0, 1, 2, 3, 4, 5, 6, 7, 8)
	if c := b.executor.Counts(); c.Freezes != 3 || c.Thaws+c.Replayed != 0 {
		t.Errorf("on the way: %+v", c)
	}
	for i := range 3 {
		if _, err := b.executor.Transition(states[5], input(20+i)); err != nil {
			t.Fatal(err)
		}
	}
	if c := b.executor.Counts(); c.Freezes != 4 || c.Thaws != 3 || c.Replayed >= 3 {
		t.Errorf("coming back: %+v", c)
	}
}

// TestLostMachines: where an instance comes from changes nothing but the
// counters.
// Where the way back from a checkpoint is lost, the state is reached from an earlier one or
// from the node's start, and the checkpoint is not tried again.
func TestLostMachines(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 100, Every: 1})
	b.instances.Lost = func(steps, furthest int) bool { return steps >= 3 && furthest >= 6 }
	states := b.walk(0, 1, 2, 3, 4, 5)
	if c := b.executor.Counts(); c.Lost > 0 || c.Boots != 1 {
		t.Fatalf("on the way: %d lost, %d boots", c.Lost, c.Boots)
	}
	if _, err := b.executor.Transition(states[5], input(9)); err != nil {
		t.Fatal(err)
	}
	if c := b.executor.Counts(); c.Lost != 3 || c.Boots != 1 || c.Replayed != 3 || c.Mismatches > 0 {
		t.Errorf("from a checkpoint: %d lost, %d boots, %d replayed, %d mismatches", c.Lost, c.Boots, c.Replayed, c.Mismatches)
	}
	b.instances.Lost = func(int, int) bool { return true }
	if _, err := b.executor.Transition(states[5], input(8)); err != nil {
		t.Fatal(err)
	}
	if c := b.executor.Counts(); c.Boots != 2 || c.Mismatches > 0 {
		t.Errorf("from the start: %d boots, %d mismatches", c.Boots, c.Mismatches)
	}
}

func TestSameWithoutCheckpoints(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := memo.Limits{Checkpoints: rapid.IntRange(0, 6).Draw(rt, "checkpoints"),
			Every: rapid.IntRange(0, 3).Draw(rt, "every"),
			Bytes: int64(rapid.SampledFrom([]int{0, 1500, 4000}).Draw(rt, "bytes")),
			Audit: rapid.SampledFrom([]float64{0, 0.3, 1}).Draw(rt, "audit")}
		instances := &memotest.Instances{Programs: chaos}
		if m := rapid.IntRange(0, 3).Draw(rt, "unfreezable"); m > 0 {
			instances.Unfreezable = func(steps int) bool { return steps%m == 0 }
		}
		if n := rapid.IntRange(0, 6).Draw(rt, "lost"); n > 0 {
			instances.Lost = func(steps, furthest int) bool { return steps < n && furthest >= n }
		}
		m, err := memo.Open(system(chaos),
			memo.Options{Off: rapid.Bool().Draw(rt, "off"),
				Bytes: int64(rapid.SampledFrom([]int{0, 5000}).Draw(rt, "memory"))})
		if err != nil {
			rt.Fatal(err)
		}
		x := memo.NewExecutor(m, instances.Boot(), limits)
		states := []*memo.Local{m.Root(0)}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			l := states[rapid.IntRange(0, len(states)-1).Draw(rt, "state")]
			i := 0
			if l.Depth > 0 {
				i = l.Depth*3 + rapid.IntRange(0, 2).Draw(rt, "input")
			}
			tr, err := x.Transition(l, input(i))
			if err != nil {
				rt.Fatal(err)
			}
			if want := direct(rt, tr.To); tr.Output.Digest != want {
				rt.Fatalf("digest %v, want %v", tr.Output.Digest, want)
			}
			states = append(states, tr.To)
		}
		if instances.Frozen > limits.Checkpoints {
			rt.Fatalf("%d checkpoints", instances.Frozen)
		}
		if err := x.Close(); err != nil || instances.Alive+instances.Frozen > 0 {
			rt.Fatalf("%v; %+v", err, instances)
		}
		if c := x.Counts(); c.Mismatches > 0 || limits.Audit == 1 && c.Audited != c.Executed {
			rt.Fatalf("%+v", c)
		}
	})
}

// direct runs the inputs that lead to l on a fresh automaton; the digest of its
// last output.
func direct(t *rapid.T, l *memo.Local) ariadne.Digest {
	var inputs []world.Input
	for s := l; s.Parent != nil; s = s.Parent {
		inputs = append(inputs, s.Input)
	}
	slices.Reverse(inputs)
	a := worldtest.NewAutomaton(0, chaos()[0])
	var d ariadne.Digest
	for _, in := range inputs {
		out, err := a.Apply(in.Input())
		if err != nil {
			t.Fatal(err)
		}
		d = out.Digest
	}
	return d
}

func TestLeastUsefulCheckpointGoesFirst(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 3, Every: 1})
	states := b.walk(0, 1, 2, 3, 4, 5, 6, 7, 8)
	if c := b.executor.Counts(); c.Evictions != c.Freezes-3 || b.instances.Frozen != 3 {
		t.Fatalf("%+v", c)
	}
	// Whatever was evicted, no state is as far away as from the root.
	for i, l := range states[2:] {
		before := b.executor.Counts().Replayed
		if _, err := b.executor.Transition(l, input(20+i)); err != nil {
			t.Fatal(err)
		}
		if n := b.executor.Counts().Replayed - before; n > 5 {
			t.Errorf("%d inputs replayed to depth %d", n, l.Depth)
		}
	}
}

// leaky is a node that is not a function of its inputs.
type leaky struct {
	worldtest.Idle
	count *int
}

func (l leaky) Receive(c *worldtest.Ctx, _ ariadne.Message) {
	*l.count++
	c.Log("%d", *l.count)
}

func leakyBench(t *testing.T, l memo.Limits) *memo.Executor {
	count := 0
	instances := &memotest.Instances{Programs: func() []worldtest.Program {
		return []worldtest.Program{leaky{count: &count}, leaky{count: &count}}
	}}
	instances.Unfreezable = func(int) bool { return true } // a copy would copy the counter
	x := memo.NewExecutor(open(t, memo.Options{}), instances.Boot(), l)
	t.Cleanup(func() { x.Close() })
	return x
}

func TestAuditFindsLeaks(t *testing.T) {
	x := leakyBench(t, memo.Limits{Audit: 1})
	root, err := x.Transition(open(t, memo.Options{}).Root(0), input(0))
	if err != nil {
		t.Fatal(err)
	}
	_, err = x.Transition(root.To, input(1))
	var m *memo.Mismatch
	if !errors.As(err, &m) || m.First.Logs[0].Text != "1" || m.Second.Logs[0].Text != "2" {
		t.Fatalf("err = %v", err)
	}
	if len(m.Calls[0]) == 0 || slices.Equal(m.Calls[0], m.Calls[1]) {
		t.Errorf("calls %v and %v", m.Calls[0], m.Calls[1])
	}
	var seen []*memo.Mismatch
	x.OnMismatch = func(m *memo.Mismatch) { seen = append(seen, m) }
	if _, err = x.Transition(root.To, input(2)); err != nil || len(seen) != 1 {
		t.Errorf("err = %v, %d mismatches", err, len(seen))
	}
}

func TestReplaysFindLeaks(t *testing.T) {
	x := leakyBench(t, memo.Limits{})
	l := open(t, memo.Options{}).Root(0)
	for i := range 2 {
		tr, err := x.Transition(l, input(i))
		if err != nil {
			t.Fatal(err)
		}
		l = tr.To
	}
	if _, err := x.Transition(l, input(2)); err != nil {
		t.Fatal(err)
	}
	_, err := x.Transition(l, input(3)) // has to go back
	var m *memo.Mismatch
	if !errors.As(err, &m) || m.First.Logs[0].Text != "1" {
		t.Fatalf("err = %v", err)
	}
	if len(m.Calls[0]) == 0 || slices.Equal(m.Calls[0], m.Calls[1]) {
		t.Errorf("calls %v and %v", m.Calls[0], m.Calls[1])
	}
}

func TestStoreOutlivesTheMemo(t *testing.T) {
	o := memo.Options{Store: new(memotest.Shelf).Open, Key: ariadne.Digest{1}}
	run := func(o memo.Options) memo.Counts {
		m, err := memo.Open(system(chaos), o)
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, memo: m, instances: &memotest.Instances{Programs: chaos}}
		b.executor = memo.NewExecutor(m, b.instances.Boot(), memo.Limits{Checkpoints: 3})
		b.walk(0, 1, 2, 3)
		b.walk(0, 1, 5, 3)
		b.close()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		return b.executor.Counts()
	}
	if c := run(o); c.Executed != 6 {
		t.Fatalf("first: %+v", c)
	}
	if c := run(o); c.Executed != 0 || c.Remembered != 8 {
		t.Errorf("second: %+v", c)
	}
	o.Key = ariadne.Digest{2}
	if c := run(o); c.Executed != 6 {
		t.Errorf("with another key: %+v", c)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const bound = 20000
	for _, store := range []memo.OpenStore{nil, new(memotest.Shelf).Open} {
		b := newBench(t, memo.Options{Bytes: bound, Store: store}, memo.Limits{Checkpoints: 4})
		inputs := []int{0}
		for i := range 100 {
			inputs = append(inputs, i+1)
		}
		for range 2 {
			b.walk(inputs...)
			if n := b.memo.Counters().Bytes; n > bound {
				t.Errorf("%d bytes", n)
			}
		}
		c := b.executor.Counts()
		if again := c.Executed > len(inputs); again != (store == nil) {
			t.Errorf("a store: %v, %d executed", store != nil, c.Executed)
		}
	}
}

// TestReplaysThatTakeLong: an instance whose way to a state went differently, because real
// time came into it, says so of all that it does from there; what was cut off on the
// way gets nowhere. Neither is a mismatch.
func TestReplaysThatTakeLong(t *testing.T) {
	for name, c := range map[string]struct {
		cut  string
		want ariadne.Output
		boot int // whose second step is that
	}{
		"preempted":          {"", ariadne.Output{Noted: ariadne.Noted{Unreplayable: true}}, 2},
		"preempted at first": {"", ariadne.Output{Noted: ariadne.Noted{Unreplayable: true}}, 1},
		"cut off": {"too long", ariadne.Output{Noted: ariadne.Noted{Unreplayable: true, Cut: "too long"}},
			2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, memo.Options{}, memo.Limits{})
			b.executor.OnMismatch = func(m *memo.Mismatch) { t.Error(m) }
			b.instances.Amend = func(boots, steps int, out *ariadne.Output) {
				if boots == c.boot && steps == 2 {
					out.Digest[0]++
					out.Unreplayable, out.Cut = true, c.cut
				}
			}
			states := b.walk(0, 1, 2)
			first, err := b.executor.Transition(states[2], input(3)) // from a second instance
			if err != nil || first.Output.Unreplayable != c.want.Unreplayable || first.Output.Cut != c.want.Cut {
				t.Errorf("%v, %+v", err, first.Output)
			}
			if b.instances.Boots != 2 {
				t.Errorf("%d boots", b.instances.Boots)
			}
			if c.cut != "" { // nothing was learnt of that transition
				b.walk(0, 1, 3)
				if again, err := b.executor.Transition(states[2], input(3)); err != nil || again.Output.Unreplayable {
					t.Errorf("%v, %+v", err, again.Output)
				}
			}
		})
	}
}

// TestCutStepsAreNotKept: they are known for as long as the check lasts, and not stored.
func TestCutStepsAreNotKept(t *testing.T) {
	store := new(memotest.Shelf).Open
	for range 2 {
		m, err := memo.Open(system(chaos), memo.Options{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		if known, err := m.Lookup(m.Root(0), input(0)); err != nil || known != nil {
			t.Errorf("%v, %v", known, err)
		}
		if _, err := m.Add(m.Root(0), input(0),
			&ariadne.Output{Left: ariadne.Left{Clock: 1, Deadline: ariadne.Never},
				Noted: ariadne.Noted{Cut: "too long", Unreplayable: true}}); err != nil {
			t.Fatal(err)
		}
		if known, err := m.Lookup(m.Root(0), input(0)); err != nil || known == nil || known.Output.Cut == "" {
			t.Errorf("%v, %v", known, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTransitionsSurviveTheStore fills every field, so that none is forgotten.
func TestTransitionsSurviveTheStore(t *testing.T) {
	var out ariadne.Output
	fill(reflect.ValueOf(&out).Elem(), new(int64))
	// what is cut off is not kept
	out.CallTrace, out.Files, out.Looks, out.Others, out.Cut = nil, nil, nil, nil, ""
	for i := range out.Messages {
		m := &out.Messages[i]
		m.From, m.To, m.Sent = 0, 1, 1
	}
	out.Logs = append(out.Logs, ariadne.LogLine{Text: "not \xff UTF-8"})
	out.Clock, out.Deadline, out.Down, out.Back = 2e6, ariadne.Never, ariadne.Up, 0
	store := new(memotest.Shelf).Open
	for i := range 2 {
		m, err := memo.Open(system(chaos), memo.Options{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		l := m.Root(0)
		if i == 0 {
			if _, err := m.Add(l, input(0), &out); err != nil {
				t.Fatal(err)
			}
		}
		got, err := m.Lookup(l, input(0))
		if err != nil || got == nil || !reflect.DeepEqual(got.Output, out) {
			t.Errorf("opened %d times: %v\n%+v\n%+v", i+1, err, got, out)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFaultsSurviveTheStore: what takes a node down is no variation, and is kept as well.
func TestFaultsSurviveTheStore(t *testing.T) {
	store := new(memotest.Shelf).Open
	for i := range 2 {
		m, err := memo.Open(system(chaos), memo.Options{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		l := m.Root(0)
		for _, how := range []ariadne.Outage{{Down: ariadne.Crashed, For: time.Second},
			{Down: ariadne.Stopped, For: ariadne.Ever}} {
			in := world.InputOf(&ariadne.Input{Kind: ariadne.Fault, Fault: how})
			if i == 0 {
				out := ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never, Down: how.Down,
					Back: ariadne.EndOf(0, how.For, 0)}}
				if _, err := m.Add(l, in, &out); err != nil {
					t.Fatal(err)
				}
			}
			got, err := m.Lookup(l, in)
			if want := how.Down.String() + " n1 for " + how.What(); err != nil || got == nil || got.Action != want ||
				got.Input.Input() != in.Input() {
				t.Errorf("opened %d times: %s: %v, %+v", i+1, want, err, got)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// fill sets all that is in v to something other than zero.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if a, ok := v.Addr().Interface().(interface{ UnmarshalText([]byte) error }); ok {
			if a.UnmarshalText([]byte("10.0.0.1:80")) == nil || a.UnmarshalText([]byte("10.0.0.1")) == nil {
				return
			}
		}
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]ariadne.Output]() { // they are not kept
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Interface: // it is not kept
	default:
		panic(v.Kind())
	}
}

// TestElsewhere: a variation whose place the node does not come to is an error of its own, and what
// the node does undisturbed is not mistaken for it.
func TestElsewhere(t *testing.T) {
	b := newBench(t, memo.Options{}, memo.Limits{Checkpoints: 3})
	l := b.walk(0, 1)[2]
	varied := input(2)
	varied.VariedBy("power:1s@7/pwrite64/before:/node/db#1")
	for range 2 {
		if _, err := b.executor.Transition(l, varied); !errors.Is(err, memo.ErrElsewhere) {
			t.Fatalf("%v, want %v", err, memo.ErrElsewhere)
		}
	}
	if tr, err := b.executor.Transition(l, input(2)); err != nil || tr.Output.Variation() != "" {
		t.Errorf("%+v, %v", tr, err)
	}
}
