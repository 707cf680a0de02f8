package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Fail says which system calls may fail, within the budget of such faults.
type Fail struct {
	// Errors are the names of the errors that each call may fail with, by its name; nil: those
	// of DefaultFail.
	Errors map[string][]string
	// Paths are patterns for the files on which calls may fail: of the whole path when there
	// is a slash in them, else of its last part. nil: any.
	Paths    []string
	Nodes    []ariadne.NodeID // nil: all
	Peers    []ariadne.NodeID // of whose connections calls may fail; nil: all calls
	Programs []string         // names of files of which processes' calls fail; nil: all
	// Functions are the values with which functions of programs and their libraries return
	// without having done anything, by symbol.
	Functions map[string]int64
	// Sites: places have where in the program the call is made in their names.
	Sites bool
	// Combined is the greatest number of calls that fail in one step; 0: 1.
	Combined int
}

// canFail is a call that may fail without effect although nothing is wrong with it.
type canFail struct {
	name, family string
	// errors are those that its manual gives for this, of which the first usual are taken
	// unless others are named.
	errors []string
	usual  int
}

// failing are the calls of which it is known when they may fail (internal/machine/sys). Of those
// that stand in several families the first says how they fail usually.
var failing = func() (all []canFail) {
	add := func(family, calls string, usual int, errors ...string) {
		for _, c := range strings.Fields(calls) {
			all = append(all, canFail{c, family, errors, usual})
		}
	}
	add("writes", "write writev pwrite64 pwritev pwritev2", 2, "ENOSPC", "EIO", "EDQUOT", ariadne.CallFull)
	add("copies", "copy_file_range splice io_submit", 2, "ENOSPC", "EIO")
	add("copies", "sendfile", 1, "EIO")
	add("reads", "read readv pread64 preadv preadv2", 1, "EIO")
	add("syncs", "fsync fdatasync", 1, "EIO", "ENOSPC", "EDQUOT")
	add("room", "fallocate", 1, "ENOSPC", "EIO", ariadne.CallFull)
	add("room", "ftruncate", 1, "EIO")
	add("opens", "open openat openat2 creat", 1, "EMFILE", "ENFILE")
	add("names", "open openat openat2 creat mkdir mkdirat mknod mknodat", 1, "ENOSPC", "EDQUOT", "EROFS")
	add("names", "rename renameat renameat2 link linkat symlink symlinkat", 2, "ENOSPC", "EIO", "EDQUOT", "EROFS")
	add("names", "unlink unlinkat rmdir", 1, "EIO", "EROFS")
	add("sockets", "socket", 1, "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")
	add("sockets", "accept accept4", 1, "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM")
	add("descriptors", "pipe pipe2 epoll_create1 eventfd2", 1, "EMFILE", "ENFILE")
	add("memory", "mmap mremap brk", 1, "ENOMEM")
	add("memory", "clone clone3 fork vfork", 2, "EAGAIN", "ENOMEM")
	add("net", "read readv recvfrom recvmsg write writev sendto sendmsg", 1, ariadne.CallReset)
	add("net", "connect", 1, "ENETUNREACH")
	add("parts", "read pread64 write pwrite64 writev readv sendto sendmsg recvfrom recvmsg", 1, ariadne.CallShort)
	add("waits", "read readv write writev recvfrom recvmsg recvmmsg sendto sendmsg sendmmsg accept accept4 connect "+
		"poll ppoll select pselect6 epoll_wait epoll_pwait epoll_pwait2 nanosleep clock_nanosleep futex wait4 waitid "+
		"msgrcv msgsnd semop semtimedop flock io_getevents rt_sigtimedwait", 1, "EINTR")
	return all
}()

// defaultFamilies are those of which calls fail when the spec names none.
var defaultFamilies = []string{"writes", "syncs"}

// FailErrors are all errors that a spec may have each call fail with.
func FailErrors() map[string][]string {
	all := map[string][]string{}
	for _, c := range failing {
		all[c.name] = append(all[c.name], c.errors...)
	}
	return all
}

// UsualErrors are the errors with which calls of families fail usually, by call.
func UsualErrors(families []string) map[string][]string {
	f := Fail{Errors: map[string][]string{}}
	f.allow(families, nil)
	return f.Errors
}

// DefaultFail has writes to files fail, and bringing them to the disk.
func DefaultFail() Fail {
	f := Fail{Errors: map[string][]string{}}
	f.allow(defaultFamilies, nil)
	return f
}

// onFiles are the families of calls that need a disk.
var onFiles = []string{"writes", "copies", "reads", "syncs", "room", "names"}

// FilesFamily stands for all families of calls that need a disk.
const FilesFamily = "files"

// FailOf has calls fail with their usual errors, by names of calls and of families.
func FailOf(names []string) (Fail, error) {
	f := Fail{Errors: map[string][]string{}}
	if i := slices.Index(names, FilesFamily); i >= 0 {
		names = slices.Concat(names[:i], onFiles, names[i+1:])
	}
	if unknown, _ := f.allow(names, nil); len(unknown) > 0 {
		return f, fmt.Errorf("%q is neither a call that can fail nor a family of them: %s, or %s for those that need a disk", unknown[0], families(), FilesFamily)
	}
	return f, nil
}

// allow adds calls, or families of them, with the errors that are named or else the usual
// ones. It returns what is no call and what is an error of none of them.
func (f *Fail) allow(calls, errors []string) (unknown, unfit []string) {
	fit := map[string]bool{}
	for _, name := range calls {
		known := false
		for _, c := range failing {
			if c.name != name && c.family != name {
				continue
			}
			take := c.errors[:c.usual]
			if known && c.name == name {
				take = nil // a call named as such fails as in the first of its families
			}
			known = true
			if errors != nil {
				take = slices.DeleteFunc(slices.Clone(errors), func(e string) bool {
					return !slices.Contains(c.errors, e)
				})
			}
			for _, e := range take {
				fit[e] = true
			}
			for _, e := range take {
				if !slices.Contains(f.Errors[c.name], e) {
					f.Errors[c.name] = append(f.Errors[c.name], e)
				}
			}
		}
		if !known {
			unknown = append(unknown, name)
		}
	}
	for _, e := range errors {
		if !fit[e] {
			unfit = append(unfit, e)
		}
	}
	return unknown, unfit
}

// Of reports whether calls of a node may fail.
func (f *Fail) Of(id ariadne.NodeID) bool { return f.Nodes == nil || slices.Contains(f.Nodes, id) }

func init() {
	faultRow(world.Fail, fault{
		fields: func() schema { return object(failFields) },
		set:    setFail,
		nodes:  func(s *Spec) *[]ariadne.NodeID { return &s.Fail.Nodes },
		peers:  func(s *Spec) *[]ariadne.NodeID { return &s.Fail.Peers },
	})
}

// failText is a Fail as written.
type failText struct {
	budgetText
	calls, errors, paths, programs []text
	functions                      map[string]int64
	sites                          bool
	combined                       int
}

var failFields = []field[failText]{
	timesField[failText](),
	textsField("calls", "Names of calls, or of families of them: "+families()+"; default writes and syncs.",
		func(f *failText) *[]text { return &f.calls }),
	textsField("errors", "The errors with which they fail, as in EIO, of those in their manuals. SHORT: the call moves a part. FULL: ENOSPC, and the disk is full from then on. Default the usual ones.", func(f *failText) *[]text { return &f.errors }),
	textsField("paths", "Patterns for the files on which they fail, as in /node/wal/* or *.log, compared with the path by which the file was opened; default any.", func(f *failText) *[]text { return &f.paths }),
	nodesField[failText]("Names of the nodes whose calls fail; default all."),
	textsField("peers", "Names of nodes: only calls on connections to them fail; default all calls.", func(f *failText) *[]text { return &f.peers }),
	textsField("programs", "Names of the programs whose calls fail, without directories; default all.", func(f *failText) *[]text { return &f.programs }),
	afterField[failText](),
	{"functions", "Functions that return at once with the given value, as in malloc: 0, by their symbols in programs and libraries. With this field, calls has no default.",
		schema{"type": "object", "additionalProperties": schema{"type": "integer"}}, setFunctions},
	flagField("sites", "Names of places contain the position of the call in the program, as in <server:flush+0x4f; default no.", func(f *failText) *bool { return &f.sites }),
	countField("combined", "How many fail in the same step, at most, in searches of states and orders; default 1.", 1, world.MaxFaults, func(f *failText) *int { return &f.combined }),
}

// families are their names, as a list.
func families() string {
	var all []string
	for _, c := range failing {
		if !slices.Contains(all, c.family) {
			all = append(all, c.family)
		}
	}
	return strings.Join(all, ", ")
}

func setFunctions(r *reader, f *failText, v *yaml.Node) {
	if v.Kind != yaml.MappingNode || len(v.Content) == 0 {
		r.fail(v.Line, "faults: fail: functions: NAME: value pairs are needed here, as in {malloc: 0}")
		return
	}
	f.functions = map[string]int64{}
	for i := 0; i < len(v.Content); i += 2 {
		key, value := r.text(v.Content[i]), r.text(v.Content[i+1])
		n, err := strconv.ParseInt(value.string, 0, 64)
		if _, twice := f.functions[key.string]; twice || key.string == "" || ariadne.Plain(key.string) != key.string {
			r.fail(key.line, "faults: fail: functions: %q is no name of a function, or stands twice", key.string)
		}
		if err != nil {
			r.fail(value.line, "faults: fail: functions: %s: bad value %q: a whole number is needed", key.string, value.string)
		}
		f.functions[key.string] = n
	}
}

// setFail reads a number, or which calls may fail.
func setFail(r *reader, s *specText, v *yaml.Node) {
	var w failText
	readBudget(r, s, world.Fail, failFields, &w, v)
	s.Fail = Fail{Errors: map[string][]string{}, Combined: w.combined, Sites: w.sites, Functions: w.functions,
		Programs: stringsOf(w.programs)}
	calls, errors := stringsOf(w.calls), stringsOf(w.errors)
	if calls == nil && w.functions == nil {
		calls = defaultFamilies
	}
	unknown, unfit := s.Fail.allow(calls, errors)
	for _, t := range w.calls {
		if slices.Contains(unknown, t.string) {
			r.fail(t.line, "faults: fail: calls: %q is neither a call that can fail nor a family of them: %s", t.string, families())
		}
	}
	for _, t := range w.errors {
		if len(unknown) == 0 && slices.Contains(unfit, t.string) {
			r.fail(t.line, "faults: fail: errors: none of these calls fails with %q", t.string)
		}
	}
	for _, t := range w.paths {
		r.pattern("faults: fail: paths", t)
	}
	s.Fail.Paths = stringsOf(w.paths)
	if w.peers != nil && w.paths != nil {
		r.fail(w.peers[0].line, "faults: fail: peers: no call is on a file and on a connection; leave paths or peers out")
	}
}

func stringsOf(ts []text) (all []string) {
	for _, t := range ts {
		all = append(all, t.string)
	}
	return all
}
