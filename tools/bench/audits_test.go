package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestAudits: nodes of real programs are functions: transitions that are executed again, by a
// copy of the node, do what they did, call by call.
func TestAudits(t *testing.T) {
	audits(t, 200, 1, 5*time.Second, "redis")
}

func TestAuditsLong(t *testing.T) {
	if os.Getenv("ARIADNE_LONG") == "" {
		t.Skip("long: set ARIADNE_LONG=1")
	}
	audits(t, 20_000, 0.1, 5*time.Minute, "redis", "etcd", "nats", "zookeeper")
}

func audits(t *testing.T, transitions int, share float64, each time.Duration, names ...string) {
	ariadne := &harness.Ariadne{Binary: filepath.Join(t.TempDir(), "ariadne")}
	if err := harness.Build("../..", ariadne.Binary); err != nil {
		t.Fatal(err)
	}
	if err := ariadne.Possible(); err != nil {
		t.Skip(err)
	}
	specs := map[string]string{}
	for _, s := range audited {
		specs[s.name] = filepath.Join("../..", s.spec)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			spec := specs[name]
			if err := harness.Fetch(t.Context(), spec); err != nil {
				t.Skip(err)
			}
			a, err := auditSystem(t.Context(), ariadne, spec, t.TempDir(), transitions, share, each)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(a)
			if a.Mismatches > 0 || len(a.bugs) > 0 {
				t.Errorf("%v: %q", a, a.bugs)
			}
			if a.Audited-a.Incomparable < int(float64(transitions)*share*0.8) {
				t.Errorf("too few were compared: %v", a)
			}
		})
	}
}
