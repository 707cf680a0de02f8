package sandbox

import "testing"

func TestCPUMask(t *testing.T) {
	for _, c := range []struct {
		cpus, a, b int
		want       string
	}{
		{1, 0, 1, "1\n"}, {2, 0, 2, "3\n"}, {4, 3, 4, "8\n"}, {8, 0, 1, "01\n"}, {8, 0, 8, "ff\n"},
		{33, 0, 33, "1,ffffffff\n"}, {64, 63, 64, "80000000,00000000\n"},
	} {
		if got := cpuMask(c.cpus, c.a, c.b); got != c.want {
			t.Errorf("processors %d to %d of %d: %q, want %q", c.a, c.b, c.cpus, got, c.want)
		}
	}
}

// TestTopology: what hwloc reads is there, for each processor.
func TestTopology(t *testing.T) {
	files := topology(2, 4, "0-3\n")
	for name, want := range map[string]string{"core_id": "2\n", "core_cpus": "4\n", "thread_siblings_list": "2\n",
		"package_cpus": "f\n", "die_cpus_list": "0-3\n"} {
		if files[name] != want {
			t.Errorf("%s is %q, want %q", name, files[name], want)
		}
	}
}
