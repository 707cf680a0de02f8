package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// golden is what a system did. Its lines are compared as they are.
type golden struct {
	spec  string   // digest of the spec
	uses  string   // digest of the programs that ran
	run   string   // how the natural run ended
	steps []string // of the natural run
	// preempted is the step from which on nothing is comparable, or 0.
	preempted int
	checks    []string // one per search: name, then what it counted
}

// cannotRun says why a system cannot run on this machine.
type cannotRun struct{ error }

// small are the systems that are searched, by folder.
var small = []string{"memcached", "paxos", "planted", "queues", "raftkv"}

// search is a search that ends by what it has done, not by time.
type search struct {
	name  string
	flags []string
}

// searches are those of a system whose natural run has so many steps: it has started when they
// begin.
func searches(steps int) []search {
	from := strconv.Itoa(max(1, steps/3))
	var all []search
	for _, s := range []struct{ strategy, depth string }{
		{"depth-first", "14"}, {"deviations", "14"}, {"all-paths", "14"}, {"sleep-sets", "14"}, {"dpor", "14"},
		// it comes to the end of the first path when it has seen nearly all states
		{"breadth-first", "6"},
	} {
		all = append(all,
			search{s.strategy,
				[]string{"--strategy", s.strategy, "--from", from, "--depth", s.depth, "--timers", "1", "--executions",
					"200"}})
	}
	// What is wrong in a system shows later than in the window, with few deviations.
	return append(all, search{"whole", []string{"--strategy", "deviations", "--executions", "40"}})
}

// record runs a system and, when it is small, searches it.
func (o *options) record(ctx context.Context, spec string) (*golden, error) {
	path := filepath.Join(o.examples, spec)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &golden{spec: digest(string(text))}
	r, err := o.ariadne.Cold(ctx, filepath.Join(o.work, "run"), "run", path)
	switch {
	case err != nil && strings.Contains(err.Error(), harness.NoReport):
		return nil, &cannotRun{err}
	case err != nil:
		return nil, err
	case r.Interrupted:
		return nil, fmt.Errorf("did not end within %v", o.ariadne.Limit)
	}
	if err := g.natural(r); err != nil {
		return nil, err
	}
	if !o.searches || !slices.Contains(small, filepath.Dir(spec)) {
		return g, nil
	}
	for _, s := range searches(len(g.steps)) {
		flags := append([]string{"--jobs", "1", "--keep-going", "--time", "none"}, s.flags...)
		r, err := o.ariadne.Cold(ctx, filepath.Join(o.work, "check"), "check", path, flags...)
		if err != nil {
			return nil, err
		}
		if r.Coverage == nil {
			return nil, errors.New("a search in memory reports no coverage")
		}
		g.checks = append(g.checks, s.name+": "+counted(r))
	}
	return g, nil
}

// natural enters a run.
func (g *golden) natural(r *harness.Run) error {
	used, err := harness.Used(r.Trace())
	if err != nil {
		return err
	}
	var programs []string
	for _, line := range used {
		if strings.HasPrefix(line, "program ") || strings.HasPrefix(line, "file code ") {
			programs = append(programs, line)
		}
	}
	slices.Sort(programs)
	g.uses = digest(strings.Join(slices.Compact(programs), "\n"))
	steps, err := r.ReadSteps()
	if err != nil {
		return err
	}
	for _, s := range steps {
		if s.Unreplayable || s.Cut != "" {
			g.preempted = s.Step
			break
		}
		g.steps = append(g.steps, stepLine(s))
	}
	g.run = fmt.Sprintf("%s: %s, %d violations", r.Outcome, r.End, len(r.Violations))
	return nil
}

// stepLine is what a step did: where there is much, how much and a digest of it.
func stepLine(s harness.Step) string {
	messages := make([]string, len(s.Messages))
	for i, m := range s.Messages {
		messages[i] = fmt.Sprint(m.To, m.Proto, m.Src, m.Dst, m.Epoch, m.Seq, m.Flags, int64(m.Sent), len(m.Data))
	}
	lines := make([]string, len(s.Logs))
	for i := range s.Logs {
		lines[i] = s.Logs[i].Text
	}
	deadline := "none"
	if s.Deadline != nil {
		deadline = fmt.Sprint(int64(*s.Deadline))
	}
	rest := []string{fmt.Sprint(int64(s.Clock)), deadline, exits(s.Exits), fmt.Sprint(s.Done), s.Diverged, s.Polling,
		s.Fatal}
	return fmt.Sprintf("%d %d.%09d calls %d%s%s rest %s %s", s.Step, int64(s.At/1e9), int64(s.At%1e9), s.Calls,
		several("msgs", messages), several("lines", lines), digest(strings.Join(rest, "\x00")), s.Action)
}

// exits are as the binaries wrote them with which the first golden files were made.
func exits(all []harness.Exit) string {
	var list []string
	for _, x := range all {
		list = append(list,
			fmt.Sprintf(`{"At":%d,"Command":%d,"Status":%d,"Signal":%d}`, x.At, x.Command, x.Status, x.Signal))
	}
	if list == nil {
		return ""
	}
	return "[" + strings.Join(list, ",") + "]"
}

// several is how many there are, if any, and which.
func several(what string, list []string) string {
	if len(list) == 0 {
		return ""
	}
	return fmt.Sprintf(" %s %d=%s", what, len(list), digest(strings.Join(list, "\x00")))
}

// counted is what a search has counted; searches that depend on real time say so.
func counted(r *harness.Run) string {
	c := r.Coverage
	if r.Interrupted {
		return notComparable + "interrupted after the limit of time"
	}
	if c.Unreplayable > 0 {
		return notComparable + "a thread was preempted"
	}
	violations := 0
	for _, v := range r.Violations {
		violations += v.Count
	}
	return fmt.Sprintf("%s, exhausted %v, paths %d, traces %d, states %d, known %d, given up %d, violations %d of %d kinds",
		r.Outcome, c.Exhausted, c.Paths, c.Traces, c.States, c.Known, c.GivenUp, violations, len(r.Violations))
}

const notComparable = "not comparable: "

// digest is short: it tells apart, and nobody attacks it.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// summary is for the terminal.
func (g *golden) summary() string {
	s := fmt.Sprintf("%d steps", len(g.steps))
	if g.preempted > 0 {
		s += fmt.Sprintf(", preempted in step %d", g.preempted)
	}
	if len(g.checks) > 0 {
		s += fmt.Sprintf(", %d searches", len(g.checks))
	}
	return s + "; " + g.run
}
