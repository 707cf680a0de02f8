package replay

import (
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

func flow(from, to string) ariadne.Flow {
	return ariadne.Flow{Proto: ariadne.TCP, Src: netip.MustParseAddrPort(from), Dst: netip.MustParseAddrPort(to)}
}

// TestTalksMatchByOrder: a node that opens one connection more is given other ports for
// those that follow.
func TestTalksMatchByOrder(t *testing.T) {
	own := newTalks()
	for _, f := range []ariadne.Flow{
		flow("10.0.0.1:40001", "10.0.0.2:80"), flow("10.0.0.2:80", "10.0.0.1:40001"),
		flow("10.0.0.1:40002", "10.0.0.2:80"), flow("10.0.0.1:40003", "10.0.0.3:90"),
	} {
		own.traced(f)
	}
	for _, f := range []ariadne.Flow{
		flow("10.0.0.1:40001", "10.0.0.3:70"), // the trace has no such
		flow("10.0.0.1:40002", "10.0.0.2:80"), flow("10.0.0.1:40003", "10.0.0.2:80"),
		flow("10.0.0.1:40004", "10.0.0.3:90"), flow("10.0.0.1:40005", "10.0.0.3:90"),
	} {
		own.seen(f, false)
	}
	for _, c := range []struct{ own, of ariadne.Flow }{
		{flow("10.0.0.1:40002", "10.0.0.2:80"), flow("10.0.0.1:40001", "10.0.0.2:80")},
		{flow("10.0.0.2:80", "10.0.0.1:40002"), flow("10.0.0.2:80", "10.0.0.1:40001")},
		{flow("10.0.0.1:40003", "10.0.0.2:80"), flow("10.0.0.1:40002", "10.0.0.2:80")},
		{flow("10.0.0.1:40004", "10.0.0.3:90"), flow("10.0.0.1:40003", "10.0.0.3:90")},
	} {
		if got, ok := own.inTrace(c.own); !ok || got != c.of {
			t.Errorf("%v is %v, %v", c.own, got, ok)
		}
	}
	for _, f := range []ariadne.Flow{flow("10.0.0.1:40001", "10.0.0.3:70"), flow("10.0.0.1:40005", "10.0.0.3:90")} {
		if got, ok := own.inTrace(f); ok {
			t.Errorf("%v is %v", f, got)
		}
	}
}

// TestTalksThatAreNotDelivered do not shift the others.
func TestTalksThatAreNotDelivered(t *testing.T) {
	own := newTalks()
	own.traced(flow("10.0.0.1:40003", "10.0.0.2:80"))
	own.traced(flow("10.0.0.1:40002", "10.0.0.2:80"))
	own.seen(flow("10.0.0.1:40001", "10.0.0.2:80"), true)
	own.seen(flow("10.0.0.1:40002", "10.0.0.2:80"), true)
	for f, want := range map[ariadne.Flow]bool{flow("10.0.0.1:40001", "10.0.0.2:80"): false,
		flow("10.0.0.1:40002", "10.0.0.2:80"): true} {
		if got, ok := own.inTrace(f); ok != want || got != f {
			t.Errorf("%v is %v, %v", f, got, ok)
		}
	}
}
