package native

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTempDir: the directory goes when it is no longer needed, and when who has made it is killed.
func TestTempDir(t *testing.T) {
	dir, remove, err := TempDir()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("MAKE_TEMP_DIR") != "" {
		fmt.Println("\n" + dir)
		time.Sleep(time.Minute)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", dir, err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestTempDir$")
	cmd.Env = append(os.Environ(), "MAKE_TEMP_DIR=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for dir = ""; !strings.HasPrefix(dir, "/") && lines.Scan(); {
		dir = lines.Text()
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, dir, unix.IN_DELETE_SELF); err != nil {
		t.Fatalf("%q: %v", dir, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	const patience = 30 * time.Second
	fds := []unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}
	for err = unix.EINTR; err == unix.EINTR; {
		_, err = unix.Poll(fds, int(patience.Milliseconds()))
	}
	if _, stat := os.Stat(dir); err != nil || !errors.Is(stat, fs.ErrNotExist) {
		t.Errorf("%q is still there: %v, %v", dir, err, stat)
	}
}
