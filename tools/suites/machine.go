package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// machineCaps is what a native program may not do, as setpriv has it: set the clock, stop the
// machine, load modules, reach devices by their ports.
const machineCaps = "-sys_time,-sys_boot,-sys_module,-sys_rawio"

// machine is what no namespace of a native program keeps apart and a program may leave changed, as
// one that is killed does: areas of swap, loop devices, settings.
type machine struct {
	swaps, loops []string
	settings     map[string]string // by path
}

// lookAround looks at the machine; swap and loop devices are those on files below the directory
// work, for others use the machine too.
func lookAround(work string) machine {
	m := machine{settings: map[string]string{}}
	ours := func(name string) bool { return strings.HasPrefix(name, work+"/") }
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, l := range loops {
		if b, err := os.ReadFile(l); err == nil && ours(string(b)) {
			m.loops = append(m.loops, "/dev/"+strings.Split(l, "/")[3])
		}
	}
	for _, line := range lines("/proc/swaps") {
		if f := strings.Fields(line); len(f) > 0 && (ours(f[0]) || slices.Contains(m.loops, f[0])) {
			m.swaps = append(m.swaps, f[0])
		}
	}
	filepath.WalkDir("/proc/sys", func(name string, e fs.DirEntry, err error) error {
		// Those of the network belong to its namespace.
		if err == nil && e.IsDir() && name == "/proc/sys/net" {
			return fs.SkipDir
		}
		if err == nil && e.Type().IsRegular() && isSetting(name) {
			if b, err := os.ReadFile(name); err == nil {
				m.settings[name] = string(b)
			}
		}
		return nil
	})
	return m
}

// isSetting reports whether a file of /proc/sys can be read and written, and only shows what was
// written. The names of the others have these parts.
func isSetting(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&0o600 != 0o600 {
		return false
	}
	for _, s := range []string{"/random/", "last_pid", "/sched_domain", "drop_caches", "compact_memory", "next_id"} {
		if strings.Contains(name, s) {
			return false
		}
	}
	return true
}

func lines(name string) []string {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// restore makes the machine what it was, and says where it was not.
func (m machine) restore(now machine) (left []string) {
	try := func(what string, err error) {
		if err != nil {
			what += ", still: " + err.Error()
		}
		left = append(left, what)
	}
	for _, s := range now.swaps {
		if !slices.Contains(m.swaps, s) {
			try("swap on "+s, exec.Command("swapoff", s).Run())
		}
	}
	for _, l := range now.loops {
		if !slices.Contains(m.loops, l) {
			try(l, exec.Command("losetup", "--detach", l).Run())
		}
	}
	for name, was := range m.settings {
		if is, ok := now.settings[name]; ok && is != was {
			try(name+" was "+strings.TrimSpace(was)+", is "+strings.TrimSpace(is), os.WriteFile(name, []byte(was), 0))
		}
	}
	slices.Sort(left)
	return left
}
