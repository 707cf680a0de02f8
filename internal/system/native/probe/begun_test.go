//go:build linux && amd64

package probe

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system/native"

	"github.com/cilium/ebpf"
)

// TestBegun: each program that a process of a node begins is told of, with its file, also one that
// has ended and whose file is gone; one for which there is no room is counted.
func TestBegun(t *testing.T) {
	k := open(t)
	was := ringSize
	ringSize = 1 << 12
	defer func() { ringSize = was }()
	var all []Begun
	if err := k.FollowPrograms(func(b Begun) { all = append(all, b) }); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own")
	content, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, content, 0o700); err != nil {
		t.Fatal(err)
	}
	id, err := native.IdentifyPath(own)
	if err != nil {
		t.Fatal(err)
	}
	shell, err := native.IdentifyPath("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	shellOf := func(script, arg string) (*exec.Cmd, io.Writer) {
		t.Helper()
		c := exec.Command("/bin/sh", "-c", "echo; read x; "+script, arg)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			c.Process.Kill() // it may have ended
			c.Wait()
		})
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := k.Follow(7, c.Process.Pid); err != nil {
			t.Fatal(err)
		}
		return c, in
	}
	command, in := shellOf(`"$0"; rm "$0"; read x; /bin/sh -c ':'; exec sleep 9`, own)
	await := func(n int) {
		t.Helper()
		for began := native.Now(); len(all) < n; {
			if _, err := k.Calls(func(Call) {}); err != nil {
				t.Fatal(err)
			}
			if native.Since(began) > 20e9 {
				t.Fatalf("%d of %d programs: %+v", len(all), n, all)
			}
		}
	}
	began := native.Now()
	in.Write([]byte("\n"))
	await(2)
	if b := all[0]; b.Node != 7 || b.File != id || b.Path != own || b.PID == command.Process.Pid {
		t.Errorf("%+v, want %+v", b, id)
	}
	if b := all[1]; filepath.Base(b.Path) != "rm" || native.FromKernel(b.At) < began || b.At < all[0].At {
		t.Errorf("%+v", b)
	}
	in.Write([]byte("\n"))
	await(4)
	if b := all[2]; b.File != shell || b.Path != "/bin/sh" {
		t.Errorf("%+v, want %+v", b, shell)
	}
	if b := all[3]; b.PID != command.Process.Pid || filepath.Base(b.Path) != "sleep" {
		t.Errorf("%+v", b)
	}
	if dropped, err := k.Dropped(7); err != nil || dropped != (Dropped{}) {
		t.Error(dropped, err)
	}

	many, in := shellOf(`for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do "$0"; done`, "/bin/true")
	all = nil
	in.Write([]byte("\n"))
	if err := many.Wait(); err != nil {
		t.Fatal(err)
	}
	calls(t, k)
	is, err := k.Dropped(7)
	if err != nil || is.Calls != 0 || is.Programs == 0 || len(all)+int(is.Programs) != 20 {
		t.Errorf("%d told, %+v not: %v", len(all), is, err)
	}
}

// threads ends its first thread. Another one begins the program that is named.
const threads = `
package main

import ("os"; "runtime"; "syscall")

func begin() {
	runtime.LockOSThread()
	if syscall.Gettid() == syscall.Getpid() {
		go begin()
		select {}
	}
	syscall.Exec(os.Args[2], os.Args[2:], nil)
}

func init() { runtime.LockOSThread() } // main runs in the first thread

func main() {
	os.Stdout.Write([]byte("\n"))
	os.Stdin.Read(make([]byte, 1))
	go begin()
	if os.Args[1] == "end" {
		syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
	}
	select {}
}
`

// TestBegunByThread: a process is followed also when its first thread has ended, or another one
// begins a program.
func TestBegunByThread(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(threads), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "threads")
	build := exec.Command("go", "build", "-o", path, filepath.Join(dir, "main.go"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	k := open(t)
	var all []Begun
	if err := k.FollowPrograms(func(b Begun) { all = append(all, b) }); err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"stay", "end"} {
		c := exec.Command(path, how, "/bin/sh", "-c", "/bin/true; exec /bin/true")
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := k.Follow(5, c.Process.Pid); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		all = nil
		calls(t, k)
		var is []string
		for _, b := range all {
			is = append(is, filepath.Base(b.Path))
		}
		if !slices.Equal(is, []string{"sh", "true", "true"}) {
			t.Errorf("%s: %q have begun", how, is)
		}
		var node uint32
		if err := k.nodes.Lookup(uint32(c.Process.Pid), &node); !errors.Is(err, ebpf.ErrKeyNotExist) {
			t.Errorf("%s: the process is not forgotten: %v", how, err)
		}
	}
}
