//go:build linux

package node

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// slowly is a program of two threads: one makes a call that has a file written to the disk, the
// other goes on as soon as the first is about to, and a second later, when it changes the file once
// more.
const slowly = prelude + `
import threading, signal
libc = ctypes.CDLL(None, use_errno=True)
r, w = os.pipe()
def say(*what): print(*what, flush=True)
signal.signal(signal.SIGALRM, lambda *_: say("signal"))
fd = put("f", b"old")
%s
os.sync()
def other():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    os.read(r, 1)
    say("other")
    os.kill(os.getpid(), signal.SIGALRM)
    time.sleep(1)
    os.pwrite(os.open("f", os.O_RDWR), b"X", 2)
    say("later")
threading.Thread(target=other).start()
time.sleep(1)
os.write(w, b"1")
%s
say("synced")
time.sleep(1000)
`

const aioPrelude = `
import fcntl
def iocb(op, fd, addr=0, n=0, at=0): return ctypes.create_string_buffer(struct.pack("<QIiHhIQQqQII", 7, 0, 0, op, 0, fd, addr, n, at, 0, 0, 0), 64)
ctx = ctypes.c_ulong(0)
check(libc.syscall(206, 128, ctypes.byref(ctx)))
def submit(*all):
    list = (ctypes.c_void_p * len(all))(*[ctypes.addressof(b) for b in all])
    assert check(libc.syscall(209, ctx, len(all), list)) == len(all)
def getevents(least, most, wait=None):
    b = ctypes.create_string_buffer(32 * most)
    n = -1
    while n < 0: n = libc.syscall(208, ctx, ctypes.c_long(least), ctypes.c_long(most), b, wait)
    return [struct.unpack_from("<QQqq", b, 32 * i)[2] for i in range(n)]
`

// slowCalls are calls by which files are written to the disk, what is done before, and what stands
// behind the thread in the name of the place. old is what may be left when the power fails before
// the end, with what the call itself has changed.
var slowCalls = []struct{ name, before, call, place, left string }{
	{"fsync", "", `os.write(fd, b"new"); os.fsync(fd)`, "fsync/disk:/node/f#1", "old | oldnew"},
	{"fdatasync", "", `os.write(fd, b"new"); os.fdatasync(fd)`, "fdatasync/disk:/node/f#1", "old | oldnew"},
	{"sync", "", `os.pwrite(fd, b"new", 0); os.sync()`, "sync/disk#1", "old | new"},
	{"syncfs", "", `os.pwrite(fd, b"new", 0); check(libc.syncfs(fd))`, "syncfs/disk#1", "old | new"},
	{"O_DSYNC", `fd = os.open("f", os.O_RDWR | os.O_DSYNC)`, `assert os.write(fd, b"new") == 3`, "write/disk:/node/f#1",
		"old | new"},
	{"O_SYNC", `fd = os.open("f", os.O_RDWR | os.O_SYNC)`, `assert os.pwritev(fd, [b"n", b"ew"], 0) == 3`,
		"pwritev2/disk:/node/f#1", "old | new"},
	{"RWF_DSYNC", "", `assert os.pwritev(fd, [b"new"], 0, os.RWF_DSYNC) == 3`, "pwritev2/disk:/node/f#1", "old | new"},
	{"copy_file_range", `put("g", b"new"); fd = os.open("f", os.O_RDWR | os.O_SYNC); g = os.open("g", os.O_RDONLY)`, `assert os.copy_file_range(g, fd, 3) == 3`, "copy_file_range/disk:/node/f#1", "old | new"},
	{"msync", `m = mmap.mmap(fd, 3)`, `m[0:3] = b"new"; a = ctypes.addressof(ctypes.c_char.from_buffer(m)); check(libc.msync(ctypes.c_void_p(a), ctypes.c_size_t(3), 4))`, "msync/disk:/node/f#1", "old | new"},
	{"io_submit", aioPrelude, `
os.pwrite(fd, b"new", 0)
submit(iocb(2, fd))
assert getevents(1, 1) == [0]
`, "io_submit/disk:/node/f#1", "old | new"},
	{"io_destroy", aioPrelude, `
os.pwrite(fd, b"new", 0)
submit(iocb(3, fd))
check(libc.syscall(207, ctx))
`, "io_submit/disk:/node/f#1", "old | new"},
}

// slow boots a node whose syncs may take two seconds, and machine lose power, up to where it is
// about to make a call.
func slow(t *testing.T, before, call string) (*Node, func(ariadne.Input) ariadne.Output, ariadne.Output) {
	t.Helper()
	s := alone(t.TempDir(), "/usr/bin/python3", "-c", fmt.Sprintf(slowly, before, call))
	s.Faults[world.Power] = 2
	s.Faults[world.Stall], s.Stall.For = 2, []time.Duration{2 * time.Second, 3 * time.Second}
	s.Power.Model, s.Power.Images = disk.Any, 64
	n, apply := start(t, s)
	out := apply(ariadne.Input{Kind: ariadne.Start})
	return n, apply, out
}

// TestSlowSync: a call takes as long as it is told, other threads of the node go on, and no signal
// ends it. It returns what it would have. Its data is durable when it returns, and data that was
// written meanwhile is not.
func TestSlowSync(t *testing.T) {
	for _, c := range slowCalls {
		t.Run(c.name, func(t *testing.T) {
			n, apply, out := slow(t, c.before, c.call)
			at := out.Deadline
			freeze := func() *Checkpoint {
				t.Helper()
				k, err := n.Freeze()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { k.Drop() })
				return k
			}
			before := freeze()
			// of a copy of the node, given these inputs
			from := func(k *Checkpoint, in ...ariadne.Input) (out ariadne.Output, left string) {
				t.Helper()
				m, err := k.Thaw()
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range in {
					if out, err = m.Apply(i); err != nil {
						t.Fatal(err)
					}
				}
				for _, line := range snapshot(t, m) {
					if name, text, ok := strings.Cut(line, " "); ok && name == "f" {
						left = text[strings.Index(text, `"`)+1 : strings.LastIndex(text, `"`)]
					}
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
				return out, left
			}
			// what a loss of power may leave
			images := func(k *Checkpoint, at ariadne.Time) string {
				t.Helper()
				in := ariadne.Input{Kind: ariadne.Fault, At: at,
					Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}}
				out, left := from(k, in)
				all := []string{left}
				for _, more := range out.More() {
					in.Vary = ariadne.Variation("").And(more)
					_, left := from(k, in)
					all = append(all, left)
				}
				slices.Sort(all)
				return strings.Join(slices.Compact(all), " | ")
			}
			plain, _ := from(before, ariadne.Input{Kind: ariadne.Fire, At: at})
			if got := lines(&plain); !slices.Contains(got, "synced") || len(plain.Messages) > 0 {
				t.Fatalf("undisturbed: %q", got)
			}
			var place ariadne.Choice
			for _, m := range plain.More() {
				if strings.HasSuffix(m.Place, "/"+c.place) && m.Alternative == "stall:2s" {
					place = m
				}
			}
			if place.Place == "" {
				t.Fatalf("no place %s among %v", c.place, plain.Places)
			}
			vary := ariadne.Variation("").And(place)
			out = apply(ariadne.Input{Kind: ariadne.Fire, At: at, Vary: vary})
			if got, want := lines(&out), []string{"other"}; strings.HasPrefix(c.name, "io_submit") &&
				slices.Equal(got, []string{"other", "signal"}) {
				// who waits for events can be interrupted
			} else if !slices.Equal(got, want) || out.Variation() != vary {
				t.Fatalf("says %q, want %q; varied by %s", got, want, out.Variation())
			}
			if len(out.Messages) != 1 {
				t.Fatalf("sends %v", out.Messages)
			}
			end := out.Messages[0]
			if end.Flow.Proto != ariadne.Disk || end.After() != 2*time.Second || end.To != end.From ||
				!strings.HasPrefix(c.place, strings.Fields(string(end.Data))[0]) {
				t.Errorf("sends %+v", end)
			}
			begun := freeze()
			left := strings.Split(strings.Replace(c.left, " | oldnew", ` | old\x00\x00\x00 | oldnew`, 1), " | ")
			slices.Sort(left)
			if got, want := images(begun, out.Clock), strings.Join(left, " | "); got != want {
				t.Errorf("before the end %s may be left, want %s", got, want)
			}
			later := apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			if got := lines(&later); !slices.Equal(got, []string{"later"}) {
				t.Fatalf("a second later: %q", got)
			}
			meanwhile := freeze()
			in := ariadne.Input{Kind: ariadne.Deliver, At: end.Sent.Add(end.After()), Message: &end}
			over := apply(in)
			want := []string{"synced", "signal"}
			got := lines(&over)
			slices.Sort(got)
			slices.Sort(want)
			if strings.HasPrefix(c.name, "io_submit") {
				want = []string{"synced"}
			}
			if !slices.Equal(got, want) || over.Clock < in.At {
				t.Errorf("at the end %q", got)
			}
			again, _ := from(meanwhile, in)
			if again.Digest != over.Digest {
				t.Error("a copy does something else")
			}
			// Of two changes the first is durable, and the second, that came meanwhile, is not.
			_, now, _ := strings.Cut(c.left, " | ")
			then := now[:2] + "X" + now[3:]
			if got, want := images(freeze(), over.Clock),
				strings.Join(slices.Sorted(slices.Values([]string{now, then})), " | "); got != want {
				t.Errorf("after the end %s may be left, want %s", got, want)
			}
			// Before the programs' death and after it is no difference: the sync goes on.
			crash := ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
				Fault: ariadne.Outage{Down: ariadne.Crashed, For: 10 * time.Second}}
			if _, left := from(begun, crash, in,
				ariadne.Input{Kind: ariadne.Fault, At: in.At,
					Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}}); left != now {
				t.Errorf("of programs that were killed %q is left, want %q", left, now)
			}
		})
	}
}

// TestSyncsEndInAnyOrder: each of two that are under way ends by itself.
func TestSyncsEndInAnyOrder(t *testing.T) {
	program := slowly[:strings.Index(slowly, "def other")] + `
def sync(name):
    fd = put(name, b"new")
    os.fsync(fd)
    say(name)
for name in "g", "h": threading.Thread(target=sync, args=[name]).start()
time.sleep(1000)
`
	_, apply := downOf(t, world.Stall, t.TempDir(), "/usr/bin/python3", "-c", fmt.Sprintf(program, ""))
	in := ariadne.Input{Kind: ariadne.Start}
	out := apply(in)
	var vary ariadne.Variation
	for _, m := range out.More() {
		if m.Alternative == "stall:0s" &&
			(strings.Contains(m.Place, "/fsync/disk:/node/g") || strings.Contains(m.Place, "/fsync/disk:/node/h")) {
			vary = vary.And(m)
		}
	}
	_, apply = downOf(t, world.Stall, t.TempDir(), "/usr/bin/python3", "-c", fmt.Sprintf(program, ""))
	in.Vary = vary
	if out = apply(in); len(out.Messages) != 2 || len(lines(&out)) > 0 || out.Variation() != vary {
		t.Fatalf("%v %q varied by %q, and not %q", out.Messages, lines(&out), out.Variation(), vary)
	}
	for i, want := range []string{"h", "g"} {
		m := out.Messages[1-i]
		if got := apply(ariadne.Input{Kind: ariadne.Deliver, At: m.Sent + 10, Message: &m}); !slices.Equal(lines(&got),
			[]string{want}) {
			t.Errorf("%s: %q", m.Data, lines(&got))
		}
	}
}

// TestWhereSyncsTakeTime: a node has places for them where the spec means it, and no others.
func TestWhereSyncsTakeTime(t *testing.T) {
	const program = prelude + `
fd = put("f.log", b"new", os.O_DSYNC)
g = put("g")
for f in fd, g: os.fsync(f)
os.fsync(put("/tmp/h")); os.fsync(os.open(".", os.O_RDONLY))
try: os.fsync(os.pipe()[0])
except OSError: pass
os.sync()
m = mmap.mmap(-1, 4096); m.flush()
print("ready", flush=True)
os.fsync(g)
with open("/dev/ariadne", "w") as f: f.write("fault off")
os.fsync(g)
`
	log, all := []string{"write/disk:/node/f.log#1", "fsync/disk:/node/f.log#1", "sync/disk#1"},
		[]string{"write/disk:/node/f.log#1", "fsync/disk:/node/f.log#1", "fsync/disk:/node/g#1", "fsync/disk:/node#1",
			"sync/disk#1", "fsync/disk:/node/g#2"}
	for name, c := range map[string]struct {
		set  func(s *spec.Spec)
		want []string
	}{
		"all":         {func(*spec.Spec) {}, all},
		"some files":  {func(s *spec.Spec) { s.Stall.Paths = []string{"*.log"} }, log},
		"no node":     {func(s *spec.Spec) { s.Stall.Nodes = []ariadne.NodeID{} }, nil},
		"a line":      {func(s *spec.Spec) { s.After[world.Stall] = regexp.MustCompile("ready") }, all[5:]},
		"without one": {func(s *spec.Spec) { s.Faults[world.Stall] = 0 }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := alone(t.TempDir(), "/usr/bin/python3", "-c", program)
			s.Faults[world.Stall] = 2
			c.set(s)
			_, apply := start(t, s)
			out := apply(ariadne.Input{Kind: ariadne.Start})
			var got []string
			for _, p := range out.Places {
				_, place, _ := strings.Cut(p.Name, "/")
				got = append(got, place)
				if !slices.Equal(p.Alternatives, []string{"stall:0s", "stall:2s"}) {
					t.Errorf("%s: %q", p.Name, p.Alternatives)
				}
			}
			want := slices.Clone(c.want)
			if name == "a line" {
				want = []string{"fsync/disk:/node/g#1"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q; it says %q %v", got, want, lines(&out), out.Exits)
			}
		})
	}
}
