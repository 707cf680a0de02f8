//go:build linux

package host

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files below a directory of the test's.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const meminfo = "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n"

func TestMemory(t *testing.T) {
	const v2 = "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	const v1 = "30 1 0:29 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n31 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
	const sub = "25 1 0:22 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		name              string
		files             map[string]string
		memory, available int64 // KiB
	}{
		{"none", map[string]string{"proc/meminfo": meminfo}, 1000, 600},
		{"no limit",
			map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b\n",
				"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}, 1000, 600},
		{"of a parent",
			map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a/b\n",
				"sys/fs/cgroup/a/memory.max": "409600\n", "sys/fs/cgroup/a/memory.current": "204800\n",
				"sys/fs/cgroup/a/memory.stat":  "anon 1\ninactive_file 102400\n",
				"sys/fs/cgroup/a/b/memory.max": "max\n"}, 400, 300},
		{"high", map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": v2, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "max\n", "sys/fs/cgroup/a/memory.high": "307200\n"}, 300, 300},
		{"version 1",
			map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": v1,
				"proc/self/cgroup": "4:cpu:/z\n3:memory:/a\n0::/\n",
				"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "512000\n",
				"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
				"sys/fs/cgroup/memory/a/memory.usage_in_bytes": "409600\n"}, 500, 100},
		{"seen from inside",
			map[string]string{"proc/meminfo": meminfo, "proc/self/mountinfo": sub, "proc/self/cgroup": "0::/docker/x\n",
				"sys/fs/cgroup/memory.max": "204800\n"}, 200, 200},
	} {
		f := find(tree(t, c.files), "memory")
		if m, a := f.memory()>>10, f.available()>>10; m != c.memory || a != c.available {
			t.Errorf("%s: %d KiB, %d available, want %d, %d", c.name, m, a, c.memory, c.available)
		}
	}
}

func TestThisMachine(t *testing.T) {
	if m, a := Memory(), Available(); m <= 0 || a <= 0 || a > m {
		t.Errorf("%d bytes, %d available", m, a)
	}
}
