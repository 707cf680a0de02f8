package record_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

func TestServers(t *testing.T) {
	s := &spec.Spec{Nodes: []spec.Node{
		{ID: 0, Name: "srv", Commands: []spec.Command{{Args: []string{"/usr/bin/server", "-d"}}}},
		{ID: 1, Name: "cl", Client: true, Commands: []spec.Command{{Args: []string{"/usr/bin/client"}}}},
	}}
	ask := ariadne.Flow{Proto: ariadne.TCP, Src: netip.MustParseAddrPort("10.0.0.2:40000"),
		Dst: netip.MustParseAddrPort("10.0.0.1:5000")}
	answer := ariadne.Flow{Proto: ariadne.TCP, Src: ask.Dst, Dst: ask.Src}
	asks := ariadne.Step{Action: ariadne.Action{Node: 1},
		Output: ariadne.Output{Messages: []ariadne.Message{{From: 1, To: 0, Flow: ask, Flags: ariadne.SYN}}}}
	refuses := ariadne.Step{Output: ariadne.Output{Messages: []ariadne.Message{{From: 0, To: 1, Flow: answer,
		Flags: ariadne.RST}}}}
	accepts := ariadne.Step{Output: ariadne.Output{Messages: []ariadne.Message{{From: 0, To: 1, Flow: answer,
		Flags: ariadne.SYN | ariadne.ACK}}}}
	ends := ariadne.Step{Output: ariadne.Output{Exits: []ariadne.Exit{{At: 1e6}},
		Left: ariadne.Left{Ended: true, Done: true}}}
	// a process behind
	leaves := ariadne.Step{Output: ariadne.Output{Exits: []ariadne.Exit{{At: 1e6}}, Left: ariadne.Left{Ended: true}}}
	fails := ariadne.Step{Output: ariadne.Output{Exits: []ariadne.Exit{{At: 1e6, Status: 1}},
		Left: ariadne.Left{Ended: true, Done: true}}}
	crashes := ariadne.Step{Output: ariadne.Output{Left: ariadne.Left{Down: ariadne.Crashed}}}
	refusesWhenGone := refuses
	refusesWhenGone.Output.Done = true
	says := ends
	says.Output.Logs = []ariadne.LogLine{{Stream: 2, Text: "cannot listen: Invalid argument"}, {Stream: 1, Text: "bye"}}
	clientEnds := ends
	clientEnds.Action.Node = 1

	const gone, vain = "server -d ended at 0.001000s with status 0, and no process is left", "no program listens on port 5000, which cl tried to reach"
	for name, c := range map[string]struct {
		steps []ariadne.Step
		want  []string
	}{
		"nothing":      {nil, nil},
		"it has ended": {[]ariadne.Step{ends}, []string{"node srv: " + gone}},
		"it says why": {[]ariadne.Step{says},
			[]string{"node srv: " + gone + ` (it wrote "cannot listen: Invalid argument")`}},
		"and a client asks": {[]ariadne.Step{ends, asks, refusesWhenGone},
			[]string{"node srv: " + gone + "; " + vain}},
		"before it listens":     {[]ariadne.Step{asks, refuses, asks, accepts}, nil},
		"a connection is reset": {[]ariadne.Step{asks, accepts, refuses}, nil},
		"a daemon":              {[]ariadne.Step{leaves}, nil},
		"it fails":              {[]ariadne.Step{fails}, nil}, // that is a violation of its own
		"it starts again":       {[]ariadne.Step{ends, crashes}, nil},
		"a client ends":         {[]ariadne.Step{clientEnds}, nil},
	} {
		w := record.NewServers(s)
		for i := range c.steps {
			w.Step(&c.steps[i])
		}
		if got := w.Lines(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
