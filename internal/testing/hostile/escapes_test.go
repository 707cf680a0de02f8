package hostile

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// TestWaysOut tries what has led out of some sandbox, with something of the host's to find
// at its end: processes, sockets, a named pipe, devices, file systems of the kernel.
func TestWaysOut(t *testing.T) {
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range users() {
		t.Run(fmt.Sprint(user), func(t *testing.T) {
			// It is in the range of process ids that the program tries.
			victim := exec.Command("sleep", "300")
			if err := victim.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { victim.Process.Kill(); victim.Wait() }()
			abstract, err := net.Listen("unix", fmt.Sprintf("@ariadne-%d", victim.Process.Pid))
			if err != nil {
				t.Fatal(err)
			}
			defer abstract.Close()
			fifo := -1
			files := func(t *testing.T, dir string) {
				must := func(err error) {
					if err != nil {
						t.Fatal(err)
					}
				}
				must(os.WriteFile(filepath.Join(dir, "canary"), []byte("canary\n"), 0o666))
				must(os.Chmod(filepath.Join(dir, "canary"), 0o666))
				must(os.WriteFile(filepath.Join(dir, "uptime"), uptime, 0o644))
				for _, d := range []string{"proc", "sysfs"} {
					must(os.Mkdir(filepath.Join(dir, d), 0o755))
				}
				l, err := net.Listen("unix", filepath.Join(dir, "socket"))
				must(err)
				t.Cleanup(func() { l.Close() })
				must(os.Chmod(filepath.Join(dir, "socket"), 0o777))
				must(unix.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
				must(os.Chmod(filepath.Join(dir, "fifo"), 0o666))
				fifo, err = unix.Open(filepath.Join(dir, "fifo"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
				must(err)
				if os.Getuid() != 0 {
					return
				}
				for name, d := range map[string][3]uint32{"kmsg": {unix.S_IFCHR, 1, 11}, "null": {unix.S_IFCHR, 1, 3},
					"loop": {unix.S_IFBLK, 7, 0}} {
					if err := unix.Mknod(filepath.Join(dir, name), d[0]|0o666,
						int(unix.Mkdev(d[1], d[2]))); err != nil {
						t.Log("no devices here: ", err)
					}
				}
			}
			n := node{source: "escapes", args: []string{fmt.Sprint(victim.Process.Pid)}, user: user, files: files}
			if user == 0 {
				n.limits = `dir=$(dirname "$(eval echo \${$#})"); set -- unshare -m sh -c 'mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sysfs"; exec "$@"' "$dir" "$@"`
			}
			o := n.run(t)
			// Without a trap, breakpoints stand where all around is code, and not beside
			// instructions that programs may not execute, as there.
			if can, err := tracee.CanTrapTSC(); err == nil && !can {
				o.out = strings.ReplaceAll(o.out, "escaped: rdtscp", "")
			}
			if strings.Contains(o.out, "escaped") || !strings.Contains(o.out, "| done\n") {
				t.Error(last(o.out))
			}
			if o.status != 3 || executes32(t) && !strings.Contains(o.out, "calls of 32-bit programs") ||
				!strings.Contains(o.out, "calls of x32 programs") {
				t.Errorf("status %d:\n%s", o.status, last(o.out))
			}
			if err := victim.Process.Signal(unix.Signal(0)); err != nil {
				t.Errorf("the victim: %v", err)
			}
			// A writer that came and went leaves POLLHUP.
			fds := []unix.PollFd{{Fd: int32(fifo), Events: unix.POLLIN}}
			if k, err := unix.Poll(fds, 0); k != 0 || err != nil {
				t.Errorf("somebody was at the named pipe: %#x %v", fds[0].Revents, err)
			}
			unix.Close(fifo)
		})
	}
}

// executes32 reports whether Linux executes 32-bit programs here. It may be booted without.
func executes32(t *testing.T) bool {
	program := filepath.Join(t.TempDir(), "p")
	gcc := exec.Command("gcc", "-m32", "-nostdlib", "-static", "-x", "assembler", "-o", program, "-")
	gcc.Stdin = strings.NewReader(".globl _start\n_start: mov $1, %eax\n int $0x80\n")
	return gcc.Run() != nil || !errors.Is(exec.Command(program).Run(), unix.ENOEXEC)
}
