package doctor

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// wellFacts are those of a machine without a problem.
func wellFacts() Facts {
	return Facts{Release: "6.1.0-18-amd64", Machine: "x86_64", MaxUserNS: "1000",
		Filesystems: "nodev\tproc\nnodev\ttmpfs\n\text4\n", Cores: 2, MemoryMB: 4000}
}

func TestJudge(t *testing.T) {
	tests := []struct {
		ill  func(*Facts)
		name string // of the check that fails, or ""
		mend string
	}{
		{func(f *Facts) {}, "", ""},
		{func(f *Facts) { f.Root, f.AppArmorNS, f.YamaScope = true, "1", "1" }, "", ""},
		{func(f *Facts) { f.Pages = unix.EPERM }, "", ""},
		{func(f *Facts) { f.BPF = "not permitted" }, "", ""},
		{func(f *Facts) { f.Sockets = "no list" }, "", ""},
		{func(f *Facts) { f.Release = "5.11.22" }, "kernel", "use Linux 5.12 or later"},
		{func(f *Facts) { f.Release = "4.19" }, "kernel", "use Linux 5.12 or later"},
		{func(f *Facts) { f.Release = "strange" }, "kernel", "use Linux 5.12 or later"},
		{func(f *Facts) { f.Machine = "aarch64" }, "processor", "use an x86-64 machine: others are not supported"},
		{func(f *Facts) { f.Ptrace, f.YamaScope = unix.EPERM, "3" }, "ptrace", "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and boot again"},
		{func(f *Facts) { f.Ptrace, f.YamaScope = unix.EPERM, "2" }, "ptrace",
			"sysctl -w kernel.yama.ptrace_scope=1, or run as root"},
		{func(f *Facts) { f.Ptrace = unix.EPERM }, "ptrace", "inside a container, add the capability SYS_PTRACE (docker run --cap-add SYS_PTRACE)"},
		{func(f *Facts) { f.UserNS, f.MaxUserNS = unix.ENOSPC, "0" }, "namespaces",
			"sysctl -w user.max_user_namespaces=10000"},
		{func(f *Facts) { f.UserNS, f.CloneUserNS = unix.EPERM, "0" }, "namespaces", "sysctl -w kernel.unprivileged_userns_clone=1, or run as root"},
		{func(f *Facts) { f.UserNS, f.AppArmorNS = unix.EACCES, "1" }, "namespaces", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or run as root"},
		{func(f *Facts) { f.UserNS = unix.EINVAL }, "namespaces", "use a kernel with CONFIG_USER_NS; inside a container, allow unshare and mount (docker run --privileged)"},
		{func(f *Facts) { f.Seccomp = unix.ENOSYS }, "seccomp", "use a kernel with CONFIG_SECCOMP_FILTER; inside a container, allow seccomp(2)"},
		{func(f *Facts) { f.TSC = unix.EPERM }, "time stamp counter",
			"inside a container, allow prctl(2) with PR_SET_TSC"},
		{func(f *Facts) { f.PidfdGetfd = unix.EPERM }, "pidfd_getfd", "inside a container, allow pidfd_getfd(2)"},
		{func(f *Facts) { f.MountSetattr = unix.ENOSYS }, "mount_setattr",
			"inside a container, allow mount_setattr(2)"},
		{func(f *Facts) { f.Filesystems = "nodev\tdevtmpfs\n" }, "tmpfs", "use a kernel with CONFIG_TMPFS"},
		{func(f *Facts) { f.ProcStatus = os.ErrNotExist }, "/proc", "mount -t proc proc /proc"},
		{func(f *Facts) { f.Program = errors.New("it died") }, "a program", "fix the problems above first; if there are none, report this with the output of uname -a"},
		{func(f *Facts) { f.MemoryMB = 100 }, "memory", "free at least 256 MB, besides what the programs need"},
	}
	for _, tt := range tests {
		f := wellFacts()
		tt.ill(&f)
		for _, c := range Judge(f) {
			if wantOK := c.Name != tt.name; c.OK != wantOK {
				t.Errorf("want %q to fail: %+v", tt.name, c)
			} else if !c.OK && c.Mend != tt.mend {
				t.Errorf("%s: mend %q, want %q", c.Name, c.Mend, tt.mend)
			}
		}
	}
}

func TestPresent(t *testing.T) {
	for _, err := range []error{unix.ENOSYS, unix.EPERM} {
		if present(err) == nil {
			t.Errorf("%v: taken for present", err)
		}
	}
	for _, err := range []error{unix.EBADF, unix.EINVAL, unix.EFAULT} {
		if present(err) != nil {
			t.Errorf("%v: taken for absent", err)
		}
	}
}

func TestLook(t *testing.T) {
	f := Look()
	if f.Release == "" || f.Machine == "" || f.Cores < 1 || f.Filesystems == "" || f.MemoryMB == 0 {
		t.Errorf("facts are missing: %+v", f)
	}
	if err := errors.Join(f.Ptrace, f.UserNS); err != nil {
		t.Skipf("this machine does not allow it: %v", err)
	}
}

func TestAvailableMB(t *testing.T) {
	if got := availableMB("MemTotal: 9000 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n"); got != 2 {
		t.Errorf("got %d", got)
	}
	if got := availableMB("nothing"); got != 0 {
		t.Errorf("got %d", got)
	}
}
