//go:build linux

package check

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// usage is how much memory Ariadne takes of the machine, in bytes.
type usage struct {
	own   int64 // Ariadne's
	nodes int64 // of all processes of nodes, frozen ones too
}

func (u usage) total() int64 { return u.own + u.nodes }

// kernelShare is what Linux has for a process besides its pages and their tables.
const kernelShare = 64 << 10

// measureUsage adds up what Ariadne and all its descendants take. Pages that several of them
// have are divided among them (Pss); files of the host count for nobody.
func measureUsage() (u usage) {
	self := os.Getpid()
	u.own = readField("/proc/self/status", "RssAnon:") + readField("/proc/self/status",
		"RssShmem:") + readField("/proc/self/status", "VmPTE:")
	for _, pid := range descendants(self) {
		rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue // it has ended
		}
		u.nodes += kernelShare + parseField(rollup, "Pss_Anon:") + parseField(rollup,
			"Pss_Shmem:") + readField(fmt.Sprintf("/proc/%d/status", pid), "VmPTE:")
	}
	return u
}

// descendants lists the processes below one.
func descendants(self int) (all []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	parent := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// of a name with this in it nothing is understood
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		if f := strings.Fields(string(rest)); len(f) > 1 {
			parent[pid], _ = strconv.Atoi(f[1])
		}
	}
	for pid := range parent {
		for up, n := parent[pid], 0; up > 1 && n < len(parent); up, n = parent[up], n+1 {
			if up == self {
				all = append(all, pid)
				break
			}
		}
	}
	return all
}

// readField is a number of kilobytes that a file of /proc has under a name.
func readField(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return parseField(b, name)
}

func parseField(b []byte, name string) int64 {
	i := bytes.Index(b, []byte("\n"+name))
	if i < 0 {
		return 0
	}
	f := bytes.Fields(b[i+1+len(name) : min(i+1+len(name)+40, len(b))])
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[0]), 10, 64)
	return n << 10
}
