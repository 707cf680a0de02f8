package space_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// TestClassHoldsEveryField: whatever of a state does not follow from its nodes' histories tells
// classes apart. A new field is either in there, or here with the reason why it need not be.
func TestClassHoldsEveryField(t *testing.T) {
	follows := map[string]string{
		"State.Nodes":         "field by field below",
		"State.Flight":        "likewise",
		"State.Steps":         "how much has happened does not count",
		"State.Now":           "how late it is does not count",
		"State.sum":           "a hash of the rest",
		"NodeState.Local":     "the node's steps stand for it",
		"NodeState.Limits":    "the node has said it",
		"NodeState.Processes": "likewise",
		"NodeState.FallsAt":   "nothing happens before that",
		"NodeState.Told":      "the node is paused, and with that a state is like no other",
		"Flying.Packet":       "the step that sent it stands for it",
		"Flying.Head":         "follows from the order of messages",
	}
	programs := func() []worldtest.Program {
		return []worldtest.Program{worldtest.Pong{}, &worldtest.Ping{Count: 2}, &worldtest.Ping{Count: 2}}
	}
	y := world.NewSystem(world.Rules{Latency: time.Millisecond, Delays: 2, MaxDelay: 1}, worldtest.Nodes(programs()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := space.New(y, m,
		memo.NewExecutor(m, (&memotest.Instances{Programs: programs}).Boot(), memo.Limits{Checkpoints: 5}))
	s.Symmetry = space.NewSymmetry(3, [][]ariadne.NodeID{{1, 2}})
	p, err := space.NewPath(s, space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := p.Push(0); err != nil {
			t.Fatal(err)
		}
	}
	state := &p.Last().State.State
	if len(state.Flight) == 0 {
		t.Fatal("no message is in flight")
	}
	for i := range state.Nodes {
		state.Nodes[i].Deadline = ariadne.Time(20+10*i) * 1e6
	}
	state.Flight[0].Delayed, state.Flight[0].Due = true, 1
	var before world.State
	before.CopyFrom(state)
	class := p.HashClass()
	// Later than all deadlines; other values of other types.
	values := map[reflect.Type]any{
		reflect.TypeFor[int](): 1, reflect.TypeFor[ariadne.Time](): ariadne.Time(50e6),
		reflect.TypeFor[ariadne.Down](): ariadne.Paused,
		reflect.TypeFor[world.Said]():   world.Said(2), reflect.TypeFor[world.Faults](): worldtest.Faults("crash", 1),
		reflect.TypeFor[*world.Varied](): world.VariedBy("disk:2@0/disk#1"),
		reflect.TypeFor[[]world.Standing](): []world.Standing{{Partition: world.NewPartition("n1|n2",
			[]ariadne.NodeID{0}, []ariadne.NodeID{1}, false, 1).WithLateness(1)}},
	}
	for _, in := range []any{state, &state.Nodes[0], &state.Flight[0]} {
		of := reflect.TypeOf(in).Elem()
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			if follows[name] != "" {
				delete(follows, name)
				continue
			}
			field := reflect.ValueOf(in).Elem().Field(i)
			if value, ok := values[field.Type()]; ok {
				field.Set(reflect.ValueOf(value))
			} else if field.Kind() == reflect.Bool {
				field.SetBool(!field.Bool())
			} else {
				t.Errorf("%s: no value to change it to", name)
			}
			if p.HashClass() == class {
				t.Errorf("%s does not tell classes apart", name)
			}
			state.CopyFrom(&before)
		}
	}
	for name := range follows {
		t.Errorf("there is no field %s", name)
	}
	if p.HashClass() != class {
		t.Error("the state is not what it was")
	}
}
