package sys

import (
	"cmp"
	"hash/fnv"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/tty"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// /proc is a directory of plain files in the node's tree, the same for all its
// processes. What differs between processes or in time is virtual: it is made here
// when it is looked at. An open virtual file is a memory file with its content,
// so that Linux can read, seek and map it.

// virtualPath reports whether a call's path names something virtual; v is its
// path, with /proc/self and links like /dev/stdin resolved.
func virtualPath(t *kernel.Thread, dirfd uint64, name string) (v string, ok bool) {
	if t.Proc.Root != "" {
		return "", inJail(t, dirfd, name)
	}
	switch {
	case path.IsAbs(name):
		if !strings.HasPrefix(name, "/proc") && !strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "//") {
			return "", false
		}
	default:
		dir, isVirtual := virtualDir(t, dirfd)
		if !isVirtual {
			return "", false
		}
		name = dir + "/" + name
	}
	clean := path.Clean(name)
	if strings.HasSuffix(name, "/") && (clean == "/proc/self" || clean == "/proc/thread-self") {
		return "/proc/" + selfTarget(t, clean), true
	}
	return resolveVirtual(t, clean)
}

// inJail is virtualPath where chroot has changed the root directory: below it there is
// no /proc. A way to it from a directory outside is not modelled.
func inJail(t *kernel.Thread, dirfd uint64, name string) bool {
	if dir, isVirtual := virtualDir(t, dirfd); isVirtual && !path.IsAbs(name) {
		if _, ok := resolveVirtual(t, path.Join(dir, name)); ok {
			t.Node().Refuse(t, "/proc from outside the root directory", name, false)
		}
	}
	return false
}

// virtualDir returns the directory that a relative path begins at, when the path
// may be virtual.
func virtualDir(t *kernel.Thread, dirfd uint64) (string, bool) {
	if isCwd(dirfd) {
		return t.Proc.Cwd, t.Proc.Cwd == "/" || strings.HasPrefix(t.Proc.Cwd, "/proc") ||
			strings.HasPrefix(t.Proc.Cwd, "/dev")
	}
	of := t.FDs().Get(fdOf(dirfd))
	if of == nil {
		return "", false
	}
	switch d := of.File.(type) {
	case *procfs.Dir:
		return d.Path, true
	case *kernel.HostFile:
		return d.Path, d.Path == "/" || strings.HasPrefix(d.Path, "/proc") || strings.HasPrefix(d.Path, "/dev")
	}
	return "", false
}

// resolveVirtual maps a clean absolute path to the virtual file it names.
func resolveVirtual(t *kernel.Thread, name string) (string, bool) {
	self := "/proc/" + strconv.Itoa(t.Proc.PID)
	switch name {
	case "/dev/fd":
		return self + "/fd", true
	case "/dev/stdin":
		return self + "/fd/0", true
	case "/dev/stdout":
		return self + "/fd/1", true
	case "/dev/stderr":
		return self + "/fd/2", true
	case "/dev/tty", "/dev/ptmx", dialog.Path:
		return name, true
	case "/dev/pts/ptmx":
		return "/dev/ptmx", true
	}
	if number, ok := strings.CutPrefix(name, "/dev/pts/"); ok && isNumber(number) {
		return name, true
	}
	if rest, ok := strings.CutPrefix(name, "/dev/fd/"); ok {
		return self + "/fd/" + rest, true
	}
	rel, ok := strings.CutPrefix(name, "/proc/")
	if !ok {
		return "", false
	}
	first, rest, _ := strings.Cut(rel, "/")
	switch {
	case rel == "self" || rel == "thread-self":
		return name, true
	case first == "self" && strings.HasPrefix(rest, "net/") && systemFiles[rest] != nil:
		return "/proc/" + rest, true
	case first == "self" && (rest == "net" || strings.HasPrefix(rest, "net/")):
		return "", false
	case first == "self":
		return path.Join(self, rest), true
	case first == "thread-self":
		return path.Join(self, "task", strconv.Itoa(t.TID), rest), true
	case isNumber(first), systemFiles[rel] != nil:
		return name, true
	}
	return "", false
}

func isNumber(s string) bool {
	for _, c := range s {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// descriptorPath reports which of the caller's descriptors a path like
// /proc/self/fd/3 or /dev/stdin names.
func descriptorPath(t *kernel.Thread, dirfd uint64, name string) (fd int, ok bool) {
	v, ok := virtualPath(t, dirfd, name)
	if !ok {
		return 0, false
	}
	o, e := lookupVirtual(t, v)
	if e != 0 || o.kind != fdLink || o.proc != t.Proc {
		return 0, false
	}
	return o.fd, true
}

// objectKind says what a virtual path names.
type objectKind uint8

const (
	textFile objectKind = iota
	attrFile            // can be written
	memFile             // /proc/PID/mem
	plainDir
	pathLink    // to a path
	selfLink    // /proc/self, /proc/thread-self
	fdLink      // to an open file
	terminal    // /dev/tty, /dev/ptmx, /dev/pts/N
	dialogFile  // /dev/ariadne
	throughLink // a real path that begins with a link of a process's directory
)

// object is what a virtual path names.
type object struct {
	kind   objectKind
	proc   *kernel.Process // or nil
	thread *kernel.Thread  // or nil, when it has ended: the whole process, or its first thread
	name   string          // last component
	fd     int             // of fdLink
	// path of throughLink, and base, its beginning, where the link leads
	path, base string
	tty        *tty.Terminal
	text       func(v *view) string
}

// processDirs are the directories of a process.
var processDirs = map[string]bool{"": true, "task": true, "fd": true, "fdinfo": true, "ns": true}

// lookupVirtual finds what a virtual path names.
func lookupVirtual(t *kernel.Thread, v string) (object, kernel.Errno) {
	switch v {
	case "/dev/tty", "/dev/ptmx":
		return object{kind: terminal}, 0
	case dialog.Path:
		return object{kind: dialogFile}, 0
	case "/proc/self", "/proc/thread-self":
		return object{kind: selfLink}, 0
	}
	if strings.HasPrefix(v, "/dev/pts/") {
		x := terminalAt(t, v)
		if x == nil {
			return object{}, unix.ENOENT
		}
		return object{kind: terminal, tty: x}, 0
	}
	rel := strings.TrimPrefix(v, "/proc/")
	if f := systemFiles[rel]; f != nil {
		o := object{kind: textFile, name: path.Base(v), text: f}
		if name, ok := settingFiles[rel]; ok {
			o.kind, o.name = attrFile, name
		}
		return o, 0
	}
	first, rest, _ := strings.Cut(rel, "/")
	o, e := processObject(t, first)
	if e != 0 {
		return o, e
	}
	if tid, below, ok := cutTask(rest); ok {
		if o, e = taskObject(t, o.proc, tid); e != 0 {
			return o, e
		}
		rest = below
		if rest == "task" || strings.HasPrefix(rest, "task/") {
			return o, unix.ENOENT
		}
	}
	return o.below(rest)
}

// cutTask takes "task/<tid>" off a path.
func cutTask(rest string) (tid, below string, ok bool) {
	rest, ok = strings.CutPrefix(rest, "task/")
	if !ok {
		return "", "", false
	}
	tid, below, _ = strings.Cut(rest, "/")
	return tid, below, true
}

func processObject(t *kernel.Thread, id string) (o object, e kernel.Errno) {
	pid, err := strconv.Atoi(id)
	if err != nil {
		return o, unix.ENOENT
	}
	if pid == t.Node().Init.TID {
		return object{proc: t.Node().Init.Proc, thread: t.Node().Init}, 0
	}
	o.proc = t.Node().Procs[pid]
	if o.proc == nil { // a thread's directory exists, though it is not listed
		if th := t.Node().Thread(pid); th != nil {
			o.proc, o.thread = th.Proc, th
			return o, 0
		}
		return o, unix.ENOENT
	}
	return leaderObject(o.proc), 0
}

// leaderObject is the first thread of a process. If it has ended, Linux shows neither memory nor
// descriptors there, although other threads have them.
func leaderObject(p *kernel.Process) object {
	o := object{proc: p}
	if len(p.Threads) > 0 && p.Threads[0] == p.Leader {
		o.thread = p.Leader
	}
	return o
}

func taskObject(t *kernel.Thread, p *kernel.Process, id string) (o object, e kernel.Errno) {
	tid, err := strconv.Atoi(id)
	if err == nil && tid == p.PID && p.Leader.State == kernel.Dead {
		return leaderObject(p), 0
	}
	th := t.Node().Thread(tid)
	if err != nil || th == nil || th.Proc != p {
		return o, unix.ENOENT
	}
	return object{proc: p, thread: th}, 0
}

// below finds a file of a process's directory.
func (o object) below(rest string) (object, kernel.Errno) {
	o.name = path.Base(rest)
	dir, file, nested := strings.Cut(rest, "/")
	switch {
	case processDirs[rest]:
		o.kind = plainDir
		return o, 0
	case rest == "exe" || rest == "cwd" || rest == "root":
		o.kind = pathLink
		return o, 0
	case nested && (dir == "cwd" || dir == "root") && o.thread == nil:
		return o, unix.ENOENT
	case nested && (dir == "cwd" || dir == "root"):
		o.kind, o.base = throughLink, linkTarget(o.proc, o.thread, dir)
		o.path = o.base + "/" + file
		return o, 0
	case nested && dir == "fd", nested && dir == "fdinfo":
		return o.descriptor(dir, file)
	case nested && dir == "ns":
		if namespaceInodes[file] == 0 {
			return o, unix.ENOENT
		}
		o.kind = pathLink
		return o, 0
	}
	if rest == "mem" {
		o.kind = memFile
		return o, 0
	}
	if f := processFiles[rest]; f != nil {
		o.kind, o.text = textFile, f
		if slices.Contains(procfs.Attrs, rest) {
			o.kind = attrFile
		}
		return o, 0
	}
	return o, unix.ENOENT
}

func (o object) descriptor(dir, file string) (object, kernel.Errno) {
	file, rest, through := strings.Cut(file, "/")
	fd, err := strconv.Atoi(file)
	if err != nil || o.proc.FDs == nil || o.thread == nil || o.proc.FDs.Get(fd) == nil {
		return o, unix.ENOENT
	}
	o.fd = fd
	if _, host := o.proc.FDs.Get(fd).File.(*kernel.HostFile); through {
		if !host || dir != "fd" {
			return o, unix.ENOTDIR
		}
		o.kind, o.base = throughLink, fdPath(o.thread, fd)
		o.path = o.base + "/" + rest
		return o, 0
	}
	if dir == "fdinfo" {
		o.kind, o.text = textFile, func(v *view) string { return fdInfo(v, fd) }
	} else {
		o.kind = fdLink
	}
	return o, 0
}

func (o object) view(t *kernel.Thread) *view { return &view{t, o.thread, o.proc} }

// mode is the object's st_mode.
func (o object) mode() uint32 {
	switch o.kind {
	case attrFile:
		return unix.S_IFREG | 0o644
	case memFile:
		return unix.S_IFREG | 0o600
	case plainDir:
		return unix.S_IFDIR | 0o555
	case fdLink:
		return unix.S_IFLNK | linkMode(o.proc.FDs.Get(o.fd))
	case pathLink, selfLink:
		return unix.S_IFLNK | 0o777
	case terminal:
		if o.tty != nil {
			return unix.S_IFCHR | o.tty.Mode
		}
		return unix.S_IFCHR | 0o666
	case dialogFile:
		return unix.S_IFCHR | 0o666
	}
	if o.name == "environ" || o.name == "auxv" {
		return unix.S_IFREG | 0o400
	}
	return unix.S_IFREG | 0o444
}

// linkMode shows how a descriptor is open.
func linkMode(of *kernel.OpenFile) (mode uint32) {
	if of.Flags&unix.O_PATH != 0 {
		return 0
	}
	if of.Reads() {
		mode |= 0o500
	}
	if of.Writes() {
		mode |= 0o300
	}
	return mode
}

// virtualInode is the inode number of a virtual path.
func virtualInode(t *kernel.Thread, v string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(v))
	return t.Node().Files.Inode(inode.Key{Dev: inode.DevProc, Ino: h.Sum64()})
}

// virtualLink is readlink of a virtual path.
func virtualLink(t *kernel.Thread, v string) (string, kernel.Errno) {
	o, e := lookupVirtual(t, v)
	switch {
	case e != 0:
		return "", e
	case o.kind == selfLink:
		return selfTarget(t, v), 0
	case !o.shownTo(t):
		return "", unix.EACCES
	case o.kind == fdLink:
		return describeFD(o.thread, o.fd), 0
	case o.kind == throughLink:
		return o.path, 0
	case o.kind != pathLink:
		return "", unix.EINVAL
	case o.thread == nil:
		return "", unix.ENOENT
	}
	return linkTarget(o.proc, o.thread, o.name), 0
}

// linkTarget is where a link of a process's directory leads.
func linkTarget(p *kernel.Process, th *kernel.Thread, name string) string {
	switch name {
	case "exe":
		return p.Exe
	case "cwd":
		if th.M == nil {
			return p.Cwd
		}
		return readLink(threadPath(th, "cwd"))
	case "root":
		return cmp.Or(p.Root, "/")
	}
	return name + ":[" + strconv.Itoa(namespaceInodes[name]) + "]"
}

// memoryFiles are the files of a process that show its memory.
var memoryFiles = []string{"environ", "auxv", "maps", "smaps", "smaps_rollup", "io", "personality", "syscall", "mem"}

// shownTo reports whether t may open the object, or go where it leads, as far as that is
// for those who may look into the process.
func (o object) shownTo(t *kernel.Thread) bool {
	switch {
	case o.proc == nil || o.proc == t.Proc:
		return true
	case o.kind == plainDir &&
		(o.name == "fd" || o.name == "fdinfo"), o.kind == pathLink, o.kind == fdLink, o.kind == throughLink,
		slices.Contains(memoryFiles, o.name):
		return t.MayTrace(cmp.Or(o.thread, o.proc.Leader), false)
	}
	return true
}

// selfTarget is where /proc/self or /proc/thread-self leads.
func selfTarget(t *kernel.Thread, v string) string {
	pid := strconv.Itoa(t.Proc.PID)
	if v == "/proc/thread-self" {
		return pid + "/task/" + strconv.Itoa(t.TID)
	}
	return pid
}

// namespaceInodes are Linux's numbers of the first namespaces.
var namespaceInodes = map[string]int{"cgroup": 4026531835, "ipc": 4026531839, "mnt": 4026531841, "net": 4026531840,
	"pid": 4026531836, "pid_for_children": 4026531836, "time": 4026531834, "time_for_children": 4026531834,
	"user": 4026531837, "uts": 4026531838}

// describeFD is what a descriptor's link in /proc/<pid>/fd says.
func describeFD(t *kernel.Thread, fd int) string {
	f := t.FDs().Get(fd).File
	if h, ok := f.(*kernel.HostFile); ok && !h.Synthetic {
		if s := fdName(t, h, fd); s != "" {
			return shownPath(t, h.Key(), s)
		}
	}
	if d, ok := f.(kernel.Describer); ok {
		return d.Describe()
	}
	return "anon_inode:[file]"
}

// virtualEntries lists a virtual directory.
func virtualEntries(t *kernel.Thread, v string) []kernel.Dirent {
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return nil
	}
	var names []string
	types := func(string) uint8 { return unix.DT_REG }
	switch o.name {
	case "task":
		types = func(string) uint8 { return unix.DT_DIR }
		if o.proc.Leader.State == kernel.Dead {
			names = append(names, strconv.Itoa(o.proc.PID))
		}
		for _, th := range o.proc.Threads {
			names = append(names, strconv.Itoa(th.TID))
		}
	case "fd", "fdinfo":
		if o.name == "fd" {
			types = func(string) uint8 { return unix.DT_LNK }
		}
		if o.proc.FDs != nil && o.thread != nil {
			for _, fd := range o.proc.FDs.Numbers() {
				names = append(names, strconv.Itoa(fd))
			}
		}
	case "ns":
		types = func(string) uint8 { return unix.DT_LNK }
		for name := range namespaceInodes {
			names = append(names, name)
		}
	default:
		names, types = processNames(strings.Contains(v, "/task/"))
	}
	sort.Slice(names, func(i, j int) bool { return numericLess(names[i], names[j]) })
	list := []kernel.Dirent{{Ino: virtualInode(t, v), Type: unix.DT_DIR, Name: "."},
		{Ino: virtualInode(t, path.Dir(v)), Type: unix.DT_DIR, Name: ".."}}
	for _, s := range names {
		list = append(list, kernel.Dirent{Ino: virtualInode(t, v+"/"+s), Type: types(s), Name: s})
	}
	return list
}

// numericLess orders numbers by value and other names by letters.
func numericLess(a, b string) bool {
	if isNumber(a) && isNumber(b) && len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// processNames are the entries of a process's directory.
func processNames(task bool) (names []string, types func(string) uint8) {
	for s := range processFiles {
		if !strings.Contains(s, "/") {
			names = append(names, s)
		}
	}
	for s := range processDirs {
		if s != "" && !(task && s == "task") {
			names = append(names, s)
		}
	}
	names = append(names, "exe", "cwd", "root", "mem")
	return names, func(s string) uint8 {
		switch {
		case s == "exe" || s == "cwd" || s == "root":
			return unix.DT_LNK
		case processDirs[s]:
			return unix.DT_DIR
		}
		return unix.DT_REG
	}
}

// processEntries are the processes as entries of /proc.
func processEntries(t *kernel.Thread) []kernel.Dirent {
	list := []kernel.Dirent{{Type: unix.DT_LNK, Name: "self"}, {Type: unix.DT_LNK, Name: "thread-self"}}
	list = append(list, kernel.Dirent{Type: unix.DT_DIR, Name: strconv.Itoa(t.Node().Init.TID)})
	for _, pid := range t.Node().PIDs() {
		list = append(list, kernel.Dirent{Type: unix.DT_DIR, Name: strconv.Itoa(pid)})
	}
	return list
}

// toDescriptor makes the current call, which names a file by the path in argument at, one of a
// descriptor where the path is the link of a descriptor of the caller's to what has no name: nr is
// that call, args what it takes behind the descriptor.
func toDescriptor(t *kernel.Thread, dirfd, at uint64, nr int, args ...uint64) bool {
	name, e := readPath(t, at)
	if e != 0 {
		return false
	}
	fd, ok := descriptorPath(t, dirfd, name)
	if !ok {
		return false
	}
	if h, ok := t.FDs().Get(fd).File.(*kernel.HostFile); ok {
		if st, e := pathStat(t, atCwd, fdName(t, h, fd), false); h.Synthetic || e == 0 && keyOf(&st) == h.Key() {
			return false
		}
	}
	t.Call.NR, t.Call.Args = nr, Args{uint64(fd)}
	copy(t.Call.Args[1:], args)
	return true
}

// redirect makes the current call, which names a file by the path in argument at,
// name the real file that a virtual path leads to. dirAt is the argument with the directory,
// or -1.
func redirect(t *kernel.Thread, dirAt, at int) kernel.Errno {
	a := &t.Call.Args
	dirfd := atCwd
	if dirAt >= 0 {
		dirfd = a[dirAt]
	}
	if a[at] == 0 {
		return 0
	}
	name, e := readPath(t, a[at])
	if e != 0 {
		return e
	}
	v, ok := virtualPath(t, dirfd, name)
	if !ok {
		return 0
	}
	target, e := virtualLink(t, v)
	switch {
	case e == unix.ENOENT:
		return e
	case e != 0:
		return unix.EACCES // a file of /proc
	}
	if dirAt >= 0 {
		a[dirAt] = atCwd
	}
	a[at] = area.Scratch
	return putScratch(t, target)
}

// realProgram makes an exec that names its program by a virtual path
// (/proc/self/exe, /proc/self/fd/3) name the real one.
func realProgram(t *kernel.Thread) kernel.Errno {
	a := &t.Call.Args
	dirfd, at := atCwd, &a[0]
	if t.Call.NR == unix.SYS_EXECVEAT {
		dirfd, at = a[0], &a[1]
	}
	name, e := readPath(t, *at)
	if e != 0 {
		return e
	}
	t.Call.Program = name
	v, ok := virtualPath(t, dirfd, name)
	if !ok {
		return 0
	}
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return e
	}
	if o.kind == fdLink && o.proc == t.Proc {
		argv, envp := a[1], a[2]
		if t.Call.NR == unix.SYS_EXECVEAT {
			argv, envp = a[2], a[3]
		}
		t.Call.NR = unix.SYS_EXECVEAT
		*a = Args{uint64(o.fd), area.Scratch, argv, envp, unix.AT_EMPTY_PATH}
		return putScratch(t, "")
	}
	target, e := virtualLink(t, v)
	if e != 0 {
		return unix.EACCES
	}
	*at = area.Scratch
	return putScratch(t, target)
}

// terminalAt is the terminal whose slave has the name v, or nil.
func terminalAt(t *kernel.Thread, v string) *tty.Terminal {
	n, err := strconv.Atoi(strings.TrimPrefix(v, "/dev/pts/"))
	if err != nil {
		return nil
	}
	return tty.Numbered(t.Node(), n)
}
