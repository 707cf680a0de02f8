package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxID is the largest id of a user or a group: the next one is Linux's for ids that are not known.
const maxID = 65534

// user reads whose a node's commands are.
func (r *reader) user(n *nodeText, t text) {
	user, group, both := strings.Cut(t.string, ":")
	var entry []string
	if id, ok := number(user); ok {
		n.User, n.Group = id, id
	} else if entry = lookUpName("/etc/passwd", user); entry == nil {
		r.fail(t.line, "user: no user %q in this machine's /etc/passwd: name one that is there, or write a number, or two as in 111:115", user)
		return
	} else {
		n.Login = t.string
		n.User, _ = number(entry[2])
		n.Group, _ = number(entry[3])
	}
	if both {
		if id, ok := number(group); ok {
			n.Group = id
		} else if entry := lookUpName("/etc/group", group); entry != nil {
			n.Login = t.string
			n.Group, _ = number(entry[2])
		} else {
			r.fail(t.line, "user: no group %q in this machine's /etc/group: name one that is there, or write a number", group)
		}
	}
	if n.User < 0 || n.User > maxID || n.Group < 0 || n.Group > maxID {
		r.fail(t.line, "user: bad id in %q: numbers from 0 to %d are needed", t.string, maxID)
	}
}

func number(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// lookUpName returns the fields of the line of a name in /etc/passwd or /etc/group, or nil.
func lookUpName(file, name string) []string {
	data, err := os.ReadFile(file)
	if err != nil || name == "" {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if f[0] != name || len(f) < 4 {
			continue
		}
		if _, ok := number(f[2]); !ok {
			continue
		}
		if _, ok := number(f[3]); ok || file == "/etc/group" {
			return f
		}
	}
	return nil
}

// runDirs returns the directories below /run, each behind those that it lies in.
func (r *reader) runDirs(ts []text) (dirs []string) {
	for _, t := range ts {
		name := filepath.Clean(strings.TrimPrefix(t.string, "/run/"))
		if !filepath.IsLocal(name) || name == "." {
			r.fail(t.line, "run %q: the name of a directory below /run is needed, as in prosody", t.string)
			continue
		}
		for dir := name; dir != "."; dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs) // a directory comes before what lies in it
	return slices.Compact(dirs)
}
