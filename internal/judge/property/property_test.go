package property_test

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
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
	sanitizer := func() property.Check { return property.Sanitizer{} }
	said := func(lines ...string) []ariadne.Step {
		return []ariadne.Step{step(0, errorLines(ariadne.Output{}, lines...))}
	}
	quiet := property.End{Quiet: true}
	for _, c := range []struct {
		name  string
		check func() property.Check
		end   property.End
		steps []ariadne.Step
		want  string // "" to accept
	}{
		{"status", death, quiet, []ariadne.Step{step(1, ariadne.Output{}), step(0, secondCommand)},
			"log exited with status 3"},
		{"signal", death, quiet, []ariadne.Step{step(0, exit(-1, 11))}, "serve -x was killed by SIGSEGV"},
		{"real-time signal", death, quiet, []ariadne.Step{step(0, exit(-1, 40))}, "serve -x was killed by signal 40"},
		{"client", death, quiet, []ariadne.Step{step(2, exit(1, 0))}, "ask exited with status 1"},
		{"panic", death, quiet,
			[]ariadne.Step{step(0,
				errorLines(exit(2, 0), "starting", "panic: no leader", "goroutine 1:", "\tmain.go:3"))},
			"serve -x exited with status 2: panic: no leader"},
		{"last line", death, quiet, []ariadne.Step{step(0, errorLines(exit(2, 0), "one", "two", " "))},
			"serve -x exited with status 2: two"},
		{"may fail", death, quiet, []ariadne.Step{step(1, exit(-1, 6))}, ""},
		{"Go's race detector", sanitizer, quiet,
			said("==================", "WARNING: DATA RACE", "Write at 0x00c000012345 by goroutine 8:",
				"  main.main.func1()", "      race.go:4 +0x33"),
			"Go's race detector: DATA RACE; Write by goroutine 8:; main.main.func1()"},
		{"AddressSanitizer", sanitizer, quiet, said("=====", "==2==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000001a at pc 0x55 bp 0x7f sp 0x7e", "WRITE of size 1 at 0x602000001a thread T0", "    #0 0x5555 in main asan.c:5"),
			"AddressSanitizer: heap-buffer-overflow; WRITE of size 1 thread T0; #0 in main asan.c:5"},
		{"ThreadSanitizer", sanitizer, quiet, said("WARNING: ThreadSanitizer: data race (pid=3)"),
			"ThreadSanitizer: data race (pid=3)"},
		{"MemorySanitizer", sanitizer, quiet, said("==3==WARNING: MemorySanitizer: use-of-uninitialized-value"),
			"MemorySanitizer: use-of-uninitialized-value"},
		{"UndefinedBehaviorSanitizer", sanitizer, quiet, said("asan.c:5:9: runtime error: signed integer overflow"), "UndefinedBehaviorSanitizer: asan.c:5:9: runtime error: signed integer overflow"},
		{"Valgrind", sanitizer, quiet, said("==5== Invalid write of size 1", "==5==    at 0x10916D: main (asan.c:5)", "==5==  Address 0x4a is 0 bytes after"), "Valgrind: Invalid write of size 1; main (asan.c:5); Address is 0 bytes after"},
		{"Helgrind", sanitizer, quiet, said("==5== Possible data race during write of size 4 at 0x1 by thread #2"), "Valgrind: Possible data race during write of size 4 by thread #2"},
		{"a system call's argument", sanitizer, quiet, said("==5== Syscall param write(buf) points to uninitialised byte(s)"), "Valgrind: Syscall param write(buf) points to uninitialised byte(s)"},
		{"words like these", sanitizer, quiet,
			said("panic: runtime error: index out of range", "main.go:3: runtime error: x", "no WARNING: DATA RACE",
				"==5== Memcheck, a memory error detector", "==5== ERROR SUMMARY: 0 errors from 0 contexts",
				"==5==WARNING: ASan is ignoring requested __asan_handle_no_return", "==5==WARNING: AddressSanitizer failed to allocate 0x1 bytes", "ThreadSanitizer: reported 0 warnings", "==5== For lists of detected and suppressed errors, rerun with: -s"), ""},
		{"status 0", death, quiet, []ariadne.Step{step(0, exit(0, 0))}, ""},

		{"diverged", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{Diverged: "5000000 calls"})},
			"5000000 calls"},
		{"at rest", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{})}, ""},

		{"client polls", divergence, quiet, []ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"})},
			"nothing can happen any more, and it goes on calling poll (9 calls) in vain"},
		{"server polls", divergence, quiet, []ariadne.Step{step(0, ariadne.Output{Polling: "accept4 (9 calls)"})}, ""},
		{"server does not look", divergence, quiet,
			[]ariadne.Step{step(0, ariadne.Output{Polling: "poll (9 calls)", Unheeded: true})},
			"nothing can happen any more, and it goes on calling poll (9 calls) and does not take what it finds ready"},
		{"client polled", divergence, quiet,
			[]ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"}), step(2, ariadne.Output{})}, ""},
		{"client polls on", divergence, property.End{},
			[]ariadne.Step{step(2, ariadne.Output{Polling: "poll (9 calls)"})}, ""},

		{"client waits", deadlock, quiet, []ariadne.Step{step(2, ariadne.Output{})}, "no message is in flight and no timer is set, but client has not ended"},
		{"client never ran", deadlock, quiet, nil, "no message is in flight and no timer is set, but client has not ended"},
		{"client has ended", deadlock, quiet, []ariadne.Step{step(2, ariadne.Output{Left: ariadne.Left{Ended: true}})},
			""},
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
