package system

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system/spec"

	"golang.org/x/sys/unix"
)

// What nodes do rests on the host too, which others change. When something is not as it
// was, and a node does something else than before, that is why, and no bug of anybody's.

// MachineFacts are what programs see of the machine and of who runs Ariadne, past the
// emulated kernel. A node's first state is named by them, because all that it does may
// rest on them. What else they are shown of a kernel and a machine (uname, /proc, limits)
// is made up, and the same everywhere.
var MachineFacts = sync.OnceValue(func() []trace.Fact {
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
	all := slices.Clone(MachineFacts())
	for i := range s.Nodes {
		all = append(all, trace.Fact{Name: "links in /node of " + s.Nodes[i].Name, Value: strings.Join(s.Nodes[i].Links, " ")})
		if n := &s.Nodes[i]; n.Login != "" {
			all = append(all, trace.Fact{Name: "ids of " + n.Login + ", the user of " + n.Name, Value: fmt.Sprintf("%d:%d", n.User, n.Group)})
		}
	}
	// They are no part of the spec's digest, but an execution may end where one of them does not hold.
	return append(all, trace.Fact{Name: "properties", Value: fmt.Sprintf("%x", s.Properties.Digest[:8])})
}

// Host is what an execution learnt of the machine besides what its trace holds for.
func (u Used) Host() []byte {
	return trace.FormatHost(&trace.Host{Facts: facts(u.digests.spec), Files: u.others(), Lists: u.lists()})
}

// maxChanges is how many changes a message lists.
const maxChanges = 10

// Listed is a list of changes below a heading.
func Listed(heading string, lines []string) string {
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

// Changed says what is not as it was when the execution learnt of it.
func (u Used) Changed() []string { return u.digests.Changed(append(u.Binding(), u.others()...)) }

// Described says what is not as a search has learnt it.
func (d *Digests) Described(changed []memo.Dependency) []string {
	var files []trace.File
	for _, c := range changed {
		files = append(files, trace.File{File: c.File, Digest: c.Digest})
	}
	return d.Changed(files)
}

// Seen says which of these changes nodes may have seen. The others are none to them: they were shown what was there
// first.
func (d *Digests) Seen(changed []memo.Dependency) []string {
	lines := d.Described(slices.DeleteFunc(slices.Clone(changed), func(c memo.Dependency) bool { return d.safe(c.File) }))
	for _, path := range d.Leaked() {
		line := fmt.Sprintf("file %s has changed", path)
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, line+" ") }) {
			lines = append(lines, line)
		}
	}
	return lines
}
