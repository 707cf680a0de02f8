package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

func found(strategy string, seed int, after time.Duration, executed int) outcome {
	return outcome{Spec: bugs[0].spec, Strategy: strategy, Seed: seed, Budget: 2 * time.Minute, Found: true,
		RealTime:   after,
		Executions: 3, Steps: 900, Memory: strategy != "random", Executed: executed, Remembered: 7}
}

func TestPage(t *testing.T) {
	all := map[string]set{
		"bug": {found("default", 0, 3*time.Second, 10), found("default", 1, time.Second, 30),
			found("default", 2, 2*time.Second, 20),
			found("random", 0, time.Second, 0),
			{Spec: bugs[0].spec, Strategy: "dpor", Memory: true, RealTime: 2 * time.Minute, Exhausted: true}},
		"mended": {{Spec: bugs[0].mended, Strategy: "default", Budget: time.Minute, Executions: 5}},
		"coverage": {{Spec: systems[0], Strategy: "random", Budget: time.Minute, Executions: 4, Steps: 400},
			{Spec: systems[0], Strategy: "default", Budget: 10 * time.Second, Memory: true, Executions: 8, Traces: 7,
				States: 6}},
	}
	lease := plantedFamily.spec(&plantedFamily.bugs[0])
	all["planted"] = set{
		{Spec: lease, Strategy: "default", Workers: 1, Budget: 20 * time.Second, Found: true,
			RealTime: 2 * time.Second},
		{Spec: lease, Strategy: "default", Workers: 1, Seed: 1, Budget: 20 * time.Second,
			RealTime: 20100 * time.Millisecond},
		{Spec: lease, Strategy: "default", Workers: 1, Seed: 2, Budget: 20 * time.Second, Found: true,
			RealTime: 3 * time.Second},
		{Spec: lease, Strategy: "default", Workers: 2, Budget: 20 * time.Second, Found: true, RealTime: time.Second},
		{Spec: plantedFamily.spec(&plantedFamily.bugs[1]), Strategy: "default", Workers: 1, Budget: 20 * time.Second},
	}
	all["fixed"] = set{{Spec: plantedFamily.fixed(&plantedFamily.bugs[0]), Strategy: "default", Workers: 2,
		Budget: 20 * time.Second, Executions: 9}}
	figure8 := twoFaults.spec(&twoFaults.bugs[9])
	all["twofaults"] = set{
		{Spec: figure8, Strategy: "default", Workers: 1, Budget: time.Minute, Found: true, RealTime: 9 * time.Second},
		{Spec: figure8, Strategy: "random", Workers: 1, Budget: time.Minute, RealTime: time.Minute},
	}
	all["fixed"] = append(all["fixed"],
		outcome{Spec: twoFaults.fixed(&twoFaults.bugs[9]), Strategy: "default", Workers: 2, Budget: 30 * time.Second,
			Executions: 4})
	page := string(writePage(all))
	for _, want := range []string{
		"--time 2m`",
		"| `default` | 3 of 3 | 2.0 s | 3 | 20 | 7 |\n| `random` | 1 of 1 | 1.0 s | 3 | 900 |  |\n",
		"| `dpor` | 0 of 1, all explored within the bounds | 120.0 s | 0 | 0 | 0 |\n",
		"| bug | half | `default` | `default`, 2 workers |\n",
		"(Python, TCP) | tuning | 2 of 3, 3.0 s | 1 of 1, 1.0 s |\n",
		"| **sum of the mean times** | tuning | 8.3 s | 1.0 s |\n| **sum of the mean times** | testing | 20.0 s | 0.0 s |\n",
		"found nothing in any of 1 in 20s each (9 executions).\n",
		"| bug | faults | `default` | `random` |\n",
		"by counting (Go) | 3 crashes | 1 of 1, 9.0 s | 0 of 1, 60.0 s |\n| **sum of the mean times** |  | 9.0 s | 60.0 s |\n",
		"found nothing in any of 1 in 30s each (4 executions).\n",
		"Without the bug (`examples/raftkv/raftkv.yaml`) nothing was found in 1m each by `default` (5 executions).\n",
		"| 10s | `default` | 8 | 7 | 6 | 0 | 0 |\n| `redis/replication.yaml` | 1m | `random` | 4 | | | 400 | |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page:\n%s", want, page)
		}
	}
}

func TestGood(t *testing.T) {
	fine := func() map[string]set {
		return map[string]set{"bug": {found("default", 0, 1, 1), {Strategy: "dpor", Wrong: "inconclusive"}},
			"mended": {{Strategy: "default"}}, "coverage": {{}}}
	}
	if !good(fine()) {
		t.Error("that is as it should be")
	}
	for what, change := range map[string]func(map[string]set){
		"missed by the default":   func(all map[string]set) { all["bug"][0].Found = false },
		"found without the bug":   func(all map[string]set) { all["mended"][0].Found = true },
		"found in a system":       func(all map[string]set) { all["coverage"][0].Found = true },
		"ariadne contradicts":     func(all map[string]set) { all["bug"][1].Wrong = "bug in ariadne" },
		"inconclusive without it": func(all map[string]set) { all["mended"][0].Wrong = "inconclusive" },
	} {
		all := fine()
		if change(all); good(all) {
			t.Errorf("%s: that is not as it should be", what)
		}
	}
}

// TestSpecsExist: every search names examples that are there.
func TestSpecsExist(t *testing.T) {
	specs := append([]string{}, systems...)
	for _, b := range bugs {
		specs = append(specs, b.spec, b.mended)
	}
	for _, f := range families {
		for i := range f.bugs {
			specs = append(specs, f.spec(&f.bugs[i]), f.fixed(&f.bugs[i]))
		}
	}
	tuning := 0
	for _, p := range plantedFamily.bugs {
		if p.class == "tuning" {
			tuning++
		}
	}
	if tuning != len(plantedFamily.bugs)/2 {
		t.Errorf("%d of %d are for tuning", tuning, len(plantedFamily.bugs))
	}
	for _, s := range specs {
		for _, f := range []string{s, filepath.Join(filepath.Dir(s), "fetch")} {
			if _, err := os.Stat(filepath.Join("../../examples", f)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPossible(t *testing.T) {
	short := outcome{Spec: "x", Strategy: "random", Budget: time.Second, Executions: 10}
	long := outcome{Spec: "x", Strategy: "random", Budget: time.Minute, Executions: 500}
	if err := possible(set{short, long}); err != nil {
		t.Error(err)
	}
	long.Executions = 9
	if possible(set{short, long}) == nil {
		t.Error("fewer executions in more time pass")
	}
}

func TestOrigins(t *testing.T) {
	o := harness.Origin{When: time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC), Machine: "a machine", Ariadne: "1.0"}
	got := origins(map[string]set{"bug": {{Origin: o}, {Origin: o}, {}}})
	if want := "\nMeasured:\n\n- 2025-03-01, Ariadne 1.0, on a machine\n"; got != want {
		t.Errorf("got %q", got)
	}
}
