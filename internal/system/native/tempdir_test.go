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
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if dir == "" || time.Now().After(deadline) {
			t.Fatalf("%q is still there: %v", dir, err)
		}
	}
}
