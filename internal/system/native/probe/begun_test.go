//go:build linux && amd64

package probe

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system/native"
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
