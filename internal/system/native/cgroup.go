package native

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// FindGroup returns the id of the oldest process in a control group, or in one below it; 0: there
// is none. Of a service or a container that is its first process. The pattern is as in
// filepath.Match, of the group's path or of the end of it. It is an error if it matches several
// groups that have processes.
func FindGroup(pattern string) (int, error) {
	roots, err := hierarchies()
	if err != nil {
		return 0, err
	}
	for _, root := range roots {
		pid, err := findGroup(root, pattern)
		if pid != 0 || err != nil {
			return pid, err
		}
	}
	return 0, nil
}

// hierarchies are where trees of control groups are mounted. In a tree of version 2, and in that of
// systemd, all processes are in the groups that services and containers have.
func hierarchies() (all []string, err error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		mount, kind := strings.Fields(before), strings.Fields(after)
		if len(mount) > 4 && len(kind) > 0 && (kind[0] == "cgroup2" || kind[0] == "cgroup") {
			all = append(all, mount[4])
		}
	}
	if all == nil {
		return nil, errors.New("cgroup: no control groups are mounted: mount them at /sys/fs/cgroup")
	}
	return all, nil
}

func findGroup(root, pattern string) (pid int, err error) {
	pattern = strings.Trim(pattern, "/")
	parts := strings.Count(pattern, "/") + 1
	found := ""
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // the group is gone
		}
		names := strings.Split(path, "/")
		end := strings.Join(names[max(0, len(names)-parts):], "/")
		if is, err := filepath.Match(pattern, end); err != nil || !is || path == root {
			return err
		}
		own, err := oldest(path)
		switch {
		case err != nil:
			return err
		case own != 0 && pid != 0:
			return fmt.Errorf("cgroup %s: %s and %s both have processes: write more of the path", pattern, found, path)
		case own != 0:
			pid, found = own, path
		}
		return fs.SkipDir
	})
	if err != nil {
		return 0, err
	}
	return pid, nil
}

// oldest returns the id of the oldest process in a group and in those below it; 0: there is none.
func oldest(group string) (pid int, err error) {
	first := uint64(math.MaxUint64)
	err = filepath.WalkDir(group, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "cgroup.procs" {
			return nil // the group is gone
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil // likewise, or it has only threads
		}
		for word := range strings.FieldsSeq(string(text)) {
			own, err := strconv.Atoi(word)
			if err != nil || own == 0 {
				continue // a process that this one cannot see has the id 0
			}
			if at, ok := started(own); ok && (at < first || at == first && own < pid) {
				first, pid = at, own
			}
		}
		return nil
	})
	return pid, err
}

// started is when a process was started, in ticks since the machine was; not ok: it has ended.
func started(pid int) (at uint64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name before the last bracket may have any characters.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const place = 22 - 3 // of starttime, behind the state, which is the third
	if len(fields) <= place {
		return 0, false
	}
	at, err = strconv.ParseUint(fields[place], 10, 64)
	return at, err == nil
}
