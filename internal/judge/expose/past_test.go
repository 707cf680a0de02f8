package expose

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestConnections: what goes over connections is opened, sent, received and closed, and a reset is
// told from an end.
func TestConnections(t *testing.T) {
	h := &History{Wire: "http", Port: 80}
	up := ariadne.Flow{Proto: ariadne.TCP, Src: netip.MustParseAddrPort("10.0.0.2:4000"),
		Dst: netip.MustParseAddrPort("10.0.0.1:80")}
	down := ariadne.Flow{Proto: ariadne.TCP, Src: up.Dst, Dst: up.Src}
	sent := func(flags ariadne.Flags, data string) *ariadne.Output {
		return &ariadne.Output{Messages: []ariadne.Message{{From: 1, To: 0, Flow: up, Flags: flags,
			Data: []byte(data)}}}
	}
	received := func(flags ariadne.Flags, data string) *ariadne.Message {
		return &ariadne.Message{From: 0, To: 1, Flow: down, Flags: flags, Data: []byte(data)}
	}
	for _, c := range []struct {
		in   *ariadne.Message
		out  *ariadne.Output
		want []EventKind
		last string // Value
	}{
		{nil, sent(ariadne.SYN, ""), []EventKind{Opened}, ""},
		{received(0, "x"), sent(0, "y"), []EventKind{Received, Sent}, "y"},
		{received(ariadne.FIN, "x"), &ariadne.Output{}, []EventKind{Received, Closed}, ""},
		{received(ariadne.RST, ""), &ariadne.Output{}, []EventKind{Closed}, Reset},
		{nil, sent(ariadne.FIN, ""), nil, ""}, // responses may come yet
		{nil, sent(ariadne.RST, ""), []EventKind{Closed}, Reset},
	} {
		var kinds []EventKind
		last := ""
		for _, e := range h.Events(1, c.in, c.out) {
			kinds, last = append(kinds, e.Kind), e.Value
		}
		if !slices.Equal(kinds, c.want) || last != c.last {
			t.Errorf("%+v, %+v: %v %q, want %v %q", c.in, c.out, kinds, last, c.want, c.last)
		}
	}
}
