package sandbox

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestView: a command in a view finds all as it does without, and the directories that are shown
// besides. Nothing of it is left.
func TestView(t *testing.T) {
	dir, stage := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGUSR1)
	defer signal.Reset(unix.SIGUSR1)
	v, err := NewView(stage, []Shown{{"/shown", dir}, {"/srv", dir}})
	if err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "later"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const script = `id -u; id -g; ulimit -n; ulimit -s; umask; ls -d /etc /dev/null /proc/self /usr/bin/env; ls -l / | grep -c -- '->'; grep -E '^(Sig[BIC]|Cap|NoNew)' /proc/self/status; echo $0 $1 $X; `
	args := []string{"/bin/sh", "-c", script + "exit 7", "name", "one"}
	natural := &exec.Cmd{Path: args[0], Args: args, Dir: "/etc", Env: []string{"X=3"}}
	want, err := natural.Output()
	if natural.ProcessState.ExitCode() != 7 {
		t.Fatal(err)
	}
	run := func(c Command) (string, unix.WaitStatus) {
		t.Helper()
		out, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		defer out.Close()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		c.In, c.Out = null, out
		pid, err := v.Start(c)
		if err != nil {
			return err.Error(), 0
		}
		ws, err := wait(pid)
		if err == nil && ws.Stopped() { // behind its exec
			err = unix.PtraceDetach(pid)
			ws, _ = wait(pid)
		}
		text, err2 := os.ReadFile(out.Name())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		return string(text), ws
	}
	for _, traced := range []bool{false, true} {
		got, ws := run(Command{Program: args[0], Args: args, Env: []string{"X=3"}, Dir: "/etc", Traced: traced})
		if got != string(want) || ws.ExitStatus() != 7 {
			t.Errorf("%q, status %#x, want %q", got, int(ws), want)
		}
	}
	if got, _ := run(Command{Program: "/bin/sh", Args: []string{"sh", "-c", "pwd; cat x /srv/x; ls; ! mkdir /more 2>&1"}, Dir: "/shown"}); got != "/shown\nx\nx\nlater\nx\nmkdir: cannot create directory ‘/more’: Read-only file system\n" && got != "/shown\nx\nx\nlater\nx\nmkdir: cannot create directory '/more': Read-only file system\n" {
		t.Errorf("%q", got)
	}
	for _, c := range []Command{{Program: "/no/such", Args: []string{"x"}, Dir: "/"},
		{Program: "/bin/sh", Args: []string{"x"}, Dir: "/no/such"}} {
		if got, _ := run(c); got != "exec /no/such: no such file or directory" &&
			got != "directory /no/such: no such file or directory" {
			t.Errorf("%q", got)
		}
	}
	v.Close()
	if err := unix.Rmdir(stage); err != nil {
		t.Error(err)
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != syscall.ECHILD {
		t.Error(pid, err)
	}
}
