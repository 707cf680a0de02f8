package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestAudits: nodes of real programs are functions: transitions that are executed again, by a
// copy of the node, do what they did, call by call, also those of faults.
func TestAudits(t *testing.T) {
	audits(t, 200, 5*time.Second, "redis", "raftkv")
}

// TestAuditsLong: the same of ten systems, 2,000 transitions each.
func TestAuditsLong(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("long: set ARIADNE_LONG=1")
	}
	var names []string
	for _, s := range audited {
		names = append(names, s.name)
	}
	audits(t, 2000, time.Minute, names...)
}

func audits(t *testing.T, transitions int, each time.Duration, names ...string) {
	ariadne := &harness.Ariadne{Binary: filepath.Join(t.TempDir(), "ariadne")}
	if err := harness.Build("../..", ariadne.Binary); err != nil {
		t.Fatal(err)
	}
	if err := ariadne.Possible(); err != nil {
		t.Skip(err)
	}
	// Each kind must have been taken in one system at least: a fault of a step is not possible
	// everywhere.
	taken := map[string]int{}
	inPlace, audited := 0, slices.DeleteFunc(slices.Clone(audited), func(s systemToAudit) bool {
		return !slices.Contains(names, s.name)
	})
	for _, s := range audited {
		t.Run(s.name, func(t *testing.T) {
			spec := filepath.Join("../..", s.spec)
			if err := harness.Fetch(t.Context(), spec); err != nil {
				t.Skip(err)
			}
			a, err := auditSystem(t.Context(), ariadne, spec, t.TempDir(), s.late, transitions, each)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(a)
			if a.Mismatches > 0 || len(a.bugs) > 0 {
				t.Errorf("%v: %q", a, a.bugs)
			}
			if a.Audited-a.Incomparable < transitions {
				t.Errorf("too few were compared: %v", a)
			}
			inPlace += a.InPlace
			for kind, n := range a.faults {
				taken[kind] += n
			}
		})
	}
	if t.Failed() || len(taken) == 0 {
		return // no system could be fetched
	}
	for _, kind := range []string{"crash", "stop", "cut", "power", "kill"} {
		if taken[kind] == 0 {
			t.Errorf("no %s was taken: %v", kind, taken)
		}
	}
	if inPlace == 0 {
		t.Log("no node went back in place: this machine cannot follow pages")
	}
}
