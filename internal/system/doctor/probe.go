package doctor

import (
	"cmp"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/ariadne-mc/ariadne/internal/machine/processor"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"

	"golang.org/x/sys/unix"
)

// Look finds out about this machine.
func Look() Facts {
	var name unix.Utsname
	unix.Uname(&name)
	_, statusErr := os.ReadFile("/proc/self/status")
	functions, sockets := probe.Check()
	return Facts{
		Release:      unix.ByteSliceToString(name.Release[:]),
		Machine:      unix.ByteSliceToString(name.Machine[:]),
		Root:         os.Geteuid() == 0,
		Ptrace:       try(&syscall.SysProcAttr{Ptrace: true}),
		YamaScope:    sysctl("kernel/yama/ptrace_scope"),
		UserNS:       try(namespaces()),
		MaxUserNS:    sysctl("user/max_user_namespaces"),
		CloneUserNS:  sysctl("kernel/unprivileged_userns_clone"),
		AppArmorNS:   sysctl("kernel/apparmor_restrict_unprivileged_userns"),
		Seccomp:      seccompTrace(),
		TSC:          getTSC(),
		TrapsTSC:     trapsTSC(),
		CPUID:        tracee.CanTrapCPUID(),
		Models:       models(),
		PidfdGetfd:   tryCall(unix.SYS_PIDFD_GETFD, ^uintptr(0), ^uintptr(0), 0),
		MountSetattr: tryCall(unix.SYS_MOUNT_SETATTR, ^uintptr(0), 0, 0),
		Pages:        tracee.CanFollowPages(),
		BPF:          functions,
		Sockets:      sockets,
		Filesystems:  read("/proc/filesystems"),
		ProcStatus:   statusErr,
		Cores:        runtime.NumCPU(),
		MemoryMB:     availableMB(read("/proc/meminfo")),
	}
}

func read(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// models are the fixed processors whose features this machine has.
func models() string {
	var names []string
	for _, name := range processor.Names() {
		if m := processor.Named(name); m != nil && len(m.Missing(tracee.Processor())) == 0 {
			names = append(names, name)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

func sysctl(name string) string { return read("/proc/sys/" + name) }

func namespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// try starts a child as attr says and kills it before it has done anything.
func try(attr *syscall.SysProcAttr) error {
	runtime.LockOSThread() // which is the child's tracer, or its parent for Pdeathsig
	defer runtime.UnlockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	c := exec.Command("/bin/sh", "-c", ":")
	c.SysProcAttr = attr
	if err := c.Start(); err != nil {
		return err
	}
	c.Process.Kill()
	c.Wait() // tells of the kill, which is no news
	return nil
}

// seccompTrace asks whether filters may answer SECCOMP_RET_TRACE.
func seccompTrace() error {
	const getActionAvail = 2
	action := uint32(unix.SECCOMP_RET_TRACE)
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, getActionAvail, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}

// trapsTSC tries it; what hinders it is found by the other checks.
func trapsTSC() bool {
	can, err := tracee.CanTrapTSC()
	return can || err != nil
}

func getTSC() error {
	var mode int32
	return unix.Prctl(unix.PR_GET_TSC, uintptr(unsafe.Pointer(&mode)), 0, 0, 0)
}

// tryCall makes a system call whose arguments make it fail, to see whether it is there.
func tryCall(nr, a, b, c uintptr) error {
	_, _, errno := unix.Syscall6(nr, a, b, c, 0, 0, 0)
	return present(errno)
}

// availableMB is MemAvailable of /proc/meminfo.
func availableMB(meminfo string) uint64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			kb, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return kb / 1024
		}
	}
	return 0
}
