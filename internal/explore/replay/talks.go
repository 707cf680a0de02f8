package replay

import (
	"net/netip"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// ephemeral is the first port that Linux gives to those who ask for none.
const ephemeral = 32768

// talk is a connection, or the datagrams between two addresses: the flow in which
// its first message went.
type talk ariadne.Flow

// service is what a talk is for: who began it, and where it goes.
type service struct {
	proto ariadne.Protocol
	from  netip.Addr
	to    netip.AddrPort
}

func (t talk) service() service { return service{t.Proto, t.Src.Addr(), t.Dst} }

// back is the other direction.
func back(f ariadne.Flow) ariadne.Flow {
	f.Src, f.Dst = f.Dst, f.Src
	return f
}

// both is one name for both directions.
func both(f ariadne.Flow) ariadne.Flow {
	if b := back(f); world.CompareFlows(&b, &f) < 0 {
		return b
	}
	return f
}

// connection is the flow of a connection whose end is named by an event of its own
// (ariadne.Expiry); of others it is f.
func connection(f ariadne.Flow) ariadne.Flow {
	if f.Proto == ariadne.Expiry {
		f.Proto = ariadne.TCP
	}
	return f
}

// talks says which connection of an execution is which of a trace.
type talks struct {
	inOrder map[service][]talk    // of the trace
	byName  map[ariadne.Flow]talk // of the trace, by both(flow)
	given   map[talk]bool         // of the trace: it has its counterpart
	began   map[ariadne.Flow]talk // of the execution, by both(flow)
	match   map[talk]talk         // the trace's, of one of the execution
	// shifted are those that opened something that the trace does not have: the ports
	// that they are given from then on mean something else.
	shifted map[netip.Addr]bool
}

func newTalks() talks {
	return talks{map[service][]talk{}, map[ariadne.Flow]talk{}, map[talk]bool{}, map[ariadne.Flow]talk{},
		map[talk]talk{}, map[netip.Addr]bool{}}
}

// traced enters a flow of the trace, in the order of its deliveries.
func (t *talks) traced(f ariadne.Flow) {
	f = connection(f)
	if _, ok := t.byName[both(f)]; !ok {
		t.byName[both(f)] = talk(f)
		s := talk(f).service()
		t.inOrder[s] = append(t.inOrder[s], talk(f))
	}
}

// seen enters a flow on which the execution sends. same: in the same place the trace
// sends as much.
func (t *talks) seen(f ariadne.Flow, same bool) {
	if _, ok := t.began[both(f)]; ok {
		return
	}
	own := talk(f)
	t.began[both(f)] = own
	if of, ok := t.byName[both(f)]; ok && !t.given[of] && (!t.shifted[f.Src.Addr()] || f.Src.Port() < ephemeral) {
		t.give(own, of)
		return
	}
	if same {
		return // the trace does not deliver it
	}
	t.shifted[f.Src.Addr()] = true
	for _, of := range t.inOrder[own.service()] {
		if !t.given[of] {
			t.give(own, of)
			return
		}
	}
}

func (t *talks) give(own, of talk) {
	t.match[own] = of
	t.given[of] = true
}

// inTrace is a flow of the execution as the trace has it.
func (t *talks) inTrace(f ariadne.Flow) (ariadne.Flow, bool) {
	g, ok := t.connectionInTrace(connection(f))
	g.Proto = f.Proto
	return g, ok
}

func (t *talks) connectionInTrace(f ariadne.Flow) (ariadne.Flow, bool) {
	own, ok := t.began[both(f)]
	if !ok { // nothing was sent on it
		of, ok := t.byName[both(f)]
		return f, ok && !t.given[of]
	}
	of, ok := t.match[own]
	if !ok {
		return f, false
	}
	if ariadne.Flow(own) == ariadne.Flow(of) || ariadne.Flow(own) == back(ariadne.Flow(of)) {
		return f, true
	}
	if ariadne.Flow(own) == f {
		return ariadne.Flow(of), true
	}
	return back(ariadne.Flow(of)), true
}
