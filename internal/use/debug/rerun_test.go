//go:build linux

package debug

import (
	"debug/elf"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/gdb"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// stepping debugs a program of testdata/gdb whose execution is known, behind its start.
func stepping(t *testing.T, build ...string) (d *Debugger, program string) {
	t.Helper()
	d, program = waiting(t, slices.Clone(build)...)
	for _, command := range []string{"run", "goto 1"} {
		if _, err := d.Execute(command); err != nil {
			t.Fatal(err)
		}
	}
	return d, program
}

// TestSteps: a real gdb goes on and back, within steps and from step to step.
func TestSteps(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip(err)
	}
	c := []string{"gcc", "-g", "-O0", "-pthread", "-o", "OUT", "testdata/gdb/steps.c"}
	for _, x := range []struct {
		name     string
		build    []string
		commands string // each with what gdb prints next, as a regular expression
	}{
		{"breakpoints", c, `
			hbreak work | Hardware assisted breakpoint 1
			continue   | Ariadne: in step 2
			print i    | = 1$
			next       | if \(i % 2\)
			next       | total = add\(total, 100\)
			step       | add \(a=1, b=100\)
			backtrace  | #2 .* main
			finish     | Value returned is .* = 101
			continue   | Ariadne: in step 3
			info threads | Thread .*nanosleep|read
			continue   | Ariadne: in step 4
			delete     |
			continue   | exited with code 03`},
		{"back", c, `
			break work | Breakpoint 1
			continue   | work \(i=1\)
			continue   | work \(i=2\)
			continue   | work \(i=3\)
			reverse-stepi | 0x
			reverse-continue | work \(i=2\)
			reverse-continue | work \(i=1\)
			reverse-continue | No more reverse-execution history
			continue   | work \(i=1\)
			next       | if
			reverse-next | total = add\(total, i\)
			print total | = 0$
			delete     |
			break printer |
			continue   | exited with code 03`},
		{"watch", c, `
			watch total | atchpoint 1: total
			continue   | New value = 1$
			continue   | New value = 101$
			continue   | New value = 103$
			reverse-continue | New value = 101$
			reverse-continue | New value = 1$
			reverse-continue | New value = 0$
			continue   | New value = 1$
			continue   | New value = 101$`},
		{"Go", []string{"go", "build", "-o", "OUT", "testdata/gdb/steps.go"}, `
			break main.work | Breakpoint 1
			continue   | main.work \(i=1\)
			continue   | main.work \(i=2\)
			reverse-stepi | func work
			reverse-continue | main.work \(i=1\)
			break main.add | Breakpoint 2
			continue   | main.add \(a=0, b=1
			delete     |
			watch main.total | atchpoint 3
			continue   | New value = 1$
			delete     |
			continue   | exited with code 03`},
	} {
		t.Run(x.name, func(t *testing.T) {
			d, program := stepping(t, x.build...)
			at, served := serve(t, d)
			args := []string{"-ex", "target remote " + at}
			var wants []*regexp.Regexp
			for line := range strings.Lines(strings.TrimSpace(x.commands)) {
				command, want, _ := strings.Cut(line, "|")
				args = append(args, "-ex", "echo ====\\n", "-ex", strings.TrimSpace(command))
				wants = append(wants, regexp.MustCompile("(?m)"+strings.TrimSpace(want)))
			}
			s := look(t, "", append(args, program)...)
			if err := <-served; err != nil {
				t.Error(err)
			}
			parts := strings.Split(s.text, "====\n")[1:]
			for i, want := range wants {
				if i >= len(parts) || !want.MatchString(parts[i]) {
					t.Fatalf("command %d does not print %q:\n%s", i+1, want, s.text)
				}
			}
		})
	}
}

// TestInterrupt: gdb stops an execution that would go on for long, and goes on from there.
func TestInterrupt(t *testing.T) {
	d, _ := stepping(t, "gcc", "-g", "-O0", "-no-pie", "-pthread", "-o", "OUT", "testdata/gdb/steps.c")
	p, err := d.oneProcess(0, "n", 0)
	if err != nil {
		t.Fatal(err)
	}
	sp := uint64(0)
	if err := d.session.Visit(0, func(m inspect.Machine) error {
		regs, err := m.Registers(p.Threads[0].TID)
		sp, _ = regs.Of("rsp")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- d.ServeGDB(in, out, GDB, "n", 0) }()
	// Above the stack nothing changes, so each instruction is looked at.
	client := gdb.NewConn(from, to)
	client.Trusted = true
	for _, c := range [][2]string{{"QStartNoAckMode", "OK"}, {fmt.Sprintf("Z2,%x,8", sp+1<<10), "OK"},
		{"vCont;c", "T02"},
		{fmt.Sprintf("z2,%x,8", sp+1<<10), "OK"}, {"vCont;c", "W03"}} {
		if err := client.Write(c[0]); err != nil {
			t.Fatal(err)
		}
		if c[1] == "T02" {
			if _, err := to.Write([]byte{0x03}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := client.Read()
		for err == nil && got != "OK" && got[0] == 'O' { // a line for the user
			got, err = client.Read()
		}
		if err != nil || !strings.HasPrefix(got, c[1]) {
			t.Fatalf("%s: %q, %v", c[0], got, err)
		}
	}
	to.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestBackIsTheSamePlace: wherever an execution has been, it comes there again when it goes back:
// to the same registers and the same stack, instruction by instruction.
func TestBackIsTheSamePlace(t *testing.T) {
	d, program := stepping(t, "gcc", "-g", "-O0", "-no-pie", "-pthread", "-o", "OUT", "testdata/gdb/steps.c")
	p, err := d.oneProcess(0, "n", 0)
	if err != nil {
		t.Fatal(err)
	}
	breaks := map[uint64]bool{}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range symbols {
		if slices.Contains([]string{"add", "work", "printer"}, y.Name) {
			breaks[y.Value] = true
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	been := map[place]string{} // fingerprints
	var last place
	moves, backs, back := 0, 0, false
	err = d.session.Lend(0, func(from memo.Frozen, ahead []session.Ahead) error {
		r := rerun{pid: p.PID, ahead: ahead, starts: []memo.Frozen{from}, breaks: breaks, watches: map[uint64][]byte{},
			thread: p.Threads[0].TID}
		r.stopped = func(w why) (request, error) {
			if w == exits {
				return reverseStep, nil
			}
			if err := r.insert(); err != nil {
				return leave, err
			}
			at := r.at
			if !r.known {
				at.executed = -1 // to be found out
			}
			if r.known && last.executed >= 0 && back != at.before(last) && moves > 0 && w != begins {
				return leave, fmt.Errorf("move %d goes from %v to %v", moves, last, at)
			}
			print, err := r.fingerprint()
			if err != nil {
				return leave, err
			}
			if was, ok := been[at]; ok && r.known && at.stretch > 0 && was != print {
				return leave, fmt.Errorf("after %d moves %v is\n%s\nnot\n%s", moves, at, print, was)
			}
			been[at], last = print, at
			if moves++; moves == 80 {
				return leave, nil
			}
			if back = random.IntN(4) == 0; back {
				backs++
				return reverseStep, nil
			}
			if random.IntN(3) == 0 {
				return proceed, nil
			}
			r.single = anyThread
			return stepThread, nil
		}
		return r.run()
	})
	if err != nil {
		t.Error(err)
	}
	if backs < 15 || len(been) < 15 || last.step == 0 {
		t.Errorf("only %d moves back, among %d places up to %v", backs, len(been), last)
	}
}
