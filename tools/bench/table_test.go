package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// plausible has all that the table needs.
func plausible() *measured {
	m := &measured{harness.Origin{When: time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), Machine: "a machine",
		Ariadne: "1.0", Load: "0.1"}, map[string]result{}}
	for _, r := range rows {
		for _, name := range r.names {
			m.Results[name] = result{Value: 4 / r.scale, Spread: 0.5 / r.scale, Times: 5}
		}
	}
	m.Results["clock_read_us"] = result{Value: 0.02, Times: 5}
	for _, s := range audited {
		m.Results["audit."+s.name+".again"] = result{Value: 100, Times: 1}
	}
	m.Results["audit.redis.incomparable"] = result{Value: 3, Times: 1}
	return m
}

func TestTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "costs.md")
	if err := os.WriteFile(path, []byte("before\n"+tableBegin+"old\n"+tableEnd+"after\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeTable(path, plausible()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + tableBegin + "Measured on 2025-03-01 by Ariadne 1.0 on a machine (load before it: 0.1).\n",
		"| an emulated system call, µs | 4.0 | 0.5 |",
		"| 1000, of which 0 differed and 3 could not be compared | |",
		tableEnd + "after\n",
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "old") {
		t.Error("the old table is still there")
	}
}

// TestImpossible: no table is made of what cannot be.
func TestImpossible(t *testing.T) {
	for name, change := range map[string]func(m *measured){
		"emulated_call_us was not measured": func(m *measured) { delete(m.Results, "emulated_call_us") },
		"cannot be 0": func(m *measured) {
			m.Results["executions_per_s.redis"] = result{Times: 5}
		},
		"with events_per_s.raftkv": func(m *measured) {
			m.Results["events_per_s.raftkv"] = result{Value: 3, Times: 5}
		},
		"with emulated_call_us": func(m *measured) {
			m.Results["clock_read_us"] = result{Value: 9, Times: 5}
		},
		"with new_transition_ms.etcd at 4": func(m *measured) {
			m.Results["new_transition_ms.etcd.step"] = result{Value: 5, Times: 5}
		},
		"no transition of nats was executed": func(m *measured) { delete(m.Results, "audit.nats.again") },
		"more transitions differ": func(m *measured) {
			m.Results["audit.etcd.mismatches"] = result{Value: 10000, Times: 1}
		},
		"where or when": func(m *measured) { m.When = time.Time{} },
	} {
		m := plausible()
		change(m)
		if _, err := m.table(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPageHasItsTable: a document in which the table has no place would be left as it was.
func TestPageHasItsTable(t *testing.T) {
	b, err := os.ReadFile("../../docs/results/costs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), tableBegin)
	if !ok || !strings.Contains(rest, tableEnd) {
		t.Error("docs/results/costs.md has no place for the table")
	}
}

// TestAddKept: measuring some parts again keeps what was measured of the others.
func TestAddKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bench.json")
	if err := os.WriteFile(path, []byte(`{"results": {"a": {"value": 1}, "b": {"value": 2}}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	m := &measured{Results: map[string]result{"b": {Value: 3}}}
	m.addKept(path)
	m.addKept(path + ".none")
	if m.Results["a"].Value != 1 || m.Results["b"].Value != 3 || len(m.Results) != 2 {
		t.Errorf("%v", m.Results)
	}
}
