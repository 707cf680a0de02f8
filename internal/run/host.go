package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/readfile"
	"ariadne/internal/spec"
	"ariadne/internal/trace"

	"golang.org/x/sys/unix"
)

// What nodes do rests on the host too, which others change. When something is not as it
// was, and a node does something else than before, that is why, and no bug of anybody's.

// machineFacts are what programs see of the machine and of who runs Ariadne, past the
// emulated kernel. A node's first state is named by them, because all that it does may
// rest on them. What else they are shown of a kernel and a machine (uname, /proc, limits)
// is made up, and the same everywhere.
var machineFacts = sync.OnceValue(func() []trace.Fact {
	info, _ := os.ReadFile("/proc/cpuinfo")
	return []trace.Fact{
		// The kernel runs what is not emulated, and tells a new program of the processor.
		{Name: "machine", Value: kernelRelease() + cpuField(info, ", ", "model name")},
		// cpuid shows them, or what is made of them where it can be trapped.
		{Name: "features of the processor", Value: shortDigest(cpuField(info, "", "flags"))},
		{Name: "user", Value: thisUser()},
		{Name: "sysctl", Value: sysctls()},
	}
})

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

// cpuField is a field of the first processor in /proc/cpuinfo, behind a prefix; "" when
// there is none.
func cpuField(info []byte, prefix, field string) string {
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == field {
			return prefix + strings.TrimSpace(value)
		}
	}
	return ""
}

func shortDigest(s string) string { return ariadne.Digest(sha256.Sum256([]byte(s))).String() }

// thisUser is who Ariadne is as far as nodes can tell. Root sees the owners of files as
// they are, and sets limits as they should be. Another user's files are the node's own
// user's, he can read what his groups can, and his limits stay: that of the stack decides
// where Linux puts mappings.
func thisUser() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	groups, _ := os.Getgroups()
	slices.Sort(groups)
	user := fmt.Sprintf("%d, group %d of %v, limits", os.Geteuid(), os.Getegid(), groups)
	for _, what := range []int{unix.RLIMIT_STACK, unix.RLIMIT_AS, unix.RLIMIT_DATA, unix.RLIMIT_FSIZE} {
		var l unix.Rlimit
		unix.Getrlimit(what, &l)
		user += fmt.Sprintf(" %d", l.Max)
	}
	return user
}

// sysctls are settings of the kernel by which calls on memory and on a node's own files
// go one way or another.
func sysctls() string {
	var all []string
	for _, name := range []string{"vm/overcommit_memory", "vm/max_map_count", "vm/mmap_min_addr", "vm/legacy_va_layout",
		"fs/protected_hardlinks", "fs/protected_symlinks", "fs/protected_regular", "fs/protected_fifos"} {
		if b, err := os.ReadFile("/proc/sys/" + name); err == nil {
			all = append(all, name+"="+strings.TrimSpace(string(b)))
		}
	}
	return strings.Join(all, " ")
}

// facts are what a replay should find as it was, besides files.
func facts(s *spec.Spec) []trace.Fact {
	all := slices.Clone(machineFacts())
	for i := range s.Nodes {
		all = append(all, trace.Fact{Name: "links in /node of " + s.Nodes[i].Name, Value: strings.Join(s.Nodes[i].Links, " ")})
	}
	return all
}

// host is what an execution learnt of the machine besides what its trace holds for.
func (u used) host() []byte {
	return trace.FormatHost(&trace.Host{Facts: facts(u.digests.spec), Files: u.others(), Lists: u.lists()})
}

// hostChanges says what is not as it was when the trace at path was made, of what the
// trace does not hold for.
func (y *system) hostChanges(path string) []string {
	path += trace.HostSuffix
	b, err := readfile.AtMost(path, readfile.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{path + " is missing, so what else has changed on the host cannot be told"}
	}
	if err != nil {
		return []string{err.Error()}
	}
	h, err := trace.ParseHost(b)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	var lines []string
	now := facts(y.spec)
	for _, f := range h.Facts {
		i := slices.IndexFunc(now, func(g trace.Fact) bool { return g.Name == f.Name })
		switch {
		case i < 0:
			lines = append(lines, f.Name+": gone")
		case now[i].Value != f.Value:
			lines = append(lines, fmt.Sprintf("%s: %q, and it was %q", f.Name, now[i].Value, f.Value))
		}
	}
	return append(lines, y.digests.changed(h.Files)...)
}

// maxChanges is how many changes a message lists.
const maxChanges = 10

// listed is a list of changes below a heading.
func listed(heading string, lines []string) string {
	lines = distinct(lines)
	if n := len(lines) - maxChanges; n > 0 {
		lines = append(lines[:maxChanges], fmt.Sprintf("and %d more", n))
	}
	return heading + ":\n  " + strings.Join(lines, "\n  ")
}

// distinct is a copy of a list without what is in it already.
func distinct(lines []string) (d []string) {
	for _, l := range lines {
		if !slices.Contains(d, l) {
			d = append(d, l)
		}
	}
	return d
}

// changed says what is not as it was when the execution learnt of it.
func (u used) changed() []string { return u.digests.changed(append(u.binding(), u.others()...)) }

// described says what is not as a search has learnt it.
func (d *digests) described(changed []memo.Dependency) []string {
	var files []trace.File
	for _, c := range changed {
		files = append(files, trace.File{File: c.File, Digest: c.Digest})
	}
	return d.changed(files)
}

// hostDoubts says why nodes may have done something else than before when that is the
// doing of the host, or nothing. changed are the changes of files that are known
// otherwise.
func (c *check) hostDoubts(err error, changed []string) (doubts []string) {
	if x := c.explorer; x != nil && x.memo != nil {
		changed = append(changed, c.digests.described(x.memo.Changed())...)
		var m *memo.Mismatch
		if len(changed) == 0 && errors.As(err, &m) && m.Stored {
			x.memo.Forget()
			doubts = append(doubts, fmt.Sprintf("node %s: what it did in an earlier check is not what it does now, each time the same: "+
				"something has changed that Ariadne does not know of; what was remembered is forgotten, so check again", c.spec.Nodes[m.State.Node].Name))
		}
	}
	if len(changed) > 0 {
		doubts = append(doubts, listed(whileRunning, changed))
	}
	return doubts
}

// whileRunning is the heading of what has changed under a check.
const whileRunning = "files that nodes have used changed while the check was running, so check again"

// stopHost is why a check stops for which the host is no longer the same.
const stopHost = "the host has changed"

// stale enters that the host is not as it was when earlier checks, or the earlier part of
// this one, used it.
func (x *explorer) stale(path string, resumed bool) {
	changed := x.digests.described(x.memo.Stale())
	if len(changed) == 0 {
		return
	}
	if resumed && (!x.cover.Again || len(x.report.Violations) > 0) {
		x.report.doubt(listed("files that nodes have used changed since the check was interrupted, and what it found until then may not hold", changed))
		return
	}
	x.report.note(listed("nothing of earlier checks is remembered ("+filepath.Base(path)+"), because files that nodes have used have changed", changed))
}
