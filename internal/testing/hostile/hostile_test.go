// Package hostile holds programs that try to get out of their node, to stop Ariadne
// or to confuse it. They are run as root and as an ordinary user, in Ariadne, with
// bounded memory, time and files.
package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is the real time that one program may take.
const patience = time.Minute

var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hostile")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// ariadne builds Ariadne's command once.
var ariadne = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "ariadne")
	out, err := exec.Command("go", "build", "-o", path, "github.com/ariadne-mc/ariadne/cmd/ariadne").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building ariadne: %v\n%s", err, out)
	}
	return path, nil
})

// node is a program of testdata that is to run as the only one of a node.
type node struct {
	source string // without .c
	// of a second node with the same program; nil: there is none
	other  []string
	args   []string                       // besides the real time, which is always the first
	spec   string                         // further lines of the spec
	of     string                         // further fields of the node
	wait   time.Duration                  // for Ariadne's end, when it is not patience
	user   int                            // of Ariadne
	check  bool                           // not run
	flags  []string                       // of ariadne run
	limits string                         // shell commands in front of Ariadne
	files  func(t *testing.T, dir string) // makes more files beside the spec
}

// outcome is how Ariadne ended.
type outcome struct {
	status int // or 128 + signal
	out    string
	took   time.Duration
	dir    string // of the spec
	peak   int64  // of memory, in KiB
}

// run compiles the program and runs it in Ariadne.
func (n node) run(t *testing.T) outcome {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(built, n.source)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, n.source)
	if out, err := exec.Command(gcc, "-O1", "-w", "-pthread", "-o", program,
		filepath.Join("testdata", n.source+".c")).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	args := append([]string{fmt.Sprint(time.Now().Unix())}, n.args...)
	mark := filepath.Base(dir)
	spec := fmt.Sprintf("name: hostile\n%snodes:\n  - {name: n1, command: %q, client: true, may_fail: true, env: {MARK: %s}%s}\n",
		n.spec, "./"+n.source+" "+strings.Join(args, " "), mark, n.of)
	if n.other != nil {
		spec += fmt.Sprintf("  - {name: n2, command: %q, may_fail: true, env: {MARK: %s}%s}\n",
			"./"+n.source+" "+strings.Join(append([]string{args[0]}, n.other...), " "), mark, n.of)
	}
	if err := os.WriteFile(filepath.Join(dir, "spec.yaml"), []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := os.MkdirTemp(built, "out")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, out} {
		if err := errors.Join(os.Chmod(d, 0o755), os.Chown(d, n.user, -1)); err != nil {
			t.Fatal(err)
		}
	}
	if n.files != nil {
		n.files(t, dir)
	}
	before := listing(t, dir)
	wait := patience
	if n.wait != 0 {
		wait = n.wait
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	how := []string{"run"}
	if n.check {
		how = []string{"check", "--verbose"}
	}
	line := append([]string{"-c", n.limits + "\nexec \"$@\"", "sh", command}, how...)
	line = append(append(line, "--out", filepath.Join(out, "run")), n.flags...)
	cmd := exec.CommandContext(ctx, "/bin/sh", append(line, filepath.Join(dir, "spec.yaml"))...)
	cmd.Dir, cmd.Env = out, append(os.Environ(), "TMPDIR="+out, "HOME="+out)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if n.user != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(n.user), Gid: uint32(n.user)}
	}
	began := time.Now()
	text, err := cmd.CombinedOutput()
	o := outcome{out: string(text), took: time.Since(began), dir: dir}
	o.peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if ctx.Err() != nil {
		t.Errorf("%s: Ariadne still runs after %v:\n%s", n.source, wait, last(o.out))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		ws := exit.Sys().(syscall.WaitStatus)
		if o.status = ws.ExitStatus(); ws.Signaled() {
			o.status = 128 + int(ws.Signal())
		}
	} else if err != nil {
		t.Fatal(err)
	}
	if after := listing(t, dir); before != after {
		t.Errorf("%s: the spec's directory is now\n%s\nand was\n%s", n.source, after, before)
	}
	if left := processes(mark); len(left) > 0 {
		t.Errorf("%s: processes are left: %v", n.source, left)
	}
	if n.user != 0 && strings.Contains(o.out, "user namespace") && o.status == 2 {
		t.Skip("ordinary users may not make user namespaces here: ", last(o.out))
	}
	return o
}

// listing tells of each file in a directory what nobody may change.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		fmt.Fprintln(&s, path, info.Mode(), info.Size(), info.ModTime().UnixNano(), st.Ctim, st.Ino, st.Uid, st.Nlink)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Devices are the host's own in a node too.
	for _, d := range []string{"null", "zero", "full", "random", "urandom"} {
		if info, err := os.Stat("/dev/" + d); err == nil {
			fmt.Fprintln(&s, d, info.Mode(), info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Gid,
				info.Sys().(*syscall.Stat_t).Ctim)
		}
	}
	return s.String()
}

// processes are those whose environment names mark.
func processes(mark string) (left []string) {
	list, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range list {
		if b, err := os.ReadFile(name); err == nil && bytes.Contains(b, []byte("MARK="+mark+"\x00")) {
			left = append(left, name)
		}
	}
	return left
}

func last(s string) string {
	const most = 3000
	if len(s) > most {
		return "..." + s[len(s)-most:]
	}
	return s
}

// users are those whom a program is tried as.
func users() []int {
	if os.Getuid() == 0 {
		return []int{0, 65534}
	}
	return []int{os.Getuid()}
}

// TestEscapes runs the programs that try to get out.
func TestEscapes(t *testing.T) {
	for _, source := range []string{"forged", "pages"} {
		for _, user := range users() {
			t.Run(fmt.Sprintf("%s/%d", source, user), func(t *testing.T) {
				t.Parallel()
				o := node{source: source, user: user}.run(t)
				if strings.Contains(o.out, "escaped") || strings.Contains(o.out, "broken") ||
					!strings.Contains(o.out, "done\n") {
					t.Error(last(o.out))
				}
				if o.status != 0 && o.status != 3 {
					t.Errorf("status %d:\n%s", o.status, last(o.out))
				}
			})
		}
	}
}

// TestCallSites has the bytes by which calls were entered overwritten, while copies are made of the
// processes that wait in them. A process that got away is one that node.run finds.
func TestCallSites(t *testing.T) {
	for _, user := range users() {
		t.Run(fmt.Sprint("run-", user), func(t *testing.T) {
			t.Parallel()
			o := node{source: "callsite", user: user}.run(t)
			if o.status != 0 || strings.Contains(o.out, "escaped") || !strings.Contains(o.out, "| done\n") {
				t.Errorf("status %d:\n%s", o.status, last(o.out))
			}
		})
		t.Run(fmt.Sprint("check-", user), func(t *testing.T) {
			t.Parallel()
			o := node{source: "callsite", user: user, check: true,
				flags: []string{"--strategy", "depth-first", "--audit", "1", "--executions", "2", "--time",
					"5m"}}.run(t)
			if o.status != 0 || strings.Contains(o.out, " 0 freezes") || !strings.Contains(o.out, " 0 different") {
				t.Errorf("status %d:\n%s", o.status, last(o.out))
			}
		})
	}
}

// TestInterrupt: one step that does not end by itself ends at once on a Ctrl-C.
func TestInterrupt(t *testing.T) {
	const limits = "limits: {divergence: 60s, calls: 1000000000}\n"
	for _, how := range []string{"loop", "spin"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o := node{source: "swell", args: []string{how}, spec: limits,
				limits: "set -- timeout --foreground -s INT 3 \"$@\""}.run(t)
			if o.took > 10*time.Second || strings.Contains(o.out, "bug in") ||
				!strings.Contains(o.out, "the execution was stopped") {
				t.Errorf("status %d after %v:\n%s", o.status, o.took, last(o.out))
			}
		})
	}
}

// TestSwell: what one call asks for does not fill the memory, nor take long.
func TestSwell(t *testing.T) {
	cases := []struct {
		how, want string
		status    int
	}{
		{"out", "output beyond 32 MiB", 0},
		{"exec", "exec: Argument list too long", 0},
		{"datagram", "send: Message too long", 0},
		{"forks", "a node has 4096 processes and threads", 3},
		{"timers", "timers", 0},
		{"mappings", "mappings end", 0},
	}
	if os.Getenv("ARIADNE_LONG") != "" {
		cases = append(cases, cases[0])
		cases[len(cases)-1].how, cases[len(cases)-1].want = "names", "300002 names"
	}
	for _, c := range cases {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			o := node{source: "swell", args: []string{c.how}, limits: "ulimit -v 16000000"}.run(t)
			if o.status != c.status || !strings.Contains(o.out, c.want) || o.peak > 1<<20 {
				t.Errorf("status %d after %v, %d KiB of memory:\n%s", o.status, o.took, o.peak, last(o.out))
			}
		})
	}
}

// TestFuzz makes system calls at random: no panic, no hang, nothing of the host's
// changed. ARIADNE_LONG makes it millions.
func TestFuzz(t *testing.T) {
	calls, seeds := 15_000, 1
	if os.Getenv("ARIADNE_LONG") != "" {
		calls, seeds = 500_000, 4
	}
	for seed := 1; seed <= seeds; seed++ {
		for _, numbers := range [][]string{nil, {"0", "1000"}} {
			args := append([]string{fmt.Sprint(seed), fmt.Sprint(calls)}, numbers...)
			user := users()[seed%len(users())]
			t.Run(strings.Join(args, "-"), func(t *testing.T) {
				t.Parallel()
				o := node{source: "fuzz", args: args, user: user, wait: 10 * time.Minute, limits: "ulimit -v 16000000",
					spec: "limits: {steps: 100000000, time: 10000000s, calls: 100000000, divergence: 60s}\n"}.run(t)
				if o.status != 0 && o.status != 1 && o.status != 3 || !strings.Contains(o.out, "batches, done") {
					t.Errorf("status %d after %v:\n%s", o.status, o.took, last(o.out))
				}
			})
		}
	}
}

// TestFuzzChecked: copies of a process that made calls at random do the same as it does. The
// seeds are some with which they did not.
func TestFuzzChecked(t *testing.T) {
	for _, seed := range []string{"11", "12", "18", "24", "31", "33", "36"} {
		t.Run(seed, func(t *testing.T) {
			o := node{source: "fuzz", args: []string{seed, "15000"}, check: true,
				flags:  []string{"--strategy", "depth-first", "--audit", "1", "--time", "30s"},
				limits: "ulimit -v 16000000", spec: "limits: {steps: 100000000, time: 10000000s, calls: 100000000, divergence: 60s}\n"}.run(t)
			if o.status != 0 && o.status != 3 || !strings.Contains(o.out, " 0 different") {
				t.Errorf("status %d after %v:\n%s", o.status, o.took, last(o.out))
			}
		})
	}
}
