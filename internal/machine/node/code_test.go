//go:build linux

package node

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// TestOverwrittenCall: what stands at the place of a call that waits is never run again for
// Ariadne: whatever others write there, copies are made, and the call returns behind it.
func TestOverwrittenCall(t *testing.T) {
	for _, bytes := range []string{"\x0f\x0b", "\xcc\xcc", "\xeb\xfe", "\xf4\xf4", "\xcd\x80"} {
		n := started(t, "/usr/bin/python3", "-c", "import time\nfor i in range(3): time.sleep(1);print(i,flush=True)\n")
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		var lines []string
		for err == nil && !out.Done {
			var restore []func()
			for _, th := range n.threads {
				at, was := th.tr.IP()-2, make([]byte, 2)
				if e := th.tr.Peek(at, was) | th.tr.Poke(at, []byte(bytes)); e != 0 || string(was) != "\x0f\x05" {
					t.Fatalf("at the call: %x, %v", was, e)
				}
				for range 2 {
					n.inject(th, unix.SYS_MINCORE, area.Scratch, 4096, area.Scratch)
				}
				// the next call is made there
				restore = append(restore, func() { th.tr.Poke(at, was) })
			}
			var c *Checkpoint
			if c, err = n.Freeze(); err != nil {
				break
			}
			if err := c.Drop(); err != nil {
				t.Error(err)
			}
			for _, f := range restore {
				f()
			}
			out, err = n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			for _, l := range out.Logs {
				lines = append(lines, l.Text)
			}
		}
		if got := strings.Join(lines, " "); err != nil || got != "0 1 2" {
			t.Errorf("%x: %q, %v", bytes, got, err)
		}
	}
}

// TestSealedArea: Linux itself keeps Ariadne's pages where they are and as they are, where it can.
func TestSealedArea(t *testing.T) {
	if _, _, e := unix.Syscall(unix.SYS_MSEAL, 0, 0, 0); e != 0 {
		t.Skip("no mseal here: ", e)
	}
	n := started(t, "/bin/sleep", "5")
	if _, err := n.Apply(ariadne.Input{Kind: ariadne.Start}); err != nil {
		t.Fatal(err)
	}
	const read = unix.PROT_READ | unix.PROT_WRITE
	for _, th := range n.threads {
		for at := uint64(area.Base); at < area.Base+area.Size; at += pageSize {
			for _, c := range [][]uint64{
				{unix.SYS_MUNMAP, at, pageSize},
				{unix.SYS_MPROTECT, at, pageSize, unix.PROT_NONE},
				{unix.SYS_MPROTECT, at, pageSize, read},
				{unix.SYS_MREMAP, at, pageSize, pageSize, unix.MREMAP_MAYMOVE | unix.MREMAP_FIXED, 0x100000000},
				{unix.SYS_MMAP, at, pageSize, read, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED, ^uint64(0),
					0},
			} {
				if v := th.Syscall(int(c[0]), c[1:]...); v != -int64(unix.EPERM) {
					t.Errorf("%s(%#x): %d", callName(int(c[0])), at, v)
				}
			}
			if v := th.tr.Poke(at, []byte{0xcc}); (v == 0) != (at < area.VDSO || at >= area.Scratch) {
				t.Errorf("poke at %#x: %v", at, v)
			}
		}
	}
}

// TestProgramOf32Bits: a 32-bit program that another one executes is refused and ends; the other
// one goes on.
func TestProgramOf32Bits(t *testing.T) {
	const source = ".globl _start\n_start: mov $1, %eax\n mov $7, %ebx\n int $0x80\n"
	for _, kind := range []string{"-static", "-static-pie"} {
		n := started(t, "/bin/sh", "-c", "cp /spec/p .; ./p; echo $?")
		program := filepath.Join(t.TempDir(), "p")
		gcc := exec.Command("gcc", "-m32", "-nostdlib", kind, "-x", "assembler", "-o", program, "-")
		gcc.Stdin = strings.NewReader(source)
		if out, err := gcc.CombinedOutput(); err != nil {
			t.Skipf("gcc makes no 32-bit programs here: %v\n%s", err, out)
		}
		if err := exec.Command(program).Run(); errors.Is(err, unix.ENOEXEC) {
			t.Skip("Linux executes no 32-bit programs here")
		}
		n.cfg.SpecDir = filepath.Dir(program)
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		var lines []string
		for _, l := range out.Logs {
			lines = append(lines, l.Text)
		}
		if err != nil || fmt.Sprint(lines) != "[Killed 137]" || len(out.Refusals) != 1 ||
			out.Refusals[0].Name != "exec of a 32-bit program" {
			t.Errorf("%s: %q, %v, %+v", kind, lines, err, out.Refusals)
		}
	}
}

// TestVsyscall: a vsyscall is left before anything else is done in its place.
func TestVsyscall(t *testing.T) {
	const program = "import ctypes,threading,time\nT=ctypes.CFUNCTYPE(ctypes.c_long,ctypes.c_void_p)(0xffffffffff600400)\n" +
		"for i in range(3): print(T(None)==int(time.time()),flush=True);time.sleep(1)\n"
	n := started(t, "/usr/bin/python3", "-c", program)
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
	var lines []string
	for err == nil {
		for _, l := range out.Logs {
			lines = append(lines, l.Text)
		}
		if out.Done {
			break
		}
		out, err = n.Apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
	}
	if err != nil || fmt.Sprint(lines) != "[True True True]" {
		t.Errorf("%q, %v", lines, err)
	}
}
