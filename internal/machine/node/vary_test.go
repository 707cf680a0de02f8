//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// varied runs one step of a node of one command, whose calls may fail, and gives it up.
func varied(t *testing.T, dir string, args []string, errors map[string][]string, v ariadne.Variation) ariadne.Output {
	t.Helper()
	s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Fail:  spec.Fail{Errors: errors},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: args}}}}}
	s.Faults[world.Fail] = 1
	n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	return out
}

func lines(o *ariadne.Output) (all []string) {
	for _, l := range o.Logs {
		all = append(all, l.Text)
	}
	return all
}

// TestCallsFailAsOnLinux: a program that has no more descriptors, or no room on its disk, sees
// the same on Linux as where all calls fail that may: those fail that would look for what is
// missing, and no others.
func TestCallsFailAsOnLinux(t *testing.T) {
	program := filepath.Join(t.TempDir(), "lacking")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", program,
		"testdata/lacking.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	tmpfs := func(options, what string) []string {
		return []string{"unshare", "-Urm", "sh", "-c",
			"mount -t tmpfs -o " + options + " none /mnt && cd /mnt && exec " + program + " " + what + " really"}
	}
	for _, c := range []struct {
		what, error string
		calls       string
		from        string // the first place
		native      []string
		once        bool // only there
	}{
		{"files", "EMFILE", "open openat creat socket accept accept4 pipe pipe2 epoll_create1 eventfd2", "/openat:/etc/passwd#1", []string{program, "files", "really"}, false},
		{"room", "ENOSPC", "write writev pwrite64 pwritev pwritev2 fallocate", "/write:/node/file#1",
			tmpfs("size=16k", "room"), false},
		{"names", "ENOSPC", "open openat creat mkdir mkdirat symlink symlinkat mknod mknodat link linkat", "/openat:/node/new#1", tmpfs("nr_inodes=8", "names"), false},
		{"readonly", "EROFS", "open openat creat mkdir mkdirat symlink symlinkat mknod mknodat link linkat unlink unlinkat rmdir rename renameat renameat2",
			"/openat:/node/new#1", tmpfs("size=64k", "readonly"), false},
		{"full", "FULL", "write", "/write:/node/file#1", tmpfs("size=64k", "full"), true},
		{"parts", "SHORT", "write pwrite64", "/write:/node/file#1", tmpfs("size=64k", "parts"), false},
		{"interrupted", "EINTR", "poll ppoll select pselect6 epoll_wait epoll_pwait nanosleep clock_nanosleep semop semtimedop msgrcv rt_sigtimedwait read recvfrom accept flock wait4",
			"/poll/wait#1", []string{program, "interrupted", "really"}, false},
		{"memory", "ENOMEM", "mmap mremap brk", "/mmap#3", []string{program, "memory", "really"}, false},
		{"processes", "EAGAIN", "clone clone3 fork vfork", "/clone#1", []string{program, "processes", "really"}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(c.native[0], c.native[1:]...)
			cmd.Dir = t.TempDir()
			native, err := cmd.CombinedOutput()
			if err != nil && strings.Contains(string(native), "unshare: ") ||
				strings.Contains(string(native), "mount: ") {
				t.Skipf("no tmpfs of our own: %s", native)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, native)
			}
			errors := map[string][]string{}
			for call := range strings.FieldsSeq(c.calls) {
				errors[call] = []string{c.error}
			}
			args := []string{"/spec/lacking", c.what}
			out := varied(t, filepath.Dir(program), args, errors, "")
			for {
				more := out.More()
				from := 0
				if out.Variation() == "" {
					from = slices.IndexFunc(more, func(m ariadne.Choice) bool {
						return strings.HasSuffix(m.Place, c.from)
					})
				}
				if from < 0 {
					t.Fatalf("no place %s among %v: %q %v", c.from, out.Places, lines(&out), out.Exits)
				}
				if from == len(more) || c.once && out.Variation() != "" {
					break
				}
				v := out.Variation().And(more[from])
				if out = varied(t, filepath.Dir(program), args, errors, v); out.Variation() != v {
					t.Fatalf("varied by %s and not by %s: %v %q %v", out.Variation(), v, out.Places, lines(&out),
						out.Exits)
				}
			}
			if got := strings.Join(lines(&out), "\n") + "\n"; got != string(native) {
				t.Errorf("here\n%s\non Linux\n%s", got, native)
			}
		})
	}
}

// TestVariationsAreDrawn: a draw comes to the alternatives one after the other, and varies
// the step as the same variation does when it is said; beyond them the step is undisturbed.
func TestVariationsAreDrawn(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	s := &spec.Spec{Dir: t.TempDir(), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1,
			Commands: []spec.Command{{Args: []string{"/bin/sh", "-c", "echo a >f; echo b >>f; echo c | cat >g"}}}}}}
	s.Faults[world.Fail] = 1
	step := func(in ariadne.Input) ariadne.Output {
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		in.Kind = ariadne.Start
		out, err := n.Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		return out
	}
	plain := step(ariadne.Input{})
	all := plain.More()
	if len(all) != 6 || plain.Variation() != "" { // three writes, each with ENOSPC and EIO
		t.Fatalf("places %v", plain.Places)
	}
	for i, c := range all {
		drawn := step(ariadne.Input{Draw: &ariadne.Draw{Kinds: []string{"fail"}, After: [][]int{{i + 1}}}})
		said := step(ariadne.Input{Vary: ariadne.Variation(c.String())})
		if drawn.Variation() != ariadne.Variation(c.String()) || drawn.Digest != said.Digest {
			t.Errorf("number %d is %s, want %s; digests %v and %v", i+1, drawn.Variation(), c, drawn.Digest,
				said.Digest)
		}
		if said.Digest == plain.Digest {
			t.Errorf("%s changes nothing", c)
		}
	}
	for _, d := range []ariadne.Draw{{Kinds: []string{"fail"}, After: [][]int{{len(all) + 1}}},
		{Kinds: []string{"other"}, After: [][]int{{1}}}, {}} {
		if out := step(ariadne.Input{Draw: &d}); out.Digest != plain.Digest {
			t.Errorf("%+v: %s", d, out.Variation())
		}
	}
	s.Fail.Paths = []string{"*/g"}
	if out := step(ariadne.Input{}); len(out.Places) != 0 {
		t.Errorf("no path is like */g, and there are %v", out.Places)
	}
	s.Fail.Paths = []string{"/node/*"}
	if out := step(ariadne.Input{}); len(out.Places) != 3 {
		t.Errorf("on /node/* are %v", out.Places)
	}
}

// TestCallsFailLater: calls fail once the node has written a line, and of some programs only.
func TestCallsFailLater(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fail   spec.Fail
		after  string
		places []string
	}{
		{spec.Fail{}, "", []string{"/node/a", "/node/b", "/node/c"}},
		{spec.Fail{}, "^ready$", []string{"/node/b", "/node/c"}},
		{spec.Fail{Programs: []string{"cp", "printf"}}, "", []string{"/node/c"}},
		{spec.Fail{}, "^never$", nil},
	} {
		s := &spec.Spec{Dir: t.TempDir(), Fail: c.fail,
			Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Nodes: []spec.Node{{Name: "n1", CPUs: 1,
				Commands: []spec.Command{{Args: []string{"/bin/sh", "-c",
					"echo a >a; echo ready; echo b >b; /usr/bin/printf c >c"}}}}}}
		s.Fail.Errors = map[string][]string{"write": {"EIO"}}
		s.Faults[world.Fail] = 1
		if c.after != "" {
			s.After[world.Fail] = regexp.MustCompile(c.after)
		}
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		var places []string
		for _, p := range out.Places {
			_, file, _ := strings.Cut(strings.TrimSuffix(p.Name, "#1"), ":")
			places = append(places, file)
		}
		if !slices.Equal(places, c.places) {
			t.Errorf("%+v: places on %v, want %v", c.fail, places, c.places)
		}
	}
}

// TestCopiesFail: what reads files, and what writes to them other than by write(2), fails with each
// of its errors alone, and the program is told.
func TestCopiesFail(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", filepath.Join(dir, "copies"),
		"testdata/copies.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	errors := map[string][]string{"read": {"EIO"}, "readv": {"EIO"}, "pread64": {"EIO"},
		"copy_file_range": {"ENOSPC", "EIO"}, "splice": {"ENOSPC", "EIO"},
		"sendfile": {"EIO"}, "io_submit": {"ENOSPC", "EIO"}}
	args := []string{"/spec/copies"}
	plain := varied(t, dir, args, errors, "")
	want := lines(&plain)
	if len(want) != 10 || slices.ContainsFunc(want, func(l string) bool { return strings.Contains(l, ": E") }) {
		t.Fatalf("undisturbed: %q %v", want, plain.Exits)
	}
	more := plain.More()
	if len(more) != 10 {
		t.Fatalf("%d alternatives: %v", len(more), more)
	}
	for _, m := range more {
		v := ariadne.Variation(m.String())
		out := varied(t, dir, args, errors, v)
		_, name, _ := strings.Cut(m.Alternative, ":")
		told := slices.IndexFunc(lines(&out), func(l string) bool { return strings.HasSuffix(l, ": "+name) })
		if out.Variation() != v || told < 0 || !strings.Contains(m.Place, "/"+strings.Fields(want[told])[0]) {
			t.Errorf("%s: %q", v, lines(&out))
		}
	}
}

// TestSites: names of places say where in the program a call is made, by function where the program
// has symbols.
func TestSites(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "lacking")
	for _, c := range []struct{ option, want string }{
		{"-g", `^\d+/write:/node/file<lacking:room\+0x[0-9a-f]+<lacking:main\+0x[0-9a-f]+#1$`},
		{"-s", `^\d+/write:/node/file<lacking\+0x[0-9a-f]+<lacking\+0x[0-9a-f]+#1$`},
	} {
		if out, err := exec.Command("cc", "-O1", "-fno-inline", c.option, "-o", program,
			"testdata/lacking.c").CombinedOutput(); err != nil {
			t.Skipf("cc: %v\n%s", err, out)
		}
		s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Fail: spec.Fail{Errors: map[string][]string{"write": {"ENOSPC"}}, Sites: true},
			Nodes: []spec.Node{{Name: "n1", CPUs: 1,
				Commands: []spec.Command{{Args: []string{"/spec/lacking", "room"}}}}}}
		s.Faults[world.Fail] = 1
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if len(out.Places) == 0 || !regexp.MustCompile(c.want).MatchString(out.Places[0].Name) {
			t.Errorf("%s: %v, want %s", c.option, out.Places, c.want)
		}
	}
}

// TestFunctionsFail: functions that the spec names are places wherever they are called, in the
// program and its libraries, in threads and children. Undisturbed they do what they do on Linux;
// one that fails returns its value, once. Checkpoints and their copies have the same places.
func TestFunctionsFail(t *testing.T) {
	for _, options := range [][]string{{"-fcf-protection=full"}, {"-fcf-protection=none", "-O0"}, {"-static"},
		{"-static-pie"}, {"-no-pie", "-s"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			program := filepath.Join(dir, "functions")
			if out, err := exec.Command("cc",
				append(options, "-Wall", "-pthread", "-o", program,
					"testdata/functions.c")...).CombinedOutput(); err != nil {
				t.Skipf("cc: %v\n%s", err, out)
			}
			native, err := exec.Command(program).CombinedOutput()
			if err != nil {
				t.Fatal(err)
			}
			stripped := slices.Contains(options, "-s")
			s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
				Fail: spec.Fail{Errors: map[string][]string{}, Functions: map[string]int64{"answer": -7, "strdup": 0}},
				Nodes: []spec.Node{{Name: "n1", CPUs: 1,
					Commands: []spec.Command{{Args: []string{"/spec/functions"}}}}}}
			s.Faults[world.Fail] = 1
			// whole is an execution with its third step varied, and that step.
			whole := func(v ariadne.Variation) (all []string, third ariadne.Output) {
				n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
				in := ariadne.Input{Kind: ariadne.Start}
				for i := 1; ; i++ {
					if i == 3 {
						in.Vary = v
					}
					out, err := n.Apply(in)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, lines(&out)...)
					if i == 3 {
						third = out
					}
					if out.Done {
						break
					}
					in = ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
				}
				if err := n.Close(); err != nil {
					t.Error(err)
				}
				return all, third
			}
			plain, third := whole("")
			if got := strings.Join(plain, "\n") + "\n"; got != string(native) {
				t.Fatalf("here\n%s\non Linux\n%s", got, native)
			}
			want := map[string]string{"strdup": "strdup: NULL"}
			if !stripped {
				want["answer"] = "answer -7"
			}
			count := map[string]int{}
			for _, m := range third.More() {
				name, _, _ := strings.Cut(m.Place[strings.IndexByte(m.Place, '/')+1:], "()")
				count[name]++
				v := ariadne.Variation(m.String())
				varied, out := whole(v)
				other := 0
				for i := range varied {
					if varied[i] != plain[i] {
						other++
						if !strings.HasSuffix(varied[i], want[name]) {
							t.Errorf("%s: %q", v, varied[i])
						}
					}
				}
				if out.Variation() != v || other != 1 || len(varied) != len(plain) {
					t.Errorf("%s: varied by %q, %d lines differ: %q", v, out.Variation(), other, varied)
				}
			}
			if count["strdup"] != 1 || count["answer"] != map[bool]int{true: 0, false: 4}[stripped] {
				t.Errorf("places %v", third.Places)
			}
			freezeAndThawSpec(t, s)
		})
	}
}

// TestRootDoesNotLackFiles: the system's table of files is never full for root.
func TestRootDoesNotLackFiles(t *testing.T) {
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	for user, want := range map[int][]string{0: {"fail:EMFILE", "fail:ENOSPC"},
		1000: {"fail:EMFILE", "fail:ENFILE", "fail:ENOSPC"}} {
		s := &spec.Spec{Dir: t.TempDir(),
			Fail: spec.Fail{Errors: map[string][]string{"openat": {"EMFILE", "ENFILE", "ENOSPC"}},
				Paths: []string{"/tmp/*"}},
			Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Nodes: []spec.Node{{Name: "n1", CPUs: 1, User: user,
				Commands: []spec.Command{{Args: []string{"/bin/sh", "-c", "echo a >/tmp/a"}}}}}}
		s.Faults[world.Fail] = 1
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if len(out.Places) != 1 || !slices.Equal(out.Places[0].Alternatives, want) {
			t.Errorf("user %d: %v, want one place with %v", user, out.Places, want)
		}
	}
}
