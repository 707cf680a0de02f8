package main

import (
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// TestSummary: the first sentence says what was found and in how much, the others what was tried
// and how to go on. The numbers of the search come with -v only.
func TestSummary(t *testing.T) {
	fault := func(kind string, paths int) record.Faults {
		f := record.Faults{Kind: kind}
		f.Paths, f.Taken = paths, paths
		return f
	}
	with := func(c record.Coverage, late int) *record.Coverage {
		c.Kinds = record.Sightings{Seen: 30, Late: late}
		c.Strategy = "default"
		return &c
	}
	took := 60 * time.Second
	for _, c := range []struct {
		name string
		r    record.Report
		want string
	}{
		{"time", record.Report{Command: "check", Stopped: search.StopTime, Executions: 1204, RealTime: took,
			Coverage: with(record.Coverage{Faults: []record.Faults{fault("crash", 310), fault("lose", 0),
				fault("cut", 95)}}, 2)},
			"Explored 1,204 executions in 60.0 s; found nothing. 310 had a crash, 95 a partition. " +
				"New behaviour was still coming: try --time 10m."},
		{"nothing new",
			record.Report{Command: "check", Stopped: search.StopTime, Executions: 12, RealTime: took,
				Coverage: with(record.Coverage{}, 0)},
			"Explored 12 executions in 60.0 s; found nothing. The last tenth of the time showed no new behaviour."},
		{"executions",
			record.Report{Command: "check", Stopped: search.StopExecutions, Executions: 12, RealTime: took,
				Coverage: with(record.Coverage{}, 1)},
			"Explored 12 executions in 60.0 s; found nothing. New behaviour was still coming: try --executions 120."},
		{"all", record.Report{Command: "check", Stopped: check.StopExplored, Executions: 1, RealTime: took,
			Coverage: with(record.Coverage{Exhausted: true, Bounded: 3}, 1)},
			"No violation. Explored every state within the bounds: 1 execution in 60.0 s. The bounds cut paths off in 3 states."},
		{"clock", record.Report{Command: "check", Stopped: check.StopExploredAtTimes, Executions: 1, RealTime: took,
			Coverage: with(record.Coverage{Exhausted: true, ReadClock: []string{"server", "client"}}, 1)},
			"No violation. Explored every state within the bounds, at the times at which events happened: 1 execution in 60.0 s. " +
				"Nodes that read the clock, in steps that were tried at no other times: server, client."},
		{"clock that was tried",
			record.Report{Command: "check", Stopped: check.StopExploredAtTimes, Executions: 1, RealTime: took,
				Coverage: with(record.Coverage{Exhausted: true, ReadClock: []string{"client"},
					TriedClock: []string{"server", "client"}}, 1)},
			"No violation. Explored every state within the bounds, at the times at which events happened: 1 execution in 60.0 s. " +
				"Nodes that read the clock, in steps that were tried at no other times: client. " +
				"Nodes that read the clock, in steps that were tried at some other times: server."},
		{"threads", record.Report{Command: "check", Stopped: check.StopExplored, Executions: 7, RealTime: took,
			Coverage: with(record.Coverage{Exhausted: true, TookTurns: []string{"a", "b", "c"}, AtLocks: []string{"b"}},
				1)},
			"No violation. Explored every state within the bounds, with threads interleaved at certain places only: 7 executions in 60.0 s. " +
				"Nodes whose threads were interleaved only at system calls and lock functions: b. " +
				"Nodes whose threads were interleaved only at system calls, since no known lock function ran: a, c."},
		{"threads, with violations",
			record.Report{Command: "check", Stopped: check.StopExploredAtTimes, Outcome: record.Violated,
				Violations: make([]record.Violation, 1),
				Executions: 7, RealTime: took,
				Coverage: with(record.Coverage{Exhausted: true, TookTurns: []string{"a"}, AtLocks: []string{"a"}}, 1)},
			"Found a violation: explored 7 executions in 60.0 s. " +
				"The search explored every state within the bounds, at the times at which events happened, with threads interleaved at certain places only. " +
				"Nodes whose threads were interleaved only at system calls and lock functions: a."},
		{"clock, in a search that was not complete",
			record.Report{Command: "check", Stopped: search.StopTime, Executions: 12, RealTime: took,
				Coverage: with(record.Coverage{ReadClock: []string{"server"}}, 0)},
			"Explored 12 executions in 60.0 s; found nothing. The last tenth of the time showed no new behaviour."},
		{"violation",
			record.Report{Command: "check", Stopped: search.StopViolation, Outcome: record.Violated,
				Violations: make([]record.Violation, 1),
				Executions: 8, RealTime: took, Coverage: with(record.Coverage{}, 1)},
			"Found a violation: explored 8 executions in 60.0 s. The check stopped at the first violation: --keep-going looks for others."},
		{"interrupted",
			record.Report{Command: "check", Out: "o", Stopped: record.Interrupted, Outcome: record.Inconclusive,
				Executions: 8, RealTime: took},
			`Inconclusive (see the lines "inconclusive"): explored 8 executions in 60.0 s. ` +
				"The check was interrupted: --resume --out o continues it. run directory: o"},
		{"incomplete",
			record.Report{Command: "check", Stopped: "the strategy has no more paths", Executions: 8, RealTime: took,
				Coverage: with(record.Coverage{Missed: "walks alone"}, 1)},
			"Explored 8 executions in 60.0 s; found nothing. The check stopped: the strategy has no more paths. " +
				"The search was not complete: walks alone."},
		{"run",
			record.Report{Command: "run", End: search.EndTime, Steps: 1000, Messages: 1, VirtualTime: 2e9,
				RealTime: took},
			"No violation: the limit of virtual time was reached after 1,000 steps, 1 message and 2.000000s of virtual time (60.0 s of real time)."},
		{"lost", record.Report{Command: "check", Stopped: search.StopExecutions, Executions: 1, RealTime: took,
			Coverage: &record.Coverage{Earlier: 3, Lost: "gone", Under: []string{"nodes a, b are interchangeable"}}},
			"Explored 1 execution in 60.0 s; found nothing. before 3 paths are not counted, because their coverage is lost: gone " +
				"under nodes a, b are interchangeable"},
	} {
		var screen strings.Builder
		p := newTextPrinter(&screen, &screen, nil, 0, false)
		p.limits(check.Options{Time: took})
		p.report(&c.r)
		if got := strings.Join(strings.Fields(screen.String()), " "); !strings.HasSuffix(got, c.want) ||
			c.r.Violations == nil && got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
		for line := range strings.Lines(screen.String()) {
			if len(line) > report.DefaultWidth {
				t.Errorf("%s: %d columns: %s", c.name, len(line)-1, line)
			}
		}
		screen.Reset()
		p.verbose = true
		p.report(&c.r)
		if text := screen.String(); !strings.Contains(text, "\ntotal  ") || c.r.Coverage != nil &&
			!strings.Contains(text, "\nsearch ") {
			t.Errorf("%s: -v prints\n%s", c.name, text)
		}
	}
}

// TestGrouped: digits stand in groups of three.
func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000",
		-100: "-100"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for d, want := range map[time.Duration]string{10 * time.Minute: "10m", 20 * time.Second: "20s",
		10 * time.Hour: "10h", 90 * time.Second: "1m30s"} {
		if got := shortDuration(d); got != want {
			t.Errorf("%v: %s", d, got)
		}
	}
}
