//go:build linux

package node

import (
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// keeper appends a line to a file at each start, holds a lock on it, leaves something in /tmp, and
// waits.
const keeper = `echo start >>log; exec 9>lock; flock -n 9 || echo locked; [ -e /tmp/left ] && echo left; echo x >/tmp/left; wc -l <log; echo $$; sleep 1000`

func down(t *testing.T, kind ariadne.ActionKind) (*Node, func(ariadne.Input) ariadne.Output) {
	return downOf(t, kind, t.TempDir(), "sh", "-c", keeper)
}

func downOf(t *testing.T, kind ariadne.ActionKind, dir string, args ...string) (*Node,
	func(ariadne.Input) ariadne.Output) {
	t.Helper()
	s := alone(dir, args...)
	s.Faults[kind] = 2
	return start(t, s)
}

// alone is a system of one node that runs a command.
func alone(dir string, args ...string) *spec.Spec {
	return &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
}

// start starts the only node of a system.
func start(t *testing.T, s *spec.Spec) (*Node, func(ariadne.Input) ariadne.Output) {
	t.Helper()
	return startAs(t, s, Config{})
}

// startAs is start with another configuration of the node.
func startAs(t *testing.T, s *spec.Spec, c Config) (*Node, func(ariadne.Input) ariadne.Output) {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	c.Machine, c.Pages = machines.Of(s, 0, 1), c.Pages || followInTests
	n := Start(c)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n, func(in ariadne.Input) ariadne.Output {
		t.Helper()
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// TestCrashAndStop: a node that goes down comes back with its files and without its locks; what
// is in memory alone outlives its programs, and not its machine.
func TestCrashAndStop(t *testing.T) {
	for _, c := range []struct {
		kind ariadne.ActionKind
		down ariadne.Down
		left bool // in /tmp
	}{{world.Crash, ariadne.Crashed, true}, {world.Stop, ariadne.Stopped, false}} {
		t.Run(c.down.String(), func(t *testing.T) {
			_, apply := down(t, c.kind)
			first := apply(ariadne.Input{Kind: ariadne.Start})
			if got := lines(&first); len(got) != 2 || got[0] != "1" {
				t.Fatalf("at first it says %q", got)
			}
			out := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock,
				Fault: ariadne.Outage{Down: c.down, For: time.Second}})
			if want := 2 * ariadne.Time(time.Second); out.Down != c.down || out.Back != want || !out.Done ||
				out.Ended || len(out.Exits) > 0 {
				t.Fatalf("it is %v until %v, done %v, ended %v, %d exits", out.Down, out.Back, out.Done, out.Ended,
					len(out.Exits))
			}
			again := apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
			got := lines(&again)
			want := []string{"2"}
			if c.left {
				want = []string{"left", "2"}
			}
			if len(got) == 0 || !slices.Equal(got[:len(got)-1], want) {
				t.Errorf("then it says %q, want %q and a process", got, want)
			}
		})
	}
}

// TestShortOutages: a node that goes down for less than a second is back as soon as that, and in a
// trace of old at the next full second. A machine that never comes back is the same whenever in a
// second it goes down.
func TestShortOutages(t *testing.T) {
	for _, c := range []struct {
		down   ariadne.Down
		length time.Duration
		back   ariadne.Time // behind the full second
	}{
		{ariadne.Crashed, 0, 1e6}, {ariadne.Crashed, 10e6, 20e6}, {ariadne.Stopped, 100e6, 200e6},
		{ariadne.Stopped, 0, 1e6}, {ariadne.Crashed, 200e6, 300e6}, {ariadne.Stopped, 1e9, 2e9},
	} {
		kind := map[ariadne.Down]ariadne.ActionKind{ariadne.Crashed: world.Crash, ariadne.Stopped: world.Stop}[c.down]
		for _, coarse := range []bool{false, true} {
			n, apply := down(t, kind)
			n.cfg.Coarse = coarse
			apply(ariadne.Input{Kind: ariadne.Start})
			at := 7*ariadne.Time(time.Second) + 5
			out := apply(ariadne.Input{Kind: ariadne.Fault, At: at, Fault: ariadne.Outage{Down: c.down, For: c.length}})
			want := 7*ariadne.Time(time.Second) + c.back
			if coarse && c.back < 1e9 {
				want = 8 * ariadne.Time(time.Second)
			}
			if out.Down != c.down || out.Back != want || c.down.Off() && out.Clock != want {
				t.Errorf("%v for %v, coarse %v: it is back at %v, its clock shows %v; want %v", c.down, c.length, coarse, out.Back, out.Clock, want)
			}
			if again := apply(ariadne.Input{Kind: ariadne.Start, At: out.Back}); len(again.Logs) == 0 ||
				again.Logs[0].At < want || again.Logs[0].At > want+ariadne.Time(time.Millisecond) {
				t.Errorf("%v for %v: it says %+v", c.down, c.length, again.Logs)
			}
		}
	}
	var clocks []ariadne.Time
	for _, at := range []ariadne.Time{7e9 + 5, 7e9 + 998e6} {
		_, apply := down(t, world.Stop)
		apply(ariadne.Input{Kind: ariadne.Start})
		out := apply(ariadne.Input{Kind: ariadne.Fault, At: at,
			Fault: ariadne.Outage{Down: ariadne.Stopped, For: ariadne.Ever}})
		clocks = append(clocks, out.Clock)
	}
	if clocks[0] != 8e9 || clocks[1] != 8e9 {
		t.Errorf("the clocks of machines that stay off show %v", clocks)
	}
}

// TestPause: a paused node loses nothing. Its clock goes on, and timers that were due meanwhile
// expire at once; within a step, what was sent or written before has happened before.
func TestPause(t *testing.T) {
	const program = `import time, select, os
e = select.epoll()
start = time.monotonic()
try: e.poll(0.5)
finally: print("poll", round(time.monotonic() - start, 1), flush=True)
open("a", "w").write("x")
before = time.monotonic()
open("b", "w").write("y")
print("wrote", round(time.monotonic() - before, 1), round(time.time()) - 1700000000, flush=True)
time.sleep(3)
`
	boot := func() (func(ariadne.Input) ariadne.Output, ariadne.Output) {
		_, apply := downOf(t, world.Pause, t.TempDir(), "/usr/bin/python3", "-c", program)
		return apply, apply(ariadne.Input{Kind: ariadne.Start})
	}
	apply, first := boot()
	out := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock,
		Fault: ariadne.Outage{Down: ariadne.Paused, For: 4 * time.Second}})
	back := 5 * ariadne.Time(time.Second)
	if got := lines(&out); out.Down != ariadne.Paused || out.Back != back || out.Clock < back || out.Done ||
		out.Ended || !slices.Equal(got, []string{"poll 5.0", "wrote 0.0 5"}) &&
		!slices.Equal(got, []string{"poll 4.9", "wrote 0.0 5"}) {
		t.Fatalf("it is %v until %v, its clock shows %v, it says %q", out.Down, out.Back, out.Clock, got)
	}
	if want := out.Clock + 3e9 - 1e8; out.Deadline < want || out.Deadline > want+2e8 {
		t.Errorf("it sleeps until %v", out.Deadline)
	}
	apply, first = boot()
	fire := ariadne.Input{Kind: ariadne.Fire, At: first.Deadline}
	undisturbed := apply(fire)
	at := slices.IndexFunc(undisturbed.Places, func(p ariadne.Place) bool {
		return strings.Contains(p.Name, "before:/node/b#1")
	})
	if at < 0 {
		t.Fatalf("no place before b is made: %v", undisturbed.Places)
	}
	apply, _ = boot()
	fire.Vary = ariadne.Variation("pause:15s@" + undisturbed.Places[at].Name)
	out = apply(fire)
	if got := lines(&out); out.Down != ariadne.Paused || out.Variation() != fire.Vary || len(got) != 2 ||
		!strings.HasPrefix(got[1], "wrote 15.") {
		t.Errorf("it is %v, varied %q, and says %q", out.Down, out.Variation(), got)
	}
}

// TestRestart: a node runs other commands when it starts again, however often, with numbers of
// their own; it has ended when these have, and a copy of it does the same.
func TestRestart(t *testing.T) {
	for kind, down := range map[ariadne.ActionKind]ariadne.Down{world.Crash: ariadne.Crashed,
		world.Stop: ariadne.Stopped} {
		t.Run(down.String(), func(t *testing.T) {
			sh := func(line string) config.Command { return config.Command{Args: []string{"/bin/sh", "-c", line}} }
			n, apply := downOf(t, kind, t.TempDir(), "/bin/sh", "-c", "echo first; exec sleep 1000")
			n.cfg.Restart = []config.Command{sh("echo again; exec sleep 1000"), sh("echo beside; exit 3"), sh("true")}
			out := apply(ariadne.Input{Kind: ariadne.Start})
			if got := lines(&out); !slices.Equal(got, []string{"first"}) {
				t.Fatalf("at first it says %q", got)
			}
			for range 2 {
				out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
					Fault: ariadne.Outage{Down: down, For: 0}})
				c, err := n.Freeze()
				if err != nil {
					t.Fatal(err)
				}
				defer c.Drop()
				start := ariadne.Input{Kind: ariadne.Start, At: out.Back}
				out = apply(start)
				m, err := c.Thaw()
				if err != nil {
					t.Fatal(err)
				}
				copied, err := m.Apply(start)
				if err != nil {
					t.Fatal(err)
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
				if copied.Digest != out.Digest {
					t.Error("a copy does something else")
				}
				got := lines(&out)
				slices.Sort(got)
				if !slices.Equal(got, []string{"again", "beside"}) {
					t.Errorf("then it says %q", got)
				}
				exits := map[int]int{}
				for _, e := range out.Exits {
					exits[e.Command] = e.Status
				}
				if len(exits) != 2 || exits[2] != 3 || exits[3] != 0 || out.Ended {
					t.Errorf("its commands have ended like %v, ended: %v", exits, out.Ended)
				}
			}
		})
	}
}

// TestDatagramsOfMachineThatStopped: what a machine sends after it has stopped is of another flow
// than what it sent before, which may still be under way and has the same numbers.
func TestDatagramsOfMachineThatStopped(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) []spec.Command { return []spec.Command{{Args: args}} }
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1,
			Commands: command("bash", "-c", "echo hello >/dev/udp/10.0.0.2/7000; sleep 1000")},
			{Name: "n2", CPUs: 1, Commands: command("sleep", "1000")}}}
	for i := range s.Nodes {
		s.Nodes[i].ID, s.Nodes[i].Addrs = ariadne.NodeID(i),
			[]netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})}
	}
	s.Faults[world.Stop] = 1
	n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	var sent []ariadne.Message
	at := ariadne.Time(0)
	for _, in := range []ariadne.Input{{Kind: ariadne.Start},
		{Kind: ariadne.Fault, Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}}, {Kind: ariadne.Start}} {
		in.At = at
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		sent, at = append(sent, out.Messages...), max(out.Clock, out.Back)
	}
	if len(sent) != 2 || sent[0].Seq != 1 || sent[1].Seq != 1 || sent[1].Flow.Epoch <= sent[0].Flow.Epoch {
		t.Errorf("sent: %+v", sent)
	}
}

// TestBootMakesDirectories: what a first start finds in memory a later one does, too.
func TestBootMakesDirectories(t *testing.T) {
	_, apply := downOf(t, world.Stop, t.TempDir(), "sh", "-c", "stat -c '%n %A' /run/lock; echo >/var/lock/mine || exit 1; sleep 1000")
	first := apply(ariadne.Input{Kind: ariadne.Start})
	out := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock,
		Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}})
	again := apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
	if got, want := lines(&again), lines(&first); len(got) != 1 || !slices.Equal(got, want) || len(again.Exits) > 0 {
		t.Errorf("it says %q, at first %q", got, want)
	}
}

// TestCrashWithinStep: the places of a step are where something was done before, and what was done
// before them is left.
func TestCrashWithinStep(t *testing.T) {
	_, apply := down(t, world.Crash)
	first := apply(ariadne.Input{Kind: ariadne.Start})
	var places []string
	for i := range first.Places {
		places = append(places, first.Places[i].Name)
	}
	// The log is made, then written; the lock file and /tmp's follow.
	at := slices.IndexFunc(places, func(p string) bool { return strings.Contains(p, "/write/before:/node/log#1") })
	if at < 0 {
		t.Fatalf("no place before the log is written: %q", places)
	}
	for _, taken := range []string{places[at], places[at+1]} {
		_, apply := down(t, world.Crash)
		out := apply(ariadne.Input{Kind: ariadne.Start, Vary: ariadne.Variation("crash:1s@" + taken)})
		if out.Down != ariadne.Crashed || out.Variation() == "" {
			t.Fatalf("at %s it is %v, varied %q", taken, out.Down, out.Variation())
		}
		again := apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
		want := "1"
		if taken != places[at] {
			want = "2"
		}
		if got := lines(&again); len(got) < 2 || got[len(got)-2] != want {
			t.Errorf("after a crash at %s it says %q, want %s lines", taken, got, want)
		}
	}
}

// TestOpenWithinStep: opening a device changes no file, and is no place.
func TestOpenWithinStep(t *testing.T) {
	_, apply := downOf(t, world.Crash, t.TempDir(), "sh", "-c",
		"mkfifo p; ln -s /dev/null n; echo >a; echo >/dev/null; echo >/dev/stdout; echo >n; echo >/dev/ariadne; exec 3<>p; cd /dev; echo >./null; cd /node; echo >a; echo >b")
	out := apply(ariadne.Input{Kind: ariadne.Start})
	for name, want := range map[string]bool{"/dev/null#1": false, "/dev/stdout#1": false, "n#1": false,
		"/dev/ariadne#1": false, "p#1": false, "./null#1": false, "a#1": true, "a#2": true, "b#1": true} {
		got := slices.ContainsFunc(out.Places, func(p ariadne.Place) bool {
			return strings.Contains(p.Name, "openat/before:"+name) || strings.Contains(p.Name, "open/before:"+name)
		})
		if got != want {
			t.Errorf("place before %s is opened: %v, want %v", name, got, want)
		}
	}
}

// TestSparedWithinStep: there is no place for a crash where the program has turned faults off.
func TestSparedWithinStep(t *testing.T) {
	_, apply := downOf(t, world.Crash, t.TempDir(), "sh", "-c",
		"echo >a; echo >b; echo fault off >/dev/ariadne; echo >c; echo >d; echo fault on >/dev/ariadne; echo >e; echo >f")
	out := apply(ariadne.Input{Kind: ariadne.Start})
	for name, want := range map[string]bool{"b": true, "c": false, "d": false, "e": true, "f": true} {
		got := slices.ContainsFunc(out.Places, func(p ariadne.Place) bool {
			return strings.Contains(p.Name, "before:/node/"+name+"#")
		})
		if got != want {
			t.Errorf("place before /node/%s: %v, want %v", name, got, want)
		}
	}
}

// TestDownIsCopied: a node that is down is frozen and thawed like any other, and so is what it
// comes back to.
func TestDownIsCopied(t *testing.T) {
	for kind, d := range map[ariadne.ActionKind]ariadne.Down{world.Crash: ariadne.Crashed,
		world.Stop: ariadne.Stopped} {
		t.Run(d.String(), func(t *testing.T) {
			n, apply := down(t, kind)
			first := apply(ariadne.Input{Kind: ariadne.Start})
			fault := ariadne.Input{Kind: ariadne.Fault, At: first.Clock,
				Fault: ariadne.Outage{Down: d, For: time.Second}}
			out := apply(fault)
			c, err := n.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Drop()
			start := ariadne.Input{Kind: ariadne.Start, At: out.Back}
			want := apply(start)
			for range 2 {
				m, err := c.Thaw()
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.Apply(start)
				if err != nil || got.Digest != want.Digest {
					t.Errorf("a copy comes back otherwise: %v\n%s\n%s", err, fmt.Sprint(lines(&got)),
						fmt.Sprint(lines(&want)))
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSegmentsOutliveOneOfTheirProcesses: a kill changes nothing in a segment that another process
// has attached, also once it is attached again.
func TestSegmentsOutliveOneOfTheirProcesses(t *testing.T) {
	program := filepath.Join(t.TempDir(), "segment")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program,
		"testdata/segment.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	_, apply := downOf(t, world.Kill, filepath.Dir(program), "/spec/segment", "twice")
	out := apply(ariadne.Input{Kind: ariadne.Start})
	said := lines(&out)
	for i := range 4 {
		if i == 2 {
			apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock, Fault: ariadne.Kill{Process: "segment#2"}})
		}
		out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		said = append(said, lines(&out)...)
	}
	if want := []string{"was 0", "is 1", "is 2", "is 3", "is 4"}; !slices.Equal(said, want) {
		t.Errorf("it says %q, not %q", said, want)
	}
}

// TestSegmentsOutliveProcesses: what is in a System V segment is there after a crash, also where
// another copy of the node has written to it since.
func TestSegmentsOutliveProcesses(t *testing.T) {
	program := filepath.Join(t.TempDir(), "segment")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program,
		"testdata/segment.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	n, apply := downOf(t, world.Crash, filepath.Dir(program), "/spec/segment")
	out := apply(ariadne.Input{Kind: ariadne.Start})
	for range 3 {
		out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
	}
	c, err := n.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Drop()
	fall := func(apply func(ariadne.Input) ariadne.Output, at ariadne.Time) ariadne.Output {
		return apply(ariadne.Input{Kind: ariadne.Fault, At: at,
			Fault: ariadne.Outage{Down: ariadne.Crashed, For: time.Second}})
	}
	restart := func(apply func(ariadne.Input) ariadne.Output, down ariadne.Output) *ariadne.Output {
		out := apply(ariadne.Input{Kind: ariadne.Start, At: down.Back})
		return &out
	}
	for range 2 { // others count on from three
		further := apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		out.Deadline = further.Deadline
	}
	if got := lines(restart(apply, fall(apply, out.Deadline-1))); !slices.Equal(got, []string{"was 5"}) {
		t.Errorf("the first one says %q", got)
	}
	thaw := func() func(ariadne.Input) ariadne.Output {
		m, err := c.Thaw()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { m.Close() })
		return func(in ariadne.Input) ariadne.Output {
			out, err := m.Apply(in)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	copied, other := thaw(), thaw()
	down := fall(copied, out.Deadline)
	other(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}) // counts while nobody has the copy's
	if got := lines(restart(copied, down)); !slices.Equal(got, []string{"was 3"}) {
		t.Errorf("a copy from before says %q", got)
	}
}

// TestStoppedMachineIsItsDisk: machines that stop within the same second and leave the same files
// are in the same state, whatever was in memory, and come back alike; with other files they are
// not. Copies have been made on the way or not.
func TestStoppedMachineIsItsDisk(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", filepath.Join(dir, "mapped"),
		"testdata/mapped.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	const wait = `echo start >>log; stat -c '%i %Y' log . /tmp /bin; cat /proc/sys/kernel/random/boot_id; while sleep 0.1; do i=$((i+1)); `
	for _, c := range []struct {
		name  string
		args  []string
		disks bool // a different one after each timer
	}{
		{"memory", []string{"sh", "-c", wait + "done"}, false},
		{"files in memory", []string{"sh", "-c", wait + "echo $i >/tmp/$i; echo x >/dev/null; stat /usr/lib /etc >/dev/null; done"}, false},
		{"looks", []string{"sh", "-c", wait + "cat log . /etc/passwd >/dev/null 2>&1; done"}, false},
		{"contents", []string{"sh", "-c", wait + "echo $i >>log; done"}, true},
		{"times", []string{"sh", "-c", wait + "touch log; done"}, true},
		{"modes", []string{"sh", "-c", wait + "chmod 6$i$i .; done"}, true},
		{"names", []string{"sh", "-c", wait + "ln log log.$i; done"}, true},
		{"mapped", []string{"/spec/mapped"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			states := map[ariadne.Digest]ariadne.Digest{} // by content: what the start then does
			for timers := range 4 {
				var contents []ariadne.Digest
				for _, freezes := range []bool{false, true} {
					n, apply := downOf(t, world.Stop, dir, c.args...)
					out := apply(ariadne.Input{Kind: ariadne.Start})
					for range timers {
						out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
						if freezes {
							f, err := n.Freeze()
							if err != nil {
								t.Fatal(err)
							}
							defer f.Drop()
						}
					}
					out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
						Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}})
					if out.Clock != ariadne.Time(2*time.Second) || out.Content == (ariadne.Digest{}) {
						t.Fatalf("at %v its content is %v", out.Clock, out.Content)
					}
					contents = append(contents, out.Content)
					again := apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
					if then, known := states[out.Content]; known && then != again.Digest {
						t.Errorf("after %d timers, with copies %v: it comes back otherwise: %q", timers, freezes, lines(&again))
					}
					states[out.Content] = again.Digest
				}
				if contents[0] != contents[1] {
					t.Errorf("after %d timers: copies make a difference", timers)
				}
			}
			if want := map[bool]int{false: 1, true: 4}[c.disks]; len(states) != want {
				t.Errorf("%d states, want %d", len(states), want)
			}
		})
	}
}
