package property_test

import (
	"testing"

	"ariadne"
	"ariadne/internal/property"
)

var nodes = []property.Subject{
	{Name: "server", Commands: []string{"serve -x", "log"}},
	{Name: "flaky", Commands: []string{"crash"}, MayFail: true},
	{Name: "client", Commands: []string{"ask"}, Client: true},
}

// watch shows an execution to a check; its violation, or nil.
func watch(c property.Check, end property.End, steps ...ariadne.Step) *ariadne.Violation {
	for i, s := range steps {
		s.Index = i + 1
		if v := c.Step(&s); v != nil {
			return v
		}
	}
	end.Step = len(steps)
	return c.End(end)
}

func step(node ariadne.NodeID, o ariadne.Output) ariadne.Step {
	return ariadne.Step{Action: ariadne.Action{Node: node}, At: 7, Output: o}
}

func exit(status, signal int) ariadne.Output {
	return ariadne.Output{Exits: []ariadne.Exit{{At: 8, Status: status, Signal: signal}}}
}

func errorLines(o ariadne.Output, lines ...string) ariadne.Output {
	for _, l := range lines {
		o.Logs = append(o.Logs, ariadne.LogLine{Stream: 2, Text: l})
	}
	return o
}

// TestChecks has for each kind what it must reject and what it must accept.
func TestChecks(t *testing.T) {
	secondCommand := exit(3, 0)
	secondCommand.Exits[0].Command = 1
	death := func() property.Check { return &property.Death{Nodes: nodes} }
	divergence := func() property.Check { return &property.Divergence{Nodes: nodes} }
	deadlock := func() property.Check { return &property.Deadlock{Nodes: nodes} }
	quiet := property.End{Quiet: true}
	for _, c := range []struct {
		name  string
		check func() property.Check
		end   property.End
		steps []ariadne.Step
		want  string // "" to accept
	}{
		{"status", death, quiet, []ariadne.Step{step(1, ariadne.Output{}), step(0, secondCommand)}, "log exited with status 3"},
		{"signal", death, quiet, []ariadne.Step{step(0, exit(-1, 11))}, "serve -x was killed by SIGSEGV"},
		{"real-time signal", death, quiet, []ariadne.Step{step(0, exit(-1, 40))}, "serve -x was killed by signal 40"},
		{"client", death, quiet, []ariadne.Step{step(2, exit(1, 0))}, "ask exited with status 1"},
		{"panic", death, quiet, []ariadne.Step{step(0, errorLines(exit(2, 0), "starting", "panic: no leader", "goroutine 1:", "\tmain.go:3"))},
			"serve -x exited with status 2: panic: no leader"},
		{"last line", death, quiet, []ariadne.Step{step(0, errorLines(exit(2, 0), "one", "two", " "))}, "serve -x exited with status 2: two"},
		{"may fail", death, quiet, []ariadne.Step{step(1, exit(-1, 6))}, ""},
		{"status 0", death, quiet, []ariadne.Step{step(0, exit(0, 0))}, ""},

		{"diverged", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{Diverged: "5000000 calls"})}, "5000000 calls"},
		{"at rest", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{})}, ""},

		{"client polls", divergence, quiet, []ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"})},
			"nothing can happen any more, and it goes on calling poll (9 calls) in vain"},
		{"server polls", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{Polling: "accept4 (9 calls)"})}, ""},
		{"server does not look", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{Polling: "poll (9 calls)", Unheeded: true})},
			"nothing can happen any more, and it goes on calling poll (9 calls) and does not take what it finds ready"},
		{"client polled", divergence, quiet, []ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"}), step(2, ariadne.Output{})}, ""},
		{"client polls on", divergence, property.End{}, []ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"})}, ""},

		{"client waits", deadlock, quiet, []ariadne.Step{step(2, ariadne.Output{})}, "no message is in flight and no timer is set, but client has not ended"},
		{"client never ran", deadlock, quiet, nil, "no message is in flight and no timer is set, but client has not ended"},
		{"client has ended", deadlock, quiet, []ariadne.Step{step(2, ariadne.Output{Ended: true})}, ""},
		{"not quiet", deadlock, property.End{}, []ariadne.Step{step(2, ariadne.Output{})}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if v := watch(c.check(), c.end, c.steps...); v != nil {
				got = v.Message
				if v.Step != len(c.steps) {
					t.Errorf("at step %d of %d", v.Step, len(c.steps))
				}
			}
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNoClientsNoDeadlock(t *testing.T) {
	if v := watch(&property.Deadlock{Nodes: nodes[:2]}, property.End{Quiet: true}); v != nil {
		t.Error(v)
	}
}
