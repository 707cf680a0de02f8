package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// Nodes of real programs are functions: transitions that are executed again, by a
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
	ariadne := filepath.Join(t.TempDir(), "ariadne")
	if out, err := exec.Command("go", "build", "-o", ariadne, "../../cmd/ariadne").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	if out, err := exec.Command(ariadne, "doctor").CombinedOutput(); err != nil {
		t.Skipf("this machine cannot run Ariadne: %s", out)
	}
	specs := map[string]string{}
	for _, s := range audited {
		specs[s.name] = filepath.Join("../..", s.spec)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			spec := specs[name]
			if out, err := exec.Command(filepath.Join(filepath.Dir(spec), "fetch")).CombinedOutput(); err != nil {
				t.Skipf("not fetched: %v\n%s", err, out)
			}
			a, err := auditSystem(exec.Command, ariadne, spec, t.TempDir(), transitions, share, each)
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
