//go:build linux

package node

import (
	"fmt"
	"maps"
	"net/netip"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestEveryOutcomeOfACrash: at the places of a step a crash leaves all that SIGKILL between two
// calls may leave on Linux of files and messages, but for what it leaves before the step and behind
// it, and nothing else.
func TestEveryOutcomeOfACrash(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "places")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-Wno-unused-result", "-static", "-o", program,
		"testdata/places.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	const show = `find * -printf '%p %y %m %l\n' 2>/dev/null | sort; cat a b 2>/dev/null; true`
	const calls = 14
	want := map[string]bool{}
	var first, last string
	for i := range calls + 1 {
		native := exec.Command("sh", "-c", "umask 022; "+program+" "+strconv.Itoa(i)+"; "+show)
		native.Dir = t.TempDir()
		b, err := native.Output()
		if err != nil {
			t.Fatal(err)
		}
		sent := 0
		for _, after := range []int{3, 13} {
			if i >= after {
				sent++
			}
		}
		last = fmt.Sprintf("%s %d sent", strings.Join(strings.Fields(string(b)), " "), sent)
		if i == 0 {
			first = last
		}
		want[last] = true
	}
	delete(want, first)
	delete(want, last)

	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	crash := func(v ariadne.Variation) (ariadne.Output, string) {
		s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Nodes: []spec.Node{
				{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: []string{"/spec/places"}}},
					Restart: []spec.Command{{Args: []string{"sh", "-c", show}}}},
				{Name: "n2", ID: 1},
			}}
		for i := range s.Nodes {
			s.Nodes[i].Addrs = []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}
		}
		s.Faults[world.Crash] = 1
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		defer n.Close()
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
		if err != nil {
			t.Fatal(err)
		}
		if out.Down == ariadne.Up {
			return out, ""
		}
		again, err := n.Apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
		if err != nil {
			t.Fatal(err)
		}
		return out,
			fmt.Sprintf("%s %d sent", strings.Join(strings.Fields(strings.Join(lines(&again), " ")), " "),
				len(out.Messages))
	}
	undisturbed, _ := crash("")
	got := map[string]bool{}
	for _, p := range undisturbed.Places {
		v := ariadne.Variation(p.Alternatives[0] + "@" + p.Name)
		out, left := crash(v)
		if out.Variation() != v {
			t.Errorf("%s: it is varied %q", v, out.Variation())
		}
		if got[left] {
			t.Errorf("%s leaves what another crash leaves: %s", v, left)
		}
		got[left] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("crashes leave\n%s\nand natively\n%s", strings.Join(slices.Sorted(maps.Keys(got)), "\n"),
			strings.Join(slices.Sorted(maps.Keys(want)), "\n"))
	}
}

// happenings are what a program may do before it makes a file, and by which faults that differs
// from what it had done when the step began: crash, stop and power.
var happenings = []struct {
	name, setup, do string
	faults          string
}{
	{"nothing", "", "os.getpid()", ""},
	{"another file", "", "os.mkdir('d')", "crash stop power"},
	{"a promise", "d = os.open('/dev/ariadne', os.O_WRONLY)", "os.write(d, b'promise it')", "crash stop power"},
	{"what begins", "d = os.open('/dev/ariadne', os.O_WRONLY)", "os.write(d, b'begin')", "crash stop power"},
	{"what is exposed", "d = os.open('/dev/ariadne', os.O_WRONLY)", "os.write(d, b'expose now x')", ""},
	{"what is exposed and stays", "d = os.open('/dev/ariadne', os.O_WRONLY)", "os.write(d, b'expose kept x')",
		"crash stop power"},
	{"a line", "", "print('something', flush=True)", ""},
	{"a line that stays", "", "print('committed 3', flush=True)", "crash stop power"},
	{"a Unix socket", "s = socket.socket(socket.AF_UNIX)", "s.bind('s')", "crash stop power"},
	{"a connection that ends", "l = socket.create_server(('127.0.0.1', 7000)); c = socket.create_connection(('127.0.0.1', 7000))", "c.close()", "stop power"},
	{"a connection with another descriptor", "l = socket.create_server(('127.0.0.1', 7000)); c = socket.create_connection(('127.0.0.1', 7000)); e = c.dup()", "c.close()", ""},
	{"a connection that dup2 ends", "l = socket.create_server(('127.0.0.1', 7000)); c = socket.create_connection(('127.0.0.1', 7000))", "os.dup2(0, c.fileno())", "stop power"},
	{"connections that close_range ends", "l = socket.create_server(('127.0.0.1', 7000)); c = socket.create_connection(('127.0.0.1', 7000))", "os.closerange(c.fileno(), c.fileno() + 1)", "stop power"},
	{"what splice sends", "l = socket.create_server(('127.0.0.1', 7000)); c = socket.create_connection(('127.0.0.1', 7000)); r, w = os.pipe(); os.write(w, b'x')", "os.splice(r, c.fileno(), 1)", "crash stop power"},
	{"a store", "f = os.open('m', os.O_CREAT | os.O_RDWR); os.ftruncate(f, 4096); m = mmap.mmap(f, 4096)", "m[0] = 1", "power"},
	{"no store", "f = os.open('m', os.O_CREAT | os.O_RDWR); os.ftruncate(f, 4096); m = mmap.mmap(f, 4096)", "m[0]", ""},
	{"a message of System V", "import ctypes; c = ctypes.CDLL(None); q = c.msgget(7, 0o1600)", "c.msgsnd(q, b'\\1\\0\\0\\0\\0\\0\\0\\0x', 1, 0)", "crash"},
	{"a semaphore", "import ctypes; c = ctypes.CDLL(None); q = c.semget(7, 1, 0o1600)", "c.semctl(q, 0, 16, 1)", "crash"},
	{"an object of System V", "import ctypes; c = ctypes.CDLL(None)", "c.shmget(7, 4096, 0o1600)", "crash"},
	{"a look at one", "import ctypes; c = ctypes.CDLL(None); q = c.semget(7, 1, 0o1600)", "c.semctl(q, 0, 12, 0)", ""},
	{"a name of the machine", "", "socket.sethostname('other')", "crash"},
	{"a pipe", "r, w = os.pipe(); os.fork() or time.sleep(1000)", "os.write(w, b'x')", ""},
	{"the clock", "", "time.clock_settime(time.CLOCK_REALTIME, 1800000000)", "crash stop power"},
	{"a sync", "f = os.open('m', os.O_CREAT | os.O_RDWR); os.write(f, b'x')", "os.sync()", ""},
}

// TestHappenings: before its first visible operation a step has a place for a fault if something
// has happened by which it makes a difference.
func TestHappenings(t *testing.T) {
	for _, h := range happenings {
		for name, kind := range map[string]ariadne.ActionKind{"crash": world.Crash, "stop": world.Stop,
			"power": world.Power} {
			program := "import mmap, os, socket, time\n" + h.setup + "\ntime.sleep(1)\n" + h.do + "\nos.mkdir('last')\ntime.sleep(1000)"
			n, apply := downOf(t, kind, t.TempDir(), "/usr/bin/python3", "-IS", "-c", program)
			sources := expose.Sources{{Name: "kept", Stays: true},
				{Name: "committed", Line: regexp.MustCompile(`committed (\d+)`), Stays: true}, {Name: "now"}}
			n.cfg.Stays = machines.Of(&spec.Spec{Nodes: make([]spec.Node, 1),
				Properties: spec.Properties{Sources: sources}}, 0, 0).Stays
			n.cfg.Faults.Power.Model, n.cfg.Faults.Power.Images = disk.Any, 64
			out := apply(ariadne.Input{Kind: ariadne.Start})
			out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			at := slices.IndexFunc(out.Places, func(p ariadne.Place) bool {
				return strings.HasSuffix(p.Name, "mkdir/before:last#1")
			})
			if want := strings.Contains(h.faults, name); (at >= 0) != want || n.step.over() {
				t.Errorf("%s, %s: %v, want %v", h.name, name, out.Places, want)
			}
		}
	}
}

// TestEveryOutcomeOfAKill: at the places of a step at which a process is killed, others of its
// machine see all that they may see on Linux when it is killed between two calls, and nothing else.
func TestEveryOutcomeOfAKill(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "midway")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-Wno-unused-result", "-static", "-o", program,
		"testdata/killed_midway.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	const calls = 7
	want := map[string]bool{}
	for i := range calls + 1 {
		b, err := exec.Command(program, strconv.Itoa(i)).Output()
		if err != nil {
			t.Fatal(err)
		}
		want[strings.TrimSpace(string(b))] = true
	}
	if len(want) != calls+1 {
		t.Fatalf("natively a kill leaves %q", slices.Sorted(maps.Keys(want)))
	}
	killed := func(v ariadne.Variation) (ariadne.Output, string) {
		s := alone(dir, "/spec/midway")
		s.Faults[world.Kill] = 1
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		defer n.Close()
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
		if err != nil {
			t.Fatal(err)
		}
		return out, strings.TrimSpace(strings.Join(lines(&out), "\n"))
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	undisturbed, all := killed("")
	got := map[string]bool{all: true}
	for _, p := range undisturbed.Places {
		for _, a := range p.Alternatives {
			if !strings.HasPrefix(a, "kill:midway#2") {
				continue // of the parent nobody sees anything
			}
			_, left := killed(ariadne.Variation(a + "@" + p.Name))
			if got[left] {
				t.Errorf("%s at %s leaves what another kill leaves: %s", a, p.Name, left)
			}
			got[left] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("kills leave\n%s\nand natively\n%s\nplaces %v", strings.Join(slices.Sorted(maps.Keys(got)), "\n"),
			strings.Join(slices.Sorted(maps.Keys(want)), "\n"), undisturbed.Places)
	}
}
