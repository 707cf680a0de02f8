//go:build linux

// Package host says how much memory there is to use: the machine's, or what the
// control groups that Ariadne runs in leave of it; and which limit of the host an error
// comes from. It knows nothing else of Ariadne.
package host

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Memory is how much memory Ariadne and what it starts can have in all, in bytes: the
// machine's, or the least limit of its control groups. 0: not known.
func Memory() int64 { return groups().memory() }

// Available is how much more of it can be used before Linux kills a process; a large
// number when that is not known.
func Available() int64 { return groups().available() }

// groups are the control groups of this process that limit memory, found once.
var groups = sync.OnceValue(func() *finder { return find("/", "memory") })

// finder knows where limits are read.
type finder struct {
	root string // of the file system; tests have their own
	dirs []group
}

// group is a directory of a control group that may have a limit.
type group struct {
	dir string
	v1  bool
}

// find finds the control groups of this process that a controller may limit, and all
// their parents (cgroups(7)).
func find(root, controller string) *finder {
	f := &finder{root: root}
	self, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	for _, m := range parseMounts(mounts, controller) {
		path, ok := groupPath(self, m.v1, controller)
		if !ok {
			continue
		}
		// The mount may show a part of the hierarchy only.
		if rel, err := filepath.Rel(m.root, path); err == nil && filepath.IsLocal(rel) {
			path = rel
		} else {
			path = "."
		}
		for {
			f.dirs = append(f.dirs, group{filepath.Join(root, m.point, path), m.v1})
			if path == "." || path == "/" {
				break
			}
			path = filepath.Dir(path)
		}
	}
	return f
}

// mount is one of the file systems that show control groups.
type mount struct {
	root, point string
	v1          bool
}

// parseMounts reads mountinfo (proc(5)).
func parseMounts(info []byte, controller string) (mounts []mount) {
	for line := range bytes.Lines(info) {
		left, right, ok := strings.Cut(string(line), " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 3 {
			continue
		}
		v1 := r[0] == "cgroup" && slices.Contains(strings.Split(r[2], ","), controller)
		if v1 || r[0] == "cgroup2" {
			mounts = append(mounts, mount{l[3], l[4], v1})
		}
	}
	return mounts
}

// groupPath is the path of this process's control group in its hierarchy.
func groupPath(self []byte, v1 bool, controller string) (string, bool) {
	for line := range bytes.Lines(self) {
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) == 3 && (v1 && slices.Contains(strings.Split(f[1], ","), controller) || !v1 && f[0] == "0") {
			return f[2], true
		}
	}
	return "", false
}

func (f *finder) memory() int64 {
	total := f.meminfo("MemTotal:")
	for _, g := range f.dirs {
		if l := g.limit(); l > 0 && (total == 0 || l < total) {
			total = l
		}
	}
	return total
}

func (f *finder) available() int64 {
	left := f.meminfo("MemAvailable:")
	if left == 0 {
		left = math.MaxInt64
	}
	for _, g := range f.dirs {
		if l := g.limit(); l > 0 {
			left = min(left, max(l-g.used(), 0))
		}
	}
	return left
}

func (f *finder) meminfo(name string) int64 {
	b, _ := os.ReadFile(filepath.Join(f.root, "proc/meminfo"))
	return field(b, name) << 10
}

// limit is the group's own, or 0.
func (g group) limit() int64 {
	if g.v1 {
		// else there is none
		if l := number(filepath.Join(g.dir, "memory.limit_in_bytes")); l < 1<<60 {
			return l
		}
		return 0
	}
	hard, soft := number(filepath.Join(g.dir, "memory.max")), number(filepath.Join(g.dir, "memory.high"))
	if hard == 0 || soft > 0 && soft < hard {
		return soft
	}
	return hard
}

// used is what the group uses and Linux cannot take back.
func (g group) used() int64 {
	usage, cached := "memory.current", "inactive_file"
	if g.v1 {
		usage, cached = "memory.usage_in_bytes", "total_inactive_file"
	}
	b, _ := os.ReadFile(filepath.Join(g.dir, "memory.stat"))
	return number(filepath.Join(g.dir, usage)) - field(b, cached)
}

// number reads a file with one number; 0 when there is none.
func number(path string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n
}

// field is the number behind a name that begins a line.
func field(b []byte, name string) int64 {
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		if f := strings.Fields(s.Text()); len(f) > 1 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// Resident is how much of a process is in memory, in bytes; 0: there is no such process.
func Resident(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	fmt.Sscan(string(b), &size, &pages)
	return pages * int64(os.Getpagesize())
}

// Budget is how many bytes Ariadne and its nodes may use, of whom so many were asked for; 0:
// half of what there is, and not more than is left.
func Budget(asked int64) int64 {
	if asked != 0 {
		return asked
	}
	all := Memory()
	if all == 0 {
		all = 4 << 30 // a modest guess
	}
	if left := Available(); left < all/2 {
		return left / 10 * 9
	}
	return all / 2
}
