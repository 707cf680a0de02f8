package world

import (
	"reflect"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// TestHashesHaveEveryEffect changes each field of what a node did in a step. The state that follows
// has another hash, or the field is in the name of the local state that the node has reached, and
// the hash has that name: a name by history says all that the node did, and one by content all that
// is left of it (TestNamesHaveAllThatIsLeft).
func TestHashesHaveEveryEffect(t *testing.T) {
	named := map[string]bool{"Clock": true, "Deadline": true, "Done": true, "Ended": true, "Spared": true, "Calm": true,
		"Limits": true}
	flow := ariadne.Flow{Proto: ariadne.UDP}
	values := map[reflect.Type]any{
		reflect.TypeFor[bool](): true, reflect.TypeFor[ariadne.Time](): ariadne.Time(70),
		reflect.TypeFor[Said]():             Said(2),
		reflect.TypeFor[ariadne.Down]():     ariadne.PowerLost,
		reflect.TypeFor[*ariadne.Outage]():  &ariadne.Outage{Down: ariadne.PowerLost, With: "n2"},
		reflect.TypeFor[*[]ariadne.Limit](): &[]ariadne.Limit{{Flow: flow, Data: 1}},
		reflect.TypeFor[*Processes]():       newProcesses(&[]string{"server#1"}),
		reflect.TypeFor[[]*Packet](): []*Packet{NewPacket(&ariadne.Message{From: 0, To: 1, Flow: flow, Seq: 1,
			Data: []byte("a"), Sent: 60})},
	}
	r := Rules{Latency: time.Millisecond}
	r.Faults[Power], r.Faults[Kill] = 1, 1
	y := NewSystem(r, []Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3", After: []ariadne.NodeID{0}}})
	reached := NameOf(0, ariadne.Digest{1})
	follows := func(e Effect) (s State) {
		s = y.FirstState()
		for i := range 2 { // who is off gets nothing
			s.Nodes[i].Started = true
		}
		if err := y.Absorb(&s, 0, 60, &reached, &e); err != nil {
			t.Fatal(err)
		}
		return s
	}
	bases := []Effect{
		{Clock: 60, Deadline: 90, Back: 80},
		{Clock: 60, Deadline: ariadne.Never, Down: ariadne.Stopped, Back: 80, Spared: true, Ended: true},
	}
	for i := range reflect.TypeFor[Effect]().NumField() {
		field := reflect.TypeFor[Effect]().Field(i)
		value := reflect.ValueOf(values[field.Type])
		if !value.IsValid() {
			t.Errorf("%s: no value to change it to", field.Name)
			continue
		}
		differs := false
		for _, base := range bases {
			e := base
			f := reflect.ValueOf(&e).Elem().Field(i)
			if f.Kind() == reflect.Bool {
				value = reflect.ValueOf(!f.Bool())
			}
			f.Set(value)
			s, was := follows(e), follows(base)
			differs = differs || s.Hash() != was.Hash()
		}
		_, left := reflect.TypeFor[ariadne.Left]().FieldByName(field.Name)
		switch {
		case differs == named[field.Name]:
			t.Errorf("%s: it is in the hash: %v", field.Name, differs)
		case !differs && !left:
			t.Errorf("%s is neither in the hash nor in names by content", field.Name)
		}
		delete(named, field.Name)
	}
	for name := range named {
		t.Errorf("there is no field %s", name)
	}
}

// TestPacketsToWhoIsOff: what is sent to a node that has not been switched on yet finds nobody, so
// it changes nothing, unless it is sent again and again until the node is there.
func TestPacketsToWhoIsOff(t *testing.T) {
	y := NewSystem(Rules{Latency: time.Millisecond}, []Node{{Name: "n1"}, {Name: "n2", Start: 5e9}})
	reached := NameOf(0, ariadne.Digest{1})
	after := func(packets ...*Packet) State {
		s := y.FirstState()
		s.Nodes[0].Started = true
		if err := y.Absorb(&s, 0, 60, &reached,
			&Effect{Clock: 60, Deadline: ariadne.Never, Packets: packets}); err != nil {
			t.Fatal(err)
		}
		return s
	}
	p := NewPacket(&ariadne.Message{From: 0, To: 1, Flow: ariadne.Flow{Proto: ariadne.UDP}, Seq: 1, Sent: 60})
	with, without := after(p), after()
	if len(with.Flight) > 0 || with.Hash() != without.Hash() {
		t.Errorf("%d messages are in flight", len(with.Flight))
	}
	with.Nodes[1].Started = true
	with.Nodes[1].On = 0
	if err := y.sendPacket(&with, p, 60); err != nil || len(with.Flight) != 1 || with.Hash() == without.Hash() {
		t.Errorf("%d messages are in flight to one that is on, %v", len(with.Flight), err)
	}
}
