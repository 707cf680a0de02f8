package native

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// waiting starts a program that waits for input, in a directory.
func waiting(t testing.TB, dir string) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// firstOf returns where a program begins, and where the begin of its file is in memory, by the
// file.
func firstOf(t testing.TB, pid int) (entry, addr uint64) {
	t.Helper()
	f, err := elf.Open(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Off == 0 {
			return f.Entry, p.Vaddr
		}
	}
	t.Skip("the begin of the program's file is not in its memory")
	return 0, 0
}

// TestMemory: the memory of another process is read at addresses of its program's file, wherever
// Linux has put the program.
func TestMemory(t *testing.T) {
	pid := waiting(t, t.TempDir())
	entry, addr := firstOf(t, pid)
	bias, ok, err := Bias(pid, entry)
	if err != nil || !ok {
		t.Fatalf("%v %v", ok, err)
	}
	b := make([]byte, len(elf.ELFMAG))
	if err := (&Memory{PID: pid}).Read(b, addr+bias); err != nil || string(b) != elf.ELFMAG {
		t.Errorf("%q %v, want %q", b, err, elf.ELFMAG)
	}
	if err := (&Memory{PID: pid}).Read(b, 8); err == nil {
		t.Error("memory was read where there is none")
	}
	if _, ok, err := Bias(1<<22, entry); ok || err != nil {
		t.Errorf("a process that is not there: %v %v", ok, err)
	}
}

// TestReadFile: a file is read as a process sees it, and anything but a regular file is an error.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"own": "mine", "long": strings.Repeat("x", 100)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("far"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "own", "far": outside, "maps": "/proc/self/fd/1"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	pid := waiting(t, dir)
	for _, c := range []struct {
		name, want string
		ok, fails  bool
	}{
		{"own", "mine", true, false},
		{"link", "mine", true, false},
		{filepath.Join(dir, "own"), "mine", true, false},
		{filepath.Join(dir, "far"), "far", true, false},
		{"long", strings.Repeat("x", 10), true, false},
		{"missing", "", false, false},
		{"own/missing", "", false, false},
		{"/", "", false, true},
		{"/dev/zero", "", false, true},
		{"pipe", "", false, true},
		{"/proc/self/status", "", false, true},
		{"far", "", false, true}, // which directory tree an absolute link is of is not known
	} {
		text, ok, err := ReadFile(pid, c.name, 10)
		if string(text) != c.want || ok != c.ok || (err != nil) != c.fails {
			t.Errorf("%s: %q %v %v, want %q %v", c.name, text, ok, err, c.want, c.ok)
		}
	}
	if _, ok, err := ReadFile(1<<22, "own", 10); ok || !errors.Is(err, ErrEnded) {
		t.Errorf("a process that is not there: %v %v", ok, err)
	}
	if text, ok, err := ReadFileIn(dir, "far", 10); string(text) != "far" || !ok || err != nil {
		t.Errorf("%q %v %v", text, ok, err)
	}
}

// BenchmarkRead is what it costs to read one variable of another process, one file, and which
// processes it has started.
func BenchmarkRead(b *testing.B) {
	pid := waiting(b, b.TempDir())
	entry, addr := firstOf(b, pid)
	b.Run("variable", func(b *testing.B) {
		for b.Loop() {
			bias, ok, err := Bias(pid, entry)
			if err != nil || !ok {
				b.Fatal(ok, err)
			}
			var word [8]byte
			if err := (&Memory{PID: pid}).Read(word[:], addr+bias); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("file", func(b *testing.B) {
		for b.Loop() {
			if _, ok, err := ReadFile(pid, "/etc/passwd", 1<<16); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("descendants", func(b *testing.B) {
		for b.Loop() {
			if len(Descendants(pid)) != 1 {
				b.Fatal("there are several")
			}
		}
	})
}
