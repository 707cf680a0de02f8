package stream

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
)

// TestRecord: a record is the same after it was in the log, without streams within one machine.
func TestRecord(t *testing.T) {
	far := live.Stream{From: netip.MustParseAddrPort("10.0.0.1:80"), To: netip.MustParseAddrPort("[fd00::1]:9")}
	near := live.Stream{From: netip.MustParseAddrPort("127.0.0.1:80"), To: netip.MustParseAddrPort("127.0.0.1:9")}
	for _, r := range []live.Record{
		{Node: 1, Seq: 1, Kind: live.Show, Channel: live.Functions, After: 3, At: 4, Text: "line",
			Changes: []expose.Change{{Tuple: expose.Tuple{Name: "a", Key: "k", Values: []string{"1"},
				Fields: []string{"f"},
				Stays:  true}}, {Tuple: expose.Tuple{Name: "b"}, Ends: true, All: true}}},
		{Node: 1, Seq: 2, Kind: live.Lost, After: 5, At: 6, Names: []string{"a"}},
		{Node: 1, Seq: 3, Kind: live.Beat, After: 7, At: 7, Read: 8, Positions: &live.Positions{
			Sent: map[live.Stream]uint32{far: 1 << 31}, Got: map[live.Stream]uint32{}}},
	} {
		w := encodeRecord(&r)
		if r.Positions != nil {
			r.Positions.Sent[near] = 7
			w = encodeRecord(&r)
			delete(r.Positions.Sent, near)
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var is record
		if err := json.Unmarshal(text, &is); err != nil {
			t.Fatal(err)
		}
		if got := is.decode(1); !reflect.DeepEqual(got, r) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}

// TestDecoder: what is repeated is dropped, what is missing is said, and an agent that was replaced
// is not heard.
func TestDecoder(t *testing.T) {
	d := newDecoder([]string{"n1", "n2"}, 0, nil)
	var got []live.Record
	send := func(session string, from, to uint64) {
		b := batch{Version: version, Session: session, Node: "n2"}
		for seq := from; seq <= to; seq++ {
			b.Records = append(b.Records, record{Seq: seq, Kind: live.Beat, At: ariadne.Time(seq)})
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		d = restored(t, d, []string{"n1", "n2"})
		all, _, err := d.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, all...)
	}
	send("a", 1, 3)
	send("a", 2, 4)
	send("a", 7, 7)
	send("b", 1, 2)
	send("a", 8, 9)
	send("b", 3, 3)
	var kinds []live.Kind
	for i, r := range got {
		if r.Seq != uint64(i+1) || r.Node != 1 {
			t.Errorf("record %d has number %d and node %d", i+1, r.Seq, r.Node)
		}
		kinds = append(kinds, r.Kind)
	}
	const b, l = live.Beat, live.Lost
	if want := []live.Kind{b, b, b, b, l, b, l, b, b, b}; !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
	for _, wrong := range []string{`{"v":3,"node":"n3"}`, `{"v":1,"node":"n1"}`, `x`} {
		if _, _, err := d.decode([]byte(wrong)); err == nil {
			t.Errorf("%s is read", wrong)
		}
	}
}

// restored is a decoder with the state of another one. Saving it gives the same bytes.
func restored(t *testing.T, d *decoder, nodes []string) *decoder {
	t.Helper()
	state, err := d.save()
	if err != nil {
		t.Fatal(err)
	}
	next := newDecoder(nodes, d.turn, d.want)
	if err := next.restore(state); err != nil {
		t.Fatal(err)
	}
	if again, err := next.save(); err != nil || string(again) != string(state) {
		t.Fatalf("%s is restored as %s %v", state, again, err)
	}
	if err := newDecoder(nodes, d.turn+1, nil).restore(state); err == nil {
		t.Error("the state of another turn is restored")
	}
	if d.of["n2"] != nil && newDecoder(nodes[:1], d.turn, nil).restore(state) == nil {
		t.Error("the state of other nodes is restored")
	}
	return next
}

// TestDecoderTurns: the records of one turn are read. Changes that an agent tells by earlier
// properties are counted once others have turned, and records of a later turn end it.
func TestDecoderTurns(t *testing.T) {
	d := newDecoder([]string{"n1", "n2"}, 1, nil)
	for i, c := range []struct {
		node string
		turn int
		want []live.Kind
		over bool
	}{
		{"n1", 0, nil, false},
		{"n1", 1, []live.Kind{live.Show, live.Turned}, false},
		{"n2", 0, []live.Kind{live.Missed}, false},
		{"n2", 1, []live.Kind{live.Show, live.Turned}, false},
		{"n1", 2, nil, true},
	} {
		text, err := json.Marshal(batch{Version: version, Session: c.node, Node: c.node, Turn: c.turn,
			Records: []record{{Seq: 1, Kind: live.Show}, {Seq: 2, Kind: live.Turned}}})
		if err != nil {
			t.Fatal(err)
		}
		begun := d.begun
		if d = restored(t, d, []string{"n1", "n2"}); d.begun != begun {
			t.Error("that the turn has begun is not restored")
		}
		all, over, err := d.decode(text)
		var kinds []live.Kind
		for _, r := range all {
			kinds = append(kinds, r.Kind)
		}
		if err != nil || over != c.over || !slices.Equal(kinds, c.want) {
			t.Errorf("message %d: %v %v %v, want %v %v", i, kinds, over, err, c.want, c.over)
		}
	}
}
