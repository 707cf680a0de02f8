// Package guest holds small programs, one purpose each, that must print the same
// on Linux and under Ariadne. They are the measure of the emulated kernel: what a
// program of testdata shows is what Linux does, not what we think it does.
//
// A program is testdata/<family>/<name>.{c,go,py,sh}. It may print nothing that
// differs between two runs on Linux. Lines in it that begin with "guest:" behind
// a comment mark say how it is built and run:
//
//	guest: static         link statically
//	guest: gcc OPTION     compile with this option; skip unless gcc can
//	guest: root           skip unless we are root
//	guest: tsc            skip unless the processor can be told to trap rdtsc
//	guest: unshare --ipc  natively, run it with new namespaces of these kinds; skip unless we are root
//	guest: needs CMD      skip unless CMD is installed
//	guest: args A B       start it with these arguments
//	guest: stdin TEXT     give it this line on standard input
//	guest: spins          Ariadne has to preempt it, and says so
//
// Read next: emulate_test.go, which runs them under Ariadne, and two_test.go, for
// programs on two nodes.
package guest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

// patience is the real time that one run of one program may take.
const patience = 2 * time.Minute

// environment is all that a program sees, natively too.
var environment = []string{
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root", "LANG=C.UTF-8", "TZ=UTC", "LSAN_OPTIONS=detect_leaks=0",
}

// program is one guest program.
type program struct {
	name   string // "tcp/echo"
	source string
	static bool
	gcc    []string
	root   bool
	tsc    bool
	apart  []string
	needs  []string
	args   []string
	stdin  string
	spins  bool
}

// outcome is what must be equal natively and under Ariadne.
type outcome struct {
	stdout string
	status int // exit status, or 128 + signal
	stderr string
}

// mustShow ends the test of a program that is no good natively.
func (o outcome) mustShow(t *testing.T, who string) {
	t.Helper()
	if o.stdout == "" || strings.Contains(o.stdout, "cannot go on") {
		t.Fatalf("%s natively: status %d\n%s%s", who, o.status, o.stdout, o.stderr)
	}
}

// mustEqual compares what a program did under Ariadne with what it did natively.
func (o outcome) mustEqual(t *testing.T, who string, native outcome) {
	t.Helper()
	if o.status != native.status {
		t.Errorf("%s: status %d, natively %d", who, o.status, native.status)
	}
	if o.stdout != native.stdout {
		t.Errorf("%s: natively (-) and under Ariadne (+):\n%s", who, difference(native.stdout, o.stdout))
	}
	if t.Failed() && o.stderr != "" {
		t.Logf("%s: standard error under Ariadne:\n%s", who, o.stderr)
	}
}

// difference shows two texts line by line: what is common, what only one has.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	// common[i][j] is the length of the longest common subsequence of x[i:], y[j:].
	common := make([][]int, len(x)+1)
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(x) || j < len(y) {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			out.WriteString("  " + x[i] + "\n")
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("- " + x[i] + "\n")
			i++
		default:
			out.WriteString("+ " + y[j] + "\n")
			j++
		}
	}
	return out.String()
}

func TestGuests(t *testing.T) {
	for _, p := range programs(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.skip(t)
			dir := t.TempDir()
			file := p.build(t, dir)
			want := p.native(t, filepath.Join(dir, file))
			want.mustShow(t, p.name)
			got := emulate(t, dir, []node{{name: "guest", program: p, file: file, args: p.args}})
			got["guest"].mustEqual(t, p.name, want)
		})
	}
}

// programs lists testdata.
func programs(t *testing.T) []program {
	t.Helper()
	sources, err := filepath.Glob("testdata/*/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var out []program
	for _, s := range sources {
		name := strings.TrimPrefix(strings.TrimSuffix(s, filepath.Ext(s)), "testdata/")
		if strings.HasPrefix(name, "two/") || strings.HasPrefix(name, "fault/") || filepath.Ext(s) == ".h" {
			continue
		}
		out = append(out, read(t, name, s))
	}
	return out
}

// read reads a program's "guest:" lines.
func read(t *testing.T, name, source string) program {
	t.Helper()
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	p := program{name: name, source: source}
	for line := range strings.Lines(string(b)) {
		_, line, ok := strings.Cut(line, " guest: ")
		if !ok {
			continue
		}
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "static":
			p.static = true
		case "gcc":
			p.gcc = append(p.gcc, rest)
		case "root":
			p.root = true
		case "tsc":
			p.tsc = true
		case "unshare":
			p.root, p.apart = true, append([]string{"unshare"}, strings.Fields(rest)...)
			p.needs = append(p.needs, "unshare")
		case "spins":
			p.spins = true
		case "needs":
			p.needs = append(p.needs, rest)
		case "args":
			p.args = strings.Fields(rest)
		case "stdin":
			p.stdin = rest + "\n"
		default:
			t.Fatalf("%s: unknown line %q", source, line)
		}
	}
	return p
}

// skip skips a program that cannot run here, and says why.
func (p program) skip(t *testing.T) {
	t.Helper()
	if p.root && os.Getuid() != 0 {
		t.Skip("needs root")
	}
	if can, err := tracee.CanTrapTSC(); p.tsc && (err != nil || !can) {
		t.Skipf("rdtsc is not trapped here (%v)", err)
	}
	needs := p.needs
	switch filepath.Ext(p.source) {
	case ".c":
		needs = append(needs, "gcc")
	case ".py":
		needs = append(needs, "python3")
	}
	if len(p.gcc) > 0 {
		args := append([]string{"-x", "c", "-o", "/dev/null", "-"}, p.gcc...)
		cmd := exec.Command("gcc", args...)
		cmd.Stdin = strings.NewReader("int main(void) { return 0; }")
		if err := cmd.Run(); err != nil {
			t.Skip("needs gcc " + strings.Join(p.gcc, " "))
		}
	}
	for _, c := range needs {
		if _, err := exec.LookPath(c); err != nil {
			t.Skip("needs " + c)
		}
	}
}

// build puts what is to be run into dir and returns the file's name in it.
func (p program) build(t *testing.T, dir string) string {
	t.Helper()
	file := strings.ReplaceAll(p.name, "/", "_")
	out := filepath.Join(dir, file)
	var cmd *exec.Cmd
	switch filepath.Ext(p.source) {
	case ".c":
		args := []string{"-O1", "-pthread", "-Wall", "-Itestdata", "-o", out, p.source, "-lm"}
		if p.static {
			args = append(args, "-static")
		}
		args = append(args, p.gcc...)
		cmd = exec.Command("gcc", args...)
	case ".go":
		cmd = exec.Command("go", "build", "-o", out, p.source)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	default:
		cmd = exec.Command("install", "-m", "755", p.source, out)
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", p.source, err, msg)
	}
	return file
}

// native runs the program on Linux, in an empty directory of its own.
func (p program) native(t *testing.T, path string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	args := append(append(slices.Clone(p.apart), path), p.args...)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = environment
	if p.stdin != "" {
		cmd.Stdin = strings.NewReader(p.stdin)
	}
	return finish(t, cmd)
}

// finish runs cmd to its end, and ends whatever it leaves behind.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s%s", cmd.Path, err, stdout.String(), stderr.String())
	}
	o := outcome{stdout: stdout.String(), stderr: stderr.String()}
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signaled() {
		o.status = 128 + int(ws.Signal())
	} else {
		o.status = ws.ExitStatus()
	}
	return o
}
