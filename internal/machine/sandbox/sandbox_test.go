package sandbox

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/testing/ended"

	"golang.org/x/sys/unix"
)

const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACECLONE |
	unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_EXITKILL

// run lets a started process and its children go on natively until it ends, and
// returns its exit status.
func run(t *testing.T, pid int) int {
	t.Helper()
	must(t, unix.PtraceSetOptions(pid, options))
	must(t, unix.PtraceCont(pid, 0))
	for {
		var ws unix.WaitStatus
		who, err := unix.Wait4(-1, &ws, unix.WALL, nil)
		must(t, err)
		switch {
		case ws.Stopped():
			unix.PtraceCont(who, passOn(who, ws.StopSignal()))
		case who == pid && ws.Signaled():
			t.Fatalf("killed by %v", ws.Signal())
		case who == pid:
			return ws.ExitStatus()
		}
	}
}

// passOn returns the signal to deliver at a stop. It emulates RDTSC.
func passOn(pid int, sig unix.Signal) int {
	switch sig {
	case unix.SIGTRAP, unix.SIGSTOP:
		return 0
	case unix.SIGSEGV:
		var r unix.PtraceRegs
		var code [2]byte
		unix.PtraceGetRegs(pid, &r)
		unix.PtracePeekText(pid, uintptr(r.Rip), code[:])
		if code == [2]byte{0x0f, 0x31} {
			r.Rip, r.Rax, r.Rdx = r.Rip+2, 1, 0
			unix.PtraceSetRegs(pid, &r)
			return 0
		}
	}
	return int(sig)
}

// inTree returns the host's path of a member's file.
func inTree(pid int, name string) string { return fmt.Sprintf("/proc/%d/root%s", pid, name) }

func start(t *testing.T, cfg Config) int {
	t.Helper()
	pid, err := Start(cfg)
	if err != nil {
		skipWithoutNamespaces(t, err)
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Kill(pid, unix.SIGKILL); unix.Wait4(pid, nil, unix.WALL, nil) })
	return pid
}

func skipWithoutNamespaces(t *testing.T, err error) {
	if os.Getuid() != 0 && strings.Contains(err.Error(), "user namespace") {
		t.Skip("ordinary users may not make user namespaces here: ", err)
	}
}

// sh runs a shell script in a node and returns what it wrote to /node/out.
func sh(t *testing.T, cfg Config, script string) string {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cfg.Args = []string{"/bin/sh", "-c", "exec >/node/out 2>&1\n" + script}
	pid := start(t, cfg)
	root, err := os.Open(inTree(pid, "/node"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	status := run(t, pid)
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d/out", root.Fd()))
	if err != nil {
		t.Fatalf("status %d: %v", status, err)
	}
	return string(b) + fmt.Sprintf("status %d\n", status)
}

func TestTree(t *testing.T) {
	work := t.TempDir()
	must(t, os.WriteFile(filepath.Join(work, "conf"), []byte("port 1\n"), 0o640))
	must(t, os.Mkdir(filepath.Join(work, "sub"), 0o750))
	must(t, os.Symlink("../conf", filepath.Join(work, "sub", "link")))
	cfg := Config{Name: "n1", WorkDir: work, SpecDir: work, CPUs: 2,
		Writable: []string{"/var/lib/not-there", "/etc/alternatives", "/srv"},
		Hosts:    []kernel.Host{{Name: "n2", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}}
	got := sh(t, cfg, `
umask; pwd; cat sub/link; stat -c '%a %F' conf sub sub/link
cat /spec/conf
touch /usr/x /etc/x /x /proc/x 2>&1 | sed 's/.*: //'
for d in /node /tmp /run /dev/shm /var/tmp /var/lib/not-there /etc/alternatives /srv; do touch $d/x || echo no $d; done
ls /etc/alternatives | wc -l | sed 's/^[1-9].*/some/'
cat /etc/hosts
hostname
cat /proc/sys/net/core/somaxconn /sys/devices/system/cpu/online /proc/mounts | head -3
echo x > /dev/null; head -c 3 /dev/zero | od -c
ls /proc/self/net/dev /dev/pts
ls -d /.old /proc/1 2>/dev/null | wc -l
ls -A /.ariadne | wc -l; mkdir /.ariadne/x 2>&1 | sed 's/.*: //'
`)
	want := `0022
/node
port 1
640 regular file
750 directory
777 symbolic link
port 1
Read-only file system
Read-only file system
Read-only file system
Read-only file system
some
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
10.0.0.2	n2
n1
4096
0-1
/dev/sda / ext4 ro,relatime 0 0
0000000  \0  \0  \0
0000003
/proc/self/net/dev

/dev/pts:
0
0
Read-only file system
status 0
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(work, "out")); err == nil {
		t.Error("the node wrote into the template")
	}
}

// TestDevices: the devices in a node's tree are the host's, which are not to be changed.
func TestDevices(t *testing.T) {
	for _, d := range devices {
		var before, after unix.Stat_t
		must(t, unix.Stat(d, &before))
		got := sh(t, Config{Name: "n1"}, fmt.Sprintf("for c in 'chmod 606 %[1]s' 'chown 1:1 %[1]s'; do $c 2>&1 | sed 's/.*: //'; done; exec 3<>%[1]s", d))
		if want := strings.Repeat("Read-only file system\n", 2) + "status 0\n"; got != want {
			t.Errorf("%s: got:\n%s\nwant:\n%s", d, got, want)
		}
		must(t, unix.Stat(d, &after))
		if before.Mode != after.Mode || before.Uid != after.Uid || before.Gid != after.Gid ||
			before.Mtim != after.Mtim {
			t.Errorf("%s was %+v and is %+v", d, before, after)
			unix.Chmod(d, before.Mode&0o7777)
			unix.Chown(d, int(before.Uid), int(before.Gid))
		}
	}
}

func TestUser(t *testing.T) {
	work := t.TempDir()
	must(t, os.WriteFile(filepath.Join(work, "conf"), nil, 0o600))
	got := sh(t, Config{Name: "n1", WorkDir: work, User: 33}, `id -u; stat -c %u /node /node/conf; touch /node/conf; cat /etc/shadow 2>&1 | sed 's/.*: //'`)
	if want := "33\n33\n33\nPermission denied\nstatus 0\n"; got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// TestManyOpen: the files that Ariadne has open do not count among those of a node.
func TestManyOpen(t *testing.T) {
	for range kernel.SoftFiles {
		f, err := os.Open(os.DevNull)
		must(t, err)
		defer f.Close()
	}
	if got := sh(t, Config{Name: "n1", WorkDir: t.TempDir()},
		"cat /etc/hostname >/dev/null && echo good"); got != "good\nstatus 0\n" {
		t.Error(got)
	}
}

func TestJoin(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := start(t, Config{Name: "n1", Args: []string{"true"}})
	must(t, os.WriteFile(inTree(first, "/node/from-outside"), []byte("hello\n"), 0o644))
	spaces, err := SpacesOf(first)
	must(t, err)
	defer spaces.Close()
	for range 3 {
		pid, err := Join(spaces,
			Config{Name: "n1", Args: []string{"sh", "-c", "cat from-outside >> joined"},
				Env: []string{"PATH=/nowhere:/bin"}})
		must(t, err)
		if status := run(t, pid); status != 0 {
			t.Errorf("status %d", status)
		}
	}
	b, err := os.ReadFile(inTree(first, "/node/joined"))
	must(t, err)
	if string(b) != "hello\nhello\nhello\n" {
		t.Errorf("joined: %q", b)
	}
}

func TestErrors(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Name: "n1", Args: []string{"no-such-program", "x"}, Env: []string{"PATH=/bin"}},
			"node n1: no-such-program x: exec /bin/no-such-program: no such file or directory"},
		{Config{Name: "n1", Args: []string{"./x"}}, "node n1: ./x: exec /node/x: no such file or directory"},
		{Config{Name: "n1", Args: []string{"/bin/true"}, Dir: "/node/absent"},
			"node n1: /bin/true: directory /node/absent: no such file or directory"},
		{Config{Name: "n1", Args: []string{"/bin/true"}, WorkDir: "/absent"},
			"node n1: lstat /absent: no such file or directory"},
		{Config{Name: "n1"}, "node n1: a command without a program"},
	} {
		pid, err := Start(c.cfg)
		if err == nil {
			unix.Kill(pid, unix.SIGKILL)
			t.Errorf("%v started", c.cfg)
			continue
		}
		skipWithoutNamespaces(t, err)
		if err.Error() != c.want {
			t.Errorf("got %q, want %q", err, c.want)
		}
	}
}

// TestAttributes looks at a process at its exec stop.
func TestAttributes(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pid := start(t, Config{Name: "n1", Args: []string{"/bin/true"}})
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	for _, want := range []string{"Umask:\t0022", "NoNewPrivs:\t1", "SigIgn:\t0000000000000000",
		"SigBlk:\t0000000000000000", fmt.Sprintf("TracerPid:\t%d", unix.Gettid())} {
		if !bytes.Contains(status, []byte(want+"\n")) {
			t.Errorf("no %q in\n%s", want, status)
		}
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	must(t, err)
	if len(fds) != TreeFD+1 {
		t.Errorf("descriptors: %v", fds)
	}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mounts", pid))
	must(t, err)
	if bytes.Contains(mounts, []byte(" /proc ")) {
		t.Errorf("the host's /proc is left:\n%s", mounts)
	}
	if own, err := os.ReadDir(inTree(pid, ownDir)); err != nil || len(own) != 0 {
		t.Errorf("%s: %v %v", ownDir, own, err)
	}
}

// TestMain: with ARIADNE_TEST_START the test binary starts a program, says its pid
// and waits to be killed.
func TestMain(m *testing.M) {
	if os.Getenv("ARIADNE_TEST_START") == "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread()
	pid, err := Start(Config{Name: "n1", Args: []string{"/bin/sleep", "1000"}})
	fmt.Println(pid, err)
	if err == nil {
		unix.PtraceSetOptions(pid, options)
		unix.PtraceCont(pid, 0)
	}
	unix.Pause() // until it is killed
}

// TestNothingLeft: when Ariadne is killed, its processes and mounts are gone.
func TestNothingLeft(t *testing.T) {
	before, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	ariadne := exec.Command("/proc/self/exe")
	ariadne.Env = append(os.Environ(), "ARIADNE_TEST_START=1")
	out, err := ariadne.StdoutPipe()
	must(t, err)
	must(t, ariadne.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	ariadne.Process.Kill()
	ariadne.Wait()
	var pid int
	if n, _ := fmt.Sscan(line, &pid); n != 1 || pid == 0 {
		skipWithoutNamespaces(t, errors.New(line))
		t.Fatal(line)
	}
	if !ended.Within(pid, 10*time.Second) {
		t.Errorf("process %d is still there", pid)
	}
	after, err := os.ReadFile("/proc/self/mounts")
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Errorf("mounts before:\n%s\nafter:\n%s", before, after)
	}
}

// TestOrdinaryUser runs the other tests as nobody.
func TestOrdinaryUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("is one already")
	}
	dir, err := os.MkdirTemp("", "ariadne-sandbox-test-")
	must(t, err)
	defer os.RemoveAll(dir)
	must(t, os.Chmod(dir, 0o777))
	self, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	binary := filepath.Join(dir, "test")
	must(t, os.WriteFile(binary, self, 0o755))
	cmd := exec.Command(binary, "-test.run=Test(Tree|User|Join|Errors|Attributes|NothingLeft)$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if bytes.Contains(out, []byte("SKIP")) {
		t.Skipf("some skip as an ordinary user:\n%s", out)
	}
}

func BenchmarkStart(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		pid, err := Start(Config{Name: "n1", Args: []string{"/bin/true"}})
		if err != nil {
			b.Fatal(err)
		}
		unix.Kill(pid, unix.SIGKILL)
		unix.Wait4(pid, nil, unix.WALL, nil)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
