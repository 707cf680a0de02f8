//go:build linux

package debug

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// waiting debugs a program of testdata/core behind its start, and returns where it lies.
func waiting(t *testing.T, build ...string) (d *Debugger, program string) {
	t.Helper()
	if _, err := exec.LookPath(build[0]); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "waits")
	for i := range build {
		build[i] = strings.ReplaceAll(build[i], "OUT", program)
	}
	cmd := exec.Command(build[0], build[1:]...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	path := filepath.Join(dir, "waits.yaml")
	if err := os.WriteFile(path, []byte("nodes: [{name: n, command: exec ./waits}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return openSpec(t, path), program
}

// told are the addresses of frames that a program printed, by the name of the thread, without the
// innermost: there it stands elsewhere by now.
func told(d *Debugger) map[string][]string {
	all := map[string][]string{}
	n := d.session.Now().Node(0)
	for i := range n.Logs {
		if name, at, ok := strings.Cut(n.Logs[i].Text, " 0x"); ok {
			all[name] = append(all[name], strings.TrimLeft(at, "0"))
		}
	}
	for name := range all {
		all[name] = all[name][1:]
	}
	return all
}

var (
	coreThread = regexp.MustCompile(`^Thread \d+ \(`)
	coreFrame  = regexp.MustCompile(`^#\d+ +0x0*([0-9a-f]+) in `)
)

// seen is what gdb shows of all threads, in words and as addresses of frames.
type seen struct {
	text    string
	threads [][]string
	secrets int // how often it shows the variable secret as it is
}

// look lets gdb look at a program by further commands.
func look(t *testing.T, inner string, args ...string) (s seen) {
	t.Helper()
	out, err := exec.Command("gdb",
		append([]string{"-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load off",
			"-iex", "set backtrace past-main on", "-iex", "set backtrace past-entry on", "-iex", "set width 0"},
			args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("gdb: %v\n%s", err, out)
	}
	s.text = string(out)
	for line := range strings.Lines(s.text) {
		if coreThread.MatchString(line) {
			s.threads = append(s.threads, nil)
		} else if m := coreFrame.FindStringSubmatch(line); m != nil && len(s.threads) > 0 {
			s.threads[len(s.threads)-1] = append(s.threads[len(s.threads)-1], m[1])
		}
		if strings.Contains(line, " "+inner+" (") &&
			regexp.MustCompile(`secret=(secret@entry=)?(42|100)\b`).MatchString(line) {
			s.secrets++
		}
	}
	return s
}

// TestDebuggers: gdb shows each thread, of a core and of a process that it is connected with, where
// the program itself says that it is, and values of variables.
func TestDebuggers(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name  string
		build []string
		inner string
	}{
		{"C", []string{"gcc", "-g", "-O1", "-pthread", "-o", "OUT", "testdata/core/waits.c"}, "inner"},
		{"Go", []string{"go", "build", "-o", "OUT", "testdata/core/waits.go"}, "main.inner"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, program := waiting(t, c.build...)
			dir := t.TempDir()
			path := filepath.Join(dir, "core")
			all, err := d.WriteCores("n", path)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) != 1 || all[0].Host != program {
				t.Fatalf("cores %+v, want one of %s", all, program)
			}
			of := look(t, c.inner, "-ex", "thread apply all backtrace 40", program, path)
			said := told(d)
			if len(said) != 2 {
				t.Fatalf("the program told of the threads %v", said)
			}
			for name, frames := range said {
				if !slices.ContainsFunc(of.threads, func(shown []string) bool { return holds(shown, frames) }) {
					t.Errorf("thread %s has the frames %v, and gdb shows\n%s", name, frames, of.text)
				}
			}
			if len(of.threads) != all[0].Threads || of.secrets != 2 {
				t.Errorf("gdb shows %d threads of %d, and the variable secret %d times\n%s", len(of.threads), all[0].Threads, of.secrets, of.text)
			}

			at, served := serve(t, d)
			remote := look(t, c.inner, "-ex", "target remote "+at, "-ex", "thread apply all backtrace 40",
				"-ex", "info auxv", "-ex", "continue", "-ex", "info registers mxcsr fctrl", program)
			if err := <-served; err != nil {
				t.Error(err)
			}
			slices.SortFunc(of.threads, slices.Compare)
			slices.SortFunc(remote.threads, slices.Compare)
			if !slices.EqualFunc(of.threads, remote.threads, slices.Equal) || remote.secrets != 2 {
				t.Errorf("connected, gdb shows\n%s\nand of the core\n%s", remote.text, of.text)
			}
			for _, want := range []string{"No more reverse-execution history", "AT_SYSINFO_EHDR", "mxcsr          0x1f",
				"fctrl          0x37f"} {
				if !strings.Contains(remote.text, want) {
					t.Errorf("gdb does not show %q:\n%s", want, remote.text)
				}
			}
		})
	}
}

// serve serves one gdb at a socket.
func serve(t *testing.T, d *Debugger) (at string, served chan error) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "gdb"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	served = make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = d.ServeGDB(conn, conn, GDB, "n", 0)
			conn.Close()
		}
		served <- err
	}()
	return l.Addr().String(), served
}

// holds says whether the frames are among those shown, in one piece.
func holds(shown, frames []string) bool {
	for i := range shown {
		if len(frames) > 0 && len(shown)-i >= len(frames) && slices.Equal(shown[i:i+len(frames)], frames) {
			return true
		}
	}
	return false
}

// TestCore: a core has the memory, the registers and the mappings that the process has.
func TestCore(t *testing.T) {
	d := openSpec(t, "testdata/down.yaml")
	path := filepath.Join(t.TempDir(), "core")
	all, err := d.WriteCores("server", path)
	if err != nil {
		t.Fatal(err)
	}
	err = d.session.Visit(ariadne.NodeID(0), func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		live := 0
		for i := range v.Processes {
			p := &v.Processes[i]
			if len(p.Threads) == 0 {
				continue
			}
			live++
			j := slices.IndexFunc(all, func(c Core) bool { return c.PID == p.PID })
			if j < 0 {
				return fmt.Errorf("process %d has no core", p.PID)
			}
			if err := compareCore(t, all[j].Path, m, p); err != nil {
				return fmt.Errorf("%s: %w", all[j].Path, err)
			}
		}
		if live != len(all) || live == 0 {
			t.Errorf("%d processes have %d cores", live, len(all))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.WriteCores("client", path); err == nil || !strings.Contains(err.Error(), "node client has no process behind step 1: was not switched on yet") {
		t.Errorf("a core of a node without a process: %v", err)
	}
}

func compareCore(t *testing.T, path string, m inspect.Machine, p *inspect.Process) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Type != elf.ET_CORE || f.Machine != elf.EM_X86_64 {
		t.Errorf("%s is a file %v of %v", path, f.Type, f.Machine)
	}
	mappings, err := m.Mappings(p.PID)
	if err != nil {
		return err
	}
	var loads []*elf.Prog
	for _, prog := range f.Progs {
		if prog.Type == elf.PT_LOAD {
			loads = append(loads, prog)
		}
	}
	if len(loads) != len(mappings) {
		return fmt.Errorf("it has %d pieces of memory of %d", len(loads), len(mappings))
	}
	bytesOf := 0
	for i, a := range mappings {
		l := loads[i]
		if l.Vaddr != a.Start || l.Memsz != a.End-a.Start || l.Flags&elf.PF_W != 0 != a.Write ||
			l.Flags&elf.PF_X != 0 != a.Execute {
			t.Errorf("the mapping %+v is %+v", a, l.ProgHeader)
		}
		in, err := io.ReadAll(l.Open())
		if err != nil {
			return err
		}
		want := make([]byte, len(in))
		if n, err := m.ReadMemory(p.PID, a.Start, want); len(in) > 0 && (err != nil || !bytes.Equal(in[:n], want[:n])) {
			t.Errorf("the memory at %#x is not what the process has: %v", a.Start, err)
		}
		bytesOf += len(in)
	}
	if bytesOf == 0 {
		t.Error("it has no memory")
	}
	return compareNotes(t, f, m, p)
}

func compareNotes(t *testing.T, f *elf.File, m inspect.Machine, p *inspect.Process) error {
	notes, err := io.ReadAll(f.Progs[0].Open())
	if err != nil {
		return err
	}
	thread, kinds := 0, map[uint32]int{}
	for len(notes) > 0 {
		name, size, kind := binary.LittleEndian.Uint32(notes), binary.LittleEndian.Uint32(notes[4:]),
			binary.LittleEndian.Uint32(notes[8:])
		data := notes[12+(name+3)&^3:]
		notes = data[(size+3)&^3:]
		data = data[:size]
		kinds[kind]++
		switch kind {
		case uint32(elf.NT_PRSTATUS):
			r, err := m.Registers(p.Threads[thread].TID)
			if err != nil {
				return err
			}
			for at, register := range map[int]string{112 + 8*16: "rip", 112 + 8*19: "rsp", 112 + 8*21: "fs_base"} {
				if want, _ := r.Of(register); want != binary.LittleEndian.Uint64(data[at:]) {
					t.Errorf("%s of thread %d is %#x, want %#x", register, thread,
						binary.LittleEndian.Uint64(data[at:]), want)
				}
			}
			if tid := int(binary.LittleEndian.Uint32(data[32:])); tid != p.Threads[thread].TID || size != 336 {
				t.Errorf("thread %d has the number %d, and its note %d bytes", p.Threads[thread].TID, tid, size)
			}
			thread++
		case uint32(elf.NT_PRPSINFO):
			if size != 136 || !bytes.Contains(data, []byte(filepath.Base(p.Exe)+"\x00")) {
				t.Errorf("the process is called %q in %d bytes", data, size)
			}
		case ntFile:
			if !bytes.Contains(data, []byte(p.Exe+"\x00")) {
				t.Errorf("%s is not among the mapped files", p.Exe)
			}
		}
	}
	if thread != len(p.Threads) || kinds[ntAuxv] != 1 || kinds[ntFile] != 1 ||
		kinds[uint32(elf.NT_FPREGSET)] != thread || kinds[ntX86XState] != thread {
		t.Errorf("%d threads of %d have the notes %v", thread, len(p.Threads), kinds)
	}
	return nil
}
