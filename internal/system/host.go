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

// machine is the machine and who runs Ariadne, as far as nodes may depend on it past the emulated
// kernel.
type machine struct {
	release       string // of the kernel, which runs what is not emulated
	vendor, model string // of the processor
	flags         []string
	user          string
	sysctl        string
}

// thisMachine is this one.
var thisMachine = sync.OnceValue(func() machine {
	info, _ := os.ReadFile("/proc/cpuinfo")
	return machine{
		release: kernelRelease(), vendor: cpuField(info, "vendor_id"), model: cpuField(info, "model name"),
		flags: strings.Fields(cpuField(info, "flags")),
		user:  thisUser(), sysctl: sysctls(),
	}
})

// facts are what a replay should find as it was.
func (m machine) facts() []trace.Fact {
	text := m.release
	if m.model != "" {
		text += ", " + m.model
	}
	return []trace.Fact{
		{Name: "machine", Value: text},
		{Name: "features of the processor", Value: shortDigest(strings.Join(m.flags, " "))},
		{Name: "user", Value: m.user},
		{Name: "sysctl", Value: m.sysctl},
	}
}

// visible are what programs can see of it that are told of a model of a processor ("": the real
// one). The first states of nodes are named by them, because all that nodes do may rest on them;
// what programs cannot see is not in the names, so that like machines have the same. Everything
// else that programs see of a kernel and a machine (uname, /proc, limits) is made up, and the same
// everywhere.
func (m machine) visible(model string) []trace.Fact {
	facts := []trace.Fact{{Name: "kernel", Value: version(m.release)}, {Name: "user", Value: m.user},
		{Name: "sysctl", Value: m.sysctl}}
	if model == "" {
		// cpuid shows them, or what is made of them where it can be trapped, and the kernel tells a
		// new program.
		return append(facts, trace.Fact{Name: "processor", Value: m.model},
			trace.Fact{Name: "features", Value: strings.Join(m.flags, " ")})
	}
	// What cannot be trapped: xgetbv and the room that XSAVE takes, and how a vendor computes
	// approximations.
	room := slices.DeleteFunc(slices.Clone(m.flags), func(flag string) bool {
		return !slices.ContainsFunc(saved, func(begin string) bool { return strings.HasPrefix(flag, begin) })
	})
	return append(facts, trace.Fact{Name: "vendor", Value: m.vendor},
		trace.Fact{Name: "state that is saved", Value: strings.Join(room, " ")})
}

// saved are how the names begin of features with registers that XSAVE saves, and of its own.
var saved = []string{"xsave", "xgetbv", "avx", "mpx", "pku", "ospke", "amx", "shstk", "user_shstk"}

// version is a kernel's release without what its builder has added: fixes do not change what
// programs are answered.
func version(release string) string {
	name, numbers, _ := strings.Cut(release, " ")
	parts := strings.SplitN(numbers, ".", 3)
	return name + " " + strings.Join(parts[:min(len(parts), 2)], ".")
}

// MachineOf are what programs of a spec can see of the machine and of who runs Ariadne.
func MachineOf(s *spec.Spec) []trace.Fact { return thisMachine().visible(s.Processor) }

func kernelRelease() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

// cpuField is a field of the first processor in /proc/cpuinfo; "" when there is none.
func cpuField(info []byte, field string) string {
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == field {
			return strings.TrimSpace(value)
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
	all := thisMachine().facts()
	for i := range s.Nodes {
		all = append(all,
			trace.Fact{Name: "links in /node of " + s.Nodes[i].Name, Value: strings.Join(s.Nodes[i].Links, " ")})
		if n := &s.Nodes[i]; n.Login != "" {
			all = append(all,
				trace.Fact{Name: "ids of " + n.Login + ", the user of " + n.Name,
					Value: fmt.Sprintf("%d:%d", n.User, n.Group)})
		}
	}
	// They are no part of the spec's digest, but an execution may end where one of them does not
	// hold.
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

// Seen says which of these changes nodes may have seen. The others are none to them: they were
// shown what was there first.
func (d *Digests) Seen(changed []memo.Dependency) []string {
	lines := d.Described(slices.DeleteFunc(slices.Clone(changed), func(c memo.Dependency) bool {
		return d.safe(c.File)
	}))
	for _, path := range d.Leaked() {
		line := fmt.Sprintf("file %s has changed", path)
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, line+" ") }) {
			lines = append(lines, line)
		}
	}
	return lines
}
