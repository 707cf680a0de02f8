package world

import (
	"reflect"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// TestContentHoldsEveryField: whatever of a state is not what follows from the rest tells contents
// apart. A new field is either in there, or here with the reason why it need not be.
func TestContentHoldsEveryField(t *testing.T) {
	follows := map[string]string{
		"State.Nodes":         "field by field below",
		"State.Flight":        "likewise",
		"State.Steps":         "how much has happened does not count",
		"State.Now":           "how late it is does not count",
		"State.sum":           "a hash of the rest",
		"NodeState.Local":     "Content is told what stands for it",
		"NodeState.Limits":    "the node has said it: it is in what stands for its local state",
		"NodeState.Processes": "likewise",
		"NodeState.FallsAt":   "nothing happens before that",
		"Flying.Head":         "follows from the order of messages",
	}
	parted, other := NewPartition("n1|n2", []ariadne.NodeID{0}, []ariadne.NodeID{1}, false, 1),
		NewPartition("n1>n2", []ariadne.NodeID{0}, []ariadne.NodeID{1}, true, 1)
	y := NewSystem(Rules{Latency: time.Millisecond, Delays: 2, MaxDelay: 1, Partitions: []*Partition{parted, other}},
		[]Node{{Name: "n1"}, {Name: "n2"}})
	packet := func(data string) *Packet {
		return NewPacket(&ariadne.Message{From: 1, To: 0, Flow: ariadne.Flow{Proto: ariadne.UDP}, Seq: 1,
			Data: []byte(data)})
	}
	state := func() *State {
		s := y.FirstState()
		s.Cuts = []Standing{{parted, 18, 22}}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			n.Started, n.Start, n.Deadline = true, ariadne.Never, ariadne.Time(20+10*i)
		}
		s.Nodes[0].Awake = 25 // Told says nothing else
		s.Flight = []Flying{{Packet: packet("a"), Arrival: 15, Delayed: true, Due: 10, Head: true}}
		return &s
	}
	// Later than all deadlines and earlier than the end of the partition; other values of other
	// types.
	values := map[reflect.Type]any{
		reflect.TypeFor[bool](): true, reflect.TypeFor[int](): 1, reflect.TypeFor[ariadne.Time](): ariadne.Time(50),
		reflect.TypeFor[ariadne.Down](): ariadne.Paused, reflect.TypeFor[Said](): Said(2),
		reflect.TypeFor[Faults]():     Faults{7: 1},
		reflect.TypeFor[*Packet]():    packet("b"),
		reflect.TypeFor[[]Standing](): []Standing{{other, 18, 22}},
		reflect.TypeFor[*Varied]():    variedByFault(ariadne.Outage{Down: ariadne.PowerLost, For: 15e9}),
	}
	locals := []hash.Hash{{Hi: 1, Lo: 2}, {Hi: 3, Lo: 4}}
	for _, in := range []func(*State) any{
		func(s *State) any { return s },
		func(s *State) any { return &s.Nodes[0] },
		func(s *State) any { return &s.Flight[0] },
	} {
		of := reflect.TypeOf(in(state())).Elem()
		for i := range of.NumField() {
			name := of.Name() + "." + of.Field(i).Name
			if why := follows[name]; why != "" {
				delete(follows, name)
				continue
			}
			s := state()
			field, value := reflect.ValueOf(in(s)).Elem().Field(i), reflect.ValueOf(values[of.Field(i).Type])
			if !value.IsValid() {
				t.Errorf("%s: no value to change it to", name)
				continue
			}
			if value.Kind() == reflect.Bool {
				value = reflect.ValueOf(!field.Bool())
			}
			field.Set(value)
			for _, times := range []bool{false, true} {
				if y.Content(s, locals, times) == y.Content(state(), locals, times) {
					t.Errorf("%s does not tell contents apart, with times: %v", name, times)
				}
			}
		}
	}
	for name := range follows {
		t.Errorf("there is no field %s", name)
	}
}

// TestInputsAreToldApart: whatever of how an input is given otherwise tells its keys apart, and
// steps up to symmetry. A fault is in there by its text.
func TestInputsAreToldApart(t *testing.T) {
	same := (&Varied{}).Onto(hash.Hash{})
	changed := func(name string, how *Varied) {
		if how.Onto(hash.Hash{}) == same {
			t.Errorf("%s does not tell inputs apart", name)
		}
	}
	keys := map[hash.Hash]ariadne.NodeFault{same: nil}
	for _, f := range []ariadne.NodeFault{
		ariadne.Outage{Down: ariadne.Crashed}, ariadne.Outage{Down: ariadne.Stopped},
		ariadne.Outage{Down: ariadne.Crashed, For: 1}, ariadne.Outage{Down: ariadne.Crashed, With: "a"},
		ariadne.Jump{By: 1}, ariadne.Jump{By: 2}, ariadne.Drift{By: 1}, ariadne.Drift{By: 2},
		ariadne.Kill{Process: "a"}, ariadne.Kill{Process: "b"},
	} {
		key := variedByFault(f).Onto(hash.Hash{})
		if other, ok := keys[key]; ok {
			t.Errorf("%v and %v are not told apart", f, other)
		}
		keys[key] = f
	}
	changed("vary", &Varied{vary: "1=lose"})
	changed("draw", &Varied{draw: &ariadne.Draw{Seed: 1}})
}
