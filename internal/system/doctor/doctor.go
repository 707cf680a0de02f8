// Package doctor says what this machine allows of what Ariadne needs, and how to
// fix the rest. It tries each thing harmlessly and changes nothing.
//
// Looking (probe.go) and judging (below) are apart, so that every verdict can be
// tested on any machine.
package doctor

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// Check is the verdict on one thing.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`         // what was found
	Mend   string `json:"mend,omitempty"` // what to do when it is not OK
}

// Facts are what was found on a machine.
type Facts struct {
	Release      string // of the kernel: "6.1.0-18-amd64"
	Machine      string // "x86_64"
	Root         bool
	Ptrace       error  // of tracing a child
	YamaScope    string // kernel.yama.ptrace_scope, or "" without Yama
	UserNS       error  // of a process in new user, mount and network namespaces
	MaxUserNS    string // user.max_user_namespaces
	CloneUserNS  string // kernel.unprivileged_userns_clone, or "" where there is none
	AppArmorNS   string // kernel.apparmor_restrict_unprivileged_userns, likewise
	Seccomp      error  // of asking for SECCOMP_RET_TRACE
	TSC          error  // of asking for PR_GET_TSC
	TrapsTSC     bool   // a read was trapped
	CPUID        bool   // it can be trapped
	Models       string // fixed processors that a spec may ask for here, given that
	PidfdGetfd   error  // of the call with bad arguments
	MountSetattr error  // likewise
	Pages        error  // of following which pages a process writes
	BPF          string // why a watch cannot look into programs; "": it can
	Sockets      string // why it cannot list their sockets by BPF; "": it can
	Filesystems  string // /proc/filesystems
	ProcStatus   error  // of reading /proc/self/status
	Cores        int
	MemoryMB     uint64 // available
	Program      error  // of running one under Ariadne, which the caller tries
}

// Judge returns the verdicts in a fixed order.
func Judge(f Facts) []Check {
	return []Check{
		judgeKernel(f.Release),
		judgeMachine(f.Machine),
		judgePtrace(f),
		judgeUserNS(f),
		judgeCall("seccomp", f.Seccomp, "filters can stop programs at system calls", "use a kernel with CONFIG_SECCOMP_FILTER; inside a container, allow seccomp(2)"),
		judgeTSC(f.TSC, f.TrapsTSC),
		judgeCPUID(f.CPUID, f.Models),
		judgeCall("pidfd_getfd", f.PidfdGetfd, "available", "inside a container, allow pidfd_getfd(2)"),
		judgeCall("mount_setattr", f.MountSetattr, "available", "inside a container, allow mount_setattr(2)"),
		judgePages(f.Pages),
		judgeTmpfs(f.Filesystems),
		judgeCall("/proc", f.ProcStatus, "mounted", "mount -t proc proc /proc"),
		judgeBPF(f.BPF, f.Sockets),
		judgeCores(f.Cores),
		judgeMemory(f.MemoryMB),
		judgeCall("a program", f.Program, "runs under Ariadne", "fix the problems above first; if there are none, report this with the output of uname -a"),
	}
}

// judgeTSC finds nothing wrong where the processor does not trap: few programs make code that reads
// the counter.
func judgeTSC(asked error, trapped bool) Check {
	const name = "time stamp counter"
	if asked == nil && !trapped {
		return good(name, "its reads cannot be trapped on this machine, so breakpoints stand in their place: code that programs make at run time reads real time")
	}
	return judgeCall(name, asked, "its reads can be trapped", "inside a container, allow prctl(2) with PR_SET_TSC")
}

// judgeCPUID finds nothing wrong: most programs do not depend on it.
func judgeCPUID(trapped bool, models string) Check {
	if !trapped {
		return good("cpuid", "cannot be trapped: specs cannot choose a processor, and a trace of a program that uses its extensions may not replay on another one")
	}
	return good("cpuid", "can be trapped: programs see no rdrand; processors that a spec may choose: "+models)
}

// judgeBPF finds nothing wrong: a watch can do without it.
func judgeBPF(functions, sockets string) Check {
	switch {
	case functions != "":
		return good("watch", "lines, files and variables of programs, and positions of TCP streams at each heartbeat, but no functions: "+functions)
	case sockets != "":
		return good("watch", "lines, files, variables and functions of programs, and positions of TCP streams at each heartbeat: "+sockets)
	}
	return good("watch", "lines, files, variables and functions of programs, and positions of TCP streams by BPF")
}

// judgePages finds nothing wrong: checks are slower without it, and find the same.
func judgePages(err error) Check {
	if err != nil {
		return good("checkpoints", "copies of processes, since Linux cannot tell which pages are written ("+err.Error()+"): new steps take two to three times as long as with Linux 6.7 or later")
	}
	return good("checkpoints", "pages that differ: Linux can tell which pages are written")
}

func good(name, detail string) Check { return Check{Name: name, OK: true, Detail: detail} }

func bad(name, detail, mend string) Check { return Check{Name: name, Detail: detail, Mend: mend} }

// The oldest kernel that has all that is used: mount_setattr came with 5.12.
const minMajor, minMinor = 5, 12

func judgeKernel(release string) Check {
	var major, minor int
	if _, err := fmt.Sscanf(release, "%d.%d", &major, &minor); err != nil {
		return bad("kernel", "unknown version "+release, "use Linux 5.12 or later")
	}
	if major < minMajor || major == minMajor && minor < minMinor {
		return bad("kernel", release+" is too old", "use Linux 5.12 or later")
	}
	return good("kernel", "Linux "+release)
}

func judgeMachine(machine string) Check {
	if machine != "x86_64" {
		return bad("processor", machine, "use an x86-64 machine: others are not supported")
	}
	return good("processor", "x86-64")
}

func judgePtrace(f Facts) Check {
	switch {
	case f.Ptrace == nil:
		return good("ptrace", "a child can be traced")
	case f.YamaScope == "3":
		return bad("ptrace", "Yama forbids it until the next boot", "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and boot again")
	case f.YamaScope == "2" && !f.Root:
		return bad("ptrace", "Yama allows it to root only", "sysctl -w kernel.yama.ptrace_scope=1, or run as root")
	}
	return bad("ptrace", f.Ptrace.Error(), "inside a container, add the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE)")
}

func judgeUserNS(f Facts) Check {
	const name = "namespaces"
	switch {
	case f.UserNS == nil && f.Root:
		return good(name, "usable, as root")
	case f.UserNS == nil:
		return good(name, "usable, as an ordinary user")
	case f.MaxUserNS == "0":
		return bad(name, "user namespaces are switched off", "sysctl -w user.max_user_namespaces=10000")
	case f.CloneUserNS == "0" && !f.Root:
		return bad(name, "ordinary users may not make user namespaces", "sysctl -w kernel.unprivileged_userns_clone=1, or run as root")
	case f.AppArmorNS == "1" && !f.Root:
		return bad(name, "AppArmor keeps ordinary users from user namespaces", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run as root")
	}
	return bad(name, f.UserNS.Error(), "use a kernel with CONFIG_USER_NS; inside a container, allow unshare and mount (docker run --privileged)")
}

func judgeCall(name string, err error, found, mend string) Check {
	if err != nil {
		return bad(name, err.Error(), mend)
	}
	return good(name, found)
}

func judgeTmpfs(filesystems string) Check {
	for line := range strings.Lines(filesystems) {
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == "tmpfs" {
			return good("tmpfs", "available")
		}
	}
	return bad("tmpfs", "the kernel has no tmpfs", "use a kernel with CONFIG_TMPFS")
}

func judgeCores(n int) Check {
	if n == 1 {
		return good("cores", "1: a check runs one execution at a time")
	}
	return good("cores", fmt.Sprintf("%d: a check runs %d executions at a time", n, n))
}

// minMemoryMB is what Ariadne itself and a few small programs take.
const minMemoryMB = 256

func judgeMemory(mb uint64) Check {
	detail := fmt.Sprintf("%d MB free", mb)
	if mb < minMemoryMB {
		return bad("memory", detail, fmt.Sprintf("free at least %d MB, besides what the programs need", minMemoryMB))
	}
	return good("memory", detail)
}

// present tells a call that is there, and says that its arguments are bad, from one
// that is not there or forbidden.
func present(err error) error {
	if err == unix.ENOSYS || err == unix.EPERM {
		return err
	}
	return nil
}
