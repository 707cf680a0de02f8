package sys

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inotify"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/procfs"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/unixsock"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/signal"

	"golang.org/x/sys/unix"
)

// residentPages is how much memory every process is shown to have in use: 32 MiB. Its real memory
// depends on the host.
const residentPages = 8192

// ticks converts processor time to clock ticks (USER_HZ is 100).
func ticks(t ariadne.Time) int64 { return int64(t) / 1e7 }

// systemFiles are the virtual files of /proc that belong to no process.
var systemFiles = map[string]func(v *view) string{
	"uptime":                    uptimeText,
	"loadavg":                   loadText,
	"stat":                      systemStatText,
	"sys/kernel/random/boot_id": func(v *view) string { n := v.caller.Node(); return kernel.BootID(n.Name, n.Boots) },
	"sys/kernel/random/uuid":    uuidText,
	"sys/kernel/ns_last_pid":    func(v *view) string { return fmt.Sprintln(lastPID(v.caller.Node())) },
	"sys/kernel/hostname":       func(v *view) string { return v.caller.Node().HostName() + "\n" },
	"sys/kernel/domainname":     func(v *view) string { return v.caller.Node().DomainName() + "\n" },
	"net/tcp":                   socketsText(ariadne.TCP, unix.AF_INET),
	"net/tcp6":                  socketsText(ariadne.TCP, unix.AF_INET6),
	"net/udp":                   socketsText(ariadne.UDP, unix.AF_INET),
	"net/udp6":                  socketsText(ariadne.UDP, unix.AF_INET6),
	"net/unix":                  func(v *view) string { return unixsock.ProcText(v.caller.Node()) },
	"net/route":                 func(v *view) string { return iface.RouteTable(v.caller.Node()) },
	"net/if_inet6":              func(v *view) string { return iface.Inet6Table(v.caller.Node()) },
	"sysvipc/msg":               msgQueuesText,
	"sysvipc/sem":               semsText,
	"sysvipc/shm":               shmsText,
}

// settingFiles are those of systemFiles that can be written, and the names of their settings.
var settingFiles = map[string]string{}

// processFiles are the files of a process's directory.
var processFiles map[string]func(v *view) string

func init() {
	for _, name := range kernel.Settings() {
		systemFiles["sys/"+name] = func(v *view) string { return kernel.SettingText(v.caller.Node(), name) }
		settingFiles["sys/"+name] = name
	}
	processFiles = map[string]func(v *view) string{
		"auxv":         auxvText,
		"cgroup":       treeFile("cgroup"),
		"cmdline":      cmdlineText,
		"environ":      func(v *view) string { return v.real("environ") },
		"gid_map":      func(*view) string { return "         0          0 4294967295\n" },
		"io":           ioText,
		"limits":       limitsText,
		"loginuid":     func(*view) string { return "4294967295" },
		"maps":         mapsText,
		"mountinfo":    treeFile("mountinfo"),
		"mounts":       treeFile("mounts"),
		"net/dev":      treeFile("net/dev"),
		"net/route":    systemFiles["net/route"],
		"net/tcp":      systemFiles["net/tcp"],
		"net/tcp6":     systemFiles["net/tcp6"],
		"net/udp":      systemFiles["net/udp"],
		"net/udp6":     systemFiles["net/udp6"],
		"net/unix":     systemFiles["net/unix"],
		"net/if_inet6": systemFiles["net/if_inet6"],
		"oom_adj":      func(v *view) string { return fmt.Sprintln(v.proc.OOMScoreAdj * 17 / 1000) },
		"oom_score":    func(v *view) string { return fmt.Sprintln(666 + v.proc.OOMScoreAdj*2/3) },
		"personality":  func(v *view) string { return fmt.Sprintf("%08x\n", v.proc.Persona) },
		"schedstat":    func(v *view) string { return fmt.Sprintf("%d 0 0\n", int64(v.proc.CPU())) },
		"sessionid":    func(*view) string { return "4294967295" },
		"setgroups":    func(*view) string { return "allow\n" },
		"smaps":        smapsText,
		"smaps_rollup": smapsRollupText,
		"stat":         statText,
		"statm":        statmText,
		"status":       statusText,
		"uid_map":      func(*view) string { return "         0          0 4294967295\n" },
		"wchan":        func(*view) string { return "0" },
	}
	for _, name := range procfs.Attrs {
		processFiles[name] = func(v *view) string { return procfs.AttrText(name, v.proc, v.thread) }
	}
}

// real reads a file of the process's real /proc directory; "" when it is dead.
func (v *view) real(name string) string {
	if v.thread == nil || v.thread.M == nil {
		return ""
	}
	b, err := os.ReadFile(threadPath(v.thread, name))
	if err != nil {
		return ""
	}
	return string(b)
}

// treeFile reads a file that is the same for all processes.
func treeFile(name string) func(*view) string {
	return func(v *view) string { return v.real("root/proc/self/" + name) }
}

func lastPID(n *kernel.Node) int {
	last := 1
	for _, pid := range n.PIDs() {
		for _, t := range n.Procs[pid].Threads {
			last = max(last, t.TID)
		}
	}
	return last
}

func uptimeText(v *view) string {
	n := v.caller.Node()
	n.TellTime()
	up := (n.MonoBase + int64(n.Now)) / 1e7
	return fmt.Sprintf("%d.%02d %d.%02d\n", up/100, up%100, up/100, up%100)
}

func loadText(v *view) string {
	n := v.caller.Node()
	threads := 0
	for _, p := range n.Procs {
		threads += len(p.Threads)
	}
	return fmt.Sprintf("0.00 0.00 0.00 1/%d %d\n", threads, lastPID(n))
}

func systemStatText(v *view) string {
	n := v.caller.Node()
	n.TellTime()
	var used ariadne.Time
	for _, p := range n.Procs {
		used += p.CPU()
	}
	idle := (n.MonoBase+int64(n.Now))/1e7*int64(n.CPUs) - ticks(used)
	s := fmt.Sprintf("cpu  %d 0 0 %d 0 0 0 0 0 0\n", ticks(used), idle)
	for i := range n.CPUs {
		s += fmt.Sprintf("cpu%d %d 0 0 %d 0 0 0 0 0 0\n", i, ticks(used)/int64(n.CPUs), idle/int64(n.CPUs))
	}
	return s + fmt.Sprintf("intr 0\nctxt 0\nbtime %d\nprocesses %d\nprocs_running 1\nprocs_blocked 0\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n",
		(n.RealBase-n.MonoBase)/1e9, lastPID(n))
}

func uuidText(v *view) string {
	var b [16]byte
	v.caller.Node().Rand.Fill(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (v *view) comm() string { return procfs.Comm(v.proc, v.thread) }

// cmdlineText is the memory that the arguments were put in, which some programs
// write their state to.
func cmdlineText(v *view) string { return v.real("cmdline") }

// auxvText is the auxiliary vector as the program found it.
func auxvText(v *view) string {
	b := []byte(v.real("auxv"))
	for i := 0; i+16 <= len(b); i += 16 {
		for _, x := range v.proc.Aux {
			if le.Uint64(b[i:]) == x.Kind {
				le.PutUint64(b[i+8:], x.Value)
			}
		}
	}
	return string(b)
}

func ioText(*view) string {
	return "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"
}

// foreign are the process's mappings without Ariadne's own, with the host's names of files.
func (v *view) foreign() iter.Seq[procmaps.Mapping] {
	return func(yield func(procmaps.Mapping) bool) {
		for m := range procmaps.All(v.real("maps")) {
			switch {
			case m.Name == "[vvar]" || m.Name == "[vvar_vclock]" || m.Name == "[vdso]" || m.Name == "[vsyscall]":
				continue
			case m.Start == area.VDSO:
				m = procmaps.Mapping{Start: m.Start, End: m.End, Perms: "r-xp", Name: "[vdso]"}
			case m.Start >= area.Base && m.End <= area.Base+area.Size:
				continue
			}
			if !yield(m) {
				return
			}
		}
	}
}

// mappings are the process's as the program may see them: without Ariadne's own,
// with the device and inode numbers that stat shows.
func (v *view) mappings() []procmaps.Mapping {
	var list []procmaps.Mapping
	for m := range v.foreign() {
		if m.Inode != 0 {
			st := unix.Stat_t{Dev: m.Dev, Ino: m.Inode}
			if of, copied := v.caller.Node().Files.Copies[keyOf(&st)]; copied {
				m.Name, st.Dev, st.Ino = of.Path, of.Key.Dev, of.Key.Ino
			}
			m.Name = shownPath(v.caller, keyOf(&st), nameAgain(v.caller, keyOf(&st), m.Name))
			show(v.caller, &st, false)
			m.Dev, m.Inode = st.Dev, st.Ino
		}
		list = append(list, m)
	}
	return joined(list)
}

// joined are mappings in which those that go on where others end are one. Linux makes one of them,
// unless the process was copied in between: as for a checkpoint, of which a program must not know.
func joined(list []procmaps.Mapping) (all []procmaps.Mapping) {
	for _, m := range list {
		if n := len(all); n > 0 && goesOn(all[n-1], m) {
			all[n-1].End = m.End
		} else {
			all = append(all, m)
		}
	}
	return all
}

// goesOn reports whether a mapping is of what comes next behind another one.
func goesOn(m, next procmaps.Mapping) bool {
	same := m.End == next.Start && m.Perms == next.Perms && m.Name == next.Name && m.Dev == next.Dev &&
		m.Inode == next.Inode
	return same && (m.Inode == 0 || m.Offset+(m.End-m.Start) == next.Offset)
}

// mapLine writes a mapping as Linux does.
func mapLine(m procmaps.Mapping) string {
	s := fmt.Sprintf("%08x-%08x %s %08x %02x:%02x %d ", m.Start, m.End, m.Perms, m.Offset, unix.Major(m.Dev),
		unix.Minor(m.Dev), m.Inode)
	if m.Name == "" {
		return s + "\n"
	}
	return fmt.Sprintf("%-73s%s\n", s, m.Name)
}

func mapsText(v *view) string {
	var s strings.Builder
	for _, m := range v.mappings() {
		s.WriteString(mapLine(m))
	}
	return s.String()
}

// smapsFields are shown as 0 for every mapping: they depend on what else runs on the
// host.
var smapsFields = []string{"Rss", "Pss", "Pss_Dirty", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty",
	"Referenced",
	"Anonymous", "KSM", "LazyFree", "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb",
	"Private_Hugetlb", "Swap", "SwapPss", "Locked"}

func smapsText(v *view) string {
	var s strings.Builder
	for _, m := range v.mappings() {
		s.WriteString(mapLine(m))
		kb := func(name string, n uint64) { fmt.Fprintf(&s, "%-16s%8d kB\n", name+":", n) }
		kb("Size", (m.End-m.Start)/1024)
		kb("KernelPageSize", 4)
		kb("MMUPageSize", 4)
		locked := v.locked(m)
		for _, f := range smapsFields {
			n := uint64(0)
			if f == "Locked" || f == "Rss" || f == "Pss" {
				n = locked // what is locked is in memory
			}
			kb(f, n/1024)
		}
		s.WriteString("THPeligible:           0\nVmFlags: rd\n")
	}
	return s.String()
}

// locked is how much of a mapping is locked.
func (v *view) locked(m procmaps.Mapping) uint64 {
	return v.proc.MemLocks().LockedBytes(kernel.MemRange{Start: m.Start, End: m.End})
}

func smapsRollupText(v *view) string {
	maps := v.mappings()
	if len(maps) == 0 {
		return ""
	}
	s := fmt.Sprintf("%08x-%08x ---p 00000000 00:00 0 %41s[rollup]\n", maps[0].Start, maps[len(maps)-1].End, "")
	for _, f := range smapsFields {
		n := 0
		if f == "Rss" || f == "Pss" || f == "Private_Dirty" || f == "Anonymous" {
			n = residentPages * 4
		}
		s += fmt.Sprintf("%-16s%8d kB\n", f+":", n)
	}
	return s
}

// size is the size of the process's address space in bytes. Linux knows it without a look at the
// mappings, of which programs do not see some: these are the same in all processes.
func (v *view) size() uint64 {
	pages, _, _ := strings.Cut(v.real("statm"), " ")
	all, err := strconv.ParseUint(pages, 10, 64)
	if err != nil {
		return 0
	}
	all *= 4096
	hidden.Do(func() {
		hiddenBytes = all
		for m := range v.foreign() {
			hiddenBytes -= m.End - m.Start
		}
	})
	return all - hiddenBytes
}

var (
	hidden      sync.Once
	hiddenBytes uint64
)

func statmText(v *view) string {
	if v.thread == nil {
		return "0 0 0 0 0 0 0\n"
	}
	return fmt.Sprintf("%d %d %d 1 0 %d 0\n", v.size()/4096, residentPages, residentPages/4, residentPages)
}

// state is the letter of the thread's state, and its name.
func (v *view) state() (letter, name string) {
	switch {
	case v.proc.Dead || v.thread == nil:
		return "Z", "zombie"
	case v.proc.Stopped:
		return "T", "stopped"
	case v.thread.State == kernel.Blocked:
		return "S", "sleeping"
	}
	return "R", "running"
}

// signals are the sets that status and stat show.
func (v *view) signals() (pending, shared, blocked, ignored, caught signal.Set) {
	for s := 1; s <= signal.Max; s++ {
		switch v.proc.Actions[s].Handler {
		case signal.Dfl:
		case signal.Ign:
			ignored |= signal.SetOf(s)
		default:
			caught |= signal.SetOf(s)
		}
	}
	for _, i := range v.proc.Pending {
		shared |= signal.SetOf(i.Signo)
	}
	if v.thread != nil {
		for _, i := range v.thread.Pending {
			pending |= signal.SetOf(i.Signo)
		}
		if v.thread.M != nil {
			blocked = v.thread.M.SigMask()
		}
	}
	return
}

// tid is the id that the view's directory belongs to.
func (v *view) tid() int {
	if v.thread != nil {
		return v.thread.TID
	}
	return v.proc.PID
}

// threadsOf is how many threads a process has: the first counts until the process was waited for.
func threadsOf(p *kernel.Process) int {
	if p.Leader.State == kernel.Dead {
		return len(p.Threads) + 1
	}
	return max(len(p.Threads), 1)
}

// statText is /proc/<pid>/stat (proc_pid_stat(5)).
func statText(v *view) string {
	p := v.proc
	letter, _ := v.state()
	pending, _, blocked, ignored, caught := v.signals()
	nice, policy, priority := 0, 0, 0
	n, started := p.Node, v.task().Started
	if v.thread != nil {
		nice, policy, priority = v.thread.Nice, v.thread.Sched.Policy, v.thread.Sched.Priority
	}
	real := realStat(v)
	n.TellStamp(n.RealBase + int64(started))
	f := []any{v.tid(), "(" + v.comm() + ")", letter, p.ParentPID(), p.PGID, p.SID, 0, -1, 4194304, 0, 0, 0, 0,
		ticks(p.CPU()), 0, ticks(p.ChildCPUTime), 0, 20 + nice, nice, threadsOf(p), 0,
		(n.MonoBase + int64(started)) / 1e7, v.size(), residentPages, uint64(kernel.RlimInfinity), real[26], real[27],
		real[28], 0, 0,
		uint64(pending) & 0x7fffffff, uint64(blocked) & 0x7fffffff, uint64(ignored) & 0x7fffffff,
		uint64(caught) & 0x7fffffff, 0, 0, 0,
		p.ExitSig, 0, priority, policy, 0, 0, 0}
	for i := 45; i <= 51; i++ {
		f = append(f, real[i])
	}
	return fmt.Sprintln(append(f, 0)...)
}

// realStat are the fields of Linux's own stat, from 1: the layout of memory is taken
// from there.
func realStat(v *view) (f [53]string) {
	for i := range f {
		f[i] = "0"
	}
	s := v.real("stat")
	if i := strings.LastIndexByte(s, ')'); i >= 0 {
		for i, x := range strings.Fields(s[i+1:]) {
			if i+3 < len(f) {
				f[i+3] = x
			}
		}
	}
	return f
}

// statusText is /proc/<pid>/status (proc_pid_status(5)).
func statusText(v *view) string {
	p, th := v.proc, v.task()
	c := th.Cred
	letter, name := v.state()
	pending, shared, blocked, ignored, caught := v.signals()
	var s strings.Builder
	line := func(name, format string, args ...any) { fmt.Fprintf(&s, name+":\t"+format+"\n", args...) }
	line("Name", "%s", v.comm())
	if letter != "Z" {
		line("Umask", "%04o", p.Umask)
	}
	line("State", "%s (%s)", letter, name)
	line("Tgid", "%d", p.PID)
	line("Ngid", "0")
	line("Pid", "%d", v.tid())
	line("PPid", "%d", p.ParentPID())
	line("TracerPid", "0")
	line("Uid", "%d\t%d\t%d\t%d", c.UID.Real, c.UID.Effective, c.UID.Saved, c.UID.FS)
	line("Gid", "%d\t%d\t%d\t%d", c.GID.Real, c.GID.Effective, c.GID.Saved, c.GID.FS)
	line("FDSize", "%d", 256)
	groups := ""
	for _, g := range c.Groups {
		groups += strconv.Itoa(g) + " "
	}
	line("Groups", "%s", groups)
	line("NStgid", "%d", p.PID)
	line("NSpid", "%d", v.tid())
	line("NSpgid", "%d", p.PGID)
	line("NSsid", "%d", p.SID)
	if letter != "Z" {
		v.memoryLines(line)
	}
	line("Threads", "%d", threadsOf(p))
	line("SigQ", "0/65536")
	line("SigPnd", "%016x", uint64(pending))
	line("ShdPnd", "%016x", uint64(shared))
	line("SigBlk", "%016x", uint64(blocked))
	line("SigIgn", "%016x", uint64(ignored))
	line("SigCgt", "%016x", uint64(caught))
	line("CapInh", "%016x", c.Inheritable)
	line("CapPrm", "%016x", c.Permitted)
	line("CapEff", "%016x", c.EffectiveCaps)
	line("CapBnd", "%016x", c.Bounding)
	line("CapAmb", "%016x", c.Ambient)
	noNew := 0
	if th.NoNewPrivs {
		noNew = 1
	}
	line("NoNewPrivs", "%d", noNew)
	of := th.Seccomp
	line("Seccomp", "%d", of.Mode)
	line("Seccomp_filters", "%d", of.Count())
	line("Speculation_Store_Bypass", "not vulnerable")
	affinity := uint64(1)<<p.Node.CPUs - 1
	if v.thread != nil {
		affinity = v.thread.Affinity
	}
	line("Cpus_allowed", "%x", affinity)
	line("Cpus_allowed_list", "%s", bitList(affinity))
	line("Mems_allowed", "1")
	line("Mems_allowed_list", "0")
	line("voluntary_ctxt_switches", "0")
	line("nonvoluntary_ctxt_switches", "0")
	return s.String()
}

func (v *view) memoryLines(line func(name, format string, args ...any)) {
	size, locked := v.size()/1024, uint64(0)
	for m := range v.foreign() {
		locked += v.locked(m) / 1024
	}
	for _, x := range []struct {
		name string
		kb   uint64
	}{{"VmPeak", size}, {"VmSize", size}, {"VmLck", locked}, {"VmPin", 0}, {"VmHWM", residentPages * 4},
		{"VmRSS", residentPages * 4},
		{"RssAnon", residentPages * 3}, {"RssFile", residentPages}, {"RssShmem", 0}, {"VmData", residentPages * 4},
		{"VmStk", 132},
		{"VmExe", 1024}, {"VmLib", 4096}, {"VmPTE", 128}, {"VmSwap", 0}, {"HugetlbPages", 0}} {
		line(x.name, "%8d kB", x.kb)
	}
	line("CoreDumping", "0")
	line("THP_enabled", "0")
}

// bitList writes a set of processors as "0-2,5".
func bitList(m uint64) string {
	var parts []string
	for i := 0; i < 64; i++ {
		if m>>i&1 == 0 {
			continue
		}
		first := i
		for i < 63 && m>>(i+1)&1 != 0 {
			i++
		}
		if first == i {
			parts = append(parts, strconv.Itoa(i))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", first, i))
		}
	}
	return strings.Join(parts, ",")
}

// limitRows are the lines of /proc/<pid>/limits, by resource.
var limitRows = [kernel.NumRlimits][2]string{
	{"Max cpu time", "seconds"}, {"Max file size", "bytes"}, {"Max data size", "bytes"}, {"Max stack size", "bytes"},
	{"Max core file size", "bytes"}, {"Max resident set", "bytes"}, {"Max processes", "processes"},
	{"Max open files", "files"},
	{"Max locked memory", "bytes"}, {"Max address space", "bytes"}, {"Max file locks", "locks"},
	{"Max pending signals", "signals"},
	{"Max msgqueue size", "bytes"}, {"Max nice priority", ""}, {"Max realtime priority", ""},
	{"Max realtime timeout", "us"},
}

func limitsText(v *view) string {
	s := fmt.Sprintf("%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units")
	value := func(n uint64) string {
		if n == kernel.RlimInfinity {
			return "unlimited"
		}
		return strconv.FormatUint(n, 10)
	}
	for i, row := range limitRows {
		soft, hard := v.proc.Rlimit(i)
		s += fmt.Sprintf("%-25s %-20s %-20s %-10s\n", row[0], value(soft), value(hard), row[1])
	}
	return s
}

// fdInfo is /proc/<pid>/fdinfo/<fd>.
func fdInfo(v *view, fd int) string {
	of := v.proc.FDs.Get(fd)
	flags := of.Flags
	if v.proc.FDs.CloseOnExec(fd) {
		flags |= unix.O_CLOEXEC
	}
	pos, ino := "0", uint64(1)
	if h, ok := of.File.(*kernel.HostFile); ok {
		if real := v.real("fdinfo/" + strconv.Itoa(fd)); real != "" {
			pos = strings.TrimSpace(strings.TrimPrefix(strings.SplitN(real, "\n", 2)[0], "pos:"))
		}
		ino = v.caller.Node().Files.Inode(h.Key())
	} else if d, ok := of.File.(kernel.Describer); ok {
		ino = max(kernel.DescribedInode(d.Describe()), 1)
	}
	s := fmt.Sprintf("pos:\t%s\nflags:\t0%o\nmnt_id:\t20\nino:\t%d\n", pos, flags, ino)
	if f, ok := of.File.(*kernel.PidFile); ok {
		pid := -1
		if !f.Proc.Reaped() {
			pid = f.Proc.PID
		}
		s += fmt.Sprintf("Pid:\t%d\nNSpid:\t%d\n", pid, pid)
	}
	if f, ok := of.File.(*inotify.Instance); ok {
		files := &v.caller.Node().Files
		for _, w := range f.Watches() {
			dev := unix.Major(inode.DevHost)<<20 | unix.Minor(inode.DevHost)
			if w.Key.Dev == files.Private {
				dev = unix.Major(inode.DevNode)<<20 | unix.Minor(inode.DevNode)
			}
			s += fmt.Sprintf("inotify wd:%x ino:%x sdev:%x mask:%x ignored_mask:0 \n", w.WD, files.Inode(w.Key), dev,
				w.Mask)
		}
	}
	return s
}

// view is what a virtual file is made from: the process it is about, the thread of it,
// and the thread that looks.
type view struct {
	caller, thread *kernel.Thread
	proc           *kernel.Process
}

// task is the thread, or the leader of a process that has ended.
func (v *view) task() *kernel.Thread { return cmp.Or(v.thread, v.proc.Leader) }
