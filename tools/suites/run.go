package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// outcome is what came of one program, or of one of its tests.
type outcome struct {
	status  int // exit status, 128 + signal, or -1 when it did not end
	passed  int // checks
	failed  int
	skipped int
	refused []string // calls that Ariadne refused and that matter
	err     error
	tests   gtest // of a program of Google Test
}

func (o outcome) good() bool { return o.status == 0 && o.failed == 0 && o.err == nil }

func (o outcome) String() string {
	s := fmt.Sprintf("status %d, %d passed, %d failed, %d skipped", o.status, o.passed, o.failed, o.skipped)
	if o.status < 0 {
		s = "did not end"
	}
	if o.err != nil {
		s += ": " + o.err.Error()
	}
	return s
}

type verdict int

const (
	passes verdict = iota
	failsNatively
	refused
	differs
	endless
)

func (v verdict) String() string {
	return [...]string{"passes", "fails natively", "refused", "differs", "does not end"}[v]
}

// result is a program's two outcomes, or a test's.
type result struct {
	name         string
	native, here outcome
	verdict      verdict
}

func (r result) String() string {
	s := fmt.Sprintf("%-24s %s: natively %v; here %v", r.name, r.verdict, r.native, r.here)
	if len(r.here.refused) > 0 {
		s += "; refused: " + strings.Join(r.here.refused, ", ")
	}
	return s
}

// judge says what the two outcomes mean.
func judge(native, here outcome) verdict {
	switch {
	case !native.good():
		return failsNatively
	case here.good() && here.passed >= native.passed:
		return passes
	case here.status < 0:
		return endless
	case len(here.refused) > 0:
		return refused
	}
	return differs
}

// both runs a program natively and, when it passes there, under Ariadne. A program of Google
// Test has as many results as tests.
func (o options) both(program string) []result {
	r := result{name: filepath.Base(program)}
	dir, err := os.MkdirTemp(o.work, "suites")
	if err != nil {
		r.native.err, r.verdict = err, failsNatively
		return []result{r}
	}
	defer os.RemoveAll(dir)
	r.native = o.native(program, dir)
	if len(r.native.tests.names) > 0 {
		return o.tests(program, dir, r.native.tests)
	}
	if r.native.good() {
		r.here = o.emulated(program, dir)
	}
	r.verdict = judge(r.native, r.here)
	return []result{r}
}

// native runs a program in namespaces of its own, as a root that cannot change what they do not
// keep apart. The first process of a namespace gets no signal that it does not handle, and children
// without parents: the program is not that one.
func (o options) native(program, dir string) outcome {
	work := filepath.Join(dir, "native")
	if err := os.Mkdir(work, 0o755); err != nil {
		return outcome{err: err}
	}
	args := []string{"--net", "--mount", "--propagation", "private", "--pid", "--ipc", "--uts", "--fork",
		"--mount-proc", "--kill-child"}
	if os.Getuid() != 0 {
		args = append(args, "--map-root-user")
	}
	// nodes have a loopback
	args = append(args, "sh", "-c", `ip link set lo up 2>/dev/null; exec "$@"`, "sh")
	args = append(args, "setpriv", "--bounding-set", machineCaps, "sh", "-c", `"$@"; exit $?`, "sh", program)
	cmd := exec.Command("unshare", append(args, o.args...)...)
	cmd.Dir, cmd.Env = work, append(o.env, "TMPDIR="+work, "TEST_TMPDIR="+work)
	out, err := o.finish(cmd)
	got := checks(out)
	got.status, got.err = statusOf(cmd, err)
	got.tests = gtests(out, got)
	return got
}

// emulated runs a program under Ariadne, with more of an environment.
func (o options) emulated(program, dir string, env ...string) outcome {
	command := strings.Join(append([]string{program}, o.args...), " ")
	variables, err := json.Marshal(environment(slices.Concat(o.env, []string{"TMPDIR=/tmp", "TEST_TMPDIR=/tmp"}, env)))
	if err != nil {
		return outcome{err: err}
	}
	spec := fmt.Sprintf("name: suite\nnodes:\n  - name: test\n    command: %q\n    client: true\n    may_fail: true\n    cpus: %d\n    env: %s\n", command, runtime.NumCPU(), variables)
	file := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(file, []byte(spec), 0o644); err != nil {
		return outcome{err: err}
	}
	a := harness.Ariadne{Binary: o.ariadne, Limit: o.limit}
	run, err := a.Cold(context.Background(), filepath.Join(dir, "run"), "run", file)
	if err != nil {
		return outcome{status: -1, err: err}
	}
	text, err := run.Log()
	if err != nil {
		return outcome{status: -1, err: err}
	}
	got := checks(text)
	steps, err := run.ReadSteps()
	got.status, got.err = -1, err
	for _, s := range steps {
		for _, x := range s.Exits {
			if got.status = x.Status; x.Signal != 0 {
				got.status = 128 + x.Signal
			}
		}
	}
	for _, r := range run.Refusals {
		if !r.Harmless {
			got.refused = append(got.refused, r.Name)
		}
	}
	got.tests = gtests(text, got)
	return got
}

// environment is NAME=VALUE as a map.
func environment(list []string) map[string]string {
	m := map[string]string{}
	for _, s := range list {
		name, value, _ := strings.Cut(s, "=")
		m[name] = value
	}
	return m
}

// The markers of checks: LTP's and rr's.
var (
	passMark = regexp.MustCompile(`\bTPASS\b|EXIT-SUCCESS`)
	failMark = regexp.MustCompile(`\bTFAIL\b|\bTBROK\b|FAILED: errno`)
	skipMark = regexp.MustCompile(`\bTCONF\b`)
)

func checks(text string) outcome {
	count := func(r *regexp.Regexp) int { return len(r.FindAllStringIndex(text, -1)) }
	return outcome{passed: count(passMark), failed: count(failMark), skipped: count(skipMark)}
}

// finish runs a native command to its end, for as long as it may take, and returns all that it
// printed.
func (o options) finish(cmd *exec.Cmd) (string, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.limit)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) })
	kill := time.AfterFunc(o.limit+5*time.Second, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer kill.Stop()
	err := cmd.Wait()
	if !stop() {
		err = context.DeadlineExceeded
	}
	return out.String(), err
}

// statusOf says how a command ended.
func statusOf(cmd *exec.Cmd, err error) (int, error) {
	if err == context.DeadlineExceeded || cmd.ProcessState == nil {
		return -1, err
	}
	ws := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}
