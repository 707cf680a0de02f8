// Package harness runs the ariadne binary for the tools beside it and reads what it leaves: the
// report, the steps and the head of a trace. It knows of Ariadne what docs/reference/cli.md and
// docs/reference/json.md tell users, and is the only package of tools that knows how.
//
// Read next: read.go.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// Ariadne is a binary and how it is run. The zero value of all but Binary will do.
type Ariadne struct {
	Binary string
	// Limit is the real time of one command. It is then interrupted, so that it reports what it
	// has found so far, and killed when that takes longer than a minute.
	Limit time.Duration
	// Dir is the working directory of commands.
	Dir string
	// User runs commands instead of who runs the tool, with this environment.
	User *syscall.Credential
	Env  []string
	// Starting is told of each command before it runs.
	Starting func(command string)
}

const (
	defaultLimit = 10 * time.Minute
	grace        = time.Minute // between the interrupt and the end
)

// Run is what came of one command: run, check or replay.
type Run struct {
	Report
	Out         string // the run directory
	Interrupted bool   // it did not end within the limit
	// MemoryMB is the largest resident size of Ariadne alone.
	MemoryMB float64
	// Own is the processor time of Ariadne alone, All that with what it has run. Own is looked at
	// several times a second: it lacks the last moment.
	Own, All time.Duration
}

// Run runs a command whose files go to the directory out: `ariadne verb subject flags...`. Findings
// of the command, and its exit status, are no error. A missing report is one. When the context ends
// it is interrupted as at its limit.
func (a *Ariadne) Run(ctx context.Context, out, verb, subject string, flags ...string) (*Run, error) {
	// The flags go last: a later one counts.
	args := slices.Concat([]string{verb, subject, "--json", "--quiet", "--out", out}, flags)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd := child.Command(context.WithoutCancel(ctx), a.Binary, args...)
	cmd.Dir, cmd.Env = a.Dir, a.Env
	cmd.SysProcAttr.Credential = a.User
	var said, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if a.Starting != nil {
		a.Starting(strings.Join(cmd.Args, " "))
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	interrupted := interruptAfter(ctx, cmd, a.limit())
	usage := watch(cmd.Process.Pid)
	err := cmd.Wait()
	r := &Run{Out: out, Interrupted: interrupted()}
	own := usage()
	r.MemoryMB, r.Own = own.memoryMB, own.time
	r.All = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	if err := lastReport(said.String(), &r.Report); err != nil {
		return nil, fmt.Errorf("%v: %w: %s%s", cmd.Args, err, tail(said.String()), tail(complaints.String()))
	}
	return r, nil
}

// Cold is Run into a directory that is made empty first: nothing is remembered from before.
func (a *Ariadne) Cold(ctx context.Context, out, verb, subject string, flags ...string) (*Run, error) {
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	return a.Run(ctx, out, verb, subject, flags...)
}

func (a *Ariadne) limit() time.Duration {
	if a.Limit > 0 {
		return a.Limit
	}
	return defaultLimit
}

// interruptAfter interrupts a command that takes longer than limit, or that runs when the context
// ends, and kills it when that does not end it. The result is called after the command has ended
// and says whether it was.
func interruptAfter(ctx context.Context, cmd *exec.Cmd, limit time.Duration) (interrupted func() bool) {
	ended, result := make(chan struct{}), make(chan bool)
	go func() {
		select {
		case <-ended:
			result <- false
			return
		case <-ctx.Done():
		case <-time.After(limit):
		}
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(grace):
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-ended
		}
		result <- true
	}()
	return func() bool { close(ended); return <-result }
}

// NoReport is what the error says when a command ended without a report: it did not begin, for want
// of a program say.
const NoReport = "no report"

// lastReport reads the last line of output that is a report.
func lastReport(output string, r *Report) error {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	last := lines[len(lines)-1]
	var kind struct{ Event string }
	if err := json.Unmarshal([]byte(last), &kind); err != nil || kind.Event != "report" {
		return errors.New(NoReport)
	}
	return json.Unmarshal([]byte(last), r)
}

// tail is the end of a text.
func tail(s string) string {
	const most = 2000
	if len(s) > most {
		s = "…" + s[len(s)-most:]
	}
	return s
}

// Possible says why this machine cannot run Ariadne, or nil.
func (a *Ariadne) Possible() error {
	if out, err := exec.Command(a.Binary, "doctor").CombinedOutput(); err != nil {
		return fmt.Errorf("this machine cannot run Ariadne: %s", tail(string(out)))
	}
	return nil
}

// Version is the binary's.
func (a *Ariadne) Version() (string, error) {
	said, err := exec.Command(a.Binary, "version").Output()
	if err != nil {
		return "", fmt.Errorf("%s version: %w", a.Binary, err)
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(string(said), "ariadne "), " go")
	return version, nil
}

// Build builds the binary from the sources of this module, for tests. root is the module's
// directory.
func Build(root, binary string) error {
	cmd := exec.Command("go", "build", "-o", binary, "./cmd/ariadne")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building ariadne: %w\n%s", err, out)
	}
	return nil
}

// Fetch brings the programs of an example: it runs the script fetch beside the spec.
func Fetch(ctx context.Context, spec string) error {
	script, err := filepath.Abs(filepath.Join(filepath.Dir(spec), "fetch"))
	if err != nil {
		return err
	}
	if out, err := child.Command(ctx, script).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, tail(string(out)))
	}
	return nil
}
