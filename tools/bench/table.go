package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// measured is what a run of bench has measured, as it is kept in a file.
type measured struct {
	harness.Origin
	Results map[string]result `json:"results"`
}

func readMeasured(path string) (*measured, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &measured{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// addKept adds what the file at path has and m has not: what was measured before.
func (m *measured) addKept(path string) {
	kept, err := readMeasured(path)
	if err != nil {
		return // nothing was
	}
	for name, r := range kept.Results {
		if _, again := m.Results[name]; !again {
			m.Results[name] = r
		}
	}
}

// The table stands in a document between these lines.
const (
	tableBegin = "<!-- written by tools/bench -->\n"
	tableEnd   = "<!-- end -->\n"
)

// writeTable puts the table in its place in a document.
func writeTable(document string, m *measured) error {
	table, err := m.table()
	if err != nil {
		return err
	}
	b, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(b), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the table", document)
	}
	return os.WriteFile(document, []byte(before+tableBegin+table+tableEnd+after), 0o644)
}

// row is a line of the table: figures side by side, in a format for all of them.
type row struct {
	what   string
	format string // of a figure; its spread has the same
	scale  float64
	names  []string
}

var rows = []row{
	{"the same states without checkpoints and memo, over with them: raftkv, 8 and 12 steps; etcd, 12 and 18 steps (it grows with the depth)", "%.0f", 1,
		[]string{"ratio_vs_stateless.raftkv.8", "ratio_vs_stateless.raftkv.12", "ratio_vs_stateless.etcd.12",
			"ratio_vs_stateless.etcd.18"}},
	{"remembered steps per second of a search with one worker, in millions: raftkv, Redis, etcd", "%.2f", 1e-6,
		[]string{"remembered_per_s.raftkv", "remembered_per_s.redis", "remembered_per_s.etcd"}},
	{"a transition that nobody has seen (thaw, step, freeze, end of the copy), ms: memcached, Redis, raftkv, etcd", "%.1f", 1,
		[]string{"new_transition_ms.memcached", "new_transition_ms.redis", "new_transition_ms.raftkv",
			"new_transition_ms.etcd"}},
	{"new transitions a second of a breadth-first search, over those where nodes go back in copies of processes: raftkv, Redis, etcd, memcached, PostgreSQL, ZooKeeper", "%.1f", 1,
		[]string{"new_transition_ratio_copies.raftkv", "new_transition_ratio_copies.redis",
			"new_transition_ratio_copies.etcd",
			"new_transition_ratio_copies.memcached", "new_transition_ratio_copies.postgres",
			"new_transition_ratio_copies.zookeeper"}},
	{"share of steps that leave the memory of a node as it was: raftkv, Redis, etcd, memcached, PostgreSQL, ZooKeeper, nats, PySyncObj, Consul, Serf", "%.3f", 1,
		[]string{"unchanged_memory.raftkv", "unchanged_memory.redis", "unchanged_memory.etcd",
			"unchanged_memory.memcached", "unchanged_memory.postgres", "unchanged_memory.zookeeper",
			"unchanged_memory.nats", "unchanged_memory.pysyncobj", "unchanged_memory.consul", "unchanged_memory.serf"}},
	{"transitions that the default search executes, those at other times included, over those on its paths: raftkv, Redis, etcd, ZooKeeper", "%.2f", 1,
		[]string{"probing_cost.raftkv", "probing_cost.redis", "probing_cost.etcd", "probing_cost.zookeeper"}},
	{"the debugger to any step, with the threads of a node, ms: raftkv, Redis, etcd, ZooKeeper, and an execution of 2,000 steps", "%.0f", 1,
		[]string{"visit_ms.raftkv", "visit_ms.redis", "visit_ms.etcd", "visit_ms.zookeeper", "visit_ms.raft"}},
	{"the same, what 95 of 100 visits take at most", "%.0f", 1,
		[]string{"visit_ms_of_95.raftkv", "visit_ms_of_95.redis", "visit_ms_of_95.etcd", "visit_ms_of_95.zookeeper",
			"visit_ms_of_95.raft"}},
	{"the same search of raftkv on one processor, over two", "%.1f", 1, []string{"parallel_speedup"}},
	{"DPOR: paths per trace, paxos", "%.2f", 1, []string{"dpor_paths_per_trace"}},
	{"an emulated system call, µs", "%.1f", 1, []string{"emulated_call_us"}},
	{"a clock read, without a stop, µs", "%.2f", 1, []string{"clock_read_us"}},
	{"whole executions per second (`--strategy random`): raftkv, Redis, etcd", "%.0f", 1,
		[]string{"executions_per_s.raftkv", "executions_per_s.redis", "executions_per_s.etcd"}},
	{"steps of the default search over those of `random` in the same time, with a crash and a partition: hashicorp/raft, PySyncObj, nats, etcd, Serf, Consul, Redis Sentinel, PostgreSQL, ZooKeeper", "%.1f", 1,
		[]string{"default_over_random_steps.raft", "default_over_random_steps.pysyncobj",
			"default_over_random_steps.nats", "default_over_random_steps.etcd", "default_over_random_steps.serf",
			"default_over_random_steps.consul", "default_over_random_steps.sentinel",
			"default_over_random_steps.postgres", "default_over_random_steps.zookeeper"}},
	{"virtual time over real time of three idle etcd", "%.0f", 1, []string{"virtual_over_real.etcd_idle"}},
	{"to form an image of a power loss: among 10,000 names over 100, each synced, and none; in 40 MB over 5 MB (`ariadne crash`; it hardly grows)", "%.1f", 1,
		[]string{"image_forming_large_vs_small.names-synced", "image_forming_large_vs_small.names",
			"image_forming_large_vs_small.pages-synced"}},
	{"memory of Ariadne itself in whole executions, MB: raftkv, Redis, etcd", "%.0f", 1,
		[]string{"supervisor_mb.random.raftkv", "supervisor_mb.random.redis", "supervisor_mb.random.etcd"}},
	{"memory of Ariadne itself in the default search, MB: raftkv, Redis, etcd", "%.0f", 1,
		[]string{"supervisor_mb.default.raftkv", "supervisor_mb.default.redis", "supervisor_mb.default.etcd"}},
}

// table is the table of costs. It fails when a figure is missing or cannot be.
func (m *measured) table() (string, error) {
	if err := m.possible(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n| | median | spread |\n| --- | --- | --- |\n", m.Origin)
	for _, r := range rows {
		var medians, spreads []string
		for _, name := range r.names {
			f := m.Results[name]
			medians = append(medians, fmt.Sprintf(r.format, f.Value*r.scale))
			spreads = append(spreads, fmt.Sprintf(r.format, f.Spread*r.scale))
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.what, strings.Join(medians, "; "), strings.Join(spreads, "; "))
	}
	a := m.audits()
	fmt.Fprintf(&b, "| transitions of %d systems executed twice, with and without faults | %.0f, of which %.0f differed and %.0f could not be compared | |\n",
		len(audited), a["again"], a["mismatches"], a["incomparable"])
	return b.String(), nil
}

// audits are the figures of all audited systems together.
func (m *measured) audits() map[string]float64 {
	sum := map[string]float64{}
	for _, s := range audited {
		for _, figure := range []string{"again", "mismatches", "incomparable"} {
			sum[figure] += m.Results["audit."+s.name+"."+figure].Value
		}
	}
	return sum
}

// possible says what is missing, and what of the results contradicts other ones.
func (m *measured) possible() error {
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if m.Machine == "" || m.When.IsZero() {
		complain("it is not known where or when it was measured")
	}
	for _, r := range rows {
		for _, name := range r.names {
			if f, ok := m.Results[name]; !ok {
				complain("%s was not measured", name)
			} else if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || f.Value <= 0 || f.Times < 1 {
				complain("%s cannot be %v", name, f.Value)
			}
		}
	}
	for _, s := range audited {
		if _, ok := m.Results["audit."+s.name+".again"]; !ok {
			complain("no transition of %s was executed twice", s.name)
		}
	}
	if a := m.audits(); a["mismatches"]+a["incomparable"] > a["again"] {
		complain("more transitions differ than were executed twice")
	}
	// less says that the first is less than the second, by what they are.
	less := func(a, b string) {
		x, first := m.Results[a]
		y, second := m.Results[b]
		if first && second && x.Value >= y.Value {
			complain("%s is %v, which cannot be with %s at %v", a, x.Value, b, y.Value)
		}
	}
	for _, s := range systems {
		less("executions_per_s."+s.name, "events_per_s."+s.name)
		less("events_per_s."+s.name, "remembered_per_s."+s.name)
	}
	for _, n := range nodes {
		for _, part := range []string{"thaw", "step", "freeze", "end"} {
			less("new_transition_ms."+n.name+"."+part, "new_transition_ms."+n.name)
		}
	}
	less("clock_read_us", "emulated_call_us")
	for _, w := range windows {
		less(fmt.Sprintf("fast.%s.%d.seconds", w.name, slices.Max(w.depths)),
			fmt.Sprintf("slow.%s.%d.seconds", w.name, slices.Max(w.depths)))
	}
	return errors.Join(wrong...)
}
